// SPDX-License-Identifier: BSL-1.0
// needs: examples
// after: csv_classification csv_regression gan gpt vae handwriting lstm logistic_regression
// after: image_folder tfrecords_of_examples packed_text resume_in_the_middle
//
// What the smoke tests of those examples wrote that measure something else than how many images they recognise.
#define BOOST_TEST_MODULE examples_measured
#include "examples/smoke.hpp"
#include "support/source_folder.hpp"

#include <algorithm>
#include <filesystem>

/// The examples that measure something else than how many images they recognise, and what they
/// learn at least, or at most.
namespace {
struct measured {
    const char *name, *data;
    int epochs, batch;
    const char* result;
    double least, most;
};
// of "no": 0.7
const measured all_measured[] = {{"csv_classification", "made-up people", 3, 64, "accuracy", 0.8, 0.9},
                                 {"csv_classification", "made-up people", 3, 64, "area under ROC", 0.8, 0.95},
                                 {"logistic_regression", "made-up people", 4, 64, "accuracy", 0.82, 0.9},
                                 {"logistic_regression", "made-up people", 4, 64, "area under ROC", 0.85, 0.95},
                                 {"csv_regression", "made-up people", 3, 64, "R2", 0.25, 0.7},
                                 // of 38: 11.6
                                 {"csv_regression", "made-up people", 3, 64, "mean error in years", 5, 10.2},
                                 // of who knows nothing: 3.4
                                 {"gpt", "made-up sentences", 1, 8, "validation loss", 0.5, 2.2},
                                 {"lstm", "made-up sentences", 1, 8, "validation loss", 0.5, 2.2},
                                 {"vae", "drawn digits", 2, 64, "nats an image", 200, 260},
                                 // noise alone: 0.01
                                 {"vae", "drawn digits", 2, 64, "mean squared difference", 0.012, 0.035},
                                 {"gan", "drawn digits", 2, 64, "digits drawn", 1, 10},   // two epochs are few
                                 {"gan", "drawn digits", 2, 64, "of real images", 4, 8},
                                 {"handwriting", "drawn strokes", 1, 32, "error rate", 0, 0.6},
                                 {"image_folder", "drawn shapes", 10, 8, "accuracy", 0.7, 1},   // guessing: 0.2
                                 {"tfrecords_of_examples", "drawn digits", 6, 32, "accuracy", 0.85, 1},
                                 {"tfrecords_of_examples", "drawn digits", 6, 32, "examples an epoch", 2000, 2000},
                                 {"packed_text", "made-up sentences", 1, 16, "validation loss", 0.1, 0.5},
                                 {"packed_text", "made-up sentences", 1, 16, "lines in a row", 2.9, 3.4},
                                 {"resume_in_the_middle", "made-up points", 3, 16, "accuracy", 0.8, 1},
                                 {"resume_in_the_middle", "made-up points", 3, 16, "bytes", 2000, 10'000},
                                 {"resume_in_the_middle", "made-up points", 3, 16, "bytes that differ", 0, 0}};

/// image_folder needs libpng and libjpeg.
bool is_left_out(const std::string& name) {
    return name == "image_folder" && !std::filesystem::exists(folder_of_examples() + '/' + name);
}
} // namespace

BOOST_AUTO_TEST_CASE(reports_say_what_was_measured) {
    for (const measured& m : all_measured) BOOST_TEST_CONTEXT(m.name << ", " << m.result) {
        if (is_left_out(m.name)) continue;
        const ptree report = json_in(smoke(std::string(m.name) + ".json"));
        BOOST_TEST(report.get<std::string>("program") == m.name);
        BOOST_TEST(report.get<std::string>("settings.data") == m.data);
        BOOST_TEST(report.get<int>("settings.epochs") == m.epochs);
        BOOST_TEST(report.get<int>("settings.batch") == m.batch);
        BOOST_TEST(report.get<int>("settings.threads") == 1);
        BOOST_TEST(report.get_child("loss_by_epoch").size() == static_cast<std::size_t>(m.epochs));
        const double result = report.get_child("results").get<double>(m.result);
        BOOST_TEST(result >= m.least);
        BOOST_TEST(result <= m.most);
    }
}

BOOST_AUTO_TEST_CASE(csv_classification_saves_its_features) {
    const std::string features = read_bytes(smoke("csv_classification.features"));
    BOOST_TEST(features.starts_with("sinter features,3\nnumber,age,0,1,0,"));
    // eight words and the empty one
    BOOST_TEST(features.find("\nindex,vocabulary,occupation,16,1,9,") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(vae_draws_a_hundred_images_that_differ) {
    const std::string picture = read_bytes(smoke("vae-drawn.pgm")), head = "P5 280 280 255\n";
    BOOST_REQUIRE(picture.size() == head.size() + 280 * 280);
    BOOST_TEST(picture.starts_with(head));
    std::vector<std::string> images(100);
    for (std::size_t i = 0; i < 280 * 280; ++i) images[i / 280 / 28 * 10 + i % 280 / 28] += picture[head.size() + i];
    std::sort(images.begin(), images.end());
    BOOST_TEST((std::adjacent_find(images.begin(), images.end()) == images.end()));
    for (const std::string& image : images) {   // some ink, on dark ground
        int most = 0, sum = 0;
        for (const char c : image) {
            most = std::max(most, static_cast<int>(static_cast<unsigned char>(c)));
            sum += static_cast<unsigned char>(c);
        }
        BOOST_TEST(most >= 60);
        BOOST_TEST(sum <= 100 * 784);
    }
}

BOOST_AUTO_TEST_CASE(help_is_short_and_what_cannot_be_written_is_refused) {
    const temporary_folder folder;
    write_bytes(folder / "taken", "");   // no folder
    for (const measured& m : all_measured) BOOST_TEST_CONTEXT(m.name) {
        if (is_left_out(m.name)) continue;
        const command_result said = run_in(folder / "", m.name, "--help --save x");
        BOOST_TEST(said.status == 0);
        for (const char* part :
             {"Usage: ", "--data DIR", "--epochs N", "--batch N", "--threads N", "--seed N", "--save FILE"})
            BOOST_TEST(said.output.find(part) != std::string::npos, part);
        for (const char* file : {"--save taken/w.safetensors", "--report taken/r.json"}) {
            const command_result refused = run_in(folder / "", m.name, "--epochs 1000000 " + std::string(file));
            BOOST_TEST(refused.status == 1);
            BOOST_TEST(refused.output.find("taken/") != std::string::npos, refused.output);
            BOOST_TEST(refused.output.find("epoch") == std::string::npos, refused.output);
        }
    }
    BOOST_TEST(folder.entries() == 1u);
}

BOOST_AUTO_TEST_CASE(gpt_learns_from_a_text_of_ones_own) {
    const temporary_folder folder;
    std::string text;
    for (int i = 0; i < 200; ++i) text += "a b \u00e9 c ";
    const std::string given = "--epochs 1 --batch 1 --threads 1 --length 20 --prompt 'a b ' --text" +
                              quoted(write_bytes(folder / "t", text));
    const command_result said = run_in(folder / "", "gpt", given);
    BOOST_TEST(said.status == 0, said.output);
    BOOST_TEST(said.output.find("\na b ") != std::string::npos, said.output);
    const command_result refused = run_in(folder / "", "gpt", given + " --epochs 1000000");
    BOOST_TEST(refused.status == 2);   // given twice
    const command_result unknown =
        run_in(folder / "", "gpt", "--epochs 1000000 --prompt '!' --text" + quoted(folder / "t"));
    BOOST_TEST(unknown.status == 1);
    BOOST_TEST(unknown.output.find("unknown character") != std::string::npos, unknown.output);
}

BOOST_AUTO_TEST_CASE(image_folder_wants_the_same_classes_to_learn_and_to_test) {
    if (is_left_out("image_folder")) return;
    const temporary_folder folder;
    const std::string picture = read_bytes((source_folder() / "examples/images/seven.png").string());
    for (const char* of : {"train/six", "train/seven", "test/seven"}) {
        std::filesystem::create_directories(folder / of);
        write_bytes(folder / of + "/1.png", picture);
    }
    const std::string given = "--epochs 1000000 --pictures" + quoted(folder / "");
    const command_result refused = run_in(folder / "", "image_folder", given);
    BOOST_TEST(refused.status == 1);
    BOOST_TEST(refused.output.find("2 in train; needed the same in test") != std::string::npos, refused.output);

    std::filesystem::create_directories(folder / "test/six");
    write_bytes(folder / "test/six/1.png", "no picture");
    const command_result damaged = run_in(folder / "", "image_folder", "--epochs 1 --pictures" + quoted(folder / ""));
    BOOST_TEST(damaged.status == 1);
    BOOST_TEST(damaged.output.find("test/six/1.png") != std::string::npos, damaged.output);
}

BOOST_AUTO_TEST_CASE(tfrecords_have_their_indices) {
    for (const char* shard : {"train-00000-of-00004", "train-00003-of-00004", "test-00000-of-00001"}) {
        const std::string file = smoke("tfrecords_of_examples-digits/" + std::string(shard) + ".tfrecord");
        const std::string index = read_bytes(file + ".idx");
        BOOST_TEST(std::count(index.begin(), index.end(), '\n') == (shard[1] == 'r' ? 500 : 400));
        const std::string last = index.substr(index.rfind('\n', index.size() - 2) + 1);   // "byte length\n"
        const std::size_t end = std::stoul(last) + std::stoul(last.substr(last.find(' ')));
        BOOST_TEST(end == read_bytes(file).size());
    }
}

BOOST_AUTO_TEST_CASE(resume_in_the_middle_goes_on_in_the_middle) {
    const temporary_folder folder;
    const command_result said = run_in(folder / "", "resume_in_the_middle", "--epochs 2 --batch 32 --threads 2");
    BOOST_TEST(said.status == 0, said.output);
    for (const char* part : {"Killed behind step 182 of 218, 73 steps into a pass.", "resumed from step 180",
                             "bytes that differ 0.0000"})
        BOOST_TEST(said.output.find(part) != std::string::npos, said.output);
}
