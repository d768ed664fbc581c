// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu.hpp>
#include <sinter/profile/program_text.hpp>
#include <sinter/train/trainer.hpp>

namespace sinter::inline SINTER_TARGET::profile {

/// The training program of a trainer's or estimator's type.
template <class Model>
program_text text_of_model(const Model& m) {
    if constexpr (requires { m.inner(); }) {
        return text_of_model(m.inner());
    } else {
        using P = typename Model::training;
        return text_of_program<P>((Model::bytes() - P::v.bytes()) / 4);
    }
}
/// A net alone: the program that predicts, for batches of up to 64, on the CPU.
template <class I, class... S>
program_text text_of_model(const model<I, S...>&) {
    using r = request<model<I, S...>, sinter::detail::stand_in_loss, void, program_mode::prediction, 64,
                      cpu_device::target, program_options{}>;
    return text_of_program<compiled<r>>(cpu_runner<compiled<r>>::scratch_floats());
}

} // namespace sinter::profile
