// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/io/protobuf/writer.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

/// An ONNX model while it is being made (github.com/onnx/onnx, onnx.proto): operators, constants,
/// inputs and outputs. Values are known by their names.
namespace sinter::inline SINTER_TARGET::onnx {

/// Since 18 all reductions but argmax take their axes alike.
inline constexpr int opset = 18, ir_version = 8;

using protobuf::message;

/// TensorProto.DataType.
enum class element : std::int64_t { f32 = 1, u8 = 2, i32 = 6, i64 = 7, truth = 9, bf16 = 16 };

/// An input or output: its extents, the batch being one of no fixed extent.
struct port {
    std::string name;
    element type;
    bool batched;
    std::vector<std::int64_t> extents;
};

struct block;
/// AttributeProto: a name, and one of the values.
struct attribute {
    std::string name;
    std::vector<std::int64_t> ints{};
    bool list = true;              ///< ints, or one int
    std::string text{};            ///< where not empty, this instead
    std::shared_ptr<block> body{}; ///< or this, of a loop or a choice
    std::optional<float> real{};   ///< or this
};
/// NodeProto: an operator, and the names of what it reads and makes.
struct operation {
    std::string type, name;
    std::vector<std::string> in, out;
    std::vector<attribute> attributes;
};
/// The operators of a graph, or of what a loop repeats, which may read all values around it.
struct block {
    std::vector<operation> operations;
    std::vector<port> inputs, outputs;
};
/// Attributes by kind of value.
inline attribute ints(std::string name, std::vector<std::int64_t> values) {
    return {std::move(name), std::move(values)};
}
inline attribute integer(std::string name, std::int64_t value) { return {std::move(name), {value}, false}; }
inline attribute real(std::string name, float value) { return {std::move(name), {}, false, {}, {}, value}; }
inline attribute text(std::string name, std::string value) { return {std::move(name), {}, false, std::move(value)}; }
inline attribute body(std::string name, block b) {
    return {std::move(name), {}, false, {}, std::make_shared<block>(std::move(b))};
}

class model : public block {
public:
    /// A name that nobody has yet: `wanted`, or that with a number after it.
    std::string unique(const std::string& wanted) {
        std::string name = wanted;
        for (int i = 1; !names_.insert(name).second; ++i) name = wanted + '_' + std::to_string(i);
        return name;
    }
    /// Keeps a path, if nobody is called so yet, for weights(), whatever is named before.
    void keep_for_weights(const std::string& path) {
        if (names_.insert(path).second) kept_.insert(path);
    }
    /// A parameter's or state's values, called by its path.
    std::string weights(const std::string& path, const std::vector<std::int64_t>& shape, const std::vector<float>& x) {
        const std::string name = kept_.erase(path) ? path : unique(path);
        return constant(name, element::f32, shape, x.data(), x.size() * sizeof(float));
    }
    /// A constant of floats.
    std::string floats(const std::string& wanted, const std::vector<std::int64_t>& shape, const std::vector<float>& x) {
        return constant(unique(wanted), element::f32, shape, x.data(), x.size() * sizeof(float));
    }
    /// One float; equal ones are one.
    std::string number(float x) {
        std::string& name = numbers_[std::bit_cast<std::uint32_t>(x)];
        return name.empty() ? name = floats("number", {}, {x}) : name;
    }
    /// A constant of integers in one row; equal ones are one.
    std::string whole(const std::vector<std::int64_t>& x) { return whole(x, {static_cast<std::int64_t>(x.size())}); }
    std::string whole(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& shape) {
        std::string& name = whole_[{x, shape}];
        if (!name.empty()) return name;
        std::string wanted = "whole";
        for (std::size_t i = 0; i < x.size() && i < 8; ++i) wanted += '_' + std::to_string(x[i]);
        return name = constant(unique(wanted), element::i64, shape, x.data(), x.size() * sizeof(std::int64_t));
    }
    /// Calls one value otherwise, wherever it stands.
    void rename(const std::string& from, const std::string& to) { rename(*this, from, to); }

