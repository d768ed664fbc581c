// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/metrics/named.hpp>
#include <cstdint>
#include <limits>

/// What evaluate and train answer.
namespace sinter::inline SINTER_ORDINARY {

/// Loss and accuracy over a data set; accuracy is NaN where targets are no class numbers.
struct evaluation_result {
    double loss = 0, accuracy = 0;
    std::int64_t examples = 0;
    bool interrupted = false;   ///< training was asked to stop meanwhile: nothing was measured
    std::vector<metric_value> metrics{};   ///< those that were asked for
    /// "loss", "accuracy", or a metric's name; option_error where there is none of this name.
    double value(std::string_view name) const {
        return name == "loss" ? loss : name == "accuracy" ? accuracy
             : metrics::detail::value_of(metrics, name, "loss, accuracy, ");
    }
    /// The metric itself, for what is more than a number:
    /// as<metrics::confusion_matrix>("confusion_matrix").
    template <class M>
    const M& as(std::string_view name) const { return metrics::detail::metric_of(metrics, name, "").template as<M>(); }
};

/// One epoch of training.
struct epoch_result {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    int epoch = 0;                        ///< from 1
    double loss = 0;                      ///< mean of the training losses as they were seen
    double training_accuracy = unknown;   ///< as it was seen, too; NaN where it is not counted
    double accuracy = unknown;            ///< on the validation data; NaN without
    double validation_loss = unknown;     ///< NaN without
    double seconds = 0;                   ///< training alone
    std::int64_t examples = 0;
    std::int64_t first_example = 0;        ///< of the pass: not 0 where it began with data that were partly read
    std::vector<double> phase_losses{};    ///< where losses alternate, the mean of each; `loss` is the first
    std::vector<metric_value> metrics{};   ///< "val_f1" of the validation data, and what hooks add
    /// By the names that progress shows: "loss" and "accuracy" of training, "val_loss",
    /// "val_accuracy" and "val_" with a metric's name of validation. option_error where there is
    /// none of this name.
    double value(std::string_view name) const {
        return name == "loss" ? loss : name == "accuracy" ? training_accuracy : name == "val_loss" ? validation_loss
             : name == "val_accuracy" ? accuracy
             : metrics::detail::value_of(metrics, name, "loss, accuracy, val_loss, val_accuracy, ");
    }
    /// The metric itself, as in evaluation_result:
    /// as<metrics::confusion_matrix>("val_confusion_matrix").
    template <class M>
    const M& as(std::string_view name) const { return metrics::detail::metric_of(metrics, name, "").template as<M>(); }
};

} // namespace sinter
