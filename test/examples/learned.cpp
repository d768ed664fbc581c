// SPDX-License-Identifier: BSL-1.0
// labels: slow release
// needs: examples
// processors: 2
//
// Examples, run as their text says, learn what bench/notes/learned.md says. They are in the folder SINTER_EXAMPLES.
#define BOOST_TEST_MODULE examples_learned
#include "examples/smoke.hpp"
#include "io/data_folder.hpp"
#include "io/skip.hpp"

namespace {
/// What an example measured, by name, after it was run with these arguments.
ptree results_of(const std::string& program, const std::string& arguments) {
    const temporary_folder written;
    const std::string report = written / "report.json";
    const command_result said = run_command("timeout 1700" + quoted(folder_of_examples() + '/' + program) +
                                            " --threads 2 --report" + quoted(report) + ' ' + arguments + " 2>&1");
    BOOST_TEST_MESSAGE(said.output);
    BOOST_REQUIRE_MESSAGE(said.status == 0, said.output);
    return json_in(report).get_child("results");
}
} // namespace

BOOST_AUTO_TEST_CASE(gpt_learns_to_write_like_shakespeare) {
    const std::string text = data_file("tinyshakespeare/input.txt");
    if (text.empty()) return skip("no tinyshakespeare/input.txt");
    const std::string data = std::filesystem::path(text).parent_path().parent_path().string();
    const ptree results = results_of("gpt", "--epochs 10 --batch 32 --seed 1 --data" + quoted(data));
    const double loss = results.get<double>("validation loss");
    BOOST_TEST(loss <= 1.75, "validation loss " << loss << " nats a character, needed 1.75");
    BOOST_TEST(loss >= 1.3);   // nothing of this size knows the text that it was not shown
}

BOOST_AUTO_TEST_CASE(lstm_learns_to_write_like_shakespeare) {
    const std::string text = data_file("tinyshakespeare/input.txt");
    if (text.empty()) return skip("no tinyshakespeare/input.txt");
    const std::string data = std::filesystem::path(text).parent_path().parent_path().string();
    const double loss =
        results_of("lstm", "--epochs 12 --batch 32 --seed 1 --data" + quoted(data)).get<double>("validation loss");
    BOOST_TEST(loss <= 1.85, "validation loss " << loss << " nats a character, needed 1.85");
    BOOST_TEST(loss >= 1.3);
}

BOOST_AUTO_TEST_CASE(gan_draws_all_digits_and_does_not_collapse) {
    const ptree results = results_of("gan", "--epochs 15 --batch 64 --seed 1");
    BOOST_TEST(results.get<double>("expert's accuracy") >= 0.88);   // who judges must know the digits
    const double digits = results.get<double>("digits drawn"), confidence = results.get<double>("confidence");
    BOOST_TEST(digits >= 8, digits << " digits are each seen in 3 % of the images, needed 8");
    BOOST_TEST(confidence >= 0.6, "mean confidence " << confidence << ", needed 0.6");
    BOOST_TEST(results.get<double>("inception score") >= 3);
}

BOOST_AUTO_TEST_CASE(handwriting_is_read_with_ctc) {
    const double errors = results_of("handwriting", "--epochs 4 --batch 32 --seed 1").get<double>("error rate");
    BOOST_TEST(errors <= 0.05, "error rate " << errors << ", needed 0.05");
}
