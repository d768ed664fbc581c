// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/io/npz/read.hpp>
#include <sinter/io/npz/write.hpp>

/// NumPy's .npz: several arrays under their names in one file, a zip archive of .npy files.
///
///     sinter::npz::write("net.npz", {{"dense/kernel", sinter::npy::dtype::f32, {784, 10}, kernel.data()}});
///     const sinter::npz::file net = sinter::npz::read("net.npz");
///     span<const std::byte> kernel_bytes = net.at("dense/kernel").data;
