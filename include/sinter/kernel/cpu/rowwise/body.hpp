// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/philox.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/rowwise/arithmetic.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/compiler/emit/instruction.hpp>
#include <utility>

/// A kernel's elementwise body, as a type made of the program's instructions, run on whole vectors.
namespace sinter::inline SINTER_TARGET::cpu {

/// Where a vector of the walk lies.
struct place {
    std::int64_t off, row;   ///< element offset in the walk's own layout; row
    int col, n;              ///< first column; lanes that count (used where Full is false)
};

/// This part's columns of to = the sum of all parts' sums, in the parts' order.
template <class = void>
__attribute__((noinline)) inline void add_parts(float* to, const float* sums, std::int64_t columns, const call& c) {
    const std::int64_t end = share(columns, c.part + 1, c.parts);
    for (std::int64_t j = share(columns, c.part, c.parts); j < end; j += lanes) {
        const int n = end - j < lanes ? static_cast<int>(end - j) : lanes;
        vf s = zero();
        for (int p = 0; p < c.parts; ++p) s += load(sums + p * c.e[extent::buffer_stride] + j, n);
        store(to + j, s, n);
    }
}

/// The instructions W as code of vectors: what a kernel does with each of its results, or a walk
/// with each element.
template <std::uint64_t... W>
struct body {
    static constexpr int size = sizeof...(W);
    static constexpr instruction code[std::size_t{size + 1}] = {instruction::unpack(W)..., instruction{}};
    using all = std::make_integer_sequence<int, size>;

    static constexpr bool is_reduction(int i) { return code[i].is(opcode::row_sum) || code[i].is(opcode::row_max); }
    /// Does register i hold one value a row?
    static constexpr bool per_row(int i) { return code[i].row || is_reduction(i); }
    static constexpr int count(opcode k) {
        int n = 0;
        for (int i = 0; i < size; ++i) n += code[i].is(k);
        return n;
    }
    /// Does it use non-temporal stores? Then a fence must follow before other threads read.
    static constexpr bool writes_non_temporal = [] {
        for (int i = 0; i < size; ++i)
            if (code[i].is(opcode::store) && code[i].is_non_temporal()) return true;
        return false;
    }();
    static constexpr int sums = count(opcode::column_sum), buffers = count(opcode::spill),
                         stores = count(opcode::store);
    template <int I>
    static constexpr int operations_of() {
        if constexpr (requires { rule<static_cast<op_id>(code[I].code)>::operations; })
            return rule<static_cast<op_id>(code[I].code)>::operations;
        else return 0;
    }
    /// About how many its functions take for an element.
    static constexpr int operations = []<int... I>(std::integer_sequence<int, I...>) {
        return (0 + ... + (code[I].row ? 0 : operations_of<I>()));
    }(all{});
    /// The same of those that there are once a row.
    static constexpr int row_operations = []<int... I>(std::integer_sequence<int, I...>) {
        return (0 + ... + (code[I].row ? operations_of<I>() : 0));
    }(all{});
    /// The same of those in one phase, which run for each vector.
    template <int Phase>
    static constexpr int operations_in = []<int... I>(std::integer_sequence<int, I...>) {
        return (0 + ... + (code[I].row || code[I].phase != Phase ? 0 : operations_of<I>()));
    }(all{});
    static constexpr int reductions_in(int phase) {
        int n = 0;
        for (int i = 0; i < size; ++i) n += reduces(i, phase);
        return n;
    }
    static constexpr int phases = [] {   // passes over a row's columns
        int n = 0;
        for (int i = 0; i < size; ++i)
            if (!code[i].row && code[i].phase >= n) n = code[i].phase + 1;
        return n;
    }();

