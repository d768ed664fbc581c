// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <sinter/train/results.hpp>
#include <sinter/train/evaluated_model.hpp>
#include <sinter/train/training_run.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// evaluate() of a model of any type (train/evaluate.hpp).
SINTER_SELDOM SINTER_COLD evaluation_result evaluate(evaluated_model& t, data::pipeline& data,
                                                     const std::vector<metrics::named>& measured,
                                                     const training_run* within, std::int64_t batches);
/// Throws what evaluate() would, as far as it is known without an example: data that never end (where `batches` is 0)
/// or have none, columns or batches that do not fit the model, metrics that do not fit its outputs or cannot be added
/// up over members. `where` names whose data these are.
SINTER_SELDOM SINTER_COLD void need_evaluable(evaluated_model& t, const data::pipeline& data,
                                              const std::vector<metrics::named>& measured, std::int64_t batches,
                                              const char* where);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/train/agreement.hpp>
#include <sinter/train/described_data.hpp>
#include <sinter/train/evaluation_faults.hpp>
#include <sinter/train/metrics/mean.hpp>
#include <sinter/train/passes.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// What a metric is of: an output, and a target if that was named, else -1.
struct metric_place {
    int output, target = -1;
};
/// option_error where there is none.
SINTER_SELDOM SINTER_COLD metric_place place_of(const metrics::named& m, const port_facts& p) {
    const char* const who = m.name().c_str();
    if (m.of().empty()) {
        session_parts::need_output(m.output(), p.outputs(), who);
        return {m.output()};
    }
    for (int i = 0; i < p.outputs(); ++i)
        if (m.of() == p.output_names[i]) return {i};
    for (int k = 0; k < p.targets.n; ++k)
        if (m.of() == p.targets[k].name) return {p.loss.at[k].output, k};
    return {session_parts::output_of_name(m.of(), p.output_names.p, p.outputs(), who)};
}
/// Which of a loss's targets says what an output should be: class numbers (`whole`) or floats, the `number`-th of its
/// kind.
struct target_place {
    int index, number;
    bool whole;
};
/// option_error where there is none.
SINTER_SELDOM SINTER_COLD target_place target_of_output(const target_list& all, const metrics::named& m,
                                                        metric_place of) {
    int k = 0, seen[2] = {};   // floats, integers
    for (; k < all.n; ++k) {
        const target_kind kind = all.at[k].kind;
        const bool like_output = kind == target_kind::class_index || kind == target_kind::same_as_output;
        if (like_output && (of.target < 0 ? all.at[k].output == of.output : k == of.target)) break;
        if (!is_weight(kind)) ++seen[kind == target_kind::class_index || kind == target_kind::indices];
    }
    if (k == all.n)
        throw option_error("the loss has no target for this output", m.name(), to_text({"output ", of.output}),
                           "an output with class numbers or floats like it");
    const bool whole = all.at[k].kind == target_kind::class_index;
    return {k, seen[whole], whole};
}
/// Gives the last run's output, and the target that the loss has for it, to a metric, in runs of
/// rows that count.
SINTER_SELDOM SINTER_COLD void measure(const evaluated_model& t, const metrics::named& m, metrics::detail::running& to,
                                       const batch_view& b) {
    const port_facts& p = t.ports;
    const metric_place of = place_of(m, p);
    if (to.takes_batches()) {
        std::vector<span<const float>> outputs;
        for (int i = 0; i < p.outputs(); ++i) outputs.push_back(t.output(i));
        return to.add({b, {outputs.data(), outputs.size()}});
    }
    const target_place found = target_of_output(p.loss, m, of);
    const target_spec& target = p.loss.at[found.index];
    const bool whole = found.whole;
    const input_view column = session_parts::target_column(b, p.targets[found.index], found.number);
    const span<const float> y = t.output(of.output);
    const shape s = t.last_output_shape(of.output);
    const std::int64_t columns = s.rank ? s.last() : 1, rows = static_cast<std::int64_t>(y.size()) / columns,
                       most = 0x7fffffff / columns;   // rows that a metric is given at once: it counts in int
    const std::int64_t of_weights = weights_of_output(p, of.output), of_rows = rows / b.size;
    const float* const weights = of_weights ? b.weights : nullptr;
    const auto counts = [&](std::int64_t i) {
        return !(whole && target.ignores && column.indices[i] == target.also) &&
               !(weights && weights[i / of_rows * of_weights + i % of_rows * of_weights / of_rows] == 0.f);
    };
    for (std::int64_t i = 0, end = 0; i < rows; i = end) {
        for (end = i; end < rows && end - i < most && counts(end);) ++end;
        if (end == i) ++end;
        else
            to.add(m.name().c_str(), {y.data() + i * columns, whole ? column.indices + i : nullptr,
                                      whole ? nullptr : column.values + i * columns, static_cast<int>(end - i),
                                      static_cast<int>(columns)});
    }
}
/// mismatch_error on every member unless all measure the same: metrics, and the data but where each has its own.
SINTER_SELDOM SINTER_COLD void agree_on_evaluation(session_base& s, const data::pipeline& data,
                                                   const std::vector<metrics::named>& measured, std::int64_t batches) {
    if (is_alone(s)) return;
    description d;
    describe_metrics(d.of("evaluate"), measured);
    d("batches", batches);
    describe_data(d, s, data, "evaluation data");
    need_same(s, d, "members do not measure the same", "evaluate", same_or_per_worker);
}
[[noreturn]] SINTER_COLD inline void refuse_to_add_up(const metrics::named& m) {
    throw option_error("the metric does not list what it counts, which several members are to add up", m.name(),
                       "no state()", "void state(auto& s) (train/metrics/metric.hpp)");
}
/// What all members have measured together, once each has done its part. All or none: the members
/// agree on whether one of them was interrupted before anything is merged.
SINTER_SELDOM SINTER_COLD void merge_evaluation(session_base& s, evaluation_result& r, metrics::mean& loss,
                                                metrics::accuracy& accuracy,
                                                const std::vector<metrics::named>& measured,
                                                const std::vector<std::unique_ptr<metrics::detail::running>>& running) {
    if (is_alone(s)) return;
    for (std::size_t i = 0; i < running.size(); ++i)
        if (!running[i]->merge(nullptr)) refuse_to_add_up(measured[i]);
    const membership m = s.member();
    const metrics::detail::member_sums all{
        &s, [](void* to, span<double> x) { static_cast<session_base*>(to)->reduce(x); }, m.index, m.count};
    std::vector<double> counts{r.interrupted ? 1. : 0., static_cast<double>(r.examples)};
    all(counts);
    r.interrupted = counts[0] > 0;
    r.examples = static_cast<std::int64_t>(counts[1]);
    if (r.interrupted) return;
    metrics::detail::merge_members(loss, all);
    metrics::detail::merge_members(accuracy, all);
    for (const auto& m_i : running) m_i->merge(&all);
}

