// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/error.hpp>
#include <cstdint>
#include <vector>
#if SINTER_BODIES
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#endif

namespace sinter::inline SINTER_ORDINARY::decode {

/// Labels that a net may have said, and log of their probability as far as the beam held it: all
/// their paths, if no beginning was dropped.
struct ctc_hypothesis {
    std::vector<std::int32_t> labels;
    double log_probability = 0;
};

/// The most probable label sequences, best first, of a net trained with ctc: prefix beam search
/// (Graves 2012; Hannun et al. 2014), without a language model. `scores` [frames, classes] are
/// logits or log-probabilities; `width` beginnings are kept from frame to frame. At most `results`
/// are returned: fewer where there are not so many. data_error where a frame's scores are NaN,
/// +infinity or all -infinity, option_error for a width or a number of results below 1, or a blank
/// that is no class.
SINTER_APART std::vector<ctc_hypothesis> ctc_beam(const float* scores, int frames, int classes, int width = 32,
                                                  int results = 1, int blank = 0);

#if SINTER_BODIES
namespace detail {
inline double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

/// Search over beginnings of label sequences, which are kept as a tree: each is its parent and one
/// label more.
class ctc_prefixes {
public:
    explicit ctc_prefixes(int blank) : blank_(blank), tree_{{-1, blank}} { beam_.push_back({0, 0., never}); }

    /// One frame further: each beginning stays as it is or grows by a label; the `width` most
    /// probable ones go on.
    void step(const std::vector<double>& log_p, int width) {
        next_.clear();
        at_.clear();
        for (const entry& e : beam_) {
            const int last = tree_[static_cast<std::size_t>(e.prefix)].label;
            const double all = e.total();
            add(e.prefix, true, all + log_p[static_cast<std::size_t>(blank_)]);
            if (e.prefix) add(e.prefix, false, e.by_label + log_p[static_cast<std::size_t>(last)]);
            for (int c = 0; c < static_cast<int>(log_p.size()); ++c)
                if (c != blank_)   // a repetition counts as a new label only behind a blank
                    if (const double p =
                            (e.prefix && c == last ? e.by_blank : all) + log_p[static_cast<std::size_t>(c)];
                        p > never)
                        add(child(e.prefix, c), false, p);
        }
        std::stable_sort(next_.begin(), next_.end(),
                         [](const entry& a, const entry& b) { return a.total() > b.total(); });
        if (next_.size() > static_cast<std::size_t>(width)) next_.resize(static_cast<std::size_t>(width));
        beam_.swap(next_);
    }
    std::vector<ctc_hypothesis> best(int results) const {
        std::vector<ctc_hypothesis> list;
        for (const entry& e : beam_) {
            if (list.size() == static_cast<std::size_t>(results) || !(e.total() > never)) break;
            ctc_hypothesis h{{}, e.total()};
            for (int p = e.prefix; p > 0; p = tree_[static_cast<std::size_t>(p)].parent)
                h.labels.push_back(tree_[static_cast<std::size_t>(p)].label);
            std::reverse(h.labels.begin(), h.labels.end());
            list.push_back(std::move(h));
        }
        return list;
    }

private:
    static constexpr double never = -std::numeric_limits<double>::infinity();
    struct prefix {
        int parent, label;
    };
    struct entry {
        int prefix;
        double by_blank, by_label;   ///< log-probabilities of the paths that end in a blank, and in the last label
        double total() const { return log_add(by_blank, by_label); }
    };
    int blank_;
    std::vector<prefix> tree_;
    std::map<std::pair<int, int>, int> children_;
    std::vector<entry> beam_, next_;
    std::map<int, std::size_t> at_;   ///< where in next_ a beginning stands

    int child(int parent, int label) {
        const auto [found, added] = children_.try_emplace({parent, label}, static_cast<int>(tree_.size()));
        if (added) tree_.push_back({parent, label});
        return found->second;
    }
    void add(int p, bool blank, double log_p) {
        const auto [found, added] = at_.try_emplace(p, next_.size());
        if (added) next_.push_back({p, never, never});
        double& sum = blank ? next_[found->second].by_blank : next_[found->second].by_label;
        sum = log_add(sum, log_p);
    }
};
} // namespace detail

SINTER_APART std::vector<ctc_hypothesis> ctc_beam(const float* scores, int frames, int classes, int width, int results,
                                                  int blank) {
    if (width < 1 || results < 1)
        throw option_error("width of the beam or number of results", "ctc_beam",
                           std::to_string(width < 1 ? width : results), "at least 1");
    if (blank < 0 || blank >= classes)
        throw option_error("the blank is no class", "ctc_beam", std::to_string(blank),
                           "0 to " + std::to_string(classes - 1));
    detail::ctc_prefixes search(blank);
    std::vector<double> log_p(static_cast<std::size_t>(classes));
    for (int t = 0; t < frames; ++t) {
        const float* row = scores + static_cast<std::int64_t>(t) * classes;
        double all = -std::numeric_limits<double>::infinity();
        for (int c = 0; c < classes; ++c) all = detail::log_add(all, static_cast<double>(row[c]));
        if (!std::isfinite(all))
            throw data_error("a frame's scores are no distribution", "frame " + std::to_string(t), std::to_string(all),
                             "finite scores");
        for (int c = 0; c < classes; ++c) log_p[static_cast<std::size_t>(c)] = static_cast<double>(row[c]) - all;
        search.step(log_p, width);
    }
    return search.best(results);
}
#endif

} // namespace sinter::decode
