// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

/// Elements of several pipelines in turns: by random numbers, or by a pipeline that says which.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

/// Shares of 2^30, by which random numbers are compared as whole numbers, the same on all machines. option_error where
/// there are not n weights, where one is negative or no number, or all are 0.
SINTER_SELDOM SINTER_COLD std::vector<std::uint32_t> shares_of_weights(const std::vector<double>& weights,
                                                                       std::size_t n);

template <class Shares>
class random_choice {
public:
    static constexpr bool has_end = false;
    struct state {
        std::int64_t pass = 0;
        std::vector<std::uint32_t> shares;
    };
    using cursor = std::int64_t;   ///< numbers drawn

    random_choice(Shares shares, std::uint64_t seed)
        : shares_(std::move(shares)), seed_(seed), key_(base::stream(seed, base::fnv1a("data/sample_from"))) {}
    void begin(state& s, std::int64_t pass) const {
        s.pass = pass;
        s.shares = shares_(pass);
    }
    static bool fits(const cursor& c) { return c >= 0; }
    /// One of those that have not ended; -1 where none is left that is ever chosen.
    int choose(state& s, cursor& drawn, std::uint64_t ended) const {
        const auto has_ended = [&](std::size_t i) { return (ended >> i & 1) != 0; };
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < s.shares.size(); ++i) sum += has_ended(i) ? 0 : s.shares[i];
        if (sum == 0) return -1;
        const std::uint32_t word =
            base::philox_word(key_, static_cast<std::uint64_t>(drawn++), static_cast<std::uint64_t>(s.pass));
        std::uint64_t at = word * sum >> 32;
        std::size_t i = 0;
        for (; has_ended(i) || at >= s.shares[i]; ++i)
            if (!has_ended(i)) at -= s.shares[i];
        return static_cast<int>(i);
    }
    bool may_choose(std::size_t i) const { return shares_.may_choose(i); }
    bool chooses(std::size_t i) const { return shares_.chooses(i); }   ///< sooner or later, in each pass
    SINTER_COLD void describe(description& d, bool stop_on_empty) const {
        d.stage("sample_from")("seed", seed_)("stop_on_empty", stop_on_empty);
        shares_.describe(d);
    }

private:
    Shares shares_;
    std::uint64_t seed_, key_;
};

/// The same in each pass.
struct fixed_shares {
    std::vector<std::uint32_t> shares;
    const std::vector<std::uint32_t>& operator()(std::int64_t) const { return shares; }
    bool may_choose(std::size_t i) const { return shares[i] > 0; }
    bool chooses(std::size_t i) const { return shares[i] > 0; }
    SINTER_COLD void describe(description& d) const {
        for (std::size_t i = 0; i < shares.size(); ++i)
            d(to_text({"share of pipeline ", i, " in 2^30"}), shares[i]);
    }
};
template <class F>
struct shares_by_pass {
    F weights;
    std::size_t n;
    std::vector<std::uint32_t> operator()(std::int64_t pass) const { return shares_of_weights(weights(pass), n); }
    bool may_choose(std::size_t) const { return true; }
    bool chooses(std::size_t) const { return false; }
    SINTER_COLD void describe(description& d) const {
        d("weights", type_text<F>());
        if constexpr (base::tells_settings<F>) weights.describe(d);
    }
};

template <element_stage Choices>
class choice_by_stage {
public:
    static constexpr bool has_end = true;
    using state = typename Choices::state;
    using cursor = cursor_of<Choices>;

    choice_by_stage(Choices choices, int n) : choices_(std::move(choices)), n_(n) {}
    void begin(state& s, std::int64_t pass) const { choices_.begin(s, pass); }
    bool fits(const cursor& c) const { return stage_parts::fits(choices_, c); }
    int choose(state& s, cursor& c, std::uint64_t) const {
        ticket_of<Choices> k{};
        if (!stage_parts::next(choices_, s, c, k)) return -1;
        const auto i = static_cast<std::int64_t>(choices_.get(s, k));
        if (i < 0 || i >= n_)
            throw data_error("no such pipeline", "choose_from", to_text({i}), to_text({"0 to ", n_ - 1}));
        return static_cast<int>(i);
    }
    bool may_choose(std::size_t) const { return true; }
    bool chooses(std::size_t) const { return false; }
    SINTER_COLD void describe(description& d, bool stop_on_empty) const {
        choices_.describe(d);
        d.stage("choose_from")("stop_on_empty", stop_on_empty);
    }

private:
    Choices choices_;
    int n_;
};

