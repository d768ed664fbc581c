// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/plan/memory.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// What was written of the optimizer's memory before there were servers that have it.
class written_slots {
public:
    void write(compiler::address to, const float* from, std::int64_t n) {
        for (stretch& s : all_)
            if (s.to == to) return s.x.assign(from, from + n);   // written again
        all_.push_back({to, {from, from + n}});
    }
    /// Zeros where nothing was written.
    void read(compiler::address from, float* to, std::int64_t n) const {
        std::fill_n(to, n, 0.f);
        for (const stretch& s : all_)
            if (s.to == from) std::copy_n(s.x.data(), std::min(n, static_cast<std::int64_t>(s.x.size())), to);
    }
    void clear() { all_.clear(); }
    /// f(address, floats), in their order.
    template <class F>
    void each(F f) const {
        for (const stretch& s : all_) f(s.to, s.x);
    }

private:
    struct stretch {
        compiler::address to;
        std::vector<float> x;
    };
    std::vector<stretch> all_;
};

} // namespace sinter::strategy_parts
