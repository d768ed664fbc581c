// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "compiler/evaluate.hpp"
#include "compiler/passes.hpp"
#include <sinter/kernel/panels.hpp>
#include <algorithm>
#include <cstring>
#include <stdexcept>

/// Runs an emitted program instruction by instruction, in double precision: slow, plain, and
/// without a compiler for every net. What a kernel may not rely on is NaN: memory before it is
/// written, registers of another phase, sums before their end.
namespace sinter::test {
using namespace base;
using namespace compiler;
using namespace runtime;

/// Packed weights of a target whose vectors have so many lanes: plain numbers, and back. Transposed weights of a
/// convolution have a layout of their own, which nobody reads but the kernel that it was made for.
inline bool is_packed(const node& n, int lanes) {
    return lanes > 1 && n.s.form == layout::weights && !is(n, op_role::convolution_weights_transpose);
}
template <class Visit>   // (place in memory, number of the element or -1 where there is only padding)
void each_packed(const shape& s, int lanes, Visit visit) {
    const int rows = s.rows(), columns = s.last(), all = round_up(columns, lanes);
    for (int j = 0; j < all; ++j)
        for (int k = 0; k < rows; ++k)
            visit(static_cast<std::size_t>(panel_offset(rows, columns, k, j, 2 * lanes, lanes)),
                  j < columns ? k * columns + j : -1);
}
inline numbers packed(const node& n, int lanes, const double* plain, double padding = 0) {
    numbers out(static_cast<std::size_t>(n.s.rows() * round_up(n.s.last(), lanes)));
    each_packed(n.s, lanes, [&](std::size_t at, int i) { out[at] = i < 0 ? padding : plain[i]; });
    return out;
}
inline numbers unpacked(const node& n, int lanes, const double* from) {
    numbers out(static_cast<std::size_t>(n.s.size()));
    each_packed(n.s, lanes, [&](std::size_t at, int i) {
        if (i >= 0) out[static_cast<std::size_t>(i)] = from[at];
    });
    return out;
}

struct machine {
    const surroundings& o;
    std::vector<double> arena[6];   ///< by space; bytes (winners of pools) lie in them as bytes
    int lanes = 1;

    machine(passes& p, const surroundings& around, int slots, const target& t = {.lanes = 1})
        : o(around), lanes(t.lanes) {
        const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n + 16); };
        arena[static_cast<int>(space::activation)].assign(size(p.p.z.activations), NAN);
        arena[static_cast<int>(space::parameter)].assign(size(p.p.z.parameters), 0);
        arena[static_cast<int>(space::gradient)].assign(
            size(std::max(p.p.z.parameters, p.p.z.gradients) + p.updates().table_floats(p.g.parameters.n)), NAN);
        arena[static_cast<int>(space::state)].assign(size(p.p.z.states), 0);
        arena[static_cast<int>(space::slot)].assign(size(p.p.z.parameters * slots), 0);
        auto fill = [&](const growing<variable>& list, const std::vector<numbers>& from) {
            for (int i = 0; i < list.n; ++i) {
                const node& n = p.g.n[list[i].id];
                const numbers x = is_packed(n, lanes) ? packed(n, lanes, from[i].data()) : from[i];
                std::copy(x.begin(), x.end(), at(p.p.at[list[i].id]));
            }
        };
        // The table of sums begins with zeros, and nobody writes what is left of a gradient's last line of 64 bytes.
        numbers& gradients = arena[static_cast<int>(space::gradient)];
        std::fill(gradients.begin() + p.p.z.gradients, gradients.end(), 0.);
        for (int i = 0; i < p.gradients.n; ++i) {
            const int d = base_of(p.g.n, p.gradients[i]);
            if (d < 0 || p.p.at[d].where() != space::gradient) continue;
            const node& n = p.g.n[p.g.parameters[i].id];
            const int rows = p.list_rows[i];
            const std::int64_t used = rows ? std::int64_t{rows} * n.s.last() : floats_of(n, t, 1);
            std::fill(at(p.p.at[d]) + used, at(p.p.at[d]) + round_up(used, 16), 0.);
        }
        fill(p.g.parameters, o.parameters);
        fill(p.g.states, o.states);
    }
    double* at(address a) {
        if (a.where() == space::none) return nullptr;
        if (a.where() == space::port)
            return const_cast<double*>(o.ports.at(static_cast<std::size_t>(port_of(a))).data());
        return arena[static_cast<int>(a.where())].data() + a.offset();
    }
    /// A parameter or its gradient at `a`, as plain numbers. Padding that is not zero is added to the first one.
    numbers read_variable(const node& n, address a) {
        if (!is_packed(n, lanes)) return read(a, n.s.size());
        const double* const from = at(a);
        numbers out = unpacked(n, lanes, from);
        each_packed(n.s, lanes, [&](std::size_t k, int i) {
            if (i < 0 && from[k] != 0) out[0] += 1e3;
        });
        return out;
    }
    numbers read(address a, int n) {
        const double* p = at(a);
        if (p && a.slot) p += a.first_floats(o.batch);
        return p ? numbers(p, p + n) : numbers{};
    }
};

