// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// The chief does something that may fail, f(), and the others wait for it. Where it fails it
/// throws on every member: on the chief what it was, elsewhere io_error: "the chief could not WHAT".
/// `is_chief()`: whether this member is; `tell(failed)`: what the chief says, on every member;
/// `together(g)` calls g() until the same members have done it from its beginning to its end.
SINTER_SELDOM SINTER_COLD void run_on_chief(const char* what, const std::string& where,
                                            base::function_ref<bool()> is_chief, base::function_ref<void()> f,
                                            base::function_ref<bool(bool)> tell,
                                            base::function_ref<void(base::function_ref<void()>)> together);

} // namespace sinter::session_parts

#if SINTER_BODIES
#include <exception>
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {

SINTER_SELDOM_BODY void run_on_chief(const char* what, const std::string& where, base::function_ref<bool()> is_chief,
                                     base::function_ref<void()> f, base::function_ref<bool(bool)> tell,
                                     base::function_ref<void(base::function_ref<void()>)> together) {
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

} // namespace sinter::session_parts
#endif
