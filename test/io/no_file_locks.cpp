// SPDX-License-Identifier: BSL-1.0
// shows saving: file systems without locks
// alone: it has a flock() of its own
#define BOOST_TEST_MODULE no_file_locks
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/messages.hpp"
#include <atomic>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/run_record.hpp>
#include <thread>

// File systems without locks, by a flock() that answers as theirs do: another guard is taken, which keeps the same
// promises.
extern "C" int flock(int, int) noexcept {
    errno = ENOSYS;
    return -1;
}
using namespace sinter;

BOOST_AUTO_TEST_CASE(other_lock_is_reported_once) {
    const temporary_folder folder;
    sinter_test::messages said;
    run_record r(folder / "run");
    BOOST_TEST(r.take(5) == 1);
    BOOST_TEST(said.have("run.lock guards it instead"));
    int calls = 0;
    r.guarded([&] {
        ++calls;
        BOOST_TEST(std::filesystem::exists(folder / "run.lock"));
    });
    BOOST_TEST(calls == 1);
    BOOST_TEST(!std::filesystem::exists(folder / "run.lock"));
    io::atomic_write(folder / "file", [](io::output_file& out) { out.write(std::string_view("x")); });
    BOOST_TEST(read_bytes(folder / "file") == "x");
    run_record second(folder / "run");
    BOOST_TEST(second.take(5) == 2);
    check_error<io_error>([&] { r.guarded([] {}); }, "another run has taken these checkpoints over", "run");
    BOOST_TEST(!std::filesystem::exists(folder / "run.lock"));   // whatever was thrown
    BOOST_TEST(said.count("guards it instead") == 1);
}
// Threads of their own records, so many times: never two within.
BOOST_AUTO_TEST_CASE(one_at_a_time) {
    const temporary_folder folder;
    const sinter_test::messages said;
    const std::string path = folder / "run";
    run_record(path).take(1);
    std::atomic<int> within{0}, most{0}, times{0};
    const auto work = [&] {
        for (int i = 0; i < 20; ++i) {
            const io::descriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
            const io::file_lock held(fd.get(), path);
            most = std::max(most.load(), ++within);
            ++times;
            --within;
        }
    };
    std::thread a(work), b(work);
    work();
    a.join(), b.join();
    BOOST_TEST(most == 1);
    BOOST_TEST(times == 60);
}
// What a killed process has left is removed, once nothing has happened to it for a while.
BOOST_AUTO_TEST_CASE(abandoned) {
    const temporary_folder folder;
    const sinter_test::messages said;
    const std::string path = folder / "run";
    run_record(path).take(1);
    write_bytes(path + ".lock", "");
    check_error<io_error>([&] { run_record(path, 0.05).take(1); }, "cannot lock", "run", "0.05 s");
    const io::descriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    {
        const io::file_lock held(fd.get(), path, 60, 0.05);
        BOOST_TEST(std::filesystem::exists(path + ".lock"));
    }
    BOOST_TEST(folder.entries() == 1u);
}
