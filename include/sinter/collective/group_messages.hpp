// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/collective/subgroup.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// The messages of one group, whose members are named by their ranks in it. Refuses what makes no sense.
class group_messages {
public:
    /// `all`: of the whole job, or null.
    group_messages(std::shared_ptr<membership> m, std::shared_ptr<messages> all, std::uint32_t group)
        : members_(std::move(m)), all_(std::move(all)), group_(group) {}
    message send(int to, std::int64_t tag, span<const std::byte> x) {
        return there("send").send(name(to, tag, x.data(), x.size(), "send"), x);
    }
    message receive(int from, std::int64_t tag, span<std::byte> x) {
        return there("recv").receive(name(from, tag, x.data(), x.size(), "recv"), x);
    }
    void wait(message m, double within) {
        if (!(within >= 0))
            throw option_error("a time is negative", "wait_message", std::to_string(within) + " s", "0 s or more");
        there("wait_message").wait(m, within);
    }
    const std::shared_ptr<messages>& all() const { return all_; }

private:
    std::shared_ptr<membership> members_;
    std::shared_ptr<messages> all_;
    std::uint32_t group_;

    messages& there(const char* what) {
        if (!all_) throw device_error("this communicator has no messages between two members", what);
        return *all_;
    }
    message_name name(int peer, std::int64_t tag, const void* data, std::size_t bytes, const char* what) {
        if (peer < 0 || peer >= members_->size())
            throw option_error("no member has this rank", what, std::to_string(peer),
                               to_text({"0 to ", members_->size() - 1}));
        if (bytes > 0 && !data) throw option_error("there is no memory", what, "a null pointer", "bytes");
        members_->check();
        return {group_, members_->job_rank(peer), tag};
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
