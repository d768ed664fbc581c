// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/kernel/cuda/body_call.hpp>
#include <sinter/kernel/scalar_arithmetic.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/compiler/emit/instruction.hpp>

/// A kernel's elementwise body on one number: the same instructions as on the CPU, run by one GPU
/// thread, or by the host.
namespace sinter::inline SINTER_TARGET::gpu {

/// Where in its walk a thread is.
struct place {
    std::int64_t off = 0, row = 0;   ///< element in memory order; its row
    int col = 0;
    int part = 0;                    ///< share of the rows that this thread works on
    bool leads = true;               ///< of all threads that see this row, the one that does what is done once a row
    bool first = true;               ///< the first row of this part: its partial sums begin here
};

template <std::uint64_t... W>
struct body {
    static constexpr int size = sizeof...(W);
    static constexpr instruction code[std::size_t{size + 1}] = {instruction::unpack(W)..., instruction{}};
    using all = std::make_integer_sequence<int, size>;

    static constexpr bool is_reduction(int i) {
        return code[i].is(opcode::row_sum) || code[i].is(opcode::row_max);
    }
    static constexpr int count(opcode k) {
        int n = 0;
        for (int i = 0; i < size; ++i) n += code[i].is(k);
        return n;
    }
    static constexpr int sums = count(opcode::column_sum), buffers = count(opcode::spill);
    static constexpr bool reduces_rows = count(opcode::row_sum) + count(opcode::row_max) > 0;
    static constexpr int phases = [] {   // passes over a row's columns
        int n = 0;
        for (int i = 0; i < size; ++i)
            if (!code[i].row && code[i].phase >= n) n = code[i].phase + 1;
        return n;
    }();
    static constexpr bool uses_operand(int i) {
        return code[i].is(opcode::load) || code[i].is(opcode::store) || code[i].is(opcode::column_sum);
    }
    /// Operands and literals up to the last one that an instruction names.
    static constexpr int operands = [] {
        int n = 0;
        for (int i = 0; i < size; ++i)
            if (uses_operand(i) && code[i].arg >= n) n = code[i].arg + 1;
        return n;
    }();
    static constexpr int literals = [] {
        int n = 0;
        for (int i = 0; i < size; ++i)
            if (code[i].is(opcode::literal) && code[i].arg >= n) n = code[i].arg + 1;
        return n;
    }();
    /// Instructions that draw random numbers: each has its place in the call, where the stream is.
    static constexpr int draws = [] {
        int n = 0;
        for (int i = 0; i < size; ++i) n += code[i].is(op::random_uniform);
        return n;
    }();
    using call = body_call<operands + 1, literals + 1, draws + 1>;

    /// Nothing but "store what the kernel computed": the operand that it goes to, else -1.
    static constexpr int only_store = size == 2 && code[0].is(opcode::accumulator) &&
                                      code[1].is(opcode::store) && !code[1].row ? code[1].arg : -1;

    /// Is it one random number for all rows and columns?
    static constexpr bool is_drawn_once(const instruction& w) { return w.row && w.rows() == row_map::none; }
    /// Is instruction i the same for all elements of a column (of a flat walk: for all)? A thread
    /// that stays in its column works these out once.
    static constexpr bool fixed(int i, bool flat) {
        bool is[std::size_t{size + 1}] = {};
        for (int j = 0; j <= i; ++j) {
            const instruction& w = code[j];
            const op_id k = static_cast<op_id>(w.code);
            if (flat && w.row) is[j] = true;
            else if (w.is(opcode::literal) || k == op::runtime_scalar || k == op::loop_index || k == op::column_index)
                is[j] = true;
            else if (w.is(opcode::load)) is[j] = w.rows() == row_map::none;
            else if (k == op::random_uniform) is[j] = is_drawn_once(w);
            else if (w.code < 256) is[j] = false;
            else is[j] = is[w.a] && is[w.b] && is[w.c()];
        }
        return is[i];
    }

