// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/update_order.hpp>
#include <deque>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Sums of numbers over workers, one after the other: all workers that live give theirs for the
/// same sum. Each may ask for a sum again, as after a lost connection. The last sums stay known: a
/// worker that was started again makes the same calls from the beginning, and has the sums that were
/// made without it. No sockets here.
class reductions {
public:
    /// Numbers of past sums that are kept for workers that come again.
    static constexpr std::size_t most_kept = std::size_t{1} << 22;

    reductions(int workers, sum_order order) : order_(order), given_(static_cast<std::size_t>(workers)) {}

    /// The number of the sum that is being made.
    std::uint64_t now() const { return now_; }
    /// The first sum that is known yet; now(): none is.
    std::uint64_t first_kept() const { return now_ - past_.size(); }
    /// Nobody will ask for sums before the last one any more.
    void forget_all_but_the_last() {
        while (past_.size() > 1) drop_first();
    }
    /// Worker w's numbers for sum `number`. False: this sum is not known any more, or not yet to
    /// come.
    bool give(int w, std::uint64_t number, const std::vector<double>& x) {
        if (number < now_) return number >= first_kept();
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
        std::vector<double> sums(n, 0.);
        for (std::size_t i = 0; same && i < n; ++i) sums[i] = sum(parts, i);
        learn(now_, std::move(sums));
        return same;
    }
    /// What sum `number` was, as somebody says who knows. Of a sum that is known here already, nothing.
    void learn(std::uint64_t number, std::vector<double> sums) {
        if (number < now_) return;
        if (number > now_) past_.clear(), numbers_ = 0;   // those between are not known
        now_ = number + 1;
        numbers_ += sums.size();
        past_.push_back(std::move(sums));
        while (past_.size() > 1 && numbers_ > most_kept) drop_first();
        for (part& p : given_) p.there = false;
    }
    /// The same of sums [first, first + sums.size()).
    void learn_all(std::uint64_t first, std::vector<std::vector<double>> sums) {
        for (std::size_t i = sums.size(); i-- > 0;)   // those before the ones that are known, backwards
            if (first + i + 1 == first_kept() && first + i < now_ && numbers_ + sums[i].size() <= most_kept) {
                numbers_ += sums[i].size();
                past_.push_front(std::move(sums[i]));
            }
        for (std::size_t i = 0; i < sums.size(); ++i) learn(first + i, std::move(sums[i]));
    }
    bool done(std::uint64_t number) const { return number < now_; }
    /// Of a sum that is done and known.
    const std::vector<double>& result(std::uint64_t number) const {
        return past_.at(static_cast<std::size_t>(number - first_kept()));
    }
    /// The last sum, which may be asked for again; the one that takes it in may know more of those
    /// before. Who is asked anew gives their part anew.
    void write_last(auto& archive) const {
        static const std::vector<double> none;
        archive & now_ & (past_.empty() ? none : past_.back());
    }
    void read_last(auto& archive) {
        std::uint64_t now = 1;
        std::vector<double> last;
        archive & now & last;
        check_number(static_cast<std::int64_t>(now), 1, "no number of a sum", "a leader's state");
        if (now == now_ && (past_.empty() || past_.back() == last)) return;
        if (now != now_ + 1) past_.clear(), numbers_ = 0, now_ = now > 1 ? now - 1 : 1;
        if (now > 1) learn(now - 1, std::move(last));
    }
private:
    struct part {
        bool there = false;
        std::vector<double> x;
    };
    sum_order order_;
    std::vector<part> given_;
    std::uint64_t now_ = 1;
    std::deque<std::vector<double>> past_;   ///< results of the sums before now_
    std::size_t numbers_ = 0;                ///< in them

    void drop_first() {
        numbers_ -= past_.front().size();
        past_.pop_front();
    }

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

} // namespace sinter::parameter_servers
