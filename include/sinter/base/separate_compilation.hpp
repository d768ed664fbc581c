// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

/// Ordinary code is what no model's type changes: files, data, connections, servers, the loop of training. It may be
/// compiled once: the files of a program define SINTER_SEPARATE_COMPILATION and see declarations; a library (CMake:
/// sinter::compiled), or one source file that includes <sinter/compiled_source.hpp>, has the functions. Otherwise all
/// of it is in the headers, as everything else of Sinter.
///
/// SINTER_BODIES says whether a file has the functions' bodies. SINTER_APART stands before each function that may be
/// compiled apart, where it is declared and where it is defined. Several source files of the library may include one
/// body: the linker keeps one of them. `used` has g++ compile inline functions that nothing there calls. It has clang
/// compile all of these but constructors and destructors, so there they are weak.
///
/// Of an inline function all templates that it uses are compiled, whether it is called or not. So those functions that
/// many programs do not call are templates themselves where all is in headers, and cost what parsing them costs:
/// SINTER_SELDOM stands before such a function's declaration in place of SINTER_APART, SINTER_SELDOM_BODY before its
/// definition. Attributes such as SINTER_COLD stand at the declaration: at a template's definition they have no effect.
#include <sinter/base/separate_compilation_macros.hpp>