    /// Floats of call::sums: partial column sums of each part, then each part's row buffers. Each
    /// begins a cache line and ends with one, so that vectors are whole everywhere; what lies
    /// behind the last column is never looked at.
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts) {
        return parts * (sums + buffers) * e[extent::buffer_stride];
    }
    static float* partial_sum(int k, int part, const call& c) {
        return c.sums + (static_cast<std::int64_t>(k) * c.parts + part) * c.e[extent::buffer_stride];
    }
    static float* row_buffer(int k, const call& c) {
        return partial_sum(sums, 0, c) + (static_cast<std::int64_t>(c.part) * buffers + k) * c.e[extent::buffer_stride];
    }

    /// Before a part's work: its partial sums are zero.
    static void begin(const call& c) {
        for (int k = 0; k < sums; ++k)
            for (std::int64_t j = 0; j < c.e[extent::buffer_stride]; j += lanes)
                store(partial_sum(k, c.part, c) + j, zero());
    }
    /// Calls f(instruction) for each instruction that sums columns, or a value that there is once a
    /// row.
    template <class F>
    static void each_sum(F f) {
        for (int i = 0; i < size; ++i)
            if (code[i].is(opcode::column_sum)) f(code[i]);
    }
    /// After all parts: the sums, in the parts' order; this too is done in parts, by columns.
    static void finish(const call& c) {
        each_sum(
            [&](instruction w) { add_parts(c.p[w.arg], partial_sum(w.b, 0, c), w.row ? 1 : c.e[extent::columns], c); });
    }

    // ---- for kernels of root ops: everything in one go
    static SINTER_INLINE void vector(vf raw, std::int64_t off, std::int64_t row, int col, const call& c) {
        vf r[std::size_t{size + 1}];
        run_all<true>(r, raw, {off, row, col, lanes}, c, all{});
    }
    static SINTER_INLINE void vector(vf raw, int n, std::int64_t off, std::int64_t row, int col, const call& c) {
        vf r[std::size_t{size + 1}];
        run_all<false>(r, raw, {off, row, col, n}, c, all{});
    }

    /// Of two whole vectors side by side, instruction by instruction: the chains of operations that
    /// instructions are do not wait for each other.
    static SINTER_INLINE void two_vectors(vf left, vf right, std::int64_t off, std::int64_t row, int col,
                                          const call& c) {
        vf r[std::size_t{size + 1}], s[std::size_t{size + 1}];
        run_both(r, s, left, right, {off, row, col, lanes}, {off + lanes, row, col + lanes, lanes}, c, all{});
    }

    static constexpr bool is_drawn(int i) { return code[i].is(op::random_uniform) && !code[i].row; }
    static constexpr bool is_drawn_by_row(int i) {
        return code[i].is(op::random_uniform) && code[i].row && code[i].rows() == row_map::same;
    }
    /// Does it draw random numbers for elements? Two vectors side by side take hardly longer for
    /// that than one.
    static constexpr bool draws = [] {
        for (int i = 0; i < size; ++i)
            if (is_drawn(i)) return true;
        return false;
    }();

    /// The same for `rows` rows of a tile, [rows][width] sums, of which this vector's n lanes
    /// count: column sums stay in registers from row to row.
    template <bool Full>
    static SINTER_INLINE void vectors(const float* raw, int width, int rows, int n, std::int64_t off,
                                      std::int64_t off_step, std::int64_t row, int col, const call& c) {
        vf r[std::size_t{size + 1}];
        begin_tile(r, all{});
        for (int i = 0; i < rows; ++i)
            run_all<Full, true>(r, load(raw + i * width), {off + i * off_step, row + i, col, n}, c, all{});
        end_tile(r, col, c, all{});
    }
    /// And two whole vectors of each row together.
    static SINTER_INLINE void vector_pairs(const float* raw, int width, int rows, std::int64_t off,
                                           std::int64_t off_step, std::int64_t row, int col, const call& c) {
        vf r[std::size_t{size + 1}], s[std::size_t{size + 1}];
        begin_tile(r, all{});
        begin_tile(s, all{});
        for (int i = 0; i < rows; ++i, raw += width, off += off_step)
            run_both<true>(r, s, load(raw), load(raw + lanes), {off, row + i, col, lanes},
                           {off + lanes, row + i, col + lanes, lanes}, c, all{});
        end_tile(r, col, c, all{});
        end_tile(s, col + lanes, c, all{});
    }

