// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/lbfgs/minimize.hpp>
#include <sinter/train/agreement.hpp>
#include <sinter/train/described_data.hpp>
#include <sinter/train/not_finite.hpp>
#include <sinter/train/optimizers/none.hpp>
#include <sinter/train/passes.hpp>
#include <sinter/train/trainer.hpp>

namespace sinter::inline SINTER_TARGET {

/// Training on all of the data at once, by L-BFGS: for small nets and convex problems, where it is
/// exact.
///
///     full_batch model{net, softmax_cross_entropy};
///     const lbfgs_result r = model.train(data, {.max_iterations = 200});
///
/// The loss is that of a whole pass: a mean by what counts (weights, labels that are not ignored)
/// or, of summed(loss), the sum. It does not depend on how the data are cut into batches, unless
/// the net has batch_norm or random numbers. These are the same in each evaluation, and others in
/// each batch. The data must be the same in each pass. inner() is the trainer, for evaluate and
/// predict.
///
/// Strategies: of one device, mirrored, canonical, or multi_worker, whose members all make the same
/// calls with the same data. option_error under sharded_update, whose members lack each other's
/// gradients; parameter servers are refused when it compiles.
template <class Net, class Loss, build_options Build = build_options{256}, class Strategy = default_strategy>
class full_batch {
    static_assert(Strategy::traits.updates_here, "full_batch: L-BFGS takes all gradients in one place, and under "
                                                 "parameter_server no process has them");
    static constexpr build_options storing() {
        program_options o = Build.program;
        o.store_gradients = true;
        return {Build.max_batch, o};
    }

public:
    using trainer_type = trainer<Net, Loss, no_optimizer, storing(), Strategy>;

    /// Settings: train/settings.hpp. The largest batch is 256 where none is given.
    template <class A = trainer_options, class B = trainer_options, class C = trainer_options,
              class D = trainer_options, class... More>
    full_batch(Net, Loss, A a = {}, B b = {}, C c = {}, D d = {}, More... more)
        : t_({}, detail::strategy_in<Strategy>(a, b, c, d, more...), detail::options_in(a, b, c, d, more...)) {
        detail::check_settings<Build, Strategy, A, B, C, D, More...>();
    }

    /// Goes on from the weights that are there, with the history of earlier calls. Passes are whole
    /// ones, from their beginning, also where `data` were partly read. Throws
    /// data_error where there are no data, batches do not fit or the loss is not finite at the
    /// start (which names the first number that is not), and whatever the pipeline throws: the
    /// weights are then those of the last iteration that was whole (of one process; several go on
    /// from a file).
    lbfgs_result train(data::pipeline& data, const lbfgs& o = {}) {
        if (data.size() == data::endless)
            throw option_error("the data never end", "full_batch", "repeat() without a number", "a pass that ends");
        training_parts::begin_pass(data);   // the rest of a pass would be another loss than the whole ones behind it
        std::vector<float> x;
        for (int i = 0; i < t_.parameters(); ++i) {
            const std::vector<float> p = t_.plain(t_.parameter(i));
            x.insert(x.end(), p.begin(), p.end());
        }
        begins_ = true;
        agree(data, o);
        lbfgs_result r;
        try {
            r = minimize([&](const std::vector<float>& at, std::vector<float>& g) { return loss(data, at, g); }, x, o,
                         history_);
        } catch (...) {
            go_back(x);
            throw;
        }
        set(x);
        return r;
    }
    /// All that train() remembers beside the weights: whoever keeps both goes on elsewhere.
    lbfgs_history& history() { return history_; }
    /// As sinter::save and sinter::load (train/checkpoint/checkpoint.hpp), which know nothing of
    /// the history: with it under `optimizer/lbfgs/steps` and `optimizer/lbfgs/changes`, each
    /// [pairs, all parameters], a run goes on as if it had not been stopped. A file with weights
    /// only leaves the history alone.
    void save(const std::string& path, saved what = saved::whole) const {
        std::vector<float> pairs[2];
        std::vector<safetensors::entry> entries;
        for (int k = 0; k < 2 && what == saved::whole; ++k) {
            for (const std::vector<float>& v : k ? history_.changes : history_.steps)
                pairs[k].insert(pairs[k].end(), v.begin(), v.end());
            entries.push_back({history_names[k], safetensors::dtype::f32,
                               {static_cast<std::int64_t>(history_.steps.size()), size()}, pairs[k].data()});
        }
        training_parts::write_checkpoint(std::move(entries), detail::state_view<trainer_type>(t_), path, what);
    }
    void load(const std::string& path, saved what = saved::whole) {
        const safetensors::file f = safetensors::read(path);
        std::vector<safetensors::expected_tensor> expected;
        std::int64_t pairs = 0;
        const bool whole = what == saved::whole && f.tensors.contains("step");
        if (whole) {
            if (const auto at = f.tensors.find(history_names[0]); at != f.tensors.end() && at->second.shape.size() == 2)
                pairs = at->second.shape[0];
            for (const char* name : history_names) expected.push_back({name, safetensors::dtype::f32, {pairs, size()}});
        }
        lbfgs_history history;
        detail::state_view<trainer_type> state(t_);
        training_parts::read_checkpoint(std::move(expected), f, state, what,
                                        [&] { if (whole) history = history_of(f); });
        if (whole) history_ = std::move(history);
    }
    trainer_type& inner() { return t_; }
    const trainer_type& inner() const { return t_; }

private:
    static constexpr const char* history_names[] = {"optimizer/lbfgs/steps", "optimizer/lbfgs/changes"};

