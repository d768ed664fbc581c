// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>
#include <sinter/graph/fault.hpp>
#include <sinter/graph/variable_info.hpp>
#include <sinter/graph/path_pattern.hpp>
#include <sinter/graph/port_names.hpp>
#include <sinter/graph/scope.hpp>
#include <sinter/graph/shape.hpp>
#include <sinter/graph/traits.hpp>
#include <bit>

/// The graph value that an expression is traced into: nodes in one array, operands before users.
namespace sinter::inline SINTER_TARGET {

/// The three programs of one expression.
enum class program_mode : std::uint8_t { training, evaluation, prediction };

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::compiler {

inline constexpr int max_operands = 8, max_attributes = 8;

/// A value: an op, its operands, its extents. Which of f, p and fill count, the op says.
struct node {
    op_id k = op::none;
    const op_info* about = nullptr;
    std::uint8_t operands = 0;
    int in[max_operands] = {-1, -1, -1, -1, -1, -1, -1, -1};
    shape s;
    float f = 0;                    ///< constant's value
    int p[max_attributes] = {};     ///< integers the op needs: window, stride, axis, port number
    void (*fill)(float* to, const shape&, float f) = nullptr;   ///< table's values, written once before anything runs
    int scope = 0;                  ///< where the user's code made it
    int epoch = 0;                  ///< which recomputation it belongs to (see compiler/passes/differentiate.hpp)
    int loop = 0;                   ///< the loop whose every iteration computes it; 0: none, -1: push() finds out
};

/// A node of that op, the rest to be filled in.
constexpr node node_of(const op_info& about) {
    node n;
    n.k = about.self.id;
    n.about = &about;
    n.loop = -1;
    return n;
}
template <op_id K>
constexpr node node_of() { return node_of(info_of<K>); }
constexpr bool is_leaf(const node& n) { return n.about->kind == op_kind::leaf; }
constexpr bool is_view(const node& n) { return n.about->kind == op_kind::view; }
constexpr bool is_root_op(const node& n) { return n.about->kind == op_kind::root_op; }
constexpr bool is(const node& n, op_role r) { return n.about->role == r; }

/// A parameter or a state: its node, its name within its scope, how it starts.
struct variable {
    int id = -1;
    const char* name = "";
    int scope = 0;
    initializer init;
    int group = 0;   ///< of parameters: which of the optimizer's groups updates it (compiler/optimizer_traits.hpp)
    bool initialized = false;   ///< the user chose `init`, not the layer (expr/initialized.hpp)
};
/// A state, and the node whose value it has from the next step on.
struct assignment {
    int target = -1, value = -1;
};

/// A stretch of the program that runs several times (or not at all). Its nodes follow from its
/// leaves: what depends on a carry or on a step's input is computed in each iteration, everything
/// else once, before it.
struct loop {
    int steps = 0;             ///< iterations at most
    int count = -1;            ///< node of the number of iterations, a scalar; -1: all
    /// Node within: another iteration while it is not 0 (`count` then says whether there is a
    /// first).
    int condition = -1;
    int trips = -1;            ///< node of how many iterations there were, where `condition` decides
    bool backwards = false;    ///< from the last iteration's number down to 0
    bool recompute = false;    ///< its gradient computes the iterations again instead of keeping what they computed
};
/// What a loop hands on from iteration to iteration: `store` has room for all values that it takes,
/// one an iteration, and the first.
struct loop_carry {
    int loop = 0, store = -1, value = -1, next = -1;
    bool sum = false;          ///< of the iterations' contributions: one place, which each iteration adds to
};

/// What layers and ops are traced into: all nodes, and which of them have a part to play outside.
struct graph {
    appended<node> n;
    growing<variable> parameters, states;
    growing<assignment> assignments;      ///< states to be overwritten at the end of a step
    growing<int> inputs, targets, outputs;
    growing<int> regions;                 ///< checkpointed blocks: first and last node of each
    growing<loop> loops;                  ///< node::loop - 1
    growing<loop_carry> carries;
    scope_tree scopes;
    int scope = 0, epoch = 0, loss = -1, streams = 0;
    int loss_weight = -1;                 ///< what the loss was divided by, if not by the number of examples
    int loss_weights = 0;                 ///< weighted means in the loss, whose divisors may be handed in
    int loss_sum = -1;                    ///< what is differentiated instead, where gradients are accumulated
    int open_loop = 0;                    ///< whose body is being traced
    bool sharing = false;                 ///< inside shared<...>: parameters made before are found again
    bool has_servers = false;             ///< program_options::remote_tables: tables may be hashed ones
    /// The optimizer's groups of parameters, where layers may be frozen by them.
    view<const group_pattern> patterns;
    std::uint64_t matched_by_layers = 0;  ///< bit k: a layer without parameters matches pattern k
    port_names names;                     ///< of inputs, outputs and targets, where they have some
    growing<named_output> named;          ///< what the net calls outputs (expr/output.hpp)
    fault err;

    constexpr graph() = default;
    graph(const graph&) = delete;

    /// Which program this is. Where nothing in a net asks, evaluation's program is training's
    /// without gradients.
    constexpr program_mode mode() {
        asked_ = true;
        return mode_;
    }
    /// Does the layer that is traced now run as in training? Not in other programs, and not where
    /// it is frozen (doc/training.md): all parameters that it has made so far are frozen or, if it
    /// has made none, its path matches. A layer without a scope of its own gives its name.
    constexpr bool trains(const char* name = "") {
        const bool frozen = patterns.n && is_frozen(name);   // in all programs, which must match the same patterns
        return mode() == program_mode::training && !frozen;
    }
    constexpr bool asked_for_mode() const { return asked_; }
    constexpr void set_mode(program_mode m) { mode_ = m; }

    /// Appends a node, or finds the equal one that is there already (common subexpressions never
    /// arise).
    constexpr int push(node x) { return take(x); }
    /// The same of a node that may be changed: a copy fewer, which costs g++ 800 bytes.
    constexpr int take(node& x) {
        x.scope = scope;
        x.epoch = epoch;
        if (x.loop < 0) x.loop = loop_of(x);
        if (x.s.is_too_large()) {
            fail(fault_kind::tensor_too_large, x.about->self, x.s, extents(0x7fffffff));
            x.s = extents();   // else whoever asks for its size has an error of the compiler's own
        }
        const unsigned h = hash(x);
        for (int i = head[h] - 1; i >= 0; i = chain.p[i])   // not by operator [], whose call costs as much again
            if (equal(n.p[i], x)) return i;
        return append(x, h);
    }
    /// Appends a node as it is: how a later pass takes up an earlier one's result.
    constexpr void restore(const node& x) { append(x, hash(x)); }
    constexpr void fail(fault_kind what, const op_name& where, const shape& got, const shape& needed) {
        if (err.what != fault_kind::none) return;   // the first fault is the one to tell
        err.what = what;
        err.where = where;
        err.got = got;
        err.needed = needed;
        scopes.write_path(scope, err.path, err.path_length, fault::max_path - 1);
    }
    /// The same of something that has a name beside the layer's.
    constexpr void fail(fault_kind what, const op_name& where, const char* name, const shape& got,
                        const shape& needed) {
        if (err.what != fault_kind::none) return;
        fail(what, where, got, needed);
        if (err.path_length) scope_tree::append(err.path, err.path_length, fault::max_path - 1, "/");
        scope_tree::append(err.path, err.path_length, fault::max_path - 1, name);
    }

    /// Goes into a scope that was just opened.
    constexpr void go_to(int opened) {
        if (scopes.overflowed())
            fail(fault_kind::program_too_large, op::none, extents(scope_tree::most + 1), extents(scope_tree::most));
        else scope = opened;
    }

private:
    /// The number of the pattern that decides about a path, or -1.
    constexpr int pattern_of(const char* path) const {
        for (int k = 0; k < patterns.n; ++k)
            if (matches(patterns[k].pattern, path)) return k;
        return -1;
    }
    constexpr bool freezes(int pattern) const { return pattern >= 0 && patterns[pattern].infers; }
    constexpr bool is_frozen(const char* name) {
        char path[256] = {};
        bool any = false, all = true;
        for (int i = 0; !*name && all && i < parameters.n; ++i) {
            const variable& v = parameters[i];
            if (v.group == frozen_group || !scopes.is_of_layer(v.scope, scope)) continue;   // it says so itself
            int length = 0;
            scopes.write_path(v.scope, path, length, 200);
            if (length) scope_tree::append(path, length, 255, "/");
            scope_tree::append(path, length, 255, v.name);
            path[length] = 0;
            any = true;
            all = freezes(pattern_of(path));
        }
        if (any) return all;
        int length = 0;
        scopes.write_path(scope, path, length, 200);
        path[length] = 0;
        int k = *name ? -1 : pattern_of(path);
        if (k < 0) {   // of what stands in a block without a name: as the block's parameters
            if (length) scope_tree::append(path, length, 255, "/");
            scope_tree::append(path, length, 255, name);
            path[length] = 0;
            k = pattern_of(path);
        }
        if (k >= 0 && k < 64) matched_by_layers |= std::uint64_t{1} << k;
        return freezes(k);
    }
    constexpr int loop_of(const node& x) {
        int l = x.about->varies_by_iteration ? open_loop : 0;
        for (int k = 0; k < x.operands; ++k)
            if (const int m = n.p[x.in[k]].loop; m) {
                if (m != open_loop) fail(fault_kind::loop_value_outside, x.about->self, x.s, n[x.in[k]].s);
                l = m;
            }
        return l;
    }
    constexpr int append(const node& x, unsigned h) {
        const int id = n.push(x);
        chain.push(head[h] - 1);
        head[h] = id + 1;
        return id;
    }
    growing<int> chain;
    int head[1024] = {};   // node + 1
    program_mode mode_ = program_mode::training;
    bool asked_ = false;

    static constexpr unsigned hash(const node& x) {
        return ((static_cast<unsigned>(x.k) * 31u + static_cast<unsigned>(x.in[0]) * 2654435761u +
                 static_cast<unsigned>(x.in[1]) * 40503u + static_cast<unsigned>(x.p[0]) * 97u) >> 3) & 1023u;
    }
    static constexpr bool equal(const node& a, const node& b) {
        if (a.k != b.k || a.in[0] != b.in[0] || a.in[1] != b.in[1]) return false;
        if (a.p[0] != b.p[0] || a.epoch != b.epoch || a.loop != b.loop) return false;
        if (a.in[2] != b.in[2] || a.in[3] != b.in[3] || a.fill != b.fill || !(a.s == b.s)) return false;
        if (std::bit_cast<std::uint32_t>(a.f) != std::bit_cast<std::uint32_t>(b.f)) return false;   // 0 is not -0
        for (int i = 1; i < max_attributes; ++i)
            if (a.p[i] != b.p[i]) return false;
        for (int i = 4; i < a.operands || i < b.operands; ++i)   // few ops have so many
            if (a.in[i] != b.in[i]) return false;
        return true;
    }
};

} // namespace sinter::compiler
