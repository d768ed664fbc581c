// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/service_client.hpp>
#include <sinter/parameter_server/server/serving.hpp>

/// Shards that two servers keep (parameter_server/copies.hpp): a leader tells its follower of all that
/// changes, in the order in which it happens, and the follower does the same.
namespace sinter::inline SINTER_TARGET::sharded {

/// A connection that ends when this server does.
struct server::engine::named_descriptor {
    named_descriptor(engine& e, int d) : e_(e), d_(d) {
        const lock hold(e_.mutex);
        e_.others.push_back(d_);
        if (e_.stopping) ::shutdown(d_, SHUT_RDWR);
    }
    ~named_descriptor() {
        const lock hold(e_.mutex);
        std::erase(e_.others, d_);
    }
    named_descriptor(const named_descriptor&) = delete;
    named_descriptor& operator=(const named_descriptor&) = delete;

private:
    engine& e_;
    int d_;
};

inline int server::engine::number_of_shard(const cluster& c, bool other) {
    const int n = static_cast<int>(c.servers().size());
    return other ? (c.self().index + n - 1) % n : c.self().index;
}
inline void server::engine::begin_copies(bool is_other) {
    const auto refuse = [&](const char* what, const std::string& got, const char* needed) {
        throw option_error(what, "a parameter server's replicas", got, needed);
    };
    if (options.replicas != 1 && options.replicas != 2)
        refuse("no number of copies of a shard", std::to_string(options.replicas), "1 or 2");
    if (!replicated()) return;
    if (who.servers().size() < 2) refuse("one server cannot keep shards twice", "replicas = 2", "2 or more servers");
    if (!is_other && !options.other)
        refuse("the shard of which this server has the second copy is not said", "none", "server_options::other");
    part = copy_role::waiting;
    for (worker& k : workers) {
        k.incoming = std::make_unique<staged_push>(memory.layout());
        if (order.mode == update_mode::clocks)
            for (std::int64_t i = 0; i <= order.staleness; ++i)
                k.staged.push_back(std::make_unique<staged_push>(memory.layout()));
    }
}
inline void server::engine::make_other(const wire::identity& same) {
    server_options o = options;
    const std::shared_ptr<other_shard> of = std::move(o.other);
    o.first_row = of->first_row;
    o.report = nullptr;
    other = std::make_unique<engine>(who, same, of->layout, std::move(of->update), scalars, std::move(o), true);
}

inline copy_note server::engine::note() const { return {epoch, part, stream != nullptr}; }

/// Under the mutex: whoever is served must ask again who leads.
inline void server::engine::changed_view() {
    ++view;
    if (part != copy_role::leading) stream.reset();
    hang_up_on_workers();
    changed.notify_all();
}

// ---- Connections

/// The first question on a connection says which shard it is about.
inline void server::engine::serve_copy(int number, std::uint64_t incarnation, wire::data_link link) {
    engine* of = nullptr;
    try {
        const named_descriptor known(*this, link.descriptor());
        const double until = base::monotonic_seconds() + std::max(1.0, who.options.dead_after);
        const wire::frame_header* h = nullptr;
        while (!(h = link.next())) {
            const double left = until - base::monotonic_seconds();
            if (left <= 0) return;
            pollfd p{link.descriptor(), static_cast<short>(POLLIN | link.wants()), 0};
            if (!link.has_more()) ::poll(&p, 1, static_cast<int>(left * 1000) + 1);
        }
        if (h->tag.operation != static_cast<std::uint32_t>(word::call)) return;
        for (engine* e : {this, other.get()})
            if (e->shard_number == h->tag.bucket) of = e;
    } catch (const error&) {
    }
    if (!of) return;
    if (number >= who.size()) return of->serve_follower(std::move(link));
    bool leads = false;
    {
        const lock hold(of->mutex);
        leads = of->part == copy_role::leading;
    }
    if (leads) of->serve(number, incarnation, std::move(link));
    else of->serve_unled(number, std::move(link));
}

namespace detail {
constexpr std::size_t longest_request = 4096;
/// A call's name and argument.
inline std::pair<std::string, std::string> next_call(conversation& talk) {
    const wire::frame_header h = talk.next();
    if (h.tag.operation != static_cast<std::uint32_t>(word::call) || h.bytes > longest_request ||
        h.tag.elements > h.bytes)
        throw error("a request that a server without workers does not know", "sharded::server");
    std::string all(static_cast<std::size_t>(h.bytes), '\0');
    talk.receive(h, all.data());
    return {all.substr(0, static_cast<std::size_t>(h.tag.elements)),
            all.substr(static_cast<std::size_t>(h.tag.elements))};
}
} // namespace detail

/// A worker that came to a copy that does not lead: it hears so. The chief may tell the copy to lead.
inline void server::engine::serve_unled(int w, wire::data_link link) {
    const named_descriptor known(*this, link.descriptor());
    try {
        std::atomic<double> heard{0};
        conversation talk(std::move(link), heard, 0);
        for (int i = 0; i < 2; ++i) {
            const auto [name, argument] = detail::next_call(talk);
            bool refused = false;
            if (name == "lead") {
                std::uint64_t next = 0;
                wire::archive_reader r(as_bytes(argument));
                r & next;
                refused = w != 0 || !lead(next);
            } else if (name != "join" && name != "rest") {
                return;
            }
            wire::archive_writer text;
            answer_block b;
            b.flags = refused ? std::uint32_t{answer_block::refused} : 0u;
            {
                const lock hold(mutex);
                text & static_cast<std::uint8_t>(has_values) & sums.now() & life;
                note().serialize(text, 0u);
            }
            std::vector<std::byte> bytes(answer_block::bytes + text.bytes().size());
            b.encode(bytes.data());
            std::memcpy(bytes.data() + answer_block::bytes, text.bytes().data(), text.bytes().size());
            wire::frame_tag t;
            t.operation = static_cast<std::uint32_t>(word::answer);
            talk.send(t, bytes);
        }
    } catch (const error&) {   // it has gone, or asks again
    }
}

/// The chief's word: this copy leads from epoch `next` on, alone. False: it cannot.
inline bool server::engine::lead(std::uint64_t next) {
    lock hold(mutex);
    if (part == copy_role::leading && epoch == next) return true;   // told before
    const bool first = part == copy_role::waiting && epoch == 0 && next == 1;
    const bool goes_on = (part == copy_role::following || part == copy_role::cut_off) && next == epoch + 1;
    if (!first && !goes_on) return false;
    if (leader_descriptor >= 0) ::shutdown(leader_descriptor, SHUT_RDWR);
    const copy_role was = part;
    changed.wait(hold, [&] { return leader_descriptor < 0 || stopping; });
    if (stopping || part != was || epoch + 1 != next) return false;
    if (options.files_of) options.files = options.files_of(shard_number);
    if (first) restore();
    saved_step = global_step;
    for (worker& k : workers) {
        k.incoming->clear();
        k.heard = base::monotonic_seconds();
    }
    part = copy_role::leading;
    epoch = next;
    changed_view();
    return true;
}

// ---- The leader's side

/// All values, while nobody changes them.
inline void server::engine::send_all(conversation& talk) {
    const shard_view v = memory.view();
    const auto send = [&](int array, const float* from, std::int64_t n) {
        for (std::int64_t at = 0; at < n; at += floats_of_frame) {
            wire::frame_tag t;
            t.operation = copied::write;
            t.bucket = array;
            t.offset = static_cast<std::uint64_t>(at);
            t.elements = static_cast<std::uint64_t>(std::min(floats_of_frame, n - at));
            talk.send(t, {reinterpret_cast<const std::byte*>(from + at), static_cast<std::size_t>(t.elements) * 4});
        }
    };
    send(0, v.values, memory.layout().floats);
    for (std::size_t k = 0; k < v.slots.size(); ++k) send(static_cast<int>(k) + 1, v.slots[k], memory.layout().floats);
    send(states_array, v.states, memory.layout().states);
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
            talk.send(tag, bytes);
        }
    }
}

