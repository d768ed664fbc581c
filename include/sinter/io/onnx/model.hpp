// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/protobuf/writer.hpp>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// An ONNX model while it is being made (github.com/onnx/onnx, onnx.proto): operators, constants,
/// inputs and outputs. Values are known by their names.
///
/// What emitters hand over owns no memory: names are pointers, lists have room for a few numbers. A hundred emitters
/// make such lists at each step; were these strings and vectors, compiling them would take twice as long.
namespace sinter::inline SINTER_ORDINARY::onnx {

/// Since 18 all reductions but argmax take their axes alike.
inline constexpr int opset = 18, ir_version = 8;

using protobuf::message;

/// TensorProto.DataType.
enum class element : std::int64_t { f32 = 1, u8 = 2, i32 = 6, i64 = 7, truth = 9, bf16 = 16 };

/// The name of a value in a model, which keeps its text: a pointer, which is valid as long as the model. One that was
/// made of nothing stands for an operand that is left out.
class value_name {
public:
    constexpr value_name() = default;
    bool empty() const { return entry_ == nullptr; }
    SINTER_APART SINTER_COLD const std::string& text() const;
    bool operator==(const value_name&) const = default;

private:
    friend class model;
    /// A text, and the one that took its place; null: none did.
    using entry = std::pair<const std::string, const std::string*>;
    explicit value_name(entry* e) : entry_(e) {}
    entry* entry_ = nullptr;
};

/// Elements in a row, written in braces or in a vector. It owns nothing: as a parameter it lasts for the call.
template <class T>
class list_of {
public:
    list_of(std::initializer_list<T> x) : begin_(first_of(x)), size_(x.size()) {}
    list_of(const std::vector<T>& x) : begin_(x.data()), size_(x.size()) {}
    list_of(const T* begin, std::size_t size) : begin_(begin), size_(size) {}
    const T* begin() const { return begin_; }
    const T* end() const { return begin_ + size_; }
    std::size_t size() const { return size_; }

private:
    const T* begin_;
    std::size_t size_;
    static const T* first_of(std::initializer_list<T> x) { return x.begin(); }
};
using name_list = list_of<value_name>;
using number_list = list_of<std::int64_t>;

/// A few numbers, such as one or two for each axis. As a vector, but more than `most` are an option_error.
class few_numbers {
public:
    static constexpr std::size_t most = 16;

    few_numbers() = default;
    few_numbers(std::initializer_list<std::int64_t> x) { insert(end(), x.begin(), x.end()); }
    few_numbers(const std::int64_t* from, const std::int64_t* to) { insert(end(), from, to); }
    few_numbers(const int* from, const int* to) {
        while (from != to) push_back(*from++);
    }
    few_numbers(std::size_t n, std::int64_t x) {
        while (n--) push_back(x);
    }
    operator number_list() const { return {begin(), size_}; }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::int64_t* begin() { return x_; }
    std::int64_t* end() { return x_ + size_; }
    const std::int64_t* begin() const { return x_; }
    const std::int64_t* end() const { return x_ + size_; }
    std::int64_t& operator[](std::size_t i) { return x_[i]; }
    std::int64_t operator[](std::size_t i) const { return x_[i]; }
    std::int64_t& front() { return x_[0]; }
    std::int64_t& back() { return x_[size_ - 1]; }
    void push_back(std::int64_t x) { insert(end(), &x, &x + 1); }
    void insert(std::int64_t* at, std::int64_t x) { insert(at, &x, &x + 1); }
    SINTER_APART SINTER_COLD void insert(std::int64_t* at, const std::int64_t* from, const std::int64_t* to);
    SINTER_APART SINTER_COLD void erase(std::int64_t* at);
    void pop_back() { --size_; }

private:
    std::int64_t x_[most] = {};
    std::size_t size_ = 0;
};

struct block;
/// AttributeProto: a name, and a value of one kind. Of name, text and body only the pointers are kept.
struct attribute {
    /// AttributeProto.AttributeType.
    enum class kind { real = 1, integer = 2, text = 3, graph = 5, integers = 7 };

    const char* name;
    kind of;
    few_numbers integers{};
    float real = 0;
    const char* text = "";
    const block* body = nullptr;
};
/// Attributes by kind of value; a body: model::body().
SINTER_APART SINTER_COLD attribute ints(const char* name, number_list values);
SINTER_APART SINTER_COLD attribute integer(const char* name, std::int64_t value);
SINTER_APART SINTER_COLD attribute real(const char* name, float value);
SINTER_APART SINTER_COLD attribute text(const char* name, const char* value);
using attribute_list = list_of<attribute>;

/// An input or output: its extents, the batch being one of no fixed extent.
struct port {
    value_name name;
    element type;
    bool batched;
    few_numbers extents;
};
/// NodeProto: an operator, and the names of what it reads and makes. It is called as its first result was at first.
struct operation {
    const char* type;
    value_name name;
    std::vector<value_name> in, out;
    std::vector<attribute> attributes;
};
/// The operators of a graph, or of what a loop repeats, which may read all values around it.
struct block {
    std::vector<operation> operations;
    std::vector<port> inputs, outputs;

