// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/number_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/error.hpp>
#include <sinter/train/metrics/probability.hpp>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// What auc may be given.
struct auc_options {
    int thresholds = 200;
    bool from_logits = false;   ///< scores are logits: their logistic function is the probability
};

/// Areas under the ROC curve and the precision-recall curve of yes-or-no predictions. Scores,
/// probabilities in [0, 1], are counted in buckets between `thresholds` evenly spaced thresholds,
/// so that memory does not grow with the data and two of them merge; scores within one bucket count
/// as equal. Where positives are rare all probabilities are near 0: give as many thresholds as tell
/// those apart, say a thousand by the share of positives. As Keras' AUC, 200 thresholds by default,
/// whose areas it has to the last digits: trapezoids under the ROC curve, and Davis and Goadrich's
/// interpolation (2006) under the other.
class auc {
public:
    static constexpr const char* name = "auc";
    /// option_error for less than two thresholds.
    explicit auc(int thresholds = 200) : auc(auc_options{.thresholds = thresholds}) {}
    SINTER_APART explicit auc(const auc_options& o);
    /// `scores` [n] in [0, 1], or logits where the options say so, `labels` [n], each 0 or 1;
    /// data_error otherwise, and then nothing is counted. What rounding took out of [0, 1] counts as
    /// 0 or 1.
    void add(const float* scores, const std::int32_t* labels, int n) { add_all(scores, labels, n); }
    /// The same with truths that are floats, 0 or 1.
    void add(const float* scores, const float* truths, int n) { add_all(scores, truths, n); }
    /// data_error if the other one has another number of thresholds.
    SINTER_SELDOM void merge(const auc& other);

    /// What it has counted (train/metrics/metric.hpp).
    void state(auto& s) { s("negatives", counts_[0])("positives", counts_[1]); }
    /// The chance that a positive example scores higher than a negative one, ties counting half.
    /// NaN without both kinds.
    SINTER_SELDOM double roc() const;
    double value() const { return roc(); }
    /// Precision, averaged over recall from 0 to 1. NaN without positive examples.
    SINTER_SELDOM double pr() const;
    bool from_logits() const { return from_logits_; }
    void describe(auto& d) const {   ///< base/description.hpp
        d("thresholds", counts_[0].size())("from_logits", from_logits_);
    }
    bool needs_probabilities() const { return !from_logits_; }
    SINTER_SELDOM std::int64_t count() const;

private:
    float probability(float score) const { return from_logits_ ? 1.f / (1.f + __builtin_expf(-score)) : score; }
    template <class T>
    void add_all(const float* scores, const T* truths, int n) {
        for (int i = 0; i < n; ++i) {
            const float p = probability(scores[i]);
            if (!is_probability(p))
                throw data_error("score is no probability", "auc, example " + std::to_string(i),
                                 base::number_text(scores[i]),
                                 from_logits_ ? "a logit" : "0 to 1; of logits: metrics::auc({.from_logits = true})");
            if (truths[i] != T{0} && truths[i] != T{1})
                throw data_error("truth is neither 0 nor 1", "example " + std::to_string(i),
                                 base::number_text(truths[i]), "0 or 1");
        }
        const int buckets = static_cast<int>(counts_[0].size());
        for (int i = 0; i < n; ++i) {   // bucket b has the scores above threshold b, up to and with threshold b + 1
            const int b = static_cast<int>(__builtin_ceilf(probability(scores[i]) * static_cast<float>(buckets))) - 1;
            ++counts_[truths[i] == T{1}][static_cast<std::size_t>(b < 0 ? 0 : b < buckets ? b : buckets - 1)];
        }
    }
    std::vector<std::int64_t> counts_[2];   // of negative and positive examples, by bucket
    bool from_logits_;
};

/// The same with the area under the precision-recall curve as its value.
class auc_pr : public auc {
public:
    static constexpr const char* name = "auc_pr";
    using auc::auc;
    double value() const { return pr(); }
};

#if SINTER_BODIES
SINTER_APART auc::auc(const auc_options& o)
    : from_logits_(o.from_logits) {
    const int thresholds = o.thresholds;
    if (thresholds < 2) throw option_error("number of thresholds", "auc", std::to_string(thresholds), "at least 2");
    counts_[0].resize(static_cast<std::size_t>(thresholds - 1));
    counts_[1].resize(static_cast<std::size_t>(thresholds - 1));
}

SINTER_SELDOM_BODY void auc::merge(const auc& other) {
    if (other.counts_[0].size() != counts_[0].size())
        throw data_error("metrics of different numbers of thresholds", "auc",
                         std::to_string(other.counts_[0].size() + 1), std::to_string(counts_[0].size() + 1));
    for (int t = 0; t < 2; ++t)
        for (std::size_t b = 0; b < counts_[t].size(); ++b) counts_[t][b] += other.counts_[t][b];
}

SINTER_SELDOM_BODY double auc::roc() const {
    double area = 0, tp = 0, fp = 0;   // above the threshold, which comes down
    for (std::size_t b = counts_[0].size(); b-- > 0;) {
        const double more_tp = static_cast<double>(counts_[1][b]), more_fp = static_cast<double>(counts_[0][b]);
        area += more_fp * (tp + 0.5 * more_tp);
        tp += more_tp;
        fp += more_fp;
    }
    return area / (tp * fp);
}

SINTER_SELDOM_BODY double auc::pr() const {
    double area = 0, tp = 0, all = 0;
    for (std::size_t b = counts_[0].size(); b-- > 0;) {
        const double more_tp = static_cast<double>(counts_[1][b]),
                     more = more_tp + static_cast<double>(counts_[0][b]);
        if (more_tp > 0) {   // between two thresholds tp grows in proportion to all: an integral over that line
            const double slope = more_tp / more, intercept = tp - slope * all;
            const double ratio = all > 0 ? (all + more) / all : 1;
            area += slope * (more_tp + intercept * __builtin_log(ratio));
        }
        tp += more_tp;
        all += more;
    }
    return area / tp;
}

SINTER_SELDOM_BODY std::int64_t auc::count() const {
    std::int64_t n = 0;
    for (int t = 0; t < 2; ++t)
        for (std::int64_t c : counts_[t]) n += c;
    return n;
}
#endif

} // namespace sinter::metrics
