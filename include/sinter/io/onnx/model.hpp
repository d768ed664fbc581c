// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/io/onnx/wire.hpp>

#include <cstring>
#include <map>
#include <set>
#include <vector>

/// An ONNX model while it is being made (github.com/onnx/onnx, onnx.proto): operators, constants, inputs and outputs. Values
/// are known by their names.
namespace sinter::onnx {

/// Since 18 all reductions but argmax take their axes alike.
inline constexpr int opset = 18, ir_version = 8;

enum class element : std::int64_t { f32 = 1, u8 = 2, i32 = 6, i64 = 7, truth = 9 };

struct attribute {
    std::string name;
    std::vector<std::int64_t> ints{};
    bool list = true;      ///< ints, or one int
    std::string text{};    ///< where not empty, this instead
};
inline attribute ints(std::string name, std::vector<std::int64_t> values) { return {std::move(name), std::move(values)}; }
inline attribute integer(std::string name, std::int64_t value) { return {std::move(name), {value}, false}; }
inline attribute text(std::string name, std::string value) { return {std::move(name), {}, false, std::move(value)}; }

struct operation {
    std::string type, name;
    std::vector<std::string> in;
    std::string out;
    std::vector<attribute> attributes;
};
/// An input or output: its extents, the batch being one of no fixed extent.
struct port {
    std::string name;
    element type;
    bool batched;
    std::vector<std::int64_t> extents;
};

class model {
public:
    std::vector<operation> operations;
    std::vector<port> inputs, outputs;

    /// A name that nobody has yet: `wanted`, or that with a number behind it.
    std::string unique(const std::string& wanted) {
        std::string name = wanted;
        for (int i = 1; !names_.insert(name).second; ++i) name = wanted + '_' + std::to_string(i);
        return name;
    }
    /// A constant of floats.
    std::string floats(const std::string& wanted, const std::vector<std::int64_t>& shape, const std::vector<float>& x) {
        return constant(unique(wanted), element::f32, shape, x.data(), x.size() * sizeof(float));
    }
    /// A constant of whole numbers; equal ones are one.
    std::string whole(const std::vector<std::int64_t>& x) {
        std::string& name = whole_[x];
        if (!name.empty()) return name;
        std::string wanted = "whole";
        for (const std::int64_t v : x) wanted += '_' + std::to_string(v);
        const std::int64_t n = static_cast<std::int64_t>(x.size());
        return name = constant(unique(wanted), element::i64, {n}, x.data(), x.size() * sizeof(std::int64_t));
    }
    /// Calls one value otherwise, wherever it stands.
    void rename(const std::string& from, const std::string& to) {
        for (operation& o : operations) {
            if (o.out == from) o.out = to;
            for (std::string& i : o.in)
                if (i == from) i = to;
        }
    }

    /// The file's bytes. Throws format_error where they are more than protobuf allows in one message.
    std::string encode(const std::string& graph_name, const std::string& file) const {
        message graph;
        for (const operation& o : operations) graph.nested(1, encoded(o));
        graph.text(2, graph_name);
        for (const message& c : constants_) graph.nested(5, c);
        for (const port& p : inputs) graph.nested(11, encoded(p));
        for (const port& p : outputs) graph.nested(12, encoded(p));
        message all;
        all.integer(1, ir_version).text(2, "sinter").nested(7, graph).nested(8, message().text(1, "").integer(2, opset));
        constexpr std::size_t most = 0x7fffffff;
        if (all.bytes().size() > most)
            throw format_error("model is too large for one ONNX file", file, std::to_string(all.bytes().size()) + " bytes",
                               "less than 2 GiB");
        return all.bytes();
    }

private:
    std::set<std::string> names_;
    std::map<std::vector<std::int64_t>, std::string> whole_;
    std::vector<message> constants_;

    std::string constant(std::string name, element type, const std::vector<std::int64_t>& shape, const void* data,
                         std::size_t bytes) {
        message m;
        for (const std::int64_t d : shape) m.integer(1, d);
        m.integer(2, static_cast<std::int64_t>(type)).text(8, name);
        m.text(9, {static_cast<const char*>(data), bytes});
        constants_.push_back(std::move(m));
        return name;
    }
    static message encoded(const operation& o) {
        message m;
        for (const std::string& i : o.in) m.text(1, i);
        m.text(2, o.out).text(3, o.name).text(4, o.type);
        for (const attribute& a : o.attributes) {
            constexpr int kind_int = 2, kind_text = 3, kind_ints = 7;
            message x;
            x.text(1, a.name);
            if (!a.text.empty()) x.text(4, a.text).integer(20, kind_text);
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
