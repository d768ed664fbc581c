// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/collective/communicator.hpp>
#include <string>

/// What operations are made of, in bytes and in words.
namespace sinter::inline SINTER_ORDINARY::collective {

constexpr std::int64_t bytes_of(element e) {
    switch (e) {
        case element::f32:
        case element::i32: return 4;
        case element::f64:
        case element::i64: return 8;
        case element::u8: break;
    }
    return 1;
}

constexpr const char* name_of(element e) {
    constexpr const char* names[] = {"f32", "f64", "i32", "i64", "u8"};
    return static_cast<unsigned>(e) < 5 ? names[static_cast<unsigned>(e)] : "unknown type";
}
constexpr const char* name_of(reduction r) {
    constexpr const char* names[] = {"sum", "max", "min"};
    return static_cast<unsigned>(r) < 3 ? names[static_cast<unsigned>(r)] : "unknown reduction";
}
constexpr const char* name_of(kind k) {
    constexpr const char* names[] = {
        "all-reduce", "all-reduce in tree order", "reduce-scatter", "reduce-scatter in tree order", "all-gather",
        "broadcast",  "all-gather of rows",       "barrier",        "shift"};
    return static_cast<unsigned>(k) < 9 ? names[static_cast<unsigned>(k)] : "unknown operation";
}
constexpr bool reduces(kind k) { return k <= kind::reduce_scatter_tree; }

/// "all-reduce of bucket 3"
SINTER_COLD inline std::string name_of(const operation& o) {
    std::string s = name_of(o.what);
    if (o.bucket >= 0) s += " of bucket " + std::to_string(o.bucket);
    return s;
}
/// "all-reduce of bucket 3, sum of 1000 f32 in step 7": all that members must agree on.
SINTER_COLD inline std::string text_of(const operation& o, std::int64_t n) {
    std::string s = name_of(o);
    const std::string in = o.bucket == outside_of_steps ? ", outside of steps" : " in step " + std::to_string(o.step);
    if (o.what == kind::barrier) return s + in;
    s += ", ";
    if (reduces(o.what)) (s += name_of(o.how)) += " of ";
    s += std::to_string(n) + " " + name_of(o.type);
    if (o.what == kind::broadcast) s += " from rank " + std::to_string(o.root);
    return s + in;
}
/// Why rank a may be at `x` while rank b is at `y`, where one of them makes a step and the other none. Empty elsewhere.
SINTER_COLD inline std::string why_other(int a, const operation& x, int b, const operation& y) {
    const bool steps = x.bucket != outside_of_steps;
    if (steps == (y.bucket != outside_of_steps)) return {};
    return "; rank " + std::to_string(steps ? a : b) + " makes a step, and rank " + std::to_string(steps ? b : a) +
           " none: its pass is over, for it has fewer batches or has stopped alone (by run.stop(), which is local: "
           "ask_to_stop() does), or it makes another call than the others";
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
