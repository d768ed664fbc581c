// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/fields.hpp>
#include <sinter/data/shares_of_bytes.hpp>
#include <sinter/graph/shape.hpp>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

/// What a pipeline's elements are made of. An element is a number, an array, pixels, a struct of these, or a tuple of
/// them:
///
///     struct sample { std::array<float, 3> x; std::int32_t rich; };
///     struct picture { data::pixels<28, 28> image; int digit; data::extra<std::string> file; };
///
/// A struct within a struct stands for its fields. Structs are as base/fields.hpp says: without constructors, base
/// classes and private members, of up to 64 fields that have values by default.
namespace sinter::inline SINTER_ORDINARY::data {

/// A picture of bytes, row by row, each pixel's C numbers together. In a batch they are floats, each byte / 255.
template <int H, int W, int C = 1>
struct pixels {
    static_assert(H > 0 && W > 0 && C > 0, "pixels<H, W, C>: extents are positive");
    std::array<std::uint8_t, static_cast<std::size_t>(H) * W * C> bytes{};

    static constexpr int height = H, width = W, channels = C;
    constexpr std::uint8_t& operator()(int row, int column, int channel = 0) {
        return bytes[static_cast<std::size_t>((row * W + column) * C + channel)];
    }
    constexpr std::uint8_t operator()(int row, int column, int channel = 0) const {
        return bytes[static_cast<std::size_t>((row * W + column) * C + channel)];
    }
};

/// What travels with an element and is not given to the net: a file's name, a number to find it again.
template <class T>
struct extra {
    T value{};
};

/// How a field lies in a batch.
struct field_form {
    enum kind_type : std::uint8_t {
        column,      ///< one column of a batch
        beside,      ///< extra<T>
        of_any_size, ///< a vector or a text: examples have different numbers of them
        unknown      ///< none of what a batch has columns for
    };
    kind_type kind = unknown;
    bool pixels = false;
    shape row;   ///< of one example; a single number has one axis of one
};

namespace element_parts {

template <class N>
concept whole_number = std::integral<N> && (sizeof(N) < 4 || std::same_as<N, std::int32_t>);

template <class F>
struct form_of_field {
    static constexpr field_form form{};
    using number = void;
};
template <>
struct form_of_field<float> {
    static constexpr field_form form{field_form::column, false, {.type = dtype::f32}};
    using number = float;
};
template <whole_number N>
struct form_of_field<N> {
    static constexpr field_form form{field_form::column, false, {.type = dtype::i32}};
    using number = N;
};
constexpr field_form array_of(std::size_t n, field_form inner) {
    if (n == 0 || inner.kind != field_form::column || inner.row.rank == max_rank || inner.pixels) return {};
    for (int a = inner.row.rank; a > 0; --a) inner.row.d[a] = inner.row.d[a - 1];
    inner.row.d[0] = static_cast<int>(n);
    ++inner.row.rank;
    return inner;
}
template <class F, std::size_t N>
struct form_of_array {
    static constexpr field_form form = array_of(N, form_of_field<F>::form);
    using number = typename form_of_field<F>::number;
};
template <class F, std::size_t N>
struct form_of_field<F[N]> : form_of_array<F, N> {};
template <class F, std::size_t N>
struct form_of_field<std::array<F, N>> : form_of_array<F, N> {};
template <int H, int W, int C>
struct form_of_field<pixels<H, W, C>> {
    static constexpr field_form form{field_form::column, true, {.rank = 3, .d = {H, W, C}}};
    using number = std::uint8_t;
};
template <class T>
struct form_of_field<extra<T>> {
    static constexpr field_form form{field_form::beside, false, {}};
    using number = void;
};
template <class F>
    requires(form_of_field<F>::form.kind == field_form::column)
struct form_of_field<std::vector<F>> {
    static constexpr field_form form{field_form::of_any_size, false, form_of_field<F>::form.row};
    using number = typename form_of_field<F>::number;
};
template <>
struct form_of_field<std::string> {
    static constexpr field_form form{field_form::of_any_size, false, {}};
    using number = char;
};

/// A single number has one axis of one.
constexpr shape with_an_axis(shape row) {
    if (row.rank == 0) row.rank = row.d[0] = 1;
    return row;
}
constexpr field_form with_an_axis(field_form f) {
    if (f.kind == field_form::column) f.row = with_an_axis(f.row);
    return f;
}

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

/// A class that is none of the fields above.
template <class F>
inline constexpr bool is_other_class =
    std::is_class_v<F> && form_of_field<F>::form.kind == field_form::unknown && !is_tuple<F> && !is_array<F>;

/// Whether base::field_count takes F apart: where it does not, it has a compile error of its own.
template <class F>
consteval bool comes_apart() {
    if constexpr (!std::is_aggregate_v<F>) return false;
    else if constexpr (requires { F{base::fields_parts::any_base<F>{}}; }) return false;
    else return base::fields_parts::takes<F, 0>() && !base::fields_parts::takes<F, base::most_fields + 1>();
}

/// A field that is itself a struct of fields.
template <class F>
inline constexpr bool is_struct = [] {
    if constexpr (is_other_class<F>) return comes_apart<F>();
    else return false;
}();

template <class T, int I>
struct part_of_struct {
    static constexpr std::string_view name = base::field_name<T, I>;
    using type = std::remove_const_t<base::field_type<T, I>>;
    static constexpr const type& of(const T& e) { return base::field<I>(e); }
    static constexpr type& of(T& e) { return base::field<I>(e); }
};
template <class T, int I>
struct part_of_tuple {
    static constexpr std::string_view name{};
    using type = std::tuple_element_t<std::size_t{I}, T>;
    static constexpr const type& of(const T& e) { return std::get<std::size_t{I}>(e); }
    static constexpr type& of(T& e) { return std::get<std::size_t{I}>(e); }
};
template <class T>
struct whole {
    static constexpr std::string_view name{};
    using type = T;
    static constexpr const T& of(const T& e) { return e; }
    static constexpr T& of(T& e) { return e; }
};
template <class Outer, class Inner>
struct part_of_part {
    static constexpr std::string_view name = Inner::name;
    using type = typename Inner::type;
    static constexpr const auto& of(const auto& e) { return Inner::of(Outer::of(e)); }
    static constexpr auto& of(auto& e) { return Inner::of(Outer::of(e)); }
};

template <class... P>
struct part_list {
    static constexpr int count = sizeof...(P);
    template <int I>
    using type_of = std::tuple_element_t<std::size_t{I}, std::tuple<typename P::type...>>;
};
template <class... A, class... B>
constexpr part_list<A..., B...> operator+(part_list<A...>, part_list<B...>) {
    return {};
}

template <class T>
struct parts_of;
template <class Outer>
auto inner_parts() {
    using type = typename Outer::type;
    if constexpr (is_struct<type> || is_tuple<type>)
        return []<class... P>(part_list<P...>) { return part_list<part_of_part<Outer, P>...>{}; }(
            typename parts_of<type>::type{});
    else return part_list<Outer>{};
}
template <class T, template <class, int> class Part, std::size_t... I>
auto all_parts(std::index_sequence<I...>) {
    return (part_list<>{} + ... + inner_parts<Part<T, static_cast<int>(I)>>());
}
template <class T>
struct parts_of {
    static auto make() {
        if constexpr (is_tuple<T>)
            return all_parts<T, part_of_tuple>(std::make_index_sequence<std::tuple_size_v<T>>{});
        else if constexpr (is_struct<T>)
            return all_parts<T, part_of_struct>(
                std::make_index_sequence<static_cast<std::size_t>(base::field_count<T>)>{});
        else return part_list<whole<T>>{};
    }
    using type = decltype(make());
};

template <class T, class Parts>
struct kept_together_among {
    using type = void;
};
template <class T, class F, class... Fields>
struct kept_together_among<T, part_list<F, Fields...>> {
    using field = typename F::type;
    static constexpr bool it_is = is_other_class<field> && (std::is_aggregate_v<field> || std::is_same_v<field, T>);
    using type = std::conditional_t<it_is, field, typename kept_together_among<T, part_list<Fields...>>::type>;
};
/// The first struct in T, or T itself, that ought to come apart and does not; void if there is none.
template <class T>
using kept_together = typename kept_together_among<T, typename parts_of<T>::type>::type;

} // namespace element_parts

/// One field of an element as a batch sees it, those of structs within counted one by one.
struct element_field {
    std::string_view name;   ///< empty: of a tuple, or the element itself
    field_form form;
};

/// All fields of an element of type T.
template <class T>
inline constexpr int element_fields = element_parts::parts_of<T>::type::count;
template <class T>
inline constexpr auto fields_of_element = []<class... P>(element_parts::part_list<P...>) {
    return std::array<element_field, sizeof...(P)>{
        {{P::name, element_parts::with_an_axis(element_parts::form_of_field<typename P::type>::form)}...}};
}(typename element_parts::parts_of<T>::type{});

/// f(I, field) for each field, where I is a std::integral_constant of its number.
template <class T, class F>
constexpr void for_each_element_field(T& e, F&& f) {
    [&]<class... P, std::size_t... I>(element_parts::part_list<P...>, std::index_sequence<I...>) {
        (static_cast<void>(f(std::integral_constant<int, static_cast<int>(I)>{}, P::of(e))), ...);
    }(typename element_parts::parts_of<std::remove_const_t<T>>::type{},
      std::make_index_sequence<static_cast<std::size_t>(element_fields<std::remove_const_t<T>>)>{});
}

/// Field I of an element.
template <int I, class T>
constexpr const auto& element_field_of(const T& e) {
    return []<class... P>(const T& of, element_parts::part_list<P...>) -> const auto& {
        return std::tuple_element_t<std::size_t{I}, std::tuple<P...>>::of(of);
    }(e, typename element_parts::parts_of<T>::type{});
}

/// Writes a field that is a column where its row of a batch lies: floats and std::int32_t as they are, smaller whole
/// numbers as std::int32_t, pixels as floats.
template <class F>
void write_field(const F& field, void* to) {
    using number = typename element_parts::form_of_field<F>::number;
    constexpr field_form form = element_parts::form_of_field<F>::form;
    static_assert(form.kind == field_form::column, "only a column is written to a batch");
    constexpr std::size_t n = sizeof(F) / sizeof(number);
    if constexpr (form.pixels) {
        shares_of_bytes(field.bytes.data(), static_cast<float*>(to), n);
    } else if constexpr (std::same_as<number, float> || std::same_as<number, std::int32_t>) {
        std::size_t bytes = sizeof(F);
        if constexpr (sizeof(F) > 256) asm("" : "+r"(bytes));   // g++ makes slow string moves of a size that it knows
        std::memcpy(to, &field, bytes);
    } else {
        number all[n];
        std::memcpy(all, &field, sizeof(F));
        auto* const numbers = static_cast<std::int32_t*>(to);
        for (std::size_t i = 0; i < n; ++i) numbers[i] = all[i];
    }
}

} // namespace sinter::data
