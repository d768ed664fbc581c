// SPDX-License-Identifier: BSL-1.0
// How far a job has come on a server: updates, what the chief does with it, and what a second copy is told of that.
#include <boost/test/unit_test.hpp>
#include <random>
#include <sinter/net/archive.hpp>
#include <sinter/parameter_server/server/job_progress.hpp>

using namespace sinter;
using namespace sinter::parameter_servers;

namespace {
std::string bytes_of(job_progress& p, bool begun) {
    wire::archive_writer w;
    bool left = true;
    p.write_steps(w, begun);
    p.serialize(w);
    p.serialize_flags(w, left);
    return w.bytes();
}
void read(job_progress& p, const std::string& bytes) {
    wire::archive_reader r(as_bytes(bytes));
    bool left = false;
    p.read_steps(r, "the test");
    p.serialize(r);
    p.serialize_flags(r, left);
    r.expect_end();
    p.check("the test");
    BOOST_TEST(left);
}
} // namespace

BOOST_AUTO_TEST_CASE(updates_are_counted_by_phase_however_they_begin_and_end) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        const int phases = 1 + static_cast<int>(seed % 3);
        job_progress p(phases);
        std::vector<std::int64_t> begun(static_cast<std::size_t>(phases)), made = begun;   // counted by hand
        for (int event = 0; event < 500; ++event) {
            const int phase = static_cast<int>(random() % static_cast<unsigned>(phases));
            auto& b = begun[static_cast<std::size_t>(phase)];
            auto& m = made[static_cast<std::size_t>(phase)];
            switch (random() % 4) {
                case 0:
                    if (b > m) p.undo_update(phase), --b;
                    break;
                case 1:
                    if (b > m) p.end_update(phase), ++m;
                    break;
                default: p.begin_update(phase), ++b;
            }
            std::int64_t all_begun = 0, all_made = 0;
            for (int k = 0; k < phases; ++k) {
                BOOST_REQUIRE(p.next_of(k) == begun[static_cast<std::size_t>(k)]);
                all_begun += begun[static_cast<std::size_t>(k)], all_made += made[static_cast<std::size_t>(k)];
            }
            BOOST_REQUIRE(p.begun() == all_begun);
            BOOST_REQUIRE(p.global_step() == all_made);
            BOOST_REQUIRE(p.phase_steps() == made);
        }
        p.set_steps(40, std::vector<std::int64_t>(static_cast<std::size_t>(phases), 3));
        BOOST_TEST(p.global_step() == 40);
        BOOST_TEST(p.begun() == 40);
        BOOST_TEST(p.next_of(0) == (phases == 1 ? 40 : 3));
        BOOST_TEST(p.times_set() == 1);
        p.set_steps(10, {1, 2, 3, 4});   // of another number of losses
        BOOST_TEST(p.next_of(0) == (phases == 1 ? 10 : 0));
        BOOST_TEST(p.has_phase(phases - 1));
        BOOST_TEST(!p.has_phase(phases));
    }
}
BOOST_AUTO_TEST_CASE(clocks_that_a_restart_has_lost_count_as_they_did_elsewhere) {
    job_progress p(1);
    p.steps_elsewhere(9, 8, 5);
    p.count_lost_clock(6);
    BOOST_TEST(p.global_step() == 0);   // it has lost nothing
    p.restored(5, {}, 0, 0, 0);
    p.steps_elsewhere(8, 7, 5);   // 8 clocks there, of which one was no update
    p.count_lost_clock(6);
    p.count_lost_clock(7);
    BOOST_TEST(p.global_step() == 7);
    p.count_lost_clock(8);
    BOOST_TEST(p.global_step() == 7);
    BOOST_TEST(p.begun() == 7);
    p.count_lost_clock(9);   // nobody elsewhere is so far
    BOOST_TEST(p.global_step() == 7);
}
BOOST_AUTO_TEST_CASE(the_chief_opens_overwrites_and_ends_a_job) {
    job_progress p(1);
    BOOST_TEST(!p.is_open());
    BOOST_TEST(!p.has_values());
    p.begin_renewal();   // the first values: nothing is replaced
    p.raise_version(2);
    p.raise_version(1);
    BOOST_TEST(p.version() == 2);
    BOOST_TEST(p.is_renewing());
    p.end_renewal(0);
    BOOST_TEST(!p.is_renewing());
    BOOST_TEST(!p.take_replaced());
    p.open(7, 1);
    p.opened_at(3, 4);
    BOOST_TEST(p.is_open());
    BOOST_TEST(p.has_values());
    BOOST_TEST(p.opened_by() == 7u);
    p.ask_to_stop("worker/1: enough");
    p.ask_to_stop("worker/0: me too");
    BOOST_TEST(p.asked_to_stop());
    BOOST_TEST(p.stop_reason() == "worker/1: enough");
    p.go_on();
    BOOST_TEST(!p.asked_to_stop());
    BOOST_TEST(p.end_soon());
    BOOST_TEST(!p.end_soon());
    p.note_clocks(9);
    p.note_clocks(8);
    BOOST_TEST(p.end_clock() == 9);

    job_progress back(1);
    back.restored(12, {}, 3, 1, 2);
    BOOST_TEST(back.has_values());
    BOOST_TEST(!back.is_open());
    BOOST_TEST(back.restored_step() == 12);
    BOOST_TEST(back.version() == 3);
    back.begin_renewal();   // other values than those that were saved
    back.end_renewal(1);
    BOOST_TEST(back.global_step() == 1);
    BOOST_TEST(back.take_replaced());
    BOOST_TEST(!back.take_replaced());
    back.goes_on();
    back.begin_renewal();
    BOOST_TEST(!back.take_replaced());
}
BOOST_AUTO_TEST_CASE(a_second_copy_comes_to_the_same) {
    job_progress p(2);
    p.open(7, 1);
    p.opened_at(3, 4);
    p.raise_version(5);
    p.ask_to_stop("worker/1: enough");
    p.note_clocks(9);
    p.begin_update(1), p.begin_update(1), p.end_update(1), p.begin_update(0);
    job_progress q(2);
    read(q, bytes_of(p, false));
    BOOST_TEST(bytes_of(q, false) == bytes_of(p, false));
    BOOST_TEST(q.global_step() == 1);
    BOOST_TEST(q.begun() == 1);   // what its leader has begun is not begun here
    read(q, bytes_of(p, true));
    BOOST_TEST(q.global_step() == 3);
    BOOST_TEST(q.next_of(1) == 2);
    job_progress other(3);
    BOOST_CHECK_THROW(read(other, bytes_of(p, false)), format_error);
    p.set_steps(-1, {});
    BOOST_CHECK_THROW(read(q, bytes_of(p, false)), format_error);
}
