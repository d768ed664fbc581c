// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#include <sinter/data/image/resize_axis.hpp>
#if SINTER_BODIES
#include <sinter/data/image/byte_vectors.hpp>
#include <sinter/data/image/resize_avx2.hpp>
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data::image {

/// Height and width of a picture.
struct extent {
    std::size_t height = 0, width = 0;
};

/// The extents at which the shorter side is `side`, and the longer one in proportion, rounded down: torchvision's
/// Resize(side). data_error for an empty picture.
SINTER_SELDOM extent shorter_side(const bitmap_view& in, std::size_t side);

/// `in` as height x width, into `out`, whose memory is used again, and which is another picture than `in`. Where it
/// shrinks, the filter is as much wider as pixels become fewer ("antialias"), so that every pixel has its share. Bytes
/// are those of Pillow 13's resize: weights are whole numbers of 2^-22, and what lies between the passes, over rows and
/// over columns, is bytes. Rows come first, but where the height loses more than twice the pixels that the width does.
/// torchvision's bytes differ by 1 here and there. Each channel is resized by itself, alpha too (Pillow weighs colours
/// by alpha). data_error for an empty picture or extent.
SINTER_SELDOM void resize(const bitmap_view& in, std::size_t height, std::size_t width, bitmap& out,
                          interpolation filter = interpolation::bilinear);

/// The same as a value.
inline bitmap resize(const bitmap_view& in, std::size_t height, std::size_t width,
                     interpolation filter = interpolation::bilinear) {
    bitmap out;
    resize(in, height, width, out, filter);
    return out;
}

#if SINTER_BODIES
namespace detail {

/// Four sums of weights times bytes.
struct resize_sum {
    four_integers high{}, low;
    resize_sum() {
        constexpr std::int32_t half = 1 << (resize_bits - 1);
        low = four_integers{half, half, half, half};
    }
    void add(eight_shorts bytes, eight_shorts high_weights, eight_shorts low_weights) {
        high += sums_of_pairs(bytes, high_weights);
        low += sums_of_pairs(bytes, low_weights);
    }
    four_integers value() const { return ((high << resize_low_bits) + low) >> resize_bits; }
};

/// One row along its axis. It reads eight bytes from each tap's pixel on, and writes four to each pixel's place: those
/// that are too many are overwritten by the next pixel, and behind the last one is room for them.
template <std::size_t Channels>
void resize_row_of(const std::uint8_t* in, const resize_axis& axis, std::uint8_t* out) {
    const std::int16_t* weights = axis.weights.data();
    const std::size_t taps = axis.taps;
    for (const std::size_t first : axis.first) {
        const std::uint8_t* p = in + first * Channels;
        resize_sum sum;
        for (std::size_t k = 0; k < taps; k += 2, p += 2 * Channels, weights += 16)
            sum.add(widen_low(interleave_low(load_eight(p), load_eight(p + Channels))), load_shorts(weights),
                    load_shorts(weights + 8));
        store_four(sum.value(), out);
        out += Channels;
    }
}
inline void resize_row(std::size_t channels, const std::uint8_t* in, const resize_axis& axis, std::uint8_t* out) {
    if (axis.at_once == 2) resize_row_avx2(channels, in, axis, out);
    else if (channels == 1) resize_row_of<1>(in, axis, out);
    else if (channels == 2) resize_row_of<2>(in, axis, out);
    else if (channels == 3) resize_row_of<3>(in, axis, out);
    else resize_row_of<4>(in, axis, out);
}

/// `n` bytes that lie in the same place of `taps` rows, times weights of one place. The rows have room for 31 more.
inline void resize_column(bool avx2, const std::uint8_t* const* rows, std::size_t taps, const std::int16_t* weights,
                          std::uint8_t* out, std::size_t n) {
    if (avx2) return resize_column_avx2(rows, taps, weights, out, n);
    for (std::size_t i = 0; i < n; i += 16) {
        resize_sum a, b, c, d;
        for (std::size_t k = 0; k < taps; k += 2) {
            const sixteen_bytes one = load_sixteen(rows[k] + i), other = load_sixteen(rows[k + 1] + i);
            const sixteen_bytes lower = interleave_low(one, other), upper = interleave_high(one, other);
            const eight_shorts high = load_shorts(weights + 8 * k), low = load_shorts(weights + 8 * k + 8);
            a.add(widen_low(lower), high, low);
            b.add(widen_high(lower), high, low);
            c.add(widen_low(upper), high, low);
            d.add(widen_high(upper), high, low);
        }
        const sixteen_bytes packed = pack(a.value(), b.value(), c.value(), d.value());
        std::memcpy(out + i, &packed, std::min<std::size_t>(16, n - i));
    }
}

/// A row of a picture with room behind it: where the picture's next rows are not enough, its copy.
class roomy_rows {
public:
    /// `reads`: bytes that are read from the beginning of a row on.
    roomy_rows(const bitmap_view& picture, std::size_t reads) : picture_(picture), reads_(reads) {}
    const std::uint8_t* row(std::size_t y) {
        const std::size_t size = picture_.row_bytes();
        if ((picture_.height - y) * size >= reads_) return picture_.row(y);
        for (std::size_t i = 0; i < copied_.size(); ++i)
            if (places_[i] == y) return copied_[i].data();
        copied_.emplace_back(reads_);
        places_.push_back(y);
        std::memcpy(copied_.back().data(), picture_.row(y), size);
        return copied_.back().data();
    }

private:
    bitmap_view picture_;
    std::size_t reads_;
    std::vector<std::vector<std::uint8_t>> copied_;
    std::vector<std::size_t> places_;
};

inline void resize_rows_first(const bitmap_view& in, const resize_axis& across, const resize_axis& down, bitmap& out) {
    const std::size_t channels = in.channels, taps = down.taps, size = out.width * channels;
    roomy_rows from(in, (across.first.back() + across.taps) * channels + resize_room);
    // As many rows of the first pass as the second one needs at a time: row y lies at y % taps.
    const std::size_t stride = size + resize_room;
    std::vector<std::uint8_t> made(stride * taps);
    std::vector<const std::uint8_t*> rows(taps);
    std::size_t next = 0;
    for (std::size_t y = 0; y < out.height; ++y) {
        const std::size_t first = down.first[y], end = std::min(first + taps, in.height);
        for (next = std::max(next, first); next < end; ++next) {
            std::uint8_t* const to = made.data() + next % taps * stride;
            if (in.width == out.width) std::memcpy(to, in.row(next), size);
            else resize_row(channels, from.row(next), across, to);
        }
        for (std::size_t k = 0; k < taps; ++k)   // a row that is not there has weight 0
            rows[k] = made.data() + std::min(first + k, in.height - 1) % taps * stride;
        resize_column(across.at_once == 2, rows.data(), taps, down.of(y), out.bytes.data() + y * size, size);
    }
}

inline void resize_columns_first(const bitmap_view& in, const resize_axis& across, const resize_axis& down,
                                 bitmap& out) {
    const std::size_t taps = down.taps, size = out.width * in.channels;
    roomy_rows from(in, in.row_bytes() + resize_room);
    std::vector<std::uint8_t> made((across.first.back() + across.taps) * in.channels + in.row_bytes() + resize_room),
        row(size + resize_room);
    std::vector<const std::uint8_t*> rows(taps);
    for (std::size_t y = 0; y < out.height; ++y) {
        for (std::size_t k = 0; k < taps; ++k) rows[k] = from.row(std::min(down.first[y] + k, in.height - 1));
        resize_column(across.at_once == 2, rows.data(), taps, down.of(y), made.data(), in.row_bytes());
        resize_row(in.channels, made.data(), across, row.data());
        std::memcpy(out.bytes.data() + y * size, row.data(), size);
    }
}

/// As resize does, with vectors of AVX2 or without: bytes are the same.
SINTER_SELDOM void resize_by(bool avx2, const bitmap_view& in, std::size_t height, std::size_t width, bitmap& out,
                             interpolation filter) {
    const resize_axis across = make_resize_axis(in.width, width, filter, avx2 ? 2 : 1),
                      down = make_resize_axis(in.height, height, filter, 1);
    out.reshape(height, width, in.channels);
    const bool columns_first = height < in.height && in.height - height + 2 * width > 2 * in.width;
    if (columns_first) resize_columns_first(in, across, down, out);
    else resize_rows_first(in, across, down, out);
}

} // namespace detail

SINTER_SELDOM_BODY extent shorter_side(const bitmap_view& in, std::size_t side) {
    need_picture(in, "shorter_side");
    if (in.height <= in.width) return {side, side * in.width / in.height};
    return {side * in.height / in.width, side};
}

SINTER_SELDOM_BODY void resize(const bitmap_view& in, std::size_t height, std::size_t width, bitmap& out,
                               interpolation filter) {
    need_picture(in, "resize");
    if (height == 0 || width == 0)
        throw data_error("no picture has these extents", "resize", to_text({height, " x ", width}), "at least 1 x 1");
    detail::resize_by(detail::has_avx2(), in, height, width, out, filter);
}
#endif

} // namespace sinter::data::image
