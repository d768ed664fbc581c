// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

/// Structs taken apart without a macro: how many fields one has, their types and names, and the fields themselves.
///
///     struct passenger { float age; std::array<float, 3> fares; std::string name; };
///
///     base::field_count<passenger>        // 3: an array is one field
///     base::field_name<passenger, 1>      // "fares"
///     base::for_each_field(p, [](std::string_view name, auto& field) { ... });
///
/// Such a struct has no constructors, no base classes and no private members (C++ calls it an aggregate). Each of its
/// fields has a value by default, as references and std::span of fixed extent have not. Bit fields have no address and
/// do not compile.
namespace sinter::base {

/// The most fields that a struct may have.
inline constexpr int most_fields = 64;

/// Names for the fields of T in place of those that its definition has:
///
///     template <>
///     inline constexpr std::array<std::string_view, 2> sinter::base::names_of_fields<point>{"longitude", "latitude"};
///
/// It is also the way out where a compiler writes names in a form that field_name does not know.
template <class T>
inline constexpr int names_of_fields = 0;

namespace fields_parts {

/// In a list of initialisers it stands for a base class of T, and for nothing else.
template <class T>
struct any_base {
    template <class Base>
        requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
    operator Base() const;
};

// Whether a T can be made of N times `{}`. Each begins one field, so that the elements of an array are not counted one
// by one. There may be fewer than there are fields.
#define SINTER_TAKES(n, ...) else if constexpr (N == (n)) return requires { T{__VA_ARGS__}; };
#define SINTER_TAKES_8(n, ...)                                                                                        \
    SINTER_TAKES(n + 1, __VA_ARGS__{})                                                                                \
    SINTER_TAKES(n + 2, __VA_ARGS__{}, {})                                                                            \
    SINTER_TAKES(n + 3, __VA_ARGS__{}, {}, {})                                                                        \
    SINTER_TAKES(n + 4, __VA_ARGS__{}, {}, {}, {})                                                                    \
    SINTER_TAKES(n + 5, __VA_ARGS__{}, {}, {}, {}, {})                                                                \
    SINTER_TAKES(n + 6, __VA_ARGS__{}, {}, {}, {}, {}, {})                                                            \
    SINTER_TAKES(n + 7, __VA_ARGS__{}, {}, {}, {}, {}, {}, {})                                                        \
    SINTER_TAKES(n + 8, __VA_ARGS__{}, {}, {}, {}, {}, {}, {}, {})
#define SINTER_8 {}, {}, {}, {}, {}, {}, {}, {},
template <class T, int N>
consteval bool takes() {
    if constexpr (N == 0) return requires { T{}; };
    SINTER_TAKES_8(0)
    SINTER_TAKES_8(8, SINTER_8)
    SINTER_TAKES_8(16, SINTER_8 SINTER_8)
    SINTER_TAKES_8(24, SINTER_8 SINTER_8 SINTER_8)
    SINTER_TAKES_8(32, SINTER_8 SINTER_8 SINTER_8 SINTER_8)
    SINTER_TAKES_8(40, SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8)
    SINTER_TAKES_8(48, SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8)
    SINTER_TAKES_8(56, SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8)
    else return requires { T{SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8 SINTER_8 {}}; };
}
#undef SINTER_8
#undef SINTER_TAKES_8
#undef SINTER_TAKES

/// The largest N in [Low, High) that T takes, for a T that takes Low, and not High.
template <class T, int Low = 0, int High = most_fields + 1>
consteval int count() {
    if constexpr (High - Low == 1) {
        return Low;
    } else {
        constexpr int middle = Low + (High - Low) / 2;
        if constexpr (takes<T, middle>()) return count<T, middle, High>();
        else return count<T, Low, middle>();
    }
}

template <class T>
consteval int checked_count() {
    static_assert(!std::is_class_v<T> || std::is_aggregate_v<T>,
                  "a struct that is taken apart has no constructors and no private members");
    static_assert(std::is_class_v<T>, "what is taken apart is a struct");
    if constexpr (std::is_aggregate_v<T>) {
        constexpr bool derived = requires { T{any_base<T>{}}; };
        static_assert(!derived, "a struct that is taken apart has no base classes");
        static_assert(takes<T, 0>(), "each field of a struct that is taken apart has a value by default: a reference "
                                     "and a std::span of fixed extent have none");
        static_assert(!takes<T, most_fields + 1>(), "a struct that is taken apart has at most 64 fields");
        if constexpr (!derived && takes<T, 0>() && !takes<T, most_fields + 1>()) return count<T>();
    }
    return 0;
}

} // namespace fields_parts

template <class T>
inline constexpr int field_count = fields_parts::checked_count<std::remove_const_t<T>>();

/// f(fields...) with references to all fields of `v`, and what it returns.
template <class T, class F>
constexpr decltype(auto) with_fields(T& v, F&& f) {
    constexpr int n = field_count<T>;
    // g++ has no names for bindings but those that are written down.
#define SINTER_BIND(k, ...) else if constexpr (n == (k)) { auto& [__VA_ARGS__] = v; return f(__VA_ARGS__); }
#define SINTER_BIND_8(k, p, ...)                                                                                      \
    SINTER_BIND(k + 1, __VA_ARGS__ p##0)                                                                              \
    SINTER_BIND(k + 2, __VA_ARGS__ p##0, p##1)                                                                        \
    SINTER_BIND(k + 3, __VA_ARGS__ p##0, p##1, p##2)                                                                  \
    SINTER_BIND(k + 4, __VA_ARGS__ p##0, p##1, p##2, p##3)                                                            \
    SINTER_BIND(k + 5, __VA_ARGS__ p##0, p##1, p##2, p##3, p##4)                                                      \
    SINTER_BIND(k + 6, __VA_ARGS__ p##0, p##1, p##2, p##3, p##4, p##5)                                                \
    SINTER_BIND(k + 7, __VA_ARGS__ p##0, p##1, p##2, p##3, p##4, p##5, p##6)                                          \
    SINTER_BIND(k + 8, __VA_ARGS__ p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7)
#define SINTER_8(p) p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7,
    if constexpr (n == 0) return f();
    SINTER_BIND_8(0, a)
    SINTER_BIND_8(8, b, SINTER_8(a))
    SINTER_BIND_8(16, c, SINTER_8(a) SINTER_8(b))
    SINTER_BIND_8(24, d, SINTER_8(a) SINTER_8(b) SINTER_8(c))
    SINTER_BIND_8(32, e, SINTER_8(a) SINTER_8(b) SINTER_8(c) SINTER_8(d))
    SINTER_BIND_8(40, g, SINTER_8(a) SINTER_8(b) SINTER_8(c) SINTER_8(d) SINTER_8(e))
    SINTER_BIND_8(48, h, SINTER_8(a) SINTER_8(b) SINTER_8(c) SINTER_8(d) SINTER_8(e) SINTER_8(g))
    SINTER_BIND_8(56, i, SINTER_8(a) SINTER_8(b) SINTER_8(c) SINTER_8(d) SINTER_8(e) SINTER_8(g) SINTER_8(h))
#undef SINTER_8
#undef SINTER_BIND_8
#undef SINTER_BIND
}

namespace fields_parts {

template <int I, class First, class... Rest>
constexpr auto& pick(First& first, Rest&... rest) {
    if constexpr (I == 0) return first;
    else return pick<I - 1>(rest...);
}

} // namespace fields_parts

/// Field I of `v`.
template <int I, class T>
constexpr auto& field(T& v) {
    static_assert(0 <= I && I < field_count<T>, "the struct has no field of this number");
    return with_fields(v, [](auto&... all) -> auto& { return fields_parts::pick<I>(all...); });
}

/// The type of field I of T, an array's as it is declared.
template <class T, int I>
using field_type = std::remove_reference_t<decltype(field<I>(std::declval<T&>()))>;

namespace fields_parts {

// The name of a field is in the text of a function whose template argument is the field's address, in an object that is
// declared and never made. g++ 12 ends it so: `...{(& object<S>.holder<S>::value.S::name)}]`, and clang 14 so:
// `...{&object.value.name}]`.
template <class T>
struct holder { T value; };
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T>
extern const holder<T> object;
/// clang 14 takes no address within an object as a template argument but within a struct.
template <class P>
struct address { P p; };
template <class P>
address(P) -> address<P>;
template <class T, address A>
consteval std::string_view text() { return __PRETTY_FUNCTION__; }

constexpr bool is_of_name(char c) {
    return c == '_' || c == '$' || ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
}

template <class T, int I>
consteval std::string_view name() {
    if constexpr (!std::is_same_v<std::remove_cv_t<decltype(names_of_fields<T>)>, int>) {
        static_assert(names_of_fields<T>.size() == field_count<T>, "names_of_fields has one name for each field");
        return names_of_fields<T>[I];
    } else {
        constexpr auto at = &field<I>(object<T>.value);
        constexpr std::string_view all = text<T, address{at}>();
        std::size_t end = all.rfind('}');
        while (end > 0 && !is_of_name(all[end - 1]) && all[end - 1] != ']') --end;
        if (end > 0 && all[end - 1] == ']') end = all.rfind('[', end);   // of an array's first element
        std::size_t begin = end;
        while (begin > 0 && is_of_name(all[begin - 1])) --begin;
        return all.substr(begin, end - begin);
    }
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

} // namespace fields_parts

/// The name of field I of T.
template <class T, int I>
inline constexpr std::string_view field_name = fields_parts::name<std::remove_const_t<T>, I>();

/// f(name, field) for each field in order.
template <class T, class F>
constexpr void for_each_field(T& v, F&& f) {
    with_fields(v, [&](auto&... all) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (static_cast<void>(f(field_name<T, static_cast<int>(I)>, all)), ...);
        }(std::make_index_sequence<sizeof...(all)>{});
    });
}

} // namespace sinter::base