    /// Are all columns alike to it, but for what it loads of each? Then a vector may hold several
    /// rows of few columns.
    static constexpr bool is_alike(int i) {
        const instruction w = code[i];
        if (w.is(opcode::load)) return w.columns() && (w.rows() == row_map::same || w.rows() == row_map::none);
        if (w.is(opcode::accumulator) || w.is(opcode::literal)) return true;
        if (w.is(opcode::store) || w.is(opcode::column_sum)) return !w.row;
        if (is_reduction(i) || w.is(opcode::spill) || w.is(opcode::reload)) return false;
        const op_id k = static_cast<op_id>(w.code);
        return k != op::column_index && !is_drawn_by_row(i);
    }
    static constexpr bool alike = [] {
        for (int i = 0; i < size; ++i)
            if (!is_alike(i)) return false;
        return true;
    }();
    /// As vectors, of n whole rows of all Columns columns, several to a vector, in a result that
    /// has no others: n is a multiple of lanes / Columns.
    template <int Columns>
    static SINTER_INLINE void several_rows(const float* raw, int n, std::int64_t off, std::int64_t row, const call& c) {
        constexpr int several = lanes / Columns, width = several * Columns;
        vf r[std::size_t{size + 1}];
        begin_tile(r, all{});
        for (int i = 0; i < n; i += several, raw += width, off += width)
            run_all<width == lanes, true, Columns>(r, load(raw), {off, row + i, 0, width}, c, all{});
        fold_tile<Columns>(r, all{});
        end_tile(r, 0, c, all{});
    }
    /// The same of `several` rows whose numbers are in a register.
    template <int Columns, int Several>
    static SINTER_INLINE void several_rows(vf raw, std::int64_t off, std::int64_t row, const call& c) {
        static_assert(sums == 0, "each vector would add its sums to memory");
        vf r[std::size_t{size + 1}];
        run_all<Several * Columns == lanes, false, Columns>(r, raw, {off, row, 0, Several * Columns}, c, all{});
    }
    /// Does it go over a row's columns once, each on its own? Then rows may be walked some columns
    /// after the others, which see what there is once a row as often.
    static constexpr bool columns_apart = [] {
        for (int i = 0; i < size; ++i)
            if (is_reduction(i) || (code[i].row && (code[i].is(opcode::store) || code[i].is(opcode::column_sum))))
                return false;
        return phases == 1;
    }();
    /// The same for a tile whose sums are in registers, [MR][NR whole vectors].
    template <int MR, int NR>
    static SINTER_INLINE void tile(const vf* block, std::int64_t off, std::int64_t off_step, std::int64_t row, int col,
                                   const call& c) {
        unroll<NR>([&](auto j) SINTER_ALWAYS {
            vf r[std::size_t{size + 1}];
            const int at = j * lanes;
            std::int64_t there = off + at;
            begin_tile(r, all{});
            unroll<MR>([&](int i) SINTER_ALWAYS {
                run_all<true, true>(r, block[i * NR + at / lanes], {there, row + i, col + at, lanes}, c, all{});
                there += off_step;
                asm("" : "+r"(there));   // else every row's place is worked out beforehand, and kept in memory
            });
            end_tile(r, col + at, c, all{});
        });
    }

    /// Calls f(address, is it written?) for the lines that a tile's rows will read and write in
    /// arrays of the result's layout, to prefetch them before its sums are there. Rows of a wide
    /// result lie too far apart for the processor to foresee them.
    template <class F>
    static SINTER_INLINE void each_line(int rows, int columns, std::int64_t off, std::int64_t off_step, const call& c,
                                        F f) {
        if (off_step == columns) columns *= rows, rows = 1;
        for (int i = 0; i < rows; ++i, off += off_step)
            for (int j = 0; j < columns; j += floats_a_line) lines_at(off + j, c, f, all{});
    }
    /// Prefetches all of them.
    static SINTER_INLINE void prefetch(int rows, int columns, std::int64_t off, std::int64_t off_step, const call& c) {
        each_line(rows, columns, off, off_step, c,
                  [](const float* p, auto written) SINTER_ALWAYS { __builtin_prefetch(p, decltype(written)::value); });
    }

