// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE report
#include <boost/test/unit_test.hpp>
#include <sinter/train/report.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace sinter;

BOOST_AUTO_TEST_CASE(a_report_is_one_json_object) {
    report r;
    r.program = "quick\"start";
    r.set("epochs", 5);
    r.set("data", "/tmp/a b");
    r.set("learning_rate", 0.001);
    r.set("epochs", 7);
    r.set("shuffled", true);
    r.loss_by_epoch = {0.5, 0.25, std::numeric_limits<double>::quiet_NaN()};
    r.seconds = 2.5;
    r.examples_per_second = 24000;
    BOOST_TEST(r.json_text() == R"({
  "program": "quick\"start",
  "settings": {
    "epochs": 7,
    "data": "/tmp/a b",
    "learning_rate": 0.001,
    "shuffled": true
  },
  "loss_by_epoch": [0.5, 0.25, null],
  "test_accuracy": null,
  "seconds": 2.5,
  "examples_per_second": 24000
}
)");
    BOOST_TEST(report{}.json_text().find("\"settings\": {},") != std::string::npos);
    r.results = {{"validation loss", 1.5}, {"R2", std::numeric_limits<double>::quiet_NaN()}};
    BOOST_TEST(r.json_text()
               .find("null,\n  \"results\": {\"validation loss\": 1.5, \"R2\": null},\n  \"seconds\": 2.5,") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(it_is_written_whole_or_not_at_all) {
    const auto folder = std::filesystem::temp_directory_path() / ("sinter_report_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const std::string path = (folder / "report.json").string();
    report r;
    r.program = "first";
    r.write(path);
    r.program = "second";
    r.write(path);
    std::ifstream in(path);
    const std::string written((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    BOOST_TEST(written == r.json_text());
    BOOST_CHECK_THROW(r.write((folder / "report.json" / "report.json").string()), io_error);
    BOOST_CHECK_THROW(r.write(folder.string()), io_error);
    const auto entries =
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
    BOOST_TEST(entries == 1);   // nothing temporary stays
    std::filesystem::remove_all(folder);
}
