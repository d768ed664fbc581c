// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of core_source.hpp: how ONNX files are written. It is the one part that reads the target's headers, those of
/// ops, whose attributes it must know by name; nothing that it takes from there depends on the target.
#if defined(SINTER_SEPARATE_COMPILATION) && defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/onnx_source.hpp comes first in a file of its own"
#endif
#include <sinter/compiled/core_io_headers.hpp>
#include <sinter/train/trainer_state.hpp>

#include <sinter/compiled/bodies_from_here.hpp>

#include <sinter/train/export_onnx.hpp>
