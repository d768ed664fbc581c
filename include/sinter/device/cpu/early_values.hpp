// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>
#include <sinter/device/cpu/loop_iterations.hpp>
#include <cstring>
#include <vector>

namespace sinter::inline SINTER_TARGET::runtime {

/// What a training program P writes in the host's memory before its loss is known: states (running
/// means), and parameters that are updated by the kernel that makes the loss, with their slots. A
/// few numbers, kept for the time of a step, so that one whose loss is not finite changes nothing.
/// What has to be kept is worked out when the program is compiled: of most programs it is nothing,
/// and then no code is left.
template <class P>
class early_values {
    static constexpr auto& p = P::v;
    struct piece {
        address at;
        std::int64_t floats = 0;
    };
    /// Calls f(piece) for each run of numbers.
    template <class F>
    static constexpr void each(F f) {
        if (p.segments.first_change == p.n_launches) return;   // nothing is updated
        if (p.floats(space::state) > 0) f(piece{{space::state, 0}, p.floats(space::state)});
        for (int i = 0; i < p.n_parameters; ++i) {
            const variable_info& v = p.parameters[i];
            if (!v.early || v.floats == 0) continue;
            f(piece{v.at, v.floats});
            for (int k = 0; k < p.slots; ++k) f(piece{{space::slot, k * p.z.trained + v.at.offset()}, v.floats});
        }
    }
    static constexpr int n_pieces = [] {
        int n = 0;
        each([&](const piece&) { ++n; });
        return n;
    }();
    struct piece_list {
        piece of[std::size_t{n_pieces + 1}];
    };
    static constexpr piece_list pieces = [] {
        piece_list l{};
        int n = 0;
        each([&](const piece& x) { l.of[n++] = x; });
        return l;
    }();

public:
    static constexpr std::int64_t floats = [] {
        std::int64_t n = 0;
        each([&](const piece& x) { n += x.floats; });
        return n;
    }();

    /// `workspace`: a vector of at least so many floats.
    explicit early_values(std::vector<float>& workspace) : workspace_(workspace.data()) {}
    /// When a step begins.
    void keep(const host_places& m) const {
        float* kept = workspace_;
        for (int i = 0; i < n_pieces; ++i) {
            const piece& x = pieces.of[i];
            std::memcpy(kept, m.at(x.at), 4 * static_cast<std::size_t>(x.floats));
            kept += x.floats;
        }
    }
    void put_back(const host_places& m) const {
        const float* kept = workspace_;
        for (int i = 0; i < n_pieces; ++i) {
            const piece& x = pieces.of[i];
            std::memcpy(m.at(x.at), kept, 4 * static_cast<std::size_t>(x.floats));
            kept += x.floats;
        }
    }

private:
    float* workspace_;
};

} // namespace sinter::runtime
