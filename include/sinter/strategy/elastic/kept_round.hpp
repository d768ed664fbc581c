// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/kept_batch.hpp>
#include <sinter/strategy/replica.hpp>
#include <array>
#include <memory>
#include <utility>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The steps that have been made since the last update, where the optimizer accumulates: their
/// batches and values, from which members that are left accumulate anew what the dead had accumulated. Of
/// a run that was saved between two updates also what all had accumulated before that.
template <class P>
class kept_round {
public:
    struct step {
        kept_batch<P> batch;
        std::array<float, std::size_t{P::request::optimizer::n_scalars + 1}> scalars{};
        step_values values;
    };

    bool empty() const { return n_ == 0 && before_.empty(); }
    bool has_steps() const { return n_ > 0; }
    /// An update has been made.
    void clear() {
        n_ = 0;
        before_.clear();
    }
    void add(const batch_view& b, const step_values& v) {
        if (n_ == steps_.size()) steps_.push_back(std::make_unique<step>());
        step& s = *steps_[n_];
        s.batch.keep(b);
        s.values = v;
        s.values.stop = s.values.save = s.values.join = false;
        if (v.scalars) {
            std::copy_n(v.scalars, s.scalars.size(), s.scalars.begin());
            s.values.scalars = s.scalars.data();
        }
        ++n_;
    }
    /// f(step), in their order.
    template <class F>
    void each(F f) const {
        for (std::size_t i = 0; i < n_; ++i) f(*steps_[i]);
    }
    /// A saved run is to go on: what had been accumulated, and what it is to be divided by.
    void load(std::vector<float> accumulated, float weight) {
        loaded_ = std::move(accumulated);
        loaded_weight_ = weight;
        loads_ = true;
    }
    /// It does, on all members. Until then a round that others repeat is the one before.
    void begin_loaded() {
        if (!std::exchange(loads_, false)) return;
        clear();
        bool any = false;
        for (const float x : loaded_) any = any || x != 0;
        if (any) before_ = std::move(loaded_), weight_before_ = loaded_weight_;
        loaded_ = {};
    }
    const std::vector<float>& before() const { return before_; }
    float weight_before() const { return weight_before_; }

private:
    std::vector<std::unique_ptr<step>> steps_;   ///< the first n_ are in use
    std::size_t n_ = 0;
    std::vector<float> before_, loaded_;
    float weight_before_ = 0, loaded_weight_ = 0;
    bool loads_ = false;
};

} // namespace sinter::strategy_parts