    std::size_t most_bytes = 0x7fffffff;   ///< protobuf's limit for one message

    /// The file's bytes. Throws format_error where they are more than protobuf allows in one
    /// message.
    std::string encode(const std::string& graph_name, const std::string& file) const {
        check_size(constant_bytes_, file);
        message graph = encoded(*this, graph_name);
        for (const message& c : constants_) graph.nested(5, c);
        message all;
        all.integer(1, ir_version)
            .text(2, "sinter")
            .nested(7, graph)
            .nested(8, message().text(1, "").integer(2, opset));
        check_size(all.bytes().size(), file);
        return all.bytes();
    }

private:
    std::set<std::string> names_, kept_;
    std::map<std::uint32_t, std::string> numbers_;
    std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, std::string>
        whole_;   ///< by values and extents
    std::vector<message> constants_;
    std::size_t constant_bytes_ = 0;

    void check_size(std::size_t bytes, const std::string& file) const {
        if (bytes > most_bytes)
            throw format_error("model is too large for one ONNX file", file, std::to_string(bytes) + " bytes",
                               "at most " + std::to_string(most_bytes) + ", protobuf's limit");
    }
    std::string constant(std::string name, element type, const std::vector<std::int64_t>& shape, const void* data,
                         std::size_t bytes) {
        constant_bytes_ += bytes;
        if (constant_bytes_ > most_bytes) return name;   // encode() will refuse: only the size is still of use
        message m;
        for (const std::int64_t d : shape) m.integer(1, d);
        m.integer(2, static_cast<std::int64_t>(type)).text(8, name);
        m.text(9, {static_cast<const char*>(data), bytes});
        constants_.push_back(std::move(m));
        return name;
    }
    static void rename(block& b, const std::string& from, const std::string& to) {
        for (operation& o : b.operations) {
            std::replace(o.out.begin(), o.out.end(), from, to);
            std::replace(o.in.begin(), o.in.end(), from, to);
            for (const attribute& a : o.attributes)
                if (a.body) rename(*a.body, from, to);
        }
    }
    static message encoded(const block& b, const std::string& name) {
        message m;
        for (const operation& o : b.operations) m.nested(1, encoded(o));
        m.text(2, name);
        for (const port& p : b.inputs) m.nested(11, encoded(p));
        for (const port& p : b.outputs) m.nested(12, encoded(p));
        return m;
    }
    static message encoded(const operation& o) {
        message m;
        for (const std::string& i : o.in) m.text(1, i);
        for (const std::string& y : o.out) m.text(2, y);
        m.text(3, o.name).text(4, o.type);
        for (const attribute& a : o.attributes) {
            constexpr int kind_real = 1, kind_int = 2, kind_text = 3, kind_graph = 5, kind_ints = 7;
            message x;
            x.text(1, a.name);
            if (a.body) x.nested(6, encoded(*a.body, a.name)).integer(20, kind_graph);
            else if (!a.text.empty()) x.text(4, a.text).integer(20, kind_text);
            else if (a.real) x.real(2, *a.real).integer(20, kind_real);
            else if (!a.list) x.integer(3, a.ints[0]).integer(20, kind_int);
            else {
                for (const std::int64_t v : a.ints) x.integer(8, v);
                x.integer(20, kind_ints);
            }
            m.nested(5, x);
        }
        return m;
    }
    static message encoded(const port& p) {
        message shape, tensor, type;
        if (p.batched) shape.nested(1, message().text(2, "batch"));
        for (const std::int64_t d : p.extents) shape.nested(1, message().integer(1, d));
        tensor.integer(1, static_cast<std::int64_t>(p.type)).nested(2, shape);
        type.nested(1, tensor);
        return message().text(1, p.name).nested(2, type);
    }
};

} // namespace sinter::onnx
