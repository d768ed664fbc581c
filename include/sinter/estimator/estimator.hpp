// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/callback.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/joined.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/pipeline.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/metrics/accuracy.hpp>
#include <sinter/train/metrics/mean.hpp>
#include <sinter/train/metrics/named.hpp>
#include <sinter/train/optimizers/detail/loss_and_optimizer.hpp>
#include <sinter/train/progress.hpp>
#include <concepts>

/// The whole of training in three calls: train, evaluate, predict. It is a loop over trainer::step, which a user may as
/// well write (examples/custom_loop.cpp).
namespace sinter::inline SINTER_TARGET {

struct name_map;
template <class Trainer>
void load_weights(Trainer&, const std::string& path, const name_map&);   // train/checkpoint/load_weights.hpp

/// Loss and accuracy over a data set; accuracy is NaN where targets are no class numbers.
struct evaluation_result {
    double loss = 0, accuracy = 0;
    std::int64_t examples = 0;
    std::vector<metric_value> metrics{};   ///< those that were asked for
    /// "loss", "accuracy", or a metric's name; option_error where there is none of this name.
    double value(std::string_view name) const {
        return name == "loss" ? loss : name == "accuracy" ? accuracy : detail::value_of(metrics, name);
    }
    /// The metric itself, for what is more than a number: as<metrics::confusion_matrix>("confusion_matrix").
    template <class M>
    const M& as(std::string_view name) const { return detail::metric_of(metrics, name).template as<M>(); }
};
struct epoch_result {
    int epoch = 0;               ///< from 1
    double loss = 0;             ///< mean of the training losses as they were seen
    double training_accuracy = std::numeric_limits<double>::quiet_NaN();   ///< as it was seen, too; NaN where it is not counted
    double accuracy = 0;         ///< on the validation data; NaN without
    double validation_loss = 0;  ///< NaN without
    double seconds = 0;          ///< training alone
    std::int64_t examples = 0;
    std::vector<double> phase_losses{};   ///< where losses alternate, the mean of each; `loss` is the first
    std::vector<metric_value> metrics{};   ///< on the validation data: "val_f1"
    /// By the names that progress shows: "loss" and "accuracy" of training, "val_loss", "val_accuracy" and "val_" with a
    /// metric's name of validation. option_error where there is none of this name.
    double value(std::string_view name) const {
        return name == "loss" ? loss : name == "accuracy" ? training_accuracy : name == "val_loss" ? validation_loss
             : name == "val_accuracy" ? accuracy : detail::value_of(metrics, name);
    }
    /// The metric itself, as in evaluation_result: as<metrics::confusion_matrix>("val_confusion_matrix").
    template <class M>
    const M& as(std::string_view name) const { return detail::metric_of(metrics, name).template as<M>(); }
};

struct train_options {
    int epochs = 0;                              ///< passes over the data; 0: one, or as many as max_steps takes
    std::int64_t max_steps = 0;                  ///< stop once so many steps have been done in all; 0: no such limit
    data::pipeline* validation = nullptr;        ///< evaluated after each epoch
    std::FILE* progress = stderr;                ///< null: silence
    callback<bool(const epoch_result&)> after_epoch{};   ///< false: stop. Of several: together(...) (train/hooks/together.hpp)
    callback<bool()> stop{};                     ///< asked after each step; true: stop, without an error
    std::vector<metrics::named> metrics{};       ///< of the validation data: {metrics::f1{}, metrics::top_k{5}}
};

template <class Net, class Loss, class Optimizer, build_options Build = build_options{}, class Strategy = default_strategy>
class estimator {
public:
    using trainer_type = typename detail::trainer_for<Net, Loss, Optimizer, Build, Strategy>::type;
    static constexpr program_options policy = Build.program;

