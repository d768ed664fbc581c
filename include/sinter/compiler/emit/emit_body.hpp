// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/fuse.hpp>
#include <sinter/compiler/plan/memory.hpp>
#include <sinter/compiler/emit/update_set.hpp>
#include <sinter/compiler/emit/instruction.hpp>

/// A group's elementwise code: its members become instructions, what they read from outside becomes
/// loads, and values that a later pass over the row needs again are read back or kept in a row
/// buffer.
namespace sinter::inline SINTER_TARGET::compiler {

class body_emitter {
public:
    /// `non_temporal`: so many floats an example and more are written by non-temporal stores; by
    /// walks only?
    constexpr body_emitter(const graph_view& g, const grouping& r, const address* at, std::int64_t non_temporal = 0,
                           bool non_temporal_walks = false)
        : non_temporal_(non_temporal), non_temporal_walks_(non_temporal_walks), n_(g.n.p), r_(r), at_(at),
          base_(find_bases(g.n, bases_)), numbers_(3 * g.n.n), reg_(numbers_.p), phase_(reg_ + g.n.n),
          stamp_(phase_ + g.n.n), row_(rows_.allocate(g.n.n)) {}

    constexpr void begin(const group& q) {
        ++now_;
        group_ = q.head >= 0 ? r_.of[q.head] : in_no_group;
        instructions_.n = args_.n = literals_.n = loads_.n = q_.n = 0;
        buffers_ = sums_ = 0;
        space_ = q.space;
        flat_ = true;
    }
    /// Operands of a root op's kernel come first, in its own order.
    constexpr void operand(int v) { operand(at_[v]); }
    constexpr void operand(address a) { args_.push(a); }
    constexpr void result(int root) { args_.push(at_[root]); }
    constexpr void further_result(const group& q, const grouping& r, int number) {   // if anybody wants it
        address a;
        for (int v = q.head; v >= 0; v = r.next[v])
            if (n_[v].about->kind == op_kind::get_output && n_[v].p[get_output_attribute::number] == number) a = at_[v];
        args_.push(a);
    }

    constexpr void members(const group& q) {
        if (q.root_op) {
            const int raw = q.pool >= 0 ? q.pool : q.root;
            accumulator(raw);
        }
        for (int v = q.head; v >= 0; v = r_.next[v]) {
            const op_kind kind = n_[v].about->kind;
            if (kind == op_kind::elementwise) elementwise(v);
            else if (kind == op_kind::row_reduce || kind == op_kind::col_reduce) reduce(v, kind);
        }
    }
    /// What the kernel hands on stands for node v.
    constexpr void accumulator(int v) { define(v, put({.code = code_of(opcode::accumulator)}), 0, false); }
    constexpr void stores(const group& q) {
        for (int v = q.head; v >= 0; v = r_.next[v]) {
            const op_kind kind = n_[v].about->kind;
            if (!r_.stored[v] || kind == op_kind::get_output || kind == op_kind::col_reduce) continue;
            if (at_[v].where() == space::none || (q.pool >= 0 && v == q.root)) continue;
            if (is_row(n_[v].s) && (space_.batched || space_.rows() > 1))
                flat_ = false;   // one value a row, even if all are equal
            const std::uint16_t to = arg(at_[v]);
            const std::uint8_t map = stores_non_temporal(q, v, to) ? instruction::non_temporal : std::uint8_t{0};
            put({.code = code_of(opcode::store), .a = byte(reg_[v]), .map = map, .arg = to,
                 .phase = byte(phase_[v]), .row = is_row(n_[v].s)});
        }
    }
    /// Behind node d (or, without one, behind loads of `sources` gradients) the optimizer's code.
    template <class Operand>
    constexpr void splice(int d, const update_code& u, Operand operand, int sources = 1) {
        growing<int> to(u.code.n, 0);
        const int literals = literals_.n, phase = d >= 0 ? phase_[d] : 0;
        for (int i = 0; i < u.constants.n; ++i) literals_.push(u.constants[i]);
        for (int i = 0; i < u.code.n; ++i) {
            instruction w = instruction::unpack(u.code[i]);
            if (w.is(opcode::load) && d >= 0 && u.operand[w.arg] == 1) {
                to[i] = reg_[d];
                continue;
            }
            if (w.is(opcode::load) && sources > 1 && u.operand[w.arg] == 1) {
                to[i] = sum_of_sources(w, operand(1), sources);
                continue;
            }
            if (w.is(opcode::store) && u.operand[w.arg] >= first_sum_operand) {
                sum_all(to[w.a], operand(u.operand[w.arg]));
                continue;
            }
            if (w.is(opcode::load) || w.is(opcode::store)) w.arg = arg(operand(u.operand[w.arg]));
            else if (w.is(opcode::literal)) w.arg = static_cast<std::uint16_t>(w.arg + literals);
            if (!w.is(opcode::load) && !w.is(opcode::literal)) {
                w.a = byte(to[w.a]);
                w.b = byte(to[w.b]);
                if (w.code > 255 && !w.is(op::random_uniform)) w.map = byte(to[w.c()]);
            }
            if (!w.row) w.phase = byte(phase);
            to[i] = put(w);
        }
    }
    constexpr void copy(int v, address to) {
        const int r = use(v, n_[v].s, 0);
        put({.code = code_of(opcode::store), .a = byte(r), .arg = arg(to)});
    }

