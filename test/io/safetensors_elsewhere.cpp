// SPDX-License-Identifier: BSL-1.0
// needs: data
#define BOOST_TEST_MODULE io_safetensors_elsewhere
#include "data_folder.hpp"
#include "error_parts.hpp"
#include "skip.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/safetensors.hpp>

namespace st = sinter::safetensors;

BOOST_AUTO_TEST_CASE(files_of_other_projects) {
    const auto path = [](const char* name) { return data_file("safetensors/" + std::string(name) + ".safetensors"); };
    if (path("multi_layer").empty()) return skip("no safetensors under SINTER_DATA");
    const auto counts = [&](const char* name, std::size_t tensors, std::vector<std::pair<st::dtype, int>> by_type) {
        const st::file file = st::read(path(name));
        BOOST_TEST(file.tensors.size() == tensors);
        for (const auto& [key, view] : file.tensors)
            for (auto& [type, n] : by_type) n -= view.type == type;
        for (const auto& [type, n] : by_type) BOOST_TEST(n == 0);

        // What we read and write again, reads the same.
        temporary_folder folder;
        std::vector<st::entry> entries;
        for (const auto& [key, view] : file.tensors) entries.push_back({key, view.type, view.shape, view.data.data()});
        st::write(folder / "copy", entries, file.metadata);
        const st::file copy = st::read(folder / "copy");
        BOOST_TEST(copy.tensors.size() == tensors);
        for (const auto& [key, view] : file.tensors)
            BOOST_TEST(std::ranges::equal(copy.at(key).data, view.data));
    };
    counts("multi_layer", 9, {{st::dtype::f32, 8}, {st::dtype::i64, 1}});
    counts("mnist", 20, {{st::dtype::f32, 18}, {st::dtype::i64, 2}});
    counts("voices", 2, {{st::dtype::i64, 1}, {st::dtype::u8, 1}});
    counts("syoyo_model", 2, {{st::dtype::f64, 2}});
    const st::file voices = st::read(path("voices"));
    st::check_matches({{"tokens", st::dtype::i64, {1, 982, 33}}, {"mask", st::dtype::u8, {1, 982, 33}}}, voices);
    check_error<sinter::format_error>([&] { st::read(path("safetensors_abuse_attempt_1")); },
                                      "header is longer than the file",
                              "safetensors_abuse_attempt_1", "1000", "at most 80");
}
