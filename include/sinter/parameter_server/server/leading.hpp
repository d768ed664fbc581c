// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/copies.hpp>

/// The copy that leads a shard: what it sends its follower.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// All values, while nobody changes them.
SINTER_COLD inline void server::engine::send_all(blocking_link& conn) {
    const shard_view v = memory.view();
    conn.send_floats(copied::write, 0, v.values, memory.layout().floats);
    for (std::size_t k = 0; k < v.slots.size(); ++k)
        conn.send_floats(copied::write, static_cast<int>(k) + 1, v.slots[k], memory.layout().floats);
    conn.send_floats(copied::write, states_array, v.states, memory.layout().states);
    std::vector<std::byte> bytes;
    for (std::size_t t = 0; t < v.tables.size(); ++t) {
        const table_view& of = v.tables[t];
        const auto width = static_cast<std::size_t>(memory.layout().tables[t].row_floats);
        const std::size_t each = copied_row_bytes(static_cast<int>(width), static_cast<int>(of.slots.size()));
        const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, most_frame / each));
        for (std::int64_t first = 0; first < of.rows; first += most) {
            const std::int64_t n = std::min(most, of.rows - first);
            bytes.resize(each * static_cast<std::size_t>(n));
            std::byte* to = bytes.data();
            for (std::int64_t r = first; r < first + n; ++r) {
                wire::detail::put(to, of.keys[static_cast<std::size_t>(r)]);
                wire::detail::put(to + 8, of.steps[static_cast<std::size_t>(r)]);
                to += 16;
                const auto add = [&](const float* x) {
                    std::memcpy(to, x + r * static_cast<std::int64_t>(width), 4 * width);
                    to += 4 * width;
                };
                add(of.values);
                for (const float* s : of.slots) add(s);
            }
            wire::frame_tag tag;
            tag.operation = copied::rows;
            tag.bucket = static_cast<std::int32_t>(t);
            tag.elements = static_cast<std::uint64_t>(n);
            conn.send(tag, bytes);
        }
    }
}

/// Another server asks for all that this one has and for all that comes, or for a clock's norm.
SINTER_COLD inline void server::engine::serve_other_server(wire::data_link link) {
    std::shared_ptr<copy_stream> mine_now;
    try {
        std::atomic<double> last_received{0};
        blocking_link conn(std::move(link), last_received);
        const named_descriptor known(*this, conn.descriptor());
        const auto [id, arguments] = detail::next_call(conn);
        const auto leads = [this] {
            const lock hold(mutex);
            return copies.leads();
        };
        if (id == call_id::exchange_norms && clip.squares && is_first() && leads()) {
            const int shard = decode<calls::exchange_norms>(as_bytes(arguments)).shard;
            return clip.squares->serve(shard, conn.link(), [&] { return !leads(); });
        }
        if (id != call_id::follow) return;
        if ((mine_now = serve_follower(conn, decode<calls::follow>(as_bytes(arguments)).note)))
            send_stream(conn.link(), mine_now);
    } catch (const error& e) {
        const lock hold(mutex);
        if (!dynamic_cast<const wire::lost_connection*>(&e)) notes.say(sinter::to_text({"a second copy: ", e.what()}));
    }
    const lock hold(mutex);
    if (!mine_now || copies.stream() != mine_now || ending.is_stopping()) return;
    copies.lose_follower(base::monotonic_seconds());   // until the chief says who goes on
    notify_operator("the second copy of its part is lost");
    changed_view();
}
/// The stream of what comes, once the follower has been sent all that there is. Null: it may not
/// follow.
SINTER_COLD inline std::shared_ptr<copy_stream> server::engine::serve_follower(blocking_link& conn,
                                                                               const copy_note& theirs) {
    bool yes = false;
    std::uint64_t seen = 0;
    std::string mine;
    {
        const lock hold(mutex);
        yes = copies.may_be_followed(theirs) && !ending.is_stopping();
        if (yes) copies.begin_copying();
        seen = copies.view();
        mine = wire::archived(copies.note());
    }
    struct no_longer_copying {
        engine& e;
        bool held;
        ~no_longer_copying() {
            if (!held) return;
            const lock hold(e.mutex);
            e.copies.end_copying();
            for (worker& k : e.workers)   // who waited for this was not read
                if (k.last_received < 1e200) k.last_received = base::monotonic_seconds();
        }
    } const over{*this, yes};
    wire::frame_tag t;
    t.operation = copied::answer;
    t.step = yes;
    conn.send(t, as_bytes(mine));
    if (!yes) return {};
    const std::unique_lock alone(gate);
    send_all(conn);
    const lock hold(mutex);
    if (copies.view() != seen || ending.is_stopping()) return {};
    const std::shared_ptr<copy_stream> made = copies.begin_epoch_with_follower();
    for (int w = 0; w < who.size(); ++w)
        for (auto& p : workers.at(w).staged)
            if (p->number != 0 && all_clocks.waits(w, p->clock))
                made->add_push(w, p->incarnation, p->block(), *p, memory.layout(), copied_push::staged);
    send_state();
    if (clip.norm.clock == all_clocks.applied()) send_joining(clip.norm);   // others may have got it
    wire::frame_tag ready;
    ready.step = static_cast<std::int64_t>(copies.epoch());
    made->add(copied::ready, ready);
    changed_view();
    return made;
}