/// The other copy's process asks for all that this one has, and for all that comes.
inline void server::engine::serve_follower(wire::data_link link) {
    const named_descriptor known(*this, link.descriptor());
    const copy_stream* own = nullptr;
    try {
        std::atomic<double> heard{0};
        conversation talk(std::move(link), heard, 0);
        const auto [name, argument] = detail::next_call(talk);
        if (name != "follow") return;
        const copy_note theirs = wire::restored<copy_note>(as_bytes(argument));
        bool yes = false;
        std::uint64_t seen = 0;
        std::string mine;
        {
            const lock hold(mutex);
            yes = part == copy_role::leading && !stream && !copying && !stopping && theirs.makes_sense() &&
                  theirs.epoch < std::max<std::uint64_t>(epoch, 1);
            copying = copying || yes;
            seen = view;
            mine = wire::archived(note());
        }
        struct no_longer_copying {
            engine& e;
            bool held;
            void end() {
                if (!std::exchange(held, false)) return;
                const lock hold(e.mutex);
                e.copying = false;
                for (worker& k : e.workers)   // who waited for this was not heard
                    if (k.heard < 1e200) k.heard = base::monotonic_seconds();
            }
            ~no_longer_copying() { end(); }
        } over{*this, yes};
        wire::frame_tag t;
        t.operation = copied::answer;
        t.step = yes;
        talk.send(t, as_bytes(mine));
        if (!yes) return;
        {
            const std::unique_lock alone(gate);
            send_all(talk);
            const lock hold(mutex);
            if (view != seen || stopping) return;
            stream = std::make_unique<copy_stream>();
            own = stream.get();
            for (int w = 0; w < who.size(); ++w)
                for (auto& p : at(w).staged)
                    if (p->number != 0 && turn.waits(w, p->clock)) {
                        commit_block b;
                        b.number = p->number, b.clock = p->clock, b.info = p->info;
                        stream->add_push(w, at(w).incarnation, b, *p, memory.layout(), true);
                    }
            ++epoch;
            stream->add_state(state_text());
            wire::frame_tag ready;
            ready.step = static_cast<std::int64_t>(epoch);
            stream->add(copied::ready, ready);
            was_followed = true;
            changed_view();
        }
        over.end();
        send_stream(talk.link(), own);
    } catch (const error& e) {
        const lock hold(mutex);
        if (!dynamic_cast<const wire::lost_connection*>(&e)) notes.say(sinter::joined({"a second copy: ", e.what()}));
    }
    const lock hold(mutex);
    if (!own || stream.get() != own || stopping) return;
    part = copy_role::cut_off;   // until the chief says who goes on
    changed_view();
}

