// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE fixed_length_records
#include <boost/test/unit_test.hpp>
#include "fixtures/tf_data_files.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/stage_places.hpp"
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/fixed_length_records.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <set>

using namespace sinter;

namespace {
using texts = std::vector<std::string>;
std::string same(const std::string& record) { return record; }
} // namespace

BOOST_AUTO_TEST_CASE(as_tensorflow_reads_them) {
    temporary_folder folder;
    for (const auto& t : tf_data_files::records) {
        const std::string path = write_bytes(folder / "f", t.file);
        const auto records = [&] { return data::fixed_length_records(path, t.bytes, {t.header, t.footer}); };
        if (!t.error.empty()) {
            std::string text(t.error);
            text.replace(text.find("PATH"), 4, path);
            check_error<format_error>(records, text, path);
            continue;
        }
        std::string all;
        for (const std::string& r : elements_from_everywhere(records(), same))
            all += std::to_string(r.size()) + ':' + r;
        BOOST_TEST(all == t.records);
    }
}

BOOST_AUTO_TEST_CASE(several_files_in_any_order) {
    temporary_folder folder;
    std::string one, other;
    texts wanted;
    for (int i = 0; i < 20'000; ++i) {   // 160 KB: more than is read at once
        char text[9];
        std::snprintf(text, sizeof text, "%08d", i);
        wanted.push_back(text);
        (i < 7 ? one : other) += text;
    }
    const std::string none = write_bytes(folder / "none", "HF");
    const auto records =
        data::fixed_length_records({none, write_bytes(folder / "one", 'H' + one + 'F'), none, none,
                                    write_bytes(folder / "other", 'H' + other + 'F'), none}, 8, {1, 1});
    BOOST_TEST(records.size() == 20'000);
    texts all;
    for (const std::string& r : data::elements(records)) all.push_back(r);
    BOOST_TEST((all == wanted));
    std::multiset<std::string> shuffled;
    for (const std::string& r : data::elements(records | data::shuffle({.seed = 3}))) shuffled.insert(r);
    BOOST_TEST((shuffled == std::multiset<std::string>(wanted.begin(), wanted.end())));
    decltype(records)::state s{};
    for (const std::int64_t i : {19'999, 0, 6, 7, 8, 9, 3, 4, 5, 6, 7, 8200, 8201, 8, 9, 8203})
        BOOST_TEST(records.get(s, i) == wanted[static_cast<std::size_t>(i)]);
}

BOOST_AUTO_TEST_CASE(bytes_and_long_records) {
    temporary_folder folder;
    std::string text;
    for (int i = 0; i < 300'000; ++i) text += static_cast<char>(i * 7 + i / 256);
    const auto records =
        data::fixed_length_records<std::vector<std::byte>>(write_bytes(folder / "f", text), 100'000);
    std::string all;
    for (const std::vector<std::byte>& r : data::elements(records))
        all.append(reinterpret_cast<const char*>(r.data()), r.size());
    BOOST_TEST((all == text));
}

BOOST_AUTO_TEST_CASE(what_cannot_be) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "f", "0123456789");
    const auto made = [&](std::int64_t bytes, data::fixed_length_options o = {}) {
        return [&, bytes, o] { data::fixed_length_records(path, bytes, o); };
    };
    check_error<option_error>(made(0), "impossible length", "fixed_length_records", "0", "1 or more");
    check_error<option_error>(made(-1), "impossible length", "", "-1");
    check_error<option_error>(made(1, {-1, 0}), "impossible header or footer", "", "-1 and 0 bytes");
    check_error<option_error>(made(1, {0, -1}), "impossible header or footer", "", "0 and -1 bytes");
    check_error<format_error>(made(1, {6, 5}), "file is shorter than its header and footer", path, "10 bytes");
    check_error<format_error>(made(1, {INT64_MAX, INT64_MAX}), "file is shorter than its header and footer", path);
    check_error<format_error>(made(INT64_MAX), "not an exact multiple of the record length", path);
    check_error<io_error>([&] { data::fixed_length_records(folder / "no", 1); }, "cannot open for reading", "no");
    check_error<option_error>([] { data::fixed_length_records(std::vector<std::string>{}, 1); }, "no files", "fixed");
    description d;
    data::fixed_length_records(path, 5).describe(d);
    BOOST_TEST(holds(d.text(), "bytes of a record\t5\n"));
}

BOOST_AUTO_TEST_CASE(a_file_that_becomes_shorter) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "f", "0123456789");
    const auto records = data::fixed_length_records(path, 2);
    decltype(records)::state s{};
    std::filesystem::resize_file(path, 5);
    BOOST_TEST(records.get(s, 1) == "23");
    for (int i = 0; i < 2; ++i)
        check_error<io_error>([&] { records.get(s, 2); }, "file became shorter while it was read", path, "5 bytes");
    BOOST_TEST(records.get(s, 0) == "01");
}
