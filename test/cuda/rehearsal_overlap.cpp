// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/collective/forwarding_communicator.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "cuda/rehearsal.hpp"
#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// Gradients are sent while a device makes others: each bucket behind the launch that finishes it,
// and no later. The device of these tests runs nothing that nobody waits for, so what is sent too
// early is wrong.
using namespace sinter;
using namespace sinter::test;

namespace {

using device = rehearsal_later<rehearsal_device>;
constexpr auto numbers = features<6> >> dense<16> >> relu >> dense<24> >> activation::tanh >> dense<12> >> relu
    >> dense<3>;
constexpr auto words = indices<4> >> embedding<60, 5> >> flatten >> dense<16> >> batch_norm >> relu >> dense<3>;
constexpr auto normed = features<6> >> dense<16> >> synchronised_batch_norm >> relu >> dense<16>
    >> synchronised_batch_norm >> dense<3>;

struct started {
    int bucket = -1, launched = 0;
    bool more = false;
};
/// Hands all on, and notes how far the device was.
class watching final : public collective::forwarding_communicator {
public:
    watching(std::unique_ptr<collective::communicator> c, std::vector<started>& to)
        : forwarding_communicator(std::move(c)), starts_(to) {}
    collective::ticket start(const collective::operation& o, void* data, std::int64_t n, bool more) override {
        starts_.push_back({o.bucket, device::launched, more});
        return c_->start(o, data, n, more);
    }

private:
    std::vector<started>& starts_;
};

template <class Device, int Shards = 1>
struct watched : thread_members<> {
    using device = Device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .bucket_bytes = 256,
                                            .shards = Shards};
    std::vector<started>* starts = nullptr;
    sinter::strategy_parts::synchronous_setup setup(const sinter::strategy_parts::program_identity& i) const {
        sinter::strategy_parts::synchronous_setup s = thread_members<>::setup(i);
        s.shards = Shards;
        if (starts) s.members = std::make_unique<watching>(std::move(s.members), *starts);
        return s;
    }
    typename Device::options device_options(int) const { return {}; }
};
template <class Device, int Shards = 1, class Net, class Loss, class Optimizer>
std::vector<float> trained(Net net, Loss loss, Optimizer o, const char* what, std::vector<started>* starts = nullptr,
                           const std::vector<int>& sizes = {12, 7, 1, 3}) {
    std::vector<float> got[2];
    const auto errors = as_members(2, [&](const auto& s) {
        const watched<Device, Shards> strategy{s, s.rank == 0 ? starts : nullptr};
        trainer t{net, loss, o, max_batch<12>, strategy, {.threads = 1}};
        if (s.rank == 0 && starts) starts->clear();
        train_on(t, 8, sizes);
        got[s.rank] = all_variables(t);
    });
    for (const std::string& e : errors) BOOST_TEST(e == "", what);
    BOOST_TEST(same_bits(got[0], got[1]), what);
    return got[0];
}
template <class Net, class Loss, class Optimizer>
void check(Net net, Loss loss, Optimizer o, const char* what, const std::vector<int>& sizes = {12, 7, 1, 3}) {
    const auto at_once = trained<rehearsal_device>(net, loss, o, what, nullptr, sizes);
    BOOST_TEST(same_bits(trained<device>(net, loss, o, what, nullptr, sizes), at_once), what);
    BOOST_TEST(same_bits(trained<rehearsal_later<rehearsal_peer>>(net, loss, o, what, nullptr, sizes), at_once),
               what << ", peers");
    const auto two = trained<rehearsal_device, 2>(net, loss, o, what, nullptr, sizes);
    BOOST_TEST(same_bits(trained<device, 2>(net, loss, o, what, nullptr, sizes), two), what << ", two devices each");
    BOOST_TEST(same_bits(trained<rehearsal_later<rehearsal_peer>, 2>(net, loss, o, what, nullptr, sizes), two),
               what << ", two peers each");
}
constexpr adam steady{.learning_rate = 0.01f, .epsilon = 1e-3f};

/// In each step that ends a round buckets follow each other; each starts when as many launches have
/// run as it needs, or the one before it.
template <class Net, class Optimizer>
void check_starts(Net net, Optimizer optimizer, int least, int updates) {
    using P = typename decltype(trainer{net, mse, optimizer, max_batch<12>, watched<device>{}})::training;
    constexpr bool accumulates = sinter::strategy_parts::of_program::every<P> > 1;
    BOOST_TEST_REQUIRE(P::v.n_buckets >= least);
    std::vector<started> starts;
    trained<device>(net, mse, optimizer, "watched", &starts, {12, 7, 2, 3});
    int steps = 0, early = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        if (starts[i].bucket != 0) continue;
        ++steps;
        int needed = accumulates ? P::v.segments.first_change : sinter::strategy_parts::of_program::loss_launch<P> + 1;
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const started& s = starts[i + static_cast<std::size_t>(k)];
            needed = std::max(needed, P::v.buckets[k].final_after + 1);
            BOOST_TEST_REQUIRE(s.bucket == k);
            BOOST_TEST(s.more);
            BOOST_TEST(s.launched == needed, "bucket " << k << " of " << P::v.n_buckets);
            early += s.launched < P::v.segments.first_update;
        }
    }
    BOOST_TEST(steps == updates);
    BOOST_TEST(early >= updates * (least - 1));
}

} // namespace

BOOST_AUTO_TEST_CASE(the_same_bits) {
    check(numbers, mse, steady, "numbers");
    check(words, mse, steady, "words");
    check(words, mse, clip_by_global_norm{0.05f, momentum{.learning_rate = 0.1f}}, "clipped");
    check(normed, mse, steady, "statistics of all");
    check(words, mse, accumulate<2>(steady), "accumulated");
    check(words, mse, accumulate<2>(steady), "accumulated, the last step's batch without examples for some",
          {12, 1, 9, 2});
    check(normed, mse, accumulate<2>(steady), "statistics of all, accumulated");
}
BOOST_AUTO_TEST_CASE(buckets_are_sent_as_soon_as_they_are_final) {
    check_starts(numbers, steady, 4, 8);
    check_starts(words, steady, 3, 8);
    check_starts(numbers, accumulate<2>(steady), 4, 4);
    check_starts(words, accumulate<4>(steady), 3, 2);
}
BOOST_AUTO_TEST_CASE(one_order_of_sums) {
    const auto by = [](auto strategy) {
        trainer t{words, mse, steady, max_batch<12>, canonical<4>(strategy), {.threads = 2}};
        train_on(t, 8, {12, 7, 1, 3});
        return all_variables(t);
    };
    const auto one = by(single<rehearsal_device>{});
    BOOST_TEST(same_bits(by(single<device>{}), one));
    BOOST_TEST(same_bits(by(mirrored<2, device>{}), one));
    BOOST_TEST(same_bits(by(mirrored<4, rehearsal_later<rehearsal_peer>>{}), one));
}
