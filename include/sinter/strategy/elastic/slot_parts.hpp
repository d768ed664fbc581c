// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/collective/communicator.hpp>
#include <sinter/strategy/elastic/slot_record.hpp>
#include <sinter/strategy/replica.hpp>
#include <sinter/strategy/synchronous/program_facts.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The slots of an elastic job whose members each keep the parts of two (kept_parts): who has
/// which, and how they get to other members where these have changed.
///
/// A division is given up once all members have the next one, which a barrier shows. So there is
/// always one of which everybody that is left has its parts, whenever a member dies. P: the
/// program.
template <class P>
class slot_parts {
public:
    /// A job begins, all of whose slots are zeros.
    void begin(slot_division d) { has_[0] = d, has_[1] = {}; }
    kept_parts parts() const { return has_[0].parts(); }

    /// In a new group, of all its members: they send each other what they have. `most`: members
    /// that the job may have at once. Empty, or what is lost.
    SINTER_COLD std::string meet(collective::communicator& c, std::int64_t done, bool healed, int stage, int most) {
        const slot_record mine{done, healed, stage, {has_[0], has_[1]}};
        records_ = collective::all_gather_value(c, mine, "telling who has which slots");
        for (int r = 0; r < c.size(); ++r) need_record(records_[static_cast<std::size_t>(r)], r, most);
        const slot_division newest = common();
        if (newest.epoch == 0) return "its members have no division of the optimizer's memory in common";
        for (auto& h : has_)
            if (h.epoch == newest.epoch) has_[0] = h;   // of a process that joins: none
        if (has_[0].epoch != newest.epoch) has_[0] = {};
        has_[1] = {};
        epoch_ = newest.epoch, members_ = newest.members;
        std::string lost;
        each_part([&](int, int part, compiler::address, std::int64_t) {
            if (keeper(part) < 0 && lost.find(to_text({" ", part, ","})) == lost.npos)
                lost += to_text({" ", part, ","});
        });
        if (lost.empty()) return lost;
        lost.back() = ' ';
        return to_text({"the optimizer's memory of part", lost, "of ", members_,
                       " is lost: the members that kept it and its copy have died at the same time"});
    }
    const std::vector<slot_record>& records() const { return records_; }

    /// Weights of all parts, behind an update that each member has made of its own: everybody gets
    /// them.
    SINTER_COLD void gather_weights(collective::communicator& c, float* weights) {
        each_part([&](int, int part, compiler::address at, std::int64_t floats) {
            const int from = keeper(part);
            float* to = weights + at.offset();
            if (from != c.rank() && has_[0].keeps(part)) to = scratch(floats);   // it has them: nothing may spoil them
            c.broadcast(bytes_of(to, floats), from);
        });
    }
    /// Divides slots among the members of this group. `slots`: this process's, of all parameters;
    /// `forget(first, floats)`: of them it keeps these no longer.
    template <class Forget>
    SINTER_COLD void divide(collective::communicator& c, std::int64_t epoch, float* slots, Forget forget) {
        if (is_divided(c)) return;
        const slot_division next{epoch, c.rank(), c.size()};
        const kept_parts mine = next.parts();
        each_part([&](int bucket, int part, compiler::address at, std::int64_t floats) {
            const int from = keeper(part);
            const std::int64_t all = P::v.buckets[bucket].floats;
            const auto range = collective::part_of(all, part, members_);
            for (int s = 0; s < kept_slots; ++s) {
                float* const here = slots + s * P::v.z.trained + at.offset();
                float* const to = from == c.rank() ? here : scratch(floats);
                c.broadcast(bytes_of(to, floats), from);
                if (to == here || has_[0].keeps(part)) continue;
                for (int i = 0; i < mine.count(); ++i) {
                    const auto own = mine.part(all, i);
                    const std::int64_t first = std::max(own.first, range.first), end = std::min(own.end, range.end);
                    if (first < end)
                        std::memcpy(here + (first - range.first), to + (first - range.first),
                                    static_cast<std::size_t>(end - first) * sizeof(float));
                }
            }
        });
        give_whole_slots(c, slots);
        has_[1] = has_[0];
        has_[0] = next;
        c.barrier();
        has_[1] = {};
        scratch_ = {};
        epoch_ = epoch, members_ = next.members;
        each_part([&](int, int part, compiler::address at, std::int64_t floats) {
            for (int s = 0; s < kept_slots && !next.keeps(part); ++s)
                forget(s * P::v.z.trained + at.offset(), floats);
        });
    }

private:
    /// That in which steps are accumulated is each member's own.
    static constexpr int kept_slots = P::v.slots - (of_program::every<P> > 1 ? 1 : 0);

