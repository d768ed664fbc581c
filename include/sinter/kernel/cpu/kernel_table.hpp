// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/kernels.hpp>
#include <sinter/kernel/cpu/rowwise/body.hpp>

/// Value to type: each spec of a program becomes one kernel, made of scalars only, so that equal
/// specs are equal types in all programs of a build.
namespace sinter::inline SINTER_TARGET::cpu {

/// What a launch calls: run() in parts, then (where there is one) finish() in parts, after all
/// parts of run(); before them, where there is one, prepare() in parts.
struct kernel_entry {
    void (*run)(const call&) = nullptr;
    void (*finish)(const call&) = nullptr;
    void (*prepare)(const call&) = nullptr;
    bool only_divides = false;   ///< parts share the work and nothing depends on how: a lone thread does it in one
    const row_functions* rows = nullptr;   ///< of fused producer

    /// The whole launch by one thread.
    void run_alone(call& c) const {
        for (void (*const phase)(const call&) : {prepare, run, finish})
            for (int part = 0; phase && part < c.parts; ++part) {   // nvcc takes `c.part <` for the template ops::part
                c.part = part;
                phase(c);
            }
    }
};

namespace detail {

/// A loop nest with its body's own work before and after.
template <class Nest, class Body>
struct kernel {
    static constexpr bool has_epilogue = [] {
        if constexpr (requires { Nest::phases; }) return Nest::phases == 2;
        else return false;
    }();
    static constexpr std::int64_t nest_scratch(const std::int64_t* e, int parts, std::int64_t m) {
        std::int64_t n = 0;
        if constexpr (requires { Nest::scratch(e, parts, m); }) n = Nest::scratch(e, parts, m);
        else if constexpr (requires { Nest::scratch(parts); }) n = Nest::scratch(parts);
        return round_up(n, 16);
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t m) {
        return nest_scratch(e, parts, m) + round_up(Body::scratch(e, parts), 16);
    }
    static call with_sums(const call& c) {
        call d = c;
        if constexpr (Body::sums + Body::buffers > 0) d.sums = c.scratch + nest_scratch(c.e, c.parts, c.m);
        return d;
    }
    static void run(const call& c) {
        const call d = with_sums(c);
        if constexpr (Body::sums > 0) Body::begin(d);
        Nest::run(d);
        if constexpr (Body::writes_non_temporal) lines_are_stored();
    }
    static void finish(const call& c) {
        const call d = with_sums(c);
        if constexpr (has_epilogue) Nest::finish(d);
        if constexpr (Body::sums > 0) Body::finish(d);
    }
    static constexpr bool prepares = requires { &Nest::prepare; }, finishes = has_epilogue || Body::sums > 0;
    static constexpr void (*preparation())(const call&) {
        if constexpr (prepares) return &Nest::prepare;
        else return nullptr;
    }
    /// All of it, where the launch is one part.
    static SINTER_INLINE void run_whole(const call& c) {
        if constexpr (prepares) Nest::prepare(c);
        run(c);
        if constexpr (finishes) finish(c);
    }
    static constexpr bool only_divides = [] {
        if constexpr (requires { Nest::only_divides; }) return Nest::only_divides && Body::sums == 0;
        else return false;
    }();
    static int arrays(const call& c, const float** to) {
        int n = 0;
        Body::each_line(1, 1, 0, 1, c, [&](const float* p, auto) {
            if (n < row_functions::most_arrays) to[n++] = p;
        });
        return n;
    }
    static constexpr row_functions by_rows{&Nest::rows, &arrays};
    template <bool Leads>
    static constexpr const row_functions* rows_if() {
        if constexpr (Leads) return &by_rows;
        else return nullptr;
    }
    template <bool Leads>
    static constexpr kernel_entry entry{&run, finishes ? &finish : nullptr, preparation(), only_divides,
                                        rows_if<Leads>()};
};

template <class P, int S, class = std::make_integer_sequence<int, P::v.specs[S].instructions>>
struct body_of;
template <class P, int S, int... I>
struct body_of<P, S, std::integer_sequence<int, I...>> {
    using type = body<P::v.code[P::v.specs[S].code + I]...>;
};
template <class P, int S, class = std::make_integer_sequence<int, kernel_extents::most_fixed>>
struct nest_of;
template <class P, int S, int... I>
struct nest_of<P, S, std::integer_sequence<int, I...>> {
    using type = typename nest<P::v.specs[S].kind, typename body_of<P, S>::type, P::v.specs[S].extents[I]...>::type;
};

/// A nest that has loops for some extents only says by `cases` which of them a launch may come to,
/// of at most so many rows. As the program is a constant, all launches of spec S can be asked, and
/// only what one of them may need is compiled.
template <class P, int S, class Nest>
constexpr int cases_of() {
    int found = 0;
    for (int i = 0; i < P::v.n_launches; ++i) {
        const launch& l = P::v.launches[i];
        if (l.spec == S) found |= Nest::cases(P::v.extents + l.first_extent, l.batched ? l.m * P::v.max_batch : l.m);
    }
    return found;
}
template <class P, int S, class Nest>
struct needed_of { using type = Nest; };
template <class P, int S, class Nest>
    requires requires { Nest::cases(nullptr, 0); }
struct needed_of<P, S, Nest> { using type = typename Nest::template only<cases_of<P, S, Nest>()>; };
template <class P, int S>
constexpr bool is_producer() {
    if (P::v.specs[S].kind != walk::flat && P::v.specs[S].kind != walk::rows) return false;
    for (const launch *l = P::v.launches, *const end = l + P::v.n_launches; l < end; ++l)
        if (l->is_producer && l->spec == S) return true;
    return false;
}
template <class P, class>
struct table_of;
template <class P, int... S>
struct table_of<P, std::integer_sequence<int, S...>> {
    template <int I>
    using kernel_of =
        kernel<typename needed_of<P, I, typename nest_of<P, I>::type>::type, typename body_of<P, I>::type>;
    static constexpr kernel_entry entries[sizeof...(S) + 1] = {kernel_of<S>::template entry<is_producer<P, S>()>...,
                                                               kernel_entry{}};
    /// Floats of scratch space that a launch of kernel `spec` wants. Asking makes no code of the
    /// kernels.
    static constexpr std::int64_t scratch(int spec, const std::int64_t* e, int parts, std::int64_t m) {
        using function = std::int64_t (*)(const std::int64_t*, int, std::int64_t);
        constexpr function of[sizeof...(S) + 1] = {&kernel_of<S>::scratch..., nullptr};
        return of[spec](e, parts, m);
    }
};

} // namespace detail

/// The kernels of a compiled program, by spec.
template <class P>
using kernel_table = detail::table_of<P, std::make_integer_sequence<int, P::n_specs>>;

} // namespace sinter::cpu
