// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/compiler/bounds.hpp>
#include <sinter/compiler/output_number.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/device/cpu/float_arithmetic.hpp>
#include <sinter/train/trainer.hpp>
#include <sinter/train/checkpoint/weights_file.hpp>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>

namespace sinter::inline SINTER_TARGET {

namespace detail {

/// What a model's programs are compiled with. A file does not say it.
template <class Model>
    requires requires { Model::policy; }
constexpr program_options policy_of() {
    return Model::policy;
}
template <std::same_as<weights_file>>
constexpr program_options policy_of() {
    return {};
}

} // namespace detail

/// A net that predicts and does nothing else, for those who count microseconds: no threads, no
/// views of batches, nothing worked out again from call to call. Prediction changes no weight and
/// is const, but works in the predictor's own memory: one call at a time. It has weights and memory
/// of its own, so that several threads may have one each, and a model may be trained on while its
/// predictor answers.
///
///     predictor p{net, model};             // a trainer's or an estimator's weights; one example at a time
///     p(image, scores);                    // spans of floats: the first input, the first output
///     predictor many{net, model, max_batch<8>};
///     predictor alone{net, weights_file("net.safetensors")};   // in a program that never trains
///
/// The numbers are those of trainer::predict to the bit, but where a net sums over its batch or a
/// whole image in parts (here it is one part), and of 3 x 3 and 5 x 5 convolutions, which may be
/// computed otherwise for few images than for many (graph/winograd.hpp). Settings
/// (train/settings.hpp): the most examples of one call, max_batch<1> without it; built_with, the
/// model's without it.
template <class Net, build_options Build = build_options{1}>
class predictor {
    static constexpr int largest_batch = Build.max_batch;
    static constexpr compiler::target alone = [] {
        compiler::target t = cpu_device::target;
        t.parts = 1;
        t.fused_producers = false;   // its kernels are called one by one
        return t;
    }();

public:
    using program = compiler::compiled<compiler::request<Net, detail::stand_in_loss, void, program_mode::prediction,
                                                         largest_batch, alone, Build.program>>;

    /// option_error where the model is of another net, or options of the compiler have changed float
    /// arithmetic.
    template <class Model, setting... S>
    predictor(Net, const Model& from, S...) : predictor(from) {
        static_assert(!(detail::setting_of<S>::is_strategy || ...),
                      "predictor: it works on the processor, and takes no strategy");
        detail::check_settings<Build, typename detail::first_strategy<S...>::type, S...>();
    }
    template <class Model>
    predictor(Net, batch_limit<largest_batch>, const Model& from)
        : predictor(from) {}   // the limit may stand before the model
    /// Predictors move. One that was moved from can be assigned to, or end.
    predictor(predictor&&) = default;
    predictor& operator=(predictor&&) = default;

    /// The model's weights and states as they are now. option_error where it is of another net.
    template <class Model>
    void take(const Model& from) {
        if constexpr (requires { from.inner(); }) {
            take(from.inner());
        } else if constexpr (requires { Model::parameters(); }) {
            constexpr auto& p = program::v;
            values_of taken;
            for (int i = 0; i < p.n_parameters; ++i)
                copy(p.parameters[i], from, Model::parameters(), Model::parameter, taken);
            for (int i = 0; i < p.n_states; ++i)
                if (!p.states[i].of_examples) copy(p.states[i], from, Model::states(), Model::state, taken);
            store(taken);
            seed_ = from.options().seed;
            step_ = from.steps();
            batch_.n = 0;
        } else {
            static_assert(!sizeof(Model), "predictor: its weights come from a trainer, an estimator or a "
                                          "weights_file(path)");
        }
    }

    /// A file's weights and states. mismatch_error where it is of another net; the predictor is
    /// then as it was.
    void take(const weights_file& from) {
        std::vector<safetensors::expected_tensor> expected;
        std::vector<std::string> not_needed;   // where examples' sequences have come to: prediction begins each anew
        each_variable([&](const variable_info& v) {
            if (v.of_examples) not_needed.push_back(path(v));
            else expected.push_back({path(v), safetensors::dtype::f32, facts::extents_of(v.s)});
        });
        from.check(expected, not_needed);
        values_of taken;
        each_variable([&](const variable_info& v) {
            if (!v.of_examples) taken.add(v, from.plain(path(v)));
        });
        store(taken);
        batch_.n = 0;
    }

