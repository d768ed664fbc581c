// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/value_bytes.hpp>
#include <sinter/data/stages/stage.hpp>
#include <string>
#include <utility>

/// A stream's cursor as bytes, which a checkpoint keeps.
namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// The bytes of `c`; none for an indexed stage, whose place is a number that is kept beside it.
template <element_stage S>
void write_cursor([[maybe_unused]] const cursor_of<S>& c, std::string& to) {
    to.clear();
    if constexpr (stream_stage<S>) {
        static_assert(base::has_value_bytes<cursor_of<S>>,
                      "a stream's cursor is made of numbers, strings, arrays, vectors, tuples and structs of these; so "
                      "is the state that scan() carries along");
        if constexpr (base::has_value_bytes<cursor_of<S>>) base::append_value(to, c);
    }
}

[[noreturn]] SINTER_COLD inline void refuse_cursor(std::size_t bytes) {
    throw format_error("damaged, or a place among other data", "where a pipeline was",
                       to_text({bytes, " bytes of cursors"}), "what the same stages have written");
}

/// The cursor that these bytes are. format_error where they are none of this stage's: they may be damaged.
template <element_stage S>
cursor_of<S> read_cursor(const S& s, std::string_view bytes) {
    cursor_of<S> c{};
    const std::size_t all = bytes.size();
    if constexpr (stream_stage<S> && base::has_value_bytes<cursor_of<S>>) {
        if (!base::read_value(bytes, c) || !stage_parts::fits(s, c)) refuse_cursor(all);
    } else {
        if (all != 0) refuse_cursor(all);
    }
    return c;
}

} // namespace sinter::data::stage_parts
