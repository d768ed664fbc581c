// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <algorithm>
#include <sinter/collective/engine.hpp>
#include <sinter/collective/messages.hpp>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::collective {

/// The members of a group within a job: they fail with it, and it with them.
class subgroup final : public membership {
public:
    /// `ranks`: within `all`, by rank in the group.
    subgroup(std::shared_ptr<membership> all, std::vector<int> ranks, int rank)
        : all_(std::move(all)), ranks_(std::move(ranks)), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(ranks_.size()); }
    int job_rank(int r) const override { return all_->job_rank(ranks_[static_cast<std::size_t>(r)]); }
    void check() override { all_->check(); }
    void fail(const cluster_error& e) noexcept override { all_->fail(e); }
    std::string role(int r) const override { return all_->role(ranks_[static_cast<std::size_t>(r)]); }
    std::string address(int r) const override { return all_->address(ranks_[static_cast<std::size_t>(r)]); }
    bool may_spin() const override { return all_->may_spin(); }
    void progress(std::int64_t step, const char* what) override { all_->progress(step, what); }
    void ask_all_to_stop(const char* reason) override { all_->ask_all_to_stop(reason); }
    bool asked_to_stop() const override { return all_->asked_to_stop(); }
    std::uint32_t& last_group() override { return all_->last_group(); }

private:
    std::shared_ptr<membership> all_;
    std::vector<int> ranks_;
    int rank_;
};

/// What a member says about the group that it will be in.
struct group_choice {
    std::int32_t color = 0, key = 0;
    std::uint32_t number = 0;   ///< the least that this member knows of no group with
};

/// Which of all members are in this one's group.
SINTER_COLD inline group_of_members group_of(const std::vector<group_choice>& all, int rank) {
    group_of_members g;
    for (const group_choice& c : all) g.number = std::max(g.number, c.number);
    const std::int32_t color = all[static_cast<std::size_t>(rank)].color;
    if (color < 0) return g;
    for (int r = 0; r < static_cast<int>(all.size()); ++r)
        if (all[static_cast<std::size_t>(r)].color == color) g.ranks.push_back(r);
    std::stable_sort(g.ranks.begin(), g.ranks.end(), [&](int a, int b) {
        return all[static_cast<std::size_t>(a)].key < all[static_cast<std::size_t>(b)].key;
    });
    g.rank = static_cast<int>(std::find(g.ranks.begin(), g.ranks.end(), rank) - g.ranks.begin());
    return g;
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
