// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/validated_gather.hpp>
#include <sinter/strategy/step_values.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// What an operation of an elastic session gives to members that have not completed it.
enum class result_kind : std::uint8_t {
    none,
    step,      ///< the model's state, and step_result
    weights,   ///< the model's state
    bytes      ///< those that all have afterwards
};
/// What is sent about it before it is given: numbers, any of which another process can send.
struct result_header {
    std::int64_t made_in = 0, bytes = 0, examples = -1, global_step = -1;
    double loss_weight = __builtin_nan("");
    float loss = 0;
    result_kind kind = result_kind::none;
    std::uint8_t flags = 0;   ///< of a step_result, in their order

    void set(const step_result& r) {
        loss = r.loss, loss_weight = r.loss_weight, examples = r.examples, global_step = r.global_step;
        flags = static_cast<std::uint8_t>(r.applied | r.stop << 1 | r.save << 2 | r.passed << 3 | r.join << 4);
    }
    step_result step() const {
        const auto has = [&](int bit) { return (flags >> bit & 1) != 0; };
        return {.loss = loss, .applied = has(0), .stop = has(1), .save = has(2), .examples = examples,
                .loss_weight = loss_weight, .passed = has(3), .join = has(4), .global_step = global_step};
    }
};
/// How many bytes may follow: of the model's state; of a result that is bytes.
struct result_sizes {
    std::int64_t image = 0, least = 0, most = 0;
};

/// cluster_error, which names `member`, unless it describes a result of the kind `needed` and its
/// size, of this epoch or an older one.
SINTER_COLD inline void need_result(const result_header& t, int member, result_kind needed, const result_sizes& s,
                                    std::int64_t epoch) {
    constexpr const char* operation = "giving a result to those that lack it";
    const auto kind = static_cast<std::int64_t>(needed);
    collective::need_sent(member, operation, "as its kind", static_cast<std::int64_t>(t.kind), kind, kind);
    collective::need_sent(member, operation, "as its epoch", t.made_in, 0, epoch);
    switch (needed) {
        case result_kind::none: return collective::need_sent(member, operation, "bytes", t.bytes, 0, 0);
        case result_kind::bytes: return collective::need_sent(member, operation, "bytes", t.bytes, s.least, s.most);
        default: return collective::need_sent(member, operation, "bytes", t.bytes, s.image, s.image);
    }
}

} // namespace sinter::strategy_parts
