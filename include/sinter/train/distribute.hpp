// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <sinter/train/agreement.hpp>
#include <sinter/train/described_data.hpp>
#include <sinter/train/trainer_views.hpp>

/// Batches for a loop of one's own, under every strategy.
namespace sinter::inline SINTER_TARGET {

/// What distribute() gives: a range to be gone over once.
template <class Trainer>
class distributed_batches {
public:
    distributed_batches(Trainer& t, data::pipeline& data, std::int64_t max_steps, bool (*asked_to_end)())
        : trainer_(t), data_(data) {
        serves_ = t.has_served(asked_to_end);
        if (serves_) return;
        agree(max_steps);
        t.begin_training(max_steps);
    }

    struct end_of_pass {};
    class iterator {
    public:
        iterator(Trainer& t, data::pipeline& data, bool serves)
            : trainer_(t), at_(data.begin()), end_(data.end()), left_(!serves && at_ != end_) {
            if (serves) return;
            waits_ = t.session().takes_empty_batches() && t.session().member().count > 1;
        }
        const data::batch_view& operator*() const { return left_ ? *at_ : nothing_; }
        iterator& operator++() {
            if (left_) {
                ++at_;
                left_ = at_ != end_ && !(trainer_.session().independent() && trainer_.last_step().stop);
                if (!left_) trainer_.session().rest();
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
    iterator begin() { return {trainer_, data_, serves_}; }
    end_of_pass end() const { return {}; }

private:
    Trainer& trainer_;
    data::pipeline& data_;
    bool serves_ = false;

    /// All members make this call: mismatch_error on each unless they train alike.
    SINTER_COLD void agree(std::int64_t max_steps) {
        if constexpr (!detail::session_of<Trainer>::alone) {
            session_base& session = trainer_.session();
            if (training_parts::is_alone(session)) return;
            description d;
            training_parts::describe_data(d, session, data_, "training data");
            if (!session.per_worker())
                training_parts::describe_place(d, data_.position());
            detail::model_view<Trainer>(trainer_).describe(d, max_steps);
            d.of("distribute")("max_steps", max_steps);
            training_parts::need_same(session, d, "members do not train alike", "distribute",
                                      training_parts::same_or_per_worker);
        }
    }
};

/// The batches of one pass that this process steps on:
///
///     for (const data::batch_view& b : distribute(model, images)) sum[0] += model.step(b) * model.loss_weight();
///     model.session().reduce(sum);   // where each process has counted for itself
///
/// Where all processes read the same data these are whole batches, of which each step takes this
/// process's part. Where each has data of its own, one whose batches have come to their end goes on
/// with empty ones until those of all have, since a step is a step of all: at least one step must
/// be made of each batch. mismatch_error on every process unless they read the same data (but where each has its own),
/// by optimizers of the same settings. What step() returns, and last_step(), are of all processes' examples.
///
/// Under parameter servers the range is empty in a server, which serves until the job is done;
/// `asked_to_end` says there whether its process has been asked to end (stop_on_signals::asked),
/// for which all workers stop. Where each worker has batches of its own it ends early when
/// `max_steps` (0: no limit) have been made by all workers together, or somebody has asked all to
/// stop.
template <class Trainer>
distributed_batches<Trainer> distribute(Trainer& t, data::pipeline& data, std::int64_t max_steps = 0,
                                        bool (*asked_to_end)() = nullptr) {
    return {t, data, max_steps, asked_to_end};
}

} // namespace sinter
