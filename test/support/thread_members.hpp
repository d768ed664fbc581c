// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <sinter/collective/thread_group.hpp>
#include <sinter/sinter.hpp>
#include <thread>

/// Members of a job that are threads of this process: a strategy written from nothing but a replica
/// and a communicator, for tests of what is above strategies.
namespace sinter_test {
using namespace sinter;
using namespace sinter::compiler;

/// What a test counts.
struct member_counts {
    std::atomic<int> reductions{0};   ///< calls of reduce(), outside of steps
};

struct thread_settings {
    collective::communicator* group = nullptr;
    bool own_batches = false;
    member_counts* counts = nullptr;
};
struct thread_member : thread_settings {
    using device = cpu_device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::stored};
    thread_member() = default;
    thread_member(thread_settings s) : thread_settings(s) {}

    template <class Programs>
    class session : public replica_session<Programs> {
        using base = replica_session<Programs>;
        using training = typename Programs::template training<0>;

    public:
        session(const thread_member& s, int) : base(cpu_device::options{.threads = 1}), s_(s) {}

        template <int I, class Observer>
        step_result step(const data::batch_view& b, step_values v, Observer observe) {
            part_ = b;
            if (!s_.own_batches) {
                const int r = s_.group->rank(), n = s_.group->size();
                const int from = b.size * r / n, to = b.size * (r + 1) / n;
                part_.size = to - from;
                part_.inputs = {}, part_.targets = {};   // x, y and labels say it all
                if (b.x) part_.x += from * training::v.inputs[0].s.size();
                if (b.y) part_.y += from * training::v.targets[0].s.size();
                if (b.labels) part_.labels += from;
            }
            double sums[4] = {static_cast<double>(part_.size), v.stop ? 1. : 0., v.save ? 1. : 0., 0};
            s_.group->all_reduce(span<double>(sums, 3));
            const auto all = static_cast<std::int64_t>(sums[0]);
            step_result r{0, false, sums[1] > 0, sums[2] > 0, all, static_cast<double>(all)};
            if (all == 0) return r;
            v.shard.global_batch = static_cast<int>(all);
            v.shard.index = static_cast<std::uint64_t>(s_.group->rank());
            double loss = 0;
            bool finite = true;
            if (part_.size > 0) {
                const step_result mine = this->template gradients<I>(part_, v, observe);
                loss = static_cast<double>(mine.loss);
                finite = mine.applied;
            }
            double of_loss[2] = {loss, finite ? 0. : 1.};
            s_.group->all_reduce(span<double>(of_loss, 2));
            r.loss = static_cast<float>(of_loss[0]);
            if (of_loss[1] > 0) return r;
            for (int i = 0; i < training::v.n_parameters; ++i) {
                const variable_info& p = training::v.parameters[i];
                std::vector<float> x(static_cast<std::size_t>(p.floats));
                if (part_.size > 0) base::read(p.gradient, x.data(), p.floats);
                s_.group->all_reduce(span<float>(x.data(), x.size()));
                base::write(p.gradient, x.data(), p.floats);
            }
            this->template update<I>(v);
            r.applied = true;
            return r;
        }
        template <class F>
        void each_part(const data::batch_view&, F f) {
            base::each_part(part_, f);
        }
        void reduce(span<double> x) override {
            if (s_.counts) ++s_.counts->reductions;
            s_.group->all_reduce(x);
        }
        void broadcast(span<std::byte> x) override { s_.group->broadcast(x); }
        membership member() const override { return {s_.group->rank(), s_.group->size()}; }
        bool per_worker() const override { return s_.own_batches; }
        bool takes_empty_batches() const override { return s_.own_batches; }

    private:
        thread_settings s_;
        data::batch_view part_{};
    };
};

/// f(rank, communicator) in a thread for each of n members. What one throws the others are told.
/// Returns what each has thrown: empty for nothing.
inline std::vector<std::string> in_members(int n, std::function<void(int, collective::communicator&)> f) {
    collective::thread_group group(n);
    std::vector<std::string> thrown(static_cast<std::size_t>(n));
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
        threads.emplace_back([&, r] {
            try {
                f(r, group.member(r));
            } catch (const std::exception& e) {
                thrown[static_cast<std::size_t>(r)] = e.what();
                group.member(r).fail(e.what());
            }
        });
    for (std::thread& t : threads) t.join();
    return thrown;
}

} // namespace sinter_test
