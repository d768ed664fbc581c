// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/internal/product_sum.hpp>
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// Within a loop products are of few rows, and what is around their tiles weighs. Those that are
/// only added to each other, as the gradients of a state are that go through the gates of an LSTM,
/// become one, whose tiles begin where the product before left them:
///
///     gemm(a, v) + gemm(b, w)      becomes   product_sum(a, v, b, w)
///
/// in the sum's place; the products are dead then. The same sums in another order.
namespace sinter::inline SINTER_TARGET::compiler {

class product_sums_pass {
public:
    constexpr product_sums_pass(const graph_view& g, view<node> n) : n_(n), readers_(n.n, 0) {
        for (const node& x : n)
            for (int k = 0; k < x.operands; ++k) ++readers_[x.in[k]];
        for_each_root(g, [&](int v) {
            if (v >= 0) ++readers_[v];
        });
    }

    /// Returns how many sums became one product or part of one.
    constexpr int run(int batch) {
        int found = 0;
        for (node& x : n_)
            if (x.loop && is(x, op_role::sum)) found += try_at(x, batch);
        return found;
    }

private:
    view<node> n_;
    growing<int> readers_;

    /// Is v a product, or a sum of some, that nobody but this sum reads? A first state is zero in
    /// the first iteration, which gemm makes use of.
    constexpr bool is_product(const node& sum, int v) const {
        const node& x = n_[v];
        if (is(x, op_role::product)
                ? x.p[gemm_attribute::transposed] != 0 || n_[base_of(n_, x.in[0])].k == op::loop_value
                : x.k != op::product_sum)
            return false;
        return readers_[v] == 1 && x.loop == sum.loop && x.epoch == sum.epoch && x.s == sum.s;
    }
    constexpr bool try_at(node& sum, int batch) {
        const int a = sum.in[0], b = sum.in[1];
        if (a == b || !is_product(sum, a) || !is_product(sum, b)) return false;
        const node &first = n_[a], &second = n_[b];
        if (first.operands + second.operands > max_operands || !(n_[first.in[0]].s == n_[second.in[0]].s)) return false;
        if (!pays(std::int64_t{sum.s.rows()} * (sum.s.batched ? batch : 1))) return false;
        sum.operands = 0;
        for (const node* x : {&first, &second})
            for (int k = 0; k < x->operands; ++k) sum.in[sum.operands++] = x->in[k];
        sum.k = op::product_sum;
        sum.about = &info_of<op::product_sum>;
        return true;
    }
    /// The kernel has tiles of eight rows and more only, and goes over the rows once for every
    /// panel of columns.
    static constexpr bool pays(std::int64_t rows) { return rows >= 8 && rows <= 128; }
};

constexpr int sum_products(const graph_view& g, view<node> n, int batch) {
    if (!g.loops.n) return 0;
    return product_sums_pass(g, n).run(batch);
}

namespace pass {
struct product_sums {
    static constexpr bool enabled(const target& t, const program_options& o) {
        return o.fuse && t.product_sums && o.products == precision::float32;
    }
    static constexpr void run(const graph_view& g, const view<node>& n, const pass_settings& s) {
        sum_products(g, n, s.max_batch);
    }
};
} // namespace pass

} // namespace sinter::compiler
