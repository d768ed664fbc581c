// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/loss_targets.hpp>
#include <sinter/strategy/uncounted_examples.hpp>
#include <sinter/train/evaluated_model.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// Whether a loss says that it takes logits, and not probabilities.
template <class L>
constexpr bool is_of_logits() {
    if constexpr (requires { L::of_logits; }) return L::of_logits;
    else return false;
}

/// The facts of a trainer's ports.
template <class Trainer>
inline constexpr port_facts ports_of{
    .inputs = {Trainer::training::v.inputs, Trainer::training::v.n_inputs},
    .targets = {Trainer::training::v.targets, Trainer::training::v.n_targets},
    .output_shapes = {Trainer::evaluation::v.output_shapes, Trainer::evaluation::v.n_outputs},
    .output_names = {Trainer::training::v.output_names, Trainer::training::v.n_outputs},
    .loss = targets_of<typename Trainer::training::request::loss>(Trainer::training::v.n_outputs),
    .max_batch = Trainer::evaluation::v.max_batch,
    .of_logits = is_of_logits<typename Trainer::training::request::loss>(),
    .may_hide = strategy_parts::may_have_uncounted<typename Trainer::training>(),
    .looks_up = Trainer::strategy_type::traits.remote_tables};

} // namespace sinter::detail
