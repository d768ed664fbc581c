// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/npy/read.hpp>
#include <sinter/io/npy/write.hpp>

/// NumPy's .npy (numpy.org/doc/stable/reference/generated/numpy.lib.format.html): one array in one
/// file.
///
///     sinter::npy::write("x.npy", sinter::npy::dtype::f32, {2, 3}, x.data());
///     const sinter::npy::array x = sinter::npy::read("x.npy");
