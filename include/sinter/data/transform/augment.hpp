// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/transform/map.hpp>
#include <cstring>

/// Functions for map() on images in NHWC: rows are [height, width, channels].
namespace sinter::inline SINTER_ORDINARY::data {

namespace detail {
struct scale_step {
    float factor, offset;
    void operator()(example& e) const {
        for (float& v : e.x) v = v * factor + offset;
    }
    void describe(description& d) const { d("factor", factor)("offset", offset); }
};
struct flip_step {
    SINTER_APART void operator()(example& e, random_stream& random) const;
};
struct center_crop_step {
    SINTER_APART void operator()(const example_view& in, example& out) const;
};
struct random_crop_step {
    int height, width, channels, padding;
    SINTER_APART void operator()(const example_view& in, example& out, random_stream& random) const;
    void describe(description& d) const { d("padding", padding); }
};
} // namespace detail

/// x becomes x * factor + offset, element by element; x may have any extents.
inline auto scale(float factor, float offset = 0) { return map(detail::scale_step{factor, offset}); }

/// Mirrors left and right in half of the examples.
inline auto random_flip(std::uint64_t seed = 0) { return map(detail::flip_step{}, seed); }

/// The middle `height` x `width` of each image (zeros around it where the image is smaller).
inline auto center_crop(int height, int width, int channels) {
    return map(extents(height, width, channels), detail::center_crop_step{});
}

/// A window of `height` x `width` at a random place of the image after `padding` zeros were put
/// around it.
inline auto random_crop(int height, int width, int channels, int padding = 0, std::uint64_t seed = 0) {
    return map(extents(height, width, channels), detail::random_crop_step{height, width, channels, padding}, seed);
}

#if SINTER_BODIES
inline void need_image(const shape& row, const char* where) {
    if (row.rank != 3)
        throw data_error("an image has three extents", where, "rank " + std::to_string(row.rank),
                         "height, width, channels");
}

inline void need_channels(const shape& row, int channels, const char* where) {
    if (row.d[2] != channels)
        throw data_error("number of channels differs", where, std::to_string(channels),
                         std::to_string(row.d[2]) + ", as the images have");
}

/// Copies the window of out's size whose upper left pixel is (top, left) of `in`; beyond the edges
/// there are zeros.
inline void copy_window(const example_view& in, example& out, int top, int left) {
    const int h = in.row.d[0], w = in.row.d[1], channels = in.row.d[2], to_w = out.row.d[1];
    const int first = left < 0 ? -left : 0, last = left + to_w > w ? w - left : to_w;   // columns that exist in `in`
    for (float& v : out.x) v = 0;
    for (int y = 0; y < out.row.d[0]; ++y)
        if (y + top >= 0 && y + top < h && last > first)
            std::memcpy(out.x.data() + (y * to_w + first) * channels,
                        in.x.data() + ((y + top) * w + left + first) * channels,
                        sizeof(float) * static_cast<std::size_t>((last - first) * channels));
}

namespace detail {
SINTER_APART void flip_step::operator()(example& e, random_stream& random) const {
    need_image(e.row, "random_flip");
    if (random.word() & 1) return;
    const int width = e.row.d[1], channels = e.row.d[2];
    for (int y = 0; y < e.row.d[0]; ++y) {
        float* line = e.x.data() + static_cast<std::ptrdiff_t>(y) * width * channels;
        for (int a = 0, b = width - 1; a < b; ++a, --b)
            for (int c = 0; c < channels; ++c) std::swap(line[a * channels + c], line[b * channels + c]);
    }
}

SINTER_APART void center_crop_step::operator()(const example_view& in, example& out) const {
    need_image(in.row, "center_crop");
    need_channels(in.row, out.row.d[2], "center_crop");
    copy_window(in, out, (in.row.d[0] - out.row.d[0]) / 2, (in.row.d[1] - out.row.d[1]) / 2);
}

SINTER_APART void random_crop_step::operator()(const example_view& in, example& out, random_stream& random) const {
    need_image(in.row, "random_crop");
    const int down = in.row.d[0] + 2 * padding - height, right = in.row.d[1] + 2 * padding - width;
    need_channels(in.row, channels, "random_crop");
    if (down < 0 || right < 0)
        throw data_error("the window is larger than the padded image", "random_crop",
                         std::to_string(height) + " x " + std::to_string(width),
                         "at most " + std::to_string(in.row.d[0] + 2 * padding) + " x " +
                         std::to_string(in.row.d[1] + 2 * padding));
    const int top = static_cast<int>(random.below(static_cast<std::uint32_t>(down) + 1)) - padding;
    const int left = static_cast<int>(random.below(static_cast<std::uint32_t>(right) + 1)) - padding;
    copy_window(in, out, top, left);
}
} // namespace detail
#endif

} // namespace sinter::data