/// f(I, ...) for I = i, which is known at run time.
template <std::size_t N, std::size_t I = 0, class F>
decltype(auto) with_number(std::size_t i, F&& f) {
    if constexpr (I + 1 < N)
        if (i != I) return with_number<N, I + 1>(i, std::forward<F>(f));
    return f(std::integral_constant<std::size_t, I>{});
}

} // namespace stage_parts

/// Its cursor has the cursors of all.
template <class Choice, element_stage First, element_stage... Rest>
class mixed_stage {
    static constexpr std::size_t n = sizeof...(Rest) + 1;

public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = [] {
        int most = 0;
        for (const int m : {static_cast<int>(First::maps), static_cast<int>(Rest::maps)...}) most = m > most ? m : most;
        return most;
    }();
    using value_type = typename First::value_type;
    struct state {
        typename Choice::state choice{};
        std::tuple<typename First::state, typename Rest::state...> of;
    };
    struct cursor {
        typename Choice::cursor choice{};
        std::tuple<stage_parts::cursor_of<First>, stage_parts::cursor_of<Rest>...> of;
        std::uint64_t ended = 0;   ///< bit i: pipeline i has no more elements
        bool at_end = false;
    };
    /// By its place: tickets of two pipelines may have one type.
    using ticket = std::variant<stage_parts::ticket_of<First>, stage_parts::ticket_of<Rest>...>;

    mixed_stage(Choice choice, bool stop_on_empty, First first, Rest... rest)
        : choice_(std::move(choice)), stop_(stop_on_empty), of_(std::move(first), std::move(rest)...) {}
    std::int64_t size() const {
        if (Choice::has_end) return unknown_size;
        bool all = true, one = false;
        each([&](auto i, const auto& up) {
            const bool has_end = up.size() != endless;
            if (has_end && choice_.may_choose(i)) all = false;
            if (!has_end && choice_.chooses(i)) one = true;
        });
        return all || (one && !stop_) ? endless : unknown_size;
    }
    void begin(state& s, std::int64_t pass) const {
        choice_.begin(s.choice, pass);
        each([&](auto i, const auto& up) { up.begin(std::get<i>(s.of), pass); });
    }
    bool fits(const cursor& c) const {
        if (!choice_.fits(c.choice) || (n < 64 && c.ended >> n % 64 != 0)) return false;
        bool all = true;
        each([&](auto i, const auto& up) { all = all && stage_parts::fits(up, std::get<i>(c.of)); });
        return all;
    }
    bool next(state& s, cursor& c, ticket& k) const {
        while (!c.at_end) {
            const int i = choice_.choose(s.choice, c.choice, c.ended);
            if (i < 0) break;
            if (c.ended >> i & 1) continue;
            const bool found = stage_parts::with_number<n>(static_cast<std::size_t>(i), [&](auto at) {
                auto& to = k.index() == at ? *std::get_if<at>(&k) : k.template emplace<at>();
                return stage_parts::next(std::get<at>(of_), std::get<at>(s.of), std::get<at>(c.of), to);
            });
            if (found) return true;
            c.ended |= std::uint64_t{1} << i;
            if (stop_ || c.ended == ~std::uint64_t{0} >> (64 - n)) break;
        }
        c.at_end = true;
        return false;
    }
    value_type get(state& s, ticket& k) const {
        return stage_parts::with_number<n>(k.index(), [&](auto at) -> value_type {
            return std::get<at>(of_).get(std::get<at>(s.of), *std::get_if<at>(&k));
        });
    }
    SINTER_COLD void describe(description& d) const {
        each([&](auto, const auto& up) { up.describe(d); });
        choice_.describe(d, stop_);
    }

private:
    template <class F>
    void each(F&& f) const {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (static_cast<void>(f(std::integral_constant<std::size_t, I>{}, std::get<I>(of_))), ...);
        }(std::make_index_sequence<n>{});
    }

    Choice choice_;
    bool stop_;
    std::tuple<First, Rest...> of_;
};

struct sample_options {
    std::uint64_t seed = 0;
    bool stop_on_empty = false;   ///< end where a pipeline is chosen that has no more elements, not where all have none
};
struct choose_options {
    bool stop_on_empty = true;
};

