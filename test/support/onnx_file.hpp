// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Reads as much of an ONNX file as tests look at: a reader of protobuf's wire format that shares
/// nothing with the writer.
namespace sinter::test {

struct protobuf_field {
    std::uint64_t number = 0, integer = 0;
    std::string_view bytes;
};
inline std::vector<protobuf_field> protobuf_fields(std::string_view m) {
    std::size_t at = 0;
    const auto byte = [&] {
        if (at == m.size()) throw std::runtime_error("protobuf: cut short");
        return static_cast<unsigned char>(m[at++]);
    };
    const auto varint = [&] {
        std::uint64_t v = 0;
        for (int shift = 0;; shift += 7) {
            const unsigned char b = byte();
            v |= static_cast<std::uint64_t>(b & 127) << shift;
            if (b < 128) return v;
        }
    };
    std::vector<protobuf_field> all;
    while (at < m.size()) {
        const std::uint64_t tag = varint();
        protobuf_field f{tag >> 3, 0, {}};
        if ((tag & 7) == 0) f.integer = varint();
        else if ((tag & 7) == 2) {
            const std::uint64_t n = varint();
            if (n > m.size() - at) throw std::runtime_error("protobuf: field longer than its message");
            f.bytes = m.substr(at, n);
            at += n;
        } else if ((tag & 7) == 5 && m.size() - at >= 4) {   // a float: nobody here looks at its value
            at += 4;
        } else throw std::runtime_error("protobuf: a kind of field that ONNX does not use here");
        all.push_back(f);
    }
    return all;
}

/// What the file holds. Reading checks, by Boost.Test, that each operator's operands stand before
/// it, that names are told once, and that constants have as many bytes as their extents say.
struct onnx_file {
    std::map<std::string, int> operators;                         ///< how many of each type
    std::map<std::string, std::vector<std::uint64_t>> constants;  ///< extents by name
    std::vector<std::string> inputs, outputs;
    std::uint64_t opset = 0;

    explicit onnx_file(std::string_view bytes) {
        for (const protobuf_field& f : protobuf_fields(bytes)) {
            if (f.number == 7) read_graph(f.bytes);
            if (f.number == 8)
                for (const protobuf_field& v : protobuf_fields(f.bytes))
                    if (v.number == 2) opset = v.integer;
        }
    }
    int count(const std::string& type) const { return operators.contains(type) ? operators.at(type) : 0; }

private:
    std::set<std::string> known_;

    static std::string text_in(std::string_view m, std::uint64_t number) {
        for (const protobuf_field& f : protobuf_fields(m))
            if (f.number == number) return std::string(f.bytes);
        return {};
    }
    void tell(const std::string& name) { BOOST_TEST(known_.insert(name).second, name << " is told twice"); }
    void read_graph(std::string_view m) {
        for (const protobuf_field& f : protobuf_fields(m)) {
            if (f.number == 5) read_constant(f.bytes);
            if (f.number == 11) inputs.push_back(text_in(f.bytes, 1)), tell(inputs.back());
            if (f.number == 12) outputs.push_back(text_in(f.bytes, 1));
        }
        for (const protobuf_field& f : protobuf_fields(m))
            if (f.number == 1) read_operator(f.bytes);
        for (const std::string& y : outputs) BOOST_TEST(known_.contains(y), "output " << y << " is told nowhere");
    }
    void read_operator(std::string_view m) {
        for (const protobuf_field& f : protobuf_fields(m)) {   // an operand that is left out has no name
            if (f.number == 1)
                BOOST_TEST((f.bytes.empty() || known_.contains(std::string(f.bytes))),
                           f.bytes << " is used before it is told");
            if (f.number != 5) continue;
            for (const protobuf_field& a : protobuf_fields(f.bytes))
                if (a.number == 6) read_body(a.bytes);
        }
        ++operators[text_in(m, 4)];
        for (const protobuf_field& f : protobuf_fields(m))
            if (f.number == 2) tell(std::string(f.bytes));
    }
    /// What is told in there is not known behind it, and names nothing else.
    void read_body(std::string_view m) {
        const std::set<std::string> around = known_;
        for (const protobuf_field& f : protobuf_fields(m))
            if (f.number == 11) tell(text_in(f.bytes, 1));
        for (const protobuf_field& f : protobuf_fields(m))
            if (f.number == 1) read_operator(f.bytes);
        for (const protobuf_field& f : protobuf_fields(m))
            if (f.number == 12) BOOST_TEST(known_.contains(text_in(f.bytes, 1)), "a body gives what is told nowhere");
        known_ = around;
    }
    void read_constant(std::string_view m) {
        std::vector<std::uint64_t> extents;
        std::uint64_t type = 0, elements = 1;
        for (const protobuf_field& f : protobuf_fields(m)) {
            if (f.number == 1) extents.push_back(f.integer), elements *= f.integer;
            if (f.number == 2) type = f.integer;
        }
        BOOST_TEST(text_in(m, 9).size() == elements * (type == 7 ? 8 : 4));
        tell(text_in(m, 8));
        constants[text_in(m, 8)] = extents;
    }
};

} // namespace sinter::test
