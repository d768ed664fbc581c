// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/model_ports.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/evaluate.hpp>
#include <sinter/train/model_run.hpp>
#include <sinter/train/passes.hpp>
#include <sinter/train/predictions.hpp>
#include <sinter/train/optimizers/detail/loss_and_optimizer.hpp>
#include <concepts>

/// The whole of training in three calls: train, evaluate, predict. It is a loop over trainer::step,
/// which a user may as well write (examples/custom_loop.cpp).
namespace sinter::inline SINTER_ORDINARY {
struct name_map;   // train/checkpoint/import/name_map.hpp
} // namespace sinter
namespace sinter::inline SINTER_TARGET {

template <class Trainer>
void load_weights(Trainer&, const std::string& path, const name_map&);   // train/checkpoint/load_weights.hpp

namespace detail {
/// In the place of what takes a pipeline, for what has no batches yet.
template <class Result, class... For>
Result need_batches() {
    static_assert(sizeof...(For) > 100, "train, evaluate and predict take batches: write set | data::batch(64)");
    return {};
}

/// The ports that pipelines of structs are held against.
template <class Trainer>
inline constexpr data::model_ports data_ports_of{ports_of<Trainer>.inputs, ports_of<Trainer>.targets};
template <class Trainer>
inline constexpr data::model_ports data_inputs_of{ports_of<Trainer>.inputs, {}, true};
} // namespace detail

template <class Net, class Loss, class Optimizer, build_options Build = build_options{},
          class Strategy = default_strategy>
class estimator {
public:
    using trainer_type = typename detail::trainer_for<Net, Loss, Optimizer, Build, Strategy>::type;
    static constexpr program_options policy = Build.program;

    /// Net, loss, optimizer, then settings in any order (train/settings.hpp): max_batch<N>,
    /// built_with<program_options{...}>, a strategy, and run-time options.
    template <class A = trainer_options, class B = trainer_options, class C = trainer_options,
              class D = trainer_options, class... More>
    estimator(Net, Loss, Optimizer optimizer, A a = {}, B b = {}, C c = {}, D d = {}, More... more)
        : t_(optimizer, detail::strategy_in<Strategy>(a, b, c, d, more...), detail::options_in(a, b, c, d, more...)) {
        detail::check_settings<Build, Strategy, A, B, C, D, More...>();
    }
    /// Where losses alternate (train/alternating_trainer.hpp) they come with their optimizers: net,
    /// phases, settings. Without a loss or an optimizer there is one compile error.
    template <class First, class A = trainer_options, class B = trainer_options, class C = trainer_options,
              class D = trainer_options, class... More>
    requires detail::stands_alone<First, A> estimator(Net, First phases, A a = {}, B b = {}, C c = {}, D d = {},
                                                      More... more)
        : t_(detail::optimizer_in<Optimizer>(phases), detail::strategy_in<Strategy>(a, b, c, d, more...),
             detail::options_in(a, b, c, d, more...)) {
        detail::check_settings<Build, Strategy, A, B, C, D, More...>();
    }

