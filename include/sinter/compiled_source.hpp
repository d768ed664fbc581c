// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The whole library of ordinary code (base/separate_compilation.hpp): one file of a program includes it, and all files
/// define SINTER_SEPARATE_COMPILATION. A program without Boost and OpenSSL takes the parts that it needs, in a file or
/// in several: compiled/core_source.hpp, distributed_source.hpp, parameter_server_source.hpp. CMake's targets
/// sinter::compiled and others have such files.
#include <sinter/compiled/core_source.hpp>
#include <sinter/compiled/distributed_source.hpp>
#include <sinter/compiled/parameter_server_source.hpp>
