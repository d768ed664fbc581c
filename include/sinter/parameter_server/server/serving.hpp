// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/engine.hpp>
/// One worker's requests, by the thread that serves it.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A request that cannot be carried out: its answer says why, and the connection ends.
struct refused_request {
    std::string why;
    bool is_known = false;   // the operator knows of it already
};
/// This server leads the shard no longer, or with another follower: the worker is to ask again.
struct view_changed {};

class server_session {
public:
    server_session(server::engine& e, int w, std::uint64_t incarnation, std::uint64_t view, wire::data_link link)
        : e_(e), k_(e.at(w)), w_(w), incarnation_(incarnation), view_(view),
          conn_(std::move(link), k_.last_received), scratch_(most_frame) {
        scalars_.resize(e.work.scalar_values.size());
    }
    int descriptor() const { return conn_.descriptor(); }
    blocking_link& conn() { return conn_; }

    void run() {
        for (;;) {
            const wire::frame_header h = conn_.next();
            {
                const server::engine::lock hold(e_.mutex);
                if (e_.ending.is_stopping() || k_.incarnation != incarnation_ || e_.copies.view() != view_) return;
            }
            try {
                if (const char* fault = fault_of(h, e_.memory.layout(), e_.memory.most_slots()))
                    throw refused_request{fault};
                carry_out(h);
            } catch (const refused_request& r) {
                if (!r.is_known) {
                    const server::engine::lock hold(e_.mutex);
                    e_.notes.say(to_text({"refused a request of ", conn_.peer().role, ": ", r.why}));
                }
                return refuse(r.why);
            } catch (const error& x) {
                if (dynamic_cast<const cluster_error*>(&x)) throw;   // of the connection itself
                return refuse(x.what());
            }
        }
    }
    /// What the connection has carried since it was asked last.
    void count() {
        k_.counters.bytes_in += std::exchange(conn_.bytes_in, 0);
        k_.counters.bytes_out += std::exchange(conn_.bytes_out, 0);
    }

private:
    using lock = server::engine::lock;
    using fate = answer_info::fate;
    static constexpr auto values_type = static_cast<std::uint32_t>(frame_type::values);
    server::engine& e_;
    server::engine::worker& k_;
    int w_;
    std::uint64_t incarnation_, view_;
    blocking_link conn_;
    std::vector<std::byte> scratch_;
    aligned_floats values_, states_;
    std::int64_t version_ = 0;   // of what is in values_
    double next_report_ = 10;        // report_waiting()
    std::vector<float> scalars_;

    span<const std::byte> payload(const wire::frame_header& h) {
        conn_.receive(h, scratch_.data());
        conn_.work_begins();
        return {scratch_.data(), static_cast<std::size_t>(h.bytes)};
    }

    void carry_out(const wire::frame_header& h) {
        const auto elements = static_cast<std::int64_t>(h.tag.elements);
        const auto offset = static_cast<std::int64_t>(h.tag.offset);
        switch (static_cast<frame_type>(h.tag.operation)) {
            case frame_type::heartbeat: return payload(h), refuse_if_failed();
            case frame_type::gradient: return conn_.receive(h, k_.incoming->dense(offset, elements));
            case frame_type::sections: return take(payload(h));
            case frame_type::rows: {
                const auto table = static_cast<std::size_t>(h.tag.bucket);
                conn_.receive(h, k_.incoming->rows(table, elements));
                if (const char* fault = k_.incoming->take_rows(table, elements)) throw refused_request{fault};
                return;
            }
            case frame_type::commit: return commit(payload(h));
            case frame_type::pull:
                payload(h);
                return pull(static_cast<std::uint32_t>(h.tag.step));
            case frame_type::pull_rows: return pull_rows(h);
            case frame_type::write: {
                const auto bytes = payload(h);
                need_array(h.tag.bucket);
                need_rows(h.tag.bucket, offset, elements);
                values_.reserve(elements);
                std::memcpy(values_.data(), bytes.data(), bytes.size());
                {
                    const auto changing = changes();
                    const span<const float> x(values_.data(), static_cast<std::size_t>(elements));
                    if (e_.replicated()) {
                        lock hold(e_.mutex);
                        need_to_go_on();
                        if (e_.copies.stream()) e_.copies.stream()->add_floats(copied::write, h.tag.bucket, offset, x);
                    }
                    e_.memory.write(h.tag.bucket, offset, x);
                }
                e_.gets_on();
                return answer({});
            }
            case frame_type::read: {
                payload(h);
                need_array(h.tag.bucket);
                read(h.tag.bucket, offset, elements, need_rows(h.tag.bucket, offset, elements));
                return;
            }
            case frame_type::call: return call(static_cast<call_id>(h.tag.elements), payload(h));
            default: throw refused_request{"a request that is not known"};
        }
    }
    void need_array(std::int64_t array) {
        if (!e_.memory.has(array)) throw refused_request{"an array that this server does not have"};
    }
    std::int64_t need_rows(std::int64_t array, std::int64_t first, std::int64_t n) {
        const std::int64_t unit = e_.memory.unit(array);
        if (first % unit != 0 || n % unit != 0) throw refused_request{"parts of rows"};
        return unit;
    }
    void take(span<const std::byte> sections) {
        if (const char* fault = k_.incoming->take(sections)) throw refused_request{fault};
    }

