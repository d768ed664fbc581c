// SPDX-License-Identifier: BSL-1.0
// What pipelines of files cost beside other libraries, which bench/peers/file_rows.py runs in turns with this program:
// it writes the files, and each program says once how many seconds of the processor each of them took. One thread.
#include "measure.hpp"
#include "options.hpp"
#include <sinter/io/file.hpp>
#include <sinter/pipelines.hpp>
#include <cstdio>
#include <string>

using namespace sinter;

namespace {

constexpr const char* help =
    "file_rows --folder F [--threads 1]\n"
    "Reads records.tfrecord, examples.tfrecord, texts.csv and numbers.csv of the folder F (bench/peers/file_rows.py\n"
    "writes them) once each; JSON lines with seconds of the processor.";

struct example {
    std::array<float, 32> x;
    std::array<std::int32_t, 16> ids;
    std::int32_t label;
};
/// Columns as in the Adult set.
struct adult {
    int age;
    std::string workclass;
    int fnlwgt;
    std::string education;
    int education_num;
    std::string marital_status, occupation, relationship, race, sex;
    int capital_gain, capital_loss, hours_per_week;
    std::string native_country, income;
};
struct sixteen {
    float x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15;
};

constexpr port_info example_inputs[] = {{.s = extents(32)},
                                        {.s = {.type = dtype::i32, .rank = 1, .d = {16}}, .below = 1 << 20}};
constexpr port_info labels[] = {{.s = {.type = dtype::i32}, .below = 10}};
constexpr data::model_ports example_ports{{example_inputs, 2}, {labels, 1}};

/// f(), which gives something that depends on all that was read.
template <class F>
void tell(const char* what, F f) {
    const double began = bench::cpu_seconds();
    const double check = f();
    std::printf("{\"system\": \"sinter\", \"what\": \"%s\", \"seconds\": %.6f, \"check\": %.17g}\n", what,
                bench::cpu_seconds() - began, check);
}

int run(const std::string& folder) {
    const std::string records = folder + "/records.tfrecord", examples = folder + "/examples.tfrecord";
    tell("read", [&] {
        std::vector<std::byte> block(std::size_t{1} << 18);
        io::input_file in(records);
        std::size_t n = 0;
        for (std::size_t got; (got = in.read_some({block.data(), block.size()})) != 0;) n += got;
        return static_cast<double>(n);
    });
    tell("records", [&] {
        std::size_t n = 0;
        for (const auto& record : data::elements(data::tfrecords(records))) n += record.size();
        return static_cast<double>(n);
    });
    tell("examples", [&] {
        auto batches = data::tfrecords(examples) | data::examples_as<example>() | data::batch(256);
        double sum = 0;
        for (const data::batch_view& b : data::pipeline_for<example_ports>(batches)) sum += b.x[0] + b.labels[0];
        return sum;
    });
    tell("csv of texts and whole numbers", [&] {
        std::size_t n = 0;
        for (const adult& a : data::elements(data::csv::stream<adult>(folder + "/texts.csv")))
            n += static_cast<std::size_t>(a.age) + a.income.size();
        return static_cast<double>(n);
    });
    tell("csv of floats", [&] {
        double sum = 0;
        for (const sixteen& s : data::elements(data::csv::stream<sixteen>(folder + "/numbers.csv")))
            sum += static_cast<double>(s.x0) + static_cast<double>(s.x15);
        return sum;
    });
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::string folder;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--folder") folder = value;
        else if (name == "--threads") bench::number(name, value, 1, 1);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] {
        if (folder.empty()) throw option_error("no folder", "--folder", "nothing", "one that file_rows.py has made");
        return run(folder);
    });
}
