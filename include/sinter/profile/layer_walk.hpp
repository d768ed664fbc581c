// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/profile/text.hpp>
#include <sinter/compiler/cost.hpp>
#include <vector>

/// A net's layers as the user wrote them. The program cannot tell: by then nodes have moved (a bias
/// behind a max-pool) and a relu has no scope. So the net is traced once more, at run time, one
/// layer after the other.
namespace sinter::inline SINTER_TARGET::profile {

/// Operations are those of the forward pass, for one example. What stands inside a block is one
/// level deeper, and is counted in the block as well.
struct layer_text {
    std::string name, out;
    int depth = 0;
    std::int64_t parameters = 0, flops = 0;
};

inline std::int64_t flops_of(const graph& g, int i) {
    if (is_leaf(g.n[i])) return 0;
    graph_view seen;
    seen.n = {g.n.p, g.n.n};
    const batch_count c = sinter::detail::flops_of(seen, g.n[i]);
    return c.per_example + c.once;
}

class layer_walk {
public:
    graph g;
    std::vector<layer_text> rows;

    template <class I, class S, class... Rows>
    void net(model<I, S, Rows...>) {
        bundle x = I::make_inputs(g);
        using fn = bundle (layer_walk::*)(bundle, int);
        constexpr fn step[] = {&layer_walk::visit<Rows>..., &layer_walk::visit<S>};
        for (fn f : step) x = (this->*f)(x, 0);
    }

private:
    /// Where a row began: what is in the graph since then is its.
    struct mark {
        std::size_t row;
        int node, parameter, scope;
    };
    mark begin(std::string name, int depth) {
        rows.push_back({std::move(name), "", depth});
        return {rows.size() - 1, g.n.n, g.parameters.n, g.scopes.size()};
    }
    void end(const mark& from, const bundle& y) {
        layer_text& l = rows[from.row];
        for (int i = 0; i < y.n && y[i].ok(); ++i) {
            if (i) l.out += ' ';
            l.out += text_of(y[i].shape());
        }
        for (int i = from.parameter; i < g.parameters.n; ++i) l.parameters += g.n[g.parameters[i].id].s.size();
        for (int i = from.node; i < g.n.n; ++i) l.flops += flops_of(g, i);
    }

    template <class L>
    struct kind {   // a single layer, or a function of the user's
        static bundle visit(layer_walk& w, bundle x, int depth) { return w.leaf<L>(x, depth, short_type_name<L>()); }
    };
    template <class... L>
    struct kind<sequence<L...>> {
        static bundle visit(layer_walk& w, bundle x, int depth) {
            using fn = bundle (layer_walk::*)(bundle, int);
            constexpr fn step[] = {&layer_walk::visit<L>...};
            for (fn f : step) x = (w.*f)(x, depth);
            return x;
        }
    };
    template <compiler::text T, class F>
    struct kind<named_layer<T, F>> {
        static bundle visit(layer_walk& w, bundle x, int depth) {
            return w.block<F, named_layer<T, F>, named_layer<T, spy<F>>>(x, depth, T.c);
        }
    };
    template <compiler::text T, class F>
    struct kind<shared_layer<T, F>> {
        static bundle visit(layer_walk& w, bundle x, int depth) {
            return w.block<F, shared_layer<T, F>, shared_layer<T, spy<F>>>(x, depth, T.c);
        }
    };
    template <class F>
    struct kind<checkpoint_layer<F>> {
        static bundle visit(layer_walk& w, bundle x, int depth) {
            return w.block<F, checkpoint_layer<F>, checkpoint_layer<spy<F>>>(x, depth, "checkpoint");
        }
    };
    template <class L>
    bundle visit(bundle x, int depth) {
        return kind<L>::visit(*this, x, depth);
    }

    /// Stands in a block for what is in it, and shows the walk in.
    template <class F>
    struct spy : layer_tag {
        tensor operator()(tensor x) const {
            layer_walk& w = *inside;
            const int depth = w.depth_;
            const tensor y = w.visit<F>(x, depth)[0];
            inside = &w, w.depth_ = depth;
            return y;
        }
    };
    static inline thread_local layer_walk* inside = nullptr;
    int depth_ = 0;

    template <class F, class Block, class Spied>
    bundle block(bundle x, int depth, const char* name) {
        if constexpr (!is_layer<F> || std::is_base_of_v<layer<F>, F> || !std::is_invocable_r_v<tensor, F, tensor>) {
            return leaf<Block>(x, depth, name);
        } else {
            const mark from = begin(name, depth);
            inside = this, depth_ = depth + 1;
            const bundle y = sinter::detail::call<Spied>(x);
            end(from, y);
            return y;
        }
    }
    template <class L>
    bundle leaf(bundle x, int depth, std::string name) {
        const mark from = begin(std::move(name), depth);
        const bundle y = sinter::detail::call<L>(x);
        int own = g.scope;
        if constexpr (std::is_base_of_v<layer<L>,
                                        L>) {   // it has opened a scope, unless it is applied once more under shared
            rows[from.row].name = L::name;
            if (from.scope < g.scopes.size()) rows[from.row].name = part(own = from.scope);
        } else if (from.scope < g.scopes.size() && g.scopes[from.scope].parent == own &&
                   rows[from.row].name == part(from.scope)) {
            own = from.scope;
        }
        children(from, own, y, depth + 1);
        end(from, y);
        return y;
    }
    std::string part(int scope) const {
        const scope_entry& s = g.scopes[scope];
        return s.number ? to_text({s.name, "_", s.number}) : s.name;
    }
    bool within(int scope, int outer) const {
        while (scope > outer) scope = g.scopes[scope].parent;
        return scope == outer;
    }
    /// The layers that a user's function has called, by their scopes. What one of them returns is
    /// what others read of it.
    void children(const mark& from, int parent, const bundle& y, int depth) {
        for (int s = from.scope; s < g.scopes.size(); ++s) {
            if (g.scopes[s].parent != parent) continue;
            layer_text l{part(s), "", depth};
            int last = -1, result = -1;
            for (int i = from.node; i < g.n.n; ++i) {
                if (within(g.n[i].scope, s)) {
                    if (!is_leaf(g.n[i])) last = i;
                    l.flops += flops_of(g, i);
                    continue;
                }
                for (int k = 0; k < g.n[i].operands; ++k)
                    if (const int u = g.n[i].in[k]; u > result && u >= from.node && within(g.n[u].scope, s)) result = u;
            }
            for (int i = 0; i < y.n; ++i)
                if (y[i].ok() && y[i].id > result && within(g.n[y[i].id].scope, s)) result = y[i].id;
            for (int i = from.parameter; i < g.parameters.n; ++i)
                if (within(g.parameters[i].scope, s)) l.parameters += g.n[g.parameters[i].id].s.size();
            if (result < 0) result = last;
            if (result >= 0) l.out = text_of(g.n[result].s);
            rows.push_back(l);
            children(from, s, y, depth + 1);
        }
    }
};

} // namespace sinter::profile
