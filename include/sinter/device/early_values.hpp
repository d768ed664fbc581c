// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/model_memory.hpp>
#include <sinter/program/program.hpp>
#include <cstring>
#include <vector>

namespace sinter::inline SINTER_TARGET {

/// What a training program P writes in the host's memory before its loss is known: states (running means), and parameters that
/// are updated by the kernel that makes the loss, with their slots. A few numbers, kept for the time of a step, so that one
/// whose loss is not finite changes nothing.
template <class P>
class early_values {
    static constexpr auto& p = P::v;

public:
    static constexpr std::int64_t floats = [] {
        std::int64_t n = 0;
        if (P::second_half == p.n_launches) return n;   // nothing is updated
        n = p.floats(space::state);
        for (int i = 0; i < p.n_parameters; ++i)
            if (p.parameters[i].early) n += p.parameters[i].floats * (1 + p.slots);
        return n;
    }();

    /// `room`: a vector that grows in the first step and never again.
    early_values(const model_memory& m, std::vector<float>& room) : room_(room) {
        if (floats == 0) return;
        if (static_cast<std::int64_t>(room.size()) < floats) room.resize(static_cast<std::size_t>(floats));
        each(m, [](float* kept, float* there, std::size_t bytes) { std::memcpy(kept, there, bytes); });
    }
    void put_back(const model_memory& m) const {
        each(m, [](float* kept, float* there, std::size_t bytes) { std::memcpy(there, kept, bytes); });
    }

private:
    std::vector<float>& room_;

    template <class F>
    void each(const model_memory& m, F f) const {
        if (floats == 0) return;
        float* kept = room_.data();
        auto one = [&](float* there, std::int64_t n) {
            if (n) f(kept, there, 4 * static_cast<std::size_t>(n));
            kept += n;
        };
        one(m.states.data(), p.floats(space::state));
        for (int i = 0; i < p.n_parameters; ++i) {
            const variable_info& v = p.parameters[i];
            if (!v.early) continue;
            one(m.at(v.at), v.floats);
            for (int k = 0; k < p.slots; ++k) one(m.at({space::slot, k * p.z.trained + v.at.offset()}), v.floats);
        }
    }
};

} // namespace sinter
