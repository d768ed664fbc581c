// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/data/dataset.hpp>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinter::test {

/// n points of the unit square, each labelled by which of its coordinates is larger.
inline data::dataset points(int n, unsigned seed) {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    random_stream random(seed);
    for (int i = 0; i < n; ++i) {
        const float a = random.uniform(0, 1), b = random.uniform(0, 1);
        x.insert(x.end(), {a, b});
        labels.push_back(a > b);
    }
    return data::dataset(extents(2), std::move(x)).labels(std::move(labels), 2);
}

} // namespace sinter::test