    SINTER_APART SINTER_COLD void add(const char* type, value_name name, name_list in, name_list out, attribute_list a);
    SINTER_APART SINTER_COLD block();
    SINTER_APART SINTER_COLD block(block&&) noexcept;
    SINTER_APART SINTER_COLD ~block();
};

class model : public block {
public:
    model() = default;
    model(const model&) = delete;
    model& operator=(const model&) = delete;

    /// A name that nobody has yet: `wanted`, or that with a number after it.
    SINTER_APART SINTER_COLD value_name unique(const std::string& wanted);
    /// Keeps a path, if nobody is called so yet, for weights(), whatever is named before.
    SINTER_APART SINTER_COLD void keep_for_weights(const std::string& path);
    /// A parameter's or state's values, called by its path.
    SINTER_APART SINTER_COLD value_name weights(const std::string& path, number_list shape, list_of<float> x);
    /// A constant of floats.
    SINTER_APART SINTER_COLD value_name floats(const char* wanted, number_list shape, list_of<float> x);
    /// One float; equal ones are one.
    SINTER_APART SINTER_COLD value_name number(float x);
    /// A constant of integers in one row; equal ones are one.
    SINTER_APART SINTER_COLD value_name whole(number_list x);
    SINTER_APART SINTER_COLD value_name whole(number_list x, number_list shape);
    /// What a loop repeats, or a branch, as an attribute; the block is kept here.
    SINTER_APART SINTER_COLD attribute body(const char* name, block b);
    /// Calls a value otherwise, wherever it stands.
    SINTER_APART SINTER_COLD void rename(value_name from, value_name to);

    std::size_t most_bytes = 0x7fffffff;   ///< protobuf's limit for one message

    /// The file's bytes. Throws format_error where they are more than protobuf allows in one
    /// message.
    SINTER_APART SINTER_COLD std::string encode(const std::string& graph_name, const std::string& file) const;

private:
    std::map<std::string, const std::string*> names_;   ///< those that are given, and what took their places
    std::set<std::string> kept_;
    std::map<std::uint32_t, value_name> numbers_;
    std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, value_name>
        whole_;   ///< by values and extents
    std::vector<message> constants_;
    std::vector<std::unique_ptr<const block>> bodies_;
    std::size_t constant_bytes_ = 0;

