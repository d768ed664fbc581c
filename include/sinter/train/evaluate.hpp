// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/train/evaluation_faults.hpp>
#include <sinter/train/members.hpp>
#include <sinter/train/metrics/accuracy.hpp>
#include <sinter/train/metrics/mean.hpp>
#include <sinter/train/passes.hpp>
#include <sinter/train/described_data.hpp>
#include <sinter/train/results.hpp>
#include <sinter/train/training_run.hpp>

/// Evaluation: one pass over data with the evaluation program, and whatever metrics are asked for.
namespace sinter::inline SINTER_TARGET {

namespace detail {

template <class Trainer>
using loss_of = typename Trainer::training::request::loss;
/// The loss's first target, if it is class numbers for the net's first output: then accuracy can be
/// counted.
template <class Trainer>
inline constexpr target_list first_target_of = targets_of<loss_of<Trainer>>(1);
template <class Trainer>
inline constexpr bool classifies =
    first_target_of<Trainer>.n > 0 &&
    first_target_of<Trainer>.at[0].kind == target_kind::class_index&& first_target_of<Trainer>.at[0].output == 0;

/// Weights an example by which the loss weighs this output; 0 where it weighs others alone, or none.
template <class Trainer>
constexpr int weights_of_output(int output) {
    constexpr auto& p = Trainer::training::v;
    constexpr target_list all = targets_of<loss_of<Trainer>>(p.n_outputs);
    for (int i = 0; i < p.n_targets; ++i)
        if (p.targets[i].weight && (all.at[i].hides != hidden_part::output || all.at[i].output == output))
            return p.targets[i].s.size();
    return 0;
}
/// Counts a run's first output: a vote for each row of its last axis, be it one an example or
/// several, but for what the loss ignores. `ran`: a replica, or a session.
template <class Trainer, class Replica>
void count_accuracy(const Replica& ran, metrics::accuracy& accuracy, const data::batch_view& b) {
    if constexpr (classifies<Trainer>) {
        static constexpr target_spec target = first_target_of<Trainer>.at[0];
        const span<const float> y = ran.output(0);
        if (y.empty()) return;
        const int classes = ran.output_shape(0).last();
        const std::int64_t rows = static_cast<std::int64_t>(y.size()) / classes, of_rows = rows / b.size;
        const std::int32_t* const labels = strategy_parts::target_column(b, Trainer::training::v.targets[0], 0).indices;
        constexpr int of_weights = weights_of_output<Trainer>(0);
        const float* const weights = of_weights ? b.weights : nullptr;
        if (!target.ignores && !weights) return accuracy.add(y.data(), labels, rows, classes);
        for (std::int64_t i = 0; i < rows; ++i) {
            if (target.ignores && labels[i] == target.also) continue;
            if (weights && weights[i * of_weights / of_rows] == 0.f) continue;
            accuracy.add(y.data() + i * classes, labels + i, 1, classes);
        }
    }
}
/// Counts a step's outputs, which lie in several replicas where the batch was cut.
template <class Trainer>
void count_accuracy_of_step(Trainer& t, metrics::accuracy& accuracy, const data::batch_view& b) {
    t.session().each_part(b, [&](const auto& replica, const data::batch_view& part) {
        count_accuracy<Trainer>(replica, accuracy, part);
    });
}
/// What a metric is of: an output, and a target if that was named, else -1. option_error where there is none.
/// P: a program with the loss.
struct metric_place {
    int output, target = -1;
};
template <class P>
SINTER_COLD metric_place place_of(const metrics::named& m, const target_list& all) {
    if (m.of().empty()) {
        strategy_parts::need_output(m.output(), P::v.n_outputs, m.name().c_str());
        return {m.output()};
    }
    for (int i = 0; i < P::v.n_outputs; ++i)
        if (m.of() == P::v.output_names[i]) return {i};
    for (int k = 0; k < P::v.n_targets; ++k)
        if (m.of() == P::v.targets[k].name) return {all.at[k].output, k};
    return {strategy_parts::output_of_name(m.of(), P::v.output_names, P::v.n_outputs, m.name().c_str())};
}
/// Which of a loss's targets says what an output should be: class numbers (`whole`) or floats, the `number`-th of its
/// kind. option_error where there is none.
struct target_place {
    int index, number;
    bool whole;
};
SINTER_COLD inline target_place target_of_output(const target_list& all, const metrics::named& m, metric_place of) {
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
template <class Trainer>
SINTER_COLD void measure(const Trainer& trainer, const metrics::named& m, metrics::detail::running& to,
                         const data::batch_view& b) {
    static constexpr target_list all = targets_of<loss_of<Trainer>>(Trainer::training::v.n_outputs);
    constexpr int n_outputs = Trainer::training::v.n_outputs;
    const metric_place of = place_of<typename Trainer::training>(m, all);
    if (to.takes_batches()) {
        span<const float> outputs[std::size_t{n_outputs}];
        for (int i = 0; i < n_outputs; ++i) outputs[i] = trainer.output(i);
        return to.add({b, {outputs, std::size_t{n_outputs}}});
    }
    const target_place found = target_of_output(all, m, of);
    const target_spec& target = all.at[found.index];
    const bool whole = found.whole;
    const data::input_view t =
        strategy_parts::target_column(b, Trainer::training::v.targets[found.index], found.number);
    const span<const float> y = trainer.output(of.output);
    const shape s = trainer.last_output_shape(of.output);
    const std::int64_t columns = s.rank ? s.last() : 1, rows = static_cast<std::int64_t>(y.size()) / columns,
                       most = 0x7fffffff / columns;   // rows that a metric is given at once: it counts in int
    const std::int64_t of_weights = weights_of_output<Trainer>(of.output), of_rows = rows / b.size;
    const float* const weights = of_weights ? b.weights : nullptr;
    const auto counts = [&](std::int64_t i) {
        return !(whole && target.ignores && t.indices[i] == target.also) &&
               !(weights && weights[i / of_rows * of_weights + i % of_rows * of_weights / of_rows] == 0.f);
    };
    for (std::int64_t i = 0, end = 0; i < rows; i = end) {
        for (end = i; end < rows && end - i < most && counts(end);) ++end;
        if (end == i) ++end;
        else
            to.add(m.name().c_str(), {y.data() + i * columns, whole ? t.indices + i : nullptr,
                                      whole ? nullptr : t.values + i * columns, static_cast<int>(end - i),
                                      static_cast<int>(columns)});
    }
}

/// mismatch_error on every member unless all measure the same: metrics, and the data but where each has its own.
template <class Session>
SINTER_COLD void agree_on_evaluation(Session& s, const data::pipeline& data,
                                     const std::vector<metrics::named>& measured, std::int64_t batches) {
    if constexpr (!always_alone<Session>) {
        if (is_alone(s)) return;
        description d;
        describe_metrics(d.of("evaluate"), measured);
        d("batches", batches);
        describe_data(d, s, data, "evaluation data");
        need_same(s, d, "members do not measure the same", "evaluate", same_or_per_worker);
    }
}
[[noreturn]] SINTER_COLD inline void refuse_to_add_up(const metrics::named& m) {
    throw option_error("the metric does not list what it counts, which several members are to add up", m.name(),
                       "no state()", "void state(auto& s) (train/metrics/metric.hpp)");
}
/// What all members have measured together, once each has done its part. All or none: the members
/// agree on whether one of them was interrupted before anything is merged.
template <class Trainer>
SINTER_COLD void merge_evaluation(Trainer& t, evaluation_result& r, metrics::mean& loss, metrics::accuracy& accuracy,
                                  const std::vector<metrics::named>& measured,
                                  const std::vector<std::unique_ptr<metrics::detail::running>>& running) {
    if constexpr (!trains_alone<Trainer>) {
        auto& session = t.session();
        if (is_alone(session)) return;
        for (std::size_t i = 0; i < running.size(); ++i)
            if (!running[i]->merge(nullptr)) refuse_to_add_up(measured[i]);
        using session_type = std::remove_reference_t<decltype(session)>;
        const membership m = session.member();
        const metrics::detail::member_sums all{
            &session, [](void* s, span<double> x) { static_cast<session_type*>(s)->reduce(x); }, m.index, m.count};
        std::vector<double> counts{r.interrupted ? 1. : 0., static_cast<double>(r.examples)};
        all(counts);
        r.interrupted = counts[0] > 0;
        r.examples = static_cast<std::int64_t>(counts[1]);
        if (r.interrupted) return;
        metrics::detail::merge_members(loss, all);
        metrics::detail::merge_members(accuracy, all);
        for (const auto& m_i : running) m_i->merge(&all);
    }
}
/// Whether somebody wants this member to leave what it is doing.
template <class Trainer>
bool asked_to_leave(const Trainer& t, const training_run* run) {
    if (!run) return false;
    if (run->interrupted()) return true;
    if constexpr (!trains_alone<Trainer>) return !run->alone && t.session().asked_to_stop();
    else return false;
}

} // namespace detail

/// One pass over `data`, from its beginning, without training; they are then where they were, be they
/// those that the model is trained on, in the middle of a pass. data_error where there are none,
/// batches do not fit, or a loss is not finite because a number of the batch or a weight is not:
/// that is named, NaN in the batch before weights, and these before infinities in the batch. (What
/// overflows within the net stays infinite or NaN in the result.) With
/// metrics, each of the output that it is meant for: what the loss does not count (ignored labels,
/// weights of 0) they are not given either. option_error where one does not fit its output or the
/// loss has no target for that.
///
/// Where several processes train the model all of them make this call, with the same metrics, and
/// have the same answer: that of all examples. Members that read the same data take its batches by
/// rotation; those with data of their own take all of these. mismatch_error on every member where
/// metrics differ. What one of them throws in its part ends the call on all: the others have
/// data_error, which says whose it is.
///
/// `batches`: at most so many, 0: all of a pass. An evaluation within training ends early where the
/// run is asked to stop at once (training_run::stop_when): then `interrupted` is set, and nothing
/// was measured.
template <class Trainer>
SINTER_COLD evaluation_result evaluate(Trainer& t, data::pipeline& data,
                                       const std::vector<metrics::named>& measured = {},
                                       const training_run* within = nullptr, std::int64_t batches = 0) {
    if (batches == 0) detail::need_an_end(data, "evaluate");
    metrics::mean loss;
    metrics::accuracy accuracy;
    evaluation_result r;
    std::vector<std::unique_ptr<metrics::detail::running>> running;
    detail::agree_on_evaluation(t.session(), data, measured, batches);
    t.session().refresh();   // on every member, also one that will have no batch
    detail::evaluation_faults<Trainer> faults(t);
    detail::by_the_same_members(t.session(), [&] {
        loss = {};
        accuracy = {};
        r = {};
        running.clear();
        for (const metrics::named& m : measured) running.push_back(m.begin());
        const membership me = t.session().member();
        const std::int64_t members =
            detail::is_alone(t.session()) || t.session().per_worker() ? 1 : me.count;
        std::int64_t batch = 0;
        const auto take = [&](const data::batch_view& b) {
            if (batches > 0 && batch == batches) return false;
            r.interrupted = detail::asked_to_leave(t, within);
            if (r.interrupted) {
                if (within->interrupted())   // who has its part to do leaves it, too
                    t.session().ask_all_to_stop("asked to stop during an evaluation");
                return false;
            }
            if (batch++ % members != me.index * (members > 1)) return true;
            const float l = t.evaluate(b);   // which refuses a batch that does not fit
            if (!(__builtin_fabsf(l) <= std::numeric_limits<float>::max())) faults.explain_loss(b);
            loss.add_mean(static_cast<double>(l), t.loss_weight());
            detail::count_accuracy<Trainer>(t.session(), accuracy, b);
            for (std::size_t i = 0; i < running.size(); ++i) detail::measure(t, measured[i], *running[i], b);
            r.examples += b.size;
            return true;
        };
        faults.look([&] { data.look_over_pass(take); });
        if (!faults.any()) detail::merge_evaluation(t, r, loss, accuracy, measured, running);
    });
    faults.tell();
    r.loss = r.accuracy = epoch_result::unknown;
    if (r.interrupted) return r;
    if (r.examples == 0)
        throw data_error("there is nothing to evaluate", "evaluate", "a pass without examples", "at least one");
    r.loss = loss.of_sum();
    if (detail::classifies<Trainer>) r.accuracy = accuracy.value();
    for (std::size_t i = 0; i < running.size(); ++i)
        r.metrics.push_back({measured[i].name(), running[i]->value(), measured[i].falls(), std::move(running[i])});
    return r;
}

} // namespace sinter
