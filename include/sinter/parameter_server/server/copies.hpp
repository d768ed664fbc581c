// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/serving.hpp>

/// Shards that two servers keep (parameter_server/copies.hpp): a leader sends its follower all
/// that changes, in the order in which it happens, and the follower does the same.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A connection that ends when this server does.
struct server::engine::named_descriptor {
    named_descriptor(engine& e, int d) : e_(e), d_(d) {
        const lock hold(e_.mutex);
        e_.copies.add_connection(d_);
        if (e_.ending.is_stopping()) ::shutdown(d_, SHUT_RDWR);
    }
    ~named_descriptor() {
        const lock hold(e_.mutex);
        e_.copies.remove_connection(d_);
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
        refuse("the shard of which this server has the second copy is not given", "none", "server_options::other");
    copies.begin_twice();
    for (worker& k : workers) prepare(k);
}
inline void server::engine::make_other(const wire::identity& same) {
    server_options o = options;
    const std::shared_ptr<other_shard> of = std::move(o.other);
    o.first_row = of->first_row;
    o.report = nullptr;
    other = std::make_unique<engine>(who, same, of->layout, std::move(of->update), work.scalars, std::move(o), true);
}

/// Whoever is served must ask again who leads.
inline void server::engine::changed_view() {
    hang_up_on_workers();
    changed.notify_all();
}

// ---- Connections

/// The first request on a connection says which shard it is about.
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
        if (h->tag.operation != static_cast<std::uint32_t>(frame_type::call)) return;
        for (engine* e : {this, other.get()})
            if (e->shard_number == h->tag.bucket) of = e;
    } catch (const error&) {
    }
    if (!of) return;
    if (number >= who.size()) return of->serve_other_server(std::move(link));
    bool leads = false;
    {
        const lock hold(of->mutex);
        leads = of->copies.leads();
    }
    if (leads) of->serve(number, incarnation, std::move(link));
    else of->serve_unled(number, std::move(link));
}

namespace detail {
constexpr std::size_t longest_request = 4096;
/// A call and its arguments.
inline std::pair<call_id, std::string> next_call(blocking_link& conn) {
    const wire::frame_header h = conn.next();
    if (h.tag.operation != static_cast<std::uint32_t>(frame_type::call) || h.bytes > longest_request ||
        h.tag.elements > last_call)
        throw error("a request that a server without workers does not know", "parameter_servers::server");
    std::string arguments(static_cast<std::size_t>(h.bytes), '\0');
    conn.receive(h, arguments.data());
    return {static_cast<call_id>(h.tag.elements), std::move(arguments)};
}
} // namespace detail

/// A worker that came to a copy that does not lead: it is answered so. The chief may make the copy
/// lead.
SINTER_COLD inline void server::engine::serve_unled(int w, wire::data_link link) {
    try {
        std::atomic<double> last_received{0};
        blocking_link conn(std::move(link), last_received);
        const named_descriptor known(*this, conn.descriptor());
        for (int i = 0; i < 2; ++i) {
            const auto [id, arguments] = detail::next_call(conn);
            bool refused = false;
            if (id == call_id::lead)
                refused = w != 0 || !lead(decode<calls::lead>(as_bytes(arguments)).epoch);
            else if (id != call_id::join && id != call_id::join_resting)
                return;
            std::string text;
            answer_block b;
            b.flags = refused ? std::uint32_t{answer_block::refused} : 0u;
            {
                const lock hold(mutex);
                text = about_text();
                copies.asked(base::monotonic_seconds());
            }
            std::vector<std::byte> bytes(answer_block::bytes + text.size());
            b.encode(bytes.data());
            std::memcpy(bytes.data() + answer_block::bytes, text.data(), text.size());
            wire::frame_tag t;
            t.operation = static_cast<std::uint32_t>(frame_type::answer);
            conn.send(t, bytes);
        }
    } catch (const error&) {   // it has gone, or asks again
    }
}