    // ---- for walks: instructions of one phase, once a row or once a vector
    template <int Phase, bool Row, bool Full>
    static SINTER_INLINE void run(vf* per_row_r, vf* r, const place& at, const call& c) {
        run_phase<Phase, Row, Full>(per_row_r, r, at, c,
                                    std::make_integer_sequence<int, instructions_of<Phase, Row>.n>{});
    }
    /// A phase's instructions for two whole vectors side by side, of which `at` is the first.
    template <int Phase>
    static SINTER_INLINE void run_pair(vf* per_row_r, vf* r, vf* s, const place& at, const call& c) {
        run_pair<Phase>(per_row_r, r, s, at, {at.off + lanes, at.row, at.col + lanes, lanes}, c,
                        std::make_integer_sequence<int, instructions_of<Phase, false>.n>{});
    }
    template <int Phase>
    static SINTER_INLINE void begin_reductions(vf* per_row_r) { begin_reductions<Phase>(per_row_r, all{}); }
    template <int Phase>
    static SINTER_INLINE void end_reductions(vf* per_row_r) { end_reductions<Phase>(per_row_r, all{}); }
    /// Reductions go on with the next one of their partial results: the registers are renamed, no
    /// code is written out for each.
    template <int Phase, std::size_t N>
    static SINTER_INLINE void rotate_reductions(vf* per_row_r, vf (&others)[N][std::size_t{size + 1}]) {
        rotate_reductions<Phase>(per_row_r, others, all{});
    }
    template <int Phase, std::size_t N>
    static SINTER_INLINE void join_reductions(vf* per_row_r, const vf (&others)[N][std::size_t{size + 1}]) {
        join_reductions<Phase>(per_row_r, others, all{});
    }
    /// Results of other columns join those that are there.
    template <int Phase>
    static SINTER_INLINE void add_reductions(vf* pr, const vf* others) {
        unroll<size>([&](int i) SINTER_ALWAYS { if (reduces(i, Phase)) pr[i] = reduced(i, pr[i], others[i]); });
    }

