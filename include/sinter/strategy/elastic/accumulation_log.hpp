// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/kept_round.hpp>
#include <sinter/strategy/synchronous/core.hpp>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The steps of a round, where the optimizer accumulates: what members that are gone had accumulated is accumulated
/// again by those that are left. Core: the synchronous_core.
template <class Core, bool = Core::accumulates>
class accumulation_log {
    using P0 = typename Core::P0;
    using values = decltype(Core::values);

public:
    explicit accumulation_log(Core& core) : core_(core) {}

    bool empty() const { return round_.empty(); }
    bool has_steps() const { return round_.has_steps(); }
    void clear() { round_.clear(); }
    /// A step is to be made of this batch.
    void begin_step(const batch_view& b, const step_values& v) { made_ = {&b, &v}; }
    /// It has been made, by this member or by others for it.
    void end_step(bool applied) {
        const step_made made = std::exchange(made_, {});
        if (!made.batch || !applied) return;
        if ((made.values->step + 1) % of_program::every<P0> == 0) round_.clear();
        else round_.add(*made.batch, *made.values);
    }
    /// Something was written there.
    void note_write(compiler::address to) { written_ = written_ || values::is_accumulated(to); }
    void forget_writes() { written_ = false; }
    /// Behind writes: whether they were of what a saved run had accumulated, which is on all members. The chief's is
    /// what counts; the others remember it, for the chief may die.
    SINTER_COLD bool load() {
        if (!std::exchange(written_, false)) return false;
        std::vector<float> accumulated(static_cast<std::size_t>(P0::v.z.trained));
        float divisor = 0;
        core_.replicas.first().read(values::accumulation_slot(), accumulated.data(), P0::v.z.trained);
        core_.replicas.first().read(P0::v.round_weight, &divisor, 1);
        round_.load(std::move(accumulated), divisor);
        return true;
    }
    /// All members have what was loaded: the round is that one.
    void begin_loaded() { round_.begin_loaded(); }
    /// Accumulates all of the round again: this member's part of it, as members are now.
    SINTER_COLD void repeat() {
        for (int i = 0; i < core_.replicas.size(); ++i) core_.values.empty_round(i);
        if (round_.empty()) return;
        if (!round_.before().empty() && core_.members.chief()) {
            const float divisor = round_.weight_before();
            core_.values.write(values::accumulation_slot(), round_.before().data(), P0::v.z.trained);
            core_.values.write(P0::v.round_weight, &divisor, 1);
        }
        core_.values.count_written_as_accumulated();
        const std::int64_t n = P0::v.floats(compiler::space::state);
        std::vector<float> states(static_cast<std::size_t>(n));   // in which these steps have counted
        core_.replicas.first().read({compiler::space::state, 0}, states.data(), n);
        using kept_step = typename kept_round<P0>::step;
        round_.each([this](const kept_step& s) { core_.template step<0>(s.batch.view(), s.values); });
        for (int k = 0; k < P0::v.n_states; ++k)
            if (const variable_info& v = P0::v.states[k]; !(v.at == P0::v.round_weight))
                core_.values.write(v.at, states.data() + v.at.offset(), v.floats);
    }

private:
    struct step_made {
        const batch_view* batch = nullptr;
        const step_values* values = nullptr;
    };
    Core& core_;
    kept_round<P0> round_;
    step_made made_;         ///< that is not in round_ yet
    bool written_ = false;   ///< what had been accumulated when a run was saved
};

/// Where every step updates.
template <class Core>
class accumulation_log<Core, false> {
public:
    explicit accumulation_log(Core&) {}
    static constexpr bool empty() { return true; }
    static constexpr bool has_steps() { return false; }
    void clear() {}
    void begin_step(const batch_view&, const step_values&) {}
    void end_step(bool) {}
    void note_write(compiler::address) {}
    void forget_writes() {}
    static constexpr bool load() { return false; }
    void begin_loaded() {}
    void repeat() {}
};

} // namespace sinter::strategy_parts
