// SPDX-License-Identifier: BSL-1.0
// shows saving: files of tables that change, shrink or are replaced while they are used
#define BOOST_TEST_MODULE random_access_file
#include <boost/test/unit_test.hpp>
#include "temporary_folder.hpp"
#include <random>
#include <sinter/io/random_access_file.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/io/safetensors/checksum.hpp>

// Files that stay on the disk while they are used, and what somebody else may do to them meanwhile.
using namespace sinter;
using file = io::random_access_file;

namespace {

std::string some_bytes(std::size_t n) {
    std::minstd_rand r(3);
    std::string bytes(n, '\0');
    for (char& c : bytes) c = static_cast<char>(r());
    return bytes;
}
std::string read(file& f, file::window& w, std::size_t at, std::size_t n) {
    std::string to(n, '\0');
    f.read(at, as_writable_bytes(to), w);
    return to;
}
/// What reading says; empty: nothing.
std::string trouble(file& f, file::window& w, std::size_t at, std::size_t n) {
    try {
        read(f, w, at, n);
    } catch (const io_error& e) { return e.what(); }
    return {};
}
void overwrite(const std::string& path, std::size_t at, const std::string& with) {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<std::streamoff>(at)) << with;
}
bool says(const std::string& text, const char* word) { return text.find(word) != text.npos; }

BOOST_AUTO_TEST_CASE(any_stretch_again_and_again) {
    const temporary_folder folder;
    const std::string path = folder / "a", bytes = some_bytes(3 * file::block_bytes + 77);
    write_bytes(path, bytes);
    file f(path);
    BOOST_TEST(f.size() == bytes.size());
    file::window one, other;
    std::minstd_rand r(4);
    for (int i = 0; i < 2000; ++i) {
        const std::size_t at = r() % bytes.size(), n = r() % std::min<std::size_t>(bytes.size() - at + 1, 9000);
        BOOST_TEST_REQUIRE((read(f, i % 3 ? one : other, at, n) == bytes.substr(at, n)), at << ", " << n);
    }
    BOOST_TEST(read(f, one, bytes.size(), 0).empty());
    BOOST_TEST(!f.has_changed());
    BOOST_CHECK_THROW(file(folder / "none"), io_error);
    BOOST_CHECK_THROW(file(folder / "."), io_error);
    write_bytes(path, "");
    BOOST_TEST(file(path).size() == 0u);
}
BOOST_AUTO_TEST_CASE(what_was_read_does_not_change) {
    const temporary_folder folder;
    const std::string path = folder / "a", bytes = some_bytes(4 * file::block_bytes);
    write_bytes(path, bytes);
    file f(path);
    file::window w, other;
    read(f, w, 0, 2 * file::block_bytes);
    overwrite(path, 3 * file::block_bytes, "x");   // nobody knew these
    overwrite(path, 100, std::string(1, static_cast<char>(bytes[100] ^ 1)));
    BOOST_TEST(read(f, w, 3 * file::block_bytes, 1) == "x");
    BOOST_TEST(trouble(f, w, file::block_bytes + 5, 9) == "");
    BOOST_TEST(!f.has_changed());
    for (int i = 0; i < 2; ++i)   // it does not become the new truth
        for (file::window* const by : {&w, &other})
            BOOST_TEST(says(trouble(f, *by, 2, 5), "changed while it was read"));
    BOOST_TEST(f.has_changed());
    overwrite(path, 100, bytes.substr(100, 1));
    BOOST_TEST(read(f, w, 90, 20) == bytes.substr(90, 20));
}
BOOST_AUTO_TEST_CASE(shorter_is_an_error_and_no_signal) {
    const temporary_folder folder;
    const std::string path = folder / "a", bytes = some_bytes(4 * file::block_bytes);
    write_bytes(path, bytes);
    file f(path);
    file::window w;
    read(f, w, 0, bytes.size());
    std::filesystem::resize_file(path, file::block_bytes + 10);
    BOOST_TEST(trouble(f, w, 5, 10) == "");
    for (const std::size_t at : {file::block_bytes, file::block_bytes + 10, 3 * file::block_bytes})
        BOOST_TEST(says(trouble(f, w, at, 1), "became shorter"), at);
    BOOST_TEST(f.has_changed());
}
BOOST_AUTO_TEST_CASE(one_that_is_replaced_stays_what_it_was) {
    const temporary_folder folder;
    const std::string path = folder / "a", bytes = some_bytes(2 * file::block_bytes);
    write_bytes(path, bytes);
    file f(path);
    write_bytes(folder / "b", "another");
    std::filesystem::rename(folder / "b", path);
    file::window w;
    BOOST_TEST((read(f, w, 0, bytes.size()) == bytes));
    std::filesystem::remove(path);
    BOOST_TEST((read(f, w, 0, bytes.size()) == bytes));
}

