// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/compiler/request.hpp>
#include <sinter/strategy/single.hpp>

/// What a model is made with besides net, loss and optimizer: build options, a strategy and
/// run-time options. They stand behind the optimizer, in any order, each kind at most once:
///
///     estimator m{net, softmax_cross_entropy, adam{}, max_batch<256>, single<cuda>{}, {.seed = 7}};
namespace sinter::inline SINTER_TARGET {

/// Choices that a model's programs, for training, evaluation and prediction, are compiled with. A
/// number stands for the largest batch: trainer<net, loss, adam, 256>.
struct build_options {
    int max_batch = 64;          ///< examples that a program is laid out for; fewer are always welcome
    program_options program{};

    constexpr build_options() = default;
    constexpr build_options(int largest_batch, program_options p = {}) : max_batch(largest_batch), program(p) {}
    constexpr bool operator==(const build_options&) const = default;
};

/// What a model is run with; none of it changes what is compiled.
struct trainer_options {
    int threads = 0;   ///< 0: all cores, but at most SINTER_PARTS (8): no more are of use or begun; changes no bit
    std::uint64_t seed = 1;     ///< of initial weights and of random numbers inside the net
    constexpr bool operator==(const trainer_options&) const = default;
};

/// max_batch<N>: the largest batch that programs are laid out for; 64 without it.
template <int N>
struct batch_limit {
    static_assert(N > 0, "a batch holds at least one example");
    constexpr operator build_options() const { return N; }
};
template <int N>
inline constexpr batch_limit<N> max_batch{};

/// built_with<program_options{...}>: choices that all of a model's programs are compiled with.
template <program_options O>
struct program_policy {};
template <program_options O>
inline constexpr program_policy<O> built_with{};

namespace detail {

/// One setting: what it says, in a form that is easily put together.
template <class S>
struct setting_of {
    static constexpr bool is_strategy = requires { typename S::device; };
    static constexpr bool is_setting = is_strategy, limits = false, builds = false;
    static constexpr void apply(build_options&) {}
};
template <>
struct setting_of<trainer_options> {
    static constexpr bool is_setting = true, is_strategy = false, limits = false, builds = false;
    static constexpr void apply(build_options&) {}
};
template <int N>
struct setting_of<batch_limit<N>> {
    static constexpr bool is_setting = true, is_strategy = false, limits = true, builds = false;
    static constexpr void apply(build_options& b) { b.max_batch = N; }
};
template <program_options O>
struct setting_of<program_policy<O>> {
    static constexpr bool is_setting = true, is_strategy = false, limits = false, builds = true;
    static constexpr void apply(build_options& b) { b.program = O; }
};

template <class... S>
struct first_strategy {
    using type = default_strategy;
};
template <class S, class... More>
struct first_strategy<S, More...> : first_strategy<More...> {};
template <class S, class... More>
    requires setting_of<S>::is_strategy
struct first_strategy<S, More...> {
    using type = S;
};

template <class... S>
inline constexpr bool are_settings = (setting_of<S>::is_setting && ...);
template <class... S>
inline constexpr bool stand_once = (setting_of<S>::limits + ... + 0) < 2 && (setting_of<S>::builds + ... + 0) < 2 &&
                                   (setting_of<S>::is_strategy + ... + 0) < 2;
/// What settings S come to, on top of `Default`.
template <build_options Default, class... S>
struct settings {
    static constexpr build_options build = [] {
        build_options b = Default;
        if constexpr (are_settings<S...> && stand_once<S...>) (setting_of<S>::apply(b), ...);
        return b;
    }();
    using strategy = typename first_strategy<S...>::type;
};
/// Called by constructors: one compile error where settings come to nothing, or where the model's
/// type was spelled, and with other settings. (Deduction guides are read for calls that they are
/// not meant for: they must say nothing.)
template <build_options Build, class Strategy, class... S>
constexpr void check_settings() {
    constexpr bool settings_alone = are_settings<S...>, once = stand_once<S...>;
    static_assert(settings_alone,
                  "after net, loss and optimizer come settings only: max_batch<N>, "
                  "built_with<program_options{...}>, a strategy such as single<cuda>{}, and run-time options such as "
                  "{.threads = 2, .seed = 7}");
    static_assert(!settings_alone || once, "two max_batch, two built_with or two strategies: one of each is needed");
    constexpr bool same = settings<Build, S...>::build == Build &&
        (!(setting_of<S>::is_strategy || ...) || std::is_same_v<typename first_strategy<S...>::type, Strategy>);
    static_assert(!settings_alone || !once || same,
                  "the model's type is of other settings than those after the optimizer");
}

} // namespace detail

template <class S>
concept setting = detail::setting_of<S>::is_setting;

namespace detail {

/// The strategy among settings, or one of the default kind.
template <class Strategy>
Strategy strategy_in() { return {}; }
template <class Strategy, class S, class... More>
Strategy strategy_in(const S& s, const More&... more) {
    if constexpr (std::is_same_v<S, Strategy>) return s;
    else return strategy_in<Strategy>(more...);
}
/// The run-time options among settings: those that say something. option_error where two do.
inline void take_options(trainer_options& to, const trainer_options& o) {
    if (o == trainer_options{}) return;
    if (!(to == trainer_options{}))
        throw option_error("run-time options are given twice", "settings of a model", {},
                           "one {.threads = ..., .seed = ...}");
    to = o;
}
template <class S>
void take_options(trainer_options&, const S&) {}
template <class... S>
trainer_options options_in(const S&... s) {
    trainer_options o;
    (take_options(o, s), ...);
    return o;
}

} // namespace detail

} // namespace sinter
