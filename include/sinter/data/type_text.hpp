// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/target_namespace.hpp>
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
#include <sinter/base/os/demangled.hpp>
#include <typeinfo>
#endif

namespace sinter::inline SINTER_TARGET::detail {

/// Without the namespace of what this program is compiled for, which members of a job may differ in.
SINTER_COLD inline std::string without_target(std::string name) {
#define SINTER_AS_TEXT_(x) #x
#define SINTER_AS_TEXT(x) SINTER_AS_TEXT_(x)
    const std::string own = to_text({SINTER_AS_TEXT(SINTER_TARGET), "::"});
#undef SINTER_AS_TEXT
#undef SINTER_AS_TEXT_
    for (std::size_t at; (at = name.find(own)) != name.npos;) name.erase(at, own.size());
    return name;
}
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
/// As a program spells it; two lambdas of one function have different ones.
SINTER_COLD inline std::string type_text(const std::type_info& type) {
    return without_target(os::demangled(type.name()));
}
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
SINTER_COLD std::string type_text() {
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
    return type_text(typeid(T));
#else
    return without_target(__PRETTY_FUNCTION__);
#endif
}

} // namespace sinter::detail
