// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/dataset.hpp>
#if SINTER_BODIES
#include <sinter/base/to_text.hpp>
#include <sinter/io/idx.hpp>
#include <limits>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// Images of an IDX file of bytes, [n, height, width] or [n, height, width, channels], as pixels:
/// floats in [0, 1] to a net, NHWC. io_error and format_error as io::read_idx; data_error if the
/// file holds something else than images.
SINTER_SELDOM SINTER_COLD dataset idx(const std::string& images_path);

/// Images with their labels, an IDX file of bytes [n]. Errors as above, and data_error if the two
/// files disagree in the number of examples or a label is not in [0, classes) (0: any).
SINTER_SELDOM SINTER_COLD dataset idx(const std::string& images_path, const std::string& labels_path, int classes = 0);

#if SINTER_BODIES
SINTER_SELDOM_BODY dataset idx(const std::string& images_path) {
    io::idx_array file = io::read_idx(images_path, [&](const io::idx_array& header) {
        std::string got;
        for (std::int64_t e : header.extents) got += to_text({got.empty() ? "" : " x ", e});
        bool usable = header.type == io::idx_type::u8 && (header.extents.size() == 3 || header.extents.size() == 4);
        std::int64_t numbers = 1;   // in an image
        for (std::size_t i = 1; usable && i < header.extents.size(); ++i) {
            const std::int64_t e = header.extents[i];
            usable = e > 0 && e <= std::numeric_limits<int>::max() / numbers;
            numbers *= usable ? e : 1;
        }
        if (!usable)
            throw data_error("not a file of images", images_path,
                             to_text({got, header.type == io::idx_type::u8 ? "" : ", not bytes"}),
                             "bytes, n x height x width (x channels)");
    });
    const auto extent = [&](std::size_t i) { return i < file.extents.size() ? static_cast<int>(file.extents[i]) : 1; };
    return dataset().pixels(extents(extent(1), extent(2), extent(3)), std::move(file.bytes));
}

SINTER_SELDOM_BODY dataset idx(const std::string& images_path, const std::string& labels_path, int classes) {
    dataset set = idx(images_path);
    // Before they are read: of gzipped zeros a few bytes make gigabytes.
    const io::idx_array file = io::read_idx(labels_path, [&](const io::idx_array& header) {
        if (header.type != io::idx_type::u8 || header.extents.size() != 1)
            throw data_error("not a file of labels", labels_path, to_text({header.extents.size(), " extents"}),
                             "bytes, one extent");
        if (header.extents[0] != set.size())
            throw data_error("as many labels as images are needed", labels_path,
                             to_text({header.extents[0], " labels"}), to_text({set.size(), ", as in ", images_path}));
    });
    std::vector<std::int32_t> labels(file.bytes.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = std::to_integer<std::int32_t>(file.bytes[i]);
        if (classes > 0 && labels[i] >= classes)
            throw data_error("label out of range", to_text({labels_path, ", label ", i}), to_text({labels[i]}),
                             to_text({"0 to ", classes - 1}));
    }
    return set.labels(std::move(labels));
}
#endif

} // namespace sinter::data
