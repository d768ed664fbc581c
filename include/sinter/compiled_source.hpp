// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What one file of a program includes whose other files define SINTER_SEPARATE_COMPILATION, as this one does: the whole
/// library (base/separate_compilation.hpp). A program that needs no Boost and OpenSSL takes the parts that it needs, each
/// in a file of its own: compiled/core_source.hpp, distributed_source.hpp, parameter_server_source.hpp. CMake's targets
/// sinter::compiled and others have such files.
#include <sinter/compiled/core_source.hpp>
#include <sinter/compiled/distributed_source.hpp>
#include <sinter/compiled/parameter_server_source.hpp>
