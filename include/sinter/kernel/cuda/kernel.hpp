// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/cuda/element_walk.hpp>
#include <sinter/kernel/cuda/library_work.hpp>
#include <sinter/kernel/cuda/row_walk.hpp>
#include <sinter/kernel/cuda/sources.hpp>
#include <sinter/kernel/cuda/work.hpp>

/// How a spec runs: which walk, which source, what a library does of it. An engine carries it out:
/// stream_engine on a device, the host's in the tests.
///
/// An engine has elements<S, W...>(source_call, body_call), rows<W...>(body_call),
/// blocks<S>(block_call), chain<Step>(threads, chain_call), add_partials(...), and product(...) and
/// convolution(...), which return false where it has no library that does that.
namespace sinter::inline SINTER_TARGET::gpu {

/// The operands that a kernel of kind K reads itself; its other results come behind them.
template <op_id K>
constexpr int operands_of() {
    if constexpr (requires { source<static_cast<int>(K)>::operands; }) return source<static_cast<int>(K)>::operands;
    else return 1;
}
/// Over what its threads walk.
template <op_id K>
constexpr walk_extents extents_of(const work& w) {
    using s = source<static_cast<int>(K)>;
    if constexpr (requires { s::walk(w.m, w.e); }) return s::walk(w.m, w.e);
    else if constexpr (requires { s::walk(w.m, w.e, w.s->extents); }) return s::walk(w.m, w.e, w.s->extents);
    else return {w.m, w.e[extent::columns]};
}
template <op_id K>
constexpr library library_of() {
    if constexpr (requires { source<static_cast<int>(K)>::by; }) return source<static_cast<int>(K)>::by;
    else return library::none;
}

template <class Engine, op_id K, std::uint64_t... W>
struct kernel {
    using B = body<W...>;
    static constexpr int S = static_cast<int>(K);
    using own = source<S>;
    static constexpr bool is_convolution = library_of<K>() == library::convolution,
                          has_second_result = requires { requires own::second_result; };
    static constexpr bool prepares = requires(std::int64_t m, const std::int64_t* e) { own::scratch_words(m, e); };
    /// Of a convolution: is this the part that is computed?
    static constexpr bool computes(convolution_part part) {
        if constexpr (is_convolution) return own::part == part;
        else return false;
    }
    static constexpr bool gives_results = computes(convolution_part::results),
                          gives_weights = computes(convolution_part::weights_gradient);
    static constexpr bool by_library = library_of<K>() != library::none, by_warps = K == walk::rows && B::reduces_rows,
                          by_blocks = requires { block_kernel_of<S>::operands; };

    /// Where things lie in the launch's scratch space, in floats.
    struct layout {
        std::int64_t filter = 0, prepared = 0, sums = 0, end = 0;
        constexpr layout(const work& w, walk_extents n, std::int64_t parts) {
            if constexpr (by_library && B::only_store < 0 && !gives_weights) filter = round_up(n.rows * n.columns, 64);
            if constexpr (is_convolution) {
                const even_filter f(w.s->extents);
                if (gives_results || gives_weights || f.has_margin()) prepared = round_up(f.floats(), 64);
            }
            prepared += filter;
            sums = prepared;
            if constexpr (prepares) sums += round_up(own::scratch_words(w.m, w.e), 64);
            end = sums + round_up(B::sums * parts * n.columns + B::buffers * parts * w.e[extent::buffer_stride], 64);
        }
    };
    static constexpr std::int64_t scratch(const work& w) {
        if constexpr (by_blocks) {
            return 0;
        } else {
            const walk_extents n = extents_of<K>(w);
            return layout(w, n, parts_of(n, by_warps, B::sums > 0)).end;
        }
    }

    static void run(Engine& engine, const work& w) {
        if constexpr (by_blocks) engine.template blocks<S>(block_arguments(w));
        else run_body(engine, w);
    }

private:
    static block_call block_arguments(const work& w) {
        block_call c;
        for (int i = 0; i < block_kernel_of<S>::operands; ++i) c.p[i] = w.p[i];
        for (int i = 0; i < extent::count; ++i) c.e[i] = w.e[i];
        c.m = w.m;
        c.step = w.step;
        c.iteration = w.iteration;
        return c;
    }
    static void run_body(Engine& engine, const work& w) {
        const walk_extents n = extents_of<K>(w);
        const std::int64_t parts = parts_of(n, by_warps, B::sums > 0);
        const layout at(w, n, parts);
        const typename B::call c = body_arguments(w, n, parts, w.scratch + at.sums);
        if constexpr (by_warps) {
            engine.template rows<W...>(c);
        } else if constexpr (by_library) {
            run_root_op(engine, w, n, at, c);
        } else {
            source_call s = source_arguments(w, n);
            if constexpr (prepares)
                own::prepare(engine, s, w, reinterpret_cast<std::int32_t*>(w.scratch + at.prepared));
            engine.template elements<S, W...>(s, c);
        }
        add_partials(engine, c, std::make_integer_sequence<int, B::size>{});
    }
    static typename B::call body_arguments(const work& w, walk_extents n, std::int64_t parts, float* sums) {
        typename B::call c{};
        for (int i = 0; i < B::operands; ++i) c.p[i] = w.p[i];
        for (int i = 0; i < B::literals; ++i) c.k[i] = w.k[i];
        if constexpr (B::draws > 0)
            for (int i = 0, drawn = 0; i < w.s->instructions; ++i)
                if (const instruction x = instruction::unpack(w.code[i]); x.is(op::random_uniform))
                    c.streams[drawn++] = x.arg;
        c.step = w.step;
        c.iteration = w.iteration;
        c.sums = sums;
        c.columns = n.columns;
        c.rows = n.rows;
        c.buffer_stride = w.e[extent::buffer_stride];
        for (int i = 0; i < 4; ++i) c.q[i] = w.e[extent::first_q + i];
        c.parts = static_cast<int>(parts);
        c.sum_count = B::sums;
        c.buffers = B::buffers;
        c.list = w.list;
        c.list_width = w.list_width;
        return c;
    }
    static source_call source_arguments(const work& w, walk_extents n) {
        constexpr int operands = operands_of<K>();
        source_call s;
        const float** const to[] = {&s.a, &s.b};   // in the op's own order
        for (int i = 0; i < operands && i < 2; ++i) *to[i] = w.p[i];
        if constexpr (B::size == 0 || has_second_result) s.out = w.p[operands];
        s.m = w.m;
        s.rows = n.rows;
        for (int i = 0; i < extent::count; ++i) s.e[i] = w.e[i];
        for (int i = 0; i < 12; ++i) s.x[i] = w.s->extents[i];
        if constexpr (requires { source<S>::arguments(s, w); }) source<S>::arguments(s, w);
        return s;
    }

