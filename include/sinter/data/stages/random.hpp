// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/stages/stage.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// Each element is computed from (seed, pass, its number), so that any of them can be had.
class random_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = std::int64_t;
    struct state {
        std::int64_t pass = 0;
    };

    explicit random_stage(std::uint64_t seed) : seed_(seed), key_(base::stream(seed, base::fnv1a("data/random"))) {}
    std::int64_t size() const { return endless; }
    void begin(state& s, std::int64_t pass) const { s.pass = pass; }
    value_type get(state& s, std::int64_t i) const {
        return base::philox_word(key_, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(s.pass));
    }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const { d.stage("random")("seed", seed_); }

private:
    std::uint64_t seed_, key_;
};

/// Random whole numbers from 0 to 2^32 - 1 without end, each as likely as any other: others in each pass, the same for
/// equal (seed, pass).
inline random_stage random(std::uint64_t seed = 0) { return random_stage(seed); }

} // namespace sinter::data
