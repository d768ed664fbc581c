// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/callback.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/os/posix_mutex.hpp>
#include <sinter/base/quoted_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

/// Messages: what the library reports to an operator while a program runs. Each is one line, on standard error or,
/// where on_message() has been called, given to the program's own function. The lines of train_options::progress are
/// not messages.
namespace sinter {

/// What a message is about.
enum class message_level : unsigned char {
    warning,    ///< something is probably not as it was meant to be; the program goes on
    normal,     ///< rare events: who is in a job, what a run resumes from, who is waited for
    detailed,   ///< further events, to look for a fault with
};
/// Which messages there are.
enum class verbosity : unsigned char {
    quiet,      ///< warnings alone
    normal,     ///< the default: what is rare, too
    detailed,   ///< all
};

/// Takes a message: its level, the text without an end of line, and the place that it comes from, for instance
/// "worker/1" or a file's name (empty: the program). Both views are valid during the call alone. Control characters and
/// bytes that are not UTF-8 are written as \xHH in both: each is one line, and drives no terminal.
using message_function = base::callback<void(message_level, std::string_view text, std::string_view place)>;

namespace base {

/// Where messages go; one of a program, whatever its files are compiled for.
class message_sink {
public:
    static message_sink& of_program() {
        static message_sink* const only = new message_sink;   // never destroyed: threads may outlive main()
        return *only;
    }
    bool takes(message_level level) const noexcept {
        return static_cast<int>(level) <= shown_.load(std::memory_order_relaxed);
    }
    void show(verbosity v) noexcept { shown_.store(static_cast<int>(v), std::memory_order_relaxed); }
    message_function exchange(message_function f) {
        const posix_mutex::guard held(mutex_);
        std::swap(f, to_);
        return f;
    }
    /// What the function throws is dropped: a message ends no training.
    SINTER_APART void say(message_level level, std::string_view text, std::string_view place) noexcept;

private:
    SINTER_APART message_sink();
    message_function current() {
        const posix_mutex::guard held(mutex_);
        return to_;
    }
    std::atomic<int> shown_{static_cast<int>(verbosity::normal)};
    posix_mutex mutex_;
    message_function to_;
};

/// For the library's own code: reports to the operator. Whoever has to compute the text asks says() first.
inline void say(message_level level, std::string_view text, std::string_view place = {}) noexcept {
    message_sink::of_program().say(level, text, place);
}
inline bool says(message_level level) noexcept { return message_sink::of_program().takes(level); }

#if SINTER_BODIES
SINTER_COLD SINTER_APART void message_sink::say(message_level level, std::string_view text,
                                                std::string_view place) noexcept try {
    if (!takes(level)) return;
    const std::string shown = one_line(text), at = one_line(place);   // names of files may be hostile
    if (const message_function to = current()) {
        to(level, shown, at);
        return;
    }
    std::string line = "sinter: ";
    if (!at.empty() && !shown.starts_with(at)) (line += at) += ": ";
    if (level == message_level::warning) line += "warning: ";
    (line += shown) += '\n';
    std::fputs(line.c_str(), stderr);   // one call: lines of several threads do not mix
} catch (...) {
}

SINTER_COLD SINTER_APART message_sink::message_sink() {
    const char* const v = std::getenv("SINTER_VERBOSITY");
    const std::string_view word = v ? v : "";
    if (word == "quiet") show(verbosity::quiet);
    else if (word == "detailed") show(verbosity::detailed);
}
#endif

} // namespace base

/// Gives all messages to f in place of standard error, and returns the function that took them before; none: standard
/// error again. f may be called by several threads at once, the library's own among them, and must not wait for what
/// the library does. The verbosity decides which messages there are.
inline message_function on_message(message_function f) {
    return base::message_sink::of_program().exchange(static_cast<message_function&&>(f));
}
/// Which messages there are; until it is called, what the environment variable SINTER_VERBOSITY says (quiet, normal,
/// detailed), and normal where it is not set.
inline void set_verbosity(verbosity v) noexcept { base::message_sink::of_program().show(v); }

} // namespace sinter
