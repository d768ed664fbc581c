// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <utility>
#include <vector>

namespace sinter {

/// Sorts what is too little to wait for: names of a file's tensors, say. (Shell's sort, a tenth of the code of std::sort. The
/// gaps are Gonnet's.)
template <class T, class Less>
SINTER_COLD void sort_few(std::vector<T>& v, Less less) {
    for (std::size_t gap = v.size(); gap > 1;) {
        gap = gap < 5 ? 1 : (gap * 5 - 1) / 11;
        for (std::size_t i = gap; i < v.size(); ++i)
            for (std::size_t j = i; j >= gap && less(v[j], v[j - gap]); j -= gap) std::swap(v[j], v[j - gap]);
    }
}

} // namespace sinter
