// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/span.hpp>
#include <sinter/compiler/loss_targets.hpp>
#include <sinter/compiler/program.hpp>
#include <sinter/strategy/counted_examples.hpp>
#include <algorithm>
#include <vector>

/// Examples that count for nothing in a loss: their weights are 0, or their labels are the ignored
/// one. The loss gives them a gradient of exactly 0. But weights' gradients are sums over the
/// batch, in which 0 times NaN is NaN: so an example's input that is not finite must not enter the
/// net.
namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Could a batch of program P have such an example? It takes a target for each of the net's outputs
/// that says so (target_spec::hides), or one for all.
template <class P>
constexpr bool may_have_uncounted() {
    const target_list all = targets_of<typename P::request::loss>(P::v.n_outputs);
    int covered = 0;
    for (int i = 0; i < all.n; ++i) {
        if (all.at[i].hides == hidden_part::everything) return true;
        if (all.at[i].hides == hidden_part::output) covered |= 1 << all.at[i].output;
    }
    return P::v.n_outputs > 0 && covered == (1 << P::v.n_outputs) - 1;
}

/// Does example `e` count? `ports`: the batch's targets, as bind_batch leaves them.
template <class P>
bool counts(const float* const* ports, std::int64_t e) {
    static constexpr target_list all = targets_of<typename P::request::loss>(P::v.n_outputs);
    return session_parts::example_counts(all, P::v.targets, P::v.n_outputs, ports, e);
}

/// Gives the net zeros for what such an example's inputs hold that is not finite, or so large that
/// its square is not. The copy of the batch's input that this takes is made when it is first
/// needed, and kept.
class uncounted_examples {
public:
    /// `ports`: a batch of `size`, as bind_batch leaves it; an input that is replaced points to its
    /// copy, good until the next call.
    template <class P>
    void hide(const float** ports, int size) {
        if constexpr (may_have_uncounted<P>())
            for (int e = 0; e < size; ++e)
                if (!counts<P>(ports + P::v.n_inputs, e)) hide_one<P>(ports, size, e);
    }

private:
    std::vector<std::vector<float>> copies_;   // of each input

    static bool harmless(const float* x, std::int64_t n) {
        bool all = true;
        for (std::int64_t i = 0; i < n; ++i) all = all && x[i] * x[i] - x[i] * x[i] == 0.f;
        return all;
    }
    template <class P>
    SINTER_COLD void hide_one(const float** ports, int size, int e) {
        for (int i = 0; i < P::v.n_inputs; ++i) {
            const shape& s = P::v.inputs[i].s;
            const std::int64_t n = s.size();
            if (s.type != dtype::f32 || !s.batched || harmless(ports[i] + e * n, n)) continue;
            copies_.resize(static_cast<std::size_t>(P::v.n_inputs));
            std::vector<float>& copy = copies_[static_cast<std::size_t>(i)];
            if (ports[i] != copy.data() || copy.empty()) {
                copy.resize(static_cast<std::size_t>(P::v.max_batch * n));
                std::copy_n(ports[i], size * n, copy.data());
                ports[i] = copy.data();
            }
            std::fill_n(copy.data() + e * n, n, 0.f);
        }
    }
};

} // namespace sinter::strategy_parts
