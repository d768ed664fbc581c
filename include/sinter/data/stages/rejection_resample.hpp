// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <concepts>
#include <optional>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

struct resample_options {
    std::vector<double> initial{};   ///< how frequent classes are; empty: as they were so far in the pass
    std::uint64_t seed = 0;
};
template <class F>
struct rejection_resample_step {
    F class_of;
    std::vector<double> target;
    resample_options options;
};

namespace stage_parts {

SINTER_SELDOM SINTER_COLD void need_distributions(const std::vector<double>& target,
                                                  const std::vector<double>& initial);

} // namespace stage_parts

/// Leaves out elements at random, so that of those that are left a share target[c] are of class c = class_of(element).
/// Of the class that is rarest for its share all are kept. Shares need not add up to 1. Which ones are left out depends
/// on the seed, the pass and the element's number.
///
/// Where it is not said how frequent classes are, they are counted: at first it is as if there had been ten elements,
/// as many of each class (so does tf.data's rejection_resample). The cursor has the counts, so that going on in the
/// middle of a pass reads nothing again. Each process of a job asks for the class of all elements. option_error for
/// shares that are negative, all 0, or above 0 for a class that never comes; data_error for a class that is not in the
/// list.
template <class F>
rejection_resample_step<F> rejection_resample(F class_of, std::vector<double> target, resample_options o = {}) {
    stage_parts::need_distributions(target, o.initial);
    return {std::move(class_of), std::move(target), std::move(o)};
}

template <element_stage Up, class F>
class resampled_stage {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        typename Up::state up{};
        std::int64_t pass = 0;
    };
    using ticket = std::optional<value_type>;
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::int64_t i = 0;
        std::vector<std::int64_t> counts{};   ///< of the classes; empty where they are not counted
    };

    resampled_stage(Up up, rejection_resample_step<F> s)
        : up_(std::move(up)), step_(std::move(s)),
          key_(base::stream(step_.options.seed, base::fnv1a("data/rejection_resample"))) {}
    std::int64_t size() const { return up_.size() == endless ? endless : unknown_size; }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.pass = pass;
    }
    bool fits(const cursor& c) const {
        if (!stage_parts::fits(up_, c.up) || c.i < 0) return false;
        for (const std::int64_t n : c.counts)
            if (n < 0) return false;
        return c.counts.empty() || c.counts.size() == step_.target.size();
    }
    bool next(state& s, cursor& c, ticket& k) const {
        for (stage_parts::ticket_of<Up> from{}; stage_parts::next(up_, s.up, c.up, from);) {
            const auto i = static_cast<std::uint64_t>(c.i++);
            k.emplace(up_.get(s.up, from));
            const double chance = chance_of(static_cast<std::int64_t>(step_.class_of(std::as_const(*k))), c.counts);
            if (base::philox_word(key_, i, static_cast<std::uint64_t>(s.pass)) < chance * 0x1p32) return true;
        }
        return false;
    }
    value_type get(state&, ticket& k) const { return std::move(*k); }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("rejection_resample")("seed", step_.options.seed)("function", type_text<F>());
        const std::vector<double>&target = step_.target, &initial = step_.options.initial;
        for (std::size_t c = 0; c < target.size(); ++c) d(to_text({"target of class ", c}), target[c]);
        for (std::size_t c = 0; c < initial.size(); ++c) d(to_text({"initial share of class ", c}), initial[c]);
        if constexpr (base::tells_settings<F>) step_.class_of.describe(d);
    }

private:
    double chance_of(std::int64_t which, std::vector<std::int64_t>& counts) const {
        const std::vector<double>& target = step_.target;
        const auto n = target.size();
        if (which < 0 || static_cast<std::size_t>(which) >= n)
            throw data_error("no such class", "rejection_resample", to_text({which}), to_text({"0 to ", n - 1}));
        const bool is_counted = step_.options.initial.empty();
        if (is_counted) {
            counts.resize(n);
            ++counts[static_cast<std::size_t>(which)];
        }
        const auto ratio = [&](std::size_t c) {   // of the share that is wanted to the one that there is
            if (!is_counted) return target[c] > 0 ? target[c] / step_.options.initial[c] : 0;
            return target[c] / (10 / static_cast<double>(n) + static_cast<double>(counts[c]));
        };
        double most = 0;
        for (std::size_t c = 0; c < n; ++c) most = ratio(c) > most ? ratio(c) : most;
        return ratio(static_cast<std::size_t>(which)) / most;
    }

    Up up_;
    rejection_resample_step<F> step_;
    std::uint64_t key_;
};

template <element_stage Up, class F>
auto operator|(Up up, rejection_resample_step<F> s) {
    using in = typename Up::value_type;
    constexpr bool fits = [] {
        if constexpr (std::is_invocable_v<const F&, const in&>)
            return std::integral<std::remove_cvref_t<std::invoke_result_t<const F&, const in&>>>;
        else return false;
    }();
    static_assert(fits, "rejection_resample: needed is a function that takes an element of this pipeline and gives a "
                        "whole number, its class");
    if constexpr (fits) return resampled_stage<Up, F>(std::move(up), std::move(s));
    else return refused_stage{};
}

#if SINTER_BODIES
namespace stage_parts {

SINTER_SELDOM_BODY void need_distributions(const std::vector<double>& target, const std::vector<double>& initial) {
    const auto fail = [](std::string_view what, std::string_view got, std::string_view needed) {
        throw option_error(what, "rejection_resample", got, needed);
    };
    double most = 0;
    for (const std::vector<double>* all : {&target, &initial})
        for (const double share : *all) {
            if (!(share >= 0) || share > 1e9) fail("impossible share", base::number_text(share), "0 to 1e9");
            if (all == &target && share > most) most = share;
        }
    if (most <= 0) fail("all shares are 0", {}, "at least one above 0");
    if (initial.empty()) return;
    if (initial.size() != target.size())
        fail("wrong number of shares", to_text({initial.size()}), to_text({target.size(), ", as in the target"}));
    for (std::size_t c = 0; c < target.size(); ++c)
        if (target[c] > 0 && initial[c] < 1e-9)
            fail("a share of a class that never comes", base::number_text(initial[c]),
                 to_text({"1e-9 or more for class ", c, ", or 0 in the target"}));
}

} // namespace stage_parts
#endif

} // namespace sinter::data
