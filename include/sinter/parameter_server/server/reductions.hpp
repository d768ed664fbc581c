// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/update_order.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::sharded {

/// Sums of numbers over workers, one after the other: all workers that live give theirs for the
/// same sum. Each may ask for a sum again, as after a lost connection. No sockets here.
class reductions {
public:
    reductions(int workers, sum_order order) : order_(order), given_(static_cast<std::size_t>(workers)) {}

    /// The number of the sum that is being made; a worker that comes late begins with it.
    std::uint64_t now() const { return now_; }
    /// Worker w's numbers for sum `number`. False: this sum is neither the current one nor the
    /// last.
    bool give(int w, std::uint64_t number, const std::vector<double>& x) {
        if (number + 1 == now_) return true;
        if (number != now_) return false;
        auto& mine = given_[static_cast<std::size_t>(w)];
        mine.there = true;
        mine.x = x;
        return true;
    }
    bool has(int w) const { return given_[static_cast<std::size_t>(w)].there; }
    bool any() const {
        for (const part& p : given_)
            if (p.there) return true;
        return false;
    }
    /// All who must have given have. False: they gave different numbers of numbers.
    bool finish() {
        std::vector<const part*> parts;
        for (const part& p : given_) parts.push_back(p.there ? &p : nullptr);
        std::size_t n = 0;
        bool same = true, first = true;
        for (const part* p : parts) {
            if (!p) continue;
            same &= first || p->x.size() == n;
            n = p->x.size();
            first = false;
        }
        last_.assign(n, 0.);
        for (std::size_t i = 0; same && i < n; ++i) last_[i] = sum(parts, i);
        for (part& p : given_) p.there = false;
        ++now_;
        return same;
    }
    bool done(std::uint64_t number) const { return number + 1 == now_; }
    const std::vector<double>& result() const { return last_; }
    /// The last sum, which may be asked for again. Who is asked anew gives their part anew.
    template <class A>
    void serialize(A& a, unsigned) {
        a & now_ & last_;
    }
    /// Throws format_error where there can be no such sum.
    void check(const char* where) const {
        check_number(static_cast<std::int64_t>(now_), 1, "no number of a sum", where);
    }

private:
    struct part {
        bool there = false;
        std::vector<double> x;
    };
    sum_order order_;
    std::vector<part> given_;
    std::uint64_t now_ = 1;
    std::vector<double> last_;

    double sum(const std::vector<const part*>& parts, std::size_t i) const {
        std::vector<double> x;
        for (const part* p : parts) x.push_back(p ? p->x[i] : -0.);   // to which anything is added as it is
        if (order_ == sum_order::ranks)
            for (std::size_t k = 1; k < x.size(); ++k) x[0] += x[k];
        else
            for (std::size_t stride = 1; stride < x.size(); stride *= 2)
                for (std::size_t k = 0; k + stride < x.size(); k += 2 * stride) x[k] += x[k + stride];
        return x[0];
    }
};

} // namespace sinter::sharded
