// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "dataset.hpp"
#include <sinter/io/npz.hpp>

namespace example {

/// Training images x [N, 28, 28, 1] and their classes y [N], as numpy.load() reads them.
inline void write_images(const dataset& images, const std::string& file) {
    using sinter::npy::dtype;
    const std::int64_t n = images.train.size();
    sinter::npz::write(file,
                       {{"x", dtype::f32, {n, 28, 28, 1}, images.train.x().data()},
                        {"y", dtype::i32, {n}, images.train.labels().data()}},
                       sinter::npz::compression::deflate);
    std::printf("Wrote %lld images to %s.\n", static_cast<long long>(n), file.c_str());
}

} // namespace example
