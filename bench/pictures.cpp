// SPDX-License-Identifier: BSL-1.0
// peers: jpeg
// What pictures cost before a net sees them, as JSON lines: JPEG files of a folder, or two that are made here, decoded,
// and decoded and resized to 224 x 224, on one thread. bench/peers/pictures.py is the same of other libraries, and
// writes such a folder (--write).
#include "options.hpp"
#include <sinter/data/decode/jpeg.hpp>
#include <sinter/data/image/normalize.hpp>
#include <sinter/data/image/resize.hpp>
#include <sinter/io/file.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <vector>

using namespace sinter;

namespace {

constexpr const char* help =
    "pictures [--folder F] [--seconds S] [--threads 1]\n"
    "For S seconds each (default 2): JPEG files of the folder F, or of waves, decoded, and resized; JSON lines.";

double cpu_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A picture of 500 x 375 in which waves of all lengths lie over each other, as a JPEG of quality 90.
std::vector<std::byte> waves(int number) {
    constexpr std::size_t width = 500, height = 375;
    std::vector<std::uint8_t> rgb(width * height * 3);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x)
            for (std::size_t c = 0; c < 3; ++c) {
                double v = 128;
                for (int k = 1; k <= 64; k *= 2)
                    v += 45.0 / std::sqrt(k) * std::sin(k * (0.013 * static_cast<double>(x) + 0.3 * number) + 7.0 * k) *
                        std::cos(k * 0.017 * static_cast<double>(y) + static_cast<double>(c));
                rgb[(y * width + x) * 3 + c] = static_cast<std::uint8_t>(std::clamp(v, 0.0, 255.0));
            }
    jpeg_compress_struct out;
    jpeg_error_mgr errors;
    out.err = jpeg_std_error(&errors);
    jpeg_create_compress(&out);
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&out, &bytes, &size);
    out.image_width = width, out.image_height = height, out.input_components = 3, out.in_color_space = JCS_RGB;
    jpeg_set_defaults(&out);
    jpeg_set_quality(&out, 90, TRUE);
    jpeg_start_compress(&out, TRUE);
    for (std::size_t y = 0; y < height; ++y) {
        JSAMPROW row = rgb.data() + y * width * 3;
        jpeg_write_scanlines(&out, &row, 1);
    }
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    std::vector<std::byte> file(size);
    std::memcpy(file.data(), bytes, size);
    std::free(bytes);
    return file;
}

/// Pictures in a second of the processor, the median of the passes over all of them within so many seconds.
template <class Use>
void time(const char* what, const std::vector<std::vector<std::byte>>& files, double seconds, Use use) {
    std::vector<double> found;
    for (const double began = cpu_seconds(); found.size() < 3 || cpu_seconds() - began < seconds;) {
        const double t0 = cpu_seconds();
        for (const auto& file : files) use(file);
        found.push_back(static_cast<double>(files.size()) / (cpu_seconds() - t0));
    }
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2), found.end());
    std::printf("{\"pictures\": \"%s\", \"system\": \"sinter\", \"threads\": 1, \"images_per_second\": %.1f}\n", what,
                found[found.size() / 2]);
}

} // namespace

int main(int argc, char** argv) {
    double seconds = 2;
    std::string folder;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--seconds") seconds = bench::number(name, value, 0., 3600.);
        else if (name == "--threads") bench::number(name, value, 1, 1);
        else if (name == "--folder") folder = value;
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] {
        std::vector<std::vector<std::byte>> files;
        if (folder.empty()) files = {waves(0), waves(1)};
        else
            for (const auto& entry : std::filesystem::directory_iterator(folder))
                if (entry.path().extension() == ".jpg") files.push_back(io::read_whole_file(entry.path()));
        if (files.empty()) throw io_error("no .jpg file", folder);
        data::bitmap picture, small;
        const data::image::normalization to_floats({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f});
        std::vector<float> row(224 * 224 * 3);
        const auto decode = [&](const std::vector<std::byte>& file) { data::decode_jpeg(file, "a picture", picture); };
        const auto shrink = [&](const std::vector<std::byte>& file) {
            decode(file);
            data::image::resize(picture, 224, 224, small);
        };
        time("decode", files, seconds, decode);
        time("decode_resize", files, seconds, shrink);
        time("decode_resize_normalize", files, seconds, [&](const std::vector<std::byte>& file) {
            shrink(file);
            to_floats(small, row);
        });
        decode(files[0]);
        time("resize", files, seconds, [&](const auto&) { data::image::resize(picture, 224, 224, small); });
        return 0;
    });
}