    /// Trains for whole passes over `data`, or until max_steps, with hooks around its steps:
    /// objects of the caller's, or made here (train/hooks/hook.hpp). Throws data_error where
    /// batches do not fit, and whatever the pipeline and hooks throw. A loss that is not finite
    /// ends training with a data_error that names the first number that is not (of the batch, or of
    /// the weights); on the processor the weights are still those before that step. So does a
    /// weight that is not finite at the end of a pass, before validation and hooks. option_error
    /// where the learning rate is negative. The first pass goes on where the data are: a pipeline
    /// that was partly read gives the rest first, of which the progress and the first result's
    /// first_example tell; `data.rewind()` before the call begins anew. Data, hooks, metrics and files
    /// are checked before the first step, as far as they are known there.
    template <class... Hooks>
    std::vector<epoch_result> train(data::pipeline& data, const train_options& o, Hooks&&... hooks) {
        const detail::hook_calls calls[] = {detail::calls_of<model_run<trainer_type>>(hooks)..., {}};
        return train_with(data, o, {calls, sizeof...(Hooks)});
    }
    std::vector<epoch_result> train(data::pipeline& data) { return train_with(data, {}, {}); }
    /// The same of a pipeline that is made in the call, `train(set | data::batch(64))`. So evaluate()
    /// and predict().
    template <class... Hooks>
    std::vector<epoch_result> train(data::pipeline&& data, const train_options& o = {}, Hooks&&... hooks) {
        return train(data, o, hooks...);
    }
    /// The same of batches of structs (data/batches.hpp), which does not compile where their fields are not the net's
    /// inputs and targets. So evaluate() and predict().
    template <data::batches_of_elements Batches, class... Hooks>
    std::vector<epoch_result> train(Batches&& data, const train_options& o = {}, Hooks&&... hooks) {
        return train(pipeline_of(data), o, hooks...);
    }
    template <class... Hooks>
    std::vector<epoch_result> train(const data::examples&, const train_options& = {}, Hooks&&...) {
        return detail::need_batches<std::vector<epoch_result>, Hooks...>();
    }

    /// One pass over `data`, from its beginning, without training (train/evaluate.hpp): loss,
    /// accuracy and whatever metrics are given, each of one of the net's outputs or of all. The data
    /// are then where they were.
    template <class... M>
    evaluation_result evaluate(data::pipeline& data, const M&... m) {
        constexpr bool all_are = (std::convertible_to<M, metrics::named> && ...);
        static_assert(all_are, "evaluate: this is no metric, which is a class with add, value and a name, or "
                               "metrics::named(name, metric) (train/metrics/metric.hpp)");
        if constexpr (all_are) return evaluate(data, std::vector<metrics::named>{metrics::named(m)...});
        else return {};
    }
    evaluation_result evaluate(data::pipeline& data, const std::vector<metrics::named>& m) {
        return sinter::evaluate(t_, data, m);
    }
    template <class... M>
    evaluation_result evaluate(data::pipeline&& data, const M&... m) {
        return evaluate(data, m...);
    }
    template <data::batches_of_elements Batches, class... M>
    evaluation_result evaluate(Batches&& data, const M&... m) {
        return evaluate(pipeline_of(data), m...);
    }
    template <class... M>
    evaluation_result evaluate(const data::examples&, const M&...) {
        return detail::need_batches<evaluation_result, M...>();
    }

    /// Output `i` of the net for one batch, [batch, extents...], good until the next call.
    span<const float> predict(const data::batch_view& b, int i = 0) { return t_.predict(b, i); }
    /// The output of this name, output<"score"> in the net; option_error where there is none. So below.
    span<const float> predict(const data::batch_view& b, std::string_view name) { return t_.predict(b, name); }

    /// Output `i` of the net for all examples of one pass over `data`, from its beginning, one
    /// after the other: [examples, extents...]. The data are then where they were. Targets and weights
    /// are not looked at. option_error where there is no such output or the data never end.
    std::vector<float> predict(data::pipeline& data, int i = 0) {
        detail::need_an_end(data, "predict");
        std::vector<float> all;
        data.look_over_pass([&](const data::batch_view& b) {
            const span<const float> y = t_.predict(b, i);
            all.insert(all.end(), y.begin(), y.end());
            return true;
        });
        return all;
    }
    std::vector<float> predict(data::pipeline&& data, int i = 0) { return predict(data, i); }
    std::vector<float> predict(data::pipeline& data, std::string_view name) {
        return predict(data, trainer_type::output_number(name));
    }
    std::vector<float> predict(data::pipeline&& data, std::string_view name) { return predict(data, name); }

    template <data::batches_of_elements Batches, class... Output>
    std::vector<float> predict(Batches&& data, Output... which) {
        return predict(for_ports<detail::data_inputs_of<trainer_type>>(data), which...);
    }

