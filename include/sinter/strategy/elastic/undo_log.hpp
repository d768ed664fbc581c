// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/core.hpp>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// What this member has written since its last operation: weights, states and slots, and what was there before. Others
/// may still be in that operation when some member dies. Then what is given to them, and what is divided anew, is the
/// state behind it: what was written is taken back for the while, and written again into the parts of slots that this
/// member keeps then. Core: the synchronous_core.
template <class Core>
class undo_log {
    using P0 = typename Core::P0;
    using values = decltype(Core::values);

public:
    explicit undo_log(Core& core) : core_(core) {}

    void write(compiler::address to, const float* from, std::int64_t n) {
        if (remembers_) remember(to, from, n);
        core_.values.write(to, from, n);
    }
    void clear_slots() {
        for (int s = 0; remembers_ && s < own_slots; ++s)   // one by one: parts are those of one slot
            remember({compiler::space::slot, s * P0::v.z.trained}, nullptr, P0::v.z.trained);
        core_.values.clear_slots();
    }
    /// An operation is over: what has been written is part of its result. `on`: from here on what is written is
    /// remembered.
    void begin(bool on) {
        remembers_ = on;
        writes_.clear();
        taken_back_ = false;
    }
    SINTER_COLD void take_back() {
        if (std::exchange(taken_back_, true)) return;
        std::vector<float> x;
        for (std::size_t i = writes_.size(); i-- > 0;) {
            const written& w = writes_[i];
            if (w.before.empty()) continue;
            x.resize(static_cast<std::size_t>(w.n));
            const float* next = w.before.data();
            core_.values.each_kept(w.to, w.n, [&](std::int64_t begin, std::int64_t end) {
                std::copy_n(next, end - begin, x.data() + begin);
                next += end - begin;
            });
            core_.values.write(w.to, x.data(), w.n);
        }
    }
    /// Where they had been taken back. What is accumulated in a round, in any case: that was accumulated anew.
    SINTER_COLD void write_again() {
        const bool all = std::exchange(taken_back_, false);
        for (written& w : writes_) {
            if (!all && !is_accumulated(w.to)) continue;
            w.before = before(w.to, w.n);
            if (w.now.empty()) w.now.resize(static_cast<std::size_t>(w.n));
            core_.values.write(w.to, w.now.data(), w.n);
        }
    }

private:
    struct written {
        compiler::address to;
        std::int64_t n;
        std::vector<float> now;      ///< empty: zeros
        std::vector<float> before;   ///< of what this member keeps
    };
    static constexpr int own_slots = P0::v.slots - (Core::accumulates ? 1 : 0);

    Core& core_;
    std::vector<written> writes_;
    bool remembers_ = false, taken_back_ = false;

    static constexpr bool is_accumulated(compiler::address a) {
        return Core::accumulates && values::is_accumulated(a);
    }
    SINTER_COLD void remember(compiler::address to, const float* from, std::int64_t n) {
        written w{to, n, {}, before(to, n)};
        if (from) w.now.assign(from, from + n);
        writes_.push_back(std::move(w));
    }
    /// What is accumulated in a round is each shard's own, and is made anew where members change.
    SINTER_COLD std::vector<float> before(compiler::address from, std::int64_t n) const {
        std::vector<float> x;
        if (is_accumulated(from)) return x;
        core_.values.each_kept(from, n, [&](std::int64_t begin, std::int64_t end) {
            const std::size_t at = x.size();
            x.resize(at + static_cast<std::size_t>(end - begin));
            core_.replicas.first().read({from.where(), from.offset() + begin}, x.data() + at, end - begin);
        });
        return x;
    }
};

} // namespace sinter::strategy_parts