    /// The library's result goes straight to its place if nothing is to be done with it, else by
    /// way of the scratch space.
    static void run_root_op(Engine& engine, const work& w, walk_extents n, const layout& at,
                            const typename B::call& c) {
        float* raw = w.scratch;
        if constexpr (B::only_store >= 0) raw = w.p[B::only_store];
        source_call s = source_arguments(w, n);
        bool done = false;
        if constexpr (library_of<K>() == library::product) done = engine.product(own::by_library(w, raw));
        if constexpr (is_convolution) done = convolve(engine, w, at, raw);
        if (!done) {
            if constexpr (is_convolution || !Engine::multiplies) engine.template elements<S, W...>(s, c);
            return;
        }
        s.a = raw;
        if constexpr (gives_weights) {
            s.a = w.scratch + at.filter;
            even_filter(w.s->extents).tell(s);
            engine.template elements<from_filter_gradient, W...>(s, c);
        } else if constexpr (B::only_store < 0) {
            engine.template elements<from_memory, W...>(s, c);
        }
    }
    static bool convolve(Engine& engine, const work& w, const layout& at, float* raw) {
        const int* x = w.s->extents;
        const even_filter even(x);
        convolution v{own::part,
                      w.m,
                      x[conv_fixed::H],
                      x[conv_fixed::W],
                      x[conv_fixed::CI],
                      x[conv_fixed::OH],
                      x[conv_fixed::OW],
                      x[conv_fixed::CO],
                      even.rows(),
                      even.columns(),
                      x[conv_fixed::stride],
                      x[conv_fixed::above] + even.v.front,
                      x[conv_fixed::left] + even.h.front,
                      nullptr,
                      nullptr,
                      nullptr};
        float* filter = w.scratch + at.filter;
        if constexpr (gives_results) {
            v.x = w.p[conv_operand::source];
            v.y = raw;
            v.filter = filter;
        } else if constexpr (own::part == convolution_part::input_gradient) {
            v.y = w.p[conv_operand::source];
            v.filter = even.has_margin() ? filter : w.p[conv_operand::weights];   // in order: by conv_transpose
            v.x = raw;
        } else {
            v.x = w.p[conv_weight_gradient_operand::x];
            v.y = w.p[conv_weight_gradient_operand::dy];
            v.filter = filter;
        }
        if (!engine.can_convolve(v)) return false;
        if constexpr (gives_results) put_filter<from_filter>(engine, w, even, filter);
        else if constexpr (!gives_weights)
            if (even.has_margin()) put_filter<from_ordered_filter>(engine, w, even, filter);
        engine.convolve(v);
        return true;
    }
    template <int From>
    static void put_filter(Engine& engine, const work& w, const even_filter& even, float* filter) {
        const int* x = w.s->extents;
        source_call s;
        s.a = w.p[conv_operand::weights];
        s.out = filter;
        for (int i = 0; i < 12; ++i) s.x[i] = x[i];
        even.tell(s);
        body<>::call c{};
        c.columns = x[conv_fixed::CI];
        c.rows = std::int64_t{x[conv_fixed::CO]} * even.rows() * even.columns();
        c.parts = static_cast<int>(parts_of({c.rows, c.columns}, false, false));
        engine.template elements<From>(s, c);
    }

    template <int I>
    static void add_one(Engine& engine, const typename B::call& c) {
        if constexpr (B::code[I].is(opcode::column_sum))
            engine.add_partials(c.partial_sum(B::code[I].b, 0), c.p[B::code[I].arg], B::code[I].row ? 1 : c.columns,
                                c.columns, c.parts);
    }
    template <int... I>
    static void add_partials(Engine& engine, const typename B::call& c, std::integer_sequence<int, I...>) {
        (add_one<I>(engine, c), ...);
    }
};

} // namespace sinter::gpu