    /// Net, loss, optimizer, then settings in any order (train/settings.hpp): max_batch<N>, built_with<program_options{...}>,
    /// a strategy, and run-time options.
    template <class A = trainer_options, class B = trainer_options, class C = trainer_options, class D = trainer_options, class... More>
    estimator(Net, Loss, Optimizer optimizer, A a = {}, B b = {}, C c = {}, D d = {}, More... more)
        : t_(optimizer, detail::strategy_in<Strategy>(a, b, c, d, more...), detail::options_in(a, b, c, d, more...)) {
        detail::check_settings<Build, Strategy, A, B, C, D, More...>();
    }
    /// Where losses alternate (train/alternating_trainer.hpp) they come with their optimizers: net, phases, settings. Without
    /// a loss or an optimizer there is one compile error.
    template <class First, class A = trainer_options, class B = trainer_options, class C = trainer_options, class D = trainer_options,
              class... More>
        requires detail::stands_alone<First, A>
    estimator(Net, First phases, A a = {}, B b = {}, C c = {}, D d = {}, More... more)
        : t_(detail::optimizer_in<Optimizer>(phases), detail::strategy_in<Strategy>(a, b, c, d, more...),
             detail::options_in(a, b, c, d, more...)) {
        detail::check_settings<Build, Strategy, A, B, C, D, More...>();
    }

    /// Trains for whole passes over `data`, or until max_steps. Throws data_error where batches do not fit, and
    /// whatever the pipeline throws. A loss that is not finite ends training with a data_error that names the first number that
    /// is not (of the batch, or of the weights); on the processor the weights are still those before that step. So does a weight
    /// that is not finite at the end of a pass, before validation and hooks. option_error where the learning rate is negative.
    /// The first pass goes on where the data are: a pipeline that was partly read gives the rest first.
    SINTER_COLD std::vector<epoch_result> train(data::pipeline& data, const train_options& o = {}) {
        if (o.epochs < 0) throw option_error("number of epochs", "train", joined({o.epochs}), "0 or more");
        if (o.max_steps < 0) throw option_error("number of steps", "train", joined({o.max_steps}), "0 or more");
        const int epochs = o.epochs > 0 ? o.epochs : o.max_steps > 0 ? std::numeric_limits<int>::max() : 1;
        std::vector<epoch_result> history;
        std::unique_ptr<progress> bar;
        if (o.progress) bar = std::make_unique<progress>(o.progress);
        bool more = o.max_steps == 0 || t_.steps() < o.max_steps;
        if (data.size() == data::endless && o.max_steps == 0)
            throw option_error("the data never end", "train", "repeat() without a number", "max_steps");
        if (o.validation) need_an_end(*o.validation, "train, validation");
        else if (!o.metrics.empty())
            throw option_error("metrics without data to measure", "train", o.metrics[0].name(), "validation");
        need_a_rate();
        std::vector<named_value> validated;   // what the last validation gave
        for (int epoch = 1; more && epoch <= epochs; ++epoch) {
            epoch_result r = one_epoch(data, o, epoch, bar.get(), validated, more);
            if (r.examples == 0) throw data_error("there is nothing to train on", "train", "a pass without examples", "at least one");
            if (bar) bar->stop_clock();
            detail::need_finite_weights(t_, joined({"train, after step ", t_.steps()}).c_str());
            validated = validate(o, r);
            std::vector<named_value> shown = validated;
            if (counts_in_training) shown.insert(shown.begin(), {"accuracy", r.training_accuracy});
            if (bar) bar->finish(r.loss, shown);
            history.push_back(std::move(r));
            if (o.after_epoch && !o.after_epoch(history.back())) more = false;
        }
        return history;
    }

