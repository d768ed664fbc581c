// SPDX-License-Identifier: BSL-1.0
// needs: examples
// after: quickstart predict custom_layer custom_loop custom_op custom_optimizer residual from_keras from_pytorch
//
// What the examples' smoke tests wrote, and what the programs do besides. They are in the folder
// SINTER_EXAMPLES, and the smoke tests' files in its folder smoke.
#define BOOST_TEST_MODULE examples_programs
#include "examples/smoke.hpp"
#include "profile/page_checks.hpp"
#include "support/source_folder.hpp"

#include <sinter/data/source/drawn_digits.hpp>
#include <sinter/io/npz.hpp>

#include <boost/test/unit_test.hpp>
#include <algorithm>
#include <cmath>

namespace {
/// The examples that train, how their smoke tests run them, and how far each gets at least in one
/// epoch or two. Guessing recognises a tenth.
struct trained {
    const char* name;
    int epochs, batch, seed;
    double least_accuracy;
};
const trained all_trained[] = {{"quickstart", 2, 64, 1, 0.95},  {"custom_op", 1, 32, 7, 0.7},
                               {"custom_layer", 1, 64, 1, 0.7}, {"custom_loop", 2, 64, 1, 0.8},
                               {"custom_optimizer", 1, 64, 1, 0.5}, {"residual", 1, 64, 1, 0.9},
                               {"from_keras", 1, 64, 1, 0.93},  {"from_pytorch", 1, 64, 1, 0.96}};

std::string big_endian(std::initializer_list<std::int64_t> numbers) {
    std::string bytes;
    for (const std::int64_t n : numbers)
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift & 255);
    return bytes;
}
/// A data set of few digits, as MNIST's files would hold them.
void write_data_set(const temporary_folder& folder) {
    for (const auto& [part, count] : {std::pair{"train", 660}, {"t10k", 100}}) {
        const sinter::data::dataset digits = sinter::data::drawn_digits(count, 5);
        std::string images = big_endian({0x0803, count, 28, 28}), labels = big_endian({0x0801, count});
        for (const float x : digits.x()) images += static_cast<char>(static_cast<unsigned char>(x * 255 + 0.5f));
        for (const std::int32_t label : digits.labels()) labels += static_cast<char>(label);
        write_bytes(folder / (std::string(part) + "-images-idx3-ubyte"), images);
        write_bytes(folder / (std::string(part) + "-labels-idx1-ubyte"), labels);
    }
}
} // namespace

BOOST_AUTO_TEST_CASE(reports_say_what_was_asked_for_and_learned) {
    for (const trained& t : all_trained) BOOST_TEST_CONTEXT(t.name) {
        const ptree report = json_in(smoke(std::string(t.name) + ".json"));
        BOOST_TEST(report.get<std::string>("program") == t.name);
        BOOST_TEST(report.get<std::string>("settings.data") == "drawn digits");
        BOOST_TEST(report.get<int>("settings.epochs") == t.epochs);
        BOOST_TEST(report.get<int>("settings.batch") == t.batch);
        BOOST_TEST(report.get<int>("settings.seed") == t.seed);
        BOOST_TEST(report.get<int>("settings.threads") == 1);
        BOOST_TEST(report.get<double>("test_accuracy") >= t.least_accuracy);
        BOOST_TEST(report.get<double>("test_accuracy") <= 1);
        BOOST_TEST(report.get<double>("seconds") > 0);
        BOOST_TEST(report.get<double>("examples_per_second") > 0);
        std::vector<double> losses;
        for (const auto& [key, loss] : report.get_child("loss_by_epoch")) losses.push_back(loss.get_value<double>());
        BOOST_TEST(static_cast<int>(losses.size()) == t.epochs);
        BOOST_TEST(std::is_sorted(losses.rbegin(), losses.rend()));
        BOOST_TEST(losses.front() < std::log(10.));   // of a net that knows nothing
    }
}

BOOST_AUTO_TEST_CASE(quickstart_draws_its_pictures) {
    for (const char* name : {"quickstart-curve.svg", "quickstart-confusion.svg"}) BOOST_TEST_CONTEXT(name) {
        const std::string picture = read_bytes(smoke(name));
        BOOST_TEST(picture.starts_with("<svg"));
        BOOST_TEST(sinter::test::what_is_malformed(picture) == "");
    }
}

BOOST_AUTO_TEST_CASE(predict_reads_the_seven) {
    const auto images = source_folder() / "examples/images";
    std::vector<std::string> files{(images / "seven.pgm").string()};
#ifdef SINTER_WITH_PNG
    files.push_back((images / "seven.png").string());
#endif
    std::string arguments = "--threads 1 --digits --weights quickstart.safetensors";
    for (const std::string& file : files) arguments += quoted(file);
    const command_result said = run_in(smoke(""), "predict", arguments);
    BOOST_TEST(said.status == 0);
    std::istringstream lines(said.output);
    std::string line;
    for (const std::string& file : files) BOOST_TEST_CONTEXT(file) {
        std::getline(lines, line);
        BOOST_TEST(line == file + ": 7");
        double sum = 0, last = 100;
        for (int i = 0; i < 10; ++i) {
            std::getline(lines, line);
            const double percent = std::stod(line);
            BOOST_TEST(percent <= last);   // the likeliest first
            last = percent;
            sum += percent;
        }
        BOOST_TEST(std::abs(sum - 100) <= 0.5);   // ten numbers, each rounded to a tenth
    }
    BOOST_TEST(!std::getline(lines, line));
}

