// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "dataset.hpp"
#include "options.hpp"
#include <sinter/estimator/estimator.hpp>
#include <sinter/train/report.hpp>
#include <string_view>

/// What every example says at its end.
namespace example {

/// "folder/fashion.safetensors" and "-curve.svg" make "folder/fashion-curve.svg"; without a file to
/// stand beside, the program's name takes its place, in the current folder.
inline std::string beside(const std::string& save, std::string_view program, std::string_view ending) {
    const std::size_t name = save.rfind('/') + 1;   // 0 where there is no slash
    const std::size_t dot = save.rfind('.');
    const std::string stem = dot != std::string::npos && dot > name ? save.substr(0, dot) : save;
    return (save.empty() ? std::string(program) : stem) + std::string(ending);
}

struct outcome {
    const char* program;
    std::string data;   ///< its name
    int threads;
    double test_accuracy;
    std::int64_t images = 0;   ///< that went through the net in so many seconds
    double seconds = 0;
    std::vector<double> loss_by_epoch{};
};

/// Prints accuracy and speed, and writes the report that --report asked for.
inline void tell(const options& given, const outcome& o) {
    const double speed = o.seconds > 0 ? static_cast<double>(o.images) / o.seconds : 0;
    std::printf("Test accuracy %.4f on %s; %.0f images/s for %.1f s on %d thread%s.\n", o.test_accuracy, o.data.c_str(),
                speed, o.seconds, o.threads, o.threads == 1 ? "" : "s");
    if (given.report.empty()) return;
    sinter::report r;
    r.program = o.program;
    r.set("data", o.data);
    r.set("epochs", given.epochs);
    r.set("batch", given.batch);
    r.set("threads", o.threads);
    r.set("seed", given.seed);
    r.loss_by_epoch = o.loss_by_epoch;
    r.test_accuracy = o.test_accuracy;
    r.seconds = o.seconds;
    r.examples_per_second = speed;
    r.write(given.report);
    std::printf("Wrote %s.\n", given.report.c_str());
}
/// The same for a program that trained.
inline void tell_results(const char* program, const options& given, const std::string& data, int threads,
                         const std::vector<sinter::epoch_result>& history, double test_accuracy) {
    outcome o{program, data, threads, test_accuracy};
    for (const sinter::epoch_result& e : history) {
        o.loss_by_epoch.push_back(e.loss);
        o.seconds += e.seconds;
        o.images += e.examples;
    }
    tell(given, o);
}


/// The same for a program that measures something else than how often it is right: by name, what it
/// found on the test data.
inline void tell_measured(const char* program, const options& given, const std::string& data, int threads,
                          const std::vector<sinter::epoch_result>& history,
                          std::vector<std::pair<std::string, double>> measured) {
    sinter::report r;
    std::int64_t examples = 0;
    for (const sinter::epoch_result& e : history) {
        r.loss_by_epoch.push_back(e.loss);
        r.seconds += e.seconds;
        examples += e.examples;
    }
    r.examples_per_second = r.seconds > 0 ? static_cast<double>(examples) / r.seconds : 0;
    std::printf("On %s:", data.c_str());
    for (const auto& [name, value] : measured)
        std::printf(" %s %.4f%s", name.c_str(), value, name == measured.back().first ? "" : ",");
    std::printf("; %.0f examples/s for %.1f s on %d thread%s.\n", r.examples_per_second, r.seconds, threads,
                threads == 1 ? "" : "s");
    if (given.report.empty()) return;
    r.program = program;
    r.results = std::move(measured);
    r.set("data", data);
    r.set("epochs", given.epochs);
    r.set("batch", given.batch);
    r.set("threads", threads);
    r.set("seed", given.seed);
    r.write(given.report);
    std::printf("Wrote %s.\n", given.report.c_str());
}

} // namespace example