    SINTER_APART SINTER_COLD void check_size(std::size_t bytes, const std::string& file) const;
    SINTER_APART SINTER_COLD value_name constant(value_name name, element type, number_list shape, const void* data,
                                                 std::size_t bytes);
    SINTER_APART SINTER_COLD static message encoded(const block& b, const std::string& name);
    SINTER_APART SINTER_COLD static message encoded(const operation& o);
    SINTER_APART SINTER_COLD static message encoded(const port& p);
};

} // namespace sinter::onnx

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <algorithm>
#include <bit>
namespace sinter::inline SINTER_ORDINARY::onnx {

SINTER_APART const std::string& value_name::text() const {
    static const std::string none;
    return !entry_ ? none : entry_->second ? *entry_->second : entry_->first;
}

SINTER_APART void few_numbers::insert(std::int64_t* at, const std::int64_t* from, const std::int64_t* to) {
    const std::size_t more = static_cast<std::size_t>(to - from);
    if (more > most - size_)
        throw option_error("too many numbers for a list of ONNX", "onnx::few_numbers", std::to_string(size_ + more),
                           "at most " + std::to_string(most));
    std::copy_backward(at, end(), end() + more);
    std::copy(from, to, at);
    size_ += more;
}
SINTER_APART void few_numbers::erase(std::int64_t* at) {
    std::copy(at + 1, end(), at);
    --size_;
}

SINTER_APART attribute ints(const char* name, number_list values) {
    return {name, attribute::kind::integers, {values.begin(), values.end()}};
}
SINTER_APART attribute integer(const char* name, std::int64_t value) {
    return {name, attribute::kind::integer, {value}};
}
SINTER_APART attribute real(const char* name, float value) { return {name, attribute::kind::real, {}, value}; }
SINTER_APART attribute text(const char* name, const char* value) {
    return {name, attribute::kind::text, {}, 0, value};
}

SINTER_APART block::block() = default;
SINTER_APART block::block(block&&) noexcept = default;
SINTER_APART block::~block() = default;
SINTER_APART void block::add(const char* type, value_name name, name_list in, name_list out, attribute_list a) {
    operations.push_back({type, name, {in.begin(), in.end()}, {out.begin(), out.end()}, {a.begin(), a.end()}});
}

SINTER_APART value_name model::unique(const std::string& wanted) {
    auto made = names_.try_emplace(wanted);
    for (int i = 1; !made.second; ++i) made = names_.try_emplace(wanted + '_' + std::to_string(i));
    return value_name(&*made.first);
}
SINTER_APART void model::keep_for_weights(const std::string& path) {
    if (names_.try_emplace(path).second) kept_.insert(path);
}
SINTER_APART value_name model::weights(const std::string& path, number_list shape, list_of<float> x) {
    const value_name name = kept_.erase(path) ? value_name(&*names_.find(path)) : unique(path);
    return constant(name, element::f32, shape, x.begin(), x.size() * sizeof(float));
}
SINTER_APART value_name model::floats(const char* wanted, number_list shape, list_of<float> x) {
    return constant(unique(wanted), element::f32, shape, x.begin(), x.size() * sizeof(float));
}
SINTER_APART value_name model::number(float x) {
    value_name& name = numbers_[std::bit_cast<std::uint32_t>(x)];
    return name.empty() ? name = floats("number", {}, {x}) : name;
}
SINTER_APART value_name model::whole(number_list x) { return whole(x, {static_cast<std::int64_t>(x.size())}); }
SINTER_APART value_name model::whole(number_list x, number_list shape) {
    value_name& name = whole_[{{x.begin(), x.end()}, {shape.begin(), shape.end()}}];
    if (!name.empty()) return name;
    std::string wanted = "whole";
    for (std::size_t i = 0; i < x.size() && i < 8; ++i) wanted += '_' + std::to_string(x.begin()[i]);
    return name = constant(unique(wanted), element::i64, shape, x.begin(), x.size() * sizeof(std::int64_t));
}
SINTER_APART attribute model::body(const char* name, block b) {
    bodies_.push_back(std::make_unique<const block>(std::move(b)));
    return {name, attribute::kind::graph, {}, 0, "", bodies_.back().get()};
}
SINTER_APART void model::rename(value_name from, value_name to) { from.entry_->second = &to.entry_->first; }

SINTER_APART std::string model::encode(const std::string& graph_name, const std::string& file) const {
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
SINTER_APART void model::check_size(std::size_t bytes, const std::string& file) const {
    if (bytes > most_bytes)
        throw format_error("model is too large for one ONNX file", file, std::to_string(bytes) + " bytes",
                           "at most " + std::to_string(most_bytes) + ", protobuf's limit");
}
SINTER_APART value_name model::constant(value_name name, element type, number_list shape, const void* data,
                                        std::size_t bytes) {
    constant_bytes_ += bytes;
    if (constant_bytes_ > most_bytes) return name;   // encode() will refuse: only the size is still of use
    message m;
    for (const std::int64_t d : shape) m.integer(1, d);
    m.integer(2, static_cast<std::int64_t>(type)).text(8, name.text());
    m.text(9, {static_cast<const char*>(data), bytes});
    constants_.push_back(std::move(m));
    return name;
}
SINTER_APART message model::encoded(const block& b, const std::string& name) {
    message m;
    for (const operation& o : b.operations) m.nested(1, encoded(o));
    m.text(2, name);
    for (const port& p : b.inputs) m.nested(11, encoded(p));
    for (const port& p : b.outputs) m.nested(12, encoded(p));
    return m;
}
SINTER_APART message model::encoded(const operation& o) {
    message m;
    for (const value_name& i : o.in) m.text(1, i.text());
    for (const value_name& y : o.out) m.text(2, y.text());
    m.text(3, o.name.entry_->first).text(4, o.type);
    for (const attribute& a : o.attributes) {
        message x;
        x.text(1, a.name);
        switch (a.of) {
            case attribute::kind::graph: x.nested(6, encoded(*a.body, a.name)); break;
            case attribute::kind::text: x.text(4, a.text); break;
            case attribute::kind::real: x.real(2, a.real); break;
            case attribute::kind::integer: x.integer(3, a.integers[0]); break;
            case attribute::kind::integers:
                for (const std::int64_t v : a.integers) x.integer(8, v);
        }
        m.nested(5, x.integer(20, static_cast<std::int64_t>(a.of)));
    }
    return m;
}
SINTER_APART message model::encoded(const port& p) {
    message shape, tensor, type;
    if (p.batched) shape.nested(1, message().text(2, "batch"));
    for (const std::int64_t d : p.extents) shape.nested(1, message().integer(1, d));
    tensor.integer(1, static_cast<std::int64_t>(p.type)).nested(2, shape);
    type.nested(1, tensor);
    return message().text(1, p.name.text()).nested(2, type);
}

} // namespace sinter::onnx
#endif
