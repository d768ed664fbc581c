// SPDX-License-Identifier: BSL-1.0
// shows data: lines of text files as TensorFlow reads them, going on at each of them
#define BOOST_TEST_MODULE text_lines
#include <boost/test/unit_test.hpp>
#include "fixtures/tf_data_files.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/gzipped.hpp"
#include "support/stage_places.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/text_lines.hpp>

using namespace sinter;

namespace {

using texts = std::vector<std::string>;
std::string same(const std::string& line) { return line; }
texts all_of(const data::text_stream& lines) { return elements_from_everywhere(lines, same); }

/// As tf_data_files.hpp writes them.
std::string joined(const texts& all) {
    std::string one;
    for (const std::string& t : all) one += std::to_string(t.size()) + ':' + t;
    return one;
}

} // namespace

BOOST_AUTO_TEST_CASE(as_tensorflow_reads_them) {
    temporary_folder folder;
    for (const auto& [file, lines] : tf_data_files::lines) {
        const std::string path = write_bytes(folder / "a.txt", file);
        BOOST_TEST(joined(all_of(data::text_lines(path))) == lines);
        BOOST_TEST(joined(all_of(data::text_lines(write_bytes(folder / "a.txt.gz", gzipped(file))))) == lines);
    }
}

BOOST_AUTO_TEST_CASE(several_files) {
    temporary_folder folder;
    const std::string a = write_bytes(folder / "a", "1\n\n2"), none = write_bytes(folder / "none", ""),
                      b = write_bytes(folder / "b.gz", gzipped("3\r\n4\n"));
    BOOST_TEST((all_of(data::text_lines({none, a, none, b, a})) == texts{"1", "", "2", "3", "4", "1", "", "2"}));
    BOOST_TEST(all_of(data::text_lines({none, none})).empty());
    check_error<io_error>([&] { data::text_lines({a, folder / "no"}); }, "cannot open for reading", "/no");
    check_error<option_error>([] { data::text_lines(std::vector<std::string>{}); }, "no files", "text_lines");
    description d;
    data::text_lines({a, none}).describe(d);
    BOOST_TEST(holds(d.text(), "goes on\tat a byte of a file\n"));
    description packed;
    data::text_lines({a, b}).describe(packed);
    BOOST_TEST(holds(packed.text(), "goes on\tby reading compressed files from their beginning\n"));
    BOOST_TEST(holds(packed.text(), "files\t2\n"));
}

BOOST_AUTO_TEST_CASE(lines_across_what_is_read_at_once) {
    temporary_folder folder;
    random_stream random(5);
    texts wanted;
    std::string text;
    for (const std::size_t n : {65535u, 0u, 65536u, 1u, 131071u, 200'000u, 3u}) {
        std::string line(n, 'x'), written;
        for (char& c : line) written += c = static_cast<char>('a' + random.below(26));
        for (int i = 0; i < 3; ++i)
            written.insert(random.below(static_cast<std::uint32_t>(written.size() + 1)), 1, '\r');
        wanted.push_back(line);
        text += written + '\n';
    }
    BOOST_TEST((all_of(data::text_lines(write_bytes(folder / "a", text))) == wanted));
}

BOOST_AUTO_TEST_CASE(a_line_that_is_too_long) {
    temporary_folder folder;
    const std::string next = write_bytes(folder / "next", "n");
    for (const std::size_t n : {11u, 100'000u}) {
        const std::string a = write_bytes(folder / "a", "ok\n" + std::string(n, 'x') + "\nlost\n");
        const auto lines = data::text_lines({a, next}, {.longest_line = 10});
        data::text_stream::state s{};
        data::text_stream::cursor c{};
        std::string k;
        BOOST_TEST(lines.next(s, c, k));
        check_error<format_error>([&] { lines.next(s, c, k); }, "a line is too long", "a, line 2, from byte 3 on",
                                  "more than 10 bytes", "longest_line");
        BOOST_TEST(lines.next(s, c, k));
        BOOST_TEST(k == "n");
        BOOST_TEST(!lines.next(s, c, k));
    }
    const auto fits = data::text_lines(write_bytes(folder / "a", std::string(10, 'x') + "\n" + std::string(10, 'y')),
                                       {.longest_line = 10});
    BOOST_TEST(all_of(fits).size() == 2u);
}

BOOST_AUTO_TEST_CASE(compressed_files_that_are_damaged) {
    temporary_folder folder;
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += std::to_string(i % 7) + '\n';
    const std::string whole = gzipped(text), next = write_bytes(folder / "next", "n\n");
    const auto read = [&](const std::string& bytes, data::text_options o, int& errors) {
        const auto lines = data::text_lines({write_bytes(folder / "a.gz", bytes), next}, o);
        data::text_stream::state s{};
        data::text_stream::cursor c{};
        std::string k, last;
        for (errors = 0;;) try {
                if (!lines.next(s, c, k)) return last;
                last = k;
            } catch (const format_error& e) {
                BOOST_TEST(holds(e.where(), "a.gz"));
                BOOST_TEST_REQUIRE(++errors < 10);
            }
    };
    int errors = 0;
    BOOST_TEST(read(whole, {}, errors) == "n");
    BOOST_TEST(errors == 0);
    for (const std::size_t n : {whole.size() - 1, whole.size() / 2, std::size_t{12}, std::size_t{3}}) {
        BOOST_TEST(read(whole.substr(0, n), {}, errors) == "n");
        BOOST_TEST(errors == 1);
    }
    BOOST_TEST(read(whole, {.most_unpacked_bytes = 1000}, errors) == "n");
    BOOST_TEST(errors == 1);
}
