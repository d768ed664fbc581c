// SPDX-License-Identifier: BSL-1.0
// shows files: an old file stays whole until the new one is; what killed writers left is removed
#define BOOST_TEST_MODULE io_atomic_write
#include "error_parts.hpp"
#include "support/hindrances.hpp"
#include "skip.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/atomic_write.hpp>
#include <sinter/io/make_folders.hpp>

#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <vector>

using sinter::io::atomic_write;
using sinter::io::output_file;

namespace {
void save(const std::string& path, std::string_view text) {
    atomic_write(path, [&](output_file& out) { out.write(text); });
}
} // namespace

BOOST_AUTO_TEST_CASE(writes_a_new_file_and_replaces_an_old_one) {
    temporary_folder folder;
    save(folder / "a", "first");
    BOOST_TEST(read_bytes(folder / "a") == "first");
    save(folder / "a", "second, longer");
    BOOST_TEST(read_bytes(folder / "a") == "second, longer");
    BOOST_TEST(folder.entries() == 1u);
}

BOOST_AUTO_TEST_CASE(a_bare_name_goes_to_the_current_folder) {
    temporary_folder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");
    save("bare", "x");
    std::filesystem::current_path(before);
    BOOST_TEST(read_bytes(folder / "bare") == "x");
}

BOOST_AUTO_TEST_CASE(keeps_permissions_and_follows_a_link) {
    namespace fs = std::filesystem;
    temporary_folder folder;
    write_bytes(folder / "real", "old");
    fs::permissions(folder / "real", fs::perms{0640});
    fs::create_symlink("real", folder / "link");
    save(folder / "link", "new");
    BOOST_TEST(fs::is_symlink(folder / "link"));
    BOOST_TEST(read_bytes(folder / "real") == "new");
    BOOST_TEST((fs::status(folder / "real").permissions() == fs::perms{0640}));
}

BOOST_AUTO_TEST_CASE(a_name_of_the_greatest_length_fits) {
    temporary_folder folder;
    const std::string name(255, 'n');
    save(folder / name, "x");
    BOOST_TEST(read_bytes(folder / name) == "x");
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_old_file_and_nothing_else) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "weights", "old weights");
    const std::vector<std::byte> large(1 << 20);
    {
        file_size_limit limit(4096);
        check_error<sinter::io_error>([&] { atomic_write(path, [&](output_file& out) { out.write(large); }); },
                                      "cannot write", path, "File too large", "more bytes after 4096");
    }
    BOOST_TEST(read_bytes(path) == "old weights");
    BOOST_TEST(folder.entries() == 1u);
}

BOOST_AUTO_TEST_CASE(no_space_left_is_an_io_error) {
    const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return skip("no /dev/full here");
    output_file full(sinter::io::descriptor(fd), "/dev/full");
    check_error<sinter::io_error>([&] { full.write("x"); }, "cannot write", "/dev/full", "No space left",
                                  "1 more bytes");
}

// A rename over it would replace the device node of the whole machine.
BOOST_AUTO_TEST_CASE(a_device_is_not_replaced) {
    check_error<sinter::io_error>([] { save("/dev/null", "x"); }, "cannot replace", "/dev/null", "a device",
                                  "regular file");
    BOOST_TEST(std::filesystem::is_character_file("/dev/null"));
}

// Each of these fails for root too, whom permissions do not stop.
BOOST_AUTO_TEST_CASE(unwritable_places_are_io_errors) {
    temporary_folder folder;
    write_bytes(folder / "file", "kept");
    check_error<sinter::io_error>([&] { save(folder / "file/a", "x"); }, "cannot open the folder", folder / "file/a",
                                  "Not a directory");
    check_error<sinter::io_error>([&] { save(folder / "", "x"); }, "cannot write", folder / "", "ends in a folder");
    std::filesystem::create_directory(folder / "sub");
    check_error<sinter::io_error>([&] { save(folder / "sub", "x"); }, "cannot replace", folder / "sub", "a folder");
    check_error<sinter::io_error>([&] { save("/proc/sinter", "x"); }, "cannot create a temporary file", "/proc/sinter");
    std::filesystem::create_symlink("nowhere", folder / "dangling");
    check_error<sinter::io_error>([&] { save(folder / "dangling", "x"); }, "cannot follow the link",
                                  folder / "dangling");
    BOOST_TEST(read_bytes(folder / "file") == "kept");
    BOOST_TEST(folder.entries() == 3u);
}