    // ---- for walks that go their own way over rows and columns (narrow_walk.hpp)
    template <bool Full>
    static SINTER_INLINE vf read(const float* p, int n) {
        if constexpr (Full) return load(p);
        else return load(p, n);
    }
    template <bool Full, bool NonTemporal = false>
    static SINTER_INLINE void write(float* p, vf v, int n) {
        if constexpr (!Full) store(p, v, n);
        else if constexpr (NonTemporal) store_half_lines(p, v);
        else store(p, v);
    }
    template <bool Full>
    static SINTER_INLINE vf only(vf v, vf rest, int n) {   // lanes that do not count become `rest`
        if constexpr (Full) return v;
        else return select(lane_numbers() < splat(static_cast<std::int32_t>(n)), v, rest);
    }
    /// The random numbers, in [0, 1), of elements or rows from number `first` on; or each `step`
    /// behind the one before.
    static SINTER_INLINE vf uniform(int stream, std::int64_t first, const call& c) {
        return cpu::uniform(philox_words(c.seed, counter_of(stream, c), static_cast<std::uint64_t>(first)));
    }
    static SINTER_INLINE vf uniform(int stream, std::int64_t first, int step, const call& c) {
        const auto from = static_cast<std::uint64_t>(first);
        return cpu::uniform(philox_words(c.seed, counter_of(stream, c), from, static_cast<std::uint32_t>(step)));
    }
    template <int I>
    static SINTER_INLINE vf get(const vf* pr, const vf* r) {
        if constexpr (per_row(I)) return pr[I];
        else return r[I];
    }
    /// Instruction I, an elementwise op.
    template <int I>
    static SINTER_INLINE vf elementwise(const vf* pr, const vf* r, const place& at, const call& c) {
        constexpr instruction w = code[I];
        constexpr op_id k = static_cast<op_id>(w.code);
        if constexpr (k == op::column_index)
            return __builtin_convertvector(lane_numbers() + splat(static_cast<std::int32_t>(at.col)), vf);
        else if constexpr (k == op::random_uniform && w.row)   // one number for the row, or for all, whoever walks
            return splat(uniform(w.arg, is_drawn_by_row(I) ? at.row : 0, c)[0]);
        else if constexpr (k == op::random_uniform) return uniform(w.arg, at.off, c);
        else if constexpr (k == op::runtime_scalar) return splat(c.scalars[w.arg]);
        else if constexpr (k == op::loop_index) return splat(static_cast<float>(c.iteration));
        else if constexpr (rule<k>::reads_batch)
            return rule<k>::value(get<w.a>(pr, r), batch_numbers{c.batch, c.global_batch, c.loss_weights}, w.arg);
        else if constexpr (rule<k>::operands == 1) return rule<k>::template value<vf>(get<w.a>(pr, r));
        else if constexpr (rule<k>::operands == 2) return rule<k>::template value<vf>(get<w.a>(pr, r), get<w.b>(pr, r));
        else return rule<k>::template value<vf>(get<w.a>(pr, r), get<w.b>(pr, r), get<w.c()>(pr, r));
    }

private:
    template <bool Full, bool Tile = false, int Repeated = 0, int... I>
    static SINTER_INLINE void run_all(vf* r, vf raw, const place& at, const call& c, std::integer_sequence<int, I...>) {
        (step<I, Full, Tile, Repeated>(r, r, raw, at, c), ...);
    }
    template <bool Tile = false, int... I>
    static SINTER_INLINE void run_both(vf* r, vf* s, vf left, vf right, const place& a, const place& b, const call& c,
                                       std::integer_sequence<int, I...>) {
        (step_both<I, Tile>(r, s, r, s, left, right, a, b, c), ...);
    }
    template <int Phase, int... I>
    static SINTER_INLINE void run_pair(vf* pr, vf* r, vf* s, const place& a, const place& b, const call& c,
                                       std::integer_sequence<int, I...>) {
        (step_both<instructions_of<Phase, false>.at[I], false>(pr, pr, r, s, vf{}, vf{}, a, b, c), ...);
    }
    template <int I, bool Tile>
    static SINTER_INLINE void step_both(vf* pr, vf* ps, vf* r, vf* s, vf left, vf right, const place& a, const place& b,
                                        const call& c) {
        if constexpr (is_drawn(I)) {
            const auto both = philox_word_pair(c.seed, counter_of(code[I].arg, c), static_cast<std::uint64_t>(a.off));
            r[I] = cpu::uniform(both.front), s[I] = cpu::uniform(both.back);
        } else {
            step<I, true, Tile>(pr, r, left, a, c);
            step<I, true, Tile>(ps, s, right, b, c);
        }
    }
    static constexpr bool sums_columns(int i) { return code[i].is(opcode::column_sum) && !code[i].row; }
    template <int... I>
    static SINTER_INLINE void begin_tile(vf* r, std::integer_sequence<int, I...>) {
        ((sums_columns(I) ? (void)(r[I] = zero()) : (void)0), ...);
    }
    template <int Columns, int... I>
    static SINTER_INLINE void fold_tile(vf* r, std::integer_sequence<int, I...>) {
        ((sums_columns(I) ? (void)(r[I] = fold<Columns>(r[I])) : (void)0), ...);
    }
    template <int By>
    struct shift {
        static constexpr int lane(int l) { return l + By; }
    };
    template <int Columns>
    static SINTER_INLINE vf fold(vf v) {   // the rows of a vector, in their order
        const vf rows = v;
        unroll<lanes / Columns - 1>([&](auto k)
                                        SINTER_ALWAYS { v += shuffle<shift<(k + 1) * Columns>>(rows, zero()); });
        return v;
    }
    template <int... I>
    static SINTER_INLINE void end_tile(const vf* r, int col, const call& c, std::integer_sequence<int, I...>) {
        ((sums_columns(I) ? add_to(partial_sum(code[I].b, c.part, c) + col, r[I]) : (void)0), ...);
    }
    static SINTER_INLINE void add_to(float* p, vf v) { store(p, load(p) + v); }
    static constexpr bool walks(int i) { return !code[i].row && code[i].columns() && code[i].rows() == row_map::same; }
    /// A value may be written over one that was read: its lines are prefetched once.
    static constexpr bool writes(int arg) {
        for (int i = 0; i < size; ++i)
            if (code[i].is(opcode::store) && !code[i].row && code[i].arg == arg) return true;
        return false;
    }
    template <class F, int... I>
    static SINTER_INLINE void lines_at(std::int64_t off, const call& c, F f, std::integer_sequence<int, I...>) {
        ((code[I].is(opcode::store) && !code[I].row && !code[I].is_non_temporal()
              ? f(c.p[code[I].arg] + off, std::true_type{})
          : code[I].is(opcode::load) && walks(I) && !writes(code[I].arg) ? f(c.p[code[I].arg] + off, std::false_type{})
                                                                         : (void)0), ...);
    }
    struct instruction_list { int n = 0, at[std::size_t{size + 1}] = {}; };
    template <int Phase, bool Row>
    static constexpr instruction_list instructions_of = [] {
        instruction_list l;
        for (int i = 0; i < size; ++i)
            if (code[i].phase == Phase && static_cast<bool>(code[i].row) == Row) l.at[l.n++] = i;
        return l;
    }();
    template <int Phase, bool Row, bool Full, int... I>
    static SINTER_INLINE void run_phase([[maybe_unused]] vf* pr, [[maybe_unused]] vf* r, const place& at, const call& c,
                                        std::integer_sequence<int, I...>) {
        (step<instructions_of<Phase, Row>.at[I], Full>(pr, r, vf{}, at, c), ...);
    }
    template <int I>
    static SINTER_INLINE std::int64_t mapped_row(std::int64_t row, const call& c) {
        constexpr row_map m = code[I].rows();
        if constexpr (m == row_map::same) return row;
        else if constexpr (m == row_map::none) return 0;
        else if constexpr (m == row_map::divided) return row / c.e[extent::first_q + code[I].b];
        else return row % c.e[extent::first_q + code[I].b];
    }
    /// The lanes of one row, for as many rows as there is room for.
    template <int Columns>
    struct repeat { static constexpr int lane(int l) { return l % Columns; } };
    template <int I, bool Full, int Repeated>
    static SINTER_INLINE vf load_instruction(const place& at, const call& c) {
        constexpr instruction w = code[I];
        const float* p = c.p[w.arg];
        if constexpr (Repeated > 0 && w.columns() && w.rows() == row_map::none) {
            const vf v = load(p, Repeated), each = shuffle<repeat<Repeated>>(v, v);
            if constexpr (w.whole()) return __builtin_convertvector((vi)each, vf);
            else return each;
        }
        if constexpr (w.columns() && w.rows() == row_map::same) p += at.off;
        else if constexpr (w.columns()) p += mapped_row<I>(at.row, c) * c.e[extent::columns] + at.col;
        else p += mapped_row<I>(at.row, c);
        if constexpr (w.whole() && w.columns()) return __builtin_convertvector((vi)read<Full>(p, at.n), vf);
        else if constexpr (w.whole()) return splat(static_cast<float>(*reinterpret_cast<const std::int32_t*>(p)));
        else if constexpr (w.columns()) return read<Full>(p, at.n);
        else return splat(*p);
    }

