// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_view.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/graph/port_info.hpp>
#include <string>
#include <string_view>

/// What a program asks of a batch: as many inputs and targets as it has ports, of their sizes and
/// types, integers in their range. All of it is checked before anything runs, since the
/// kernels check nothing.
namespace sinter::inline SINTER_ORDINARY::session_parts {

[[noreturn]] SINTER_APART SINTER_COLD void refuse_output(int i, int n, const char* where);
/// option_error unless a net of `n` outputs has one of this number.
inline void need_output(int i, int n, const char* where) {
    if (static_cast<unsigned>(i) >= static_cast<unsigned>(n)) refuse_output(i, n, where);
}
/// The number of the output of this name; option_error where there is none. `names`: those of the
/// net's `n` outputs.
SINTER_APART SINTER_COLD int output_of_name(std::string_view name, const char* const* names, int n, const char* where);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_size(int size, int most);

/// The column for the program's input `i`: that of its name where batch and program have names, else
/// the i-th.
SINTER_APART const input_view& input_column(const batch_view& b, int i, const port_info& p);
/// The address of that input, whose sizes, type and range fit.
SINTER_APART const float* input_port(const batch_view& b, int i, const port_info& p);
/// The column for a program's target: that of its name where batch and program have names, else the
/// `number`-th of the targets that are integers, or of those that are floats.
SINTER_APART input_view target_column(const batch_view& b, const port_info& p, int number);

/// Writes the addresses of the batch's inputs or targets to `to`; data_error where the batch does not fit, but for its
/// size. Allocates nothing.
SINTER_APART void bind_inputs(const batch_view& b, const port_info* ports, int n, const float** to);
SINTER_APART void bind_targets(const batch_view& b, const port_info* ports, int n, const float** to);

} // namespace sinter::session_parts
namespace sinter::inline SINTER_TARGET {

/// Both of a compiled program P; the targets if they are wanted.
template <class P>
void bind_ports(const batch_view& b, const float** ports, bool with_targets) {
    session_parts::bind_inputs(b, P::v.inputs, P::v.n_inputs, ports);
    if (with_targets) session_parts::bind_targets(b, P::v.targets, P::v.n_targets, ports + P::v.n_inputs);
}
/// The same of a batch of a size that the program is laid out for.
template <class P>
void bind_batch(const batch_view& b, const float** ports, bool with_targets) {
    if (b.size < 1 || b.size > P::v.max_batch) session_parts::refuse_size(b.size, P::v.max_batch);
    bind_ports<P>(b, ports, with_targets);
}

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>
#include <algorithm>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::session_parts {

SINTER_APART void refuse_output(int i, int n, const char* where) {
    throw option_error("the net has no such output", where, to_text({i}), to_text({"0 to ", n - 1}));
}
SINTER_APART int output_of_name(std::string_view name, const char* const* names, int n, const char* where) {
    std::string known;
    for (int i = 0; i < n; ++i) {
        if (*names[i] && name == names[i]) return i;
        known += to_text({i ? ", " : "", *names[i] ? names[i] : "(no name)"});
    }
    throw option_error("the net has no output of this name", where, name, known);
}
SINTER_APART void refuse_size(int size, int most) {
    throw data_error(
        "batch size does not fit the program", "batch", to_text({size}),
        to_text({"1 to ", most, ", the largest batch that the model is compiled for",
                 size > most ? to_text({": max_batch<", size, "> after its optimizer sets another"}) : ""}));
}
/// Throws unless all that is out of range is p.also.
SINTER_COLD inline void refuse_range(const std::int32_t* x, std::int64_t n, const port_info& p, const char* what) {
    for (std::int64_t i = 0; i < n; ++i)
        if (static_cast<std::uint32_t>(x[i]) >= static_cast<std::uint32_t>(p.below) && (p.also == 0 || x[i] != p.also))
            throw data_error(
                to_text({what, " out of range"}), to_text({"element ", i, " of the batch"}), to_text({x[i]}),
                p.also ? to_text({"0 to ", p.below - 1, ", or ", p.also}) : to_text({"0 to ", p.below - 1}));
}
inline void check_range(const std::int32_t* x, const port_info& p, int batch, const char* what) {
    const std::int64_t n = std::int64_t{p.s.batched ? batch : 1} * p.s.size();
    std::uint32_t most = 0;
    for (std::int64_t i = 0; i < n; ++i) most = std::max(most, static_cast<std::uint32_t>(x[i]));
    if (p.below && most >= static_cast<std::uint32_t>(p.below)) refuse_range(x, n, p, what);
}

/// Throws unless these numbers, one or several an example, are from 0 to p.below - 1.
SINTER_COLD inline void refuse_length(const float* x, std::int64_t n, const port_info& p, int input) {
    const std::int64_t each = p.s.size();
    for (std::int64_t i = 0; i < n; ++i)
        if (!(x[i] >= 0.f && x[i] <= static_cast<float>(p.below - 1)))
            throw data_error("length out of range", to_text({"input ", input, ", example ", i / each}),
                             base::number_text(x[i]), to_text({"0 to ", p.below - 1}));
}
inline const float* check_lengths(const float* x, const port_info& p, int batch, int input) {
    if (p.below == 0) return x;
    const std::int64_t n = std::int64_t{p.s.batched ? batch : 1} * p.s.size();
    bool fit = true;
    for (std::int64_t i = 0; i < n; ++i) fit = fit && x[i] >= 0.f && x[i] <= static_cast<float>(p.below - 1);
    if (!fit) refuse_length(x, n, p, input);
    return x;
}

inline bool any_is_named(span<const input_view> columns) {
    for (const input_view& v : columns)
        if (v.name) return true;
    return false;
}
[[noreturn]] SINTER_COLD inline void refuse_names(const char* what, const char* name, span<const input_view> columns,
                                                  bool twice) {
    std::string names;
    for (const input_view& v : columns) names += to_text({names.empty() ? "" : ", ", v.name ? v.name : "(no name)"});
    throw data_error(twice ? to_text({"the batch has two ", what, "s of one name"})
                           : to_text({"the batch has no ", what, " of the name that the model asks for"}),
                     to_text({what, " ", name}), names, name);
}
/// The column of this name; data_error where there is none, or two. `what`: "input" or "target".
inline const input_view& column_of_name(span<const input_view> columns, const char* name, const char* what) {
    const input_view* found = nullptr;
    for (const input_view& v : columns) {
        if (!v.name || std::strcmp(v.name, name) != 0) continue;
        if (found) refuse_names(what, name, columns, true);
        found = &v;
    }
    if (!found) refuse_names(what, name, columns, false);
    return *found;
}

SINTER_APART const input_view& input_column(const batch_view& b, int i, const port_info& p) {
    if (*p.name && any_is_named(b.inputs)) return column_of_name(b.inputs, p.name, "input");
    if (static_cast<std::size_t>(i) >= b.inputs.size())
        [&]() SINTER_COLD {
            throw data_error("the batch has too few inputs", to_text({"input ", i}), to_text({b.inputs.size()}),
                             "one more");
        }();
    return b.inputs[static_cast<std::size_t>(i)];
}
SINTER_APART const float* input_port(const batch_view& b, int i, const port_info& p) {
    const bool whole = p.s.type == dtype::i32;
    if (b.inputs.empty() && i == 0 && !whole && b.x) return check_lengths(b.x, p, b.size, i);
    const auto fail = [&](const char* fault, text_piece got, text_piece needed) SINTER_COLD {
        throw data_error(fault, to_text({"input ", i, *p.name ? ", " : "", p.name}), got.view(), needed.view());
    };
    const input_view& v = input_column(b, i, p);
    if (v.width != p.s.size()) fail("example of the wrong size", v.width, p.s.size());
    if (whole ? !v.indices : !v.values)
        fail("element type differs", whole ? "float32" : "int32", whole ? "int32" : "float32");
    if (!whole) return check_lengths(v.values, p, b.size, i);
    check_range(v.indices, p, b.size, "index");
    return reinterpret_cast<const float*>(v.indices);
}

SINTER_APART input_view target_column(const batch_view& b, const port_info& p, int number) {
    const bool whole = p.s.type == dtype::i32;
    if (*p.name && any_is_named(b.targets)) {
        const input_view& v = column_of_name(b.targets, p.name, "target");
        if (whole ? !v.indices : !v.values)
            [&]() SINTER_COLD {
                throw data_error("element type differs", to_text({"target ", p.name}), whole ? "float32" : "int32",
                                 whole ? "int32" : "float32");
            }();
        return v;
    }
    for (const input_view& v : b.targets)
        if ((whole ? v.indices != nullptr : v.values != nullptr) && number-- == 0) return v;
    if (!b.targets.empty() || number > 0) return {};
    return {b.y, b.labels, whole ? b.label_width : b.y_width};
}
[[noreturn]] SINTER_COLD inline void refuse_no_target(bool whole, int number) {
    if (number > 0)
        throw data_error(whole ? "the batch has too few labels" : "the batch has too few targets", "batch",
                         to_text({number}), "one more, for the loss");
    throw data_error("the batch has no targets of the kind that the loss needs", "batch",
                     whole ? "no labels" : "no float targets", whole ? "int32 labels" : "float32 targets");
}
[[noreturn]] SINTER_COLD inline void refuse_target(bool whole, int width, int needed) {
    throw data_error(whole ? "wrong number of labels" : "targets of the wrong size", "batch",
                     to_text({width, " an example"}), to_text({needed, ", as the net and its loss have"}));
}
inline const float* target_port(const batch_view& b, const port_info& p, int number) {
    const bool whole = p.s.type == dtype::i32;
    const input_view v = target_column(b, p, number);
    if (whole ? !v.indices : !v.values) refuse_no_target(whole, number);
    if (v.width && v.width != p.s.size()) refuse_target(whole, v.width, p.s.size());
    if (!whole) return v.values;
    check_range(v.indices, p, b.size, "label");
    return reinterpret_cast<const float*>(v.indices);
}
[[noreturn]] SINTER_COLD inline void refuse_weights(const batch_view& b, int needed) {
    if (!b.weights)
        throw data_error("the batch has no weights", "batch", {}, "weights, for the loss is a weighted one");
    throw data_error("wrong number of weights", "batch", to_text({b.weight_width, " an example"}), to_text({needed}));
}
inline const float* weight_port(const batch_view& b, const port_info& p) {
    if (!b.weights || (b.weight_width && b.weight_width != p.s.size())) refuse_weights(b, p.s.size());
    return b.weights;
}
SINTER_APART void bind_inputs(const batch_view& b, const port_info* ports, int n, const float** to) {
    for (int i = 0; i < n; ++i) to[i] = input_port(b, i, ports[i]);
}
SINTER_APART void bind_targets(const batch_view& b, const port_info* ports, int n, const float** to) {
    int seen[2] = {};   // floats, integers
    bool weighted = false;
    for (int i = 0; i < n; ++i) {
        const port_info& p = ports[i];
        weighted = weighted || p.weight;
        to[i] = p.weight ? weight_port(b, p) : target_port(b, p, seen[p.s.type == dtype::i32]++);
    }
    if (b.weights && !weighted)   // to train without them, unnoticed, would be worse
        throw data_error("the batch has weights and the loss takes none", "batch", "weights",
                         "weighted(loss), or data without weights");
}

} // namespace sinter::session_parts
#endif
