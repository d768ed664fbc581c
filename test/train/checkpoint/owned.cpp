// SPDX-License-Identifier: BSL-1.0
// shows saving: a replaced run cannot write its checkpoints; a job that dies at one step repeatedly is given up
#define BOOST_TEST_MODULE owned
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "train/checkpoint/short_run.hpp"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

// Files of a run: the newest of several, one that was damaged, whose they are, and a run that dies at the same step for
// ever. Killed at random points: test/train/checkpoint/killed.cpp.
using namespace sinter;

BOOST_AUTO_TEST_CASE(the_newest_few) {
    temporary_folder folder;
    short_run(folder / "run", {.every_steps = 3, .keep = 2});
    const checkpoint_folder files(folder / "run", 2);
    BOOST_TEST(files.steps() == (std::vector<std::int64_t>{18, 15}), boost::test_tools::per_element());
    BOOST_TEST(short_run(folder / "run", {.every_steps = 3, .keep = 2}).empty() == false);
    BOOST_CHECK_THROW(save_checkpoints("x", {.keep = -1}), option_error);
}

// A run is begun anew where there is no file, and not where nobody can say whether there is one: the old ones would be
// written over.
BOOST_AUTO_TEST_CASE(where_nobody_can_look) {
    temporary_folder folder;
    const std::string around = folder / "around";   // a link to itself
    BOOST_TEST(::symlink("around", around.c_str()) == 0);
    BOOST_CHECK_THROW(checkpoint_folder(around, 3).steps(), io_error);
    BOOST_TEST(checkpoint_folder(folder / "none", 3).steps().empty());
    for (const int keep : {0, 3}) {
        std::int64_t steps = 0;
        const auto behind_step = [&](std::int64_t) { ++steps; };
        BOOST_CHECK_THROW(short_run(around, {.every_steps = 3, .keep = keep}, -1, behind_step), io_error);
        BOOST_TEST(steps == 0);
    }
}

// Whatever is wrong with the newest file, the one before is taken, and the run ends as it would have.
BOOST_AUTO_TEST_CASE(the_one_before) {
    temporary_folder folder;
    const std::vector<float> whole = short_run(folder / "whole", {.every_steps = 3, .keep = 3});
    int n = 0;
    const auto damaged = [&](auto damage) {
        const std::string name = folder / std::to_string(++n);
        BOOST_CHECK_THROW(short_run(name, {.every_steps = 3, .keep = 3}, 10), killed);
        damage(checkpoint_folder(name, 3).name(9));
        BOOST_TEST((short_run(name, {.every_steps = 3, .keep = 3}) == whole));
    };
    damaged([](const std::string& f) { std::filesystem::resize_file(f, std::filesystem::file_size(f) - 1); });
    damaged([](const std::string& f) { std::filesystem::resize_file(f, 0); });
    damaged([](const std::string& f) { write_bytes(f, "no checkpoint"); });
    for (const double part : {0.3, 0.6, 0.999})   // one bit, which only a checksum sees
        damaged([&](const std::string& f) {
            std::string bytes = read_bytes(f);
            const std::size_t head = bytes.find("}}") + 2;
            auto at = head + static_cast<std::size_t>(part * static_cast<double>(bytes.size() - head));
            bytes[at] = static_cast<char>(bytes[at] ^ 1);
            write_bytes(f, bytes);
        });
    // All are damaged: an error, and not a run from the beginning.
    BOOST_CHECK_THROW(short_run(folder / "all", {.every_steps = 3, .keep = 3}, 10), killed);
    for (const std::int64_t s : {3, 6, 9}) write_bytes(checkpoint_folder(folder / "all", 3).name(s), "nothing");
    BOOST_CHECK_THROW(short_run(folder / "all", {.every_steps = 3, .keep = 3}), error);
}

// A run that another has replaced cannot write any more, and what the other has written stays.
BOOST_AUTO_TEST_CASE(replaced) {
    for (const int keep : {0, 2}) {
        temporary_folder folder;
        std::string after;
        const auto replace = [&](std::int64_t step) {
            if (step != 5) return;
            BOOST_CHECK_THROW(short_run(folder / "run", {.every_steps = 3, .keep = keep}, 8), killed);
            after = read_bytes(checkpoint_folder(folder / "run", keep).name(keep ? 6 : 0));
        };
        BOOST_CHECK_EXCEPTION(short_run(folder / "run", {.every_steps = 3, .keep = keep}, -1, replace), io_error,
                              [](const io_error& e) {
                                  return std::string(e.what()).find("another run") != std::string::npos;
                              });
        BOOST_TEST(read_bytes(checkpoint_folder(folder / "run", keep).name(keep ? 6 : 0)) == after);
    }
}

// Dies behind each checkpoint's step again and again: given up after so many times. A run that gets
// on, and one that has ended, are not.
BOOST_AUTO_TEST_CASE(the_same_step_for_ever) {
    temporary_folder folder;
    const save_options o{.every_steps = 3, .keep = 2, .restarts_at_a_step = 3};
    const auto gives_up = [](const data_error& e) {
        const std::string text = e.what();
        return text.find("step 6") != text.npos && text.find(" restarts; needed at most 3") != text.npos;
    };
    BOOST_CHECK_THROW(short_run(folder / "run", o, 8), killed);   // from 0
    for (int i = 0; i < 3; ++i) BOOST_CHECK_THROW(short_run(folder / "run", o, 8), killed);   // from 6
    BOOST_CHECK_EXCEPTION(short_run(folder / "run", o, 8), data_error, gives_up);
    BOOST_CHECK_EXCEPTION(short_run(folder / "run", o), data_error, gives_up);
    std::filesystem::remove(folder / "run/run");
    for (const int dies : {10, 13, 16, 17, 17}) BOOST_CHECK_THROW(short_run(folder / "run", o, dies), killed);
    for (int i = 0; i < 8; ++i) short_run(folder / "run", o);   // had ended
    const save_options never{.every_steps = 3, .keep = 2, .restarts_at_a_step = 0};
    for (int i = 0; i < 8; ++i) BOOST_CHECK_THROW(short_run(folder / "other", never, 2), killed);
}

// Each of the signals stops training behind a step, or within validation, with a checkpoint; the run goes on bitwise.
BOOST_AUTO_TEST_CASE(signals) {
    temporary_folder folder;
    const std::vector<float> whole = short_run(folder / "whole", {});
    for (const int number : {SIGINT, SIGTERM, SIGUSR1})
        for (const std::int64_t at : {4, 6}) {   // 6: the last of an epoch, whose validation is left
            const std::string name = folder / (std::to_string(number) + "-" + std::to_string(at)).c_str();
            std::int64_t steps = 0;
            {
                stop_on_signals s;
                short_run(name, {}, -1, [&](std::int64_t step) {
                    steps = step;
                    if (step == at) std::raise(number);
                }, &s);
                BOOST_TEST(static_cast<bool>(s));
                BOOST_TEST(s.signal() == number);
            }
            BOOST_TEST(steps == at);
            BOOST_TEST((short_run(name, {}) == whole));
        }
    // The second of a kind ends the program, as it would have.
    const pid_t child = ::fork();
    if (child == 0) {
        stop_on_signals s;
        std::raise(SIGTERM);
        std::raise(SIGTERM);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
}

// Killed at random points, several of them while a checkpoint is written.
BOOST_AUTO_TEST_CASE(killed_while_writing) { kill_at_random_points(6); }
