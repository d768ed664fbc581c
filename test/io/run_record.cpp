// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/estimator/training_end.hpp>
#include <sinter/io/run_record.hpp>
#include "io/temporary_folder.hpp"
#include <fstream>

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
BOOST_AUTO_TEST_CASE(a_part_of_a_step_is_no_step) {
    const temporary_folder folder;
    const std::string path = folder / "ended", in = path.substr(0, path.rfind('/'));
    const detail::training_end end(in);
    BOOST_TEST(end.step() == -1);
    end.write(300);
    BOOST_TEST(end.step() == 300);
    for (const char* text : {"", "30", "30x\n", "-5\n", "99999999999999999999\n", "300\n300\n"}) {
        std::ofstream(path) << text;
        BOOST_CHECK_THROW(end.step(), format_error);
    }
}
