// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/copies.hpp>
#include <sinter/parameter_server/server/copy_stream.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What one of the two copies of a shard is to the other (parameter_server/copies.hpp): whether it leads or follows, in
/// which epoch, and the connections between them. A shard that one server keeps leads for ever. No sockets here but
/// their numbers: whoever asks shuts them down.
///
/// Always: only who leads has a stream to a follower. An epoch that this copy leads is one later than the one before.
/// Each change of view() means that whoever was served must ask again who leads.
class replication {
public:
    /// A shard that is kept twice: nobody leads until the chief says so.
    void begin_twice() { role_ = copy_role::waiting; }

    copy_role role() const { return role_; }
    bool leads() const { return role_ == copy_role::leading; }
    std::uint64_t epoch() const { return epoch_; }
    /// Counts what changes who is served.
    std::uint64_t view() const { return view_; }
    copy_note note() const { return {epoch_, role_, stream_ != nullptr}; }

    // ---- To lead
    /// Whether the chief's word that this copy leads from epoch `next` on is to be followed: neither has anything yet,
    /// or it has all of the epoch before.
    bool may_lead(std::uint64_t next) const {
        return is_first_of_all(next) ||
               ((role_ == copy_role::following || role_ == copy_role::cut_off) && next == epoch_ + 1);
    }
    bool is_first_of_all(std::uint64_t next) const {
        return role_ == copy_role::waiting && epoch_ == 0 && next == 1;
    }
    void lead(std::uint64_t next) {
        role_ = copy_role::leading, epoch_ = next;
        change_view();
    }
    /// Another copy leads, or is to: what this one has is no whole copy of anything from here on.
    void wait_to_follow() {
        role_ = copy_role::waiting;
        change_view();
    }

    // ---- To be followed
    /// Whether the other copy may be sent all that there is, and follow.
    bool may_be_followed(const copy_note& theirs) const {
        return leads() && !stream_ && !copying_ && theirs.makes_sense() &&
               theirs.epoch < std::max<std::uint64_t>(epoch_, 1);
    }
    /// It is sent all that there is, by one thread at a time.
    void begin_copying() { copying_ = true; }
    void end_copying() { copying_ = false; }
    bool is_copying() const { return copying_; }
    /// It has all that there is: the next epoch begins, in which it follows this stream.
    const std::shared_ptr<copy_stream>& begin_epoch_with_follower() {
        stream_ = std::make_shared<copy_stream>();
        ++epoch_;
        was_followed_ = true;
        change_view();
        return stream_;
    }
    /// What the follower is sent; null: there is none.
    const std::shared_ptr<copy_stream>& stream() const { return stream_; }
    bool was_followed() const { return was_followed_; }
    /// The follower is gone: this copy answers nothing until the chief says who goes on.
    void lose_follower(double now) {
        role_ = copy_role::cut_off;
        linked_ = now;
        change_view();
    }

    // ---- To follow
    /// This copy has all that its leader has answered, in this epoch.
    void follow(std::uint64_t epoch) { role_ = copy_role::following, epoch_ = epoch; }
    /// The leader says that its work is over.
    void end() { ended_ = true; }
    bool has_ended() const { return ended_; }
    /// The connection to the leader, by its socket's number; -1: there is none.
    int leader_connection() const { return leader_; }
    void connect(int descriptor) {
        leader_ = descriptor;
        others_.push_back(descriptor);
    }
    /// `led`: the other copy has answered that it leads.
    void disconnect(double now, bool led) {
        std::erase(others_, leader_);
        leader_ = -1;
        if (led) linked_ = now;
    }

    // ---- Where nobody leads
    /// The server began, or had a copy beside it, at this time.
    void linked(double now) { linked_ = now; }
    /// A worker has asked this copy, which does not lead.
    void asked(double now) { asked_ = now; }
    /// Whether this copy has nothing to wait for any more. Without a leader to follow, as where it led and has lost its
    /// follower, it does not wait for the chief's word for longer than `most` seconds: a chief that was started again
    /// meanwhile can give none, however often workers ask.
    bool is_done_unled(double now, double most) const { return ended_ || (leader_ < 0 && now - linked_ > most); }
    /// Whether workers have asked for this shard in the last `within` seconds, and nobody leads it.
    bool is_led_by_nobody(double now, double within) const { return !leads() && !ended_ && now - asked_ < within; }

    // ---- Connections that are no worker's in service
    void add_connection(int descriptor) { others_.push_back(descriptor); }
    void remove_connection(int descriptor) { std::erase(others_, descriptor); }
    const std::vector<int>& connections() const { return others_; }

private:
    copy_role role_ = copy_role::leading;
    std::uint64_t epoch_ = 0, view_ = 0;
    std::shared_ptr<copy_stream> stream_;
    bool was_followed_ = false, copying_ = false, ended_ = false;
    int leader_ = -1;
    double linked_ = 0, asked_ = -1e9;
    std::vector<int> others_;

    void change_view() {
        ++view_;
        if (!leads()) stream_.reset();
    }
};

} // namespace sinter::parameter_servers
