// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/description.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <string_view>
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
#include <sinter/base/os/demangled.hpp>
#include <typeinfo>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// Without the namespaces of what a program is compiled for (base/target_namespace.hpp), in which members of a job may
/// differ: `sinter::avx2_8::` and `sinter::ordinary::` are `sinter::`.
SINTER_SELDOM SINTER_COLD std::string without_target(std::string name);
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
/// As a program spells it; two lambdas of one function have different ones.
SINTER_SELDOM SINTER_COLD std::string type_text(const std::type_info& type);
#endif
/// The name of an object's class.
template <class T>
SINTER_COLD std::string class_text([[maybe_unused]] const T& x) {
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
    return type_text(typeid(x));
#else
    return without_target(__PRETTY_FUNCTION__);
#endif
}
/// The name of a type, the same in all processes of a job: what can be said of a user's function.
template <class T>
SINTER_COLD name_in_code type_text() {
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
    return {type_text(typeid(T))};
#else
    return {without_target(__PRETTY_FUNCTION__)};
#endif
}

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string without_target(std::string name) {
    static constexpr std::string_view in = "sinter::", ordinary = "ordinary";
    for (std::size_t at = 0; (at = name.find(in, at)) != name.npos;) {
        at += in.size();
        const std::size_t end = name.find("::", at);
        if (end == name.npos) break;
        const std::string_view one = std::string_view(name).substr(at, end - at);
        const std::size_t digits = one.find_last_not_of("0123456789") + 1;
        const bool target = digits < one.size() && digits > 0 && one[digits - 1] == '_';   // the number of parts
        if (target || one.starts_with(ordinary)) name.erase(at, end + 2 - at);
    }
    return name;
}

SINTER_SELDOM_BODY std::string type_text(const std::type_info& type) {
    return without_target(base::os::demangled(type.name()));
}
#endif

} // namespace sinter::data
