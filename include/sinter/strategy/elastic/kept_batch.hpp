// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/arena.hpp>
#include <sinter/strategy/bind_batch.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// A copy of a batch of program P, to be trained on once more. Memory is taken where a batch is the
/// largest so far, and used again.
template <class P>
class kept_batch {
public:
    /// Throws what bind_ports throws.
    void keep(const batch_view& b) {
        view_.size = b.size;
        if (b.size == 0) return;
        const float* ports[std::size_t{P::v.n_inputs + P::v.n_targets + 1}];
        bind_ports<P>(b, ports, true);
        inputs_.clear(), targets_.clear();
        arenas_.resize(std::size_t{P::v.n_inputs + P::v.n_targets});
        for (int i = 0; i < P::v.n_inputs; ++i) inputs_.push_back(copied(i, ports[i], P::v.inputs[i]));
        for (int i = 0; i < P::v.n_targets; ++i) {
            const port_info& p = P::v.targets[i];
            const input_view v = copied(P::v.n_inputs + i, ports[P::v.n_inputs + i], p);
            if (p.weight) view_.weights = v.values, view_.weight_width = v.width;
            else targets_.push_back(v);
        }
        view_.inputs = {inputs_.data(), inputs_.size()};
        view_.targets = {targets_.data(), targets_.size()};
        view_.x = first(inputs_, false).values;
        const input_view y = first(targets_, false), labels = first(targets_, true);
        view_.y = y.values, view_.y_width = y.width;
        view_.labels = labels.indices, view_.label_width = labels.width;
    }
    const batch_view& view() const { return view_; }

private:
    batch_view view_;
    std::vector<runtime::arena> arenas_;   ///< of each port
    std::vector<input_view> inputs_, targets_;

    input_view copied(int i, const float* from, const port_info& p) {
        const std::int64_t n = std::int64_t{p.s.batched ? view_.size : 1} * p.s.size();
        runtime::arena& to = arenas_[static_cast<std::size_t>(i)];
        if (to.size() < n) to = runtime::arena(n);
        std::memcpy(to.data(), from, static_cast<std::size_t>(n) * sizeof(float));
        const bool whole = p.s.type == dtype::i32;
        return {whole ? nullptr : to.data(), whole ? reinterpret_cast<const std::int32_t*>(to.data()) : nullptr,
                p.s.size()};
    }
    static input_view first(const std::vector<input_view>& all, bool whole) {
        for (const input_view& v : all)
            if (whole ? v.indices != nullptr : v.values != nullptr) return v;
        return {};
    }
};

} // namespace sinter::strategy_parts
