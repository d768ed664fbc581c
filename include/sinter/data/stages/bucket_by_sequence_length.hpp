// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/stages/group_by_window.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

/// Number of the bucket: how many boundaries are not above the length.
template <class Length>
struct bucket_of {
    Length length;
    std::vector<std::int64_t> boundaries;

    template <class T>
        requires std::is_invocable_v<const Length&, const T&>
    auto operator()(const T& e) const {
        const auto n = length(e);
        if constexpr (std::integral<std::remove_cvref_t<decltype(n)>>) {
            std::int64_t b = 0;
            for (const std::int64_t at : boundaries) b += at <= static_cast<std::int64_t>(n);
            return b;
        } else {
            return n;   // which is refused
        }
    }
};
struct size_of_bucket {
    std::vector<std::int64_t> boundaries, sizes;
    std::int64_t operator()(std::int64_t b) const { return sizes[static_cast<std::size_t>(b)]; }
    SINTER_COLD void describe(description& d) const {
        for (std::size_t b = 0; b < boundaries.size(); ++b) d(to_text({"boundary ", b}), boundaries[b]);
        for (std::size_t b = 0; b < sizes.size(); ++b) d(to_text({"size ", b}), sizes[b]);
    }
};
SINTER_SELDOM SINTER_COLD void need_buckets(const std::vector<std::int64_t>& boundaries,
                                            const std::vector<std::int64_t>& sizes, std::int64_t window);

} // namespace stage_parts

/// Elements of similar length together: vectors of sizes[b] elements of bucket b, which has the lengths from
/// boundaries[b - 1] to boundaries[b] - 1. There is one size more than there are boundaries, for what is longer. Whole
/// vectors come as soon as they are full; when groups are closed, at the end of a pass and after `window` inputs, the
/// shorter ones come in the order of the buckets, or are left out (group_by_window.hpp). As tf.data's
/// bucket_by_sequence_length without its padding: map() or pad_to() behind it.
///
///     texts | data::bucket_by_sequence_length([](const text& t) { return t.words.size(); }, {16, 64}, {64, 16, 4})
///
/// option_error where boundaries are not rising, sizes are not positive, or their numbers do not fit.
template <class Length>
auto bucket_by_sequence_length(Length length, std::vector<std::int64_t> boundaries, std::vector<std::int64_t> sizes,
                               group_options o = {}) {
    stage_parts::need_buckets(boundaries, sizes, o.window);
    using key = stage_parts::bucket_of<Length>;
    key by{std::move(length), boundaries};
    return group_by_window_step<key, stage_parts::size_of_bucket>{
        std::move(by), {std::move(boundaries), std::move(sizes)}, o, "bucket_by_sequence_length"};
}

#if SINTER_BODIES
namespace stage_parts {

SINTER_SELDOM_BODY void need_buckets(const std::vector<std::int64_t>& boundaries,
                                     const std::vector<std::int64_t>& sizes, std::int64_t window) {
    const auto fail = [](std::string_view what, std::int64_t got, std::string_view needed) {
        throw option_error(what, "bucket_by_sequence_length", to_text({got}), needed);
    };
    if (boundaries.empty()) fail("no boundaries", 0, "1 or more");
    for (std::size_t i = 0; i < boundaries.size(); ++i)
        if (boundaries[i] < 1 || (i > 0 && boundaries[i] <= boundaries[i - 1]))
            fail("impossible boundary", boundaries[i], "positive ones, each above the one before");
    if (sizes.size() != boundaries.size() + 1)
        fail("wrong number of sizes", static_cast<std::int64_t>(sizes.size()),
             to_text({static_cast<std::int64_t>(boundaries.size() + 1), ", one more than there are boundaries"}));
    for (const std::int64_t n : sizes)
        if (n < 1) fail("impossible size of a group", n, "1 or more");
    if (window < 0) fail("impossible window", window, "inputs, or 0");
}

} // namespace stage_parts
#endif

} // namespace sinter::data
