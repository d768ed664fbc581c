// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/compiler/buckets.hpp>
#include <sinter/strategy/replica.hpp>
#include <cstring>
#include <vector>

/// What the members of a session have made of a step together, as bytes: states and summed
/// gradients. Who has the model as it was before that step makes the same update of it.
namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Whether a model's steps can be sent so: of one training program whose gradients are all dense.
template <class Programs>
constexpr bool has_step_deltas() {
    if constexpr (Programs::device::shares_memory && Programs::n_training == 1)
        return Programs::template training<0>::v.n_lists == 0;
    else return false;
}

struct step_delta_header {
    std::int64_t step = 0;
    std::uint64_t seed = 0, updates = 0;   ///< updates: 0 or 1
};
/// A step's numbers but for its gradients.
template <class P>
struct step_numbers {
    float scalars[P::request::optimizer::n_scalars + 1] = {};
    std::vector<float> states = std::vector<float>(static_cast<std::size_t>(P::v.floats(compiler::space::state)));

    /// f(where, how many floats) of these and, where the step `updates`, of all gradients.
    template <class Places, class F>
    void each(bool updates, Places places, F f) {
        f(scalars, std::int64_t{P::request::optimizer::n_scalars});
        f(states.data(), static_cast<std::int64_t>(states.size()));
        for (int k = 0; updates && k < P::v.n_buckets; ++k) f(places(k), P::v.buckets[k].floats);
    }
};

/// Behind the step's sums, before the update. `places(k)`: where the sum of bucket k lies.
template <class P, class Unit, class Places>
SINTER_COLD void encode_step_delta(std::vector<std::byte>& to, const step_values& v, bool updates, const Unit& unit,
                           Places places) {
    const step_delta_header head{v.step, v.seed, updates};
    step_numbers<P> own;
    if (v.scalars) std::copy_n(v.scalars, P::request::optimizer::n_scalars, own.scalars);
    unit.read({compiler::space::state, 0}, own.states.data(), static_cast<std::int64_t>(own.states.size()));
    to.resize(sizeof head);
    std::memcpy(to.data(), &head, sizeof head);
    own.each(updates, places, [&](const float* x, std::int64_t n) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(x);
        to.insert(to.end(), bytes, bytes + static_cast<std::size_t>(n) * sizeof(float));
    });
}
/// The other end: puts states and gradients where an update finds them. data_error where the bytes
/// are not of such a step.
template <class P>
class step_delta {
public:
    bool updates;
    step_values values;

    template <class Units, class Places>
    SINTER_COLD step_delta(const std::vector<std::byte>& from, Units& units, Places places) {
        step_delta_header head;
        std::size_t next = 0;
        const auto take = [&](void* to, std::size_t n) {
            if (from.size() - next < n)
                throw data_error("a step that another member sent is too short", "elastic session",
                                 to_text({from.size(), " bytes"}), to_text({next + n, " or more"}));
            if (n) std::memcpy(to, from.data() + next, n);
            next += n;
        };
        take(&head, sizeof head);
        if (head.updates > 1)
            throw data_error("what another member sent as a step is none", "elastic session",
                             to_text({head.updates, " updates"}), "0 or 1");
        updates = head.updates == 1;
        own_.each(updates, places, [&](float* x, std::int64_t n) {
            take(x, static_cast<std::size_t>(n) * sizeof(float));
        });
        if (next != from.size())
            throw data_error("a step that another member sent is too long", "elastic session",
                             to_text({from.size(), " bytes"}), to_text({next}));
        for (auto& u : units)
            u.write({compiler::space::state, 0}, own_.states.data(), static_cast<std::int64_t>(own_.states.size()));
        values = {.scalars = own_.scalars, .seed = head.seed, .step = head.step};
    }
    step_delta(const step_delta&) = delete;

private:
    step_numbers<P> own_;
};

} // namespace sinter::strategy_parts
