// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/data/transform/gather.hpp>
#include <sinter/data/transform/split.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// Cross-validation: a set in k parts of equal size, each of which is held out once. By chance,
/// evenly among classes, or with groups that stay whole, as split. Sets are made when they are
/// asked for.
///
///     const data::k_fold folds(set, 5, {.classes = set.labels()});
///     for (int i = 0; i < folds.size(); ++i) train_and_measure(folds.training(i), folds.held_out(i));
class k_fold {
public:
    /// option_error unless 2 <= k <= the number of examples (of groups, where there are such);
    /// others as split.
    SINTER_APART k_fold(dataset set, int k, const split_options& o = {});

    int size() const { return static_cast<int>(parts_.size()); }   ///< k
    /// The places of the examples that are held out in fold i, ascending.
    const std::vector<std::int64_t>& places(int i) const { return parts_.at(static_cast<std::size_t>(i)); }
    dataset held_out(int i) const { return gather(set_, places(i)); }
    /// All others, in their old order.
    SINTER_APART dataset training(int i) const;

private:
    dataset set_;
    std::vector<std::vector<std::int64_t>> parts_;

    [[noreturn]] SINTER_APART static void refuse(int k, std::int64_t n);
};

#if SINTER_BODIES
SINTER_APART k_fold::k_fold(dataset set, int k, const split_options& o)
    : set_(std::move(set)) {
    if (k < 2 || k > set_.size()) refuse(k, set_.size());
    parts_ = split_places(set_.size(), std::vector<double>(static_cast<std::size_t>(k), 1. / k), o);
    for (const auto& p : parts_)
        if (p.empty()) refuse(k, set_.size());
}

SINTER_APART dataset k_fold::training(int i) const {
    std::vector<std::int64_t> others;
    const std::vector<std::int64_t>& out = places(i);
    std::size_t next = 0;
    for (std::int64_t e = 0; e < set_.size(); ++e)
        if (next < out.size() && out[next] == e) ++next;
        else others.push_back(e);
    return gather(set_, others);
}

SINTER_APART void k_fold::refuse(int k, std::int64_t n) {
    throw option_error("impossible number of folds", "k_fold", to_text({k, " of ", n, " examples"}),
                       "at least 2, and an example, or a group, for each");
}
#endif

} // namespace sinter::data