    // ---- Waiting for others
    using awaited = server::engine::awaited;
    /// Returns when done() holds, which is called under the mutex. The worker gets signs of life meanwhile.
    /// It waits for others, who live, for progress_within at most since anything has happened that members wait for.
    template <class Done>
    void wait(Done done, awaited what = awaited::nobody) SINTER_REQUIRES(e_.mutex) {
        const double every = e_.who.options.heartbeat_every(), began = base::monotonic_seconds();
        double next = began + every;
        for (bool first = true;; first = false) {
            need_to_go_on();
            if (holds(done)) {
                if (!first) conn_.work_begins();
                return;
            }
            if (first) {   // answers to requests before this one must not wait with it
                const base::mutex_release away(e_.mutex);
                conn_.work_ends();
                conn_.flush();
                continue;
            }
            const double left = next - base::monotonic_seconds();
            if (left > 0) {
                e_.changed.wait_for(e_.mutex, left + 1e-6);
                continue;
            }
            {
                const base::mutex_release away(e_.mutex);
                conn_.send_wait();
            }
            const double now = base::monotonic_seconds();
            next = now + every;
            if (what != awaited::nobody && now - std::max(began, e_.got_on.load()) > e_.who.options.stuck_after())
                throw refused_request{e_.stuck(what, w_), true};
            report_waiting(what, now - std::max(began, e_.got_on.load()));
        }
    }

    /// (clang does not see that the mutex which a lambda names is this one.)
    template <class Done>
    static bool holds(Done& done) SINTER_NO_THREAD_SAFETY_ANALYSIS {
        return done();
    }
    inline void report_waiting(awaited what, double seconds) SINTER_REQUIRES(e_.mutex);
    /// Throws where this server serves the worker no longer.
    void need_to_go_on() const SINTER_REQUIRES(e_.mutex) {
        if (e_.copies.view() != view_) throw view_changed{};
        if (k_.incarnation != incarnation_) throw view_changed{};   // its place is taken
        if (e_.ending.failure()) throw refused_request{e_.ending.failure()->what(), true};
        if (e_.ending.is_stopping()) throw refused_request{"the server ends", true};
        if (k_.is(server::engine::presence::dead)) throw refused_request{"this worker was taken for dead", true};
    }
    /// For who waits for others without the mutex, now and then: a sign of life to the worker.
    void send_wait() {
        {
            const lock hold(e_.mutex);
            need_to_go_on();
        }
        conn_.send_wait();
    }
    /// Held while values are changed. Others may copy them before.
    server::engine::changing_values changes() {
        return {e_, [this] { send_wait(); }};
    }

