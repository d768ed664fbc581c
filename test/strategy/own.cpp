// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include "support/thread_members.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/distribute.hpp>
#include <cmath>
#include <algorithm>
#include <limits>

// Strategies that the library does not have: what a user writes against strategy/strategy.hpp.
using namespace sinter;
using namespace sinter::compiler;

namespace {

constexpr auto net = features<6> >> named<"first">(dense<16>) >> relu >> named<"second">(dense<3>);
constexpr int batch = 8;

struct examples {
    float x[batch * 6], y[batch * 3];
    examples() {
        random_stream r(3);
        for (float& v : x) v = r.normal();
        for (float& v : y) v = r.normal();
    }
    data::batch_view view(int size = batch) const { return {.x = x, .y = y, .size = size}; }
};

template <class Trainer>
std::vector<float> weights(const Trainer& t) {
    std::vector<float> all;
    for (int i = 0; i < t.parameters(); ++i)
        for (float v : t.plain(t.parameter(i))) all.push_back(v);
    return all;
}

/// Counts what its trainer asks of it.
struct counts {
    int steps = 0, published = 0, refreshed = 0;
};
struct counting {
    using device = cpu_device;
    static constexpr strategy_traits traits{};
    counts* to = nullptr;   // a strategy is a value, and its members reach the session

    template <class Programs>
    class session : public single_session<Programs> {
        using base = single_session<Programs>;

    public:
        session(const counting& s, int threads) : base(cpu_device::options{.threads = threads}), to_(s.to) {}
        template <int I, class Observer>
        step_result step(const data::batch_view& b, const step_values& v, Observer observe) {
            ++to_->steps;
            return base::template step<I>(b, v, observe);
        }
        void publish() override { ++to_->published; }
        void refresh() override { ++to_->refreshed; }

    private:
        counts* to_;
    };
};

/// Two replicas, half of the batch each; both update by the sum of both gradients. Written from nothing but replicas.
struct two_halves {
    using device = cpu_device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::stored};
    bool forget = false;   // to add the gradients up: the test would see it

    template <class Programs>
    class session : public replica_session<Programs> {
        using base = replica_session<Programs>;
        using training = typename Programs::template training<0>;

    public:
        session(const two_halves& s, int threads)
            : base(cpu_device::options{.threads = threads}), b_(cpu_device::options{.threads = threads}),
              forget_(s.forget) {}

        template <int I, class Observer>
        step_result step(const data::batch_view& b, step_values v, Observer observe) {
            const int half = b.size / 2;
            data::batch_view first = b, second = b;
            first.size = half;
            second.size = b.size - half;
            second.x += half * 6;
            second.y += half * 3;
            v.shard.global_batch = b.size;
            const step_result r = this->template gradients<I>(first, v, observe);
            v.shard.index = 1;
            const step_result s = b_.template gradients<I>(second, v, observe);
            const float loss = r.loss + s.loss;   // each is its examples' part of the mean over all
            if (!r.applied || !s.applied) return {loss, false};
            if (!forget_) add();
            this->template update<I>(v);
            b_.template update<I>(v);
            return {loss, true};
        }
        void write(address to, const float* from, std::int64_t n) override {
            base::write(to, from, n);
            b_.write(to, from, n);
        }
        void clear_slots() override {
            base::clear_slots();
            b_.clear_slots();
        }
        replica<Programs>& other() { return b_; }

    private:
        replica<Programs> b_;
        bool forget_;

        void add() {
            std::vector<float> x, y;
            for (int i = 0; i < training::v.n_parameters; ++i) {
                const variable_info& p = training::v.parameters[i];
                const auto n = static_cast<std::size_t>(p.floats);
                x.resize(n), y.resize(n);
                base::read(p.gradient, x.data(), p.floats);
                b_.read(p.gradient, y.data(), p.floats);
                for (std::size_t k = 0; k < n; ++k) x[k] += y[k];
                base::write(p.gradient, x.data(), p.floats);
                b_.write(p.gradient, x.data(), p.floats);
            }
        }
    };
};

/// Members have batches of their own and average their weights now and then. Its step is single's, which takes no
/// empty batch.
struct local_averages {
    using device = cpu_device;
    static constexpr strategy_traits traits{};
    collective::communicator* group = nullptr;

    template <class Programs>
    class session : public replica_session<Programs> {
        using base = replica_session<Programs>;

    public:
        session(const local_averages& s, int threads)
            : base(cpu_device::options{.threads = threads}), group_(s.group),
              w_(static_cast<std::size_t>(Programs::template training<0>::v.floats(space::parameter))) {}
        template <int I, class Observer>
        step_result step(const data::batch_view& b, const step_values& v, Observer observe) {
            const step_result r = base::template step<I>(b, v, observe);
            if (++n_ % 3 != 0) return r;
            base::read({space::parameter, 0}, w_.data(), static_cast<std::int64_t>(w_.size()));
            group_->all_reduce(span<float>(w_.data(), w_.size()));
            for (float& x : w_) x /= static_cast<float>(group_->size());
            base::write({space::parameter, 0}, w_.data(), static_cast<std::int64_t>(w_.size()));
            return r;
        }
        void reduce(span<double> sums) override { group_->all_reduce(sums); }
        membership member() const override { return {group_->rank(), group_->size()}; }
        bool per_worker() const override { return true; }

    private:
        collective::communicator* group_;
        std::vector<float> w_;
        int n_ = 0;
    };
};

double furthest(const std::vector<float>& a, const std::vector<float>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    return most;
}

} // namespace

static_assert(strategy<counting> && strategy<two_halves> && strategy<single<cpu_device>> && !strategy<cpu_device> &&
              !strategy<int>);

