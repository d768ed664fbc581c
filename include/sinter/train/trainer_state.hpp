// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/span.hpp>
#include <sinter/graph/path_of.hpp>
#include <sinter/graph/variable_info.hpp>
#include <sinter/strategy/session.hpp>
#include <string>
#include <vector>

/// What ordinary code sees of a trainer: the interfaces that checkpoints, hooks, evaluation and the loop of training
/// are written against, so that they are compiled once, whatever the model's type. train/trainer_views.hpp makes them
/// of any trainer.
namespace sinter::inline SINTER_ORDINARY {

enum class not_finite { refused, saved };   ///< what files do about weights and states that are infinite or NaN

namespace training_parts {
struct table_files_calls;   // train/checkpoint/table_files_calls.hpp
} // namespace training_parts

/// A variable's numbers as they will lie in memory: whoever sets several makes all of them, which may fail, and then
/// puts them there, which on the CPU cannot.
struct packed_values {
    facts::address to;
    std::vector<float> x;
    const variable_info* of = nullptr;   ///< of a parameter's own values: the parameter
};

/// What is known of a trainer's variables and optimizer while it compiles.
struct trainer_facts {
    base::view<const variable_info> parameters, states;
    base::view<const facts::scope_entry> scopes;   ///< that paths are made of
    int slots = 0;                  ///< of the optimizer's memory, for each parameter that is trained
    const char* memory = nullptr;   ///< what is in them (train/checkpoint/optimizer_memory.hpp); null: unknown
    bool draws_numbers = false;     ///< the training program draws random numbers
    bool remote_tables = false;     ///< others keep tables: session_base::tables() is not null
    bool phases_alternate = false;  ///< losses alternate, and each counts its steps
    bool keeps_averages = false;    ///< of weights: exchanging them may break off (trainer_state::weights_are_mixed)
    /// How files have the tables that others keep; null where there are none, so that programs are spared the code.
    const training_parts::table_files_calls* tables = nullptr;

    /// How many slots are kept of a variable: none of a frozen one.
    constexpr int slots_of(const variable_info& v) const { return v.group == facts::frozen_group ? 0 : slots; }
    std::string path(const variable_info& v) const { return facts::path_of(scopes, v.scope, v.name); }
    /// f(variable) for each parameter and then each state.
    template <class F>
    void each(F f) const {
        for (int i = 0; i < parameters.n; ++i) f(parameters[i]);
        for (int i = 0; i < states.n; ++i) f(states[i]);
    }
};

/// A trainer's values, steps and learning rates.
class trainer_state {
public:
    const trainer_facts& facts;

    virtual session_base& session() const = 0;   ///< to speak with other members changes nothing of the trainer

    // ---- values
    /// A parameter's or state's values in its plain form, or those of slot `slot` of it.
    virtual std::vector<float> plain(const variable_info& v, int slot = -1) const = 0;
    /// What it begins with.
    virtual std::vector<float> first_values(const variable_info& v, int slot) const = 0;
    virtual packed_values packed(const variable_info& v, const float* x, int slot = -1) const = 0;
    /// `whole`: these are all parameters and slots.
    virtual void put(const std::vector<packed_values>& all, bool whole = false) = 0;
    /// Whether an exchange with averages was broken off, so that weights and slots are mixed.
    virtual bool weights_are_mixed() const = 0;

    // ---- steps
    virtual std::int64_t steps() const = 0;
    virtual void set_steps(std::int64_t) = 0;
    /// Of each phase where losses alternate; otherwise none.
    virtual std::vector<std::int64_t> phase_steps() const = 0;
    virtual void set_phase_steps(span<const std::int64_t>) = 0;
    virtual std::uint64_t seed() const = 0;

    // ---- learning rates: what hooks change of them, the rates that schedules have at their height, or always
    virtual std::vector<float> rates() const = 0;
    /// Nothing where these are of another optimizer.
    virtual void set_rates(const std::vector<float>&) = 0;

protected:
    explicit trainer_state(const trainer_facts& f) : facts(f) {}
    virtual ~trainer_state() = default;
};

} // namespace sinter
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// error: an exchange with averages was broken off. `where`: what was to be done with the weights.
[[noreturn]] SINTER_APART SINTER_COLD void refuse_mixed(const char* where);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/error.hpp>
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART void refuse_mixed(const char* where) {
    throw error("weights are averages in part: exchanging them was broken off by an error", where, "no whole weights",
                "load() of a whole file, or reset(), before it");
}

} // namespace sinter::training_parts
#endif