class interpreter {
public:
    interpreter(passes& p, machine& m) : p_(p), m_(m) {}

    void run() {
        int next = 0;
        for (int l = 0; l < p_.e.n_loops; ++l) {
            for (; next < p_.e.loops[l].first; ++next) one(p_.e.launches[next]);
            iterations(p_.e.loops[l]);
            next = p_.e.loops[l].end;
        }
        for (; next < p_.e.n_launches; ++next) one(p_.e.launches[next]);
    }

private:
    passes& p_;
    machine& m_;
    std::vector<instruction> code_;
    std::vector<double*> arg_;
    std::vector<double> per_row_, r_;
    std::vector<std::vector<double>> sums_, buffers_;
    const std::int64_t* e_ = nullptr;
    const float* k_ = nullptr;
    int columns_ = 1, iteration_ = 0;

    /// As device/cpu/loop_iterations.hpp: how many iterations, and what makes up for those that are not made.
    void iterations(const loop_launches& l) {
        const double *const wanted = operand(l.count), *const condition = m_.at(l.condition);
        const double n = wanted ? *wanted : l.steps;
        const int all = condition ? (n != 0 ? l.steps : 0) : n > 0 ? static_cast<int>(std::fmin(n, l.steps)) : 0;
        const auto slot = [&](address a, int i) { return m_.at(a) + i * a.slice_floats(batch()); };
        const auto move = [&](address a, int from, int to) {
            const numbers kept(slot(a, from), slot(a, from + 1));
            std::copy(kept.begin(), kept.end(), slot(a, to));
        };
        const loop_buffer* const b = p_.e.buffers + l.first_buffer;
        for (int i = 0; i < l.buffers; ++i)
            if (b[i].carry && l.backwards) move(b[i].at, l.steps, all);
        int made = 0;
        for (bool more = true; more && made < all; more = !condition || *condition != 0) {
            iteration_ = l.backwards ? all - 1 - made : made;
            ++made;
            for (int i = l.first; i < l.end; ++i)
                if (!p_.e.launches[i].skips_last || made != all) one(p_.e.launches[i], made == 1);
        }
        iteration_ = 0;
        if (double* const trips = m_.at(l.trips)) *trips = made;
        for (int i = 0; i < l.buffers; ++i) {
            if (b[i].carry && !l.backwards) move(b[i].at, made, l.steps);
            if (const int first = made + b[i].carry; first < l.steps)
                std::fill(slot(b[i].at, first), slot(b[i].at, l.steps), 0.);
        }
    }

    static bool is_reduction(const instruction& w) { return w.is(opcode::row_sum) || w.is(opcode::row_max); }
    bool per_row(int i) const { return code_[i].row || is_reduction(code_[i]); }
    double get(int i) const { return per_row(i) ? per_row_[i] : r_[i]; }
    int batch() const { return m_.o.batch; }

