// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/collective/forwarding_communicator.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/strategy/sharded_update.hpp>
#include <sinter/train/optimizers/clip.hpp>

#include "cuda/rehearsal.hpp"
#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// Members with two GPUs each: gradients that go through the host, and those that a communicator reads from the first
// GPU's memory, as NCCL's does, give the same bits.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<6> >> dense<16> >> batch_norm >> relu >> dense<3>;

/// Hands all on, and says that it reads a device's memory (which the rehearsal has in the host's).
class reads_devices final : public collective::forwarding_communicator {
public:
    using forwarding_communicator::forwarding_communicator;
    bool reads_device_memory() const override { return true; }
};

template <bool OnDevices>
struct two_gpus_each : thread_members<> {
    using device = rehearsal_peer;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .bucket_bytes = 256, .shards = 2};
    sinter::strategy_parts::synchronous_setup setup(const sinter::strategy_parts::program_identity& i) const {
        sinter::strategy_parts::synchronous_setup s = thread_members<>::setup(i);
        s.shards = s.workers = 2;
        if (OnDevices) s.members = std::make_unique<reads_devices>(std::move(s.members));
        return s;
    }
    rehearsal_peer::options device_options(int) const { return {}; }
};
constexpr auto words = indices<4> >> embedding<60, 5> >> flatten >> dense<16> >> relu >> dense<3>;

template <bool OnDevices, class Net, class Optimizer>
std::vector<float> trained(Net net, Optimizer o) {
    std::vector<float> got[2];
    const auto errors = as_members(2, [&](const auto& s) {
        trainer t{net, mse, o, max_batch<12>, two_gpus_each<OnDevices>{s}, {.threads = 2}};
        train_on(t, 8, {12, 7, 1, 3});
        got[s.rank] = all_variables(t);
    });
    for (const std::string& e : errors) BOOST_TEST(e == "");
    BOOST_TEST(same_bits(got[0], got[1]));
    return got[0];
}
template <class Net, class Optimizer>
void check(Net net, Optimizer o, const char* what) {
    trainer one{net, mse, o, max_batch<12>, mirrored<4, rehearsal_device>{}};
    train_on(one, 8, {12, 7, 1, 3});
    const std::vector<float> by_host = trained<false>(net, o), on_devices = trained<true>(net, o);
    BOOST_TEST(same_bits(by_host, on_devices), what);
    BOOST_TEST(furthest(by_host, all_variables(one)) < 2e-5, what);
}
constexpr adam steady{.learning_rate = 0.01f, .epsilon = 1e-3f};

} // namespace

BOOST_AUTO_TEST_CASE(gradients_are_sent_from_where_they_are) { check(net, steady, "numbers"); }
BOOST_AUTO_TEST_CASE(lists_of_rows_are_sent) {
    check(words, steady, "words");
    check(words, clip_by_global_norm{0.05f, momentum{.learning_rate = 0.1f}}, "words, clipped");
}
// The host has the optimizer's memory, and adds up no gradients but those of the first GPU of each member.
BOOST_AUTO_TEST_CASE(the_host_updates_in_parts) {
    std::vector<float> got[2];
    const auto errors = as_members(2, [&](const auto& s) {
        trainer t{net, mse, steady, max_batch<12>, sharded_update(two_gpus_each<false>{s}), {.threads = 2}};
        train_on(t, 8, {12, 7, 1, 3});
        got[s.rank] = all_variables(t);
    });
    for (const std::string& e : errors) BOOST_TEST(e == "");
    BOOST_TEST(same_bits(got[0], got[1]));
    BOOST_TEST(furthest(got[0], trained<false>(net, steady)) < 2e-5);
}
BOOST_AUTO_TEST_CASE(parts_that_a_communicator_would_read_from_devices) {
    const auto errors = as_members(2, [&](const auto& s) {
        trainer t{net, mse, steady, max_batch<12>, sharded_update(two_gpus_each<true>{s}), {.threads = 2}};
    });
    for (const std::string& e : errors) BOOST_TEST(e.find("gradients are sent from devices' memory") != e.npos, e);
}
