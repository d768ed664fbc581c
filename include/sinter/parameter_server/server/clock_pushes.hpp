// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/merged_push.hpp>
#include <sinter/parameter_server/server/interface.hpp>
#include <sinter/parameter_server/server/shared_squares.hpp>
#include <memory>
#include <vector>

/// What a server has at hand while it makes an update of the pushes of a clock.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The pushes of a clock.
struct clock_pushes {
    std::vector<staged_push*> here, used;   ///< by rank: those that make it; of these, those that are added up
    bool finite = true, any = false, came = false;
    float rate = 1;
    int phase = 0;
    bool agree = true;   ///< on the phase
    std::int64_t save = 0;
    answer_info info;
    bool updates() const { return any && finite; }
};

/// The squares of the clock that is being applied, as far as it has come: whose pushes make it.
struct clock_norm {
    std::int64_t clock = -1, version = 0;
    shared_squares::ranks of = 0;
    std::vector<float> squares;   ///< of tensor i at 16 * i
};

/// Clipping by the norm of all gradients (server/norms.hpp).
struct gradient_clipping {
    bool used = false;
    int parameters = 0;                        ///< tensors, whose squares are added
    std::unique_ptr<shared_squares> squares;   ///< of several servers; null: there is one
    clock_norm norm;                           ///< of whoever applies a clock
};

/// Memory of whoever applies an update.
struct update_memory {
    server::scalars_function scalars;
    merged_push joined;
    std::vector<float> scalar_values;
};

} // namespace sinter::parameter_servers
