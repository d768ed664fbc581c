// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/unique_rows.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// A dense layer behind embedding columns: a batch has few unique rows of a column, so each is
/// multiplied with its part of the weights once, and gathered behind the product instead of before
/// it. The gradient likewise: gradients of equal rows are summed first. The same sums in another
/// order.
///
///     gemm(x, W), x = gather_rows(T, i) or concat(gather_rows(T, i), numbers)     dW = gemm_tn(x, d)
///     scatter_rows(i, its part of gemm(d, transposed W))                          the row-sparse gradient of T
///
/// become ops of ops/internal/unique_rows.hpp, in place: no node is added. Nobody else may read x
/// or its gradient.
namespace sinter::inline SINTER_TARGET::compiler {

/// Where it pays: rows wide enough that adding a product's row costs little beside making it, and
/// all products of a batch, if no two of its rows are equal, no larger than a second-level cache or
/// two.
inline constexpr int least_unique_width = 4, least_unique_batch = 16;
inline constexpr std::int64_t most_unique_floats = 262144;

class unique_rows_pass {
public:
    constexpr unique_rows_pass(view<node> n, int lanes, int batch)
        : n_(n), lanes_(lanes), batch_(batch), readers_(n.n, 0) {}

    constexpr int run(const graph_view& g) {
        for (int v = 0; v < n_.n; ++v)
            for (int k = 0; !is_view(n_[v]) && k < n_[v].operands; ++k) read(n_[v].in[k]);
        for (int v : g.outputs) keep(v);
        for (int v : g.gradients) keep(v);
        for (const assignment& a : g.assignments) keep(a.value);
        for (const loop_carry& c : g.carries) keep(c.store), keep(c.next);
        keep(g.loss);
        keep(g.loss_weight);
        int found = 0;
        for (int v = 0; v < n_.n; ++v)
            if (is(n_[v], op_role::scatter_rows)) found += try_at(v);
        return found;
    }

private:
    view<node> n_;
    int lanes_, batch_;
    growing<int> readers_;   ///< of each node's memory; very many, if it is wanted at the end

    constexpr void read(int v) { ++readers_[base(v)]; }
    constexpr void keep(int v) {
        if (v >= 0) readers_[base(v)] += 1000;
    }
    constexpr int base(int v) const { return base_of(n_, v); }
    constexpr bool alike(int a, int b) const { return n_[a].loop == n_[b].loop && n_[a].epoch == n_[b].epoch; }