    /// The first output for the examples in x, [batch, extents...], good until the next call.
    /// data_error where x is not 1 to largest_batch whole examples. Allocates nothing. For nets
    /// with one input, of floats.
    span<const float> operator()(span<const float> x) const {
        constexpr auto& in = program::v.inputs[0];
        static_assert(program::v.n_inputs == 1 && in.s.type == dtype::f32,
                      "predictor: the net has other inputs; predict() takes a batch");
        constexpr std::size_t width = static_cast<std::size_t>(in.s.size());
        const std::size_t n = largest_batch == 1 ? 1 : x.size() / width;
        if (x.size() != n * width || n < 1 || n > largest_batch)
            throw data_error("input of the wrong size", "predictor", std::to_string(x.size()),
                             std::to_string(width) +
                                 (largest_batch == 1
                                      ? ", one example: for more, give max_batch<N>"
                                      : " for each of 1 to " + std::to_string(largest_batch) + " examples"));
        std::memcpy(input_.data(), x.data(),
                    4 * x.size());   // kernels may read a little beyond the last number: here they can
        const float* port = input_.data();
        return run(&port, static_cast<int>(n), 0);
    }
    /// The same, written to y, which has just as much room.
    void operator()(span<const float> x, span<float> y) const {
        const span<const float> found = (*this)(x);
        if (y.size() != found.size())
            throw data_error("output of the wrong size", "predictor", std::to_string(y.size()),
                             std::to_string(found.size()));
        std::memcpy(y.data(), found.data(), 4 * y.size());
    }
    /// Output `i` for a batch of any inputs, as trainer::predict; option_error where there is none.
    span<const float> predict(const data::batch_view& b, int i = 0) const {
        session_parts::need_output(i, program::v.n_outputs, "predictor");
        const float* ports[program::v.n_inputs + 1];
        bind_batch<program>(b, ports, false);
        return run(ports, b.size, i);
    }
    /// The output of this name (expr/output.hpp); option_error where there is none.
    span<const float> predict(const data::batch_view& b, std::string_view name) const {
        return predict(b, number_of(name));
    }
    /// Output `i` of the last call, so that a net of several outputs runs once; empty before the
    /// first. option_error where there is none.
    span<const float> output(int i) const {
        session_parts::need_output(i, program::v.n_outputs, "predictor");
        if (!last_batch_) return {};
        const shape& s = program::v.output_shapes[i];
        return {memory_.at(program::v.outputs[i]),
                static_cast<std::size_t>(std::int64_t{s.batched ? last_batch_ : 1} * s.size())};
    }
    span<const float> output(std::string_view name) const { return output(number_of(name)); }
    /// The same where the name is known when it compiles: `p.output<"score">()`. A name that the net
    /// does not have does not compile.
    template <compiler::text T>
    span<const float> output() const { return output(compiler::output_number<program, T>()); }

    /// Bytes that it takes. A constant.
    static constexpr std::int64_t bytes() {
        return runtime::step_bytes<program, cpu_device>() +
               4 * (program::v.n_inputs ? std::int64_t{largest_batch} * program::v.inputs[0].s.size() : 0);
    }

private:
    static constexpr int launches = program::v.n_launches;
    static constexpr bool prepared = program::v.n_loops == 0;   // a loop's operands move from iteration to iteration
    static constexpr int written_out =
        launches <= 16 ? launches : 0;   ///< calls without a table: some nanoseconds each

    runtime::model_memory memory_;
    runtime::arena input_, tables_;
    mutable std::array<float*, program::v.n_args + 1> operands_{};
    mutable std::array<runtime::call, std::size_t{launches + 1}> calls_{};
    mutable std::array<const float*, program::v.n_inputs + 1>
        ports_{};   ///< and the batch that calls_ are prepared for
    mutable cpu_runner<program> loops_;
    std::unique_ptr<runtime::team> alone_ = std::make_unique<runtime::team>(1);
    std::uint64_t seed_ = 1;
    std::int64_t step_ = 0;
    bool finite_ = true;   ///< are all weights?
    /// What calls_ are prepared for: nothing, when they and what they point to have moved.
    struct prepared_batch {
        int n = 0;
        prepared_batch() = default;
        prepared_batch(prepared_batch&& o) noexcept { o.n = 0; }
        prepared_batch& operator=(prepared_batch&& o) noexcept {
            n = o.n = 0;
            return *this;
        }
    };
    mutable prepared_batch batch_;
    mutable int last_batch_ = 0;