// ---- safetensors::open: some tensors stay in the file
const auto is_large = [](std::string_view name) { return name.starts_with("large"); };
std::string small_file(const std::string& path, bool sum) {
    const std::vector<float> x{1, 2, 3, 4, 5}, y(3000, 0.5f);
    const std::int64_t n = 7;
    const std::vector<safetensors::entry> all{{"a", safetensors::dtype::f32, {5}, x.data()},
                                              {"large/b", safetensors::dtype::f32, {1000, 3}, y.data()},
                                              {"large/none", safetensors::dtype::i64, {0}, nullptr},
                                              {"n", safetensors::dtype::i64, {}, &n}};
    safetensors::metadata_map metadata{{"format", "sinter"}};
    if (sum) metadata.emplace("checksum", safetensors::checksum(all));
    safetensors::write(path, all, metadata);
    return read_bytes(path);
}
std::string bytes_of(const safetensors::contents& f, const safetensors::tensor_view& t) {
    safetensors::tensor_reader from(f, t);
    std::string to(from.size(), '\0');
    from.read(0, as_writable_bytes(to));
    return to;
}
BOOST_AUTO_TEST_CASE(tensors_that_are_left_in_their_file) {
    const temporary_folder folder;
    small_file(folder / "a", true);
    const auto f = safetensors::open_verified(folder / "a", is_large);
    const auto whole = safetensors::read(folder / "a");
    BOOST_TEST((f.metadata == whole.metadata));
    BOOST_TEST(safetensors::checksum(f) == safetensors::checksum(whole));
    BOOST_TEST_REQUIRE(f.tensors.size() == whole.tensors.size());
    for (const auto& [name, t] : whole.tensors) {
        const auto& other = f.at(name);
        BOOST_TEST((other.type == t.type && other.shape == t.shape));
        BOOST_TEST(other.left == is_large(name));
        BOOST_TEST((bytes_of(f, other) == bytes_of(whole, t)), name);
    }
}
// Cut off anywhere, or with any byte changed: refused as read() refuses it, or read as it is. With a checksum: no
// change of any tensor's byte is missed, wherever it stays.
BOOST_AUTO_TEST_CASE(damaged_files) {
    const temporary_folder folder;
    const std::string path = folder / "a";
    const auto says_of = [](auto f) -> std::string {
        try {
            f();
        } catch (const error& e) { return e.what(); }
        return "read";
    };
    for (const bool sum : {false, true}) {
        const std::string bytes = small_file(path, sum);
        const std::size_t head = bytes.find("}}") + 2;
        for (std::size_t n = 0; n < bytes.size(); n += n < head ? 1 : 501) {
            write_bytes(path, bytes.substr(0, n));
            BOOST_TEST(says_of([&] { safetensors::open(path, is_large); }) ==
                       says_of([&] { safetensors::read(path); }));
        }
        for (std::size_t at = 0; at < bytes.size(); at += at < head ? 1 : 211) {
            std::string changed = bytes;
            changed[at] = static_cast<char>(changed[at] ^ 2);
            write_bytes(path, changed);
            BOOST_TEST(says_of([&] { safetensors::open(path, is_large); }) ==
                       says_of([&] { safetensors::read(path); }));
            if (sum && at >= (head + 7) / 8 * 8)
                BOOST_TEST(says(says_of([&] { safetensors::open_verified(path, is_large); }), "have changed"), at);
        }
    }
}
// What was verified is what is read later.
BOOST_AUTO_TEST_CASE(a_verified_file_that_changes) {
    const temporary_folder folder;
    for (const bool sum : {false, true}) {
        const std::string bytes = small_file(folder / "a", sum);
        const auto f = safetensors::open_verified(folder / "a", is_large);
        overwrite(folder / "a", bytes.size() - 6000, "x");
        BOOST_CHECK_THROW(bytes_of(f, f.at("large/b")), io_error);
        BOOST_TEST(f.left_in->has_changed());
        BOOST_TEST(f.at("a").as<float>().at(4) == 5.f);
    }
}

}   // namespace
