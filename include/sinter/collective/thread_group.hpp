// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/combine.hpp>
#include <sinter/collective/first_error.hpp>
#include <sinter/collective/queued_communicator.hpp>
#include <sinter/collective/thread_messages.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {
namespace detail {

/// What the threads of a group share.
class thread_rendezvous final : public thread_waits {
public:
    thread_rendezvous(std::shared_ptr<thread_job> job, int n)
        : entries_(static_cast<std::size_t>(n)), job_(std::move(job)), may_spin_(usable_cores() >= n) {
        job_->add(this);
    }
    ~thread_rendezvous() override { job_->remove(this); }
    thread_rendezvous(const thread_rendezvous&) = delete;
    thread_rendezvous& operator=(const thread_rendezvous&) = delete;

    int size() const { return static_cast<int>(entries_.size()); }
    bool may_spin() const { return may_spin_; }
    thread_job& job() const { return *job_; }
    const std::shared_ptr<thread_job>& shared_job() const { return job_; }

    struct entry {
        operation what;
        void* data = nullptr;
        std::int64_t n = 0;
    };
    entry& operator[](int r) { return entries_[static_cast<std::size_t>(r)]; }

    /// Returns when all members have come; throws the first error, unless all have come.
    void wait_for_all(patience& own) {
        first_error& error = job_->error();
        if (error) error.rethrow();
        const unsigned round = rounds_.load(std::memory_order_acquire),
                       before = changes_.load(std::memory_order_acquire);
        if (come_.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
            come_.store(0, std::memory_order_relaxed);
            rounds_.store(round + 1, std::memory_order_release);
            wake();
            return;
        }
        if (!error) await_change(changes_, before, may_spin_, &own);
        if (rounds_.load(std::memory_order_acquire) == round) error.rethrow();
    }
    void wake() noexcept override {
        changes_.fetch_add(1, std::memory_order_release);
        changes_.notify_all();
    }

private:
    std::vector<entry> entries_;
    std::shared_ptr<thread_job> job_;
    std::atomic<int> come_{0};
    std::atomic<unsigned> rounds_{0}, changes_{0};   // a change is a round's end or an error
    const bool may_spin_;
};

class thread_membership final : public membership {
public:
    thread_membership(std::shared_ptr<thread_job> j, int rank, int size)
        : job_(std::move(j)), rank_(rank), size_(size) {}
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void check() override {
        if (job_->error()) job_->error().rethrow();
    }
    void fail(const cluster_error& e) noexcept override { job_->fail(e); }
    std::string role(int rank) const override { return "thread/" + std::to_string(rank); }
    bool may_spin() const override { return usable_cores() >= size_; }
    void ask_all_to_stop(const char*) override { job_->asked_to_stop.store(true, std::memory_order_release); }
    bool asked_to_stop() const override { return job_->asked_to_stop.load(std::memory_order_acquire); }

private:
    std::shared_ptr<thread_job> job_;
    int rank_, size_;
};

/// Each member combines its part, reading all members' memory, and then copies the others' parts.
class thread_engine final : public engine {
public:
    thread_engine(std::shared_ptr<membership> of, std::shared_ptr<thread_rendezvous> m)
        : members_(std::move(of)), rendezvous_(std::move(m)), sources_(static_cast<std::size_t>(rendezvous_->size())),
          rank_(members_->rank()) {}

    void perform(const operation& o, std::int64_t, void* data, std::int64_t n) override {
        (*rendezvous_)[rank_] = {o, data, n};
        wait_for_all();
        for (int r = 0; r < size(); ++r) {
            const auto& other = (*rendezvous_)[r];
            sources_[static_cast<std::size_t>(r)] = other.data;
            refuse_difference(other);
        }
        switch (o.what) {
            case kind::all_reduce:
            case kind::all_reduce_tree:
                combine_part(o, data, n);
                wait_for_all();
                copy_parts(o, data, n);
                break;
            case kind::reduce_scatter:
            case kind::reduce_scatter_tree: combine_part(o, data, n); break;
            case kind::all_gather: copy_parts(o, data, n); break;
            case kind::broadcast:
                if (rank_ != o.root) copy(data, sources_[static_cast<std::size_t>(o.root)], 0, n * bytes_of(o.type));
                break;
            case kind::all_gather_rows:
                for (int r = 0; r < size(); ++r) copy_slot(data, r, n);
                break;
            case kind::barrier: break;
            case kind::shift: copy_part((rank_ + size() - 1) % size(), o, data, n); break;
        }
        wait_for_all();   // nobody gets its memory back while others read it
    }
    /// The first of each group makes what its members share, and all look there.
    std::unique_ptr<engine> split(communicator& all, const group_of_members& g,
                                  const std::shared_ptr<membership>& these) override {
        std::shared_ptr<thread_rendezvous> made;
        if (!g.ranks.empty() && g.rank == 0)
            made = std::make_shared<thread_rendezvous>(rendezvous_->shared_job(), static_cast<int>(g.ranks.size()));
        const std::shared_ptr<thread_rendezvous>* const mine = &made;
        const auto groups = all_gather_value(all, mine, "split");
        if (!g.ranks.empty() && g.rank != 0) made = *groups[static_cast<std::size_t>(g.ranks.front())];
        all.barrier();   // nobody's goes before all have looked
        if (g.ranks.empty()) return nullptr;
        return std::make_unique<thread_engine>(these, std::move(made));
    }

private:
    std::shared_ptr<membership> members_;
    std::shared_ptr<thread_rendezvous> rendezvous_;
    std::vector<void*> sources_;
    patience patience_;
    int rank_;

