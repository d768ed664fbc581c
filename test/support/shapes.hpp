// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/graph/scope.hpp>
#include <sinter/graph/shape.hpp>

/// Extents are part of a program's type, so shapes are drawn while a test compiles: from a stream
/// of random numbers that the test's name and a number give, each time the same. Numbers 0, 1, 2,
/// ... are shapes that have nothing in common. The name is that of the file that asks, without
/// folder and ending.
namespace sinter::test {
using namespace compiler;

/// For what many tests share, which knows a test by its type alone.
template <class Case>
constexpr const char* name_of() {
    // "... [with Case = test_ops_add::op_of]", "... [Case = test_ops_add::op_of]"
    const char* s = __PRETTY_FUNCTION__;
    while (*s != '=') ++s;
    return s;
}

class shape_source {
public:
    constexpr explicit shape_source(int number, const char* test = __builtin_FILE())
        : random_(stream(static_cast<std::uint64_t>(number), hash_of(test))) {}

    /// In [0, n).
    constexpr int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(n))); }
    template <int N>
    constexpr int one_of(const int (&list)[N]) { return list[below(N)]; }
    /// An axis that kernels do not treat specially: small, and often 1.
    constexpr int few() { return one_of({1, 1, 2, 3, 3, 4, 5}); }
    /// Columns: kernels walk over them in vectors of 4, 8 or 16 floats and in panels of two
    /// vectors, so an element less or more than these matters, and what does not fill even one.
    constexpr int columns(int most) {
        for (;;)
            if (const int n = one_of({1, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33}); n <= most) return n;
    }
    /// Extents of this rank and not many elements (central differences take time). Every second one
    /// surely has an axis of 1.
    constexpr shape extents_of(int rank, bool batched, bool with_one, int most = 70) {
        shape s{.batched = batched, .rank = rank};
        const int one = with_one ? below(rank) : -1;
        for (int i = 0, left = most; i < rank; left /= s.d[i++])
            do s.d[i] = i == one ? 1 : i == rank - 1 ? columns(left) : few();
            while (s.d[i] > left);
        return s;
    }

private:
    static constexpr std::uint64_t hash_of(const char* test) {
        char stem[256] = {};
        for (int n = 0; *test && *test != '.' && *test != ']' && n < 255; ++test)
            if (*test == '/') while (n) stem[--n] = 0;
            else stem[n++] = *test;
        return hash_name(stem);
    }
    random_stream random_;
};

/// Shape `number` of this test, of so many axes; for each example, or without a batch.
constexpr shape drawn(int number, int rank, const char* test = __builtin_FILE()) {
    return shape_source(number, test).extents_of(rank, false, number % 2);
}
constexpr shape drawn_batch(int number, int rank, const char* test = __builtin_FILE()) {
    return shape_source(number, test).extents_of(rank, true, number % 2);
}

/// Something that NumPy's rule stretches to `s`: some of its axes are 1, some in front are missing,
/// and perhaps the batch.
constexpr shape stretching_to(shape s, int number, const char* test = __builtin_FILE()) {
    shape_source r(number, test);
    for (int i = 0; i < s.rank; ++i)
        if (r.below(2)) s.d[i] = 1;
    if (r.below(2)) return s;
    s.batched = false;
    const int gone = r.below(s.rank);
    for (int i = 0; i < s.rank; ++i) s.d[i] = i < s.rank - gone ? s.d[i + gone] : 0;
    s.rank -= gone;
    return s;
}
/// `s` with another extent of one axis.
constexpr shape with_axis(shape s, int axis, int n) {
    s.d[axis] = n;
    return s;
}
constexpr shape without_batch(shape s) {
    s.batched = false;
    return s;
}

} // namespace sinter::test