BOOST_AUTO_TEST_CASE(folders_that_are_missing_are_made) {
    temporary_folder folder;
    save(folder / "a/b//c/d", "x");
    BOOST_TEST(read_bytes(folder / "a/b/c/d") == "x");
    save(folder / "a/e", "y");
    BOOST_TEST(folder.entries() == 1u);
    for (const char* name : {"f/g", "f/g/", "f/g//h///", "f"}) {
        sinter::io::make_folders(folder / name);
        BOOST_TEST(std::filesystem::is_directory(folder / name));
    }
    write_bytes(folder / "file", "kept");
    check_error<sinter::io_error>([&] { sinter::io::make_folders(folder / "file"); }, "cannot make the folder",
                                  folder / "file", "a file", "a folder");
    check_error<sinter::io_error>([&] { sinter::io::make_folders(folder / "file/a/b"); }, "cannot make the folder",
                                  folder / "file/a", "Not a directory");
    check_error<sinter::io_error>([] { save("/proc/sinter/a", "x"); }, "cannot make the folder", "/proc/sinter");
    std::filesystem::create_symlink("around", folder / "around");
    check_error<sinter::io_error>([&] { sinter::io::make_folders(folder / "around"); }, "cannot make the folder",
                                  folder / "around", "symbolic links");
}

BOOST_AUTO_TEST_CASE(whatever_the_filler_throws_leaves_the_old_file) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "a", "old");
    const auto fail_midway = [](output_file& out) {
        out.write("half");
        throw 42;
    };
    BOOST_CHECK_THROW(atomic_write(path, fail_midway), int);
    BOOST_TEST(read_bytes(path) == "old");
    BOOST_TEST(folder.entries() == 1u);
}

BOOST_AUTO_TEST_CASE(only_regular_files_are_read) {
    temporary_folder folder;
    using sinter::io::read_whole_file;
    check_error<sinter::io_error>([&] { read_whole_file(folder / "none"); }, "cannot open", folder / "none",
                                  "No such file");
    check_error<sinter::io_error>([&] { read_whole_file(folder / ""); }, "cannot read", folder / "", "a folder");
    check_error<sinter::io_error>([&] { read_whole_file("/dev/zero"); }, "cannot read", "/dev/zero",
                                  "a device or pipe");
    mkfifo((folder / "pipe").c_str(), 0600); // opening one for reading would otherwise wait for a writer
    check_error<sinter::io_error>([&] { read_whole_file(folder / "pipe"); }, "cannot read", folder / "pipe", "pipe");
}

BOOST_AUTO_TEST_CASE(a_write_protected_file_is_not_replaced) {
    namespace fs = std::filesystem;
    temporary_folder folder;
    const std::string path = write_bytes(folder / "good", "kept");
    fs::create_symlink("good", folder / "link");
    fs::permissions(path, fs::perms{0444});
    for (const std::string& name : {path, folder / "link"})   // root, too, is refused
        check_error<sinter::io_error>([&] { save(name, "x"); }, "cannot replace", "/",
                                      "write-protected file (mode 0444)", "chmod u+w");
    BOOST_TEST(read_bytes(path) == "kept");
    BOOST_TEST(folder.entries() == 2u);
    fs::permissions(path, fs::perms{0600});
    save(path, "new");
    BOOST_TEST(read_bytes(path) == "new");
}
BOOST_AUTO_TEST_CASE(links_to_devices_and_pipes_are_not_replaced) {
    temporary_folder folder;
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const std::string pipe = "/dev/fd/" + std::to_string(ends[1]);   // what /dev/stdout is in `program | less`
    check_error<sinter::io_error>([&] { save(pipe, "x"); }, "cannot replace", pipe, "a device or pipe", "regular file");
    std::filesystem::create_symlink("/dev/full", folder / "full");
    check_error<sinter::io_error>([&] { save(folder / "full", "x"); }, "cannot replace", folder / "full",
                                  "a device or pipe");
    std::filesystem::create_symlink(".", folder / "here");
    check_error<sinter::io_error>([&] { save(folder / "here", "x"); }, "cannot replace", folder / "here", "a folder");
    ::close(ends[0]);
    ::close(ends[1]);
}

