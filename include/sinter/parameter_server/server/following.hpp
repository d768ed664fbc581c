// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/service_client.hpp>
#include <sinter/parameter_server/server/copies.hpp>

/// The copy that follows: it does what its leader does, in the same order.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A thread: follows whoever leads this shard, as long as this copy does not.
SINTER_COLD inline void server::engine::follow() {
    wire::service_client dialler(who, listening.greeting.same);
    for (;;) {
        {
            const lock hold(mutex);
            if (ending.is_stopping()) return;
            if (copies.leads()) {
                changed.wait_for(mutex, 0.2);
                continue;
            }
        }
        try {
            follow_once(dialler);
        } catch (const error&) {   // it is gone, or not there yet
        }
        const lock hold(mutex);
        if (!ending.is_stopping()) changed.wait_for(mutex, 0.05);
    }
}
SINTER_COLD inline void server::engine::follow_once(wire::service_client& dialler) {
    const int servers = static_cast<int>(who.servers().size()), self = who.self().index;
    const int to = process_of_copy(shard_number, self == shard_number ? 1 : 0, servers);
    // (On a busy machine a handshake takes its time, and nobody waits for this thread.)
    std::optional<wire::data_link> link = dialler.dial(to, std::max(2.0, who.options.dead_after));
    if (!link) return;
    std::atomic<double> last_received{0};
    blocking_link conn(std::move(*link), last_received);
    struct connected {
        engine& e;
        bool leads = false;   // the other copy, as it answered
        ~connected() {
            const lock hold(e.mutex);
            e.copies.disconnect(base::monotonic_seconds(), leads);
            e.changed.notify_all();
        }
    };
    std::string mine;
    {
        const lock hold(mutex);
        if (ending.is_stopping() || copies.leads()) return;
        copies.connect(conn.descriptor());
        mine = encode(calls::follow{copies.note()});
    }
    connected until_the_end{*this};
    wire::frame_tag t;
    t.operation = static_cast<std::uint32_t>(frame_type::call);
    t.elements = static_cast<std::uint64_t>(call_id::follow);
    t.bucket = shard_number;
    conn.send(t, as_bytes(mine));
    const wire::frame_header h = conn.next();
    if (h.tag.operation != copied::answer || h.bytes > detail::longest_request) return;
    std::string answer(static_cast<std::size_t>(h.bytes), '\0');
    conn.receive(h, answer.data());
    if (h.tag.step != 1) return;
    until_the_end.leads = true;
    {
        const lock hold(mutex);
        if (ending.is_stopping() || copies.leads()) return;
        copies.wait_to_follow();   // from here on its values are no whole copy of anything
        changed_view();
        // An update that another thread began before is over, or given up: then its state is as the
        // leader's next words will find it, and it looks at `norm` no more.
        changed.wait(mutex, [&]() SINTER_REQUIRES(mutex) {
            return ending.is_stopping() || (!applying && !workers.any_served());
        });
        if (ending.is_stopping()) return;
    }
    {
        const std::unique_lock alone(gate);
        const lock hold(mutex);
        memory.forget_rows();
        for (worker& k : workers) k.incoming->clear();
        clip.norm = {};
    }
    std::vector<std::byte> scratch(most_frame);
    std::int64_t taken = 0;
    bool counts = false;   // frames since the copy of all values
    for (;;) {
        const wire::frame_header frame = conn.next();
        const auto of = frame.tag.operation;
        const bool beat = of == static_cast<std::uint32_t>(frame_type::heartbeat);
        counts = counts || (of != copied::write && of != copied::rows && !beat);
        const bool is_counted = counts && !beat;
        const bool answers = take_copy(conn, frame, scratch);
        taken += is_counted;
        if (!is_counted || !answers) continue;
        wire::frame_tag back;
        back.operation = copied::answer;
        back.step = taken;
        {
            const lock hold(mutex);
            back.bucket = progress.ends_soon();
        }
        conn.send(back, {});
    }
}
/// Takes in one message. True: its sender waits for an acknowledgement.
SINTER_COLD inline bool server::engine::take_copy(blocking_link& conn, const wire::frame_header& h,
                                                  std::vector<std::byte>& scratch) {
    const auto slots_of = [&](int table) { return memory.slots_of(static_cast<std::size_t>(table)); };
    if (const char* fault = fault_of_copy(h, memory.layout(), memory.most_slots(), who.size(), slots_of))
        throw error(fault, "a leader's stream");
    const auto elements = static_cast<std::int64_t>(h.tag.elements), offset = static_cast<std::int64_t>(h.tag.offset);
    if (h.tag.operation == copied::gradient) {
        conn.receive(h, at(h.tag.bucket).incoming->dense(offset, elements));
        return false;
    }
    conn.receive(h, scratch.data());
    const span<const std::byte> bytes(scratch.data(), static_cast<std::size_t>(h.bytes));
    switch (h.tag.operation) {
        case copied::sections:
            if (const char* fault = at(h.tag.bucket).incoming->take(bytes)) throw error(fault, "a leader's stream");
            return false;
        case copied::commit: {
            commit_block b;
            if (!b.decode(bytes)) throw error("a commit that makes no sense", "a leader's stream");
            if (!has_phase(b.info.phase))
                throw error("a push of a phase that this job does not have", "a leader's stream");
            at(h.tag.bucket).incoming->describe(b);
            if (const char* fault = at(h.tag.bucket).incoming->fault()) throw error(fault, "a leader's stream");
            take_push(h.tag.bucket, static_cast<std::uint64_t>(h.tag.step), b, static_cast<copied_push>(elements));
            return true;
        }
        case copied::clock: {
            const lock hold(mutex);
            if (options.order.mode != update_mode::clocks || h.tag.step != all_clocks.applied())
                throw error("a clock that is not the next", "a leader's stream");
            progress.raise_version(elements);
            apply_clock(clip.norm.clock == h.tag.step ? clip.norm.of : shared_squares::everybody,
                        std::bit_cast<float>(static_cast<std::uint32_t>(h.tag.offset)));
            return true;
        }
        case copied::joining: return take_joining({h.tag.step, elements, h.tag.offset, {}}), true;
        case copied::norm: {
            std::vector<float> total(static_cast<std::size_t>(elements));
            std::memcpy(total.data(), bytes.data(), bytes.size());
            if (!clip.squares) throw error("a norm that nobody is clipped by", "a leader's stream");
            clip.squares->know(h.tag.step, std::move(total));
            return true;
        }
        case copied::write: {
            if (!memory.has(h.tag.bucket) || offset % memory.unit(h.tag.bucket) != 0 ||
                elements % memory.unit(h.tag.bucket) != 0)
                throw error("an array that this server does not have", "a leader's stream");
            aligned_floats x(elements);
            std::memcpy(x.data(), bytes.data(), bytes.size());
            const changing_values changing(*this);
            memory.write(h.tag.bucket, offset, {x.data(), static_cast<std::size_t>(elements)});
            return true;
        }
        case copied::rows: return restore_rows(static_cast<std::size_t>(h.tag.bucket), elements, bytes.data()), false;
        case copied::put_rows: {
            const changing_values changing(*this);
            put_rows(decode<table_rows>(bytes));
            return true;
        }
        case copied::load: {
            if (!options.files_in) throw error("files that this server does not read", "a leader's stream");
            const changing_values changing(*this);
            load_tables(decode<calls::load_tables>(bytes));
            return true;
        }
        case copied::forget: {
            const changing_values changing(*this);
            memory.forget_rows(static_cast<std::size_t>(h.tag.bucket));
            return true;
        }
        case copied::state: {
            const lock hold(mutex);
            take_state(bytes);
            return true;
        }
        case copied::ready: {
            memory.end_of_rows();
            const lock hold(mutex);
            copies.follow(static_cast<std::uint64_t>(h.tag.step));
            return true;
        }
        case copied::end: {
            const lock hold(mutex);
            copies.end();
            changed.notify_all();
            return true;
        }
        default: return false;   // a heartbeat
    }
}
SINTER_COLD inline void server::engine::restore_rows(std::size_t table, std::int64_t n, const std::byte* from) {
    const auto width = static_cast<std::int64_t>(memory.layout().tables[table].row_floats);
    const int slots = memory.slots_of(table);
    aligned_floats x(width * (1 + slots));
    std::vector<const float*> slot;
    for (int k = 0; k < slots; ++k) slot.push_back(x.data() + (k + 1) * width);
    for (std::int64_t r = 0; r < n; ++r, from += copied_row_bytes(static_cast<int>(width), slots)) {
        const auto key = wire::detail::get<std::int64_t>(from), step = wire::detail::get<std::int64_t>(from + 8);
        const std::int64_t rows = memory.layout().tables[table].rows;
        if ((rows >= 0 && (key < 0 || key >= rows)) || step < 0)
            throw error("a row that the table does not have", "a leader's stream");
        std::memcpy(x.data(), from + 16, static_cast<std::size_t>(width * (1 + slots)) * 4);
        memory.restore_row(table, key, step, x.data(), slot.data());
    }
}
/// What a leader does with a push (server_session::commit), as it did it.
inline void server::engine::take_push(int w, std::uint64_t incarnation, const commit_block& b, copied_push what) {
    worker& k = at(w);
    staged_push& p = *k.incoming;
    lock hold(mutex);
    k.incarnation = incarnation;
    if (options.order.mode == update_mode::async) {
        const bool taken = log.take(w, incarnation, b.number), late = what == copied_push::late;
        tickets.give_back(w);
        if (!taken || late || !p.info.finite) {
            k.counters.dropped += taken && late, k.counters.outdated += taken && late;
            k.counters.not_finite += taken && !late;
            return p.clear();
        }
        const std::int64_t step = progress.begun();
        const int phase = p.info.phase;
        begin_update(phase, p.info.rate, work.scalar_values.data());
        hold.unlock();
        const changing_values changing(*this);
        apply_push(p, step, work.scalar_values.data(), nullptr);
        hold.lock();
        progress.end_update(phase);
        ++k.counters.applied;
        return p.clear();
    }
    if (what != copied_push::staged && !log.take(w, incarnation, b.number)) return p.clear();
    together.give(b.clock);
    if (what == copied_push::late) {
        all_clocks.pass(w, b.clock);
        ++k.counters.dropped;
        k.applied_number = b.number;
        return p.clear();
    }
    if (what == copied_push::taken && take_push(w, b.clock) != clocks::verdict::taken)
        throw error("a push of a clock that takes no more", "a leader's stream");
    ++k.counters.staged;
    k.incoming->incarnation = incarnation;
    std::swap(k.incoming, k.staged[slot_of(b.clock)]);
    k.incoming->clear();
}

/// Where this copy does not lead: whether it has nothing to wait for any more. Without a leader to
/// follow, as where it led and has lost its follower, it does not wait for the chief's word for ever: a chief that was
/// started again meanwhile can give none, however often workers ask.
SINTER_COLD inline bool server::engine::is_done_unled(double now) const {
    return copies.is_done_unled(now, who.options.join_within + who.options.dead_after);
}
/// Where is_done_unled(): workers ask for this part, and nobody leads it. The job cannot go on, though
/// this process may lead the other part.
SINTER_COLD inline bool server::engine::is_led_by_nobody(double now) const {
    return copies.is_led_by_nobody(now, who.options.dead_after + 1);
}

} // namespace sinter::parameter_servers
