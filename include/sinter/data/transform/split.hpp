// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <optional>
#if SINTER_BODIES
#include <sinter/base/number_text.hpp>
#include <sinter/data/transform/gather.hpp>
#include <algorithm>
#include <map>
#endif

/// Sets cut into parts, for training and validation, by chance, evenly among classes, or so that
/// groups stay whole.
namespace sinter::inline SINTER_ORDINARY::data {

/// How examples go to parts. The same options, shares and number of examples give the same parts,
/// whatever the examples hold.
struct split_options {
    std::uint64_t seed = 0;
    bool shuffle = true;                    ///< else parts are stretches in the order in which the examples lie
    /// One an example: of each class a part gets its share, rounded up or down; `set.labels()`,
    /// say.
    std::optional<span<const std::int32_t>> classes{};
    /// One an example: those of one group (a patient, a document) come into one part. The largest
    /// groups are placed first, each where most is missing, so parts are as near to their shares as
    /// that leads.
    std::optional<span<const std::int64_t>> groups{};
};

/// The places, ascending, of the examples of each part of a set of n. Errors as split.
SINTER_APART std::vector<std::vector<std::int64_t>> split_places(std::int64_t n, span<const double> shares,
                                                                 const split_options& o = {});

/// Cuts a set into parts of these shares, whose sum must be 1: disjoint, complete, their sizes by
/// largest remainder. In a part the examples stand in their old order.
///
///     const auto parts = data::split(set, {0.8, 0.2}, {.seed = 1, .classes = set.labels()});
///
/// option_error for impossible shares, or classes and groups at once; data_error where there is not
/// one of them an example.
SINTER_APART std::vector<dataset> split(const dataset& set, span<const double> shares, const split_options& o = {});
SINTER_APART std::vector<dataset> split(const dataset& set, std::initializer_list<double> shares,
                                        const split_options& o = {});

#if SINTER_BODIES
namespace detail {
/// So many of n for each share, by largest remainder (Hamilton): each is its quota rounded up or
/// down, all together are n. What a part has missed before, `owed`, is added to its remainder, and
/// kept; of equals the first come first.
inline std::vector<std::int64_t> apportion(std::int64_t n, span<const double> shares, std::vector<double>& owed) {
    std::vector<std::int64_t> sizes(shares.size());
    std::vector<std::size_t> rounded;   // the parts whose quota is no integer
    std::int64_t left = n;
    for (std::size_t p = 0; p < shares.size(); ++p) {
        const double quota = shares[p] * static_cast<double>(n), slack = 1e-9 + quota * 1e-15;   // 0.1 * 30 is 3
        left -= sizes[p] = static_cast<std::int64_t>(quota + slack);
        const double remainder = quota - static_cast<double>(sizes[p]);
        if (remainder > slack) rounded.push_back(p);
        owed[p] += remainder;
    }
    // What rounding made differ is equal.
    const auto millionths = [&](std::size_t p) { return __builtin_llround(owed[p] * 1e6); };
    std::stable_sort(rounded.begin(), rounded.end(),
                     [&](std::size_t a, std::size_t b) { return millionths(a) > millionths(b); });
    for (std::size_t i = 0; i < rounded.size() && left > 0; ++i, --left) {
        ++sizes[rounded[i]];
        owed[rounded[i]] -= 1;
    }
    return sizes;
}

inline std::vector<double> checked_shares(span<const double> shares, const char* where) {
    double sum = 0;
    for (const double s : shares) {
        if (!(s >= 0 && s <= 1)) throw option_error("impossible share", where, base::number_text(s), "0 to 1");
        sum += s;
    }
    if (!(sum > 1 - 1e-6 && sum < 1 + 1e-6))
        throw option_error("shares do not make a whole", where, base::number_text(sum), "shares whose sum is 1");
    std::vector<double> exact;
    for (const double s : shares) exact.push_back(s / sum);
    return exact;
}

template <class T>
void need_one_an_example(const std::optional<span<const T>>& values, std::int64_t n, const char* where) {
    if (values && static_cast<std::int64_t>(values->size()) != n)
        throw data_error("one is needed for each example", where, to_text({values->size()}), to_text({n}));
}

/// Where each example goes.
inline std::vector<std::size_t> part_of_each(std::int64_t n, span<const double> shares, const split_options& o) {
    need_one_an_example(o.classes, n, "split, classes");
    need_one_an_example(o.groups, n, "split, groups");
    if (o.classes && o.groups)
        throw option_error("a split is by classes or by groups", "split", "both", "one of them");
    std::vector<std::size_t> part(static_cast<std::size_t>(n));
    std::vector<std::int64_t> order = random_order(n, o.seed);
    if (!o.shuffle) std::sort(order.begin(), order.end());
    std::vector<double> owed(shares.size());
    if (o.groups) {
        std::map<std::int64_t, std::size_t> number;   // of groups, in the order in which they are first seen
        std::vector<std::vector<std::int64_t>> groups;
        for (const std::int64_t i : order) {
            const auto [at, fresh] = number.try_emplace((*o.groups)[static_cast<std::size_t>(i)], groups.size());
            if (fresh) groups.emplace_back();
            groups[at->second].push_back(i);
        }
        std::stable_sort(groups.begin(), groups.end(),
                         [](const auto& a, const auto& b) { return a.size() > b.size(); });
        for (std::size_t p = 0; p < shares.size(); ++p) owed[p] = shares[p] * static_cast<double>(n);
        for (const auto& g : groups) {
            const auto p = static_cast<std::size_t>(std::max_element(owed.begin(), owed.end()) - owed.begin());
            for (const std::int64_t i : g) part[static_cast<std::size_t>(i)] = p;
            owed[p] -= static_cast<double>(g.size());
        }
        return part;
    }
    std::map<std::int32_t, std::vector<std::int64_t>> strata;   // one alone without classes
    for (const std::int64_t i : order)
        strata[o.classes ? (*o.classes)[static_cast<std::size_t>(i)] : 0].push_back(i);
    for (const auto& [name, members] : strata) {
        const std::vector<std::int64_t> sizes = apportion(static_cast<std::int64_t>(members.size()), shares, owed);
        std::size_t at = 0;
        for (std::size_t p = 0; p < sizes.size(); ++p)
            for (std::int64_t k = 0; k < sizes[p]; ++k) part[static_cast<std::size_t>(members[at++])] = p;
    }
    return part;
}
} // namespace detail

SINTER_APART std::vector<std::vector<std::int64_t>> split_places(std::int64_t n, span<const double> shares,
                                                                 const split_options& o) {
    const std::vector<double> exact = detail::checked_shares(shares, "split");
    const std::vector<std::size_t> part = detail::part_of_each(n, exact, o);
    std::vector<std::vector<std::int64_t>> places(exact.size());
    for (std::size_t i = 0; i < part.size(); ++i) places[part[i]].push_back(static_cast<std::int64_t>(i));
    return places;
}

SINTER_APART std::vector<dataset> split(const dataset& set, span<const double> shares, const split_options& o) {
    std::vector<dataset> parts;
    for (const auto& places : split_places(set.size(), shares, o)) parts.push_back(gather(set, places));
    return parts;
}

SINTER_APART std::vector<dataset> split(const dataset& set, std::initializer_list<double> shares,
                                        const split_options& o) {
    return split(set, span<const double>(shares.begin(), shares.size()), o);
}
#endif

} // namespace sinter::data