BOOST_AUTO_TEST_CASE(predict_measures_what_quickstart_measured) {
    const temporary_folder folder;
    const command_result said = run_in(folder / "", "predict", "--threads 1 --report p.json --weights" +
                                                                   quoted(smoke("quickstart.safetensors")));
    BOOST_TEST(said.status == 0, said.output);
    const double trained = json_in(smoke("quickstart.json")).get<double>("test_accuracy");
    BOOST_TEST(json_in(folder / "p.json").get<double>("test_accuracy") == trained);   // same net, same 2000 images
}

BOOST_AUTO_TEST_CASE(weights_from_elsewhere_are_good_as_they_come) {
    const auto top = source_folder();
    const std::string weights = (top / "examples/weights/").string();
    const temporary_folder folder;
    const std::pair<const char*, const char*> all[] = {{"from_keras", "keras.npz"},
                                                       {"from_pytorch", "pytorch.safetensors"}};
    for (const auto& [name, file] : all) BOOST_TEST_CONTEXT(name) {
        const command_result said = run_in(folder / "", name, "--threads 1 --weights" + quoted(weights + file));
        BOOST_TEST(said.status == 0, said.output);
        const std::size_t at = said.output.find(": test accuracy ");
        BOOST_TEST_REQUIRE(at != std::string::npos, said.output);
        BOOST_TEST(std::stod(said.output.substr(at + 16)) > 0.9);   // before it has trained a step here
    }
    const command_result gave = run_in(folder / "", "from_keras", "--give digits.npz");
    BOOST_TEST(gave.status == 0, gave.output);
    const sinter::npz::file digits = sinter::npz::read(folder / "digits.npz");
    BOOST_TEST((digits.at("x").shape == std::vector<std::int64_t>{11'000, 28, 28, 1}));
    BOOST_TEST((digits.at("y").shape == std::vector<std::int64_t>{11'000}));
    BOOST_TEST(folder.entries() == 1u);
}

BOOST_AUTO_TEST_CASE(help_is_short_and_does_nothing_else) {
    const temporary_folder folder;
    std::vector<std::string> names{"predict"};
    for (const trained& t : all_trained) names.push_back(t.name);
    for (const std::string& name : names) BOOST_TEST_CONTEXT(name) {
        const command_result said = run_in(folder / "", name, "--help --save x");
        BOOST_TEST(said.status == 0);
        for (const char* part : {"Usage: ", "--data DIR", "--epochs N", "--batch N", "--threads N", "--seed N",
                                 "--save FILE", "--report FILE"})
            BOOST_TEST(said.output.find(part) != std::string::npos, part);
    }
    BOOST_TEST(folder.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_refused_before_training) {
    const temporary_folder folder;
    std::filesystem::create_directory(folder / "taken-curve.svg");
    write_bytes(folder / "file", "no folder");
    const auto refuses = [&](const std::string& name, const std::string& arguments, const std::string& culprit) {
        BOOST_TEST_CONTEXT(name << ' ' << arguments) {
            const command_result said = run_in(folder / "", name, "--epochs 1000000 " + arguments);
            BOOST_TEST(said.status == 1);
            BOOST_TEST(said.output.find(culprit) != std::string::npos, said.output);
            BOOST_TEST(said.output.find("epoch") == std::string::npos, said.output);
        }
    };
    for (const trained& t : all_trained) {
        refuses(t.name, "--save file/w.safetensors", "file/w.safetensors");
        refuses(t.name, "--report file/r.json", "file/r.json");
    }
    refuses("quickstart", "--save taken.safetensors", "taken-curve.svg");
    refuses("predict", "--report file/r.json --weights" + quoted(smoke("quickstart.safetensors")), "file/r.json");
    BOOST_TEST(folder.entries() == 2u);   // and nothing was left behind
}

BOOST_AUTO_TEST_CASE(a_data_set_of_ones_own) {
    const temporary_folder data, folder;
    write_data_set(data);
    const std::string given = "--epochs 2 --threads 1 --data" + quoted(data / "");
    BOOST_TEST(run_in(folder / "", "custom_loop", given).status == 0);
    BOOST_TEST(folder.entries() == 0u);   // it writes what it is asked for, and nothing else

    const command_result said = run_in(folder / "", "custom_loop", given + " --save w.safetensors --report r.json");
    BOOST_TEST(said.status == 0, said.output);
    BOOST_TEST(folder.entries() == 2u);
    BOOST_TEST(json_in(folder / "r.json").get<std::string>("settings.data") == "MNIST");

    std::filesystem::remove(data / "t10k-labels-idx1-ubyte");
    const command_result refused = run_in(folder / "", "custom_loop", given);
    BOOST_TEST(refused.status == 1);
    BOOST_TEST(refused.output.find("t10k-labels-idx1-ubyte") != std::string::npos, refused.output);
}

// What nobody could read is no success.
BOOST_AUTO_TEST_CASE(output_that_is_lost_is_a_failure) {
    const command_result lost =
        run_command("SINTER_DATA= timeout 200" + quoted(folder_of_examples() + "/predict") + " --weights" +
                    quoted(smoke("quickstart.safetensors")) + " 2>&1 >/dev/full");
    BOOST_TEST(lost.status == 1, lost.output);
    BOOST_TEST(lost.output.find("standard output: not all of what was printed could be written") != std::string::npos,
               lost.output);
}