    /// `scatter`: the gradient of a table.
    constexpr bool try_at(int scatter) {
        const node& s = n_[scatter];
        int offset = 0, before = base(s.in[1]);   // the gradient of x
        if (is(n_[before], op_role::slice) && readers_[before] == 1) {
            const node& part = n_[before];
            if (n_[part.in[0]].s.rank != 1 || part.p[slice_attribute::steps] != 1) return false;
            offset = part.p[slice_attribute::offset];
            before = base(part.in[0]);
        }
        const node& dx = n_[before];
        if (!is(dx, op_role::product) || readers_[before] != 1 || dx.loop || !plain(dx.s, dx.s.last())) return false;
        const int transposed = base(dx.in[1]), d = base(dx.in[0]);
        if (!is(n_[transposed], op_role::weights_transpose)) return false;
        const int w = base(n_[transposed].in[0]), tn = gradient_of_weights(w, d);
        if (tn < before || tn > scatter) return false;
        const int x = base(n_[tn].in[0]), product = product_of(x, w);
        if (product < 0 || readers_[x] != 2) return false;
        int gather = x, numbers = -1, numbers_first = 0;
        if (is(n_[x], op_role::concat)) {
            if (n_[x].operands != 2 || n_[x].s.rank != 1) return false;
            const int side = offset ? 1 : 0;
            gather = base(n_[x].in[side]);
            numbers = n_[x].in[1 - side];
            numbers_first = offset ? 0 : n_[x].p[concat_attribute::parts];
            if (offset && offset != n_[x].p[concat_attribute::parts]) return false;
        } else if (offset) {
            return false;
        }
        const node g = n_[gather];
        if (!is(g, op_role::gather_rows) || readers_[gather] != (numbers < 0 ? 2 : 1)) return false;
        if (!g.s.batched || !alike(gather, product)) return false;
        if (base(g.in[1]) != base(s.in[0]) || !(n_[g.in[0]].s == s.s)) return false;
        const int width = g.s.last(), columns = g.s.size() / width, N = n_[w].s.d[1];
        const int rest = numbers < 0 ? 0 : n_[numbers].s.size();
        if (n_[before].s.size() != columns * width + rest || n_[s.in[1]].s.size() != columns * width) return false;
        if (N % lanes_ || width < least_unique_width || batch_ < least_unique_batch) return false;
        if (static_cast<std::int64_t>(batch_) * columns * N > most_unique_floats) return false;
        if (!plain(n_[d].s, N) || !plain(n_[product].s, N) || (numbers >= 0 && !plain(n_[numbers].s, rest)))
            return false;

        const int p[] = {columns, width, offset, rest, numbers_first};   // as unique_attribute has them
        const int weights = n_[product].in[1];
        become(op::unique_rows, info_of<op::unique_rows>, gather, {g.in[0], g.in[1]}, p);
        n_[gather].s = batch_of(unique_floats(columns, width));
        become(op::unique_product, info_of<op::unique_product>, product, {gather, weights, numbers}, p);
        become(op::unique_sums, info_of<op::unique_sums>, before, {gather, d}, p);
        n_[before].s = batch_of(columns * N);
        become(op::unique_weights, info_of<op::unique_weights>, tn, {gather, before, d, numbers}, p);
        become(op::unique_table, info_of<op::unique_table>, scatter, {gather, before, weights}, p);
        return true;
    }
    static constexpr bool plain(const shape& s, int size) {
        return s.batched && s.rank == 1 && s.last() == size && s.form == layout::plain && s.type == dtype::f32;
    }
    /// The only gemm_tn that makes the gradient of weights `w`'s product from `d`, or -1.
    constexpr int gradient_of_weights(int w, int d) const {
        for (int v = 0; v < n_.n; ++v)
            if (is(n_[v], op_role::weights_gradient) && base(n_[v].in[1]) == d && n_[v].s == n_[w].s &&
                product_of(base(n_[v].in[0]), w) >= 0)
                return v;
        return -1;
    }
    constexpr int product_of(int x, int w) const {
        for (int v = 0; v < n_.n; ++v)
            if (is(n_[v], op_role::product) && base(n_[v].in[0]) == x && base(n_[v].in[1]) == w) return v;
        return -1;
    }
    // no template: clang 14 does not know it yet where a program is evaluated within a class
    constexpr void become(op_id k, const op_info& about, int v, std::initializer_list<int> in, const int (&p)[5]) {
        node& n = n_[v];
        n.k = k;
        n.about = &about;
        n.operands = 0;
        for (int& i : n.in) i = -1;
        for (int& i : n.p) i = 0;
        for (int i : in)
            if (i >= 0) n.in[n.operands++] = i;
        for (int i = 0; i < 5; ++i) n.p[i] = p[i];
    }
};

/// Returns how many layers were found in `n`, the nodes of g.
constexpr int unique_rows(const graph_view& g, view<node> n, int lanes, int batch) {
    for (const node& x : n)
        if (is(x, op_role::scatter_rows)) return unique_rows_pass(n, lanes, batch).run(g);
    return 0;
}

namespace pass {
struct unique_rows {
    static constexpr bool enabled(const target& t, const program_options& o) {
        return o.fuse && t.unique_rows && o.products == precision::float32;
    }
    static constexpr void run(const graph_view& g, const view<node>& n, const pass_settings& s) {
        sinter::compiler::unique_rows(g, n, s.target.lanes, s.max_batch);
    }
};
} // namespace pass

} // namespace sinter::compiler