    double* operand(address a) {   // what lies slice by slice is a slice further on in each iteration
        double* const p = m_.at(a);
        if (!p || a.where() == space::port) return p;
        return p + a.first_floats(batch()) + (a.moves ? iteration_ * a.slice_floats(batch()) : 0);
    }
    void one(const launch& l, bool first_iteration = false) {
        const spec& s = p_.e.specs[l.spec];
        e_ = p_.e.extents + l.first_extent;
        k_ = p_.e.constants + l.first_constant;
        columns_ = static_cast<int>(e_[extent::columns]);
        code_.clear();
        arg_.clear();
        for (int i = 0; i < s.instructions; ++i) code_.push_back(instruction::unpack(p_.e.code[s.code + i]));
        for (int i = 0; i < l.args; ++i) arg_.push_back(operand(p_.e.args[l.first_arg + i]));
        per_row_.assign(code_.size(), NAN);
        r_.assign(code_.size(), NAN);
        sums_.assign(code_.size(), std::vector<double>(static_cast<std::size_t>(columns_), 0));
        buffers_.assign(code_.size(), std::vector<double>(static_cast<std::size_t>(columns_), NAN));
        const int m = static_cast<int>(l.m) * (l.batched ? batch() : 1);
        if (s.kind == walk::flat) {
            for (int i = 0; i < m; ++i) all_instructions(NAN, i, 0, 0);
        } else if (s.kind == walk::rows) {
            for (int row = 0; row < m; ++row) one_row(row);
        } else if (l.group < 0) {
            rows_of_table();
        } else {
            expect_zeros(p_.g.n[p_.groups().g[l.group].root], m, first_iteration);
            root_op(l);
        }
        for (std::size_t i = 0; i < code_.size(); ++i)
            if (code_[i].is(opcode::column_sum))
                for (int j = 0; j < (code_[i].row ? 1 : columns_); ++j)
                    arg_[code_[i].arg][j] = sums_[i][static_cast<std::size_t>(j)];
    }

