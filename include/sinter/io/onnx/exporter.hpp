// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/path_of.hpp>
#include <sinter/io/onnx/graph.hpp>
#include <sinter/io/onnx/model.hpp>

#include <functional>

/// From a traced graph to an ONNX model.
///
/// Sinter's images have their channels last, ONNX' operators want them first. A value may exist in
/// either order or in both; elementwise work is done in the order in which its operands are there,
/// so that a net of convolutions is transposed where it begins and where it ends, and nowhere
/// between.
namespace sinter::inline SINTER_ORDINARY::onnx {

class exporter;

/// How one op is written: `id` is its node.
struct emitter {
    op_id k;
    void (*emit)(exporter&, int id);
};

class exporter {
public:
    model m;
    const graph& g;

    /// A parameter's or state's plain values.
    using values_by_path = std::function<std::vector<float>(const std::string&)>;

    /// Of emitters of one op the last is taken. The graph must live as long.
    SINTER_APART SINTER_COLD exporter(const graph& net, std::vector<emitter> emitters, values_by_path variable,
                                      std::string file);
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;
    SINTER_APART SINTER_COLD ~exporter();

    /// Everything that the outputs need. Throws option_error for an op that ONNX has no operator
    /// for.
    SINTER_APART SINTER_COLD void run();

    const node& n(int id) const { return g.n[at(id)]; }
    const shape& s(int id) const { return n(id).s; }
    int operand(int id, int k) const { return n(id).in[k]; }

    /// The value of a node in our order of axes.
    SINTER_APART SINTER_COLD value_name value(int id);
    /// The same with the last axis moved before the others of an example, [C, H, W].
    SINTER_APART SINTER_COLD value_name value_channels_first(int id);
    /// Is it there with its channels first, and in no other way?
    SINTER_APART SINTER_COLD bool only_channels_first(int id);
    void forget(int id) { last_[at(id)] = first_[at(id)] = {}; }
    /// What a loop repeats, while it is written: what depends on the iteration goes there, all else
    /// stands before the loop.
    struct open_loop {
        block repeated;
        value_name iteration;   ///< its number, from 0, a whole one
    };
    std::map<int, open_loop> open_loops;
    void set(int id, value_name name) { last_[at(id)] = name; }
    void set_channels_first(int id, value_name name) { first_[at(id)] = name; }

    /// The second result of a node whose first is set as usual.
    SINTER_APART SINTER_COLD value_name& second(int id);

    /// An operator with one result, named after the layer that `id` stands in.
    SINTER_APART SINTER_COLD value_name add(int id, const char* type, name_list in, attribute_list attributes = {});
    SINTER_APART SINTER_COLD std::vector<value_name> add_several(int id, const char* type, name_list in,
                                                                 std::size_t results, attribute_list attributes = {});
    /// The values of a parameter or state, where `id` is one or the same in another layout; else
    /// nothing.
    struct known_values {
        std::string path;
        std::vector<float> x;
        bool there = false;
    };
    SINTER_APART SINTER_COLD known_values values_of(int id) const;
    /// Extents in front of which the batch stands, if there is one, as 0: "leave it" to Reshape.
    SINTER_APART SINTER_COLD few_numbers with_batch(const shape& to, std::int64_t batch = 0) const;
    SINTER_APART SINTER_COLD value_name reshape(int id, value_name x, number_list to);
    /// The number of examples, [1] of int64.
    SINTER_APART SINTER_COLD value_name batch();
    /// All extents of a value of this shape, int64, the batch as it is.
    SINTER_APART SINTER_COLD value_name extents(const shape& to);
    /// One number under these extents.
    SINTER_APART SINTER_COLD value_name filled(int id, const shape& to, float x);
    SINTER_APART SINTER_COLD value_name cast(int id, value_name x, element to);
    SINTER_APART SINTER_COLD value_name transpose(int id, value_name x, number_list order);
    [[noreturn]] SINTER_APART SINTER_COLD void refuse(int id, const std::string& what = "") const;
    static few_numbers own_extents(const shape& s) { return {s.d, s.d + s.rank}; }   ///< without the batch
    SINTER_APART SINTER_COLD static port port_of(value_name name, const shape& s);

private:
    std::vector<emitter> emitters_;
    values_by_path variable_;
    std::string file_;
    value_name batch_;
    std::vector<value_name> outputs_;   ///< names of the net's outputs
    std::map<int, value_name> second_;
    std::vector<value_name> last_, first_;   ///< each node's value with its channels last or first; empty: not there

    static std::size_t at(int id) { return static_cast<std::size_t>(id); }
    bool is_emitted(int id) const { return !last_[at(id)].empty() || !first_[at(id)].empty(); }