/// The chief's word: this copy leads from epoch `next` on, alone. False: it cannot.
inline bool server::engine::lead(std::uint64_t next) {
    const lock hold(mutex);
    if (copies.leads() && copies.epoch() == next) return true;   // made so before
    if (!copies.may_lead(next)) return false;
    const bool first = copies.is_first_of_all(next);
    const copy_role was = copies.role();
    changed.wait(mutex, [&]() SINTER_REQUIRES(mutex) {   // the follower's thread may have dialled once more meanwhile
        if (copies.leader_connection() >= 0) ::shutdown(copies.leader_connection(), SHUT_RDWR);
        return (copies.leader_connection() < 0 && !applying) || ending.is_stopping();
    });
    if (ending.is_stopping() || copies.role() != was || copies.epoch() + 1 != next) return false;
    try {
        if (options.files_of && was != copy_role::cut_off)   // which has its own, and may be writing
            options.files = options.files_of(shard_number);
        if (first) restore();
    } catch (const error& e) {   // it would be the same again: whoever dials this server gets the reason
        fail_held(about_self("restoring its checkpoint", e.what()));
        throw;
    }
    all_clocks.close(clip.norm.clock == all_clocks.applied());   // one that was being applied goes on as it was
    for (worker& k : workers) {
        k.incoming->clear();
        k.last_received = base::monotonic_seconds();
    }
    copies.lead(next);
    if (!first) notify_operator(sinter::to_text({"leads part ", shard_number, " of the parameters from now on, ",
                                     was == copy_role::cut_off ? "without a second copy" : "which it had the second "
                                                                                           "copy of"}));
    changed_view();
    return true;
}

constexpr const char* a_leaders_state = "a leader's state";
/// All state besides values, by an archive that writes or reads it.
template <class Archive>
void server::engine::serialize_state(Archive& a) {
    bool any_left = workers.any_left();
    progress.serialize(a);
    saves.serialize(a);
    progress.serialize_flags(a, any_left);
    workers.set_any_left(any_left);
    saves.serialize_end(a);
    all_clocks.serialize(a, 0u);
    tickets.serialize(a, 0u);
    if constexpr (requires { a.bytes(); }) sums.write_last(a);
    else sums.read_last(a);
    together.serialize(a, 0u);
    for (int w = 0; w < workers.size(); ++w) {
        worker& k = workers.at(w);
        auto now = static_cast<std::uint8_t>(k.now());
        a & now & k.applied_number & k.incarnation;
        check_number(now, 0, "no presence of a worker's", a_leaders_state, static_cast<int>(presence::never_came));
        workers.set(w, static_cast<presence>(now));
    }
}
/// Of the state that another copy has sent, before any of it is used.
inline void server::engine::check_state() const {
    progress.check(a_leaders_state);
    saves.check(a_leaders_state);
    all_clocks.check(a_leaders_state);
    tickets.check(static_cast<std::size_t>(workers.size()), a_leaders_state);
    together.check(a_leaders_state);
}
/// What is no value, at this place among the changes.
inline std::string server::engine::state_text() {
    wire::archive_writer w;
    progress.write_steps(w, options.order.mode == update_mode::async);
    serialize_state(w);
    for (push_log::entry l : log.entries()) l.serialize(w, 0u);
    return w.bytes();
}
/// Takes in what another copy says, all of it or nothing. Throws format_error where it makes no
/// sense.
SINTER_COLD inline void server::engine::take_state(span<const std::byte> bytes) {
    const auto take = [this](span<const std::byte> from) SINTER_REQUIRES(mutex) {
        wire::archive_reader r(from);
        progress.read_steps(r, a_leaders_state);
        serialize_state(r);
        std::vector<push_log::entry> entries(static_cast<std::size_t>(workers.size()));
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
/// The follower is to know, before what comes next.
inline void server::engine::send_state() {
    if (copies.stream()) copies.stream()->add_state(state_text());
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
            its_failure = e.ending.failure();
        }
        const lock hold(beside.mutex);
        if (its_failure) beside.fail_held(*its_failure);   // the job has ended, also for the other part of this process
        const double until = base::monotonic_seconds() + 3;
        while (over < 2 && base::monotonic_seconds() < until)
            beside.changed.wait_for(beside.mutex, 0.05);
        if (beside.copies.leads()) return;
        beside.ending.stop();
        beside.changed.notify_all();
    };
    base::posix_thread second([&] { serve_one(*other, *this); });
    serve_one(*this, *other);
    second.join();
    if (fault) std::rethrow_exception(fault);
}

} // namespace sinter::parameter_servers