    // ---- Answers
    answer_block block_now(bool with_ticket) {
        const lock hold(e_.mutex);
        answer_block b;
        b.info = k_.info;
        b.info.global_step = e_.progress.global_step();
        b.info.clock = e_.all_clocks.next(w_);
        b.info.applied = e_.all_clocks.applied();
        b.version = e_.progress.version();
        if (e_.progress.asked_to_stop()) b.flags |= answer_block::asked_to_stop;
        if (e_.progress.ends_soon()) b.flags |= answer_block::ends_soon;
        if (e_.progress.is_open()) b.flags |= answer_block::open;
        if (e_.is_first() && !k_.is(server::engine::presence::left)) e_.agree_to_save();   // the answer says so
        b.stop_clock = e_.together.stop_clock(), b.files_clock = e_.together.files_clock();
        b.save_clock = e_.together.save_clock(), b.save = e_.together.save();
        if (e_.options.order.mode == update_mode::async && !e_.is_first())
            b.save = e_.saves.newest_made();   // made, not named
        if (with_ticket && e_.is_first() && e_.progress.is_open() && !e_.stops(w_)) {
            const auto t = e_.ask_for_step(w_);
            if (t == step_tickets::answer::yes) b.flags |= answer_block::ticket;
            if (t == step_tickets::answer::no) b.flags |= answer_block::no_more_steps;
        }
        count();
        return b;
    }
    /// `version`: of the values that have been sent, if any have.
    void answer(std::string_view text, bool with_ticket = false, std::uint32_t flags = 0,
                std::optional<std::int64_t> version = {}) {
        answer_block b = block_now(with_ticket);
        b.flags |= flags;
        b.version = version.value_or(b.version);
        b.encode(scratch_.data());
        const std::size_t n = std::min(text.size(), scratch_.size() - answer_block::bytes);
        if (n > 0) std::memcpy(scratch_.data() + answer_block::bytes, text.data(), n);
        send_answer(answer_block::bytes + n, (flags & answer_block::refused) != 0);
    }
    /// All that this server has come to by now is with its follower, too, before an answer shows
    /// it.
    void wait_for_follower() {
        const lock hold(e_.mutex);
        if (e_.copies.stream()) {
            e_.copies.stream()->add_state(e_.state_text());
            const std::uint64_t n = e_.copies.stream()->added();
            wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.copies.stream()->has(n); });
        } else {
            need_to_go_on();
        }
    }
    void send_answer(std::size_t bytes, bool refusal = false) {
        if (e_.replicated() && !refusal) wait_for_follower();
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(frame_type::answer);
        conn_.send_later(t, {scratch_.data(), bytes});
    }
    void refuse(const std::string& why) {
        answer(why, false, answer_block::refused);
        conn_.flush();
    }
    /// Values of the shard that have been copied to values_ and states_.
    void answer_values(std::uint32_t what, std::int64_t floats) {
        const std::int64_t states = (what & pull_flag::states) != 0 ? e_.memory.layout().states : 0;
        if ((what & pull_flag::values) == 0) floats = 0;
        const std::size_t bytes = static_cast<std::size_t>(floats + states) * 4;
        const bool one_frame = bytes <= most_batched;
        if (!one_frame) {
            conn_.send_floats(values_type, 0, values_.data(), floats);
            conn_.send_floats(values_type, states_array, states_.data(), states);
        }
        answer_block b = block_now(true);
        b.version = version_;
        std::size_t n = answer_block::bytes;
        if (one_frame) {
            b.inline_bytes = static_cast<std::uint32_t>(bytes);
            if (floats > 0) std::memcpy(scratch_.data() + n, values_.data(), static_cast<std::size_t>(floats) * 4);
            if (states > 0)
                std::memcpy(scratch_.data() + n + static_cast<std::size_t>(floats) * 4, states_.data(),
                            static_cast<std::size_t>(states) * 4);
            n += bytes;
        }
        b.encode(scratch_.data());
        send_answer(n);
    }
    void reserve_values(std::int64_t n) { values_.reserve(std::max<std::int64_t>(n, 16)); }

    /// Values of an array, all of one version: where the chief has begun to overwrite them meanwhile they are sent
    /// again. The answer says which version, and an older one where that has happened each time.
    void read(std::int64_t array, std::int64_t first, std::int64_t n, std::int64_t unit) {
        const std::int64_t most = std::max<std::int64_t>(1, floats_of_frame / unit) * unit;
        for (int tries = 0; tries < 3; ++tries) {
            {
                lock hold(e_.mutex);
                wait([&]() SINTER_REQUIRES(e_.mutex) { return is_whole(); });
                version_ = e_.progress.version();
            }
            for (std::int64_t at = 0; at < n; at += most) {
                const std::int64_t part = std::min(most, n - at);
                values_.reserve(part);
                conn_.work_begins();
                e_.memory.read(array, first + at, {values_.data(), static_cast<std::size_t>(part)});
                conn_.send_floats(values_type, static_cast<int>(array), values_.data(), part, at);
            }
            const lock hold(e_.mutex);
            if (version_ == e_.progress.version()) break;
        }
        answer({}, false, 0, version_);
    }

    // ---- Pulls
    /// Not while the chief overwrites values, who sends them itself.
    bool is_whole() const SINTER_REQUIRES(e_.mutex) { return !e_.progress.is_renewing() || w_ == 0; }
    void wait_until_readable() SINTER_REQUIRES(e_.mutex) {
        wait([&]() SINTER_REQUIRES(e_.mutex) {
            return e_.progress.is_open() && is_whole() &&
                   (e_.options.order.mode == update_mode::async || e_.all_clocks.may_read(w_));
        }, e_.progress.is_open() ? awaited::clock : awaited::opening);
        version_ = e_.progress.version();
    }
    void pull(std::uint32_t what) {
        {
            lock hold(e_.mutex);
            wait_until_readable();
        }
        copy(what, true);
    }
    /// Copies what is requested (but values that an update has copied already), and answers.
    void copy(std::uint32_t what, bool values) {
        const std::int64_t n = e_.memory.layout().updated();
        if (values && (what & pull_flag::values) != 0) {
            reserve_values(n);
            e_.memory.copy(values_.data());
        }
        if ((what & pull_flag::states) != 0) {
            states_.reserve(e_.memory.layout().states);
            e_.memory.copy_states(states_.data());
        }
        answer_values(what, n);
    }
    void pull_rows(const wire::frame_header& h) {
        const auto bytes = payload(h);
        const auto table = static_cast<std::size_t>(h.tag.bucket);
        const table_layout& t = e_.memory.layout().tables[table];
        keys_.clear();
        for (std::size_t at = 0; at < bytes.size(); at += 8) {
            keys_.push_back(wire::detail::get<std::int64_t>(bytes.data() + at));
            if (t.rows >= 0 && (keys_.back() < 0 || keys_.back() >= t.rows))
                throw refused_request{"a row that the table does not have"};
        }
        {
            lock hold(e_.mutex);
            wait_until_readable();
        }
        const std::int64_t n = static_cast<std::int64_t>(keys_.size()) * t.row_floats;
        reserve_values(n);
        e_.memory.copy_rows(table, keys_, values_.data());
        answer_values(pull_flag::values, n);
    }
    std::vector<std::int64_t> keys_;

    // ---- Pushes (server/pushes.hpp)
    void commit(span<const std::byte>);
    bool apply_now(const commit_block&);
    bool stage(const commit_block&);

    // ---- Calls (server/calls.hpp)
    void call(call_id, span<const std::byte> arguments);
    /// What a call does, under the mutex; specialised for each.
    template <class Call>
    void carry_out(const Call&) SINTER_REQUIRES(e_.mutex);
    /// The answer to a call, which is sent without the mutex.
    template <class Answer = calls::nothing>
    void answer_call(const Answer& a = {}, bool with_ticket = false) SINTER_REQUIRES(e_.mutex) {
        const base::mutex_release away(e_.mutex);
        answer(encode(a), with_ticket);
    }
    calls::opening opening() const SINTER_REQUIRES(e_.mutex) {
        return {e_.progress.open_clock(), e_.progress.open_step()};
    }
    void need_chief() const {
        if (w_ != 0) throw refused_request{"only the chief overwrites values"};
    }
    void answer_about_server() SINTER_REQUIRES(e_.mutex);
    void need_same_run(std::uint64_t next) SINTER_REQUIRES(e_.mutex);
    void note_presence() SINTER_REQUIRES(e_.mutex);
    void refuse_if_failed();
    void wait_for_clocks() SINTER_REQUIRES(e_.mutex);
    template <class F>
    void do_meanwhile(F f) SINTER_REQUIRES(e_.mutex);   // server/meanwhile.hpp
    std::vector<std::int64_t> sorted_keys_;   // of a table that is being read
    std::int64_t sorted_table_ = -1;
};

} // namespace sinter::parameter_servers
