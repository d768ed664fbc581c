// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/target_namespace.hpp>
#include <exception>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The chief does something that may fail, f(), and the others wait for it. Where it fails it
/// throws on every member: on the chief what it was, elsewhere io_error: "the chief could not WHAT".
/// `is_chief()`: whether this member is; `tell(failed)`: what the chief says, on every member;
/// `together(g)` calls g() until the same members have done it from its beginning to its end.
template <class IsChief, class F, class Tell, class Together>
SINTER_COLD void run_on_chief(const char* what, const std::string& where, IsChief is_chief, F f, Tell tell,
                                   Together together) {
    std::exception_ptr fault;
    bool failed = false;
    together([&] {
        fault = nullptr;
        if (is_chief()) {
            try {
                f();
            } catch (...) {
                fault = std::current_exception();
            }
        }
        failed = tell(fault != nullptr);
    });
    if (fault) std::rethrow_exception(fault);
    if (failed)
        throw io_error(to_text({"the chief could not ", what}), where, "an error, which is in its own log", "none");
}

} // namespace sinter::strategy_parts
