// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/io/safetensors/check_matches.hpp>
#include <sinter/io/safetensors/elements.hpp>
#include <sinter/io/safetensors/read.hpp>
#include <sinter/io/safetensors/write.hpp>

/// safetensors (github.com/huggingface/safetensors): named tensors and free text in one file.
///
///     namespace st = sinter::safetensors;
///     st::write("net.safetensors", {{"dense/kernel", st::dtype::f32, {784, 10}, kernel.data()}}, {{"step", "100"}});
///     st::file saved = st::read("net.safetensors");
///     st::check_matches({{"dense/kernel", st::dtype::f32, {784, 10}}}, saved);
///     span<const std::byte> kernel_bytes = saved.at("dense/kernel").data;
///     std::vector<float> kernel = saved.at("dense/kernel").as<float>();   // of any type: converted_elements()