namespace {
/// A child that begins to write `path` and stays there until it is killed.
pid_t begin_to_write(const std::string& path) {
    int ends[2];
    if (::pipe(ends) != 0) return -1;
    const pid_t child = ::fork();
    if (child == 0) {
        atomic_write(path, [&](output_file& out) {
            out.write("half");
            if (::write(ends[1], "x", 1) == 1) ::sleep(60);
        });
        ::_exit(0);
    }
    char ready = 0;
    if (::read(ends[0], &ready, 1) != 1) ready = 0;
    ::close(ends[0]);
    ::close(ends[1]);
    return ready ? child : -1;
}
void end(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}
} // namespace

BOOST_AUTO_TEST_CASE(what_killed_writers_left_is_removed_and_what_living_ones_write_is_not) {
    temporary_folder folder;
    const std::string path = folder / "a", other = folder / "a.5", longest = folder / std::string(255, 'n');
    write_bytes(path, "old");
    for (const std::string& name : {path, path, other, longest}) {
        const pid_t dead = begin_to_write(name);
        BOOST_TEST_REQUIRE(dead > 0);
        end(dead);
    }
    const pid_t living = begin_to_write(path);
    BOOST_TEST_REQUIRE(living > 0);
    BOOST_TEST(read_bytes(path) == "old");
    // The second writer removed what the first had left.
    BOOST_TEST(folder.entries() == 1u + 1u + 2u);
    // Files of the user's own that look much the same.
    for (const char* name : {".a.1.tmp", ".a.x.1.tmp", ".a.1.1.tmpx", "a.1.1.tmp", ".b.1.1.tmp"})
        write_bytes(folder / name, "mine");
    save(path, "new");
    BOOST_TEST(read_bytes(path) == "new");
    BOOST_TEST(folder.entries() == 1u + 1u + 2u + 5u);
    end(living);
    for (const std::string& name : {path, other, longest}) save(name, "whole");
    BOOST_TEST(folder.entries() == 3u + 5u);
}
BOOST_AUTO_TEST_CASE(many_writers_of_one_file_do_not_disturb_each_other) {
    temporary_folder folder;
    const std::string path = folder / "a";
    std::atomic<int> failed{0};
    std::vector<std::thread> writers;
    for (int t = 0; t < 4; ++t)
        writers.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                try {
                    save(path, std::string(1000, static_cast<char>('a' + t)));
                    const std::string is = read_bytes(path);
                    if (is.size() != 1000 || is != std::string(1000, is[0])) ++failed;
                } catch (const std::exception&) {
                    ++failed;
                }
            }
        });
    for (std::thread& t : writers) t.join();
    BOOST_TEST(failed == 0);
    BOOST_TEST(folder.entries() == 1u);
}
/// The system would read the name to its zero byte, and another file would be read or replaced.
BOOST_AUTO_TEST_CASE(names_with_a_zero_byte) {
    const temporary_folder folder;
    const std::string there = write_bytes(folder / "there", "old"), name = there + std::string("\0.new", 5);
    check_error<sinter::io_error>([&] { atomic_write(name, [](output_file& f) { f.write("new"); }); },
                          "a path has a zero byte", there, "place");
    check_error<sinter::io_error>([&] { (void)sinter::io::read_whole_file(name); }, "a path has a zero byte", there);
    BOOST_TEST(read_bytes(there) == "old");
}
