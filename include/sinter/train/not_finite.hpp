// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/trained_model.hpp>

/// What to say of numbers that are not finite: the first of them is named, for what comes after it
/// only follows.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// The place of the first number that is not finite; n if all are.
SINTER_SELDOM std::int64_t first_not_finite(const float* x, std::int64_t n);

/// Which numbers of a batch are wrong. NaN never has a meaning, but infinities may: the mask that is
/// added to scores has them. So weights are looked at between the two.
enum class wrong_number : std::uint8_t { nan, any };

/// data_error if a parameter or a state of a model has such a number.
SINTER_SELDOM SINTER_COLD void need_finite_model(const trainer_state& t, const char* where);
/// The same, and if what the optimizer remembers has one: there a gradient was so large that floats
/// have no square of it, and the weight would never move again.
SINTER_SELDOM SINTER_COLD void need_finite_weights(const trainer_state& t, const char* where);
/// data_error if a number of the batch is wrong. `where`: the step, or another call.
SINTER_SELDOM SINTER_COLD void need_finite_batch(const port_facts& p, const batch_view& b, const std::string& where,
                                                 wrong_number wrong = wrong_number::any);
/// Why a batch's loss is not finite: always throws data_error. `together`: all members make this
/// call at the same step.
[[noreturn]] SINTER_APART SINTER_COLD void refuse_loss(trained_model& t, const batch_view& b, float loss,
                                                       bool together);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/strategy/table_calls.hpp>
