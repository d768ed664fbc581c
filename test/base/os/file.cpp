// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE file
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <sinter/base/os/advisory_lock.hpp>
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/mapped_file.hpp>
#include <sys/stat.h>
#include <vector>

// Open files, against what the standard library reads and writes.
using namespace sinter;
using namespace sinter::base;

namespace {

std::string read_all_at(int file, std::uint64_t at, std::size_t n) {
    std::string text(n, '?');
    const auto got = os::read_some_at(file, at, as_writable_bytes(text));
    return got < 0 ? "fault" : text.substr(0, static_cast<std::size_t>(got));
}

BOOST_AUTO_TEST_CASE(reads_on_and_at) {
    const temporary_folder folder;
    const descriptor f = os::open_to_read(write_bytes(folder / "a", "0123456789"));
    BOOST_TEST_REQUIRE(bool(f));
    BOOST_TEST((::fcntl(f.get(), F_GETFD) & FD_CLOEXEC) != 0);
    std::string text(4, '?');
    BOOST_TEST(os::read_some(f.get(), as_writable_bytes(text)) == 4);
    BOOST_TEST(text == "0123");
    BOOST_TEST(read_all_at(f.get(), 7, 2) == "78");
    BOOST_TEST(read_all_at(f.get(), 8, 100) == "89");
    BOOST_TEST(read_all_at(f.get(), 10, 1) == "");
    std::string more(6, '?');
    BOOST_TEST(os::read_up_to_at(f.get(), 6, as_writable_bytes(more)) == 4);
    BOOST_TEST(more == "6789??");
    BOOST_TEST(os::read_up_to_at(f.get(), 2, as_writable_bytes(more)) == 6);
    BOOST_TEST(more == "234567");
    BOOST_TEST(os::read_up_to_at(-1, 0, as_writable_bytes(more)) < 0);
    BOOST_TEST(os::read_some(f.get(), as_writable_bytes(text)) == 4);   // its place was not moved
    BOOST_TEST(text == "4567");
    BOOST_TEST(os::write_some(f.get(), as_bytes(text)) < 0);
    BOOST_TEST(errno == EBADF);
}
BOOST_AUTO_TEST_CASE(a_pipe_without_a_writer_is_not_waited_for) {
    const temporary_folder folder;
    BOOST_TEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    BOOST_TEST(bool(os::open_to_read(folder / "pipe")));
}
BOOST_AUTO_TEST_CASE(what_is_there_may_be_kept_or_emptied) {
    const temporary_folder folder;
    const std::string path = folder / "a";
    BOOST_TEST(!os::open_to_change(path, os::opening::existing));
    BOOST_TEST(errno == ENOENT);
    BOOST_TEST(bool(os::open_to_change(path, os::opening::made)));
    write_bytes(path, "abcdef");
    {
        const descriptor f = os::open_to_change(path, os::opening::existing);
        BOOST_TEST(os::write_some_at(f.get(), 4, as_bytes(std::string("XYZ"))) == 3);
        BOOST_TEST(os::sync(f.get()));
        BOOST_TEST(read_all_at(f.get(), 0, 9) == "abcdXYZ");
        BOOST_TEST(os::set_length(f.get(), 2));
    }
    BOOST_TEST(read_bytes(path) == "ab");
    {
        const descriptor f = os::open_to_change(path, os::opening::made);
        BOOST_TEST(os::set_length(f.get(), 4));
    }
    BOOST_TEST(read_bytes(path) == std::string("ab\0\0", 4));
    BOOST_TEST(bool(os::open_to_change(path, os::opening::emptied)));
    BOOST_TEST(read_bytes(path) == "");
}
BOOST_AUTO_TEST_CASE(a_new_file_is_new) {
    const temporary_folder folder;
    const descriptor open = os::open_folder(folder.path());
    BOOST_TEST_REQUIRE(bool(open));
    {
        const descriptor f = os::make_file(open.get(), "a", 0640);
        BOOST_TEST(os::write_some(f.get(), as_bytes(std::string("text"))) == 4);
    }
    BOOST_TEST(read_bytes(folder / "a") == "text");
    struct stat s {};
    BOOST_TEST_REQUIRE(::stat((folder / "a").c_str(), &s) == 0);
    BOOST_TEST((s.st_mode & 0600) == 0600u);
    BOOST_TEST((s.st_mode & 0007) == 0u);
    BOOST_TEST(!os::make_file(open.get(), "a"));
    BOOST_TEST(errno == EEXIST);
    BOOST_TEST(!os::make_file(folder / "a"));
    BOOST_TEST(bool(os::make_file(folder / "b")));
    BOOST_TEST(folder.entries() == 2u);
    std::filesystem::create_symlink("a", folder / "link");
    BOOST_TEST(bool(os::open_to_read(open.get(), "a")));
    BOOST_TEST(!os::open_to_read(open.get(), "link"));
    BOOST_TEST(errno == ELOOP);
    BOOST_TEST(bool(os::open_to_read(folder / "link")));
    BOOST_TEST(!os::open_folder(folder / "a"));
    BOOST_TEST(errno == ENOTDIR);
    BOOST_TEST(os::sync(open.get()));
}
BOOST_AUTO_TEST_CASE(a_file_without_a_name) {
    const temporary_folder folder;
    std::string name = folder / "scratch-XXXXXX";
    const descriptor f = os::make_nameless_file(name);
    BOOST_TEST_REQUIRE(bool(f));
    BOOST_TEST(folder.entries() == 0u);
    BOOST_TEST(!name.ends_with("XXXXXX"));
    BOOST_TEST(os::write_some(f.get(), as_bytes(std::string("kept"))) == 4);
    BOOST_TEST(read_all_at(f.get(), 0, 9) == "kept");
    std::string nowhere = folder / "none/XXXXXX";
    BOOST_TEST(!os::make_nameless_file(nowhere));
    BOOST_TEST(errno == ENOENT);
}
BOOST_AUTO_TEST_CASE(a_descriptor_closes_once) {
    const temporary_folder folder;
    descriptor f = os::open_to_read(write_bytes(folder / "a", "x"));
    const int number = f.get();
    descriptor moved(std::move(f));
    BOOST_TEST(!f);
    BOOST_TEST(moved.get() == number);
    BOOST_TEST(moved.close() == 0);
    BOOST_TEST(moved.close() == 0);
    BOOST_TEST(!moved);
    BOOST_TEST(::fcntl(number, F_GETFD) == -1);
    descriptor wrong(number);
    BOOST_TEST(wrong.close() == EBADF);
}
// Locks belong to open files: the same process has another one by opening the file again.
BOOST_AUTO_TEST_CASE(one_open_file_has_the_lock) {
    const temporary_folder folder;
    const std::string path = write_bytes(folder / "a", "x");
    const descriptor other = os::open_to_read(path);
    descriptor first = os::open_to_read(path), same = os::duplicate(first.get());
    BOOST_TEST(os::try_lock(first.get()));
    BOOST_TEST(os::try_lock(same.get()));
    BOOST_TEST(!os::try_lock(other.get()));
    BOOST_TEST(errno == EWOULDBLOCK);
    first.close();
    BOOST_TEST(!os::try_lock(other.get()));   // `same` keeps it
    os::unlock(same.get());
    BOOST_TEST(os::try_lock(other.get()));
    BOOST_TEST(!os::try_lock(same.get()));
}
BOOST_AUTO_TEST_CASE(a_file_as_memory) {
    const temporary_folder folder;
    std::string text(10'000, 'a');
    text[9'000] = 'b';
    os::mapped_file m;
    BOOST_TEST(!m);
    {
        const descriptor f = os::open_to_read(write_bytes(folder / "a", text));
        m = os::mapped_file(f.get(), text.size());
    }
    BOOST_TEST_REQUIRE(bool(m));
    const os::mapped_file moved(std::move(m));
    BOOST_TEST(!m);
    BOOST_TEST((std::string(static_cast<const char*>(moved.data()), text.size()) == text));
    BOOST_TEST(!os::mapped_file(-1, 10));
    BOOST_TEST(errno == EBADF);
}

} // namespace
