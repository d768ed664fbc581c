// SPDX-License-Identifier: BSL-1.0
// shows members: messages between two members under MPI, and groups of some: faults, failures and members that leave
//     are errors of all
// shows members: other sizes, types or calls are errors before data are used
// needs: mpi
// mpirun: 1 2 3 4
// processors: 2
#define BOOST_TEST_MODULE mpi
#include "support/members.hpp"
#include "support/pairs.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/collective/mpi.hpp>

// Under mpirun: each of its processes runs these cases, with the others. The same order of cases in all.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

static std::unique_ptr<communicator> connected() { return mpi::connect(cluster{}, wire::identity{1, 2, 3}); }

BOOST_AUTO_TEST_CASE(every_operation) {
    const auto c = connected();
    if (const char* const n = std::getenv("OMPI_COMM_WORLD_SIZE")) BOOST_TEST(c->size() == std::atoi(n));
    for (const std::int64_t n : {0, 1, 100, 3000, 40000}) BOOST_CHECK_NO_THROW(check_operations(*c, n));
    BOOST_CHECK_NO_THROW(check_closed_form(*c));
    BOOST_CHECK_NO_THROW(check_buckets_beside_computing(*c));
}

BOOST_AUTO_TEST_CASE(differences_are_errors_on_all) {
    const operation usual{.what = kind::all_reduce, .type = element::f32, .step = 5, .bucket = 2};
    const int last = connected()->size() - 1;
    if (last == 0) return;
    for (const auto& [n, m] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
             {1000, 2000}, {1000, 1001}, {100000, 99999}, {2000000, 1000000}, {0, 1}, {1000, 1000}}) {
        const auto c = connected();
        operation o = usual;
        if (n == m && c->rank() == last) o.bucket = 3;
        bool applied = false;
        const std::string text = error_of(*c, o, c->rank() == last ? m : n, applied);
        BOOST_TEST(!applied);
        BOOST_TEST(text.find("worker/" + std::to_string(last)) != std::string::npos, text);
        BOOST_TEST(text.find("of bucket 2") != std::string::npos, text);
    }
}

BOOST_AUTO_TEST_CASE(what_one_member_throws_reaches_all) {
    const auto c = connected();
    if (c->size() == 1) return;
    std::vector<float> x(100);
    c->all_reduce(span<float>(x));
    if (c->rank() == 1) return c->fail("a file cannot be read");
    BOOST_CHECK_EXCEPTION(c->all_reduce(span<float>(x)), cluster_error, [](const cluster_error& e) {
        return e.rank() == 1 && std::string(e.what()).find("a file cannot be read") != std::string::npos;
    });
}

// Members that go on after an error get it again, and wait for nobody.
BOOST_AUTO_TEST_CASE(who_has_failed_may_ask_again) {
    const auto c = connected();
    if (c->size() == 1) return;
    if (c->rank() == 1) c->fail("a file cannot be read");
    for (int k = 0; k < 3; ++k) BOOST_CHECK_THROW(c->barrier(), cluster_error);
}

// Each process sees its own member alone: where the job has another size nobody says anything.
static std::vector<std::string> text_of_own(int members, const std::function<std::string(communicator&)>& f) {
    const auto c = connected();
    return std::vector<std::string>(static_cast<std::size_t>(members), c->size() == members ? f(*c) : "");
}

BOOST_AUTO_TEST_CASE(messages_between_two) {
    const auto c = connected();
    BOOST_CHECK_NO_THROW(check_messages(*c));
}
BOOST_AUTO_TEST_CASE(faults_of_messages_reach_all) { check_message_faults(text_of_own); }

// A large message is on its way though nobody has asked for it, while all are in an operation, and when its sender has
// left.
BOOST_AUTO_TEST_CASE(a_send_does_not_wait_for_the_receiver) {
    constexpr std::int64_t n = 20'000'000;
    auto c = connected();
    const int next = (c->rank() + 1) % c->size(), before = (c->rank() + c->size() - 1) % c->size();
    for (const int k : {0, 1}) {
        c->send(next, k, bytes_of_message(n, c->rank()));
        c->barrier();
        BOOST_CHECK_NO_THROW(need_message(*c, before, k, n, before));
    }
    if (c->rank() == 0) c->send(next, 2, bytes_of_message(n, 7));
    if (c->rank() == 0 && next != 0) c.reset();
    else if (c->rank() == next || before == 0) BOOST_CHECK_NO_THROW(need_message(*c, 0, 2, n, 7));
}