    slot_division has_[2];   ///< the second: of a division that may have to be returned to
    std::vector<slot_record> records_;    ///< of this group, by rank
    std::int64_t epoch_ = 0;
    int members_ = 0;        ///< of the division that counts in this group
    std::vector<float> scratch_;

    /// The newest that all have who have the model's state.
    slot_division common() const {
        slot_division best;
        for (const slot_record& r : records_)
            for (const slot_division& d : r.has) {
                bool all = d.epoch > best.epoch;
                for (const slot_record& o : records_)
                    all = all && (!o.healed || o.has[0].epoch == d.epoch || o.has[1].epoch == d.epoch);
                if (all) best = d;
            }
        return best;
    }
    /// The rank of who has a part: the member whose own it is, or the one with the copy; -1: nobody
    /// has.
    int keeper(int part) const {
        int copy = -1;
        for (std::size_t r = 0; r < records_.size(); ++r)
            for (const slot_division& d : records_[r].has) {
                if (d.epoch != epoch_ || !d.keeps(part)) continue;
                if (d.member == part) return static_cast<int>(r);
                copy = static_cast<int>(r);
            }
        return copy;
    }
    /// Whether the division that counts is one of this very group.
    bool is_divided(const collective::communicator& c) const {
        bool same = members_ == c.size();
        for (std::size_t r = 0; r < records_.size() && same; ++r) {
            bool place = false;
            for (const slot_division& d : records_[r].has)
                place = place || (d.epoch == epoch_ && d.member == static_cast<int>(r));
            same = place;
        }
        return same;
    }
    /// f(bucket, part, where its weights lie, how many), of all parts that are not empty.
    template <class F>
    void each_part(F f) const {
        for (int k = 0; k < P::v.n_buckets; ++k) {
            if (!of_program::in_parts<P>(k)) continue;
            const compiler::address at = of_program::parameters_of<P>(k);
            for (int p = 0; p < members_; ++p) {
                const auto r = collective::part_of(P::v.buckets[k].floats, p, members_);
                if (r.first < r.end) f(k, p, compiler::address{at.where(), at.offset() + r.first}, r.end - r.first);
            }
        }
    }
    /// To who joins: the slots of buckets that are not cut, which all others have.
    void give_whole_slots(collective::communicator& c, float* slots) {
        int from = -1;
        bool joins = false;
        for (std::size_t r = records_.size(); r-- > 0;) {
            const auto& has = records_[r].has;
            const bool divided = has[0].epoch == epoch_ || has[1].epoch == epoch_;
            joins = joins || !divided;
            if (divided && records_[r].healed) from = static_cast<int>(r);
        }
        for (int i = 0; joins && i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            if (v.bucket < 0 || of_program::in_parts<P>(v.bucket)) continue;
            for (int s = 0; s < kept_slots; ++s) {
                float* const here = slots + s * P::v.z.trained + v.at.offset();
                const bool has = from != c.rank() && has_[0].epoch == epoch_;
                c.broadcast(bytes_of(has ? scratch(v.floats) : here, v.floats), from);
            }
        }
    }
    float* scratch(std::int64_t floats) {
        if (scratch_.size() < static_cast<std::size_t>(floats)) scratch_.resize(static_cast<std::size_t>(floats));
        return scratch_.data();
    }
    static span<std::byte> bytes_of(float* x, std::int64_t floats) {
        return {reinterpret_cast<std::byte*>(x), static_cast<std::size_t>(floats) * sizeof(float)};
    }
};

} // namespace sinter::strategy_parts