BOOST_AUTO_TEST_CASE(a_strategy_of_equal_traits_shares_programs) {
    counts n;
    trainer plain{net, mse, adam{}, max_batch<batch>, {.threads = 1}};
    trainer counted{net, mse, adam{}, max_batch<batch>, counting{&n}, {.threads = 1}};
    using a = decltype(plain);
    using b = decltype(counted);
    static_assert(std::is_same_v<a::training, b::training> && std::is_same_v<a::evaluation, b::evaluation>);
    static_assert(a::bytes() == b::bytes());
    const examples e;
    for (int i = 0; i < 5; ++i) BOOST_TEST(plain.step(e.view()) == counted.step(e.view()));
    BOOST_TEST(plain.evaluate(e.view()) == counted.evaluate(e.view()));
    counted.predict(e.view());
    BOOST_TEST((weights(plain) == weights(counted)));
    BOOST_TEST(n.steps == 5);
    BOOST_TEST(n.refreshed == 2);   // before evaluation, before prediction
    BOOST_TEST(n.published == 1);   // the initial values
    counted.put({});
    BOOST_TEST(n.published == 2);
}

BOOST_AUTO_TEST_CASE(two_replicas_train_as_one) {
    trainer one{net, mse, adam{.learning_rate = 0.01f}, max_batch<batch>, {.threads = 1}};
    trainer two{net, mse, adam{.learning_rate = 0.01f}, max_batch<batch>, two_halves{}, {.threads = 1}};
    trainer apart{net, mse, adam{.learning_rate = 0.01f}, max_batch<batch>, two_halves{.forget = true}, {.threads = 1}};
    const examples e;
    for (int i = 0; i < 20; ++i) {
        const int size = i % 3 ? batch : 7;   // parts of 3 and 4, too
        const float want = one.step(e.view(size));
        BOOST_TEST(two.step(e.view(size)) == want, boost::test_tools::tolerance(1e-5f));
        apart.step(e.view(size));
    }
    BOOST_TEST(furthest(weights(two), weights(one)) < 1e-5);
    BOOST_TEST(furthest(weights(apart), weights(one)) > 1e-3);   // the test would see it
    for (int i = 0; i < two.parameters(); ++i) {   // and both replicas are the same, to the bit
        const variable_info& v = two.parameter(i);
        std::vector<float> a(static_cast<std::size_t>(v.floats)), b(a);
        two.session().read(v.at, a.data(), v.floats);
        two.session().other().read(v.at, b.data(), v.floats);
        BOOST_TEST((a == b));
    }
    BOOST_TEST(two.steps() == 20);
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_applied_does_not_count) {
    trainer two{net, mse, sgd{}, max_batch<batch>, two_halves{}, {.threads = 1}};
    examples e;
    two.step(e.view());
    const std::vector<float> before = weights(two);
    e.y[batch * 3 - 1] = std::numeric_limits<float>::infinity();   // the second replica's
    BOOST_TEST(!std::isfinite(two.step(e.view())));
    BOOST_TEST((weights(two) == before));
    BOOST_TEST(two.steps() == 1);
}

// Estimators and trainers of several losses take the same.
BOOST_AUTO_TEST_CASE(wherever_a_strategy_may_stand) {
    counts n;
    examples e;
    estimator model{net, mse, sgd{}, counting{&n}, max_batch<batch>};
    model.inner().step(e.view());
    BOOST_TEST(n.steps == 1);
    constexpr alternating turns{phase<"first/*">(mse, sgd{}), phase<"second/*">(mse, sgd{})};
    alternating_trainer gan{net, turns, {.threads = 1}, counting{&n}};
    alternating_trainer same{net, turns, {.threads = 1}};
    for (int i = 0; i < 4; ++i) BOOST_TEST(gan.step(e.view()) == same.step(e.view()));
    BOOST_TEST(n.steps == 5);
    estimator by_phases{net, turns, max_batch<batch>, counting{&n}};
    by_phases.inner().step(e.view());
    BOOST_TEST(n.steps == 6);
    e.x[0] = std::numeric_limits<float>::quiet_NaN();
    same.step(e.view());
    BOOST_TEST(same.phase_steps()[0] == 2);   // a phase's step that changed nothing does not count, either
    BOOST_TEST(same.steps() == 4);
}

BOOST_AUTO_TEST_CASE(own_batches_in_train_and_in_a_loop) {
    std::vector<float> x(24 * 6), y(24 * 3);
    random_stream random(5);
    for (float& v : x) v = random.normal();
    for (float& v : y) v = random.normal();
    const auto set = data::dataset(extents(6), x).targets(extents(3), y);
    std::vector<float> found[2];
    std::vector<std::int64_t> steps[2];
    const auto thrown = sinter_test::in_members(2, [&](int rank, collective::communicator& c) {
        auto mine = set.slice(12 * rank, 12) | data::batch(4), held_out = set | data::batch(8);
        estimator m{net, mse, sgd{.learning_rate = 0.01f}, max_batch<batch>, local_averages{&c}, {.threads = 1}};
        const auto h = m.train(mine, {.epochs = 2, .validation = held_out, .progress = nullptr});
        steps[rank] = {static_cast<std::int64_t>(h.size()), m.inner().steps()};
        for (const data::batch_view& b : distribute(m.inner(), mine)) m.inner().step(b);
        steps[rank].push_back(m.inner().steps());
        found[rank] = weights(m.inner());
    });
    for (const std::string& e : thrown) BOOST_TEST(e.empty(), e);
    for (const auto& s : steps) BOOST_TEST(s == (std::vector<std::int64_t>{2, 6, 9}));
    BOOST_TEST(found[0] == found[1]);   // averaged behind steps 3, 6 and 9
}