    /// One pass over `data`, from its beginning, without training. data_error where there are none, or batches do not fit.
    /// With metrics, each named, of the output that it is meant for: what the loss does not count (ignored labels, weights of
    /// 0) they are not given either. option_error where one does not fit its output or the loss has no target for that.
    template <class... M>
        requires(std::convertible_to<M, metrics::named> && ...)
    evaluation_result evaluate(data::pipeline& data, const M&... m) {
        return evaluate(data, std::vector<metrics::named>{metrics::named(m)...});
    }
    evaluation_result evaluate(data::pipeline& data, const std::vector<metrics::named>& measured) {
        need_an_end(data, "evaluate");
        whole_pass(data);
        metrics::mean loss;
        metrics::accuracy accuracy;
        evaluation_result r;
        std::vector<std::unique_ptr<metrics::detail::running>> running;
        for (const metrics::named& m : measured) running.push_back(m.begin());
        one_pass(data, [&](const data::batch_view& b) {
            const float l = t_.evaluate(b);   // which refuses a batch that does not fit
            loss.add(static_cast<double>(l), t_.loss_weight());
            count(accuracy, b);
            for (std::size_t i = 0; i < running.size(); ++i) measure(measured[i], *running[i], b);
            r.examples += b.size;
            return true;
        });
        if (r.examples == 0) throw data_error("there is nothing to evaluate", "evaluate", "a pass without examples", "at least one");
        r.loss = loss.weight() == 0 ? 0 : loss.value();   // no example had a weight
        r.accuracy = classifies ? accuracy.value() : std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < running.size(); ++i)
            r.metrics.push_back({measured[i].name(), running[i]->value(), measured[i].falls(), std::move(running[i])});
        return r;
    }

    /// Output `i` of the net for one batch, [batch, extents...], good until the next call.
    span<const float> predict(const data::batch_view& b, int i = 0) { return t_.predict(b, i); }

    /// Output `i` of the net for all examples of one pass over `data`, from its beginning, one after the other: [examples,
    /// extents...]. Targets and weights are not looked at. option_error where there is no such output or the data never end.
    std::vector<float> predict(data::pipeline& data, int i = 0) {
        need_an_end(data, "predict");
        whole_pass(data);
        std::vector<float> all;
        one_pass(data, [&](const data::batch_view& b) {
            const span<const float> y = t_.predict(b, i);
            all.insert(all.end(), y.begin(), y.end());
            return true;
        });
        return all;
    }

    void save(const std::string& path, saved what = saved::whole, not_finite allow = not_finite::refused) const {
        sinter::save(t_, path, what, allow);
    }
    void load(const std::string& path, saved what = saved::whole) { sinter::load(t_, path, what); }
    /// What save() would write, and the same from memory: for programs without files.
    std::vector<std::byte> save_to_memory(saved what = saved::whole, not_finite allow = not_finite::refused) const {
        return sinter::save_to_memory(t_, what, allow);
    }
    void load(span<const std::byte> bytes, saved what = saved::whole) { sinter::load(t_, bytes, what); }
    /// Initial weights from elsewhere; its user includes <sinter/train/checkpoint/load_weights.hpp>, which says more.
    void load_weights(const std::string& path, const name_map& map) { sinter::load_weights(t_, path, map); }

    trainer_type& inner() { return t_; }
    const trainer_type& inner() const { return t_; }
    static constexpr std::int64_t bytes() { return trainer_type::bytes(); }
    int threads() const { return t_.threads(); }   ///< that it works with

private:
    static constexpr target_list targets = targets_of<Loss>(1);
    static constexpr bool classifies =
        targets.n > 0 && targets.at[0].kind == target_kind::class_index && targets.at[0].output == 0;
    /// A step's outputs are at hand where the device's memory is the host's. From a GPU they would have to be copied, and
    /// the GPU would wait for that in each step. (Labels with a range of their own may be of more classes than training scores.)
    static constexpr bool counts_in_training = classifies && targets.at[0].below == 0 && trainer_type::strategy_type::device::shares_memory;
    trainer_type t_;

