// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/serving.hpp>

/// Shards that two servers keep (parameter_server/copies.hpp): a leader tells its follower of all
/// that changes, in the order in which it happens, and the follower does the same.
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
    for (worker& k : workers) prepare(k);
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
    if (number >= who.size()) return of->serve_other_server(std::move(link));
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

/// A worker that came to a copy that does not lead: it hears so. The chief may tell the copy to
/// lead.
inline void server::engine::serve_unled(int w, wire::data_link link) {
    try {
        std::atomic<double> heard{0};
        conversation talk(std::move(link), heard);
        const named_descriptor known(*this, talk.descriptor());
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
            std::string text;
            answer_block b;
            b.flags = refused ? std::uint32_t{answer_block::refused} : 0u;
            {
                const lock hold(mutex);
                text = about_text();
                asked_unled = base::monotonic_seconds();
            }
            std::vector<std::byte> bytes(answer_block::bytes + text.size());
            b.encode(bytes.data());
            std::memcpy(bytes.data() + answer_block::bytes, text.data(), text.size());
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
    const copy_role was = part;
    changed.wait(hold, [&] {   // the follower's thread may have dialled once more meanwhile
        if (leader_descriptor >= 0) ::shutdown(leader_descriptor, SHUT_RDWR);
        return (leader_descriptor < 0 && !applying) || stopping;
    });
    if (stopping || part != was || epoch + 1 != next) return false;
    try {
        if (options.files_of && part != copy_role::cut_off)   // which has its own, and may be writing
            options.files = options.files_of(shard_number);
        if (first) restore();
    } catch (const error& e) {   // it would be the same again: whoever dials this server hears why it ends
        fail_held(about_self("restoring its checkpoint", e.what()));
        throw;
    }
    all_clocks.close(norm.clock == all_clocks.applied());   // one that was being applied goes on as it was
    for (worker& k : workers) {
        k.incoming->clear();
        k.heard = base::monotonic_seconds();
    }
    part = copy_role::leading;
    epoch = next;
    if (!first) tell(sinter::joined({"leads part ", shard_number, " of the parameters from now on, ",
                                     was == copy_role::cut_off ? "without a second copy" : "which it had the second "
                                                                                           "copy of"}));
    changed_view();
    return true;
}

constexpr const char* a_leaders_state = "a leader's state";
/// All state besides values, by an archive that writes or reads it.
template <class Archive>
void server::engine::serialize_state(Archive& a) {
    a & open_clock & open_step & opened_by & openings & stop_reason & version;
    a & save_agreed & saved_agreed & saved_step & saved_as & saves_to_come & save_made & save_told;
    a & saved_by_steps & named_at & end_clock;
    for (bool* const flag : {&open, &has_values, &asked, &any_left, &renewing, &ends_named}) {
        auto f = static_cast<std::uint8_t>(*flag);
        a & f;
        *flag = f != 0;
    }
    all_clocks.serialize(a, 0u);
    tickets.serialize(a, 0u);
    if constexpr (requires { a.bytes(); }) sums.write_last(a);
    else sums.read_last(a);
    together.serialize(a, 0u);
    for (worker& k : workers) {
        auto now = static_cast<std::uint8_t>(k.now);
        a & now & k.applied_number & k.incarnation;
        check_number(now, 0, "no presence of a worker's", a_leaders_state, static_cast<int>(presence::never_came));
        k.now = static_cast<presence>(now);
    }
}
/// Of the state that another copy has sent, before any of it is used.
inline void server::engine::check_state() const {
    const auto check = [](const char* what, std::initializer_list<std::int64_t> all, std::int64_t least = 0) {
        for (const std::int64_t n : all) check_number(n, least, what, a_leaders_state);
    };
    check("no number of clocks", {open_clock, end_clock});
    check("no global step", {global_step, open_step, saved_step, saved_by_steps, named_at});
    check("no number of overwritings", {version});
    check("no step to save as", {save_agreed, saved_agreed, save_made, save_told});
    check("no step to save as", {saved_as}, -1);
    for (const std::int64_t n : made_of) check("no number of updates of a loss", {n});
    check_number(static_cast<std::int64_t>(saves_to_come.size()), 0, "saves to make", a_leaders_state, 1 << 16);
    std::int64_t before = saved_agreed;   // each has a later name than the one before it
    for (const std::int64_t n : saves_to_come)
        check_number(n, before + 1, "no step to save as after the one before", a_leaders_state, save_agreed),
            before = n;
    all_clocks.check(a_leaders_state);
    tickets.check(workers.size(), a_leaders_state);
    together.check(a_leaders_state);
}
/// Under the mutex: what is no value, at this place among the changes.
inline std::string server::engine::state_text() {
    wire::archive_writer w;
    // (What is being applied is told of beforehand where each push is an update, and afterwards by
    // clocks.)
    const bool async = order.mode == update_mode::async;
    w & (async ? begun : global_step) & (async ? begun_of : made_of);
    serialize_state(w);
    for (push_log::entry l : log.entries()) l.serialize(w, 0u);
    return w.bytes();
}
/// Takes in what another copy says, all of it or nothing. Throws format_error where it makes no
/// sense.
inline void server::engine::take_state(span<const std::byte> bytes) {
    const auto take = [this](span<const std::byte> from) {
        wire::archive_reader r(from);
        std::int64_t steps = 0;
        std::vector<std::int64_t> phases;
        r & steps & phases;
        const auto n = static_cast<std::int64_t>(made_of.size());
        check_number(static_cast<std::int64_t>(phases.size()), n, "another number of losses", a_leaders_state, n);
        global_step = begun = steps;
        made_of = begun_of = phases;
        serialize_state(r);
        std::vector<push_log::entry> entries(workers.size());
        for (push_log::entry& l : entries) l.serialize(r, 0u);
        r.expect_end();
        check_state();
        together.note_what_was_read();
        log.restore(entries);
    };
    const std::string before = state_text();
    try {
        take(bytes);
    } catch (const error&) {   // no half of it: this copy may come to lead
        take(as_bytes(before));
        throw;
    }
}
/// Under the mutex: the follower is to know, before what comes next.
inline void server::engine::tell_state() {
    if (stream) stream->add_state(state_text());
}

/// Serves both shards of this process until both are over. A copy that does not lead has nothing
/// left to wait for soon after the other shard is over.
inline void server::engine::serve_both() {
    std::mutex of_fault;
    std::exception_ptr fault;
    std::atomic<int> over{0};
    const auto serve_one = [&](engine& e, engine& beside) {
        try {
            e.serve_until_the_end();
        } catch (...) {
            const std::lock_guard hold(of_fault);
            if (!fault) fault = std::current_exception();
        }
        over += 1;
        std::optional<cluster_error> its_failure;
        {
            const lock hold(e.mutex);
            its_failure = e.failure;
        }
        lock hold(beside.mutex);
        if (its_failure) beside.fail_held(*its_failure);   // the job has ended, also for the other part of this process
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

} // namespace sinter::sharded
