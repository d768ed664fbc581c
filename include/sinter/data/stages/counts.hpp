// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <string_view>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stage.hpp>
#endif

/// Numbers of elements that stages are asked for, and that they come to.
namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// n; option_error where it is less than `least`.
SINTER_SELDOM SINTER_COLD std::int64_t at_least(std::int64_t least, std::int64_t n, std::string_view what,
                                                std::string_view where, std::string_view needed);
/// Elements of a pass of `a`, and then one of `b`; either may be unknown_size or endless. option_error beyond 2^63 - 1.
SINTER_SELDOM SINTER_COLD std::int64_t sum_of_sizes(std::int64_t a, std::int64_t b, std::string_view where);
/// So many times n elements; n may be unknown_size or endless. option_error beyond 2^63 - 1.
SINTER_SELDOM SINTER_COLD std::int64_t product_of_sizes(std::int64_t n, std::int64_t times, std::string_view where);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::int64_t at_least(std::int64_t least, std::int64_t n, std::string_view what,
                                         std::string_view where, std::string_view needed) {
    if (n < least) throw option_error(what, where, to_text({n}), needed);
    return n;
}

SINTER_SELDOM_BODY std::int64_t sum_of_sizes(std::int64_t a, std::int64_t b, std::string_view where) {
    if (a == endless || b == endless) return endless;
    if (a == unknown_size || b == unknown_size) return unknown_size;
    std::int64_t all = 0;
    if (__builtin_add_overflow(a, b, &all))
        throw option_error("more elements than can be counted", where, to_text({a, " and ", b}), "at most 2^63 - 1");
    return all;
}

SINTER_SELDOM_BODY std::int64_t product_of_sizes(std::int64_t n, std::int64_t times, std::string_view where) {
    if (times == 0) return 0;
    if (n < 0) return n;
    std::int64_t all = 0;
    if (__builtin_mul_overflow(n, times, &all))
        throw option_error("more elements than can be counted", where, to_text({times, " times ", n}),
                           "at most 2^63 - 1");
    return all;
}
#endif

} // namespace sinter::data::stage_parts
