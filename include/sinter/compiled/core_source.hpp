// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What all programs need of the library that those link which define SINTER_SEPARATE_COMPILATION
/// (base/separate_compilation.hpp): all that is neither of several processes nor of servers. Needs neither Boost nor
/// OpenSSL. Source files may include a part each, so that they are compiled at the same time.
#include <sinter/compiled/core_io_source.hpp>
#include <sinter/compiled/core_data_source.hpp>
#include <sinter/compiled/onnx_source.hpp>
#include <sinter/compiled/training_source.hpp>
