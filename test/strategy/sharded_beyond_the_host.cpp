// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/sharded_update.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>

#include "io/temporary_folder.hpp"
#include "support/far_device.hpp"
#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// sharded_update of a device whose memory the host does not see: the host updates each member's part, with the bits of
// processors, and has the optimizer's memory.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<6> >> dense<40> >> batch_norm >> relu >> dense<3>;

struct far_members : thread_members<> {
    using device = far_device;
    far_device::options device_options(int) const { return {}; }
};
/// Of each member: training, a file in between that another trainer goes on from, and all that is there then.
template <class Members, class Optimizer, class Around>
std::vector<std::vector<float>> trained(Optimizer o, int members, Around around) {
    const temporary_folder folder;
    std::vector<std::vector<float>> got(static_cast<std::size_t>(members));
    const auto errors = as_members(members, [&](const auto& s) {
        const std::string file = folder / std::to_string(s.rank);
        Members m;
        static_cast<thread_members<>&>(m) = s;
        trainer t{net, mse, o, max_batch<8>, around(m), {.threads = 2}};
        train_on(t, 5, {8, 5, 1});
        save(t, file);
        train_on(t, 2, {7});
        load(t, file);
        train_on(t, 3, {8, 3});
        got[static_cast<std::size_t>(s.rank)] = all_variables(t);
        const auto losses = train_on(t, 1, {4});
        got[static_cast<std::size_t>(s.rank)].push_back(losses[0]);
    });
    for (const std::string& e : errors) BOOST_TEST(e == "");
    return got;
}
template <class Optimizer, class Around>
void compare(const char* what, Optimizer o, Around around, std::initializer_list<int> members) {
    for (const int n : members) {
        const auto near = trained<thread_members<>>(o, n, around), far = trained<far_members>(o, n, around);
        for (int r = 0; r < n; ++r) {
            BOOST_TEST_REQUIRE(near[0].size() > 100u);
            BOOST_TEST(same_bits(near[static_cast<std::size_t>(r)], far[static_cast<std::size_t>(r)]),
                       what << ", member " << r << " of " << n);
        }
    }
}
constexpr auto in_parts = [](const auto& s) { return sharded_update(s); };

BOOST_AUTO_TEST_CASE(bits_of_processors) {
    compare("groups, clipped",
            clip_by_global_norm{0.3f, parameter_groups{adam{.learning_rate = 0.02f},
                                                       group_of<"*/bias">(momentum{.learning_rate = 0.1f})}},
            in_parts, {1, 2, 3});
}
BOOST_AUTO_TEST_CASE(several_shards_of_each_member) {
    compare("canonical", adam{.learning_rate = 0.02f}, [](const auto& s) { return canonical<4>(sharded_update(s)); },
            {2});
}

} // namespace