    trainer_type t_;
    lbfgs_history history_;
    std::vector<double> sum_;
    bool begins_ = true;   ///< the next loss is that of the weights that train() has found

    static lbfgs_history history_of(const safetensors::file& f) {
        lbfgs_history h;
        for (int k = 0; k < 2; ++k) {
            const auto& bytes = f.at(history_names[k]).data;
            std::vector<float> all(bytes.size() / sizeof(float));
            if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
            const auto n = static_cast<std::ptrdiff_t>(size());
            for (auto v = all.begin(); v != all.end(); v += n) (k ? h.changes : h.steps).emplace_back(v, v + n);
        }
        return h;
    }

    SINTER_COLD void agree(const data::pipeline& data, const lbfgs& o) {
        if constexpr (!detail::session_of<trainer_type>::alone) {
            if (training_parts::is_alone(t_.session())) return;
            description d;
            training_parts::describe_data(d, t_.session(), data, "training data");
            d.of("model");
            t_.describe(d);
            d.of("lbfgs_options");
            d("history", o.history)("max_iterations", o.max_iterations)("l2", o.l2);
            d("gradient_tolerance", o.gradient_tolerance)("loss_tolerance", o.loss_tolerance);
            training_parts::need_same(t_.session(), d, "members do not train alike", "full_batch",
                                      training_parts::same_or_per_worker);
        }
    }
    static std::int64_t size() {   ///< of all parameters together
        std::int64_t n = 0;
        for (int i = 0; i < trainer_type::parameters(); ++i) n += trainer_type::parameter(i).s.size();
        return n;
    }
    void set(const std::vector<float>& x) {
        const float* from = x.data();
        for (int i = 0; i < t_.parameters(); ++i) {
            t_.set_plain(t_.parameter(i), from);
            from += t_.parameter(i).s.size();
        }
    }
    /// What was tried last may be far from any good weights. What was thrown comes out, whatever becomes of this.
    SINTER_COLD void go_back(const std::vector<float>& x) noexcept {
        if (!training_parts::is_alone(t_.session())) return;   // others would have to write with this one
        try {
            set(x);
        } catch (...) {
        }
    }
    double loss(data::pipeline& data, const std::vector<float>& x, std::vector<float>& g) {
        set(x);
        sum_.assign(x.size(), 0.);
        constexpr bool summed = reduction_of<Loss>() == reduction::sum;
        double all = 0;
        double weight = 0;
        std::int64_t examples = 0, batches = 0;
        for (const data::batch_view& b : data) {
            t_.set_steps(batches++);   // which random numbers are drawn by: each batch's own, in each pass the same
            const double l = static_cast<double>(t_.step(b)), counted = summed ? 1 : t_.loss_weight(),
                         by = counted == 0 ? 1 : counted;   // weights that cancel: the step divided by 1
            if (!(l - l == 0)) {   // a trial that is too far may overflow; infinities may be masks
                constexpr const port_facts& ports = detail::ports_of<trainer_type>;
                training_parts::need_finite_batch(ports, b, "full_batch", training_parts::wrong_number::nan);
                if (begins_) {
                    training_parts::need_finite_weights(detail::state_view<trainer_type>(t_), "full_batch");
                    training_parts::need_finite_batch(ports, b, "full_batch");
                }
            }
            all += l * by;
            weight += counted;
            examples += b.size;
            std::size_t k = 0;
            for (int i = 0; i < t_.parameters(); ++i)
                for (float e : t_.gradient(t_.parameter(i))) sum_[k++] += static_cast<double>(e) * by;
        }
        begins_ = false;
        if (!examples)
            throw data_error("there is nothing to train on", "full_batch", "a pass without examples", "at least one");
        const double n = summed || weight == 0 ? 1 : weight;   // weights that cancel, or nothing counts: the sum itself
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(sum_[i] / n);
        return all / n;
    }
};
template <class Net, class Loss, class A = trainer_options, class B = trainer_options, class C = trainer_options,
          class D = trainer_options, class... More>
full_batch(Net, Loss, A = {}, B = {}, C = {}, D = {}, More...)
    -> full_batch<Net, Loss, detail::settings<build_options{256}, A, B, C, D, More...>::build,
                  typename detail::settings<build_options{256}, A, B, C, D, More...>::strategy>;

} // namespace sinter
