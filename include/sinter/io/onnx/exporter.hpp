// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/model.hpp>
#include <sinter/io/onnx/refusals.hpp>
#include <sinter/ops/detail/weights.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <sinter/graph/graph_view.hpp>
#include <sinter/graph/path_of.hpp>

#include <functional>
#include <map>

/// From a traced graph to an ONNX model.
///
/// Sinter's images have their channels last, ONNX' operators want them first. A value may exist in
/// either order or in both; elementwise work is done in the order in which its operands are there,
/// so that a net of convolutions is transposed where it begins and where it ends, and nowhere
/// between.
namespace sinter::inline SINTER_TARGET::onnx {

class exporter;

/// How one op is written: `id` is its node.
struct emitter {
    op_id k;
    void (*emit)(exporter&, int id);
};

namespace detail {
void emit_elementwise(exporter&, int id, const char* type);   // elementwise.hpp
}

class exporter {
public:
    model m;
    graph_view g;

    /// A parameter's or state's plain values.
    using values_by_path = std::function<std::vector<float>(const std::string&)>;

    exporter(const graph_view& graph, std::vector<emitter> emitters, values_by_path variable, std::string file)
        : g(graph), emitters_(std::move(emitters)), variable_(std::move(variable)), file_(std::move(file)),
          last_(static_cast<std::size_t>(g.n.n)), first_(last_) {}

    /// Everything that the outputs need. Throws option_error for an op that ONNX has no operator
    /// for.
    void run() {
        std::vector<bool> live(static_cast<std::size_t>(g.n.n));
        for (const int id : g.outputs) live[at(id)] = true;
        // first, so that no weight or constant takes a name that is promised to another, and of these those
        // that the net says
        std::vector<std::string> inputs(static_cast<std::size_t>(g.inputs.n));
        outputs_.resize(static_cast<std::size_t>(g.outputs.n));
        for (const bool named : {true, false}) {
            if (g.names || !named) promise(inputs, "input", named ? g.names->inputs : nullptr);
            if (g.names || !named) promise(outputs_, "output", named ? g.names->outputs : nullptr);
        }
        for (int i = 0; i < g.inputs.n; ++i) make_input(i, inputs[at(i)]);
        for (const auto& list : {g.parameters, g.states})
            for (const variable& v : list) m.keep_for_weights(compiler::path_of(g.scopes, v.scope, v.name));
        for (int id = g.n.n; id-- > 0;)
            for (int k = 0; live[at(id)] && k < g.n[id].operands; ++k) live[at(g.n[id].in[k])] = true;
        // What a loop repeats is emitted when the loop's results are read. A view is emitted when
        // it is read: a product may want the convolution before a flatten.
        for (int id = 0; id < g.n.n; ++id) {
            const bool waits = g.n[id].k == op::reshape || g.n[id].loop || is_leaf(g.n[id]);
            if (live[at(id)] && !waits && !is_emitted(id)) emit(id);
        }
        for (int i = 0; i < g.outputs.n; ++i) make_output(i);
    }

    const node& n(int id) const { return g.n[id]; }
    const shape& s(int id) const { return g.n[id].s; }
    int operand(int id, int k) const { return g.n[id].in[k]; }

    /// The value of a node in our order of axes.
    std::string value(int id) {
        if (!is_emitted(id)) emit(id);
        std::string& name = last_[at(id)];
        if (name.empty()) name = reordered(first_[at(id)], id, false);
        return name;
    }
    /// The same with the last axis moved before the others of an example, [C, H, W].
    std::string value_channels_first(int id) {
        if (!is_emitted(id)) emit(id);
        std::string& name = first_[at(id)];
        if (name.empty()) name = reordered(last_[at(id)], id, true);
        return name;
    }
    /// Is it there with its channels first, and in no other way?
    bool only_channels_first(int id) {
        if (!is_emitted(id)) emit(id);
        return last_[at(id)].empty();
    }
    void forget(int id) { last_[at(id)].clear(), first_[at(id)].clear(); }
    /// What a loop repeats, while it is written: what depends on the iteration goes there, all else
    /// stands before the loop.
    struct open_loop {
        block repeated;
        std::string iteration;   ///< its number, from 0, a whole one
    };
    std::map<int, open_loop> open_loops;
    void set(int id, std::string name) { last_[at(id)] = std::move(name); }
    void set_channels_first(int id, std::string name) { first_[at(id)] = std::move(name); }

