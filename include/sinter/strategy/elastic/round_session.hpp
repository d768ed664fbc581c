// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/kept_round.hpp>
#include <sinter/strategy/elastic/written_session.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// A session that remembers the steps of a round, where the optimizer accumulates: what members
/// that are gone had gathered is gathered again by those that are left.
template <class Programs, other_processes Others>
class round_session : public written_session<Programs, Others> {
    using base = written_session<Programs, Others>;
    using replicas = shard_replicas<Programs, Others>;
    using P0 = typename Programs::template training<0>;

protected:
    using base::written_session;
    static constexpr bool gathers = replica<Programs>::gathers();

    struct step_made {
        const batch_view* batch = nullptr;
        const step_values* values = nullptr;
    };
    std::conditional_t<gathers, kept_round<P0>, no_round> round_;
    step_made made_;       ///< that is not in round_ yet
    bool loads_ = false;   ///< what had been gathered when a run was saved has been written

    /// The step has been made, by this member or by others for it.
    void note_step(bool applied) {
        const step_made made = std::exchange(made_, {});
        if (!made.batch || !applied) return;
        if ((made.values->step + 1) % detail::of_program::every<P0> == 0) round_.clear();
        else round_.add(*made.batch, *made.values);
    }
    /// What a saved run had gathered, which has been written on all members. The chief's is what
    /// counts; the others remember it, for the chief may die.
    SINTER_COLD void load_round() {
        std::vector<float> gathered(static_cast<std::size_t>(P0::v.z.trained));
        float divisor = 0;
        base::local().read(replicas::gather_slot(), gathered.data(), P0::v.z.trained);
        base::local().read(P0::v.round_weight, &divisor, 1);
        round_.load(std::move(gathered), divisor);
    }
    /// Gathers all of the round again: this member's part of it, as members are now.
    SINTER_COLD void repeat_round() {
        for (int i = 0; i < replicas::shards(); ++i) replicas::empty_round(i);
        if (round_.empty()) return;
        if (!round_.before().empty() && base::member().chief()) {
            const float divisor = round_.weight_before();
            replicas::write(replicas::gather_slot(), round_.before().data(), P0::v.z.trained);
            replicas::write(P0::v.round_weight, &divisor, 1);
        }
        base::gathered_written_ = false;   // it is a part of what all have gathered
        const std::int64_t n = P0::v.floats(compiler::space::state);
        std::vector<float> states(static_cast<std::size_t>(n));   // in which these steps have counted
        base::local().read({compiler::space::state, 0}, states.data(), n);
        using kept_step = typename detail::kept_round<P0>::step;
        round_.each([this](const kept_step& s) { base::template step<0>(s.batch.view(), s.values); });
        for (int k = 0; k < P0::v.n_states; ++k)
            if (const variable_info& v = P0::v.states[k]; !(v.at == P0::v.round_weight))
                replicas::write(v.at, states.data() + v.at.offset(), v.floats);
    }
};

} // namespace sinter::detail
