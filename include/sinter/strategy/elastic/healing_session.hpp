// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/checksum.hpp>
#include <sinter/collective/elastic_job.hpp>
#include <sinter/collective/healer.hpp>
#include <sinter/strategy/elastic/round_session.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// A session whose last member gives the model's state to a process that joins, while all go on;
/// and the other end of that. elastic_session says when.
template <class Programs, other_processes Others>
class healing_session : public round_session<Programs, Others> {
    using base = round_session<Programs, Others>;

public:
    /// How this process was healed when it joined.
    const collective::healing_counts& healed_by() const { return counts_; }

protected:
    using base::round_session;
    using base::round_;
    using left_behind = collective::left_behind;
    static constexpr bool tells = !base::Copied && detail::tells_steps<Programs>();

    std::unique_ptr<collective::elastic_job> job_;
    wire::member_list list_;
    bool healed_ = true;
    step_result step_{};             ///< of the last step
    std::vector<std::byte> told_;    ///< of the last step, while this member heals another
    std::unique_ptr<collective::healer> healer_;

    const wire::seat& of_self(const wire::member_list& l) const {
        for (const wire::seat& s : l.seats)
            if (s.slot == job_->slot()) return s;
        throw left_behind(job_->fault("this process is not among the members"));
    }
    /// The first that is furthest, and has the model's state.
    int source() const {
        int best = -1;
        for (std::size_t r = 0; r < list_.seats.size(); ++r) {
            const std::int64_t p = list_.seats[r].progress;
            if (wire::is_healed(p) && (best < 0 || p > list_.seats[at_(best)].progress)) best = static_cast<int>(r);
        }
        if (best < 0) throw left_behind(job_->fault("no member that is left has the model's state"));
        return best;
    }
    static std::size_t at_(int r) { return static_cast<std::size_t>(r); }

    bool somebody_joins() const {
        for (const wire::seat& s : list_.seats)
            if (!wire::is_healed(s.progress)) return true;
        return false;
    }
    /// Of the last member, behind a step: for who waits to join.
    void heal() {
        if constexpr (tells) {
            using enum collective::healing;
            if (healer_) {
                if (!told_.empty()) healer_->add(step, told_);
                else if (step_.applied) healer_->add(image, base::weights());   // others have made it for this one
            } else if (base::member().index == base::member().count - 1 && round_.empty()) {
                if (const wire::seat who = job_->to_be_healed(); who.slot >= 0) begin_healing(who);
            }
        }
    }
    SINTER_COLD void begin_healing(const wire::seat& who) {
        std::vector<std::byte> now = base::weights();
        const auto most = collective::most_to_heal(now.size());
        healer_ = std::make_unique<collective::healer>(job_->healing(who, true, job_->patience()), most);
        healer_->add(collective::healing::image, std::move(now));
        base::tell_steps(&told_);
    }
    SINTER_COLD void stop_healing() {
        healer_.reset();
        base::tell_steps(nullptr);
    }
    /// Of a process that joins: until it may, or must.
    SINTER_COLD void wait_and_follow() {
        if constexpr (tells)
            while (!job_->is_called()) try {
                    const auto member = job_->healing(job_->self(), false, 2)();
                    bool ends = false;
                    collective::be_healed(*member, collective::most_to_heal(base::image_bytes()),
                        [&](collective::healing what, const std::vector<std::byte>& bytes) {
                            using enum collective::healing;
                            if (what == image) set_weights(bytes), ++counts_.images;
                            if (what == step) base::repeat_step(bytes), ++counts_.steps;
                            if (what == come) job_->may_join(true);
                            ends = what == last;
                        }, [&] { return job_->is_called(); });
                    if (ends) return;
                } catch (const cluster_error&) {   // nobody heals it, or the member that did has died
                    if (!job_->is_called()) job_->may_join(false);
                }
    }
    /// In a new group: those that join have the others' bits, or are given their state.
    SINTER_COLD void heal_in_group() {
        if (!somebody_joins()) return;
        const int from = source();
        auto& c = *base::communicator();
        std::vector<std::byte> state;
        std::uint64_t sum[2] = {};
        const bool gives = base::member().index == from;
        if (gives || !healed_) {
            state = base::weights();
            sum[0] = sinter::base::checksum::of({state.data(), state.size()});
            sum[1] = state.size();
        }
        const std::uint64_t mine = sum[0];
        c.broadcast({reinterpret_cast<std::byte*>(sum), sizeof sum}, from);
        std::int32_t differ[1] = {!healed_ && mine != sum[0]};
        c.all_reduce(span<std::int32_t>(differ, 1), collective::reduction::max);
        if (differ[0] == 0) return;
        constexpr auto image = std::int64_t{base::image_bytes()};
        collective::need_told(from, "healing one that joins", "bytes", static_cast<std::int64_t>(sum[1]), image, image);
        state.resize(base::image_bytes());
        c.broadcast({state.data(), state.size()}, from);
        if (!healed_) set_weights(state), ++counts_.waits;
    }

    SINTER_COLD void set_weights(const std::vector<std::byte>& from) {
        if (!base::set_weights(from))
            throw left_behind(job_->fault("members do not have the same model: another one's is smaller"));
    }

private:
    collective::healing_counts counts_;
};

} // namespace sinter::detail
