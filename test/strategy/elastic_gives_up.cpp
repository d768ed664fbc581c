// SPDX-License-Identifier: BSL-1.0
// shows elastic: a member that lacks memory in a step and goes on is refused
// needs: distributed
// processors: 2
#define BOOST_TEST_MODULE elastic_gives_up
#include <boost/test/unit_test.hpp>
#include <sinter/base/cluster_error.hpp>
#include "strategy/elastic_jobs.hpp"

// A member that lacks memory in a step, catches that and goes on with the next batch. The others repeat the
// step without it, and have the numbers of one process. It is not among them again: its step is not theirs.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto model_net = features<2> >> dense<40> >> relu >> dense<2>;
template <class Strategy>
auto model_under(const Strategy& s) {
    return trainer{model_net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, s, {.threads = 1}};
}
/// What its numbers are in the end, or what a step threw behind the one that lacked memory.
template <class Trainer>
std::string course_of(Trainer t, bool lacks_memory) {
    int n = 0;
    for (const data::batch_view& b : points(320, 3) | data::batch(16)) {
        const bool here = lacks_memory && ++n == 8;
        if (here) next_fault = {collective::kind::all_reduce_tree, 0, fault_place::no_memory};
        try {
            t.step(b);
            if (here) return "there was no fault";
        } catch (const std::bad_alloc&) {
        } catch (const cluster_error& e) {
            return n == 9 ? "refused: " + e.cause() : "too late, or too early";
        }
    }
    std::string bits;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float x : t.plain(t.parameter(i))) bits += std::to_string(std::bit_cast<std::uint32_t>(x)) + ' ';
    return bits;
}

} // namespace

BOOST_AUTO_TEST_CASE(who_lacked_memory_does_not_go_on) {
    const std::string alone = course_of(model_under(canonical<4>()), false);
    for (int lacks = 0; lacks < 3; ++lacks) {
        const auto at = own_addresses(3);
        processes job;
        for (int r = 0; r < 3; ++r)
            job.start([&, r] {
                const auto s = elastic(canonical<4>(multi_worker<faulty_ring>{cluster::of(at, r, quick())}));
                return course_of(model_under(s), r == lacks);
            });
        for (int r = 0; r < 3; ++r)
            if (r != lacks)
                BOOST_TEST(job.result(r) == alone, "member " << r << ", where " << lacks << " lacks memory");
        BOOST_TEST(job.result(lacks) == "refused: this process has left the job");
    }
}
