// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/trainer_files.hpp>
#include <sinter/train/trainer_views.hpp>

/// Saving and loading a trainer: weights and states by their paths, in their plain forms; the
/// optimizer's memory under `optimizer/0/...`, and the number of steps done under `step`, so that a
/// run that is killed and resumed ends where an undisturbed one does.
namespace sinter::inline SINTER_TARGET {

/// Writes a safetensors file; the old one stays as it is until the new one is safely on disk.
/// Throws io_error; data_error where a weight or a state is infinite or NaN, and the old file
/// stays, unless these are asked for. A whole file also has the trainer's seed, among its metadata.
/// Where several processes train the model all of them call save(); the chief writes, and the
/// others wait until it has.
template <class Trainer>
void save(const Trainer& t, const std::string& path, saved what = saved::whole,
          not_finite allow = not_finite::refused) {
    training_parts::save(detail::state_view<Trainer>(t), path, what, allow);
}
/// The same bytes in memory, for programs without files.
template <class Trainer>
std::vector<std::byte> save_to_memory(const Trainer& t, saved what = saved::whole,
                                      not_finite allow = not_finite::refused) {
    return training_parts::save_to_memory(detail::state_view<Trainer>(t), what, allow);
}

/// Reads what save() wrote (or weights of the same names, shapes and types from elsewhere). Throws
/// format_error, io_error, or mismatch_error that names every tensor that is missing, unexpected or
/// different; or whatever a failed allocation throws. The trainer is then as it was. A file with
/// weights only leaves the optimizer's memory, the step and where carried sequences have come to
/// alone; so does `saved::weights` with any file, which may be of another optimizer.
///
/// A whole file must be of the trainer's seed if the net or loss draws random numbers in training
/// (dropout, noise): the run would not go on as it would have. Otherwise, and in older files, which
/// have none, the seed does not matter. Its optimizer must keep what the trainer's does
/// (optimizer_memory.hpp), as far as the file says.
///
/// Where several processes train the model all of them call load(); the chief reads the file, and
/// the others have its bytes.
template <class Trainer>
void load(Trainer& t, const std::string& path, saved what = saved::whole) {
    detail::state_view<Trainer> state(t);
    training_parts::load(state, path, what);
}
/// The same from the bytes of a file that lie in memory, at any address.
template <class Trainer>
void load(Trainer& t, span<const std::byte> bytes, saved what = saved::whole) {
    detail::state_view<Trainer> state(t);
    training_parts::load(state, bytes, what);
}

} // namespace sinter