    /// The second result of a node whose first is set as usual.
    std::string& second(int id) { return second_[id]; }

    /// An operator with one result, named after the layer that `id` stands in.
    std::string add(int id, const char* type, std::vector<std::string> in, std::vector<attribute> attributes = {}) {
        return add_several(id, type, std::move(in), 1, std::move(attributes))[0];
    }
    std::vector<std::string> add_several(int id, const char* type, std::vector<std::string> in, std::size_t results,
                                         std::vector<attribute> attributes = {}) {
        const std::string layer = id < 0 ? "" : layer_of(id);
        std::string name = m.unique(layer.empty() ? type : layer + '/' + type);
        std::vector<std::string> out{name};
        while (out.size() < results) out.push_back(m.unique(name));
        const auto loop = id < 0 ? open_loops.end() : open_loops.find(g.n[id].loop);
        auto& operations = loop == open_loops.end() ? m.operations : loop->second.repeated.operations;
        operations.push_back({type, std::move(name), std::move(in), out, std::move(attributes)});
        return out;
    }
    /// The values of a parameter or state, where `id` is one or the same in another layout; else
    /// nothing.
    struct known_values {
        std::string path;
        std::vector<float> x;
        bool there = false;
    };
    known_values values_of(int id) const {
        const auto same = [](op_id k) {
            return k == op::pack_weights || k == op::unpack_weights || k == op::stop_gradient;
        };
        while (same(g.n[id].k)) id = g.n[id].in[0];
        if (g.n[id].k != op::parameter && g.n[id].k != op::state) return {};
        const std::string path = path_of(id);
        return {path, variable_(path), true};
    }
    /// Extents in front of which the batch stands, if there is one, as 0: "leave it" to Reshape.
    std::vector<std::int64_t> with_batch(const shape& to, std::int64_t batch = 0) const {
        std::vector<std::int64_t> e(to.d, to.d + to.rank);
        if (to.batched) e.insert(e.begin() + (to.form == layout::steps), batch);   // within time
        return e;
    }
    std::string reshape(int id, const std::string& x, const std::vector<std::int64_t>& to) {
        return add(id, "Reshape", {x, m.whole(to)});
    }
    /// The number of examples, [1] of int64.
    std::string batch() {
        if (!batch_.empty()) return batch_;
        for (int i = 0; i < g.inputs.n; ++i)
            if (s(g.inputs[i]).batched)
                return batch_ = add(-1, "Shape", {m.inputs[at(i)].name}, {integer("start", 0), integer("end", 1)});
        refuse(g.outputs[0], "the size of a batch, without an input that has one");
    }
    /// All extents of a value of this shape, int64, the batch as it is.
    std::string extents(const shape& to) {
        if (!to.batched) return m.whole(extents_of(to));
        if (to.rank == 0) return batch();
        const std::vector<std::int64_t> own = extents_of(to);
        const int before = to.form == layout::steps;   // within time
        std::vector<std::string> parts{batch()};
        if (before) parts.insert(parts.begin(), m.whole({own[0]}));
        if (to.rank > before) parts.push_back(m.whole({own.begin() + before, own.end()}));
        return add(-1, "Concat", parts, {integer("axis", 0)});
    }
    /// One number under these extents.
    std::string filled(int id, const shape& to, float x) { return add(id, "Expand", {m.number(x), extents(to)}); }
    std::string cast(int id, const std::string& x, element to) {
        return add(id, "Cast", {x}, {integer("to", static_cast<std::int64_t>(to))});
    }
    [[noreturn]] void refuse(int id, const std::string& what = "") const {
        const std::string layer = layer_of(id);
        throw option_error("this op cannot be written as ONNX", file_ + (layer.empty() ? "" : ", layer " + layer),
                           what.empty() ? g.n[id].about->self.name : what,
                           "one of those that doc/interchange.md lists");
    }
    static element type_of(const shape& s) {
        return s.type == dtype::f32 ? element::f32 : s.type == dtype::i32 ? element::i32 : element::u8;
    }

private:
    std::vector<emitter> emitters_;
    values_by_path variable_;
    std::string file_, batch_;
    std::vector<std::string> outputs_;   ///< names of the net's outputs
    std::map<int, std::string> second_;
    std::vector<std::string> last_, first_;   ///< each node's value with its channels last or first; empty: not there