    SINTER_APART SINTER_COLD std::string layer_of(int id) const;
    SINTER_APART SINTER_COLD std::string path_of(int id) const;
    /// Gives those of `all` that have no name yet the ones that the net says, or else numbered ones; the first has no
    /// number.
    SINTER_APART SINTER_COLD void promise(std::vector<value_name>& all, const char* what, const port_names* said);
    SINTER_APART SINTER_COLD void make_input(int i, value_name name);
    SINTER_APART SINTER_COLD void make_output(int i);
    SINTER_APART SINTER_COLD void emit(int id);
    /// One order of axes made from the other. Where one of the two parts has a single element
    /// nothing moves.
    SINTER_APART SINTER_COLD value_name reordered(value_name x, int id, bool to_first);
};

namespace detail {
/// An op that is one operator, operand by operand (term.hpp).
SINTER_APART SINTER_COLD void emit_elementwise(exporter&, int id, const char* type);
} // namespace detail

} // namespace sinter::onnx

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/io/onnx/refusals.hpp>
#include <sinter/ops/detail/weights.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <algorithm>
namespace sinter::inline SINTER_ORDINARY::onnx {

SINTER_APART exporter::exporter(const graph& net, std::vector<emitter> emitters, values_by_path variable,
                                std::string file)
    : g(net), emitters_(std::move(emitters)), variable_(std::move(variable)), file_(std::move(file)), last_(g.n.size()),
      first_(g.n.size()) {}
SINTER_APART exporter::~exporter() = default;

SINTER_APART void exporter::run() {
    const int n = static_cast<int>(g.n.size());
    std::vector<bool> live(g.n.size());
    for (const int id : g.outputs) live[at(id)] = true;
    // first, so that no weight or constant takes a name that is promised to another, and of these those
    // that the net says
    std::vector<value_name> inputs(at(g.inputs.n));
    outputs_.resize(at(g.outputs.n));
    for (const bool said : {true, false}) {
        promise(inputs, "input", said ? &g.input_names : nullptr);
        promise(outputs_, "output", said ? &g.output_names : nullptr);
    }
    for (int i = 0; i < g.inputs.n; ++i) make_input(i, inputs[at(i)]);
    for (const variable& v : g.variables) m.keep_for_weights(facts::path_of(g.scopes, v.scope, v.name));
    for (int id = n; id-- > 0;)
        for (int k = 0; live[at(id)] && k < this->n(id).operands; ++k) live[at(operand(id, k))] = true;
    // What a loop repeats is emitted when the loop's results are read. A view is emitted when
    // it is read: a product may want the convolution before a flatten.
    for (int id = 0; id < n; ++id) {
        const node& v = this->n(id);
        const bool waits = v.k == op::reshape || v.loop || v.leaf;
        if (live[at(id)] && !waits && !is_emitted(id)) emit(id);
    }
    for (int i = 0; i < g.outputs.n; ++i) make_output(i);
}

SINTER_APART value_name exporter::value(int id) {
    if (!is_emitted(id)) emit(id);
    value_name& name = last_[at(id)];
    if (name.empty()) name = reordered(first_[at(id)], id, false);
    return name;
}
SINTER_APART value_name exporter::value_channels_first(int id) {
    if (!is_emitted(id)) emit(id);
    value_name& name = first_[at(id)];
    if (name.empty()) name = reordered(last_[at(id)], id, true);
    return name;
}
SINTER_APART bool exporter::only_channels_first(int id) {
    if (!is_emitted(id)) emit(id);
    return last_[at(id)].empty();
}
SINTER_APART value_name& exporter::second(int id) { return second_[id]; }

SINTER_APART value_name exporter::add(int id, const char* type, name_list in, attribute_list attributes) {
    return add_several(id, type, in, 1, attributes)[0];
}
SINTER_APART std::vector<value_name> exporter::add_several(int id, const char* type, name_list in, std::size_t results,
                                                           attribute_list attributes) {
    const std::string layer = id < 0 ? "" : layer_of(id);
    const value_name name = m.unique(layer.empty() ? type : layer + '/' + type);
    std::vector<value_name> out{name};
    while (out.size() < results) out.push_back(m.unique(name.text()));
    const auto loop = id < 0 ? open_loops.end() : open_loops.find(n(id).loop);
    block& to = loop == open_loops.end() ? m : loop->second.repeated;
    to.add(type, name, in, out, attributes);
    return out;
}
SINTER_APART exporter::known_values exporter::values_of(int id) const {
    const auto same = [](op_id k) {
        return k == op::pack_weights || k == op::unpack_weights || k == op::stop_gradient;
    };
    while (same(n(id).k)) id = operand(id, 0);
    if (n(id).k != op::parameter && n(id).k != op::state) return {};
    const std::string path = path_of(id);
    return {path, variable_(path), true};
}
SINTER_APART few_numbers exporter::with_batch(const shape& to, std::int64_t batch) const {
    few_numbers e = own_extents(to);
    if (to.batched) e.insert(e.begin() + (to.form == layout::steps), batch);   // within time
    return e;
}
SINTER_APART value_name exporter::reshape(int id, value_name x, number_list to) {
    return add(id, "Reshape", {x, m.whole(to)});
}
SINTER_APART value_name exporter::batch() {
    if (!batch_.empty()) return batch_;
    for (int i = 0; i < g.inputs.n; ++i)
        if (s(g.inputs[i]).batched)
            return batch_ = add(-1, "Shape", {m.inputs[at(i)].name}, {integer("start", 0), integer("end", 1)});
    refuse(g.outputs[0], "the size of a batch, without an input that has one");
}
SINTER_APART value_name exporter::extents(const shape& to) {
    const few_numbers own = own_extents(to);
    if (!to.batched) return m.whole(own);
    if (to.rank == 0) return batch();
    const int before = to.form == layout::steps;   // within time
    std::vector<value_name> parts{batch()};
    if (before) parts.insert(parts.begin(), m.whole({own[0]}));
    if (to.rank > before) parts.push_back(m.whole(few_numbers(own.begin() + before, own.end())));
    return add(-1, "Concat", parts, {integer("axis", 0)});
}
SINTER_APART value_name exporter::filled(int id, const shape& to, float x) {
    return add(id, "Expand", {m.number(x), extents(to)});
}
SINTER_APART value_name exporter::cast(int id, value_name x, element to) {
    return add(id, "Cast", {x}, {integer("to", static_cast<std::int64_t>(to))});
}
SINTER_APART value_name exporter::transpose(int id, value_name x, number_list order) {
    return add(id, "Transpose", {x}, {ints("perm", order)});
}
SINTER_APART port exporter::port_of(value_name name, const shape& s) {
    const element type = s.type == dtype::f32 ? element::f32 : s.type == dtype::i32 ? element::i32 : element::u8;
    return {name, type, s.batched, own_extents(s)};
}
SINTER_APART void exporter::refuse(int id, const std::string& what) const {
    const std::string layer = layer_of(id);
    throw option_error("this op cannot be written as ONNX", file_ + (layer.empty() ? "" : ", layer " + layer),
                       what.empty() ? n(id).name : what, "one of those that doc/interchange.md lists");
}

SINTER_APART std::string exporter::layer_of(int id) const {
    std::string path = facts::path_of(g.scopes, n(id).scope, "");
    if (!path.empty() && path.back() == '/') path.pop_back();
    return path;
}
SINTER_APART std::string exporter::path_of(int id) const {
    for (const variable& v : g.variables)
        if (v.id == id) return facts::path_of(g.scopes, v.scope, v.name);
    refuse(id);
}
SINTER_APART void exporter::promise(std::vector<value_name>& all, const char* what, const port_names* said) {
    for (int i = 0; i < static_cast<int>(all.size()); ++i) {
        const char* const own = said && i < said->n ? said->name[i] : nullptr;
        if (!all[at(i)].empty() || (said && !own)) continue;
        all[at(i)] = m.unique(own ? own : i == 0 ? what : what + ('_' + std::to_string(i)));
    }
}
SINTER_APART void exporter::make_input(int i, value_name name) {
    const int id = g.inputs[i];
    m.inputs.push_back(port_of(name, s(id)));
    set(id, name);
}
SINTER_APART void exporter::make_output(int i) {
    const int id = g.outputs[i];
    value_name from = value(id);
    bool made = false;   // by an operator whose result nobody else calls an output
    for (const operation& o : m.operations) made = made || std::find(o.out.begin(), o.out.end(), from) != o.out.end();
    for (const port& p : m.outputs) made = made && p.name != from;
    if (!made) from = add(id, "Identity", {from});
    m.rename(from, outputs_[at(i)]);
    m.outputs.push_back(port_of(from, s(id)));
}
SINTER_APART void exporter::emit(int id) {
    const node& v = n(id);
    if (v.k == op::constant) return set(id, m.number(v.f));
    if (v.k == op::table) {
        std::vector<float> values(static_cast<std::size_t>(v.s.size()));
        v.fill(values.data(), v.s, v.f);
        return set(id, m.floats("table", own_extents(v.s), values));
    }
    if (const known_values k = values_of(id); k.there)
        return set(id, m.weights(k.path, own_extents(v.s), k.x));
    for (auto e = emitters_.rbegin(); e != emitters_.rend(); ++e)   // a user's own come last
        if (e->k == v.k) return e->emit(*this, id);
    if (v.onnx == nullptr) refuse(id, why_not(v.name));
    detail::emit_elementwise(*this, id, v.onnx);
}
SINTER_APART value_name exporter::reordered(value_name x, int id, bool to_first) {
    const shape& from = s(id);
    const int r = from.rank, b = from.batched;
    few_numbers order(at(b + r), 0), extents = with_batch(from);
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
    return transpose(id, x, order);
}

} // namespace sinter::onnx
#include <sinter/io/onnx/term.hpp>   // emit_elementwise
#endif
