// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/device.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// Takes the place of something that is no device, so that the one compile error of it is not
/// followed by others. It has every part that a device has, and computes nothing.
struct stand_in_device {
    static constexpr sinter::compiler::target target{};
    static constexpr int panel_width = 1;
    static constexpr bool shares_memory = true;
    using memory = model_memory;
    struct options {};
    struct event {
        void wait() const {}
    };
    template <class P>
    struct runner {
        static constexpr std::int64_t scratch_floats() { return 0; }
        void bind(const model_memory&) {}
    };

    explicit stand_in_device(options) {}
    template <class P, class Observer = unobserved>
    void run(runner<P>&, const step_arguments&, Observer = {}) {}
    void read(const model_memory&, address, float*, std::int64_t) const {}
    void write(model_memory&, address, const float*, std::int64_t) const {}
    const float* host_view(const model_memory& m, address from, float*, std::int64_t) const { return m.at(from); }
    static float* host(const model_memory& m, address a) { return m.at(a); }
    event record() const { return {}; }
    int threads() const { return 1; }
};
static_assert(compute_device<stand_in_device>);

} // namespace sinter::detail
