// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/quoted_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_ORDINARY::io {

/// Text from a file, made fit for an error message: base::quoted_text in single quotes.
SINTER_SELDOM SINTER_COLD std::string printable(std::string_view text, std::size_t longest = 120);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string printable(std::string_view text, std::size_t longest) {
    return base::quoted_text(text, longest, '\'');
}
#endif

} // namespace sinter::io
