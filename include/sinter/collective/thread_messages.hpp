// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/mailbox.hpp>
#include <sinter/collective/thread_job.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {
namespace detail {

/// The messages of one member, until the job fails.
class thread_mailbox final : public thread_waits {
public:
    thread_mailbox(std::shared_ptr<thread_job> job, std::shared_ptr<membership> m)
        : job_(std::move(job)), box_(std::move(m)) {
        job_->add(this);
    }
    ~thread_mailbox() override { job_->remove(this); }
    thread_mailbox(const thread_mailbox&) = delete;
    thread_mailbox& operator=(const thread_mailbox&) = delete;
    void wake() noexcept override { box_.end(); }
    mailbox& box() { return box_; }

private:
    std::shared_ptr<thread_job> job_;
    mailbox box_;
};

}   // namespace detail

/// Messages between threads: whoever sends copies to where the message is awaited, or to the other one's mailbox.
class thread_messages final : public messages {
public:
    /// `boxes`: of all members, by rank.
    thread_messages(std::vector<std::shared_ptr<detail::thread_mailbox>> boxes, int rank)
        : boxes_(std::move(boxes)), rank_(rank) {}
    message send(const message_name& n, span<const std::byte> x) override {
        const message m = own().begin_send(n, static_cast<std::int64_t>(x.size()));
        box(n.peer).deliver({n.group, rank_, n.tag}, x);
        own().sent(m);
        return m;
    }
    message receive(const message_name& n, span<std::byte> into) override { return own().begin_receive(n, into); }
    void wait(message m, double within) override { own().wait(m, within); }

private:
    std::vector<std::shared_ptr<detail::thread_mailbox>> boxes_;
    int rank_;
    mailbox& own() { return box(rank_); }
    mailbox& box(int r) { return boxes_[static_cast<std::size_t>(r)]->box(); }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
