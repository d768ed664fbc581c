// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/identity.hpp>
#include <sinter/sinter.hpp>
#include <algorithm>

/// A strategy that a user writes: a session of one replica, of which it changes a few calls.
namespace example {
using namespace sinter;

/// DiLoCo (Douillard et al. 2023, arXiv 2311.08105, algorithm 1). Every `inner_steps` steps of each
/// process's own, the mean of the ways that all have come is the gradient of an outer step with
/// Nesterov's momentum. `Algorithm`: what sends, as for multi_worker.
template <class Algorithm>
struct diloco {
    using device = cpu_device;
    static constexpr strategy_traits traits{};   // the programs are those of one device, and as fast
    cluster members{};
    int inner_steps = 20;
    float outer_rate = 0.7f, outer_momentum = 0.9f;

    template <class Programs>
    class session : public replica_session<Programs> {
        using base = replica_session<Programs>;
        static constexpr compiler::address weights{compiler::space::parameter, 0};   // all of them, in one stretch

    public:
        session(const diloco& s, int threads)
            : base(cpu_device::options{.threads = threads}), settings_(s),
              start_(static_cast<std::size_t>(Programs::template training<0>::v.floats(compiler::space::parameter))),
              velocity_(start_.size()), difference_(start_.size()),
              others_(Algorithm::connect(s.members, {.layout = start_.size()})) {}

        /// A step of this process's own and, at the end of a round, one of the outer optimizer.
        template <int I, class Observer>
        step_result step(const data::batch_view& b, const step_values& v, Observer observe) {
            const step_result r = base::template step<I>(b, v, observe);
            if (++done_ % settings_.inner_steps == 0) outer_step();
            return r;
        }
        void outer_step() {
            base::read(weights, difference_.data(), size());
            for (std::size_t i = 0; i < start_.size(); ++i) difference_[i] = start_[i] - difference_[i];
            others_->all_reduce(span<float>(difference_));
            const float share = 1.f / static_cast<float>(others_->size());
            for (std::size_t i = 0; i < start_.size(); ++i) {
                const float gradient = difference_[i] * share;
                velocity_[i] = settings_.outer_momentum * velocity_[i] + gradient;
                start_[i] -= settings_.outer_rate * (gradient + settings_.outer_momentum * velocity_[i]);
            }
            base::write(weights, start_.data(), size());
        }
        /// Behind initial values, or what a file held: all begin where the chief does.
        void publish() override {
            base::read(weights, start_.data(), size());
            others_->broadcast({reinterpret_cast<std::byte*>(start_.data()), start_.size() * sizeof(float)});
            base::write(weights, start_.data(), size());
            std::fill(velocity_.begin(), velocity_.end(), 0.f);
            done_ = 0;
        }
        void reduce(span<double> sums) override { others_->all_reduce(sums); }
        membership member() const override { return {others_->rank(), others_->size()}; }
        // The trainer's loop knows that batches are each process's own. Each must have as many as the others.
        bool per_worker() const override { return true; }

    private:
        diloco settings_;
        std::vector<float> start_, velocity_, difference_;
        std::unique_ptr<collective::communicator> others_;
        std::int64_t done_ = 0;

        std::int64_t size() const { return static_cast<std::int64_t>(start_.size()); }
    };
};

} // namespace example
