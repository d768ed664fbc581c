// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of TFRecord files, their indices, and Examples
// libFuzzer target: any bytes are refused with format_error, at once or where a list of values is read, or are an
// Example (and a SequenceExample) that has as many values as it says. Written again it has the same values.
#include "message.hpp"
#include <sinter/io/tfrecord/example.hpp>
#include <sinter/io/tfrecord/example_writer.hpp>

using namespace sinter;
using tfrecord::value_kind;

static void require(bool holds) {
    if (!holds) std::abort();
}

/// Reads a feature in all ways, which must agree, and adds it to `again`.
static void use(const tfrecord::feature_view& f, tfrecord::example& again) {
    const std::size_t n = f.size();
    if (f.kind() == value_kind::floats) {
        std::vector<float> x(n), pieces;
        f.floats(x);
        f.each_floats([&](span<const float> p) { pieces.insert(pieces.end(), p.begin(), p.end()); });
        require(pieces.size() == n && (n == 0 || std::memcmp(x.data(), pieces.data(), n * sizeof(float)) == 0));
        again.floats(f.name(), x);
    } else if (f.kind() == value_kind::integers) {
        std::vector<std::int64_t> x(n), pieces;
        f.integers(x);
        f.each_integers([&](span<const std::int64_t> p) { pieces.insert(pieces.end(), p.begin(), p.end()); });
        require(x == pieces);
        again.integers(f.name(), x);
    } else if (f.kind() == value_kind::bytes) {
        std::vector<std::string_view> x;
        f.each_bytes(
            [&](span<const std::byte> b) { x.emplace_back(reinterpret_cast<const char*>(b.data()), b.size()); });
        require(x.size() == n);
        for (std::size_t i = 0; i < n && i < 8; ++i) require(f.text(i) == x[i]);
        again.texts(f.name(), x);
    } else {
        require(n == 0);
    }
    try {   // what it has not, is an error that says so
        float none[1];
        if (f.kind() != value_kind::floats) f.floats(none);
        else f.bytes();
        require(false);
    } catch (const data_error& e) {
        must_be_fit(e);
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    const tfrecord::place where{"fuzz", 16, 1};
    try {
        tfrecord::example_view e;
        e.parse(bytes, where);
        if (e.features().size() > 300) return 0;   // the writer is not for hostile names
        tfrecord::example again;
        for (const tfrecord::feature_view& f : e.features()) {
            require(e.find(f.name()) != nullptr);
            use(f, again);
        }
        const std::string written = again.bytes();
        tfrecord::example_view second;
        second.parse(as_bytes(written));
        tfrecord::example third;
        for (const tfrecord::feature_view& f : second.features()) {
            require(f.size() == e.at(f.name()).size() || e.at(f.name()).kind() == value_kind::none);
            use(f, third);
        }
        require(third.bytes() == written);
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    try {
        tfrecord::sequence_example_view e;
        e.parse(bytes, where);
        for (const tfrecord::feature_list_view& l : e.lists()) {
            std::size_t steps = 0;
            tfrecord::example ignored;
            l.each([&](std::size_t step, const tfrecord::feature_view& f) {
                require(step == steps++);
                use(f, ignored);
            });
            require(l.size() == steps);
        }
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