    static int number_of(std::string_view name) {
        return session_parts::output_of_name(name, program::v.output_names, program::v.n_outputs, "predictor");
    }
    template <class Model>
    explicit predictor(const Model& from) {
        constexpr auto& p = program::v;
        static_assert(compiler::check_bounds<program>::v);
        runtime::check_float_arithmetic();
        memory_.parameters = runtime::arena(p.floats(compiler::space::parameter));
        memory_.states = runtime::arena(p.floats(compiler::space::state));
        memory_.activations = runtime::arena(p.floats(compiler::space::activation));
        memory_.scratch = runtime::arena(cpu_runner<program>::scratch_floats());
        input_ = runtime::arena(std::int64_t{largest_batch} * (p.n_inputs ? p.inputs[0].s.size() : 0) + 16);
        if (prepared && runtime::program_tables<program>::floats) {
            tables_ = runtime::arena(runtime::program_tables<program>::floats);
            runtime::program_tables<program>::fill(tables_.data());
        }
        if (!prepared) loops_.bind(memory_);
        take(from);
    }
    template <class F>
    static void each_variable(F f) {
        constexpr auto& p = program::v;
        for (int i = 0; i < p.n_parameters; ++i) f(p.parameters[i]);
        for (int i = 0; i < p.n_states; ++i) f(p.states[i]);
    }
    static std::string path(const variable_info& v) { return path_of(program::graph.scopes, v); }
    /// Variables as they will lie in memory, made before any is written: where one cannot be, all
    /// stay as they are.
    struct values_of {
        std::vector<std::pair<compiler::address, std::vector<float>>> all;
        bool finite = true;
        void add(const variable_info& v, const std::vector<float>& plain) {
            for (const float number : plain) finite = finite && std::isfinite(number);
            all.emplace_back(v.at, runtime::from_plain(v, plain.data(), cpu_device::panel_width, cpu::lanes));
        }
    };
    void store(const values_of& taken) {
        finite_ = taken.finite;
        for (const auto& [at, x] : taken.all) std::memcpy(memory_.at(at), x.data(), 4 * x.size());
    }
    template <class Model>
    void copy(const variable_info& v, const Model& from, int n, const variable_info& (*nth)(int), values_of& to) {
        const std::string name = path(v);
        for (int i = 0; i < n; ++i)
            if (const variable_info& other = nth(i); Model::path(other) == name && other.s.size() == v.s.size())
                return to.add(v, from.plain(other));
        throw option_error("the model does not have this variable", "predictor", name);
    }
    void prepare(const float* const* ports, int batch) const {
        std::copy_n(ports, program::v.n_inputs, ports_.data());
        batch_.n = batch;
        const runtime::host_places places(memory_);
        for (int i = 0; i < program::v.n_args; ++i) {
            const compiler::address a = program::v.args[i];
            float*& to = operands_[static_cast<std::size_t>(i)];
            to = a.where() == compiler::space::port    ? const_cast<float*>(ports[port_of(a)])
                 : a.where() == compiler::space::table ? tables_.data() + a.offset()
                                                       : places.at(a);
        }
        for (int i = 0; i < launches; ++i) {
            const compiler::launch& l = program::v.launches[i];
            runtime::call& c = calls_[static_cast<std::size_t>(i)];
            c.p = operands_.data() + l.first_arg;
            c.e = program::v.extents + l.first_extent;
            c.k = program::v.constants + l.first_constant;
            c.scratch = memory_.scratch.data();
            c.seed = seed_;
            c.step = step_;
            c.finite_weights = finite_;
            c.batch = batch;
            c.m = l.batched ? l.m * batch : l.m;
            c.end = c.parts = l.parts;
        }
    }
    template <int... I>
    void run_all(std::integer_sequence<int, I...>) const {
        (cpu::kernel_table<program>::template kernel_of<program::v.launches[I].spec>::run_whole(
             calls_[static_cast<std::size_t>(I)]),
         ...);
    }
    span<const float> run(const float* const* ports, int batch, int output) const {
        if constexpr (prepared) {
            if (batch != batch_.n || !std::equal(ports, ports + program::v.n_inputs, ports_.data()))
                prepare(ports, batch);
            const runtime::flush_denormals here;
            run_all(std::make_integer_sequence<int, written_out>{});
            for (int i = written_out; i < launches; ++i)
                cpu::kernel_table<program>::entries[program::v.launches[i].spec].run_alone(
                    calls_[static_cast<std::size_t>(i)]);
        } else {
            loops_.run(*alone_, {ports, nullptr, seed_, step_, batch});
        }
        last_batch_ = batch;
        return this->output(output);
    }
};
template <class Net, class Model, setting... S>
predictor(Net, const Model&, S...)
    -> predictor<Net, detail::settings<build_options{1, detail::policy_of<Model>()}, S...>::build>;
template <class Net, int N, class Model>
predictor(Net, batch_limit<N>, const Model&) -> predictor<Net, build_options{N, detail::policy_of<Model>()}>;

} // namespace sinter