/// Sends what there is until the follower is gone (an error), or is this leader's no longer.
SINTER_COLD inline void server::engine::send_stream(wire::data_link& link, const std::shared_ptr<copy_stream>& of) {
    const double every = who.options.heartbeat_every(), dead_after = who.options.dead_after;
    copy_stream::record out;
    bool sending = false, receiving = false, waits = false, other_ends = false;
    std::uint64_t taken = 0;
    double last_sent = base::monotonic_seconds(), last_received = last_sent;
    for (;;) {
        bool idle = true;
        if (!sending) {
            const lock hold(mutex);
            if (copies.stream() != of) return;
            if (ending.is_stopping() && copies.stream()->has(copies.stream()->added())) return;
            const double now = base::monotonic_seconds();
            if (!copies.stream()->has(copies.stream()->added()) && waits && now - last_received > dead_after)
                throw error("the follower does not answer", "parameter_servers::server");
            if (std::exchange(waits, !copies.stream()->has(copies.stream()->added())) != waits) last_received = now;
            if (copies.stream()->next(out)) {
                sending = true;
            } else if (now - last_sent > every) {
                out.tag = {};
                out.tag.operation = static_cast<std::uint32_t>(frame_type::heartbeat);
                out.bytes.clear();
                sending = true;
            }
            if (sending) link.send(out.tag, out.bytes), last_sent = now;
        }
        if (sending && link.flush()) sending = idle = false;
        if (!receiving)
            if (const wire::frame_header* h = link.next()) {
                if (h->tag.operation != copied::answer || h->bytes != 0)
                    throw error("a message that was not asked for", "parameter_servers::server");
                taken = static_cast<std::uint64_t>(h->tag.step);
                other_ends = h->tag.bucket != 0;
                link.receive(h->tag, {});
                receiving = true;
            }
        if (receiving && link.fill()) {
            receiving = idle = false;
            const lock hold(mutex);
            if (copies.stream() != of) return;
            if (!copies.stream()->take(taken))
                throw error("an answer that makes no sense", "parameter_servers::server");
            last_received = base::monotonic_seconds();
            if (other_ends) progress.end_soon();
            changed.notify_all();
        }
        if (!idle || link.has_more()) continue;
        const auto wants = static_cast<short>(POLLIN | (sending ? POLLOUT : 0));
        pollfd both[] = {{link.descriptor(), wants, 0}, {of->wake(), POLLIN, 0}};
        ::poll(both, sending ? 1 : 2, static_cast<int>(every * 250) + 1);
    }
}

} // namespace sinter::parameter_servers
