// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/replica_set.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The parameters of a process's replicas as the host reads and writes them: in place where the device's memory is the
/// host's. Elsewhere a copy, which is what the first replica has: whoever writes here calls put() behind that, and
/// whoever writes to the replica calls note().
template <class Programs>
class host_parameters {
    using set = replica_set<Programs>;
    using space = compiler::space;

public:
    SINTER_COLD explicit host_parameters(set& replicas) : replicas_(replicas) {
        if constexpr (!set::shared)
            if (replicas_.size()) copy_ = staging(set::P0::v.floats(space::parameter));
    }

    float* data() const {
        if constexpr (set::shared) return replicas_.first().host({space::parameter, 0});
        else return copy_.data();
    }
    /// What was written from data() + `from` on is all replicas'.
    void put(std::int64_t from, std::int64_t n) {
        if constexpr (!set::shared)
            for (auto& u : replicas_) u.write({space::parameter, from}, copy_.data() + from, n);
    }
    void put() { put(0, set::P0::v.floats(space::parameter)); }
    /// These floats were written to the first replica.
    void note(compiler::address to, const float* from, std::int64_t n) {
        if constexpr (!set::shared)
            if (to.where() == space::parameter && n) std::copy_n(from, n, copy_.data() + to.offset());
    }

private:
    struct nothing {};
    using staging = std::conditional_t<set::shared, nothing, typename staging_of<typename set::device>::type>;
    set& replicas_;
    [[no_unique_address]] staging copy_{};
};

} // namespace sinter::strategy_parts
