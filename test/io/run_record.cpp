// SPDX-License-Identifier: BSL-1.0
// shows saving: a run's record: each changed bit is found; a lock that is never given back
#include <boost/test/unit_test.hpp>
#include <sinter/estimator/training_end.hpp>
#include <sinter/io/run_record.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/messages.hpp"
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <thread>

// The small files beside checkpoints, with other things in them than were written.
using namespace sinter;

BOOST_AUTO_TEST_CASE(the_largest_numbers_are_nobodys) {
    const temporary_folder folder;
    const std::string path = folder / "run";
    for (const char* text : {"9223372036854775807 7 1 host\n", "1 7 9223372036854775807 host\n", "1 7 -3 host\n",
                             "9223372036854775806 7 1 host\n",
                             "-1 7 1 host\n", "words", ""}) {
        std::ofstream(path) << text;
        run_record r(path);
        BOOST_TEST(r.take(7) == 1, text);
        BOOST_CHECK_NO_THROW(r.guarded([] {}));
    }
    std::ofstream(path) << "4 7 2 host\n";
    BOOST_TEST(run_record(path).take(7) == 3);
}
// Each bit of the record is changed once: it is nobody's then, and whoever had it writes no more.
BOOST_AUTO_TEST_CASE(a_damaged_record_is_nobodys) {
    const temporary_folder folder;
    const std::string path = folder / "run";
    run_record mine(path);
    mine.take(40, 0, run_record::beginning{.step = 40, .after = 6, .first = 3});
    const std::string whole = read_bytes(path);
    BOOST_TEST(whole.starts_with("7 40 1 "));
    BOOST_TEST(run_record::order_in(path).text() == "7 0 40 3");
    for (std::size_t bit = 0; bit < 8 * (whole.size() - 1); ++bit) {   // the end of the line says nothing
        std::string changed = whole;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        write_bytes(path, changed);
        BOOST_TEST(run_record::order_in(path).run == 0, bit);
        BOOST_CHECK_THROW(mine.guarded([] {}), io_error);
    }
    write_bytes(path, whole);
    BOOST_CHECK_NO_THROW(mine.guarded([] {}));
    BOOST_TEST(mine.next_file().text() == "7 1 40 3");
    BOOST_TEST(mine.next_file().text() == "7 2 40 3");
    run_record next(path);
    next.take(50, 2);   // of a job whose members have changed: the history goes on
    BOOST_TEST(next.next_file().text() == "8 1 50 3");
}
BOOST_AUTO_TEST_CASE(orders) {
    for (const char* text : {"", "1", "1 2 3", "1 2 3 4 5", "1 2 3 4 ", "1 2 3 -4", "1  2 3 4",
                             "9223372036854775807 1 1 1"})
        BOOST_TEST(!io::write_order::parse(text), text);
    const io::write_order a{4, 2, 60, 3}, b{4, 1, 60, 3}, before{3, 9, 0, 3}, other{2, 9, 0, 2};
    BOOST_TEST(io::write_order::parse(a.text())->text() == a.text());
    BOOST_TEST((a.is_later(b) && !b.is_later(a) && !a.is_later(a) && b.is_later(before)));
    BOOST_TEST((a.comes_from(before, 60) && !a.comes_from(before, 61) && !a.comes_from(other, 10)));
}
BOOST_AUTO_TEST_CASE(a_part_of_a_step_is_no_step) {
    const temporary_folder folder;
    const std::string path = folder / "ended", in = path.substr(0, path.rfind('/'));
    const training_parts::training_end end(in);
    BOOST_TEST(end.step(300) == -1);
    end.write(300, 400);
    BOOST_TEST(end.step(400) == 300);   // it stopped early
    BOOST_TEST(end.step(300) == 300);
    std::string why;
    BOOST_TEST(end.step(500, &why) == -1);
    BOOST_TEST(why.find("step 300 of 400, and 500 are to be trained here") != std::string::npos, why);
    const std::string whole = read_bytes(path);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string changed = whole;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        write_bytes(path, changed);
        BOOST_CHECK_THROW(end.step(400), format_error);
    }
    for (const char* text : {"", "30", "30x\n", "-5\n", "99999999999999999999\n", "300\n300\n", "300 400 0\n"}) {
        std::ofstream(path) << text;
        BOOST_CHECK_THROW(end.step(300), format_error);
    }
    std::ofstream(path) << "300\n";   // of a version that wrote no more
    BOOST_TEST(end.step(300) == 300);
    BOOST_TEST(end.step(400) == -1);
}
// Of a run before the present one: the record tells.
BOOST_AUTO_TEST_CASE(an_end_of_a_run_before) {
    const temporary_folder folder;
    run_record r(folder / "run");
    r.take(0);
    const training_parts::training_end end(folder.path());
    end.write(300, 300);
    BOOST_TEST(end.step(300) == 300);
    r.take(60);
    std::string why;
    BOOST_TEST(end.step(300, &why) == -1);
    BOOST_TEST(why.find("a run before the present one") != std::string::npos, why);
    end.write(300, 300);
    BOOST_TEST(end.step(300) == 300);
}
// Somebody else has the lock: who waits for it says so, and gives up in the end.
BOOST_AUTO_TEST_CASE(a_lock_that_another_process_has) {
    const temporary_folder folder;
    const std::string path = folder / "run";
    run_record(path).take(1);
    const io::descriptor other(::open(path.c_str(), O_RDWR | O_CLOEXEC));   // as another process's: a lock is a file's
    BOOST_REQUIRE(::flock(other.get(), LOCK_EX) == 0);
    check_error<io_error>([&] { run_record(path, 0.05).take(1); }, "cannot lock", path, "0.05 s");
    sinter_test::messages said;
    std::thread waits([&] { run_record(path).take(1); });
    said.wait_for("waits for the lock that another process has");
    BOOST_TEST(::flock(other.get(), LOCK_UN) == 0);
    waits.join();
    BOOST_TEST(run_record::order_in(path).run == 2);
}
