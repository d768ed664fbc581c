// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/fault.hpp>
#include <utility>

/// The one compile error that a fault gives. g++ puts a whole type into its error line only for a
/// deleted function, and prints a string inside it as a string; clang and nvcc print a failed
/// static_assert of a type whose path is a pack of characters. Each compiler gets the form that it
/// shows best.
namespace sinter::inline SINTER_TARGET::compiler {

#if defined(__GNUC__) && !defined(__clang__) && !defined(__EDG__)
#define SINTER_ERROR_AS_STRING 1
template <int N>
struct printed {
    char c[std::size_t{N}];
};
template <printed P>
struct in_op {};
template <printed P>
struct in_layer {};
#else
template <char... C>
struct in_op {};
template <char... C>
struct in_layer {};
#endif
template <int... D>
struct got {};
template <int... D>
struct needed {};

template <fault_kind What, class Where, class Path, class Got, class Needed>
struct model_error {
    static constexpr bool ok = false;
};
struct no_error {
    static constexpr bool ok = true;
};

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::detail {

constexpr int length(const char* c) {
    int n = 0;
    while (c[n]) ++n;
    return n;
}
template <class T, class I>
struct path_of;
template <class T, class I>
struct op_of;
#ifdef SINTER_ERROR_AS_STRING
template <class T, int... I>
struct path_of<T, std::integer_sequence<int, I...>> {
    using type = in_layer<printed<sizeof...(I) + 1>{{T::err.path[I]..., 0}}>;
};
template <class T, int... I>
struct op_of<T, std::integer_sequence<int, I...>> {
    using type = in_op<printed<sizeof...(I) + 1>{{T::err.where.name[I]..., 0}}>;
};
#else
template <class T, int... I>
struct path_of<T, std::integer_sequence<int, I...>> {
    using type = in_layer<T::err.path[I]...>;
};
template <class T, int... I>
struct op_of<T, std::integer_sequence<int, I...>> {
    using type = in_op<T::err.where.name[I]...>;
};
#endif
template <class T, class I>
struct got_of;
template <class T, int... I>
struct got_of<T, std::integer_sequence<int, I...>> {
    using type = got<T::err.got.d[I]...>;
};
template <class T, class I>
struct needed_of;
template <class T, int... I>
struct needed_of<T, std::integer_sequence<int, I...>> {
    using type = needed<T::err.needed.d[I]...>;
};

/// T::err is a fault constant.
template <class T, bool Faulty = T::err.what != fault_kind::none>
struct verdict {
    using type = no_error;
};
template <class T>
struct verdict<T, true> {
    using type =
        model_error<T::err.what, typename op_of<T, std::make_integer_sequence<int, length(T::err.where.name)>>::type,
                    typename path_of<T, std::make_integer_sequence<int, T::err.path_length>>::type,
                    typename got_of<T, std::make_integer_sequence<int, T::err.got.rank>>::type,
                    typename needed_of<T, std::make_integer_sequence<int, T::err.needed.rank>>::type>;
};

} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

#ifdef SINTER_ERROR_AS_STRING
template <class Verdict>
constexpr bool the_model_is_sound(Verdict) {
    return Verdict::ok;
}
template <fault_kind What, class Where, class Path, class Got, class Needed>
constexpr bool the_model_is_sound(model_error<What, Where, Path, Got, Needed>) = delete;
template <class Verdict>
struct check_model {
    static_assert(the_model_is_sound(Verdict{}));
    static constexpr bool value = Verdict::ok;
};
#else
template <class Verdict>
struct check_model {
    static_assert(Verdict::ok, "the model is not sound: see model_error<what, op, layer, got, needed>");
    static constexpr bool value = Verdict::ok;
};
#endif

} // namespace sinter::compiler
