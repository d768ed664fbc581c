// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <sinter/strategy/strategy.hpp>

/// Batches for a loop of one's own, under every strategy.
namespace sinter::inline SINTER_TARGET {

/// What distribute() gives: a range to be gone over once.
template <class Trainer>
class distributed_batches {
public:
    distributed_batches(Trainer& t, data::pipeline& data) : trainer_(t), data_(data) {}

    struct end_of_pass {};
    class iterator {
    public:
        iterator(Trainer& t, data::pipeline& data)
            : trainer_(t), at_(data.begin()), end_(data.end()), left_(at_ != end_) {
            if constexpr (requires { t.session().per_worker(); })
                waits_ = t.session().per_worker() && t.session().member().count > 1;
        }
        const data::batch_view& operator*() const { return left_ ? *at_ : nothing_; }
        iterator& operator++() {
            if (left_) {
                ++at_;
                left_ = at_ != end_;
            } else {
                waits_ = trainer_.last_step().examples > 0;   // of all members
            }
            return *this;
        }
        bool operator==(end_of_pass) const { return !left_ && !waits_; }

    private:
        Trainer& trainer_;
        data::pipeline::iterator at_;
        data::pipeline::end_of_pass end_;
        bool left_, waits_ = false;
        data::batch_view nothing_{};
    };
    iterator begin() { return {trainer_, data_}; }
    end_of_pass end() const { return {}; }

private:
    Trainer& trainer_;
    data::pipeline& data_;
};

/// The batches of one pass that this process steps on:
///
///     for (const data::batch_view& b : distribute(model, images)) sum[0] += model.step(b) * model.loss_weight();
///     model.session().reduce(sum);   // where each process has counted for itself
///
/// Where all processes read the same data these are whole batches, of which each step takes this
/// process's part. Where each has data of its own, one whose batches have come to their end goes on
/// with empty ones until those of all have, since a step is a step of all: at least one step must be
/// made of each batch. What step() returns, and last_step(), are of all processes' examples.
template <class Trainer>
distributed_batches<Trainer> distribute(Trainer& t, data::pipeline& data) {
    return {t, data};
}

} // namespace sinter
