// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "dataset.hpp"
#include "options.hpp"
#include <sinter/train/estimator.hpp>
#include <sinter/train/report.hpp>
#include <string_view>

/// What every example says at its end.
namespace example {

/// "folder/fashion.safetensors" and "-curve.svg" make "folder/fashion-curve.svg"; without a file to stand beside, the
/// program's name takes its place, in the current folder.
inline std::string beside(const std::string& save, std::string_view program, std::string_view ending) {
    const std::size_t name = save.rfind('/') + 1;   // 0 where there is no slash
    const std::size_t dot = save.rfind('.');
    const std::string stem = dot != std::string::npos && dot > name ? save.substr(0, dot) : save;
    return (save.empty() ? std::string(program) : stem) + std::string(ending);
}

/// Prints the test accuracy and the speed of training, and writes the report that --report asked for.
inline void tell_results(std::string_view program, const options& o, const std::string& data_name, int threads,
                         const std::vector<sinter::epoch_result>& history, double test_accuracy) {
    sinter::report r;
    r.program = program;
    r.set("data", data_name);
    r.set("epochs", o.epochs);
    r.set("batch", o.batch);
    r.set("threads", threads);
    r.set("seed", o.seed);
    std::int64_t images = 0;
    for (const sinter::epoch_result& e : history) {
        r.loss_by_epoch.push_back(e.loss);
        r.seconds += e.seconds;
        images += e.examples;
    }
    r.images_per_second = r.seconds > 0 ? static_cast<double>(images) / r.seconds : 0;
    r.test_accuracy = test_accuracy;
    std::printf("Test accuracy %.4f on %s; trained in %.1f s, %.0f images/s on %d thread%s.\n", test_accuracy,
                data_name.c_str(), r.seconds, r.images_per_second, threads, threads == 1 ? "" : "s");
    if (o.report.empty()) return;
    r.write(o.report);
    std::printf("Wrote %s.\n", o.report.c_str());
}

} // namespace example
