// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error_text.hpp>
#include <sinter/data/column.hpp>
#include <sinter/data/element.hpp>
#include <sinter/data/model_ports.hpp>

/// Which field of an element is which input or target of a model, and the one compile error where that does not fit.
namespace sinter::inline SINTER_ORDINARY::data {

enum class field_fault : std::uint8_t {
    none,
    is_missing,             ///< an input or a target for which the element has no field
    fits_no_port,           ///< a field that no input and no target takes: data::extra<T> travels beside them
    has_other_extents,      ///< than the port of its name or place
    has_other_numbers,      ///< floats where the port takes whole numbers, or the other way round
    has_different_sizes,    ///< a vector or a text: padded_batch() takes those
    cannot_be_in_a_batch    ///< its type is none that a batch has columns for
};

namespace element_parts {

/// A list of an element's fields held against a model's ports. Ports are counted through: inputs, then targets and
/// weights in their order.
template <int Fields, int Ports>
struct fitting {
    int field_of[std::size_t{Ports + 1}] = {};   ///< of each port
    field_fault fault = field_fault::none;
    std::string_view name;    ///< of the field, or of the port that has none
    int field = -1, port = -1;
    shape got, needed;
};

constexpr const port_info& port_at(const model_ports& p, int i) {
    return i < p.inputs.n ? p.inputs[i] : p.targets[i - p.inputs.n];
}

/// Same extents; or as many numbers where the field has one axis. Axes of one do not count.
constexpr bool same_extents(const shape& field, const shape& port) {
    if (field.size() != port.size()) return false;
    if (field.rank <= 1) return true;
    int a = 0, b = 0;
    for (;; ++a, ++b) {
        while (a < field.rank && field.d[a] == 1) ++a;
        while (b < port.rank && port.d[b] == 1) ++b;
        if (a == field.rank || b == port.rank) return a == field.rank && b == port.rank;
        if (field.d[a] != port.d[b]) return false;
    }
}

constexpr field_fault fault_between(const element_field& f, const port_info& p) {
    if (f.form.kind == field_form::of_any_size) return field_fault::has_different_sizes;
    if (f.form.kind != field_form::column) return field_fault::cannot_be_in_a_batch;
    if (f.form.row.type != p.s.type) return field_fault::has_other_numbers;
    return same_extents(f.form.row, p.s) ? field_fault::none : field_fault::has_other_extents;
}

template <int Ports, std::size_t Fields>
constexpr auto fit(const std::array<element_field, Fields>& fields, const model_ports& ports) {
    constexpr int n = static_cast<int>(Fields);
    fitting<n, Ports> r;
    bool taken[Fields + 1] = {};
    const auto refuse = [&](field_fault what, int field, int port) {
        if (r.fault != field_fault::none) return;
        r.fault = what;
        r.field = field;
        r.port = port;
        if (port >= 0) r.name = port_at(ports, port).name, r.needed = with_an_axis(port_at(ports, port).s);
        if (field < 0) return;
        r.name = fields[static_cast<std::size_t>(field)].name;
        r.got = fields[static_cast<std::size_t>(field)].form.row;
    };
    const auto take = [&](int field, int port) {
        taken[field] = true;
        r.field_of[port] = field;
        const field_fault what = fault_between(fields[static_cast<std::size_t>(field)], port_at(ports, port));
        if (what != field_fault::none) refuse(what, field, port);
    };
    for (int p = 0; p < Ports; ++p) {
        r.field_of[p] = -1;
        const std::string_view name = port_at(ports, p).name;
        if (name.empty()) continue;
        for (int f = 0; f < n && r.field_of[p] < 0; ++f)
            if (!taken[f] && fields[static_cast<std::size_t>(f)].name == name) take(f, p);
        if (r.field_of[p] < 0) refuse(field_fault::is_missing, -1, p);
    }
    int next = 0;
    const auto next_field = [&] {
        const auto is_given = [&](int f) {
            return !taken[f] && fields[static_cast<std::size_t>(f)].form.kind != field_form::beside;
        };
        while (next < n && !is_given(next)) ++next;
        return next < n ? next++ : -1;
    };
    for (int p = 0; p < Ports; ++p) {
        if (r.field_of[p] >= 0 || port_at(ports, p).name[0]) continue;
        if (const int f = next_field(); f >= 0) take(f, p);
        else refuse(field_fault::is_missing, -1, p);
    }
    if (!ports.predicts)
        if (const int f = next_field(); f >= 0) refuse(field_fault::fits_no_port, f, -1);
    return r;
}

template <class T, const model_ports& Ports>
inline constexpr auto fitted = fit<Ports.inputs.n + Ports.targets.n>(fields_of_element<T>, Ports);

} // namespace element_parts

/// What a field_error shows.
namespace shown {
template <class Name>
struct field {};
template <int Place>
struct field_at {};   ///< one without a name: of a tuple, or a port by its place
template <dtype Type, int... Extents>
struct of {};
struct nothing {};
} // namespace shown

/// A field that does not fit: why, which one (its name, or its place among the fields or ports), what it is (its
/// numbers and extents; its type where no row of a batch is made of it), and what the model takes.
template <field_fault Why, class Which, class Got, class Needed>
struct field_error {
    static constexpr bool fits = false;
};
struct fields_fit {
    static constexpr bool fits = true;
};

namespace element_parts {

template <class T, const model_ports& Ports>
struct name_of_fault {
    static constexpr std::string_view text = fitted<T, Ports>.name;
};
template <const shape& S, int... I>
auto extents_shown(std::integer_sequence<int, I...>) {
    return shown::of<S.type, S.d[I]...>{};
}
template <class T, const model_ports& Ports>
struct extents_of_fault {
    static constexpr shape got = fitted<T, Ports>.got, needed = fitted<T, Ports>.needed;
};
template <class T, const model_ports& Ports>
auto which_is_at_fault() {
    constexpr const auto& f = fitted<T, Ports>;
    if constexpr (!f.name.empty()) return shown::field<base::error_text_for<name_of_fault<T, Ports>>>{};
    else return shown::field_at<(f.field >= 0 ? f.field : f.port)>{};
}
template <class T, const model_ports& Ports>
auto got_at_fault() {
    constexpr const auto& f = fitted<T, Ports>;
    if constexpr (f.field < 0)
        return std::type_identity<shown::nothing>{};
    else if constexpr (fields_of_element<T>[std::size_t{f.field}].form.kind != field_form::column)
        return std::type_identity<typename parts_of<T>::type::template type_of<f.field>>{};
    else
        return std::type_identity<decltype(extents_shown<extents_of_fault<T, Ports>::got>(
            std::make_integer_sequence<int, f.got.rank>{}))>{};
}
template <class T, const model_ports& Ports>
auto needed_at_fault() {
    constexpr const auto& f = fitted<T, Ports>;
    if constexpr (f.port < 0) return shown::nothing{};
    else return extents_shown<extents_of_fault<T, Ports>::needed>(std::make_integer_sequence<int, f.needed.rank>{});
}
template <class T, const model_ports& Ports>
auto verdict() {
    if constexpr (constexpr field_fault why = fitted<T, Ports>.fault; why == field_fault::none)
        return fields_fit{};
    else
        return field_error<why, decltype(which_is_at_fault<T, Ports>()),
                           typename decltype(got_at_fault<T, Ports>())::type,
                           decltype(needed_at_fault<T, Ports>())>{};
}

} // namespace element_parts

#if defined(__GNUC__) && !defined(__clang__) && !defined(__EDG__)
template <class Verdict>
constexpr bool the_element_fits_the_model(Verdict) {
    return true;
}
template <field_fault Why, class Which, class Got, class Needed>
constexpr bool the_element_fits_the_model(field_error<Why, Which, Got, Needed>) = delete;
template <class Verdict>
struct check_fields {
    static_assert(the_element_fits_the_model(Verdict{}));
    static constexpr bool value = Verdict::fits;
};
#else
template <class Verdict>
struct check_fields {
    static_assert(Verdict::fits, "the element does not fit the model: see field_error<why, which field, got, needed>");
    static constexpr bool value = Verdict::fits;
};
#endif

/// The columns that a model of these ports gets, one for each port, named as the ports are.
template <const model_ports& Ports>
column_list columns_of_ports() {
    column_list c;
    for (int p = 0; p < Ports.inputs.n + Ports.targets.n; ++p) {
        const port_info& port = element_parts::port_at(Ports, p);
        const shape row = element_parts::with_an_axis(port.s);
        const bool whole = row.type == dtype::i32;
        if (p < Ports.inputs.n) whole ? c.indices(row) : c.input(row);
        else if (port.weight) c.weights(row);
        else whole ? c.labels(row) : c.targets(row);
        if (port.name[0]) c.named(port.name);
    }
    return c;
}

} // namespace sinter::data