#include <sinter/strategy/counted_examples.hpp>
#include <array>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM_BODY std::int64_t first_not_finite(const float* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
        if (!(x[i] - x[i] == 0.f)) return i;
    return n;
}
[[noreturn]] SINTER_COLD inline void refuse_weight(const std::string& where, float x) {
    throw data_error("a weight is not finite", where, base::number_text(x),
                     "finite weights: try a smaller learning rate, or clip_by_global_norm, if they were finite "
                     "when training began");
}
[[noreturn]] SINTER_COLD inline void refuse_memory(const std::string& where, int slot, float x) {
    throw data_error("what the optimizer remembers of a weight's gradients is not finite",
                     to_text({where, ", slot ", slot}), base::number_text(x),
                     "gradients below 1.8e19, of which floats have squares: scale the data or the loss");
}
/// data_error if a slot of a parameter has such a number.
SINTER_SELDOM SINTER_COLD void need_finite_slot(const trainer_state& t, const variable_info& v, int k,
                                                const char* where) {
    const std::vector<float> x = t.plain(v, k);
    const std::int64_t n = static_cast<std::int64_t>(x.size()), at = first_not_finite(x.data(), n);
    if (at < n)
        refuse_memory(to_text({where, ", ", t.facts.path(v), ", number ", at}), k, x[static_cast<std::size_t>(at)]);
}
/// Whether others keep tables and the optimizer's memory (table_calls), who then look at these
/// themselves: data_error if they have found such a number. `slots`: also in what the optimizer
/// remembers.
SINTER_SELDOM SINTER_COLD bool is_looked_at_elsewhere(const trainer_state& t, const char* where, bool slots) {
    const table_calls* const tables = t.session().tables();
    return tables && tables->each_wrong_number(
        [&](const variable_info& v, int slot, std::int64_t number, const std::int64_t* key, float x) {
            if (slot >= 0 && !slots) return;
            if (number < 0) return need_finite_slot(t, v, slot, where);
            const std::string place = to_text(
                {where, ", ", t.facts.path(v), key ? to_text({", key ", *key}) : std::string(), ", number ", number});
            if (slot < 0) refuse_weight(place, x);
            refuse_memory(place, slot, x);
        });
}
SINTER_SELDOM SINTER_COLD void need_finite_variables(const trainer_state& t, const char* where, bool slots) {
    const bool elsewhere = is_looked_at_elsewhere(t, where, slots);
    t.facts.each([&](const variable_info& v) {
        if (elsewhere && v.remote) return;
        const std::vector<float> x = t.plain(v);
        const std::int64_t n = static_cast<std::int64_t>(x.size()), i = first_not_finite(x.data(), n);
        if (i < n)
            refuse_weight(to_text({where, ", ", t.facts.path(v), ", number ", i}), x[static_cast<std::size_t>(i)]);
    });
    if (!slots || elsewhere) return;
    for (const variable_info& v : t.facts.parameters)
        for (int k = 0; k < t.facts.slots_of(v); ++k) need_finite_slot(t, v, k, where);
}
SINTER_SELDOM_BODY void need_finite_model(const trainer_state& t, const char* where) {
    need_finite_variables(t, where, false);
}
SINTER_SELDOM_BODY void need_finite_weights(const trainer_state& t, const char* where) {
    need_finite_variables(t, where, true);
}
SINTER_SELDOM_BODY void need_finite_batch(const port_facts& p, const batch_view& b, const std::string& where,
                                          wrong_number wrong) {
    std::array<const float*, target_list::most> targets{};
    if (p.may_hide) session_parts::bind_targets(b, p.targets.p, p.targets.n, targets.data());
    const auto fits = [&](float v) { return wrong == wrong_number::nan ? v == v : v - v == 0.f; };
    const auto need_finite = [&](const float* x, int row_width, const std::string& what) {
        if (!x || row_width <= 0) return;
        for (int e = 0; e < b.size; ++e, x += row_width) {
            const bool counts =
                !p.may_hide || session_parts::example_counts(p.loss, p.targets.p, p.outputs(), targets.data(), e);
            int i = counts ? 0 : row_width;
            while (i < row_width && fits(x[i])) ++i;
            if (i < row_width)
                throw data_error("the batch has a number that is not finite",
                                 to_text({what, ", example ", e, " of the batch, number ", i}),
                                 base::number_text(x[i]), "finite numbers");
        }
    };
    for (int i = 0; i < p.inputs.n; ++i) {
        if (p.inputs[i].s.type != dtype::f32) continue;
        const bool listed = !b.inputs.empty();
        const float* const x = listed ? session_parts::input_column(b, i, p.inputs[i]).values : i == 0 ? b.x : nullptr;
        need_finite(x, p.inputs[i].s.size(), to_text({where, ", input ", i}));
    }
    int floats = 0;
    for (const port_info& target : p.targets) {
        if (target.s.type != dtype::f32) continue;
        const float* const y = target.weight ? b.weights : session_parts::target_column(b, target, floats++).values;
        need_finite(y, target.s.size(),
                    target.weight ? to_text({where, ", weights"}) : to_text({where, ", target ", floats - 1}));
    }
}
/// The same for all members, who learn it at the same step: data_error on each where one of them
/// has such a batch, which says whose it is.
SINTER_SELDOM SINTER_COLD void refuse_batch_of_a_member(trained_model& t, const batch_view& b, wrong_number wrong) {
    const membership m = t.session().member();
    const std::int64_t step = t.state().steps() + 1;
    std::vector<double> bad(static_cast<std::size_t>(m.count));
    std::string mine;
    try {
        if (b.size > 0) need_finite_batch(t.ports, b, to_text({"step ", step}), wrong);
    } catch (const data_error& e) {
        mine = e.what();
        bad[static_cast<std::size_t>(m.index)] = 1;
    }
    t.session().reduce(span<double>(bad.data(), bad.size()));
    for (std::size_t i = 0; i < bad.size(); ++i)
        if (bad[i] > 0)
            throw data_error("the loss is not finite: a batch has a number that is not",
                             to_text({"step ", step, ", member ", i}), mine, "finite numbers");
}
SINTER_APART void refuse_loss(trained_model& t, const batch_view& b, float loss, bool together) {
    const std::string where = to_text({"step ", t.state().steps() + 1});
    for (const wrong_number wrong : {wrong_number::nan, wrong_number::any}) {
        if (together) refuse_batch_of_a_member(t, b, wrong);
        need_finite_batch(t.ports, b, where, wrong);
        if (wrong == wrong_number::nan) need_finite_weights(t.state(), where.c_str());
    }
    throw data_error("the loss is not finite, though the batch and all weights are: the model's values have "
                     "overflowed. Try a smaller learning rate, clip_by_global_norm, or data that are scaled",
                     where, base::number_text(loss), "a finite loss");
}

} // namespace sinter::training_parts
#endif