    /// The sum of the squares of a stretch of memory that was begun as rows of 16.
    constexpr void sum_of_squares(address from, address to, int sources = 1) {
        const int x = sum_of_sources({.code = code_of(opcode::load), .map = instruction::along_columns}, from, sources);
        const int square = put({.code = code_of(op::mul), .a = byte(x), .b = byte(x)});
        sum_all(square, to);
    }
    constexpr void sum_of(address from, address to) {
        sum_all(put({.code = code_of(opcode::load), .map = instruction::along_columns, .arg = arg(from)}), to);
    }

    constexpr bool is_flat() const { return flat_; }
    constexpr int columns() const { return space_.last(); }
    constexpr int divisors() const { return q_.n; }
    constexpr int divisor(int i) const { return q_[i]; }
    constexpr view<const address> args() const { return {args_.p, args_.n}; }
    constexpr view<const float> literals() const { return {literals_.p, literals_.n}; }
    constexpr view<const instruction> instructions() const { return {instructions_.p, instructions_.n}; }

private:
    struct loaded {
        int from;   ///< operand's number; -1: a literal; -2 - node: a value of an earlier phase
        std::uint8_t map, phase, row;
        int q, reg;
    };
    const std::int64_t non_temporal_;
    const bool non_temporal_walks_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    const grouping& r_;
    const address* at_;
    growing<int> bases_;
    const int* const base_;                    ///< the node whose memory each shows
    growing<int> numbers_;
    int *const reg_, *const phase_,
                         *const stamp_;   ///< node -> register, the phase from which it is there, in which group's code
    growing<bool> rows_;
    bool* const row_;
    growing<instruction> instructions_;
    growing<address> args_;
    growing<float> literals_;
    growing<loaded> loads_;
    growing<int> q_;
    shape space_;
    int now_ = 0, group_ = in_no_group, buffers_ = 0, sums_ = 0;
    bool flat_ = true;

    /// Whole lines of an activation that is large, so that whoever reads it next finds it in no
    /// cache anyway, and that this body does not read: what is read is there already.
    constexpr bool stores_non_temporal(const group& q, int v, std::uint16_t to) const {
        const shape& s = n_[v].s;
        if (q.is_producer) return false;   // it is read at once
        if (non_temporal_walks_ && (q.root_op || s.last() < 64))
            return false;   // sums of few columns are made column by column
        if (!non_temporal_ || !s.batched || s.size() < non_temporal_ || s.last() % 16 || n_[v].loop ||
            s.type != dtype::f32 || is_row(s))
            return false;
        if (at_[v].where() != space::activation) return false;
        for (int i = 0; i < instructions_.n; ++i)
            if (instructions_[i].is(opcode::load) && instructions_[i].arg == to) return false;
        return true;
    }

    static constexpr std::uint8_t byte(int v) { return static_cast<std::uint8_t>(v); }
    static constexpr std::uint16_t code_of(opcode i) { return static_cast<std::uint16_t>(i); }
    static constexpr std::uint16_t code_of(op_id k) { return static_cast<std::uint16_t>(k); }
    constexpr int put(const instruction& w) { return instructions_.push(w); }
    constexpr std::uint16_t arg(address a) {
        for (int i = 0; i < args_.n; ++i)
            if (args_[i] == a && a.where() != space::none) return static_cast<std::uint16_t>(i);
        return static_cast<std::uint16_t>(args_.push(a));
    }
    /// What `load` does, of the gradients at `from` of so many replicas, added up as a binary tree.
    constexpr int sum_of_sources(instruction load, address from, int sources) {
        growing<int> sum;
        for (int k = 0; k < sources; ++k) {
            load.arg = arg(sources > 1 ? gradient_source(from, k) : from);
            sum.push(put(load));
        }
        for (int by = 1; by < sources; by *= 2)
            for (int k = 0; k + by < sources; k += 2 * by)
                sum[k] =
                    put({.code = code_of(op::add), .a = byte(sum[k]), .b = byte(sum[k + by]), .phase = load.phase});
        return sum[0];
    }
    /// The sum of a register over all rows and columns.
    constexpr void sum_all(int reg, address to) {
        flat_ = false;
        const int row = put({.code = code_of(opcode::row_sum), .a = byte(reg)});
        put({.code = code_of(opcode::column_sum),
             .a = byte(row),
             .b = byte(sums_++),
             .arg = arg(to),
             .phase = 1,
             .row = 1});
    }
    constexpr void define(int v, int reg, int phase, bool row) {
        reg_[v] = reg;
        phase_[v] = phase;
        row_[v] = row;
        stamp_[v] = now_;
    }
    /// One number, the same for all elements: read once a row, even of one column. Packed weights
    /// of one element are none: their padding must stay zero, so they are read as they lie.
    static constexpr bool is_single(const shape& s) {
        return s.size() == 1 && !s.batched && s.form != layout::weights;
    }
    constexpr bool is_row(const shape& s) const { return space_.last() != 1 && s.last() == 1; }
    static constexpr bool is_scalar(const node& n) { return n.k == op::runtime_scalar || n.k == op::loop_index; }
    static constexpr int read_operands(const node& n) {
        return n.about->identity ? 1 : n.operands;
    }   // others only order it
    constexpr bool here(int u) const { return stamp_[u] == now_; }
    constexpr bool floats(int u) const { return computed_again(r_, u, group_); }