namespace stage_parts {

template <class Choice, element_stage First, element_stage... Rest>
auto mixed(Choice choice, bool stop_on_empty, First first, Rest... rest) {
    constexpr bool fits = (std::is_same_v<typename First::value_type, typename Rest::value_type> && ...);
    static_assert(fits, "sample_from and choose_from: needed are pipelines whose elements have the same type");
    static_assert(sizeof...(Rest) < 64, "sample_from and choose_from: needed are at most 64 pipelines");
    if constexpr (fits && sizeof...(Rest) < 64)
        return mixed_stage<Choice, First, Rest...>(std::move(choice), stop_on_empty, std::move(first),
                                                   std::move(rest)...);
    else return refused_stage{};
}

} // namespace stage_parts

/// Elements of several pipelines, each next one of a pipeline that is drawn: pipeline i with the probability
/// weights[i] / their sum. Which one depends on the seed, the pass and how many were drawn before. What has no more
/// elements is drawn no more, and the others share its part.
///
///     data::sample_from({0.9, 0.1}, web | data::repeat(), books | data::repeat())
///
/// Going on in the middle of a pass costs what it costs the pipelines. option_error where there is not one weight for
/// each, where one is negative, or all are 0. As tf.data's sample_from_datasets.
template <element_stage... Up>
auto sample_from(std::initializer_list<double> weights, sample_options o, Up... up) {
    using choice = stage_parts::random_choice<stage_parts::fixed_shares>;
    return stage_parts::mixed(choice({stage_parts::shares_of_weights(weights, sizeof...(Up))}, o.seed),
                              o.stop_on_empty, std::move(up)...);
}
template <element_stage... Up>
auto sample_from(std::initializer_list<double> weights, Up... up) {
    return sample_from(weights, sample_options{}, std::move(up)...);
}
/// With weights(pass), a std::vector<double>, of each pass.
template <class F, element_stage... Up>
    requires std::is_invocable_r_v<std::vector<double>, const F&, std::int64_t>
auto sample_from(F weights, sample_options o, Up... up) {
    using shares = stage_parts::shares_by_pass<F>;
    return stage_parts::mixed(stage_parts::random_choice<shares>({std::move(weights), sizeof...(Up)}, o.seed),
                              o.stop_on_empty, std::move(up)...);
}
template <class F, element_stage... Up>
    requires std::is_invocable_r_v<std::vector<double>, const F&, std::int64_t>
auto sample_from(F weights, Up... up) {
    return sample_from(std::move(weights), sample_options{}, std::move(up)...);
}

/// Elements of several pipelines: each element of `choices` is a whole number, and says whose element comes next. It
/// ends where choices end, and where a pipeline is chosen that has no more elements; with stop_on_empty = false such a
/// choice is left out, and it ends where all have none. data_error for a number that no pipeline has. As tf.data's
/// choose_from_datasets.
template <element_stage Choices, element_stage... Up>
auto choose_from(Choices choices, choose_options o, Up... up) {
    constexpr bool fits = std::is_integral_v<typename Choices::value_type>;
    static_assert(fits, "choose_from: needed are choices that are whole numbers");
    if constexpr (fits)
        return stage_parts::mixed(
            stage_parts::choice_by_stage<Choices>(std::move(choices), static_cast<int>(sizeof...(Up))),
            o.stop_on_empty, std::move(up)...);
    else return refused_stage{};
}
template <element_stage Choices, element_stage... Up>
auto choose_from(Choices choices, Up... up) {
    return choose_from(std::move(choices), choose_options{}, std::move(up)...);
}

#if SINTER_BODIES
namespace stage_parts {

SINTER_SELDOM_BODY std::vector<std::uint32_t> shares_of_weights(const std::vector<double>& weights, std::size_t n) {
    if (weights.size() != n)
        throw option_error("wrong number of weights", "sample_from", to_text({weights.size()}),
                           to_text({n, ", one for each pipeline"}));
    double sum = 0;
    for (const double w : weights) {
        if (!(w >= 0) || w > 1e300)
            throw option_error("impossible weight", "sample_from", base::number_text(w), "0 or more");
        sum += w / static_cast<double>(n);   // of 64 large ones the sum would be infinite
    }
    if (sum <= 0) throw option_error("all weights are 0", "sample_from", {}, "at least one above 0");
    std::vector<std::uint32_t> shares;
    for (const double w : weights) {
        const double share = w / sum / static_cast<double>(n) * 0x1p30;
        shares.push_back(w > 0 && share < 1 ? 1 : static_cast<std::uint32_t>(share));
    }
    return shares;
}

} // namespace stage_parts
#endif

} // namespace sinter::data