/// Sends what there is until the follower is gone (an error), or is this leader's no longer.
inline void server::engine::send_stream(wire::data_link& link, const copy_stream* own) {
    const double every = who.options.heartbeat_every(), dead_after = who.options.dead_after;
    copy_stream::record out;
    bool sending = false, receiving = false, waits = false;
    std::uint64_t taken = 0;
    double said = base::monotonic_seconds(), heard = said;
    for (;;) {
        bool idle = true;
        if (!sending) {
            const lock hold(mutex);
            if (stream.get() != own) return;
            if (stopping && stream->has(stream->added())) return;
            const double now = base::monotonic_seconds();
            if (!stream->has(stream->added()) && waits && now - heard > dead_after)
                throw error("the follower does not answer", "sharded::server");
            if (std::exchange(waits, !stream->has(stream->added())) != waits) heard = now;
            if (stream->next(out)) {
                sending = true;
            } else if (now - said > every) {
                out.tag = {};
                out.tag.operation = static_cast<std::uint32_t>(word::heartbeat);
                out.bytes.clear();
                sending = true;
            }
            if (sending) link.send(out.tag, out.bytes), said = now;
        }
        if (sending && link.flush()) sending = idle = false;
        if (!receiving)
            if (const wire::frame_header* h = link.next()) {
                if (h->tag.operation != copied::answer || h->bytes != 0)
                    throw error("a message that was not asked for", "sharded::server");
                taken = static_cast<std::uint64_t>(h->tag.step);
                link.receive(h->tag, {});
                receiving = true;
            }
        if (receiving && link.fill()) {
            receiving = idle = false;
            const lock hold(mutex);
            if (stream.get() != own) return;
            if (!stream->take(taken)) throw error("an answer that makes no sense", "sharded::server");
            heard = base::monotonic_seconds();
            changed.notify_all();
        }
        if (!idle || link.has_more()) continue;
        pollfd p[2] = {{link.descriptor(), static_cast<short>(POLLIN | (sending ? POLLOUT : 0)), 0},
                       {own->wake(), POLLIN, 0}};
        ::poll(p, sending ? 1 : 2, static_cast<int>(every * 250) + 1);
    }
}

