// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/core.hpp>
#include <cstring>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The state of a model that members train, as bytes: weights, states and slots; but for slots of which each member
/// keeps a part, and for what each has accumulated in a round. Core: the synchronous_core.
template <class Core>
class model_image {
    using P0 = typename Core::P0;
    using values = decltype(Core::values);

public:
    static constexpr std::size_t bytes() {
        std::int64_t floats = 0;
        each_space([&](compiler::address, std::int64_t n) { floats += n; });
        return static_cast<std::size_t>(floats) * sizeof(float);
    }
    SINTER_COLD static std::vector<std::byte> of(const Core& core) {
        std::vector<std::byte> image;
        each_space([&](compiler::address a, std::int64_t n) {
            const std::size_t end = image.size();
            image.resize(end + static_cast<std::size_t>(n) * sizeof(float));
            core.replicas.first().read(a, reinterpret_cast<float*>(image.data() + end), n);
            if constexpr (Core::accumulates)
                if (a.where() == compiler::space::state) {
                    const float none = 0;
                    std::memcpy(image.data() + end + P0::v.round_weight.offset() * 4, &none, sizeof none);
                }
        });
        return image;
    }
    /// Into all of this process's replicas. False where the bytes are not enough: they are another model's.
    SINTER_COLD static bool put(Core& core, const std::vector<std::byte>& image) {
        std::size_t next = 0;
        bool enough = true;
        each_space([&](compiler::address a, std::int64_t n) {
            const std::size_t size = static_cast<std::size_t>(n) * sizeof(float);
            enough = enough && next + size <= image.size();
            if (enough) put(core, a, reinterpret_cast<const float*>(image.data() + next), n);
            next += size;
        });
        return enough;
    }

private:
    template <class F>
    static constexpr void each_space(F f) {
        using compiler::space;
        for (const space s : {space::parameter, space::state, space::slot})
            if (const std::int64_t n = P0::v.floats(s); n > 0 && !(Core::copied && s == space::slot))
                f(compiler::address{s, 0}, n);
    }
    /// What is accumulated, which follows the other slots, by itself.
    SINTER_COLD static void put(Core& core, compiler::address to, const float* x, std::int64_t n) {
        std::int64_t first = n;
        if constexpr (Core::accumulates)
            if (to.where() == compiler::space::slot) first = values::accumulation_slot().offset();
        core.values.write(to, x, first);
        if (first < n) core.values.write({to.where(), first}, x + first, n - first);
    }
};

} // namespace sinter::strategy_parts
