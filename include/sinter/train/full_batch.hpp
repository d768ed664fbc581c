// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <sinter/train/lbfgs/minimize.hpp>
#include <sinter/train/optimizers/none.hpp>
#include <sinter/train/trainer.hpp>

namespace sinter {

/// Training on all of the data at once, by L-BFGS: for small nets and convex problems, where it is exact.
///
///     full_batch model{net, softmax_cross_entropy};
///     const lbfgs_result r = model.train(data, {.max_iterations = 200});
///
/// The loss is the mean over a whole pass, summed up batch by batch, so it is for losses that are means over examples and
/// data that are the same in each pass. Random numbers in the net are the same in each evaluation; batch_norm makes the loss
/// depend on how the data are cut into batches. inner() is the trainer, for evaluate, predict, save and load.
template <class Net, class Loss, int MaxBatch = 256, class Device = cpu_device>
class full_batch {
public:
    using trainer_type = trainer<Net, Loss, no_optimizer, MaxBatch, Device, program_options{.store_gradients = true}>;

    full_batch(Net, Loss, trainer_options o = {}) : t_({}, o) {}

    /// Goes on from the weights that are there, with the history of earlier calls. Throws data_error where there are no data,
    /// batches do not fit or the loss is not finite at the start, and whatever the pipeline throws.
    lbfgs_result train(data::pipeline& data, const lbfgs& o = {}) {
        if (data.size() == data::endless)
            throw option_error("the data never end", "full_batch", "repeat() without a number", "a pass that ends");
        std::vector<float> x;
        for (int i = 0; i < t_.parameters(); ++i) {
            const std::vector<float> p = t_.plain(t_.parameter(i));
            x.insert(x.end(), p.begin(), p.end());
        }
        const lbfgs_result r = minimize(
            [&](const std::vector<float>& at, std::vector<float>& g) { return loss(data, at, g); }, x, o, history_);
        set(x);
        return r;
    }
    /// All that train() remembers beside the weights: whoever keeps both goes on elsewhere.
    lbfgs_history& history() { return history_; }
    trainer_type& inner() { return t_; }
    const trainer_type& inner() const { return t_; }

private:
    trainer_type t_;
    lbfgs_history history_;
    std::vector<double> sum_;

    void set(const std::vector<float>& x) {
        const float* from = x.data();
        for (int i = 0; i < t_.parameters(); ++i) {
            t_.set_plain(t_.parameter(i), from);
            from += t_.parameter(i).s.size();
        }
    }
    double loss(data::pipeline& data, const std::vector<float>& x, std::vector<float>& g) {
        set(x);
        sum_.assign(x.size(), 0.);
        double all = 0;
        std::int64_t examples = 0;
        for (int tries = 0; tries < 2 && !examples; ++tries)   // an earlier loop may have ended at the very end of a pass
            for (const data::batch_view& b : data) {
                t_.set_steps(0);
                all += static_cast<double>(t_.step(b)) * b.size;
                examples += b.size;
                std::size_t k = 0;
                for (int i = 0; i < t_.parameters(); ++i)
                    for (float e : t_.gradient(t_.parameter(i))) sum_[k++] += static_cast<double>(e) * b.size;
            }
        if (!examples) throw data_error("there is nothing to train on", "full_batch", "a pass without examples", "at least one");
        const auto n = static_cast<double>(examples);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(sum_[i] / n);
        return all / n;
    }
};
template <class Net, class Loss>
full_batch(Net, Loss, trainer_options = {}) -> full_batch<Net, Loss>;

} // namespace sinter
