// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <sinter/collective/first_error.hpp>
#include <sinter/collective/queued_communicator.hpp>
#include <sinter/collective/transport_engine.hpp>
#include <thread>

// Members that are threads, connected by mailboxes: algorithms without a network.
namespace sinter::test {
using namespace sinter::collective;

struct frame_queue {
    struct frame {
        operation what;
        std::int64_t number, n, offset;
        std::size_t bytes;
        const std::byte* at;   // the sender's memory, or that of `copy`
        std::vector<std::byte> copy;
    };
    std::mutex mutex;
    std::deque<frame> frames;
    std::size_t taken = 0;
};

/// What the members share. Mailboxes hold so many frames; 0: nothing is sent before it is awaited.
struct mailboxes {
    mailboxes(int count, std::size_t room)
        : members(count), capacity(room), boxes(static_cast<std::size_t>(count * count)),
          news(static_cast<std::size_t>(count)) {}
    int members;
    std::size_t capacity;
    std::vector<frame_queue> boxes;
    first_error error;
    /// How often something has happened that a member may wait for: a frame has come, one of its own was taken, or all
    /// have failed.
    std::vector<std::atomic<std::uint32_t>> news;
    void tell(int member) {
        auto& n = news[static_cast<std::size_t>(member)];
        ++n;
        n.notify_all();
    }
    frame_queue& from_to(int from, int to) { return boxes[static_cast<std::size_t>(from * members + to)]; }
};

class memory_transport final : public transport {
public:
    memory_transport(std::shared_ptr<mailboxes> m, int rank)
        : shared_(std::move(m)), rank_(rank), sent_(static_cast<std::size_t>(shared_->members)),
          expected_(static_cast<std::size_t>(shared_->members)) {}
    int rank() const override { return rank_; }
    int size() const override { return shared_->members; }
    std::int64_t largest_piece() const override { return 1 << 20; }
    void send(int peer, const job& j, std::int64_t offset, span<const std::byte> bytes) override {
        current_ = j;
        frame_queue& box = shared_->from_to(rank_, peer);
        frame_queue::frame f{j.what, j.number, j.n, offset, bytes.size(), bytes.data(), {}};
        if (shared_->capacity) {
            f.copy.assign(bytes.begin(), bytes.end());
            f.at = f.copy.data();
        }
        ++sent_[static_cast<std::size_t>(peer)];
        {
            const std::lock_guard lock(box.mutex);
            box.frames.push_back(std::move(f));
        }
        shared_->tell(peer);
    }
    bool sent(int peer) override {
        frame_queue& box = shared_->from_to(rank_, peer);
        const std::lock_guard lock(box.mutex);
        return sent_[static_cast<std::size_t>(peer)] - box.taken <= shared_->capacity;
    }
    void receive(int peer, const job& j, std::int64_t offset, span<std::byte> bytes) override {
        current_ = j;
        expected_[static_cast<std::size_t>(peer)] = {j, offset, bytes};
    }
    bool received(int peer) override {
        frame_queue& box = shared_->from_to(peer, rank_);
        std::unique_lock lock(box.mutex);
        if (box.frames.empty()) return false;
        const auto& f = box.frames.front();
        const auto& [j, offset, bytes] = expected_[static_cast<std::size_t>(peer)];
        refuse(f, j, peer);
        if (f.offset != offset || f.bytes != bytes.size())
            throw cluster_error(peer, "mailbox", "", "test", 0, "another piece than was expected");
        if (f.bytes) std::memcpy(bytes.data(), f.at, f.bytes);
        box.frames.pop_front();
        ++box.taken;
        lock.unlock();
        shared_->tell(peer);
        return true;
    }
    void wait(int, int) override {
        // What came before this was seen at the last return, so that the caller has looked since.
        auto& news = shared_->news[static_cast<std::size_t>(rank_)];
        if (!shared_->error) news.wait(seen_);
        seen_ = news;
        if (shared_->error) shared_->error.rethrow();
        for (int r = 0; r < size(); ++r) {
            frame_queue& box = shared_->from_to(r, rank_);
            const std::lock_guard lock(box.mutex);
            if (!box.frames.empty() && box.frames.front().number == current_.number)
                refuse(box.frames.front(), current_, r);
        }
    }

private:
    struct awaited {
        job j;
        std::int64_t offset;
        span<std::byte> bytes;
    };
    std::shared_ptr<mailboxes> shared_;
    int rank_;
    std::vector<std::size_t> sent_;
    std::vector<awaited> expected_;
    job current_;
    std::uint32_t seen_ = 0;

    void refuse(const frame_queue::frame& f, const job& j, int peer) const {
        if (!same(f.what, j.what) || f.n != j.n || f.number != j.number)
            throw differing(peer, "mailbox/" + std::to_string(peer), "", f.what, f.n, j.what, j.n, rank_);
    }
};

class memory_membership final : public membership {
public:
    memory_membership(std::shared_ptr<mailboxes> m, int rank) : shared_(std::move(m)), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return shared_->members; }
    void check() override {
        if (shared_->error) shared_->error.rethrow();
    }
    void fail(const cluster_error& e) noexcept override {
        shared_->error.set(e);
        for (int r = 0; r < size(); ++r) shared_->tell(r);
    }
    std::string role(int rank) const override { return "mailbox/" + std::to_string(rank); }

private:
    std::shared_ptr<mailboxes> shared_;
    int rank_;
};

inline std::vector<std::unique_ptr<communicator>> connected_by_mailboxes(int members, algorithm a, std::int64_t piece,
                                                                         std::size_t capacity) {
    const auto boxes = std::make_shared<mailboxes>(members, capacity);
    std::vector<std::unique_ptr<communicator>> all;
    for (int r = 0; r < members; ++r)
        all.push_back(std::make_unique<queued_communicator>(
            std::make_shared<memory_membership>(boxes, r),
            std::make_unique<transport_engine>(a, std::make_unique<memory_transport>(boxes, r), piece)));
    return all;
}

}   // namespace sinter::test