    /// All outputs in one pass, to be found by name or by number (train/predictions.hpp).
    using predictions_type = predictions<typename trainer_type::prediction>;
    predictions_type predict_all(data::pipeline& data) {
        detail::need_an_end(data, "predict_all");
        predictions_type all;
        data.look_over_pass([&](const data::batch_view& b) {
            t_.predict(b);
            for (int i = 0; i < trainer_type::prediction::v.n_outputs; ++i) all.add(i, t_.output(i));
            all.add_examples(b.size);
            return true;
        });
        return all;
    }
    predictions_type predict_all(data::pipeline&& data) { return predict_all(data); }
    template <data::batches_of_elements Batches>
    predictions_type predict_all(Batches&& data) {
        return predict_all(for_ports<detail::data_inputs_of<trainer_type>>(data));
    }
    template <class... I>
    predictions_type predict_all(const data::examples&, I...) {
        return detail::need_batches<predictions_type, I...>();
    }
    template <class... I>
    std::vector<float> predict(const data::examples&, I...) {
        return detail::need_batches<std::vector<float>, I...>();
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
    /// Initial weights from elsewhere; its user includes
    /// <sinter/train/checkpoint/load_weights.hpp>, which says more.
    void load_weights(const std::string& path, const name_map& map) { sinter::load_weights(t_, path, map); }

    /// Batches of structs as this model's pipeline, for options (`{.validation = &model.pipeline_of(batches)}`) and for
    /// loops of your own. It lives in `data`.
    template <data::batches_of_elements Batches>
    data::pipeline& pipeline_of(Batches& data) {
        return for_ports<detail::data_ports_of<trainer_type>>(data);
    }

    trainer_type& inner() { return t_; }
    const trainer_type& inner() const { return t_; }
    static constexpr std::int64_t bytes() { return trainer_type::bytes(); }
    int threads() const { return t_.threads(); }   ///< that it works with

private:
    trainer_type t_;

    template <const data::model_ports& Ports, class Batches>
    data::pipeline& for_ports(Batches& data) {
        // The ports of a net that does not compile are another net's: its own error is enough.
        if constexpr (compiler::stands_in<typename trainer_type::training>) {
            __builtin_unreachable();
        } else if constexpr (data::is_per_worker<Batches>) {
            const membership m = t_.session().member();
            return data::pipeline_for<Ports>(data, t_.session().serves() ? 0 : m.index, m.count);
        } else {
            return data::pipeline_for<Ports>(data);
        }
    }
    std::vector<epoch_result> train_with(data::pipeline& data, const train_options& o,
                                                     span<const detail::hook_calls> hooks) {
        return detail::train(t_, data, o, hooks);
    }
};
template <class Net, class Loss, class Optimizer, class A = trainer_options, class B = trainer_options,
          class C = trainer_options, class D = trainer_options, class... More>
requires(!detail::stands_alone<Loss, Optimizer>)
    estimator(Net, Loss, Optimizer, A = {}, B = {}, C = {}, D = {}, More...)
->estimator<Net, Loss, detail::optimizer_or_fault<Optimizer>,
            detail::settings<build_options{}, A, B, C, D, More...>::build,
            typename detail::settings<build_options{}, A, B, C, D, More...>::strategy>;
template <class Net, class First, class A = trainer_options, class B = trainer_options, class C = trainer_options,
          class D = trainer_options, class... More>
    requires detail::stands_alone<First, A>
estimator(Net, First, A = {}, B = {}, C = {}, D = {}, More...)
    ->estimator<Net, typename detail::loss_and_optimizer<First>::loss,
                typename detail::loss_and_optimizer<First>::optimizer,
                detail::settings<build_options{}, A, B, C, D, More...>::build,
                typename detail::settings<build_options{}, A, B, C, D, More...>::strategy>;

} // namespace sinter
