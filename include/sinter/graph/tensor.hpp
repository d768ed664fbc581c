// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/leaves.hpp>
#include <compare>
#include <initializer_list>

/// Symbolic tensors: what layers and users' functions compute with.
namespace sinter::inline SINTER_TARGET {

/// A handle to a node of the graph being traced. After a fault it is empty; operations on empty
/// tensors give empty tensors, so user code simply runs on to its end and only the first fault is
/// told.
struct tensor {
    compiler::graph* g = nullptr;
    int id = -1;

    constexpr bool ok() const { return id >= 0; }
    constexpr const compiler::node& at() const { return g->n.p[id]; }
    /// A copy, for the array moves when it grows. After a fault no extents at all: the user's code
    /// still runs on.
    constexpr sinter::shape shape() const { return ok() ? g->n.p[id].s : sinter::shape{}; }
    /// A fault of the net, for a tensor has no values while it is traced: ops::slice and
    /// ops::unstack give parts of one.
    constexpr tensor operator[](int) const;
};

constexpr tensor from_steps(tensor a);   ///< [T][batch][...] to [batch][T][...] (ops/detail/steps.hpp)

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::compiler {

/// A node of the op that is described. `plain`: from_steps, called for ops that need
/// `plain_operands`. (make<K> is but this: what is a template of ops, compilers read once for each
/// of a hundred.)
constexpr tensor make(const op_info& about, bool plain_operands, tensor (*plain)(tensor), graph* g, const shape& s,
                      std::initializer_list<tensor> in, std::initializer_list<int> attributes = {}, float f = 0) {
    node x;
    x.k = about.self.id;
    x.about = &about;
    x.loop = -1;
    x.s = s;
    x.f = f;
    for (const tensor& t : in) {
        if (!t.ok()) return {g, -1};
        x.in[x.operands++] = t.id;
    }
    if (plain_operands) {
        for (int k = 0; k < x.operands; ++k)
            if (g->n.p[x.in[k]].s.form == layout::steps) x.in[k] = plain({g, x.in[k]}).id;
        if (x.s.form == layout::steps) x.s.form = layout::plain;
    }
    int i = 0;
    for (int a : attributes) x.p[i++] = a;
    return {g, g->take(x)};
}
/// Of ops that take operands as they lie.
constexpr tensor make(const op_info& about, graph* g, const shape& s, std::initializer_list<tensor> in,
                      std::initializer_list<int> attributes = {}, float f = 0) {
    return make(about, false, nullptr, g, s, in, attributes, f);
}
template <op_id K>
constexpr tensor make(graph* g, const shape& s, std::initializer_list<tensor> in,
                      std::initializer_list<int> attributes = {}, float f = 0) {
    if constexpr (info_of<K>.kind == op_kind::elementwise || info_of<K>.kind == op_kind::leaf || info_of<K>.steps)
        return make(info_of<K>, g, s, in, attributes, f);
    else return make(info_of<K>, true, from_steps, g, s, in, attributes, f);
}
/// With the attributes of another node.
template <op_id K>
constexpr tensor make(graph* g, const shape& s, std::initializer_list<tensor> in, const int (&p)[max_attributes],
                      float f = 0) {
    return make<K>(g, s, in, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}, f);
}

constexpr tensor fail(graph* g, fault_kind what, const op_name& where, const shape& got, const shape& needed) {
    g->fail(what, where, got, needed);
    return {g, -1};
}

/// A scalar that is the same for all elements.
constexpr tensor constant(graph* g, float value) {
    return make<op::constant>(g, extents(), {}, {}, value);
}

/// Opens a scope for its lifetime: everything made meanwhile is named under it.
class scoped {
public:
    constexpr scoped(graph* g, const char* name) : g_(g), old_(g->scope) {
        g->go_to(g->scopes.open(name, old_, g->sharing));
    }
    constexpr ~scoped() { g_->scope = old_; }
    scoped(const scoped&) = delete;

private:
    graph* g_;
    int old_;
};

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET {

/// C++'s comparisons, which an `if` asks for: a tensor has no value while a net is traced, so that
/// they are a fault of the net. ops::less and its like give tensors of 1 and 0, ops::where chooses
/// by them.
namespace detail {
constexpr void refuse_values(tensor a) {
    if (a.ok()) a.g->fail(fault_kind::tensor_has_no_value, op::none, a.shape(), a.shape());
}
} // namespace detail
constexpr bool operator==(tensor a, tensor) {
    detail::refuse_values(a);
    return false;
}
constexpr bool operator==(tensor a, float) {
    detail::refuse_values(a);
    return false;
}
constexpr std::partial_ordering operator<=>(tensor a, tensor) {
    detail::refuse_values(a);
    return std::partial_ordering::unordered;
}
constexpr std::partial_ordering operator<=>(tensor a, float) {
    detail::refuse_values(a);
    return std::partial_ordering::unordered;
}
constexpr tensor tensor::operator[](int) const {
    detail::refuse_values(*this);
    return {g, -1};
}

} // namespace sinter