/// Under the mutex: what is no value, at this place among the changes.
inline std::string server::engine::state_text() const {
    auto& e = const_cast<engine&>(*this);
    wire::archive_writer w;
    // (What is being applied is told of beforehand where each push is an update, and afterwards by clocks.)
    const std::int64_t steps = order.mode == update_mode::async ? begun : global_step;
    w & steps & static_cast<std::uint8_t>(open) & static_cast<std::uint8_t>(has_values) &
        static_cast<std::uint8_t>(asked) & static_cast<std::uint8_t>(any_left) & open_clock & open_step & stop_reason;
    e.turn.serialize(w, 0u);
    e.tickets.serialize(w, 0u);
    e.sums.serialize(w, 0u);
    for (int i = 0; i < who.size(); ++i) {
        const worker& k = workers[static_cast<std::size_t>(i)];
        push_log::entry l = log.at(i);
        w & static_cast<std::uint8_t>(k.now) & k.applied_number;
        l.serialize(w, 0u);
    }
    return w.bytes();
}

// ---- The follower's side

inline void server::engine::take_state(span<const std::byte> bytes) {
    wire::archive_reader r(bytes);
    std::int64_t steps = 0;
    std::uint8_t flags[4] = {};
    std::vector<push_log::entry> entries;
    r & steps & flags[0] & flags[1] & flags[2] & flags[3] & open_clock & open_step & stop_reason;
    if (steps < 0) throw format_error("makes no sense", "a leader's state");
    global_step = begun = steps;
    open = flags[0] != 0, has_values = flags[1] != 0, asked = flags[2] != 0, any_left = flags[3] != 0;
    turn.serialize(r, 0u);
    tickets.serialize(r, 0u);
    sums.serialize(r, 0u);
    for (worker& k : workers) {
        std::uint8_t now = 0;
        push_log::entry l;
        r & now & k.applied_number;
        l.serialize(r, 0u);
        if (now > static_cast<std::uint8_t>(presence::never_came))
            throw format_error("makes no sense", "a leader's state");
        k.now = static_cast<presence>(now);
        entries.push_back(l);
    }
    r.expect_end();
    log.restore(entries);
}

