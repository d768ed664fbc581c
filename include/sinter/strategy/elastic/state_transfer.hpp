// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/checksum.hpp>
#include <sinter/collective/elastic_job.hpp>
#include <sinter/collective/healer.hpp>
#include <sinter/strategy/elastic/model_image.hpp>
#include <memory>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// How a process that joins gets the model's state. While all go on, the last member sends it the state as it is behind
/// some step, and of each step from there on what the members have made of it together (step_delta.hpp), by which it
/// makes the same updates. In the group whether it has the others' bits is compared, and if not, or where steps cannot
/// be sent so, it is given the state while all wait. Core: the synchronous_core.
template <class Core>
class state_transfer {
    using image = model_image<Core>;
    static constexpr bool sends_steps = !Core::copied && has_step_deltas<typename Core::programs>();

public:
    using member_list = wire::member_list;
    state_transfer(Core& core, collective::elastic_job& job) : core_(core), job_(job) {}
    state_transfer(const state_transfer&) = delete;
    state_transfer& operator=(const state_transfer&) = delete;

    // ---- of the member that sends
    /// Before a step.
    void begin_step() {
        if (healer_ && healer_->is_broken()) stop();
        sent_.clear();
    }
    /// Behind it: for who waits to join. `round_is_over`: nothing is accumulated.
    void end_step(const step_result& step, bool round_is_over) {
        if constexpr (sends_steps) {
            using what = collective::healing;
            const membership me = core_.members.place();
            if (healer_) {
                if (!sent_.empty()) healer_->add(what::step, sent_);
                else if (step.applied) healer_->add(what::image, image::of(core_));   // others have made it for it
            } else if (me.index == me.count - 1 && round_is_over) {
                if (const wire::member_entry who = job_.to_be_healed(); who.slot >= 0) begin(who);
            }
        }
    }
    /// Values have been written.
    void add_image() {
        if (healer_) healer_->add(collective::healing::image, image::of(core_));
    }
    /// Those that wait are admitted now.
    void finish() {
        if (healer_ && healer_->is_ready()) healer_->finish();
    }
    SINTER_COLD void stop() {
        healer_.reset();
        core_.send_steps(nullptr);
    }

    // ---- of a process that joins
    /// It is new to the job: whether it may be taken in is known when it has the state.
    SINTER_COLD void wait_for_state() {
        if (sends_steps) job_.may_join(false);
    }
    /// Until it may join, or must.
    SINTER_COLD void follow() {
        if constexpr (sends_steps)
            while (!job_.is_called()) try {
                    const auto member = job_.healing(job_.self(), false, 2)();
                    bool ends = false;
                    collective::be_healed(*member, collective::most_to_heal(image::bytes()),
                        [&](collective::healing what, const std::vector<std::byte>& bytes) {
                            using enum collective::healing;
                            if (what == collective::healing::image) put(bytes), ++counts_.images;
                            if (what == step) core_.repeat_step(bytes), ++counts_.steps;
                            if (what == come) job_.may_join(true);
                            ends = what == last;
                        }, [&] { return job_.is_called(); });
                    if (ends) return;
                } catch (const cluster_error&) {   // nobody sends to it, or the member that did has died
                    if (!job_.is_called()) job_.may_join(false);
                }
    }
    /// How it got the state.
    const collective::healing_counts& counts() const { return counts_; }

    // ---- of all members of a new group
    /// The first that is furthest, and has the model's state.
    int source(const member_list& members) const {
        int best = -1;
        for (std::size_t r = 0; r < members.entries.size(); ++r) {
            const std::int64_t p = members.entries[r].progress;
            if (wire::is_healed(p) && (best < 0 || p > members.entries[static_cast<std::size_t>(best)].progress))
                best = static_cast<int>(r);
        }
        if (best < 0) throw collective::excluded_member(job_.fault("no member that is left has the model's state"));
        return best;
    }
    static bool somebody_joins(const member_list& members) {
        for (const wire::member_entry& s : members.entries)
            if (!wire::is_healed(s.progress)) return true;
        return false;
    }
    /// Those that join have the others' bits behind it. `has_state`: this member has had it before.
    SINTER_COLD void give_state(const member_list& members, bool has_state) {
        if (!somebody_joins(members)) return;
        const int from = source(members);
        auto& c = *core_.members;
        std::vector<std::byte> state;
        std::uint64_t sum[2] = {};
        const bool gives = c.rank() == from;
        if (gives || !has_state) {
            state = image::of(core_);
            sum[0] = sinter::base::checksum::of({state.data(), state.size()});
            sum[1] = state.size();
        }
        const std::uint64_t mine = sum[0];
        c.broadcast({reinterpret_cast<std::byte*>(sum), sizeof sum}, from);
        std::int32_t differ[1] = {!has_state && mine != sum[0]};
        c.all_reduce(span<std::int32_t>(differ, 1), collective::reduction::max);
        if (differ[0] == 0) return;
        constexpr auto size = std::int64_t{image::bytes()};
        collective::need_sent(from, "healing one that joins", "bytes", static_cast<std::int64_t>(sum[1]), size, size);
        state.resize(image::bytes());
        c.broadcast({state.data(), state.size()}, from);
        if (!has_state) put(state), ++counts_.waits;
    }
    SINTER_COLD void put(const std::vector<std::byte>& state) {
        if (!image::put(core_, state))
            throw collective::excluded_member(
                job_.fault("members do not have the same model: another one's is smaller"));
    }

private:
    Core& core_;
    collective::elastic_job& job_;
    std::vector<std::byte> sent_;   ///< of the last step, while this member sends them
    std::unique_ptr<collective::healer> healer_;
    collective::healing_counts counts_;

    SINTER_COLD void begin(const wire::member_entry& who) {
        std::vector<std::byte> now = image::of(core_);
        const auto most = collective::most_to_heal(now.size());
        healer_ = std::make_unique<collective::healer>(job_.healing(who, true, job_.patience()), most);
        healer_->add(collective::healing::image, std::move(now));
        core_.send_steps(&sent_);
    }
};

} // namespace sinter::strategy_parts
