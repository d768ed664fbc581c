// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/strategy_session.hpp>
#include <cstring>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// A synchronous session whose model can be given to another process, as bytes: weights, states and
/// slots; but for slots of which each member keeps a part.
template <class Programs, other_processes Others>
class image_session : public connected_replicas<Programs, Others> {
    using base = connected_replicas<Programs, Others>;
    using P0 = typename Programs::template training<0>;
    static constexpr bool gathers = replica<Programs>::gathers();

protected:
    using base::connected_replicas;

    /// Of weights().
    static constexpr std::size_t image_bytes() {
        std::int64_t floats = 0;
        each_space([&](compiler::address, std::int64_t n) { floats += n; });
        return static_cast<std::size_t>(floats) * sizeof(float);
    }
    SINTER_COLD std::vector<std::byte> weights() {
        std::vector<std::byte> bytes;
        each_space([&](compiler::address a, std::int64_t n) {
            const std::size_t end = bytes.size();
            bytes.resize(end + static_cast<std::size_t>(n) * sizeof(float));
            base::local().read(a, reinterpret_cast<float*>(bytes.data() + end), n);
            if constexpr (gathers)   // what each has gathered is its own
                if (a.where() == compiler::space::state) {
                    const float none = 0;
                    std::memcpy(bytes.data() + end + P0::v.round_weight.offset() * 4, &none, sizeof none);
                }
        });
        return bytes;
    }
    /// False where the bytes are not enough: they are another model's.
    SINTER_COLD bool set_weights(const std::vector<std::byte>& from) {
        std::size_t next = 0;
        bool enough = true;
        each_space([&](compiler::address a, std::int64_t n) {
            const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
            enough = enough && next + bytes <= from.size();
            if (enough) put(a, reinterpret_cast<const float*>(from.data() + next), n);
            next += bytes;
        });
        return enough;
    }

private:
    template <class F>
    static constexpr void each_space(F f) {
        using compiler::space;
        for (const space s : {space::parameter, space::state, space::slot})
            if (const std::int64_t n = P0::v.floats(s); n > 0 && !(base::Copied && s == space::slot))
                f(compiler::address{s, 0}, n);
    }
    /// In all of this process's replicas. What is gathered, which follows the other slots, by
    /// itself.
    SINTER_COLD void put(compiler::address to, const float* x, std::int64_t n) {
        std::int64_t first = n;
        if constexpr (gathers)
            if (to.where() == compiler::space::slot) first = base::gather_slot().offset();
        base::write(to, x, first);
        if (first < n) base::write({to.where(), first}, x + first, n - first);
    }
};

} // namespace sinter::detail