    constexpr void elementwise(int v) {
        const node& n = n_[v];
        const bool row = is_row(n.s);
        int phase = 0;
        for (int k = 0; k < n.operands; ++k)
            if (const int u = base_[n.in[k]]; here(u) && !floats(u) && phase_[u] > phase) phase = phase_[u];
        int r[3] = {};
        for (int k = 0; k < read_operands(n); ++k) r[k] = use(n.in[k], n.s, phase);
        if (n.about->identity) {   // the operand's load or register has done it
            define(v, r[0], phase,
                   instructions_[r[0]].row ||
                       (instructions_[r[0]].is(opcode::row_sum) || instructions_[r[0]].is(opcode::row_max)));
            return;
        }
        if (is_first_column(n)) return define(v, literal_of(0), phase, true);
        define(v, operation(n, r, phase, row || is_scalar(n)), phase, row);
    }
    /// A column's number where there is but one: 0, however many columns the walk has.
    static constexpr bool is_first_column(const node& n) { return n.k == op::column_index && n.s.last() == 1; }
    /// The instruction of an elementwise op on registers r. Random numbers and column numbers
    /// belong to the elements of their own tensor: these are the walk's elements, or its rows (a
    /// walk over elements has none), or, for one number that is the same everywhere, none of both.
    constexpr int operation(const node& n, const int* r, int phase, bool row) {
        instruction w{.code = code_of(n.k),
                      .a = byte(r[0]),
                      .b = byte(r[1]),
                      .map = byte(r[2]),
                      .arg = static_cast<std::uint16_t>(n.p[elementwise_attribute::argument]),
                      .phase = byte(phase),
                      .row = row};
        if (n.k == op::column_index) flat_ = false;
        if (n.k == op::random_uniform && row) {
            if (is_single(n.s)) w.map = static_cast<std::uint8_t>(row_map::none);
            else flat_ = false;
        }
        return put(w);
    }
    constexpr void reduce(int v, op_kind kind) {
        const node& n = n_[v];
        const int u = base_[n.in[0]];
        const int phase = here(u) ? phase_[u] : 0;
        const shape& s = n_[n.in[0]].s;
        const int a = use(n.in[0], s, phase);
        flat_ = false;
        if (kind == op_kind::row_reduce && is_row(s)) {   // a row of one value in a walk over longer rows: itself
            define(v, a, phase, true);
        } else if (kind == op_kind::row_reduce) {
            const opcode i = n.k == op::row_sum ? opcode::row_sum : opcode::row_max;
            define(v, put({.code = code_of(i), .a = byte(a), .phase = byte(phase)}), phase + 1, true);
            if (space_.last() == 1) row_[v] = true;
        } else {
            put({.code = code_of(opcode::column_sum), .a = byte(a), .b = byte(sums_++), .arg = arg(at_[v]),
                 .phase = byte(phase), .row = is_row(s)});
        }
    }

