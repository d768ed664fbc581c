// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/decode/options.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#include <sinter/io/png.hpp>
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

/// PNG as 8-bit channels, through libpng's interface of rows (CMake: sinter::png). io/png.hpp reads PNG as grey floats.
/// libpng reports faults as libjpeg does, and is kept apart from exceptions in the same way (data/decode/jpeg.hpp).
namespace sinter::inline SINTER_ORDINARY::data {

namespace detail {

/// What libpng knows of one file while it is decoded.
struct png_state {
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::jmp_buf back;
    const std::byte* at;
    std::size_t left;
    std::size_t channels = 0;
    int passes = 1;   ///< 7 of an interlaced picture
    char message[128] = "not enough memory";

    explicit png_state(span<const std::byte> bytes) : at(bytes.data()), left(bytes.size()) {}
    png_state(const png_state&) = delete;
    ~png_state() { png_destroy_read_struct(&png, &info, nullptr); }

    [[noreturn]] static void fail(png_structp p, png_const_charp what) {
        auto& self = *static_cast<png_state*>(png_get_error_ptr(p));
        std::snprintf(self.message, sizeof self.message, "%s", what);
        std::longjmp(self.back, 1);
    }
    static void take(png_structp p, png_bytep to, std::size_t n) {
        auto& self = *static_cast<png_state*>(png_get_io_ptr(p));
        if (n > self.left) fail(p, "the end of the file");
        std::memcpy(to, self.at, n);
        self.at += n, self.left -= n;
    }
};

/// Reads all that comes before the first pixel. False: `message` says what is wrong.
[[gnu::noinline]] inline bool read_png_header(png_state& state) {
    if (setjmp(state.back)) return false;
    state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, png_state::fail, [](png_structp, const char*) {});
    if (!state.png) return false;
    state.info = png_create_info_struct(state.png);
    if (!state.info) return false;
    png_set_read_fn(state.png, &state, png_state::take);
    png_read_info(state.png, state.info);
    return true;
}

/// Asks for 8-bit channels: palettes as their colours, 1, 2 and 4 bits of grey spread over 0 to 255, one transparent
/// colour as alpha, of 16 bits the upper eight.
[[gnu::noinline]] inline bool start_png_rows(png_state& state) {
    if (setjmp(state.back)) return false;
    png_set_expand(state.png);
    png_set_strip_16(state.png);
    state.passes = png_set_interlace_handling(state.png);
    png_read_update_info(state.png, state.info);
    state.channels = png_get_channels(state.png, state.info);
    return true;
}

/// Reads all rows, `stride` bytes apart, and what follows them. False: `message` says what is wrong.
[[gnu::noinline]] inline bool read_png_rows(png_state& state, std::uint8_t* to, std::size_t height,
                                            std::size_t stride) {
    if (setjmp(state.back)) return false;
    for (int pass = 0; pass < state.passes; ++pass)
        for (std::size_t y = 0; y < height; ++y) png_read_row(state.png, to + y * stride, nullptr);
    png_read_end(state.png, nullptr);
    return true;
}

} // namespace detail

/// Decodes one PNG, of any colour type and depth, into `out`, whose memory is used again. As stored, channels are grey,
/// grey and alpha, RGB or RGBA; palettes give RGB, and RGBA where they have transparency; one colour that the file
/// calls transparent becomes an alpha of 0, all others 255. Grey of 1, 2 or 4 bits is spread over 0 to 255. Of 16 bits
/// the upper eight are taken, as Pillow and TensorFlow do. With colours::grey and colours::rgb alpha is dropped, and
/// transparent parts have the colour that the file says; io/png.hpp lays them on black instead. Gamma (gAMA, sRGB,
/// cHRM) and profiles (iCCP) are not applied: bytes are as stored, which is what Pillow, torchvision and TensorFlow
/// give.
///
/// `name` is what errors call the file. Throws format_error where the bytes are no valid PNG or end before the last
/// chunk; for more than options.max_pixels, or than io::most_png_pixels; and where a length is beyond what the file
/// holds. That is checked before memory is asked for. `out` is then unspecified.
inline void decode_png(span<const std::byte> bytes, std::string_view name, bitmap& out,
                       const decode_options& options = {}) {
    const std::vector<std::byte> chunks = io::detail::needed_chunks(bytes, name);
    detail::png_state state(chunks);
    const auto refuse = [&](const char* what) { throw format_error(what, name, state.message, "a valid PNG"); };
    if (!detail::read_png_header(state)) refuse("not a PNG that can be read");
    const std::uint64_t width = png_get_image_width(state.png, state.info),
                        height = png_get_image_height(state.png, state.info),
                        most = std::min(options.max_pixels, io::most_png_pixels);
    if (width * height > most)   // both below 2^31
        throw format_error("PNG is too large", name, to_text({width, " x ", height, " pixels"}),
                           to_text({"at most ", most, " pixels"}));
    if (!detail::start_png_rows(state)) refuse("PNG is damaged or cut short");
    out.reshape(height, width, state.channels);
    if (png_get_rowbytes(state.png, state.info) != out.width * out.channels)
        throw format_error("PNG is not read", name, to_text({state.channels, " channels of another depth"}),
                           "8-bit channels");
    if (!detail::read_png_rows(state, out.bytes.data(), out.height, out.width * out.channels))
        refuse("PNG is damaged or cut short");
    if (options.to == colours::grey) image::to_grey(out);
    if (options.to == colours::rgb) image::to_rgb(out);
}

/// The same as a value.
inline bitmap decode_png(span<const std::byte> bytes, std::string_view name, const decode_options& options = {}) {
    bitmap out;
    decode_png(bytes, name, out, options);
    return out;
}

/// Reads the PNG file at `path`; throws io_error where it cannot be read, and as decode_png does.
inline bitmap read_png(const std::string& path, const decode_options& options = {}) {
    return decode_png(io::read_whole_file(path), path, options);
}

} // namespace sinter::data
