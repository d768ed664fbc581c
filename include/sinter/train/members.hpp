// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/strategy/session.hpp>

/// What the members of a session do together outside of steps: agree, let the chief do something,
/// and learn what it has. Every member makes these calls in the same order. Where there is one
/// member, or each goes its own way, they cost nothing.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Whether there is nobody who makes the same calls at the same time.
inline bool is_alone(const session_base& s) { return s.member().count == 1 || s.independent(); }

/// f(), which ends in something that all members do together; again on all of them where they have
/// changed before that was done (strategy/elastic.hpp).
SINTER_SELDOM SINTER_COLD void by_the_same_members(const session_base& s, base::function_ref<void()> f);

/// This member cannot go on: the others need not wait for it. A moment later, so that those who are
/// about to complete what all have done together still do.
SINTER_SELDOM SINTER_COLD void end_members(session_base& s, const char* why);

/// The epoch of members in which this process became their chief; 0 where members stay the same.
inline std::int64_t chief_since(const session_base& s) {
    const joining_calls* const c = s.joining();
    return c ? c->chief_since() : 0;
}

/// The chief's number, on every member.
SINTER_SELDOM SINTER_COLD double of_chief(session_base& s, double x);

/// Whether any member says so.
SINTER_SELDOM SINTER_COLD bool of_any(session_base& s, bool mine);

/// The chief does something that may fail, and the others wait for it. Where it fails it throws on
/// every member: on the chief what it was, elsewhere io_error.
SINTER_SELDOM SINTER_COLD void by_the_chief(session_base& s, const char* what, const std::string& where,
                                            base::function_ref<void()> f);

/// Whether this member has nothing to do with files: another, the chief, writes them when it likes.
inline bool leaves_files_to_others(const session_base& s) { return s.independent() && !s.member().chief(); }

/// The chief's bytes, on every member; `x` is looked at on the chief alone.
SINTER_SELDOM SINTER_COLD void bytes_of_chief(session_base& s, std::vector<std::byte>& x);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/os/sleep.hpp>
#include <sinter/strategy/run_on_chief.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM_BODY void by_the_same_members(const session_base& s, base::function_ref<void()> f) {
    const joining_calls* const c = s.joining();
    for (bool again = true; again;) {
        const std::int64_t before = c ? c->made_in() : 0;
        f();
        again = c && c->made_in() != before;
    }
}
SINTER_SELDOM_BODY void end_members(session_base& s, const char* why) {
    if (s.member().count == 1) return;
    base::os::sleep_seconds(0.1);
    s.fail(why);
}
SINTER_SELDOM_BODY double of_chief(session_base& s, double x) {
    if (is_alone(s)) return x;
    if (!s.member().chief()) x = 0;
    s.reduce(span<double>(&x, 1));
    return x;
}
SINTER_SELDOM_BODY bool of_any(session_base& s, bool mine) {
    double x = mine ? 1 : 0;
    s.reduce(span<double>(&x, 1));
    return x > 0;
}
SINTER_SELDOM_BODY void by_the_chief(session_base& s, const char* what, const std::string& where,
                                     base::function_ref<void()> f) {
    if (is_alone(s)) return s.member().chief() ? f() : void();
    session_parts::run_on_chief(
        what, where, [&] { return s.member().chief(); }, f,
        [&](bool failed) { return of_chief(s, failed ? 1 : 0) > 0; },
        [&](base::function_ref<void()> all_of_it) { by_the_same_members(s, all_of_it); });
}
SINTER_SELDOM_BODY void bytes_of_chief(session_base& s, std::vector<std::byte>& x) {
    if (is_alone(s)) return;
    x.resize(static_cast<std::size_t>(of_chief(s, static_cast<double>(x.size()))));
    s.broadcast(span<std::byte>(x.data(), x.size()));
}

} // namespace sinter::training_parts
#endif