    /// A table's update after its gradient was stored: of all rows, as root_op() has it behind the
    /// gradient itself. Which rows rest is not asked here but in train/optimizers/lazy_rows.cpp.
    /// Where the gradient is a list of rows, all others' is zero.
    void rows_of_table() {
        const auto elements = static_cast<std::size_t>(e_[scatter_rows_extent::width] * e_[scatter_rows_extent::rows]);
        const bool listed = e_[scatter_rows_extent::body_reads] == scatter_rows_sums::listed;
        const numbers sums = listed ? from_list(elements) : numbers(elements, NAN);
        for (std::size_t i = 0; i < elements; ++i)
            all_instructions(sums[i], static_cast<int>(i), static_cast<int>(i) / columns_,
                             static_cast<int>(i) % columns_);
    }
    /// The table's gradient [V, E] of which the list that this kernel reads has the rows that a batch names.
    numbers from_list(std::size_t elements) const {
        const double *const keys = arg_[scatter_rows_operand::indices], *row = arg_[scatter_rows_operand::rows];
        const auto width = static_cast<std::size_t>(columns_);
        std::vector<bool> seen(elements / width, false);
        numbers sums(elements, 0);
        for (int i = 0; i < static_cast<int>(keys[0]); ++i, row += width) {
            const auto key = static_cast<std::size_t>(keys[list_header + i]);
            if (seen.at(key)) throw std::logic_error("a list of rows names a row twice");
            seen[key] = true;
            std::copy(row, row + width, sums.begin() + static_cast<std::ptrdiff_t>(key * width));
        }
        return sums;
    }
    /// The same the other way round: the body sees the rows that occur as those of a list, then
    /// zeros up to its most rows.
    void make_list(const node& n, const shape& keys_of, const numbers& raw, std::int64_t most) {
        const int width = n.s.last(), C = n.p[unique_attribute::columns], E = n.p[unique_attribute::width];
        const double* const from = arg_[0];   // indices, or what unique_rows wrote: evaluate_unique_rows.hpp
        double* const keys = arg_[static_cast<std::size_t>(n.operands)];
        std::vector<int> rows;
        const auto occurs = [&](double row) {
            const int r = static_cast<int>(row);
            if (std::find(rows.begin(), rows.end(), r) == rows.end()) rows.push_back(r);
        };
        if (n.k == op::scatter_rows)
            for (int i = 0; i < count(keys_of, batch()); ++i) occurs(from[i]);
        else
            for (int b = 0; b < batch(); ++b)
                for (int c = 0; c < C; ++c) occurs(from[b * unique_floats(C, E) + C * E + c]);
        if (static_cast<std::int64_t>(rows.size()) > most) throw std::logic_error("a list of rows is too short");
        keys[0] = static_cast<double>(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) keys[list_header + i] = rows[i];
        for (int i = 0; i < static_cast<int>(most) * width; ++i) {
            const auto row = static_cast<std::size_t>(i / width);
            const double sum = row < rows.size() ? raw[static_cast<std::size_t>(rows[row] * width + i % width)] : 0;
            all_instructions(sum, i, i / width, i % width);
        }
    }
    /// What products are told to leave out must be zero.
    void expect_zeros(const node& n, int rows, bool first_iteration) const {
        const auto check = [&](const double* x, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i)
                if (x[i] != 0) throw std::logic_error("a product leaves out what is not zero");
        };
        if (n.k == op::gemm && e_[4] && first_iteration) check(arg_[0], rows * e_[0]);
        if (n.k != op::gemm_tn && n.k != op::bfloat16_gemm_tn) return;
        const std::int64_t zeros = e_[2] * batch();
        if (zeros > 0) check(arg_[0], zeros * e_[0]);
        else check(arg_[0] + (rows + zeros) * e_[0], -zeros * e_[0]);
    }
    /// The raw results as the nodes' own meaning gives them, then the body, element by element.
    void root_op(const launch& l) {
        const grouping r = p_.groups();
        const group& q = r.g[l.group];
        const node& n = p_.g.n[q.root];
        shape in[max_operands];
        std::vector<numbers> held;
        std::vector<const double*> x;
        for (int k = 0; k < n.operands; ++k) {
            in[k] = p_.g.n[n.in[k]].s;
            if (!arg_[k]) throw std::logic_error(std::string(n.about->self.name) + " reads what lies nowhere");
            held.push_back(in[k].type == dtype::u8 ? bytes(arg_[k], count(in[k], batch()))
                           : is_packed(p_.g.n[n.in[k]], m_.lanes)
                               ? unpacked(p_.g.n[n.in[k]], m_.lanes, arg_[k])
                               : numbers(arg_[k], arg_[k] + count(in[k], batch())));
        }
        for (const numbers& h : held) x.push_back(h.data());
        numbers winners, raw = value_of(n, in, x, m_.o, &winners);
        if (q.pool >= 0) {
            const numbers c = raw;
            raw = value_of(p_.g.n[q.pool], &n.s, {c.data()}, m_.o, &winners);
        }
        int next = n.operands;
        if (n.k == op::max_pool || q.pool >= 0) to_bytes(winners, arg_[next++]);
        else if (is(n, op_role::weights_gradient) && n.p[gemm_tn_attribute::sums_d])
            std::copy(winners.begin(), winners.end(), arg_[next++]);
        else if (n.k == op::sort && arg_[next++]) std::copy(winners.begin(), winners.end(), arg_[next - 1]);
        if (is_packed(n, m_.lanes)) raw = packed(n, m_.lanes, raw.data());
        if (!n.about->epilogue) {
            std::copy(raw.begin(), raw.end(), arg_[next]);
            return;
        }
        const std::int64_t most = n.k == op::scatter_rows ? e_[scatter_rows_extent::list_rows]
                                  : n.k == op::unique_table ? e_[unique_extent::list_rows] : 0;
        if (most) return make_list(n, in[0], raw, most);
        for (std::size_t i = 0; i < raw.size(); ++i)
            all_instructions(raw[i], static_cast<int>(i), static_cast<int>(i) / columns_,
                             static_cast<int>(i) % columns_);
    }
    static numbers bytes(const double* p, int n) {
        numbers v;
        for (int i = 0; i < n; ++i) v.push_back(reinterpret_cast<const unsigned char*>(p)[i]);
        return v;
    }
    static void to_bytes(const numbers& v, double* p) {
        if (p)
            for (std::size_t i = 0; i < v.size(); ++i)
                reinterpret_cast<unsigned char*>(p)[i] = static_cast<unsigned char>(v[i]);
    }

    void all_instructions(double raw, int off, int row, int col) {
        for (std::size_t i = 0; i < code_.size(); ++i) step(static_cast<int>(i), raw, off, row, col);
    }
    void one_row(int row) {
        int phases = 1;
        for (const instruction& w : code_) phases = w.phase >= phases ? w.phase + 1 : phases;
        std::fill(per_row_.begin(), per_row_.end(), NAN);
        for (int phase = 0; phase <= phases; ++phase) {
            for (std::size_t i = 0; i < code_.size(); ++i)
                if (code_[i].phase == phase && code_[i].row) step(static_cast<int>(i), NAN, row, row, 0);
            std::vector<double> sum(code_.size(), 0);
            for (std::size_t i = 0; i < code_.size(); ++i)
                if (code_[i].is(opcode::row_max)) sum[i] = -INFINITY;
            for (int c = 0; c < columns_; ++c) {
                std::fill(r_.begin(), r_.end(), NAN);
                for (std::size_t i = 0; i < code_.size(); ++i) {
                    const instruction& w = code_[i];
                    if (w.phase != phase || w.row) continue;
                    if (w.is(opcode::row_sum)) sum[i] += get(w.a);
                    else if (w.is(opcode::row_max)) sum[i] = std::fmax(sum[i], get(w.a));
                    else step(static_cast<int>(i), NAN, row * columns_ + c, row, c);
                }
            }
            for (std::size_t i = 0; i < code_.size(); ++i)
                if (is_reduction(code_[i]) && code_[i].phase == phase) per_row_[i] = sum[i];
        }
    }

    double load(const instruction& w, int off, int row, int col) const {
        const double* p = arg_[w.arg];
        int at = row;
        switch (w.rows()) {
            case row_map::same: break;
            case row_map::none: at = 0; break;
            case row_map::divided: at = row / static_cast<int>(e_[extent::first_q + w.b]); break;
            case row_map::modulo: at = row % static_cast<int>(e_[extent::first_q + w.b]); break;
        }
        if (!w.columns()) return p[at];
        return w.rows() == row_map::same ? p[off] : p[at * columns_ + col];
    }
    void step(int i, double raw, int off, int row, int col) {
        const instruction& w = code_[i];
        double& to = per_row(i) ? per_row_[i] : r_[i];
        if (w.is(opcode::accumulator)) to = raw;
        else if (w.is(opcode::load)) to = load(w, off, row, col);
        else if (w.is(opcode::literal)) to = static_cast<double>(k_[w.arg]);
        else if (w.is(opcode::store)) arg_[w.arg][w.row ? row : off] = get(w.a);
        else if (w.is(opcode::column_sum)) sums_[i][static_cast<std::size_t>(w.row ? 0 : col)] += get(w.a);
        else if (w.is(opcode::spill)) buffers_[w.b][static_cast<std::size_t>(col)] = get(w.a);
        else if (w.is(opcode::reload)) to = buffers_[w.b][static_cast<std::size_t>(col)];
        else if (w.is(op::column_index)) to = col;
        else if (w.is(op::loop_index)) to = iteration_;
        else if (w.is(op::random_uniform))
            to = random_number(w.arg, !w.row ? off : w.rows() == row_map::none ? 0 : row, iteration_, m_.o.shard);
        else if (w.is(op::global_loss_weight)) to = m_.o.weight(w.arg, get(w.a));
        else if (w.is(op::runtime_scalar)) to = m_.o.scalars.at(w.arg);
        else to = elementwise(static_cast<op_id>(w.code), get(w.a), get(w.b), get(w.c()), m_.o);
    }
};

} // namespace sinter::test