    SINTER_COLD static void need_an_end(const data::pipeline& data, const char* where) {
        if (data.size() == data::endless)
            throw option_error("the data never end", where, "repeat() without a number", "a pass that ends");
    }
    /// A rate below zero climbs; NaN or infinity ends in weights that are that.
    SINTER_COLD void need_a_rate() {
        if constexpr (requires { t_.optimizer().learning_rate.at(std::int64_t{}); }) {
            const float rate = t_.optimizer().learning_rate.at(t_.steps());
            if (!(rate >= 0 && rate <= std::numeric_limits<float>::max()))
                throw option_error("learning rate", joined({"train, step ", t_.steps() + 1}), std::to_string(rate),
                                   "0 or more, and finite");
        }
    }
    /// evaluate and predict mean all of the data, also where an earlier loop left off in the middle of a pass.
    SINTER_COLD static void whole_pass(data::pipeline& data) {
        if (const data::position at = data.position(); at.index != 0) data.seek({at.epoch, 0});
    }
    /// Calls f(batch) for each batch of a pass until it answers false. An earlier call may have left the data at the very
    /// end of a pass: then the next one is meant.
    template <class F>
    SINTER_COLD static void one_pass(data::pipeline& data, F f) {
        bool any = false;
        for (int tries = 0; tries < 2 && !any; ++tries)
            for (const data::batch_view& b : data) {
                any = true;
                if (!f(b)) return;
            }
    }
    static constexpr int weights_an_example() {
        constexpr auto& p = trainer_type::training::v;
        for (int i = 0; i < p.n_targets; ++i)
            if (p.targets[i].weight) return p.targets[i].s.size();
        return 0;
    }
    /// Counts the last run's first output: a vote for each row of its last axis, be it one an example or several, but for what
    /// the loss ignores.
    void count(metrics::accuracy& accuracy, const data::batch_view& b) const {
        if constexpr (classifies) {
            const span<const float> y = t_.output();
            const int classes = t_.last_output_shape().last();
            const int rows = static_cast<int>(y.size()) / classes;
            if (!targets.at[0].ignores && !b.weights) return accuracy.add(y.data(), b.labels, rows, classes);
            const int of_weights = weights_an_example(), of_rows = rows / b.size;
            for (int i = 0; i < rows; ++i) {
                if (targets.at[0].ignores && b.labels[i] == targets.at[0].also) continue;
                if (b.weights && b.weights[i * of_weights / of_rows] == 0.f) continue;
                accuracy.add(y.data() + static_cast<std::int64_t>(i) * classes, b.labels + i, 1, classes);
            }
        }
    }
    /// Gives the last run's output, and the target that the loss has for it, to a metric, in runs of rows that count.
    SINTER_COLD void measure(const metrics::named& m, metrics::detail::running& to, const data::batch_view& b) const {
        static constexpr target_list all = targets_of<Loss>(trainer_type::training::v.n_outputs);
        detail::need_output(m.output(), trainer_type::training::v.n_outputs, m.name().c_str());
        int k = 0, seen[2] = {};   // floats, whole numbers
        for (; k < all.n; ++k) {
            const target_kind kind = all.at[k].kind;
            if (all.at[k].output == m.output() && (kind == target_kind::class_index || kind == target_kind::same_as_output)) break;
            if (kind != target_kind::weight && kind != target_kind::weight_of_rows)
                ++seen[kind == target_kind::class_index || kind == target_kind::indices];
        }
        if (k == all.n)
            throw option_error("the loss has no target for this output", m.name(), joined({"output ", m.output()}),
                               "an output with class numbers or floats like it");
        const target_spec& target = all.at[k];
        const bool whole = target.kind == target_kind::class_index;
        const data::input_view t = detail::target_column(b, whole, seen[whole]);
        const span<const float> y = t_.output(m.output());
        const shape s = t_.last_output_shape(m.output());
        const int columns = s.rank ? s.last() : 1, rows = static_cast<int>(y.size()) / columns;
        const int of_weights = weights_an_example(), of_rows = rows / b.size;
        const auto counts = [&](int i) {
            return !(whole && target.ignores && t.indices[i] == target.also) &&
                   !(b.weights && b.weights[i / of_rows * of_weights + i % of_rows * of_weights / of_rows] == 0.f);
        };
        for (int i = 0, end = 0; i < rows; i = end + 1) {
            for (end = i; end < rows && counts(end);) ++end;
            if (end == i) continue;
            const std::int64_t at = std::int64_t{i} * columns;
            to.add(m.name().c_str(), {y.data() + at, whole ? t.indices + i : nullptr, whole ? nullptr : t.values + at, end - i, columns});
        }
    }
    SINTER_COLD epoch_result one_epoch(data::pipeline& data, const train_options& o, int epoch, progress* bar,
                                       span<const named_value> validated, bool& more) {
        const std::string of = o.epochs > 0 ? joined({"/", o.epochs}) : "";
        if (bar) bar->begin(joined({"epoch ", epoch, of}), data.size() > 0 ? data.size() : 0);
        epoch_result r{.epoch = epoch};
        constexpr int phases = [] {
            if constexpr (alternates<Optimizer>) return Optimizer::phases;
            else return 1;
        }();
        metrics::mean losses[std::size_t{phases}];
        metrics::mean& loss = losses[0];
        metrics::accuracy accuracy;
        const double began = monotonic_seconds();
        one_pass(data, [&](const data::batch_view& b) {
            int phase = 0;
            if constexpr (phases > 1) phase = t_.next_phase();
            const float l = t_.step(b);
            if (!(__builtin_fabsf(l) <= std::numeric_limits<float>::max())) detail::refuse_loss(t_, b, l);
            losses[phase].add(static_cast<double>(l), t_.loss_weight());
            if (counts_in_training && phase == 0) count(accuracy, b);
            r.examples += b.size;
            const named_value seen{"accuracy", accuracy.value()};
            if (bar) bar->update(r.examples, loss.value(), counts_in_training ? span<const named_value>(&seen, 1) : validated);
            more = (o.max_steps == 0 || t_.steps() < o.max_steps) && !(o.stop && o.stop());
            return more;
        });
        r.seconds = monotonic_seconds() - began;
        r.loss = loss.weight() == 0 ? 0 : loss.value();
        if (phases > 1)
            for (const metrics::mean& m : losses) r.phase_losses.push_back(m.value());
        if (counts_in_training) r.training_accuracy = accuracy.value();
        return r;
    }
    SINTER_COLD std::vector<named_value> validate(const train_options& o, epoch_result& r) {
        r.accuracy = r.validation_loss = std::numeric_limits<double>::quiet_NaN();
        if (!o.validation) return {};
        evaluation_result v = evaluate(*o.validation, o.metrics);
        r.validation_loss = v.loss;
        r.accuracy = v.accuracy;
        std::vector<named_value> shown{{"val_loss", v.loss}};
        if (classifies) shown.push_back({"val_accuracy", v.accuracy});
        r.metrics = std::move(v.metrics);
        for (metric_value& m : r.metrics) {
            m.name.insert(0, "val_");
            shown.push_back({m.name.c_str(), m.value});   // good as long as the result, wherever that is moved
        }
        return shown;
    }
};
template <class Net, class Loss, class Optimizer, class A = trainer_options, class B = trainer_options, class C = trainer_options,
          class D = trainer_options, class... More>
    requires(!detail::stands_alone<Loss, Optimizer>)
estimator(Net, Loss, Optimizer, A = {}, B = {}, C = {}, D = {}, More...)
    -> estimator<Net, Loss, detail::optimizer_or_fault<Optimizer>, detail::settings<build_options{}, A, B, C, D, More...>::build,
                 typename detail::settings<build_options{}, A, B, C, D, More...>::strategy>;
template <class Net, class First, class A = trainer_options, class B = trainer_options, class C = trainer_options,
          class D = trainer_options, class... More>
    requires detail::stands_alone<First, A>
estimator(Net, First, A = {}, B = {}, C = {}, D = {}, More...)
    -> estimator<Net, typename detail::loss_and_optimizer<First>::loss, typename detail::loss_and_optimizer<First>::optimizer,
                 detail::settings<build_options{}, A, B, C, D, More...>::build,
                 typename detail::settings<build_options{}, A, B, C, D, More...>::strategy>;

} // namespace sinter