    template <int I, bool Full, bool Tile = false, int Repeated = 0>
    static SINTER_INLINE void step(vf* pr, vf* r, vf raw, const place& at, const call& c) {
        constexpr instruction w = code[I];
        vf* const to = per_row(I) ? pr : r;
        if constexpr (w.is(opcode::accumulator)) to[I] = raw;
        else if constexpr (w.is(opcode::load)) to[I] = load_instruction<I, Full, Repeated>(at, c);
        else if constexpr (w.is(opcode::literal)) to[I] = splat(c.k[w.arg]);
        else if constexpr (w.is(opcode::store)) {
            if constexpr (w.row) c.p[w.arg][at.row] = get<w.a>(pr, r)[0];
            else write<Full, w.is_non_temporal()>(c.p[w.arg] + at.off, get<w.a>(pr, r), at.n);
        } else if constexpr (w.is(opcode::column_sum)) {
            if constexpr (w.row) *partial_sum(w.b, c.part, c) += get<w.a>(pr, r)[0];
            else if constexpr (Tile) to[I] += get<w.a>(pr, r);
            else add_to(partial_sum(w.b, c.part, c) + at.col, get<w.a>(pr, r));
        } else if constexpr (w.is(opcode::row_sum)) to[I] += only<Full>(get<w.a>(pr, r), zero(), at.n);
        else if constexpr (w.is(opcode::row_max))
            to[I] = max_or_nan(to[I], only<Full>(get<w.a>(pr, r), splat(-__builtin_inff()), at.n));
        else if constexpr (w.is(opcode::spill)) store(row_buffer(w.b, c) + at.col, get<w.a>(pr, r));
        else if constexpr (w.is(opcode::reload)) to[I] = load(row_buffer(w.b, c) + at.col);
        else to[I] = elementwise<I>(pr, r, at, c);
    }
    static SINTER_INLINE std::uint64_t counter_of(int stream, const call& c) {
        return static_cast<std::uint64_t>(c.iteration) << 48 | static_cast<std::uint64_t>(c.step) << 16 |
               static_cast<std::uint64_t>(stream);
    }

