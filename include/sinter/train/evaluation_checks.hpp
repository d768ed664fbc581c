// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/evaluate.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// Whether a loss says that it takes logits, and not probabilities.
template <class L>
constexpr bool is_of_logits() {
    if constexpr (requires { L::of_logits; }) return L::of_logits;
    else return false;
}
/// Throws what evaluate() would, as far as it is known without an example: data that never end (where `batches` is 0)
/// or have none, columns or batches that do not fit the model, metrics that do not fit its outputs or cannot be added
/// up over members. `where` names whose data these are.
template <class Trainer>
SINTER_COLD void need_evaluable(Trainer& t, const data::pipeline& data, const std::vector<metrics::named>& measured,
                                std::int64_t batches, const char* where) {
    using program = typename Trainer::evaluation;
    if (batches == 0) need_an_end(data, where);
    const std::int64_t examples = data.size();
    if (examples == 0) throw data_error("there is nothing to evaluate", where, "no examples", "at least one");
    const std::int64_t size = examples > 0 && examples < data.batch_size() ? examples : data.batch_size();
    try {
        if (size > program::v.max_batch) strategy_parts::refuse_size(static_cast<int>(size), program::v.max_batch);
        data::batch_buffer one(data.columns(), 1);   // of zeros, which fit every range
        data::batch_view b = one.view();
        b.size = 1;
        const float* ports[program::v.n_inputs + program::v.n_targets + 1];
        if constexpr (Trainer::strategy_type::traits.remote_tables)
            // Lookups have inputs of their own.
            strategy_parts::bind_targets(b, program::v.targets, program::v.n_targets, ports);
        else
            bind_ports<program>(b, ports, true);
    } catch (const data_error& e) {
        throw data_error(e.fault(), to_text({where, ", ", e.where()}), e.got(), e.needed());
    }
    static constexpr target_list all = targets_of<loss_of<Trainer>>(Trainer::training::v.n_outputs);
    for (const metrics::named& m : measured) {
        const metric_place at = place_of<typename Trainer::training>(m, all);
        if (!m.takes_batches()) {
            const target_place of = target_of_output(all, m, at);
            const shape& s = program::v.output_shapes[at.output];
            m.need_fit(of.whole, s.rank ? s.last() : 1, !of.whole && is_of_logits<loss_of<Trainer>>());
        }
        if (!is_alone(t.session()) && !m.begin()->merge(nullptr)) refuse_to_add_up(m);
    }
}

} // namespace sinter::detail