/// A thread: follows whoever leads this shard, as long as this copy does not.
inline void server::engine::follow() {
    wire::service_client dialler(who, own.same);
    for (;;) {
        {
            lock hold(mutex);
            if (stopping) return;
            if (part == copy_role::leading) {
                changed.wait_for(hold, std::chrono::milliseconds(200));
                continue;
            }
        }
        try {
            follow_once(dialler);
        } catch (const error&) {   // it is gone, or not there yet
        }
        lock hold(mutex);
        if (!stopping) changed.wait_for(hold, std::chrono::milliseconds(50));
    }
}
inline void server::engine::follow_once(wire::service_client& dialler) {
    const int servers = static_cast<int>(who.servers().size()), self = who.self().index;
    const int to = process_of_copy(shard_number, self == shard_number ? 1 : 0, servers);
    std::optional<wire::data_link> link = dialler.dial(to, 0.5);
    if (!link) return;
    const int descriptor = link->descriptor();
    struct connected {
        engine& e;
        ~connected() {
            const lock hold(e.mutex);
            std::erase(e.others, e.leader_descriptor);
            e.leader_descriptor = -1;
            e.linked = base::monotonic_seconds();
            e.changed.notify_all();
        }
    };
    std::string mine;
    {
        const lock hold(mutex);
        if (stopping || part == copy_role::leading) return;
        leader_descriptor = descriptor;
        others.push_back(descriptor);
        mine = wire::archived(note());
    }
    const connected until_the_end{*this};
    std::atomic<double> heard{0};
    conversation talk(std::move(*link), heard, 0);
    wire::frame_tag t;
    t.operation = static_cast<std::uint32_t>(word::call);
    t.elements = 6;
    t.bucket = shard_number;
    mine = "follow" + mine;
    talk.send(t, as_bytes(mine));
    const wire::frame_header h = talk.next();
    if (h.tag.operation != copied::answer || h.bytes > detail::longest_request) return;
    std::string said(static_cast<std::size_t>(h.bytes), '\0');
    talk.receive(h, said.data());
    if (h.tag.step != 1) return;
    {
        lock hold(mutex);
        if (stopping || part == copy_role::leading) return;
        part = copy_role::waiting;   // from here on its values are no whole copy of anything
        changed_view();
        changed.wait(hold, [&] {
            return std::ranges::none_of(workers, [](const worker& k) { return k.served; });
        });
    }
    {
        const std::unique_lock alone(gate);
        memory.forget_rows();
    }
    for (worker& k : workers) k.incoming->clear();
    std::vector<std::byte> scratch(most_frame);
    std::int64_t taken = 0;
    bool counts = false;   // frames since the copy of all values
    for (;;) {
        const wire::frame_header frame = talk.next();
        const auto of = frame.tag.operation;
        counts = counts || (of != copied::write && of != copied::rows && of != static_cast<std::uint32_t>(word::heartbeat));
        const bool is_counted = counts && of != static_cast<std::uint32_t>(word::heartbeat);
        const bool answers = take_copy(talk, frame, scratch);
        taken += is_counted;
        if (!is_counted || !answers) continue;
        wire::frame_tag back;
        back.operation = copied::answer;
        back.step = taken;
        talk.send(back, {});
    }
}
/// Takes in one message. True: its sender waits to hear of it.
inline bool server::engine::take_copy(conversation& talk, const wire::frame_header& h,
                                      std::vector<std::byte>& scratch) {
    const auto slots_of = [&](int table) { return memory.slots_of(static_cast<std::size_t>(table)); };
    if (const char* fault = fault_of_copy(h, memory.layout(), memory.most_slots(), who.size(), slots_of))
        throw error(fault, "a leader's stream");
    const auto elements = static_cast<std::int64_t>(h.tag.elements), offset = static_cast<std::int64_t>(h.tag.offset);
    if (h.tag.operation == copied::gradient) {
        talk.receive(h, at(h.tag.bucket).incoming->dense(offset, elements));
        return false;
    }
    talk.receive(h, scratch.data());
    const span<const std::byte> bytes(scratch.data(), static_cast<std::size_t>(h.bytes));
    switch (h.tag.operation) {
        case copied::sections:
            if (const char* fault = at(h.tag.bucket).incoming->take(bytes)) throw error(fault, "a leader's stream");
            return false;
        case copied::commit: {
            commit_block b;
            if (!b.decode(bytes)) throw error("a commit that makes no sense", "a leader's stream");
            if (const char* fault = at(h.tag.bucket).incoming->fault()) throw error(fault, "a leader's stream");
            take_push(h.tag.bucket, static_cast<std::uint64_t>(h.tag.step), b, elements == 1);
            return true;
        }
        case copied::clock: {
            lock hold(mutex);
            if (order.mode != update_mode::clocks || h.tag.step != turn.applied())
                throw error("a clock that is not the next", "a leader's stream");
            apply_clock(hold);
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
        case copied::state: {
            const lock hold(mutex);
            take_state(bytes);
            return true;
        }
        case copied::ready: {
            memory.end_of_rows();
            const lock hold(mutex);
            part = copy_role::following;
            epoch = static_cast<std::uint64_t>(h.tag.step);
            return true;
        }
        case copied::end: {
            const lock hold(mutex);
            told_end = true;
            changed.notify_all();
            return true;
        }
        default: return false;   // a heartbeat
    }
}
inline void server::engine::restore_rows(std::size_t table, std::int64_t n, const std::byte* from) {
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
inline void server::engine::take_push(int w, std::uint64_t incarnation, const commit_block& b, bool only_staged) {
    worker& k = at(w);
    staged_push& p = *k.incoming;
    p.info = b.info;
    p.info.finite = b.info.finite && std::isfinite(b.info.loss);
    p.number = b.number;
    p.clock = b.clock;
    lock hold(mutex);
    k.incarnation = incarnation;
    if (order.mode == update_mode::async) {
        const bool taken = log.take(w, incarnation, b.number);
        if (!taken || !p.info.finite) {
            k.counters.not_finite += taken;
            return p.clear();
        }
        tickets.give_back(w);
        const std::int64_t step = begun++;
        scalars(step, p.info.rate, scalar_values.data());
        hold.unlock();
        const changing_values changing(*this);
        apply_push(p, step, scalar_values.data(), nullptr);
        hold.lock();
        ++global_step;
        ++k.counters.applied;
        return p.clear();
    }
    const auto slot = static_cast<std::size_t>(b.clock % (order.staleness + 1));
    if (!only_staged) {
        if (!log.take(w, incarnation, b.number)) return p.clear();
        if (turn.push(w, b.clock) != clocks::verdict::taken) {
            ++k.counters.dropped;
            k.applied_number = b.number;
            return p.clear();
        }
    }
    ++k.counters.staged;
    std::swap(k.incoming, k.staged[slot]);
    k.incoming->clear();
}

/// Serves both shards of this process until both are over. A copy that does not lead has nothing left to
/// wait for soon after the other shard is over.
inline void server::engine::serve_both() {
    std::exception_ptr fault;
    std::atomic<int> over{0};
    const auto serve_one = [&](engine& e, engine& beside) {
        try {
            e.serve_until_the_end();
        } catch (...) {
            if (!fault) fault = std::current_exception();
        }
        over += 1;
        lock hold(beside.mutex);
        const double until = base::monotonic_seconds() + 3;
        while (over < 2 && base::monotonic_seconds() < until)
            beside.changed.wait_for(hold, std::chrono::milliseconds(50));
        if (beside.part == copy_role::leading) return;
        beside.stopping = true;
        beside.changed.notify_all();
    };
    base::posix_thread second([&] { serve_one(*other, *this); });
    serve_one(*this, *other);
    second.join();
    if (fault) std::rethrow_exception(fault);
}

/// Under the mutex, where this copy does not lead: whether it has nothing to wait for any more.
inline bool server::engine::is_done_unled(double now) const {
    return told_end || (leader_descriptor < 0 && now - linked > who.options.join_within + who.options.dead_after);
}

} // namespace sinter::sharded