    /// The register that holds node `seen` for a user with extents `s` in `phase`.
    constexpr int use(int seen, const shape& s, int phase) {
        const int u = base_[seen];
        const node& n = n_[u];
        if (n.k == op::constant) return literal_of(n.f);
        if (here(u)) {
            if (row_[u] || phase_[u] == phase) return reg_[u];
            if (!floats(u)) return again(u, phase);
        }
        if (floats(u)) {   // in another phase it is cheaper again than kept
            float_in(u, phase);
            return reg_[u];
        }
        return load(seen, n_[u].s.type, s, phase);
    }
    constexpr void float_in(int v, int phase) {
        const node& n = n_[v];
        const bool row = is_single(n.s) || is_row(n.s);
        int r[3] = {};
        for (int k = 0; k < read_operands(n); ++k) r[k] = use(n.in[k], n.s, row ? 0 : phase);
        if (n.about->identity) {
            define(v, r[0], row ? 0 : phase, instructions_[r[0]].row);
            return;
        }
        if (is_first_column(n)) return define(v, literal_of(0), 0, true);
        const bool scalar = row || is_scalar(n) || all_rows(r, n.operands);
        const int when = scalar ? 0 : phase;
        define(v, operation(n, r, when, scalar), when, scalar);
    }
    constexpr bool all_rows(const int* r, int operands) const {
        for (int k = 0; k < operands; ++k)
            if (!instructions_[r[k]].row) return false;
        return operands > 0;
    }
    constexpr int literal_of(float f) {
        for (int i = 0; i < loads_.n; ++i)
            if (loads_[i].from == -1 && literals_[loads_[i].q] == f) return loads_[i].reg;
        const int k = literals_.push(f);
        const int reg = put({.code = code_of(opcode::literal), .arg = static_cast<std::uint16_t>(k), .row = 1});
        loads_.push({-1, 0, 0, 1, k, reg});
        return reg;
    }
    constexpr int load(int seen, dtype type, const shape& to, int phase) {
        const shape& from = n_[seen].s;
        operand_map m = map_operand(from, to);
        const bool single = is_single(from);
        if (single) m.rows = row_map::none;
        const bool wide = m.columns && !is_row(to) && !single;
        std::uint8_t map = static_cast<std::uint8_t>(m.rows);
        if (wide) map |= instruction::along_columns;
        if (type == dtype::i32) map |= instruction::integers;
        const bool row = !wide;
        if (row) phase = 0;
        const int q = m.rows == row_map::divided || m.rows == row_map::modulo ? m.q : 0;
        const std::uint16_t number = arg(at_[seen]);
        for (int i = 0; i < loads_.n; ++i) {
            const loaded& l = loads_[i];
            if (l.from == number && l.map == map && l.q == q && (row || l.phase == phase)) return l.reg;
        }
        if (!(wide ? m.rows == row_map::same : m.rows == row_map::none)) flat_ = false;
        int place = 0;
        if (q) {
            while (place < q_.n && q_[place] != q) ++place;
            if (place == q_.n) q_.push(q);
        }
        const int reg = put({.code = code_of(opcode::load), .b = byte(place), .map = map, .arg = number,
                             .phase = byte(phase), .row = row});
        loads_.push({number, map, byte(phase), row, q, reg});
        return reg;
    }
    /// The one load that u is a single operation on, beside numbers of rows, if it is so; else -1.
    constexpr int single_load(int u) const {
        const node& n = n_[u];
        const instruction w = instructions_[reg_[u]];
        if (!w.is(n.k) || n.operands != 2 || n.about->flops(n, nullptr) > n.s.size() ||
            instructions_[w.a].row == instructions_[w.b].row)
            return -1;
        const int reg = instructions_[w.a].row ? w.b : w.a;
        return instructions_[reg].is(opcode::load) && !instructions_[reg].whole() ? reg : -1;
    }
    /// What was loaded into `reg` once more, in a later phase.
    constexpr int loaded_in(int reg, int phase) {
        loaded then{};
        for (const loaded& l : loads_.all())
            if (l.reg == reg) then = l;
        for (const loaded& l : loads_.all())
            if (l.from == then.from && l.map == then.map && l.q == then.q && l.phase == phase) return l.reg;
        instruction w = instructions_[reg];
        w.phase = byte(phase);
        then.phase = byte(phase);
        then.reg = put(w);
        loads_.push(then);
        return then.reg;
    }
    /// A value of an earlier phase: read back if it lies in memory anyway, or made again of an
    /// array that does and numbers of rows, else through a row buffer.
    constexpr int again(int u, int phase) {
        for (int i = 0; i < loads_.n; ++i)
            if (loads_[i].from == -2 - u && loads_[i].phase == phase) return loads_[i].reg;
        int reg = 0;
        if (r_.stored[u] && at_[u].where() != space::none) {
            reg = put({.code = code_of(opcode::load),
                       .map = instruction::along_columns,
                       .arg = arg(at_[u]),
                       .phase = byte(phase)});
        } else if (const int operand = single_load(u); operand >= 0) {
            instruction w = instructions_[reg_[u]];
            (w.a == operand ? w.a : w.b) = byte(loaded_in(operand, phase));
            w.phase = byte(phase);
            reg = put(w);
        } else {
            put({.code = code_of(opcode::spill), .a = byte(reg_[u]), .b = byte(buffers_), .phase = byte(phase_[u])});
            reg = put({.code = code_of(opcode::reload), .b = byte(buffers_++), .phase = byte(phase)});
        }
        loads_.push({-2 - u, instruction::along_columns, byte(phase), 0, 0, reg});
        return reg;
    }
};

} // namespace sinter::compiler
