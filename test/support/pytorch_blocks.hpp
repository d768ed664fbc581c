// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "fixtures/pytorch_blocks.hpp"
#include "support/check_op.hpp"

/// PyTorch's numbers against a program's.
namespace sinter::test {

template <int N>
doubles from(const shape& s, const double (&x)[N]) {
    return doubles(extents_with(s, 1), std::vector<double>(x, x + N));
}
template <int N>
void same(const std::vector<float>& got, const double (&want)[N], const char* what) {
    check_close(got, doubles({N}, std::vector<double>(want, want + N)), 1e-5, what);
}

} // namespace sinter::test
