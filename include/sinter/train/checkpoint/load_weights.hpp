// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/read_weights.hpp>
#include <sinter/train/trainer_views.hpp>

/// Weights from elsewhere as initial weights. What save() wrote is for load()
/// (train/checkpoint/checkpoint.hpp).
///
///     model.load_weights("lenet.npz", {.from = framework::keras});
///     model.load_weights("lenet.safetensors",
///                        {.from = framework::pytorch,
///                         .rules = {{"conv1.*", "conv2d/*"}, {"fc1.*", "dense/*", {}, {64, 7, 7}}}});
namespace sinter::inline SINTER_TARGET {

/// Reads parameters and states from a safetensors, .npz or .npy file: each tensor of the file must
/// be one of the model's, by `map`, and each of the model's must be there, unless the map ignores
/// or keeps it. The optimizer's memory, the step and where carried sequences have come to are left
/// alone. Throws io_error and format_error as read_tensors() does, option_error for a rule that makes no sense, and
/// mismatch_error that lists every tensor which does not fit, with both names and extents; the
/// model is then as it was.
template <class Trainer>
void load_weights(Trainer& t, const std::string& path, const name_map& map) {
    detail::state_view<Trainer> state(t);
    training_parts::load_weights(state, path, map);
}

} // namespace sinter
