// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_view.hpp>
#include <sinter/base/description.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/type_text.hpp>
#include <sinter/train/hooks/hook_table.hpp>
#include <type_traits>

/// How the loop calls hooks (train/hooks/hook.hpp): by tables of functions, so that it is compiled
/// once, whatever they are.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Every call's name as a member. Of a class that derives from this and a hook, the names that the
/// hook has as well are ambiguous: so it is known which it has, whatever their signatures.
struct all_hook_names {
    int resume, begin, chief_changed, epoch_begin, before_step, after_step, pass_stopped, pass_end, epoch_end,
        checkpoint_saved, end, state, serve, check_run;
};
template <class H>
struct with_all_names : H, all_hook_names {};

// For each call: whether a hook has something of this name, and whether that can be called as the
// loop does.
#define SINTER_HOOK_CALL(call, ...)                                                                                    \
    template <class H>                                                                                                 \
    concept has_##call = std::is_class_v<H> && !std::is_final_v<H> && !requires {                                      \
        &with_all_names<H>::call;                                                                                      \
    };                                                                                                                 \
    template <class H, class Run>                                                                                      \
    concept calls_##call = requires(H & h, Run & r, const batch_view& batch, const std::string& file, hook_state& s) { \
        { h.call(__VA_ARGS__) } -> std::same_as<void>;                                                                 \
    }
SINTER_HOOK_CALL(resume, r);
SINTER_HOOK_CALL(begin, r);
SINTER_HOOK_CALL(chief_changed, r);
SINTER_HOOK_CALL(epoch_begin, r);
SINTER_HOOK_CALL(before_step, r, batch);
SINTER_HOOK_CALL(after_step, r, batch);
SINTER_HOOK_CALL(pass_stopped, r);
SINTER_HOOK_CALL(pass_end, r);
SINTER_HOOK_CALL(epoch_end, r);
SINTER_HOOK_CALL(checkpoint_saved, r, file);
SINTER_HOOK_CALL(end, r);
SINTER_HOOK_CALL(state, s);
SINTER_HOOK_CALL(serve, r);
SINTER_HOOK_CALL(check_run, r);
#undef SINTER_HOOK_CALL

template <class H>
concept has_any_call = has_resume<H> || has_begin<H> || has_epoch_begin<H> || has_before_step<H> || has_after_step<H> ||
    has_pass_stopped<H> || has_pass_end<H> || has_epoch_end<H> || has_checkpoint_saved<H> || has_end<H> ||
    has_chief_changed<H> || has_serve<H> || has_check_run<H>;

/// The table of one hook, for a loop whose runs are `Run`s. Without its state, which is then saved
/// elsewhere: programs that never save a run are spared the code for it.
template <class Run, bool WithState = true, class H>
hook_calls calls_of(H& h) {
    static_assert(!std::is_function_v<H>, "hook: a function's name is none; put a lambda around it");
    hook_calls c;
    if constexpr (!std::is_function_v<H>) c.hook = const_cast<std::remove_const_t<H>*>(&h);
#define SINTER_HOOK_CALL(call, signature)                                                                              \
    static_assert(!has_##call<H> || calls_##call<H, Run>,                                                              \
                  "hook: the loop cannot make this call, which is `void " signature "`, "                              \
                  "with training_run& or auto& for the run (train/hooks/hook.hpp)")
#define SINTER_HOOK_OF_RUN(call)                                                                                       \
    SINTER_HOOK_CALL(call, #call "(training_run& run)");                                                               \
    if constexpr (calls_##call<H, Run>)                                                                                \
    c.at[static_cast<int>(hook_call::call)] = [](void* p, training_run& r) {                                           \
        static_cast<H*>(p)->call(static_cast<Run&>(r));                                                                \
    }
    SINTER_HOOK_OF_RUN(resume);
    SINTER_HOOK_OF_RUN(begin);
    SINTER_HOOK_OF_RUN(chief_changed);
    SINTER_HOOK_OF_RUN(epoch_begin);
    SINTER_HOOK_OF_RUN(pass_stopped);
    SINTER_HOOK_OF_RUN(pass_end);
    SINTER_HOOK_OF_RUN(epoch_end);
    SINTER_HOOK_OF_RUN(end);
    SINTER_HOOK_OF_RUN(serve);
    SINTER_HOOK_OF_RUN(check_run);
    SINTER_HOOK_CALL(before_step, "before_step(training_run& run, const data::batch_view& batch)");
    SINTER_HOOK_CALL(after_step, "after_step(training_run& run, const data::batch_view& batch)");
    SINTER_HOOK_CALL(checkpoint_saved, "checkpoint_saved(training_run& run, const std::string& file)");
    SINTER_HOOK_CALL(state, "state(hook_state& s)");
#undef SINTER_HOOK_OF_RUN
#undef SINTER_HOOK_CALL
    if constexpr (calls_before_step<H, Run>)
        c.before_step = [](void* p, training_run& r, const batch_view& b) {
            static_cast<H*>(p)->before_step(static_cast<Run&>(r), b);
        };
    if constexpr (calls_after_step<H, Run>)
        c.after_step = [](void* p, training_run& r, const batch_view& b) {
            static_cast<H*>(p)->after_step(static_cast<Run&>(r), b);
        };
    if constexpr (calls_checkpoint_saved<H, Run>)
        c.checkpoint_saved = [](void* p, training_run& r, const std::string& f) {
            static_cast<H*>(p)->checkpoint_saved(static_cast<Run&>(r), f);
        };
    if constexpr (WithState && calls_state<H, Run>) {
        constexpr bool named = requires { H::name; };
        static_assert(named, "hook: one with state() needs static constexpr const char* name, for the checkpoint");
        if constexpr (named) c.name = H::name;
        c.state = [](void* p, hook_state& s) { static_cast<H*>(p)->state(s); };
    }
    if constexpr (WithState && (base::tells_settings<H> || calls_state<H, Run>))
        c.describe = [](void* p, description& d) {
            if constexpr (requires { std::string_view(H::name); }) d.stage(H::name);
            else d.stage(data::type_text<H>());
            if constexpr (base::tells_settings<H>) static_cast<const H*>(p)->describe(d);
        };
    if constexpr (requires { H::measures; }) c.may_measure = H::measures;
    else c.may_measure = calls_pass_end<H, Run>;
    constexpr bool is_function = std::is_invocable_v<H&, const epoch_result&>;
    static_assert(has_any_call<H> || is_function || std::is_final_v<H>,
                  "hook: this is none, for it has none of the calls that a hook "
                  "may have, begin(run), after_step(run, batch) and others "
                  "(train/hooks/hook.hpp)");
    if constexpr (is_function && !has_any_call<H> && !std::is_function_v<H>)
        c.at[static_cast<int>(hook_call::epoch_end)] = [](void* p, training_run& r) {
            const epoch_result& result = r.result;
            if constexpr (std::is_invocable_r_v<bool, H&, const epoch_result&>) {
                if (!(*static_cast<H*>(p))(result)) r.stop("a function of the epoch's result");
            } else {
                (*static_cast<H*>(p))(result);
            }
        };
    return c;
}

/// A call of one hook, where it has it.
inline void tell(const hook_calls& h, hook_call call, training_run& run) {
    if (const auto f = h.at[static_cast<int>(call)]) f(h.hook, run);
}

} // namespace sinter::training_parts
