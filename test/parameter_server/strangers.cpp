// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// waits: until join_within is over
// Who connects to a server and is not of the job, or does not agree with it: it costs the server nothing. What members
// ask that makes no sense is refused in words.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/service_client.hpp>
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/protocol.hpp>

using namespace sinter;
using namespace sinter::ps_test;

namespace {
io::descriptor connected(const host_port& at) {
    const wire::endpoint e = wire::resolve(at).endpoints.at(0);
    io::descriptor s(::socket(e.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(s.get(), e.address(), e.size) != 0) io::throw_io_error(errno, "cannot connect", text_of(at));
    return s;
}
bool is_closed(int socket, double within) {
    const double until = base::monotonic_seconds() + within;
    char buffer[1000];
    while (base::monotonic_seconds() < until) {
        pollfd p{socket, POLLIN, 0};
        if (::poll(&p, 1, 50) > 0 && ::read(socket, buffer, sizeof buffer) <= 0) return true;
    }
    return false;
}
std::string error_of(const job& j, int worker = 0) {
    try {
        j.client(worker);
        return "none";
    } catch (const error& e) {
        return e.what();
    }
}
/// A link of worker 0 that has joined, or made another call in place of that.
wire::data_link
joined_link(const job& j, parameter_servers::call_id id = parameter_servers::call_id::join,
            const std::string& arguments = parameter_servers::encode(parameter_servers::calls::join())) {
    wire::service_client dialler(j.as(cluster_role::worker, 0), j.same);
    // The server refuses worker 0 until it has noticed that the link before this one is closed.
    std::optional<wire::data_link> link;
    for (const double until = base::monotonic_seconds() + 10; !link && base::monotonic_seconds() < until;) {
        link = dialler.dial(0, 5);
        if (!link) ::usleep(10000);
    }
    BOOST_REQUIRE_MESSAGE(link.has_value(), dialler.trouble().text());
    wire::frame_tag t;
    t.operation = static_cast<std::uint32_t>(parameter_servers::frame_type::call);
    t.elements = static_cast<std::uint64_t>(id);
    link->send(t, as_bytes(arguments));
    while (!link->flush()) {}
    return std::move(*link);
}
/// The next answer: refused or not, and its text. "lost": the connection was closed.
std::string answer_of(wire::data_link& link) {
    std::vector<std::byte> bytes(1 << 20);
    try {
        const wire::frame_header* h = nullptr;
        while (!(h = link.next())) ::usleep(1000);
        const std::size_t n = h->bytes;
        link.receive(h->tag, {bytes.data(), n});
        while (!link.fill()) ::usleep(100);
        parameter_servers::answer_block b;
        BOOST_REQUIRE(b.decode({bytes.data(), n}));
        return ((b.flags & parameter_servers::answer_block::refused) != 0 ? "refused: " : "") +
               std::string(reinterpret_cast<const char*>(bytes.data()) + b.bytes, n - b.bytes);
    } catch (const cluster_error&) {
        return "lost";
    }
}
void say(wire::data_link& link, wire::frame_tag t, std::size_t bytes) {
    const std::vector<std::byte> payload(bytes, std::byte{1});
    link.send(t, payload);
    while (!link.flush()) {}
}
} // namespace

BOOST_AUTO_TEST_CASE(unknown_peers_do_not_disturb_a_job) {
    const job j(1, 1, dense_layout(64));
    std::atomic<int> lines{0};
    parameter_servers::server_options o;
    o.log = [&](const std::string&) { ++lines; };
    o.strangers.handshake_within = 0.5;
    running_servers servers(j, o);
    const host_port at = j.members[1].address();
    const double begin = base::monotonic_seconds();
    std::vector<io::descriptor> silent;
    for (int i = 0; i < 200; ++i) silent.push_back(connected(at));
    for (int i = 0; i < 20; ++i) {
        const io::descriptor s = connected(at);
        const std::string garbage(600, static_cast<char>('a' + i));
        (void)!::write(s.get(), garbage.data(), garbage.size());
        BOOST_TEST(is_closed(s.get(), 60));
    }
    auto c = j.client(0);
    c->open(0);
    const std::vector<float> g(64, -1.f);
    std::vector<float> x(64);
    const parameter_servers::pull_target to[1] = {{x.data(), nullptr}};
    for (int i = 0; i < 50; ++i) {
        c->begin_push();
        c->push(0, 0, g);
        c->wait(c->commit({}, to));
    }
    BOOST_TEST(x[0] == 50.f);
    for (const auto& s : silent) BOOST_TEST(is_closed(s.get(), 60));
    BOOST_TEST(lines > 0);
    BOOST_TEST(lines < 10 + (base::monotonic_seconds() - begin));   // one a second, whatever happens
    c->leave();
    no_fault_of(servers);
}

BOOST_AUTO_TEST_CASE(members_that_do_not_agree_are_refused_in_words) {
    const job j(2, 1, dense_layout(64), quick(2));
    parameter_servers::server_options o;
    o.log = [](const std::string&) {};
    running_servers servers(j, o);
    job other = j;
    other.options.key = "another key";
    BOOST_TEST(holds(error_of(other), "does not know the job's key"));
    other = j;
    other.options.job = "another job";
    BOOST_TEST(holds(error_of(other), "the job's name differs"));
    other = j;
    other.layouts[0] = dense_layout(80);
    other.same.layout = 9;
    BOOST_TEST(holds(error_of(other), "the layout of memory and buckets"));
    other = j;
    other.same.policy = 8;
    BOOST_TEST(holds(error_of(other), "the strategy or its options"));
    auto c = j.client(0);
    BOOST_TEST(holds(error_of(j), "worker/0 is in this job already: the task was started twice"));
    c->open(0);
    c->leave();
}

BOOST_AUTO_TEST_CASE(nobody_at_the_address_is_an_error_that_names_it) {
    job j(1, 2, dense_layout(64), quick(0.5));
    j.options.join_within = 0.6;
    const std::string text = error_of(j);
    BOOST_TEST(holds(text, "ps/0 at " + text_of(j.members[1].address())));
    BOOST_TEST(holds(text, "it was not there within"));
}

BOOST_AUTO_TEST_CASE(requests_that_make_no_sense_are_refused) {
    parameter_servers::shard_layout l = dense_layout(64);
    l.tables.push_back({"table", 10, 4, 0});
    const job j(1, 1, l);
    parameter_servers::server_options o;
    o.log = [](const std::string&) {};
    running_servers servers(j, o);
    using parameter_servers::frame_type;
    const auto answer = [&](frame_type w, std::uint64_t elements, std::uint64_t offset, std::int32_t bucket,
                            std::size_t bytes) {
        wire::data_link link = joined_link(j);
        answer_of(link);
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(w);
        t.elements = elements, t.offset = offset, t.bucket = bucket;
        say(link, t, bytes);
        return answer_of(link);
    };
    BOOST_TEST(answer(frame_type::gradient, 16, 64, 0, 64) == "refused: a gradient beyond the shard");
    BOOST_TEST(answer(frame_type::gradient, 16, ~std::uint64_t{0} - 7, 0, 64) ==
               "refused: a gradient beyond the shard");
    BOOST_TEST(answer(frame_type::gradient, std::uint64_t{1} << 62, 0, 0, 64) ==
               "refused: a gradient beyond the shard");
    BOOST_TEST(answer(frame_type::write, 16, 0, 1, 64) == "refused: floats beyond an array");   // there is no slot
    BOOST_TEST(answer(frame_type::write, 16, 0, -7, 64) == "refused: floats beyond an array");
    BOOST_TEST(answer(frame_type::write, 2, 0, 64, 8) == "refused: parts of rows");
    BOOST_TEST(answer(frame_type::read, 65, 0, 0, 0) == "refused: a request beyond an array");
    BOOST_TEST(answer(frame_type::pull_rows, 1, 0, 1, 8) == "refused: a pull of rows of no table");
    BOOST_TEST(answer(frame_type::pull_rows, 1, 0, 0, 8) == "refused: a row that the table does not have");
    BOOST_TEST(answer(frame_type::commit, 0, 0, 0, 10) == "refused: a commit that is too short");
    BOOST_TEST(answer(frame_type::commit, 0, 0, 0, parameter_servers::commit_block::bytes) ==
               "refused: a commit that makes no sense");
    BOOST_TEST(answer(frame_type::sections, 0, 0, 0, 10) == "refused: a section that is cut short");
    BOOST_TEST(answer(frame_type::sections, 0, 0, 0, 50) == "refused: a section of more than a frame holds");
    using parameter_servers::call_id;
    for (const std::uint64_t id :
         {std::uint64_t{0}, std::uint64_t{parameter_servers::last_call} + 1, std::uint64_t{65537}})
        BOOST_TEST(answer(frame_type::call, id, 0, 0, 9) == "refused: a call that is not known");
    for (const call_id id : {call_id::lead, call_id::follow, call_id::exchange_norms})   // of copies, which are none
        BOOST_TEST(answer(frame_type::call, static_cast<std::uint64_t>(id), 0, 0, 4) ==
                   "refused: a call that is not known");
    const auto stop = static_cast<std::uint64_t>(call_id::stop), rows = static_cast<std::uint64_t>(call_id::read_rows);
    BOOST_TEST(holds(answer(frame_type::call, stop, 0, 0, 300), "fewer bytes than the message says"));   // 16843009
    BOOST_TEST(holds(answer(frame_type::call, rows, 0, 0, 17), "more bytes than the message has"));
    BOOST_TEST(holds(answer(frame_type::call, rows, 0, 0, 16), "rows of no table"));
    BOOST_TEST(answer(frame_type(99), 0, 0, 0, 0) == "refused: a request that is not known");
    const auto first_call = [&](call_id id, const std::string& arguments, const char* why) {
        wire::data_link link = joined_link(j, id, arguments);
        const std::string text = answer_of(link);
        BOOST_TEST((text.starts_with("refused: ") && holds(text, why)), text);
    };
    for (const call_id id : {call_id::all_reduce, call_id::open, call_id::join})
        first_call(id, "", "fewer bytes than the message says");
    using parameter_servers::encode, parameter_servers::calls::join, parameter_servers::calls::fail;
    first_call(call_id::join, encode(join{-1}), "no clock");
    first_call(call_id::join, encode(join{0, 0, -1}), "no name of a save");
    first_call(call_id::fail, encode(fail{std::string(parameter_servers::most_reason + 1, 'x')}), "is too long");
    auto c = j.client(0);   // and the job is as it was
    c->open(0);
    c->begin_push();
    BOOST_CHECK_THROW(c->push(0, 48, std::vector<float>(32)), error);
    c->push(0, 0, std::vector<float>(16));
    BOOST_CHECK_THROW(c->wait(c->commit({})), cluster_error);   // a part of the gradient only
    BOOST_TEST(servers.servers[0]->global_step() == 0);
}
