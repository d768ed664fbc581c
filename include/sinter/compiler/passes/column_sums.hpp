// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/loops.hpp>
#include <sinter/ops/internal/get_output.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/sum.hpp>
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// A bias's gradient is the sum of the rows of what its weights' gradient multiplies. Mostly it is
/// summed by the kernel that makes these rows. What a loop's iterations or an attention's gradient
/// leave would be read once more for it, from memory; but the weights' gradient, where it copies
/// its operands on the way, has them in the first-level cache:
///
///     gemm_tn(x, d), col_sum(d)      become   gemm_tn(x, d) that sums d, too, and its get_output
///
/// The get_output is a new node, for the sum may stand before the product; the sum is dead then.
namespace sinter::inline SINTER_TARGET::compiler {

class column_sums_pass {
public:
    explicit constexpr column_sums_pass(graph& g) : g_(g) {}

    /// Returns how many sums were found.
    constexpr int run(growing<int>& gradients, int batch) {
        int found = 0;
        for (int i = 0; i < gradients.n; ++i)
            if (const int d = gradients[i]; d >= 0 && is(g_.n[d], op_role::column_sum) && is_apart(g_.n[d]))
                found += try_at(gradients[i], batch);
        return found;
    }

private:
    graph& g_;

    constexpr int base(int v) const { return base_of(g_.n, v); }
    /// Will no kernel that makes the rows sum them as well?
    constexpr bool is_apart(const node& sum) const {
        const node* rows = &g_.n[base(sum.in[0])];
        if (rows->loop) return true;
        if (rows->about->kind == op_kind::get_output) rows = &g_.n[rows->in[0]];
        return is_root_op(*rows) && !rows->about->epilogue;
    }
    /// Does v show all iterations' values of what a loop hands on? The first may be zeros, which
    /// the product leaves out and the sum must not.
    constexpr bool may_leave_out(int v) const {
        while (g_.n[v].k == op::reshape) v = g_.n[v].in[0];
        if (g_.n[v].k != op::loop_stack) return false;
        v = g_.n[v].in[0];
        while (g_.n[v].k == op::reshape) v = g_.n[v].in[0];
        return g_.n[v].k == op::loop_value;
    }
    constexpr bool try_at(int& gradient, int batch) {
        const int sum = gradient, rows = g_.n[sum].in[0];
        const shape& s = g_.n[rows].s;
        if (!pays(std::int64_t{s.rows()} * (s.batched ? batch : 1), s.last())) return false;
        for (int v = 0; v < g_.n.n; ++v) {
            node& x = g_.n[v];
            if (!is(x, op_role::weights_gradient) || x.p[gemm_tn_attribute::sums_d] || x.loop ||
                x.epoch != g_.n[sum].epoch || base(x.in[1]) != base(rows))
                continue;
            if (!(g_.n[x.in[1]].s == s) || may_leave_out(x.in[0])) continue;
            x.p[gemm_tn_attribute::sums_d] = 1;
            g_.scope = g_.n[sum].scope;
            gradient = make<op::get_output>(&g_, g_.n[sum].s, {tensor{&g_, v}}, {1}).id;
            return true;
        }
        return false;
    }
    /// The kernel copies operands of so many rows, and columns enough for four panels of any
    /// target.
    static constexpr bool pays(std::int64_t rows, int columns) { return rows >= 128 && columns >= 128; }
};

constexpr int sum_columns_with_weights(graph& g, growing<int>& gradients, int batch) {
    return column_sums_pass(g).run(gradients, batch);
}

namespace pass {
struct column_sums {
    static constexpr bool enabled(const target& t, const program_options& o) {
        return o.fuse && t.column_sums && o.products == precision::float32;
    }
    static constexpr void run(graph& g, growing<int>& gradients, const pass_settings& s) {
        sum_columns_with_weights(g, gradients, s.max_batch);
    }
};
} // namespace pass

} // namespace sinter::compiler
