// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/data/decode/picture.hpp>
#include <sinter/data/element.hpp>
#include <sinter/data/image/resize.hpp>
#include <sinter/data/source/picture_files.hpp>
#include <sinter/data/stages/stage.hpp>
#include <memory>

/// Folders of JPEG and PNG pictures as pipelines (CMake: sinter::jpeg and sinter::png).
namespace sinter::inline SINTER_ORDINARY::data {

/// A picture of a file, and the number of its class.
struct picture {
    bitmap image;
    std::int32_t label = 0;
    std::string path;
};

class picture_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = picture;
    struct state {};

    picture_stage(std::shared_ptr<const picture_files> files, decode_options o)
        : files_(std::move(files)), options_(o) {}
    const std::vector<std::string>& classes() const { return files_->classes(); }
    std::int64_t size() const { return static_cast<std::int64_t>(files_->files().size()); }
    void begin(state&, std::int64_t) const {}
    picture get(state&, std::int64_t i) const {
        const picture_files::file& f = files_->files()[static_cast<std::size_t>(i)];
        return {read_picture(f.path, options_), f.label, f.path};
    }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const {
        base::fnv1a_hash names;
        const std::size_t before = files_->folder().size();   // which may differ where data were copied to each machine
        for (const picture_files::file& f : files_->files())
            for (std::size_t i = before; i < f.path.size(); ++i) names.add(static_cast<unsigned char>(f.path[i]));
        d.stage("pictures of a folder")("pictures", size())("classes", classes().size())
            ("the files' names (their hash)", names.value())("channels", static_cast<int>(options_.to));
    }

private:
    std::shared_ptr<const picture_files> files_;
    decode_options options_;
};

/// All pictures below a folder that has a folder for each class (data/source/picture_files.hpp), each decoded when it
/// is asked for, of its own extents; classes() of the result has the classes' names.
///
///     auto train = data::pictures("flowers") | data::shuffle()
///                | data::map([](const data::picture& p) {
///                      return sample{data::resized<224, 224, 3>(p.image), p.label};
///                  })
///                | data::batch(32) | data::parallel(8);
///
/// data/image/ has what a map may do to them. Errors of a picture (decode_picture) name its file; ignore_errors() right
/// behind leaves such files out.
inline picture_stage pictures(std::string folder, decode_options o = {}) {
    return {std::make_shared<const picture_files>(std::move(folder)), o};
}

/// A picture of H x W x C as it is. data_error for other extents.
template <int H, int W, int C>
pixels<H, W, C> as_pixels(const bitmap_view& in) {
    if (in.height != std::size_t{H} || in.width != std::size_t{W} || in.channels != std::size_t{C})
        throw data_error("a picture has other extents", "as_pixels",
                         to_text({in.height, " x ", in.width, " x ", in.channels}), to_text({H, " x ", W, " x ", C}));
    pixels<H, W, C> p;
    std::memcpy(p.bytes.data(), in.bytes, p.bytes.size());
    return p;
}
/// A picture resized to H x W (image::resize). data_error for another number of channels than C.
template <int H, int W, int C>
pixels<H, W, C> resized(const bitmap_view& in, image::interpolation filter = image::interpolation::bilinear) {
    return as_pixels<H, W, C>(image::resize(in, std::size_t{H}, std::size_t{W}, filter));
}

} // namespace sinter::data
