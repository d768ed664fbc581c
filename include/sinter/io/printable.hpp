// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/quoted_text.hpp>
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_ORDINARY::io {

/// Text from a file, made fit for an error message: base::quoted_text in single quotes.
SINTER_COLD inline std::string printable(std::string_view text, std::size_t longest = 120) {
    return base::quoted_text(text, longest, '\'');
}

} // namespace sinter::io
