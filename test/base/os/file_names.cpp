// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE file_names
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/base/os/file_status.hpp>
#include <sinter/base/os/folder.hpp>
#include <chrono>
#include <set>

// Names, folders and what the system says of files, against std::filesystem.
using namespace sinter::base;
using kind = os::file_status::kind;
namespace fs = std::filesystem;

namespace {

BOOST_AUTO_TEST_CASE(what_a_file_is) {
    const temporary_folder folder;
    const std::string a = write_bytes(folder / "a", "12345");
    fs::create_symlink("a", folder / "link");
    fs::create_symlink("none", folder / "nowhere");
    fs::create_hard_link(a, folder / "also");
    fs::permissions(a, fs::perms(0640));
    const os::file_status s = os::status_of(a);
    BOOST_TEST(bool(s));
    BOOST_TEST(s.is_regular());
    BOOST_TEST(s.bytes == 5u);
    BOOST_TEST(s.names == 2u);
    BOOST_TEST(s.mode == 0640u);
    BOOST_TEST(s.number == os::status_of(folder / "also").number);
    BOOST_TEST(s.number == os::status_of(folder / "link").number);
    BOOST_TEST(s.number != os::status_of(folder.path()).number);
    BOOST_TEST(os::status_of(folder.path()).is_folder());
    BOOST_TEST((os::status_of_link(folder / "link").is == kind::link));
    BOOST_TEST(os::status_of_link(a).is_regular());
    BOOST_TEST((os::status_of("/dev/null").is == kind::other));
    BOOST_TEST(bool(os::status_of_link(folder / "nowhere")));
    BOOST_TEST(!os::status_of(folder / "nowhere"));
    BOOST_TEST(errno == ENOENT);
    BOOST_TEST(!os::status_of(a + "/b"));
    BOOST_TEST(errno == ENOTDIR);
    const descriptor open = os::open_folder(folder.path()), file = os::open_to_read(a);
    BOOST_TEST(os::status_of(open.get(), "link").number == s.number);
    BOOST_TEST(os::status_of(file.get()).number == s.number);
    BOOST_TEST(!os::status_of(-1));
    BOOST_TEST(errno == EBADF);
    BOOST_TEST(os::set_mode(open.get(), "a", 0600));
    BOOST_TEST((fs::status(a).permissions() == fs::perms(0600)));
    BOOST_TEST(!os::set_mode(open.get(), "none", 0600));
}
BOOST_AUTO_TEST_CASE(when_it_was_changed) {
    const temporary_folder folder;
    const std::string a = write_bytes(folder / "a", "1");
    using namespace std::chrono;
    const sys_time<nanoseconds> day = sys_days(year(2020) / 2 / 3);
    fs::last_write_time(a, file_clock::from_sys(day + nanoseconds(7'000)));
    const os::file_status s = os::status_of(a);
    BOOST_TEST(s.seconds == day.time_since_epoch() / seconds(1));
    BOOST_TEST(s.nanoseconds == 7'000);
}
BOOST_AUTO_TEST_CASE(names_come_and_go) {
    const temporary_folder folder;
    const std::string a = write_bytes(folder / "a", "A"), b = folder / "b";
    BOOST_TEST(os::exists(a));
    BOOST_TEST(!os::exists(b));
    BOOST_TEST(errno == ENOENT);
    BOOST_TEST(os::add_name(a, b));
    BOOST_TEST(!os::add_name(a, b));
    BOOST_TEST(errno == EEXIST);
    write_bytes(folder / "c", "C");
    BOOST_TEST(os::rename_file(folder / "c", b));   // in place of what has the name
    BOOST_TEST(read_bytes(b) == "C");
    BOOST_TEST(read_bytes(a) == "A");
    const descriptor open = os::open_folder(folder.path());
    BOOST_TEST(os::may_write(open.get(), "a"));
    BOOST_TEST(!os::may_write(open.get(), "none"));
    BOOST_TEST(os::rename_file(open.get(), "b", "d"));
    BOOST_TEST(read_bytes(folder / "d") == "C");
    BOOST_TEST(os::remove_file(open.get(), "d"));
    BOOST_TEST(os::remove_file(a));
    BOOST_TEST(!os::remove_file(a));
    BOOST_TEST(errno == ENOENT);
    BOOST_TEST(!os::rename_file(a, b));
    BOOST_TEST(folder.entries() == 0u);
}
BOOST_AUTO_TEST_CASE(paths_without_links) {
    const temporary_folder folder;
    BOOST_TEST(os::make_folder(folder / "real"));
    fs::create_directory_symlink("real", folder / "link");
    BOOST_TEST(os::canonical_path(folder / "link/../link/.") == fs::canonical(folder / "real").string());
    BOOST_TEST(os::canonical_path("/") == "/");
    BOOST_TEST(os::canonical_path(folder / "none") == "");
    BOOST_TEST(errno == ENOENT);
}
std::multiset<std::string> names_of(os::folder_names& n) {
    std::multiset<std::string> all;
    while (const char* const name = n.next()) all.insert(name);
    BOOST_TEST(n.next() == nullptr);
    return all;
}
BOOST_AUTO_TEST_CASE(folders) {
    const temporary_folder folder;
    std::multiset<std::string> wanted{".", ".."};
    for (int i = 0; i < 500; ++i) {   // more than one call of the system returns
        wanted.insert("a name of some length " + std::to_string(i));
        write_bytes(folder / ("a name of some length " + std::to_string(i)), "");
    }
    BOOST_TEST(!os::make_folder(folder.path()));
    BOOST_TEST(errno == EEXIST);
    BOOST_TEST(!os::make_folder(folder / "none/within"));
    BOOST_TEST(errno == ENOENT);
    BOOST_TEST(!os::remove_folder(folder.path()));
    BOOST_TEST(errno == ENOTEMPTY);
    {
        os::folder_names names(folder.path());
        BOOST_TEST((names_of(names) == wanted));
        BOOST_TEST(names.fault() == 0);
    }
    const descriptor open = os::open_folder(folder.path());
    for (int again = 0; again < 2; ++again) {
        os::folder_names names(open.get());
        BOOST_TEST((names_of(names) == wanted), "time " << again);
        BOOST_TEST(names.fault() == 0);
    }
    BOOST_TEST(os::sync(open.get()));   // it is still open
    os::folder_names none(folder / "none"), file(folder / "a name of some length 7"), closed(-1);
    BOOST_TEST(none.next() == nullptr);
    BOOST_TEST(none.fault() == ENOENT);
    BOOST_TEST(file.fault() == ENOTDIR);
    BOOST_TEST(closed.fault() == EBADF);
    BOOST_TEST(os::make_folder(folder / "new"));
    BOOST_TEST(fs::is_directory(folder / "new"));
    BOOST_TEST(os::remove_folder(folder / "new"));
    BOOST_TEST(!fs::exists(folder / "new"));
}

} // namespace
