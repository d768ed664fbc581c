// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/sinter.hpp>

// A replica's step in two halves is its step, whatever becomes of gradients between kernels and
// optimizer; and memories that are moved go on as they were.
using namespace sinter;
using namespace sinter::compiler;

namespace {

constexpr auto net = features<6> >> dense<16> >> batch_norm >> relu >> dropout<0.3f> >> dense<3>;
constexpr int batch = 8;

/// Its programs under a policy, and the optimizer's scalars.
template <gradient_policy Policy>
struct halves {
    using device = cpu_device;
    static constexpr strategy_traits traits{.gradients = Policy};
    bool at_once = true;

    template <class Programs>
    class session : public single_session<Programs> {
        using base = single_session<Programs>;

    public:
        session(const halves& s, int threads) : base(cpu_device::options{.threads = threads}), at_once_(s.at_once) {}
        template <int I, class Observer>
        step_result step(const data::batch_view& b, const step_values& v, Observer observe) {
            if (at_once_) return base::template step<I>(b, v, observe);
            const step_result r = base::template gradients<I>(b, v, observe);
            if (r.applied) base::template update<I>(v, observe);
            return r;
        }

    private:
        bool at_once_;
    };
};

template <class Trainer>
std::vector<float> everything(const Trainer& t) {
    std::vector<float> all;
    const auto add = [&](const std::vector<float>& x) { all.insert(all.end(), x.begin(), x.end()); };
    for (int i = 0; i < t.parameters(); ++i) {
        add(t.plain(t.parameter(i)));
        for (int k = 0; k < t.slots_of(t.parameter(i)); ++k) add(t.plain_slot(t.parameter(i), k));
    }
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    return all;
}

template <gradient_policy Policy, class Optimizer>
void check(Optimizer o) {
    std::vector<float> x(batch * 6), y(batch * 3);
    random_stream r(5);
    for (float& v : x) v = r.normal();
    for (float& v : y) v = r.normal();
    trainer whole{net, mse, o, max_batch<batch>, halves<Policy>{true}, {.threads = 1}};
    trainer cut{net, mse, o, max_batch<batch>, halves<Policy>{false}, {.threads = 2}};
    for (int i = 0; i < 6; ++i) {
        const data::batch_view b{.x = x.data(), .y = y.data(), .size = i % 2 ? batch : 5};
        BOOST_TEST(whole.step(b) == cut.step(b));
        BOOST_TEST((everything(whole) == everything(cut)));
        if (i == 2) {
            auto moved = std::move(cut);
            cut = std::move(moved);
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(gradients_used_up) { check<gradient_policy::fused>(adam{}); }
BOOST_AUTO_TEST_CASE(gradients_stored) { check<gradient_policy::stored>(adam{}); }
BOOST_AUTO_TEST_CASE(gradients_clipped) { check<gradient_policy::fused>(clip_by_global_norm<sgd>{1.f, {}}); }

// The user's own choice holds where the strategy has none.
BOOST_AUTO_TEST_CASE(traits_and_options_meet) {
    constexpr program_options storing{.store_gradients = true};
    using own = decltype(trainer{net, mse, sgd{}, built_with<storing>, halves<gradient_policy::fused>{}});
    using asked = decltype(trainer{net, mse, sgd{}, halves<gradient_policy::stored>{}});
    using neither = decltype(trainer{net, mse, sgd{}, halves<gradient_policy::fused>{}});
    const auto stored = [](const auto& program) {
        int n = 0;
        for (int i = 0; i < program.n_parameters; ++i) n += program.parameters[i].gradient.where() != space::none;
        return n;
    };
    BOOST_TEST(stored(own::training::v) == own::parameters());
    BOOST_TEST(stored(asked::training::v) == asked::parameters());
    BOOST_TEST(stored(neither::training::v) < neither::parameters());
}
