// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string>
#if SINTER_BODIES
#include <cstddef>
#include <cstdlib>
#endif

namespace sinter::base::inline os {

/// Of the C++ run-time library (Itanium C++ ABI, section 3.4), as <cxxabi.h> has it: 600 lines for this one.
extern "C" char* __cxa_demangle(const char* mangled, char* buffer, std::size_t* length, int* status);

/// A type's name as a program spells it, of what std::type_info::name() says; that itself where it cannot be read.
SINTER_SELDOM SINTER_COLD std::string demangled(const char* name);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string demangled(const char* name) {
    int status = 0;
    char* const plain = __cxa_demangle(name, nullptr, nullptr, &status);
    const std::string spelled = plain ? plain : name;
    std::free(plain);
    return spelled;
}
#endif

} // namespace sinter::base::os