    static std::size_t at(int id) { return static_cast<std::size_t>(id); }
    bool is_emitted(int id) const { return !last_[at(id)].empty() || !first_[at(id)].empty(); }

    std::string layer_of(int id) const {
        std::string path = compiler::path_of(g.scopes, g.n[id].scope, "");
        if (!path.empty() && path.back() == '/') path.pop_back();
        return path;
    }
    std::string path_of(int id) const {
        for (const auto& list : {g.parameters, g.states})
            for (const variable& v : list)
                if (v.id == id) return compiler::path_of(g.scopes, v.scope, v.name);
        refuse(id);
    }
    /// The first is called without a number.
    static std::string numbered(const char* what, int i) { return i == 0 ? what : what + ('_' + std::to_string(i)); }
    /// Gives those of `all` that have no name yet the ones in `names`, or numbered ones where that is
    /// null.
    void promise(std::vector<std::string>& all, const char* what, const char* const* names) {
        for (int i = 0; i < static_cast<int>(all.size()); ++i) {
            const bool named = names && i < compiler::port_names::most && names[i];
            if (all[at(i)].empty() && (named || !names)) all[at(i)] = m.unique(named ? names[i] : numbered(what, i));
        }
    }
    void make_input(int i, const std::string& name) {
        const int id = g.inputs[i];
        m.inputs.push_back({name, type_of(s(id)), s(id).batched, extents_of(s(id))});
        set(id, name);
    }
    void make_output(int i) {
        const int id = g.outputs[i];
        std::string from = value(id);
        bool made = false;   // by an operator whose result nobody else calls an output
        for (const operation& o : m.operations)
            made = made || std::find(o.out.begin(), o.out.end(), from) != o.out.end();
        for (const port& p : m.outputs) made = made && p.name != from;
        if (!made) from = add(id, "Identity", {from});
        const std::string& name = outputs_[at(i)];
        m.rename(from, name);
        std::replace(last_.begin(), last_.end(), from, name);
        std::replace(first_.begin(), first_.end(), from, name);
        for (auto& [node, second] : second_)
            if (second == from) second = name;
        m.outputs.push_back({name, type_of(s(id)), s(id).batched, extents_of(s(id))});
    }
    void emit(int id) {
        const node& v = g.n[id];
        if (v.k == op::constant) return set(id, m.number(v.f));
        if (v.k == op::table) {
            std::vector<float> values(static_cast<std::size_t>(v.s.size()));
            v.fill(values.data(), v.s, v.f);
            return set(id, m.floats("table", {v.s.d, v.s.d + v.s.rank}, values));
        }
        if (const known_values k = values_of(id); k.there) return set(id, m.weights(k.path, extents_of(v.s), k.x));
        for (auto e = emitters_.rbegin(); e != emitters_.rend(); ++e)   // a user's own come last
            if (e->k == v.k) return e->emit(*this, id);
        if (v.about->onnx == nullptr) refuse(id, why_not(v.about->self.name));
        detail::emit_elementwise(*this, id, v.about->onnx);
    }
    /// One order of axes made from the other. Where one of the two parts has a single element
    /// nothing moves.
    std::string reordered(const std::string& x, int id, bool to_first) {
        const shape& from = s(id);
        const int r = from.rank, b = from.batched;
        std::vector<std::int64_t> order(static_cast<std::size_t>(b + r)), extents = with_batch(from);
        for (int i = 0; i < b + r; ++i) order[at(i)] = i;
        if (r < 2) return x;
        if (to_first) {
            order.insert(order.begin() + b, order.back());
            order.pop_back();
            extents.insert(extents.begin() + b, extents.back());
            extents.pop_back();
        } else {
            order.push_back(order[at(b)]);
            order.erase(order.begin() + b);
        }
        if (from.last() == 1 || from.rows() == 1) return reshape(id, x, extents);
        return add(id, "Transpose", {x}, {ints("perm", order)});
    }
};

} // namespace sinter::onnx