SINTER_SELDOM_BODY evaluation_result evaluate(evaluated_model& t, data::pipeline& data,
                                              const std::vector<metrics::named>& measured, const training_run* within,
                                              std::int64_t batches) {
    if (batches == 0) need_an_end(data, "evaluate");
    session_base& session = t.session();
    metrics::mean loss;
    metrics::accuracy accuracy;
    evaluation_result r;
    std::vector<std::unique_ptr<metrics::detail::running>> running;
    agree_on_evaluation(session, data, measured, batches);
    session.refresh();   // on every member, also one that will have no batch
    evaluation_faults faults(t);
    by_the_same_members(session, [&] {
        loss = {};
        accuracy = {};
        r = {};
        running.clear();
        for (const metrics::named& m : measured) running.push_back(m.begin());
        const membership me = session.member();
        const std::int64_t members = is_alone(session) || session.per_worker() ? 1 : me.count;
        batch_share mine;   // batches of the others need not be computed
        if (members > 1) mine = {.first = me.index, .of = me.count, .kind = batch_share::of_what::some_batches};
        std::int64_t batch = 0;
        const auto take = [&](const batch_view& b) {
            if (batches > 0 && batch == batches) return false;
            r.interrupted = within && within->asked_to_leave(session);
            if (r.interrupted) {
                if (within->interrupted())   // who has its part to do leaves it, too
                    session.ask_all_to_stop("asked to stop during an evaluation");
                return false;
            }
            if (batch++ % members != mine.first) return true;
            const float l = t.evaluate(b);   // which refuses a batch that does not fit
            if (!(__builtin_fabsf(l) <= std::numeric_limits<float>::max())) faults.explain_loss(b);
            loss.add_mean(static_cast<double>(l), t.loss_weight());
            t.count_accuracy(accuracy, b);
            for (std::size_t i = 0; i < running.size(); ++i) measure(t, measured[i], *running[i], b);
            r.examples += b.size;
            return true;
        };
        faults.look([&] { data.look_over_pass(take, mine); });
        if (!faults.any()) merge_evaluation(session, r, loss, accuracy, measured, running);
    });
    faults.tell();
    r.loss = r.accuracy = epoch_result::unknown;
    if (r.interrupted) return r;
    if (r.examples == 0)
        throw data_error("there is nothing to evaluate", "evaluate", "a pass without examples", "at least one");
    r.loss = loss.of_sum();
    if (t.ports.classifies()) r.accuracy = accuracy.value();
    for (std::size_t i = 0; i < running.size(); ++i)
        r.metrics.push_back({measured[i].name(), running[i]->value(), measured[i].falls(), std::move(running[i])});
    return r;
}

SINTER_SELDOM_BODY void need_evaluable(evaluated_model& t, const data::pipeline& data,
                                       const std::vector<metrics::named>& measured, std::int64_t batches,
                                       const char* where) {
    const port_facts& p = t.ports;
    if (batches == 0) need_an_end(data, where);
    const std::int64_t examples = data.size();
    if (examples == 0) throw data_error("there is nothing to evaluate", where, "no examples", "at least one");
    const std::int64_t size = examples > 0 && examples < data.batch_size() ? examples : data.batch_size();
    try {
        if (size > p.max_batch) session_parts::refuse_size(static_cast<int>(size), p.max_batch);
        data::batch_buffer one(data.columns(), 1);   // of zeros, which fit every range
        batch_view b = one.view();
        b.size = 1;
        std::vector<const float*> to(static_cast<std::size_t>(p.inputs.n + p.targets.n + 1));
        if (!p.looks_up) session_parts::bind_inputs(b, p.inputs.p, p.inputs.n, to.data());
        session_parts::bind_targets(b, p.targets.p, p.targets.n, to.data());
    } catch (const data_error& e) {
        throw data_error(e.fault(), to_text({where, ", ", e.where()}), e.got(), e.needed());
    }
    for (const metrics::named& m : measured) {
        const metric_place at = place_of(m, p);
        if (!m.takes_batches()) {
            const target_place of = target_of_output(p.loss, m, at);
            const shape& s = p.output_shapes[at.output];
            m.need_fit(of.whole, s.rank ? s.last() : 1, !of.whole && p.of_logits);
        }
        if (!is_alone(t.session()) && !m.begin()->merge(nullptr)) refuse_to_add_up(m);
    }
}

} // namespace sinter::training_parts
#endif
