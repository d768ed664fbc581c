// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_share.hpp>
#include <sinter/base/batch_view.hpp>
#include <sinter/compiler/program.hpp>
#include <sinter/device/model_memory.hpp>
#include <sinter/strategy/session.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// What a session knows of a shard in a step.
struct shard_in_step {
    example_range part;
    runtime::batch_shard numbers;
    float loss = 0;
    bool finite = true;
};

/// Where the part of a batch begins whose ports bind_ports has found. P: the program.
template <class P>
void move_ports(const float* const* whole, int first, const float** to) {
    const auto move = [&](const port_info& p) {
        *to++ = *whole++ + (p.s.batched ? std::int64_t{first} * p.s.size() : 0);
    };
    for (int i = 0; i < P::v.n_inputs; ++i) move(P::v.inputs[i]);
    for (int i = 0; i < P::v.n_targets; ++i) move(P::v.targets[i]);
}

/// A part of a batch as a batch, for whoever measures what came of it. Takes memory when it is
/// first made.
class batch_part {
public:
    batch_view view{};

    template <class P>
    void assign(const batch_view& b, example_range r) {
        view = b;
        view.size = r.size;
        const std::int64_t first = r.first;
        const auto column = [](const input_view& v, const port_info* p, std::int64_t at) {
            const std::int64_t n = v.width ? v.width : p ? p->s.size() : 0;
            return input_view{v.values ? v.values + at * n : nullptr, v.indices ? v.indices + at * n : nullptr,
                              v.width, v.name};
        };
        inputs_.assign(b.inputs.begin(), b.inputs.end());
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const port_info* p = static_cast<int>(i) < P::v.n_inputs ? &P::v.inputs[i] : nullptr;
            if (!p || p->s.batched) inputs_[i] = column(inputs_[i], p, first);
        }
        targets_.assign(b.targets.begin(), b.targets.end());
        for (input_view& v : targets_) v = column(v, nullptr, first);
        view.inputs = {inputs_.data(), inputs_.size()};
        view.targets = {targets_.data(), targets_.size()};
        const auto width = [](int said, const port_info* p) { return std::int64_t{said ? said : p ? p->s.size() : 0}; };
        if (b.x) view.x = b.x + first * width(0, find<P>(P::v.inputs, P::v.n_inputs, dtype::f32, false));
        if (b.labels)
            view.labels =
                b.labels + first * width(b.label_width, find<P>(P::v.targets, P::v.n_targets, dtype::i32, false));
        if (b.y) view.y = b.y + first * width(b.y_width, find<P>(P::v.targets, P::v.n_targets, dtype::f32, false));
        if (b.weights)
            view.weights =
                b.weights + first * width(b.weight_width, find<P>(P::v.targets, P::v.n_targets, dtype::f32, true));
    }

private:
    std::vector<input_view> inputs_, targets_;

    template <class P>
    static const port_info* find(const port_info* all, int n, dtype type, bool weight) {
        for (int i = 0; i < n; ++i)
            if (all[i].s.type == type && all[i].weight == weight) return &all[i];
        return nullptr;
    }
};

} // namespace sinter::strategy_parts
