// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes are refused with format_error or read; what is read lies inside the input, and survives
// being written and read again.
#include "message.hpp"
#include <sinter/io/safetensors.hpp>

#include <cstdlib>
#include <span>

namespace st = sinter::safetensors;

namespace {
void require(bool holds) {
    if (!holds) std::abort();
}

void check_round_trip(const st::contents& read) {
    std::vector<st::entry> entries;
    for (const auto& [name, view] : read.tensors) entries.push_back({name, view.type, view.shape, view.data.data()});
    st::sort_as_written(entries);
    std::string bytes = st::encode_header(entries, read.metadata, "written");
    require(bytes.size() % 8 == 0);
    for (const st::entry& tensor : entries) {
        const auto data = read.at(tensor.name).data;
        bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
    }
    const st::contents again = st::parse(std::as_bytes(std::span(bytes)), "written");
    require(again.metadata == read.metadata && again.tensors.size() == read.tensors.size());
    std::vector<st::expected_tensor> expected;
    for (const auto& [name, view] : read.tensors) {
        expected.push_back({name, view.type, view.shape});
        require(std::ranges::equal(again.at(name).data, view.data));
    }
    st::check_matches(expected, again);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    try {
        const st::contents read = st::parse(bytes, "fuzz");
        for (const auto& [name, view] : read.tensors) {
            require(view.data.data() >= bytes.data() && view.data.data() + view.data.size() <= bytes.data() + size);
            require(view.data.size() == st::tensor_bytes(view.type, view.shape));
        }
        check_round_trip(read);
    } catch (const sinter::format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