    /// All instructions of an element in one go: those that are fixed (before the first element),
    /// or all others.
    template <bool Fixed, bool Flat>
    static SINTER_HOST_DEVICE void element(float* r, float* sum, float raw, const place& at, const call& c) {
        run_element<Fixed, Flat>(r, sum, raw, at, c, all{});
    }
    /// All instructions of N elements: one after the other, each of all elements, so that what they
    /// load is on its way before the first of them is stored. `once`: the registers of those that
    /// are fixed.
    template <bool Flat, int N>
    static SINTER_HOST_DEVICE void elements(const float* once, float* sum, const float* raw, const place* at,
                                            const call& c) {
        float r[std::size_t{N}][std::size_t{size + 1}];
        run_elements<Flat, N>(r, once, sum, raw, at, c, all{});
    }
    /// Loads of an element that are not fixed.
    static constexpr int loads(bool flat) {
        int n = 0;
        for (int i = 0; i < size; ++i) n += code[i].is(opcode::load) && !fixed(i, flat);
        return n;
    }
    /// The instructions of one phase that run once a row, or once an element.
    template <int Phase, bool Row>
    static SINTER_HOST_DEVICE void phase(float* r, const place& at, const call& c) {
        run_phase<Phase, Row>(r, at, c, all{});
    }

private:
    template <bool Fixed, bool Flat, int... I>
    static SINTER_HOST_DEVICE void run_element([[maybe_unused]] float* r, [[maybe_unused]] float* sum,
                                               [[maybe_unused]] float raw, const place& at, const call& c,
                                               std::integer_sequence<int, I...>) {
        (step_if<I, fixed(I, Flat) == Fixed>(r, sum, raw, at, c), ...);
    }
    template <bool Flat, int N, int... I>
    static SINTER_HOST_DEVICE void run_elements(float (*r)[std::size_t{size + 1}], const float* once, float* sum,
                                                const float* raw, const place* at, const call& c,
                                                std::integer_sequence<int, I...>) {
        (step_of_all<I, fixed(I, Flat)>(r, once, sum, raw, at, c, std::make_integer_sequence<int, N>{}), ...);
    }
    template <int I, bool Fixed, int... K>
    static SINTER_HOST_DEVICE void step_of_all(float (*r)[std::size_t{size + 1}], [[maybe_unused]] const float* once,
                                               [[maybe_unused]] float* sum, [[maybe_unused]] const float* raw,
                                               [[maybe_unused]] const place* at, [[maybe_unused]] const call& c,
                                               std::integer_sequence<int, K...>) {
        if constexpr (Fixed) ((r[K][I] = once[I]), ...);
        else (step<I>(r[K], sum, raw[K], at[K], c), ...);
    }
    template <int Phase, bool Row, int... I>
    static SINTER_HOST_DEVICE void run_phase([[maybe_unused]] float* r, const place& at, const call& c,
                                             std::integer_sequence<int, I...>) {
        (step_if<I, (code[I].phase == Phase && static_cast<bool>(code[I].row) == Row)>(r, nullptr, 0.f, at, c), ...);
    }
    template <int I, bool Run>
    static SINTER_HOST_DEVICE void step_if(float* r, float* sum, float raw, const place& at, const call& c) {
        if constexpr (Run) step<I>(r, sum, raw, at, c);
    }

    template <int I>
    static SINTER_HOST_DEVICE void step(float* r, float* sum, float raw, const place& at, const call& c) {
        constexpr instruction w = code[I];
        if constexpr (w.is(opcode::accumulator)) r[I] = raw;
        else if constexpr (w.is(opcode::load)) r[I] = load_instruction<I>(at, c);
        else if constexpr (w.is(opcode::literal)) r[I] = c.k[w.arg];
        else if constexpr (w.is(opcode::store)) {
            if constexpr (!w.row) c.p[w.arg][at.off] = r[w.a];
            else if (at.leads) c.p[w.arg][at.row] = r[w.a];
        } else if constexpr (w.is(opcode::column_sum)) {
            if (!w.row || at.leads) add(w.b, w.row ? 0 : at.col, r[w.a], sum, at, c);
        } else if constexpr (w.is(opcode::row_sum)) r[I] += r[w.a];
        else if constexpr (w.is(opcode::row_max)) r[I] = larger(r[w.a], r[I]);
        else if constexpr (w.is(opcode::spill)) c.row_buffer(w.b, at.part)[at.col] = r[w.a];
        else if constexpr (w.is(opcode::reload)) r[I] = c.row_buffer(w.b, at.part)[at.col];
        else r[I] = elementwise<I>(r, at, c);
    }
    /// A thread that stays in its column keeps its sums to itself; else they lie with the part's
    /// other columns.
    static SINTER_HOST_DEVICE void add(int k, int col, float v, float* sum, const place& at, const call& c) {
        if (sum) {
            sum[k] += v;
            return;
        }
        float* p = c.partial_sum(k, at.part) + col;
        *p = at.first ? v : *p + v;
    }

    template <int I>
    static SINTER_HOST_DEVICE float load_instruction(const place& at, const call& c) {
        constexpr instruction w = code[I];
        std::int64_t i = at.row;
        if constexpr (w.rows() == row_map::none) i = 0;
        else if constexpr (w.rows() == row_map::divided) i = at.row / c.q[w.b];
        else if constexpr (w.rows() == row_map::modulo) i = at.row % c.q[w.b];
        if constexpr (w.columns()) i = w.rows() == row_map::same ? at.off : i * c.columns + at.col;
        if constexpr (w.whole()) return static_cast<float>(reinterpret_cast<const std::int32_t*>(c.p[w.arg])[i]);
        else return c.p[w.arg][i];
    }
    template <int I>
    static SINTER_HOST_DEVICE float elementwise(const float* r, const place& at, const call& c) {
        constexpr instruction w = code[I];
        constexpr op_id k = static_cast<op_id>(w.code);
        if constexpr (k == op::column_index) return static_cast<float>(at.col);
        else if constexpr (k == op::random_uniform)
            return uniform(philox_word(c.step->seed,
                                       static_cast<std::uint64_t>(is_drawn_once(w) ? 0
                                                                  : w.row          ? at.row
                                                                                   : at.off),
                                       static_cast<std::uint64_t>(c.iteration) << 48 |
                                           static_cast<std::uint64_t>(c.step->number) << 16 | c.streams[w.arg]));
        else if constexpr (k == op::runtime_scalar) return c.step->scalars[w.arg];
        else if constexpr (k == op::loop_index) return static_cast<float>(c.iteration);
        else if constexpr (rule<k>::reads_batch) return rule<k>::value(r[w.a], c.step->batch_numbers(), w.arg);
        else if constexpr (rule<k>::operands == 1) return rule<k>::template value<float>(r[w.a]);
        else if constexpr (rule<k>::operands == 2) return rule<k>::template value<float>(r[w.a], r[w.b]);
        else return rule<k>::template value<float>(r[w.a], r[w.b], r[w.c()]);
    }
};

} // namespace sinter::gpu
