// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/device/model_memory.hpp>
#include <sinter/compiler/emit/spec.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// Where the arenas begin: what a running program needs of a model's memory.
class host_places {
public:
    host_places() = default;
    explicit host_places(const model_memory& m) {
        for (int s = 0; s < static_cast<int>(space::port); ++s) base_[s] = m.base(static_cast<space>(s));
    }
    float* at(address a) const {
        float* const b = a.where() < space::port ? base_[static_cast<int>(a.where())] : nullptr;
        return b ? b + a.offset() : nullptr;
    }

private:
    float* base_[static_cast<int>(space::port)] = {};
};

/// How many iterations a loop makes, and what makes up for those that it does not.
class loop_iterations {
public:
    std::int64_t count = 0;             ///< iterations, or the most that `condition` may allow
    const float* condition = nullptr;

    loop_iterations(const loop_launches& l, const host_places& m, std::int64_t batch)
        : condition(m.at(l.condition)), m_(m), l_(l), batch_(batch), trips_(m.at(l.trips)) {
        const float* wanted = m.at(l.count);
        if (wanted) wanted += l.count.first_floats(batch);   // it may be what another loop left
        count = l.steps;
        if (!wanted) return;
        const float n = *wanted;
        if (condition) count = n != 0.f ? l.steps : 0;
        else
            count = n >= static_cast<float>(l.steps) ? l.steps
                    : n > 0.f                        ? static_cast<std::int64_t>(n)
                                                     : 0;   // NaN: none
    }
    /// Backwards: the first value is put where the first iteration reads it.
    void before(const loop_buffer* b, int buffers) const {
        for (int i = 0; i < buffers; ++i)
            if (b[i].carry && l_.backwards) move(b[i].at, l_.steps, count), clear(b[i].at, count + 1, l_.steps);
    }
    void after(std::int64_t made, const loop_buffer* b, int buffers) const {
        if (trips_) *trips_ = static_cast<float>(made);
        for (int i = 0; i < buffers; ++i) {
            if (!b[i].carry) clear(b[i].at, made, l_.steps);
            else if (!l_.backwards) move(b[i].at, made, l_.steps), clear(b[i].at, made + 1, l_.steps);
        }
    }

private:
    host_places m_;
    const loop_launches& l_;
    std::int64_t batch_;
    float* trips_;

    float* slot(address a, std::int64_t i) const { return m_.at(a) + i * a.slice_floats(batch_); }
    /// Sums over all iterations read them.
    void clear(address a, std::int64_t from, std::int64_t end) const {
        if (from < end)
            std::memset(slot(a, from), 0, 4 * static_cast<std::size_t>(a.slice_floats(batch_) * (end - from)));
    }
    void move(address a, std::int64_t from, std::int64_t to) const {
        if (from != to) std::memcpy(slot(a, to), slot(a, from), 4 * static_cast<std::size_t>(a.slice_floats(batch_)));
    }
};

} // namespace sinter::runtime
