// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/json_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/atomic_write.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

/// What a run was and what came of it, for programs that compare runs: one JSON object.
///
///     {"program": "quickstart", "settings": {"epochs": 5, ...}, "loss_by_epoch": [0.51, ...],
///      "test_accuracy": 0.91, "seconds": 12.5, "examples_per_second": 24000.0}
///
/// A number that is not known (NaN) is null. Where there are other results than the accuracy, they
/// are in one more object, "results".
struct report {
    std::string program;
    std::vector<std::pair<std::string, std::string>> settings;   ///< name and JSON text; see set()
    std::vector<double> loss_by_epoch;
    double test_accuracy = std::numeric_limits<double>::quiet_NaN();   ///< in [0, 1]
    std::vector<std::pair<std::string, double>> results{};             ///< what else was measured: name and value
    double seconds = 0;                                                ///< of training
    double examples_per_second = 0;

    /// Notes a setting: text, a number or a truth value; a second one of the same name replaces the
    /// first.
    template <class T>
    void set(std::string name, const T& value) {
        std::string text = json::text(value);
        for (auto& s : settings)
            if (s.first == name) return void(s.second = std::move(text));
        settings.emplace_back(std::move(name), std::move(text));
    }
    SINTER_APART std::string json_text() const;
    /// Writes the whole file or, with an io_error, leaves what was there.
    void write(const std::string& path) const {
        io::atomic_write(path, [&](io::output_file& file) { file.write(json_text()); });
    }
};

#if SINTER_BODIES
SINTER_APART std::string report::json_text() const {
    std::string s = "{\n  \"program\": " + json::text(program) + ",\n  \"settings\": {";
    for (const auto& [name, value] : settings)
        s += (s.back() == '{' ? "\n    " : ",\n    ") + json::text(name) + ": " + value;
    s += settings.empty() ? "},\n  \"loss_by_epoch\": [" : "\n  },\n  \"loss_by_epoch\": [";
    for (double loss : loss_by_epoch) s += (s.back() == '[' ? "" : ", ") + json::text(loss);
    s += "],\n  \"test_accuracy\": " + json::text(test_accuracy);
    for (std::size_t i = 0; i < results.size(); ++i)
        s += (i ? ", " : ",\n  \"results\": {") + json::text(results[i].first) + ": " +
             json::text(results[i].second);
    return s + (results.empty() ? "" : "}") + ",\n  \"seconds\": " +
           json::text(seconds) + ",\n  \"examples_per_second\": " + json::text(examples_per_second) + "\n}\n";
}
#endif

} // namespace sinter
