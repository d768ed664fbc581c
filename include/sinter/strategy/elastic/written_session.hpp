// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/parts_session.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// A session that remembers what this member has written since its last operation: weights, states
/// and slots, and what was there before. Others may still be in that operation when some member
/// dies. Then what is given to them, and what is divided anew, is the state behind it: what was
/// written is taken back for the while, and written again into the parts of slots that this member
/// keeps then.
template <class Programs, other_processes Others>
class written_session : public parts_session<Programs, Others> {
    using base = parts_session<Programs, Others>;
    using P0 = typename Programs::template training<0>;

public:
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (remembers_) remember(to, from, n);
        base::write(to, from, n);
    }
    void clear_slots() {
        for (int s = 0; remembers_ && s < own_slots; ++s)   // one by one: parts are those of one slot
            remember({compiler::space::slot, s * P0::v.z.trained}, nullptr, P0::v.z.trained);
        base::clear_slots();
    }

protected:
    using base::parts_session;

    /// An operation is over: what has been written is part of its result. `on`: from here on what
    /// is written is remembered.
    void begin_writes(bool on) {
        remembers_ = on;
        writes_.clear();
        taken_back_ = false;
    }
    SINTER_COLD void take_writes_back() {
        if (std::exchange(taken_back_, true)) return;
        std::vector<float> x;
        for (std::size_t i = writes_.size(); i-- > 0;) {
            const written& w = writes_[i];
            if (w.before.empty()) continue;
            x.resize(static_cast<std::size_t>(w.n));
            const float* next = w.before.data();
            base::each_kept(w.to, w.n, [&](std::int64_t begin, std::int64_t end) {
                std::copy_n(next, end - begin, x.data() + begin);
                next += end - begin;
            });
            base::write(w.to, x.data(), w.n);
        }
    }
    /// Where they had been taken back. What is gathered in a round, in any case: that was gathered
    /// anew.
    SINTER_COLD void write_again() {
        const bool all = std::exchange(taken_back_, false);
        for (written& w : writes_) {
            if (!all && !is_gathered(w.to)) continue;
            w.before = before(w.to, w.n);
            if (w.now.empty()) w.now.resize(static_cast<std::size_t>(w.n));
            base::write(w.to, w.now.data(), w.n);
        }
    }

private:
    struct written {
        compiler::address to;
        std::int64_t n;
        std::vector<float> now;      ///< empty: zeros
        std::vector<float> before;   ///< of what this member keeps
    };
    static constexpr int own_slots = P0::v.slots - (replica<Programs>::gathers() ? 1 : 0);

    std::vector<written> writes_;
    bool remembers_ = false, taken_back_ = false;

    static constexpr bool is_gathered(compiler::address a) {
        return replica<Programs>::gathers() && base::is_gathered(a);
    }
    SINTER_COLD void remember(compiler::address to, const float* from, std::int64_t n) {
        written w{to, n, {}, before(to, n)};
        if (from) w.now.assign(from, from + n);
        writes_.push_back(std::move(w));
    }
    /// What is gathered in a round is each shard's own, and is made anew where members change.
    SINTER_COLD std::vector<float> before(compiler::address from, std::int64_t n) const {
        std::vector<float> x;
        if (is_gathered(from)) return x;
        base::each_kept(from, n, [&](std::int64_t begin, std::int64_t end) {
            const std::size_t at = x.size();
            x.resize(at + static_cast<std::size_t>(end - begin));
            base::local().read({from.where(), from.offset() + begin}, x.data() + at, end - begin);
        });
        return x;
    }
};

} // namespace sinter::detail