// One thread of a member waits in an operation while another one fails: nobody else comes to that operation.
BOOST_AUTO_TEST_CASE(a_failure_beside_an_operation_is_the_error) {
    const auto c = connected();
    if (c->size() == 1) return;
    ticket queued = 0;
    if (c->rank() != 0) queued = c->start({.what = kind::barrier, .step = 9}, nullptr, 0, true);
    if (c->rank() == 1) c->fail("the disk is full");
    std::vector<std::byte> never(1);
    const auto says = [](const cluster_error& e) {
        return e.rank() == 1 && std::string(e.what()).find("the disk is full") != std::string::npos;
    };
    BOOST_CHECK_EXCEPTION(c->rank() == 0 ? c->recv(1, 77, never, 60) : c->wait(queued), cluster_error, says);
}

// One that has done its part is awaited in vain: by who waits for its message or another one's, or is in an operation.
BOOST_AUTO_TEST_CASE(a_member_that_leaves_is_an_error_of_who_waits_for_it) {
    for (const int way : {0, 1, 2}) {
        auto c = connected();
        if (c->size() == 1) return;
        const auto g = c->rank() == 1 ? (c->split(0, 0), nullptr) : c->split(0, 0);
        if (c->rank() == 1) {
            c->send(0, 1, bytes_of_message(5'000'000, 3));
            c.reset();
            continue;
        }
        // The others wait until it is there: who waits for the absent first ends the whole job.
        if (c->rank() == 0) {
            BOOST_CHECK_NO_THROW(need_message(*c, 1, 1, 5'000'000, 3));
            for (int r = 2; r < c->size(); ++r) c->send(r, 9, bytes_of_message(1, r));
        }
        const std::string text = error_by([&] {
            if (c->rank() != 0) need_message(*c, 0, 9, 1, c->rank());   // or another one's error has come before it
            std::vector<std::byte> x(8);
            if (c->rank() == 3) c->barrier();
            if (way == 0) c->recv(c->rank() == 0 ? 1 : 0, 2, x, std::numeric_limits<double>::infinity());
            if (way == 1) c->barrier();
            std::vector<float> sum(1'000'000);
            g->all_reduce(sum);
        });
        BOOST_TEST(text.find("it has left the job, and this member still waits for it") != std::string::npos, text);
        BOOST_TEST(text.find("rank 1") != std::string::npos, text);
    }
}
BOOST_AUTO_TEST_CASE(who_fails_when_another_one_has_left_waits_for_nobody) {
    auto c = connected();
    if (c->size() < 3) return;
    if (c->rank() == 1) return;
    std::vector<std::byte> x(8);
    const std::string text = error_by([&] {
        if (c->rank() == 0) c->recv(2, 2, x, 0.1);
        else c->recv(0, 2, x, 60);
    });
    BOOST_TEST(text.find("the message did not come within 0.1 s") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(groups_of_some_members) {
    auto c = connected();
    BOOST_CHECK_NO_THROW(check_groups(*c));
    check_failures_of_groups(text_of_own);
    const auto later = c->split(0, 0);
    c.reset();
    BOOST_CHECK_NO_THROW((check_operations(*later, 1000), check_messages(*later, {1000})));
}
// Also of those that are in another group, or wait for a message.
BOOST_AUTO_TEST_CASE(differences_within_a_group_are_errors_on_all) {
    for (const bool of_kind : {true, false}) {
        const auto c = connected();
        if (c->size() < 2) return;
        const auto g = c->split(c->rank() < 2 ? 0 : 1, 0);
        operation o{.what = kind::all_reduce, .type = element::f32, .step = 5, .bucket = 2};
        if (c->rank() == 1 && of_kind) o.what = kind::broadcast;
        bool applied = false;
        std::string text;
        if (c->rank() < 2) text = error_of(*g, o, c->rank() == 1 && !of_kind ? 1001 : 1000, applied);
        else text = error_by([&] {
                 std::vector<std::byte> never(1);
                 if (c->rank() == 2) c->recv(0, 77, never, 60);
                 g->barrier();
                 c->barrier();
             });
        BOOST_TEST(!applied);
        BOOST_TEST(text.find(of_kind ? "broadcast" : "1001") != std::string::npos, text);
    }
}

BOOST_AUTO_TEST_CASE(another_model_is_refused) {
    int size = 0, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size == 1) return;
    const wire::identity mine{rank == 1 ? 9u : 1u, 2, 3};
    BOOST_CHECK_THROW(mpi::connect(cluster{}, mine), cluster_error);
}

BOOST_AUTO_TEST_CASE(another_number_of_processes_is_refused) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<std::string> at;
    for (int r = 0; r < size + 2; ++r) at.push_back("127.0.0.1:" + std::to_string(5000 + r));
    BOOST_CHECK_THROW(mpi::connect(cluster::of(at, 0), wire::identity{}), option_error);
}
