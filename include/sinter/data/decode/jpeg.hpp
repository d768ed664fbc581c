// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/decode/options.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#include <sinter/io/file.hpp>
#include <csetjmp>
#include <cstdio>   // jpeglib.h needs it

#include <jpeglib.h>

#include <jerror.h>

/// JPEG through libjpeg-turbo (CMake: sinter::jpeg).
///
/// libjpeg reports a fault by a function that must not return. It is C: whether its frames can be unwound depends on
/// how it was built, so an exception through them may end the program. So that function jumps back, and only over
/// frames of libjpeg: each call of it is in a function of its own that has no local object with a destructor and asks
/// for no memory. Exceptions are thrown when that function has returned.
namespace sinter::inline SINTER_ORDINARY::data {

namespace detail {

/// What libjpeg knows of one file while it is decoded.
struct jpeg_state {
    jpeg_decompress_struct picture{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf back;
    int max_scans;
    char message[JMSG_LENGTH_MAX] = "";

    explicit jpeg_state(int scans) : max_scans(scans) {
        picture.err = jpeg_std_error(&errors);
        picture.client_data = this;
        errors.error_exit = fail;
        errors.emit_message = hear;
        errors.output_message = [](j_common_ptr) {};
        progress.progress_monitor = watch;
    }
    jpeg_state(const jpeg_state&) = delete;
    ~jpeg_state() { jpeg_destroy_decompress(&picture); }   // also where none was created

    [[noreturn]] static void fail(j_common_ptr c) {
        auto& self = *static_cast<jpeg_state*>(c->client_data);
        c->err->format_message(c, self.message);
        std::longjmp(self.back, 1);
    }
    /// Warnings that say that pixels are missing or wrong are faults. Others, as of bytes between two parts of a file,
    /// are not: many sets have such files, and all other readers take them.
    static void hear(j_common_ptr c, int level) {
        if (level >= 0) return;
        const int code = c->err->msg_code;
        if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC)
            fail(c);
    }
    static void watch(j_common_ptr c) {
        auto& self = *static_cast<jpeg_state*>(c->client_data);
        if (self.picture.input_scan_number <= self.max_scans) return;
        std::snprintf(self.message, sizeof self.message, "more than %d scans", self.max_scans);
        std::longjmp(self.back, 1);
    }
};

/// Reads all that comes before the first pixel. False: `message` says what is wrong.
[[gnu::noinline]] inline bool read_jpeg_header(jpeg_state& state, const unsigned char* bytes, unsigned long n) {
    if (setjmp(state.back)) return false;
    jpeg_create_decompress(&state.picture);
    state.picture.progress = &state.progress;
    jpeg_mem_src(&state.picture, bytes, n);
    jpeg_read_header(&state.picture, TRUE);
    return true;
}

/// Reads all rows, `stride` bytes apart. False: `message` says what is wrong.
[[gnu::noinline]] inline bool read_jpeg_rows(jpeg_state& state, unsigned char* to, std::size_t stride) {
    if (setjmp(state.back)) return false;
    jpeg_decompress_struct& picture = state.picture;
    jpeg_start_decompress(&picture);
    while (picture.output_scanline < picture.output_height) {
        constexpr JDIMENSION most = 8;
        JSAMPROW rows[most];
        JDIMENSION n = 0;
        for (; n < most && picture.output_scanline + n < picture.output_height; ++n)
            rows[n] = to + stride * (picture.output_scanline + n);
        if (jpeg_read_scanlines(&picture, rows, n) == 0) return false;   // it would wait for more bytes: never here
    }
    jpeg_finish_decompress(&picture);
    return true;
}

} // namespace detail

/// Decodes one JPEG, baseline or progressive, of grey, YCbCr or RGB, into `out`, whose memory is used again. Pixels are
/// those of Pillow: the accurate integer transform (ISLOW), chroma interpolated ("fancy upsampling"). options.to says
/// the channels; grey of a colour file is made of its RGB (data/image/channels.hpp), not taken from its Y. The EXIF
/// orientation is not applied: a file that says "turn me" comes as its pixels lie. Colour profiles are not applied.
///
/// `name` is what errors call the file. Throws format_error where the bytes are no JPEG; where they end early or the
/// compressed data is damaged, which libjpeg only warns of; for CMYK and YCCK (convert such files first), arithmetic
/// coding, 12 bits; for more than options.max_pixels or options.max_scans; and where the header promises more blocks
/// than the file has bits. The last is checked, as are the pixels, before memory is asked for. `out` is then
/// unspecified.
inline void decode_jpeg(span<const std::byte> bytes, std::string_view name, bitmap& out,
                        const decode_options& options = {}) {
    detail::jpeg_state state(options.max_scans);
    const jpeg_decompress_struct& picture = state.picture;
    if (!detail::read_jpeg_header(state, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
        throw format_error("not a JPEG that can be read", name, state.message, "a valid JPEG");
    const std::uint64_t count = std::uint64_t{picture.image_width} * picture.image_height;
    if (count > options.max_pixels)
        throw format_error("JPEG is too large", name,
                           to_text({picture.image_width, " x ", picture.image_height, " pixels"}),
                           to_text({"at most ", options.max_pixels, " pixels"}));
    const J_COLOR_SPACE stored = picture.jpeg_color_space;
    if (stored != JCS_GRAYSCALE && stored != JCS_YCbCr && stored != JCS_RGB)
        throw format_error("JPEG has colours that are not read", name,
                           stored == JCS_CMYK || stored == JCS_YCCK
                               ? std::string(stored == JCS_CMYK ? "CMYK" : "YCCK")
                               : to_text({picture.num_components, " channels of no known meaning"}),
                           "grey, YCbCr or RGB");
    // It is hardly used, and needs less than a bit for a block, so that the next check says nothing.
    if (picture.arith_code) throw format_error("JPEG is not read", name, "arithmetic coding", "Huffman coding");
    std::uint64_t blocks = 0;
    for (int c = 0; c < picture.num_components; ++c)
        blocks += std::uint64_t{picture.comp_info[c].width_in_blocks} * picture.comp_info[c].height_in_blocks;
    if (blocks / 8 > bytes.size())   // the shortest code of a block is one bit
        throw format_error("JPEG is damaged or cut short", name, to_text({bytes.size(), " bytes"}),
                           to_text({"at least a bit for each of ", blocks, " blocks"}));
    const bool grey = stored == JCS_GRAYSCALE && options.to != colours::rgb;
    state.picture.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    state.picture.dct_method = JDCT_ISLOW;
    state.picture.do_fancy_upsampling = TRUE;
    out.reshape(picture.image_height, picture.image_width, grey ? 1 : 3);
    if (!detail::read_jpeg_rows(state, out.bytes.data(), out.width * out.channels))
        throw format_error("JPEG is damaged or cut short", name, state.message, "a valid JPEG");
    if (options.to == colours::grey) image::to_grey(out);
}

/// The same as a value.
inline bitmap decode_jpeg(span<const std::byte> bytes, std::string_view name, const decode_options& options = {}) {
    bitmap out;
    decode_jpeg(bytes, name, out, options);
    return out;
}

/// Reads the JPEG file at `path`; throws io_error where it cannot be read, and as decode_jpeg does.
inline bitmap read_jpeg(const std::string& path, const decode_options& options = {}) {
    return decode_jpeg(io::read_whole_file(path), path, options);
}

} // namespace sinter::data
