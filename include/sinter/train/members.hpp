// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/os/sleep.hpp>
#include <sinter/strategy/strategy.hpp>
#include <sinter/strategy/run_on_chief.hpp>
#include <type_traits>
#include <utility>
#include <vector>

/// What the members of a session do together outside of steps: agree, let the chief do something,
/// and learn what it has. Every member makes these calls in the same order. Where there is one
/// member, or each goes its own way, they cost nothing.
namespace sinter::inline SINTER_TARGET::detail {

/// Whether a session's type says that it has one member, whatever happens.
template <class Session>
inline constexpr bool always_alone = Session::alone;
/// The type of a trainer's session, or of a class of its calls.
template <class Trainer>
using session_of = std::remove_cvref_t<decltype(std::declval<Trainer&>().session())>;
template <class Trainer>
inline constexpr bool trains_alone = session_of<Trainer>::alone;
/// Whether a trainer's session may have other members from one step to the next.
template <class Trainer>
inline constexpr bool members_change = session_of<Trainer>::members_change;

/// Whether there is nobody who makes the same calls at the same time.
template <class Session>
bool is_alone(const Session& s) {
    return always_alone<Session> || s.member().count == 1 || s.independent();
}

/// f(), which ends in something that all members do together; again on all of them where they have
/// changed before that was done (strategy/elastic.hpp).
template <class Session, class F>
SINTER_COLD void by_the_same_members(Session& s, F f) {
    const joining_calls* c = nullptr;
    if constexpr (Session::members_change) c = s.joining();
    for (bool again = true; again;) {
        const std::int64_t before = c ? c->made_in() : 0;
        f();
        again = c && c->made_in() != before;
    }
}

/// This member cannot go on: the others need not wait for it. A moment later, so that those who are
/// about to complete what all have done together still do.
template <class Session>
SINTER_COLD void end_members(Session& s, const char* why) {
    if (always_alone<Session> || s.member().count == 1) return;
    base::os::sleep_seconds(0.1);
    s.fail(why);
}

/// The epoch of members in which this process became their chief; 0 where members stay the same.
inline std::int64_t chief_since(const session_base& s) {
    const joining_calls* const c = s.joining();
    return c ? c->chief_since() : 0;
}

/// The chief's number, on every member.
template <class Session>
SINTER_COLD double of_chief(Session& s, double x) {
    if constexpr (!always_alone<Session>) {
        if (is_alone(s)) return x;
        if (!s.member().chief()) x = 0;
        s.reduce(span<double>(&x, 1));
    }
    return x;
}

/// Whether any member says so.
template <class Session>
SINTER_COLD bool of_any(Session& s, bool mine) {
    if constexpr (!always_alone<Session>) {
        double x = mine ? 1 : 0;
        s.reduce(span<double>(&x, 1));
        return x > 0;
    } else {
        return mine;
    }
}

/// The chief does something that may fail, and the others wait for it. Where it fails it throws on
/// every member: on the chief what it was, elsewhere io_error.
template <class Session, class F>
SINTER_COLD void by_the_chief(Session& s, const char* what, const std::string& where, F f) {
    if constexpr (!always_alone<Session>) {
        if (is_alone(s)) return s.member().chief() ? void(f()) : void();
        strategy_parts::run_on_chief(
            what, where, [&] { return s.member().chief(); }, f,
            [&](bool failed) { return of_chief(s, failed ? 1 : 0) > 0; },
            [&](auto all_of_it) { by_the_same_members(s, all_of_it); });
    } else {
        f();
    }
}

/// Whether this member has nothing to do with files: another, the chief, writes them when it likes.
inline bool leaves_files_to_others(const session_base& s) { return s.independent() && !s.member().chief(); }

/// In a process that holds weights for those that train: does so until they are done, or, where
/// `asked_to_end` says so meanwhile, until they have stopped. False elsewhere.
template <class Trainer>
bool has_served(Trainer& t, bool (*asked_to_end)() = nullptr) {
    if constexpr (!Trainer::strategy_type::traits.updates_here) {
        if (!t.session().serves()) return false;
        t.session().serve(t.optimizer(), asked_to_end);
        return true;
    } else {
        return false;
    }
}
/// Hooks may have changed learning rates, which whoever updates is to have.
template <class Trainer>
void follow_rates(Trainer& t) {
    if constexpr (!Trainer::strategy_type::traits.updates_here) t.session().follow(t.optimizer());
}
/// Training begins, to go on to `max_steps` (0: without a limit): where others count steps, too,
/// the trainer's are theirs from now on. `keeps_runs`: the chief saves whole runs, and what it has
/// loaded of them, or nothing, is where training begins.
template <class Trainer>
void begin_training(Trainer& t, std::int64_t max_steps, bool keeps_runs = false) {
    if constexpr (!trains_alone<Trainer>) t.set_steps(t.session().begin_training(t.steps(), max_steps, keeps_runs));
}
/// Training is over for this member. The chief waits for the others; `early`: none is to go on.
template <class Trainer>
void end_training(Trainer& t, bool early = false) {
    if constexpr (!trains_alone<Trainer>) t.end_training(early);
}

/// The chief's bytes, on every member; `x` is looked at on the chief alone.
template <class Session>
SINTER_COLD void bytes_of_chief(Session& s, std::vector<std::byte>& x) {
    if constexpr (!always_alone<Session>) {
        if (is_alone(s)) return;
        x.resize(static_cast<std::size_t>(of_chief(s, static_cast<double>(x.size()))));
        s.broadcast(span<std::byte>(x.data(), x.size()));
    }
}

} // namespace sinter::detail
