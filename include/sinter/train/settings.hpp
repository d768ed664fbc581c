// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu.hpp>
#include <sinter/compiler/program.hpp>

/// What decides a model's programs besides net, loss and optimizer. Up to three settings stand behind the optimizer, in any order
/// and each kind once:
///
///     estimator m{net, softmax_cross_entropy, adam{}, at_most<256>, built_with<program_options{.products = precision::bfloat16}>};
namespace sinter::inline SINTER_TARGET {

/// The largest batch that a program is made for; 64 without it.
template <int N>
struct batch_limit {
    static_assert(N > 0, "a batch holds at least one example");
};
template <int N>
inline constexpr batch_limit<N> at_most{};

/// Choices that all of a model's programs, training, evaluation and prediction, are compiled with.
template <program_options O>
struct program_policy {};
template <program_options O>
inline constexpr program_policy<O> built_with{};

/// Where a model is trained: a strategy names the device that its programs are for. The processor without it.
template <class S>
concept strategy = requires { typename S::device; };

namespace detail {

template <class... S>
struct settings {
    static constexpr bool known = sizeof...(S) == 0, once = true, has_limit = false, has_policy = false, has_strategy = false;
    static constexpr int max_batch = 64;
    static constexpr program_options policy{};
    using device = cpu_device;
};
template <int N, class... S>
struct settings<batch_limit<N>, S...> : settings<S...> {
    static constexpr bool once = settings<S...>::once && !settings<S...>::has_limit, has_limit = true;
    static constexpr int max_batch = N;
};
template <program_options O, class... S>
struct settings<program_policy<O>, S...> : settings<S...> {
    static constexpr bool once = settings<S...>::once && !settings<S...>::has_policy, has_policy = true;
    static constexpr program_options policy = O;
};
template <strategy D, class... S>
struct settings<D, S...> : settings<S...> {
    static_assert(std::is_empty_v<D>, "a strategy is a type: its members would be lost, and must become template arguments");
    static constexpr bool once = settings<S...>::once && !settings<S...>::has_strategy, has_strategy = true;
    using device = typename D::device;
};

template <class... S>
inline constexpr int limit_of = settings<S...>::max_batch;
template <class... S>
using device_of = typename settings<S...>::device;
template <class... S>
inline constexpr program_options policy_of = settings<S...>::policy;

} // namespace detail

template <class S>
concept setting = detail::settings<S>::known;

} // namespace sinter
