// SPDX-License-Identifier: BSL-1.0
// shows members: other sizes, types or calls are errors before data are used
// needs: mpi
// mpirun: 1 2 3 4
// processors: 2
#define BOOST_TEST_MODULE mpi
#include "support/members.hpp"
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