    template <int Phase, int... I>
    static SINTER_INLINE void begin_reductions(vf* pr, std::integer_sequence<int, I...>) {
        ((reduces(I, Phase) ? (void)(pr[I] = is_sum(I) ? zero() : splat(-__builtin_inff())) : (void)0), ...);
    }
    static constexpr bool reduces(int i, int phase) { return is_reduction(i) && code[i].phase == phase; }
    template <int Phase, std::size_t N, int... I>
    static SINTER_INLINE void rotate_reductions(vf* pr, vf (&others)[N][std::size_t{size + 1}],
                                                std::integer_sequence<int, I...>) {
        const auto rotate = [&](int i) SINTER_ALWAYS {
            const vf first = pr[i];
            pr[i] = others[0][i];
            if constexpr (N > 1) unroll<N - 1>([&](int k) SINTER_ALWAYS { others[k][i] = others[k + 1][i]; });
            others[N - 1][i] = first;
        };
        ((reduces(I, Phase) ? rotate(I) : (void)0), ...);
    }
    template <int Phase, std::size_t N, int... I>
    static SINTER_INLINE void join_reductions(vf* pr, const vf (&others)[N][std::size_t{size + 1}],
                                              std::integer_sequence<int, I...>) {
        const auto join = [&](int i) SINTER_ALWAYS {
            pr[i] = reduced(i, pr[i], others[0][i]);
            if constexpr (N == 3) pr[i] = reduced(i, pr[i], reduced(i, others[1][i], others[2][i]));
        };
        ((reduces(I, Phase) ? join(I) : (void)0), ...);
    }
    static constexpr bool is_sum(int i) { return code[i].is(opcode::row_sum); }
    static SINTER_INLINE vf reduced(int i, vf a, vf b) { return is_sum(i) ? a + b : max_or_nan(a, b); }
    template <int Phase, int... I>
    static SINTER_INLINE void end_reductions(vf* pr, std::integer_sequence<int, I...>) {
        ((reduces(I, Phase) ? (void)(pr[I] = splat(is_sum(I) ? sum_lanes(pr[I]) : max_lanes(pr[I]))) : (void)0), ...);
    }
};

} // namespace sinter::cpu
