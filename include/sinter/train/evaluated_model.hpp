// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_view.hpp>
#include <sinter/graph/port_info.hpp>
#include <sinter/graph/target_list.hpp>
#include <sinter/train/metrics/accuracy.hpp>
#include <sinter/train/trainer_state.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// What is known of a model's ports and loss while it compiles.
struct port_facts {
    base::view<const port_info> inputs, targets;   ///< of training; evaluation has the same
    base::view<const shape> output_shapes;         ///< of evaluation
    base::view<const char* const> output_names;
    target_list loss;          ///< what the loss takes, in the order of `targets`
    int max_batch = 0;
    bool of_logits = false;    ///< the loss says that it takes logits, and not probabilities
    bool may_hide = false;     ///< a batch may have examples that count for nothing (strategy/uncounted_examples.hpp)
    bool looks_up = false;     ///< tables are elsewhere, and evaluation's lookups have inputs of their own

    constexpr int outputs() const { return output_shapes.n; }
    /// Whether the loss's first target is class numbers for the first output: then accuracy can be counted.
    constexpr bool classifies() const {
        return loss.n > 0 && loss.at[0].kind == target_kind::class_index && loss.at[0].output == 0;
    }
};

/// A model that evaluate() measures (train/evaluate.hpp).
class evaluated_model {
public:
    const port_facts& ports;

    virtual trainer_state& state() = 0;
    session_base& session() { return state().session(); }
    /// The batch's mean loss; data_error where the batch does not fit. Outputs are then those of this batch.
    virtual float evaluate(const batch_view&) = 0;
    virtual double loss_weight() const = 0;
    /// Counts the last batch's first output, where classifies(). A session without outputs counts nothing.
    virtual void count_accuracy(metrics::accuracy&, const batch_view&) const = 0;
    /// Output i of the last batch.
    virtual span<const float> output(int i) const = 0;
    virtual shape last_output_shape(int i) const = 0;

protected:
    explicit evaluated_model(const port_facts& p) : ports(p) {}
    virtual ~evaluated_model() = default;
};

} // namespace sinter
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Weights an example by which the loss weighs this output; 0 where it weighs others alone, or none.
constexpr int weights_of_output(const port_facts& p, int output) {
    for (int i = 0; i < p.targets.n; ++i)
        if (p.targets[i].weight && (p.loss.at[i].hides != hidden_part::output || p.loss.at[i].output == output))
            return p.targets[i].s.size();
    return 0;
}

} // namespace sinter::training_parts