    int size() const { return rendezvous_->size(); }
    void wait_for_all() { rendezvous_->wait_for_all(patience_); }
    void combine_part(const operation& o, void* data, std::int64_t n) {
        const auto [first, end] = part_of(n, rank_, size());
        combine_tree(o.type, o.how, data, sources_.data(), size(), first, end);
    }
    void copy_parts(const operation& o, void* data, std::int64_t n) {
        for (int k = 1; k < size(); ++k) copy_part((rank_ + k) % size(), o, data, n);
    }
    void copy_part(int r, const operation& o, void* data, std::int64_t n) {
        const auto [first, end] = part_of(n, r, size());
        if (r != rank_)
            copy(data, sources_[static_cast<std::size_t>(r)], first * bytes_of(o.type), end * bytes_of(o.type));
    }
    static void copy(void* to, const void* from, std::int64_t first, std::int64_t end) {
        if (first == end) return;
        std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                    static_cast<std::size_t>(end - first));
    }
    void copy_slot(void* data, int r, std::int64_t slot) {
        if (r == rank_) return;
        row_slot head;
        const void* const from = sources_[static_cast<std::size_t>(r)];
        std::memcpy(&head, static_cast<const char*>(from) + r * slot, sizeof head);
        refuse_slot(head, r, slot);
        copy(data, from, r * slot, r * slot + static_cast<std::int64_t>(sizeof head) + head.bytes);
    }
    SINTER_COLD void refuse_slot(const row_slot& head, int r, std::int64_t slot) {
        if (head.bytes >= 0 && head.bytes <= slot - static_cast<std::int64_t>(sizeof head)) return;
        const operation& o = (*rendezvous_)[rank_].what;
        fail({members_->job_rank(r), members_->role(r), "", name_of(o), o.step,
              "a slot of " + std::to_string(slot) + " bytes says that " + std::to_string(head.bytes) + " are used"});
    }
    void refuse_difference(const thread_rendezvous::entry& other) {
        const auto& mine = (*rendezvous_)[0];
        if (same(other.what, mine.what) && other.n == mine.n) return;
        const int r = static_cast<int>(&other - &mine);
        fail(differing(members_->job_rank(r), members_->role(r), "", other.what, other.n, mine.what, mine.n,
                       members_->job_rank(0)));
    }
    [[noreturn]] SINTER_COLD void fail(const cluster_error& e) {
        rendezvous_->job().fail(e);
        rendezvous_->job().error().rethrow();
    }
};

}   // namespace detail

/// Members that are threads of one process. What is combined is combined in the order of
/// all_reduce_tree.
class thread_group {
public:
    /// `n` members.
    explicit thread_group(int n) {
        if (n < 1) throw option_error("a group has members", "thread_group", std::to_string(n), "1 or more");
        const auto job = std::make_shared<detail::thread_job>();
        const auto rendezvous = std::make_shared<detail::thread_rendezvous>(job, n);
        std::vector<std::shared_ptr<membership>> all;
        std::vector<std::shared_ptr<detail::thread_mailbox>> boxes;
        for (int r = 0; r < n; ++r) {
            all.push_back(std::make_shared<detail::thread_membership>(job, r, n));
            boxes.push_back(std::make_shared<detail::thread_mailbox>(job, all.back()));
        }
        for (int r = 0; r < n; ++r) {
            const auto& m = all[static_cast<std::size_t>(r)];
            members_.push_back(std::make_unique<queued_communicator>(
                m, std::make_unique<detail::thread_engine>(m, rendezvous),
                std::make_shared<thread_messages>(boxes, r)));
        }
    }
    int size() const { return static_cast<int>(members_.size()); }
    /// Of one thread each. Lives as long as the group.
    communicator& member(int rank) { return *members_[static_cast<std::size_t>(rank)]; }
    /// The same, to keep: a group whose members have all been taken may go.
    std::unique_ptr<communicator> take(int rank) { return std::move(members_[static_cast<std::size_t>(rank)]); }

private:
    std::vector<std::unique_ptr<communicator>> members_;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
