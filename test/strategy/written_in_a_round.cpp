// SPDX-License-Identifier: BSL-1.0
// processors: 2
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/sharded_update.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// Values that are written in the midst of a round of accumulated steps: what all members have gathered stays, as one
// device's does; what a file has of a round counts once.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<6> >> dense<9> >> relu >> dense<3>;
constexpr int batch = 12, steps = 11;

enum class writes { nothing, a_parameter, a_slot, a_file };

/// All variables behind the last step; something is written behind each step, at all places of a round.
template <class Strategy>
std::vector<float> trained(const Strategy& s, writes what) {
    trainer t{net, weighted(softmax_cross_entropy), accumulate<4>(adam{.learning_rate = 0.01f}), max_batch<batch>, s,
              {.threads = 1}};
    for (int i = 0; i < steps; ++i) {
        const random_batch<typename decltype(t)::training> b(static_cast<std::uint64_t>(i), batch);
        t.step(b.view());
        const variable_info& v = t.parameter(i % t.parameters());
        const auto halved = [](std::vector<float> x) {
            for (float& f : x) f *= 0.5f;
            return x;
        };
        if (what == writes::a_parameter) t.set_plain(v, halved(t.plain(v)).data());
        if (what == writes::a_slot) t.set_plain_slot(v, 0, halved(t.plain_slot(v, 0)).data());
        if (what == writes::a_file) {
            const std::vector<std::byte> file = save_to_memory(t);
            load(t, span<const std::byte>(file));
        }
    }
    return all_variables(t);
}
template <class Make>
void as_one(Make make, writes what, int members) {
    const std::vector<float> wanted = trained(canonical<4>(single<cpu_device>{}), what);
    std::vector<std::vector<float>> got(static_cast<std::size_t>(members));
    const auto errors =
        as_members(members, [&](const auto& s) { got[static_cast<std::size_t>(s.rank)] = trained(make(s), what); });
    for (std::size_t r = 0; r < got.size(); ++r) {
        BOOST_TEST(errors[r] == "");
        BOOST_TEST(furthest(got[r], wanted) < 1e-5, "written " << static_cast<int>(what) << ", member " << r << " of "
                                                               << members);
    }
}

BOOST_AUTO_TEST_CASE(what_all_have_gathered_stays) {
    for (const writes what : {writes::nothing, writes::a_parameter, writes::a_slot, writes::a_file}) {
        as_one([](const auto& s) { return canonical<4>(s); }, what, 2);   // of two shards each
        as_one([](const auto& s) { return canonical<4>(s); }, what, 4);
        as_one([](const auto& s) { return sharded_update(canonical<4>(s)); }, what, 2);
    }
    BOOST_TEST(furthest(trained(canonical<4>(single<cpu_device>{}), writes::nothing),
                        trained(canonical<4>(single<cpu_device>{}), writes::a_file)) < 1e-5);
}

} // namespace
