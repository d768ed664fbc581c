// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/client/engine.hpp>

/// What a client's caller can ask for.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

SINTER_APART client::client(const cluster& c, const wire::identity& same, std::vector<shard_layout> l, client_options o)
    : engine_(std::make_unique<engine>(c, same, std::move(l), o)) {}

SINTER_APART client::~client() {
    if (!engine_ || engine_->left || engine_->failure || std::uncaught_exceptions() > engine_->exceptions) return;
    try {
        leave();
    } catch (...) {   // who wants to know calls leave()
    }
}

SINTER_APART int client::servers() const { return static_cast<int>(engine_->connections.size()); }
SINTER_APART const shard_layout& client::layout(int server) const {
    return engine_->layouts.at(static_cast<std::size_t>(server));
}
SINTER_APART bool client::initialised() const {
    const engine::lock hold(engine_->mutex);
    return engine_->initialised;
}
SINTER_APART bool client::is_live() const {
    const engine::lock hold(engine_->mutex);
    return engine_->is_live;
}

namespace detail {
inline std::int64_t array_number(int table, int array) {
    return array == states_array && table < 0 ? states_array : std::int64_t{table + 1} * table_arrays + array;
}
} // namespace detail

SINTER_APART void client::write(int server, int array, std::int64_t first, span<const float> x) {
    write_array(server, detail::array_number(-1, array), first, x);
}
SINTER_APART void client::read(int server, int array, std::int64_t first, span<float> x) {
    read_array(server, detail::array_number(-1, array), first, x);
}
SINTER_APART void client::write_rows(int server, int table, int array, std::int64_t first, span<const float> x) {
    const std::int64_t row = layout(server).tables.at(static_cast<std::size_t>(table)).row_floats;
    write_array(server, detail::array_number(table, array), first * row, x);
}
SINTER_APART void client::read_rows(int server, int table, int array, std::int64_t first, span<float> x) {
    const std::int64_t row = layout(server).tables.at(static_cast<std::size_t>(table)).row_floats;
    read_array(server, detail::array_number(table, array), first * row, x);
}
SINTER_APART void client::write_array(int server, std::int64_t array, std::int64_t first, span<const float> x) {
    engine& e = *engine_;
    const auto i = static_cast<std::size_t>(server);
    engine::lock hold(e.mutex);
    ticket last = e.numbers;
    const std::int64_t table = array / table_arrays - 1;   // rows stay whole
    const std::size_t unit = array < table_arrays ? 1 : static_cast<std::size_t>(
        e.layouts[i].tables[static_cast<std::size_t>(table)].row_floats);
    const std::size_t most = std::max<std::size_t>(1, floats_of_frame / unit) * unit;
    for (std::size_t at = 0; at < x.size(); at += most) {
        const auto part = x.subspan(at, std::min(most, x.size() - at));
        request& q = e.ask(hold, i, last = ++e.numbers, "writing values");
        wire::frame_tag t;
        t.bucket = static_cast<std::int32_t>(array);
        t.elements = part.size();
        t.offset = static_cast<std::uint64_t>(first) + at;
        q.add(frame_type::write, as_bytes(part), t);
        q.whole = true;
    }
    e.wait_for(hold, last);
    e.connections[i]->gave_values = true;
}
SINTER_APART void client::read_array(int server, std::int64_t array, std::int64_t first, span<float> x) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    const ticket number = ++e.numbers;
    request& q = e.ask(hold, static_cast<std::size_t>(server), number, "reading values");
    wire::frame_tag t;
    t.bucket = static_cast<std::int32_t>(array);
    t.elements = x.size();
    t.offset = static_cast<std::uint64_t>(first);
    // (Values that come are of the array's own number; states have a place of their own.)
    if (array == states_array) q.states = x.data(), q.states_floats = static_cast<std::int64_t>(x.size());
    else q.values = x.data(), q.floats = static_cast<std::int64_t>(x.size());
    q.add(frame_type::read, {}, t);
    q.whole = q.reads = true;
    e.wait_for(hold, number);
}
SINTER_APART void client::open(std::int64_t max_steps, std::int64_t global_step, bool begins,
                               std::vector<std::int64_t> phase_steps) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.call_all(hold, calls::open{std::max<std::int64_t>(max_steps, 0), global_step, begins, std::move(phase_steps),
                                 ++e.openings});
    e.note_opening();
    e.no_more = false;
}
SINTER_APART void client::wait_until_open() {
    engine::lock hold(engine_->mutex);
    engine_->call_all(hold, calls::wait_until_open());
    engine_->note_opening();
}

SINTER_APART void client::begin_renewal() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.before_renewal = e.newest();
    e.call_all(hold, calls::begin_renewal{std::max(++e.renewals, *e.before_renewal + 1)});
}
SINTER_APART void client::end_renewal() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.call_all(hold, calls::end_renewal{e.connections[0]->global_step});
    e.before_renewal.reset();
}
SINTER_APART void client::wait_for_renewal() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.call_all(hold, calls::wait_for_renewal{++e.renewals});
}
SINTER_APART std::int64_t client::version() const {
    const engine::lock hold(engine_->mutex);
    return engine_->newest();
}
SINTER_APART bool client::use_pulled() {
    engine& e = *engine_;
    const engine::lock hold(e.mutex);
    bool others = e.used.empty();
    e.used.resize(e.connections.size());
    for (std::size_t i = 0; i < e.connections.size(); ++i) {
        others |= e.used[i] != e.connections[i]->pulled;
        e.used[i] = e.connections[i]->pulled;
    }
    return others;
}
SINTER_APART void client::use_newest() {
    const engine::lock hold(engine_->mutex);
    engine_->used.clear();
    for (const auto& l : engine_->connections) engine_->used.push_back(l->version);
}
SINTER_APART void client::begin_reading() {
    const engine::lock hold(engine_->mutex);
    for (const auto& l : engine_->connections) l->oldest_read = server_connection::never_read;
}
SINTER_APART bool client::use_read() {
    const engine::lock hold(engine_->mutex);
    engine_->used.clear();
    for (const auto& l : engine_->connections) engine_->used.push_back(std::min(l->version, l->oldest_read));
    const std::int64_t newest = engine_->newest();
    return std::ranges::all_of(engine_->used, [&](std::int64_t v) { return v == newest; });
}
SINTER_APART bool client::renewed() const {
    const engine& e = *engine_;
    const engine::lock hold(engine_->mutex);
    const std::int64_t newest = e.newest();
    return std::any_of(e.used.begin(), e.used.end(), [&](std::int64_t v) { return v != newest; });
}
SINTER_APART std::vector<std::int64_t> client::phase_steps() const {
    engine::lock hold(engine_->mutex);
    return engine_->call_and_wait(hold, 0, calls::get_phase_steps()).steps;
}
SINTER_APART std::int64_t client::next_clock() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.come_back(hold);
    return e.clock;
}

SINTER_APART bool client::may_step() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.check();
    if (e.stops()) return false;
    e.come_back(hold);
    // Leave that was given for an earlier clock does not show what has been agreed on since, such
    // as when all save.
    if (std::exchange(e.jumped, false)) e.ticket = false;
    if (!std::exchange(e.ticket, false)) {
        e.call_and_wait(hold, 0, calls::acquire_step());
        if (e.stops() || !std::exchange(e.ticket, false)) return false;
    }
    return true;
}
SINTER_APART void client::rest() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    if (e.resting) return;
    e.resting = true;
    e.ticket = false;
    e.ask_server_0_first(hold, call_id::rest, call_id::rest);
    e.ticket = false;
}
SINTER_APART void client::wait_for_others() {
    engine::lock hold(engine_->mutex);
    // Each has the last updates.
    engine_->ask_server_0_first(hold, call_id::wait_for_others, call_id::wait_for_others);
}

SINTER_APART std::int64_t client::open_clock() const {
    const engine::lock hold(engine_->mutex);
    return engine_->open_clock;
}
SINTER_APART std::int64_t client::open_step() const {
    const engine::lock hold(engine_->mutex);
    return engine_->open_step;
}
SINTER_APART std::int64_t client::pass_clocks() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    while (e.jumped && !e.resting) {   // server 0's answer has what has been agreed on for the clocks that are passed
        e.jumped = false;
        e.call_and_wait(hold, 0, calls::acquire_step());
        e.ticket = false;   // it may be one for an earlier clock
    }
    return e.clock = std::max(e.clock, e.info.applied);
}
SINTER_APART void client::wait_for_clock() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.call_all(hold, calls::wait_for_clock{e.clock});
}

SINTER_APART void client::begin_push() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    if (e.pushing) throw error("a push was begun before the last one was committed", "parameter_servers::client");
    const ticket number = ++e.numbers;
    e.current.clear();
    for (std::size_t i = 0; i < e.connections.size(); ++i) {
        request& q = e.ask(hold, i, number, "pushing gradients");
        q.commits = true;
        e.current.push_back(&q);
        q.next_block().resize(commit_block::bytes);
    }
    e.pushing = true;
    e.last_commit = number;
    e.ticket = false;
}
/// A place for a section of so many bytes in a push's frames; what is full leaves.
SINTER_APART std::byte* client::place_for(request& q, std::size_t bytes) {
    auto* block = &q.blocks[q.blocks_used - 1];
    if (block->size() + bytes > most_frame) {
        q.add(frame_type::sections, span<const std::byte>(*block).subspan(commit_block::bytes));
        block = &q.next_block();
        block->resize(commit_block::bytes);
    }
    const std::size_t at = block->size();
    block->resize(at + bytes);
    return block->data() + at;
}
SINTER_APART request& client::pushed(int server) {
    if (!engine_->pushing) throw error("no push has been begun", "parameter_servers::client");
    engine_->check();
    return *engine_->current.at(static_cast<std::size_t>(server));
}
SINTER_APART void client::push(int server, std::int64_t first, span<const float> x) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    request& q = pushed(server);
    if (!within(first, static_cast<std::int64_t>(x.size()), layout(server).updated()))
        throw error("a push beyond the server's floats", "parameter_servers::client", std::to_string(first),
                    std::to_string(layout(server).updated()) + " floats");
    if (x.size() * 4 <= most_batched) {
        section s{section::dense, 0, first, static_cast<std::int64_t>(x.size())};
        std::byte* const to = place_for(q, section::header + x.size() * 4);
        s.encode(to);
        std::memcpy(to + section::header, x.data(), x.size() * 4);
    } else {
        for (std::size_t at = 0; at < x.size(); at += floats_of_frame) {
            const auto part = x.subspan(at, std::min<std::size_t>(floats_of_frame, x.size() - at));
            wire::frame_tag t;
            t.elements = part.size();
            t.offset = static_cast<std::uint64_t>(first) + at;
            q.add(frame_type::gradient, as_bytes(part), t);
        }
        if (e.options.overlap) e.work.notify_one();
    }
}
SINTER_APART void client::push_rows(int server, int table, span<const std::int64_t> keys, span<const float> rows) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    request& q = pushed(server);
    const auto width = static_cast<std::size_t>(layout(server).tables.at(static_cast<std::size_t>(table)).row_floats);
    if (rows.size() < keys.size() * width)
        throw error("fewer floats than the rows have", "parameter_servers::client", std::to_string(rows.size()),
                    std::to_string(keys.size() * width));
    const std::size_t each = 8 + 4 * width, most = std::max<std::size_t>(1, most_frame / each);
    for (std::size_t at = 0; at < keys.size(); at += most) {
        const std::size_t n = std::min(most, keys.size() - at);
        const auto values = as_bytes(rows.subspan(at * width, n * width)), numbers = as_bytes(keys.subspan(at, n));
        if (section::header + n * each > most_short) {   // the caller's memory is sent
            wire::frame_tag t;
            t.bucket = table;
            t.elements = n;
            q.add(frame_type::rows, values, t, numbers);
            continue;
        }
        section s{section::rows, table, 0, static_cast<std::int64_t>(n)};
        std::byte* const to = place_for(q, section::header + n * each);
        s.encode(to);
        std::memcpy(to + section::header, numbers.data(), numbers.size());
        std::memcpy(to + section::header + numbers.size(), values.data(), values.size());
    }
    if (e.options.overlap && !q.parts.empty()) e.work.notify_one();
}
SINTER_APART void client::push_states(int server, span<const float> x) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    request& q = pushed(server);
    constexpr std::size_t most = (most_frame - commit_block::bytes - section::header) / 4;
    for (std::size_t at = 0; at < x.size(); at += most) {
        const std::size_t n = std::min(most, x.size() - at);
        section s{section::states, 0, static_cast<std::int64_t>(at), static_cast<std::int64_t>(n)};
        std::byte* const to = place_for(q, section::header + n * 4);
        s.encode(to);
        std::memcpy(to + section::header, x.data() + at, n * 4);
    }
}

SINTER_APART void client::want(request& q, int server, const pull_target& t, std::uint32_t& flags) {
    if (t.values) q.values = t.values, q.floats = layout(server).updated(), flags |= pull_flag::values;
    if (t.states) q.states = t.states, q.states_floats = layout(server).states, flags |= pull_flag::states;
    q.pulls = flags != 0;
}
SINTER_APART ticket client::commit(const push_info& info, span<const pull_target> to) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    if (!e.pushing) throw error("no push has been begun", "parameter_servers::client");
    e.pushing = false;
    if (e.save_clock == 0)
        e.broadcast.send(e.save, e.last_commit, [&](ticket t) {
            return std::all_of(e.connections.begin() + 1, e.connections.end(),
                               [&](const auto& l) { return l->answered(t); });
        });
    const std::uint64_t number = ++e.pushes;
    for (std::size_t i = 0; i < e.connections.size(); ++i) {
        request& q = *e.current[i];
        commit_block b;
        b.number = number;
        b.clock = e.clock;
        b.read_step = e.connections[i]->read_step;
        b.info = info;
        b.version = i < e.used.size() ? e.used[i] : e.connections[i]->pulled;
        if (e.save_clock == 0) b.save = i == 0 ? e.made_by_others() : e.save;
        else if (e.clock + 1 == e.save_clock) b.save = e.save;
        if (i < to.size()) want(q, static_cast<int>(i), to[i], b.pull);
        auto& block = q.blocks[q.blocks_used - 1];
        b.encode(block.data());
        q.add(frame_type::commit, block);
        q.whole = true;
    }
    ++e.clock;
    ++e.counters.pushes;
    e.start(hold);
    return e.last_commit;
}
SINTER_APART ticket client::start_pull(span<const pull_target> to) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    const ticket number = ++e.numbers;
    for (std::size_t i = 0; i < e.connections.size() && i < to.size(); ++i) {
        std::uint32_t flags = 0;
        request& q = e.ask(hold, i, number, "pulling values");
        want(q, static_cast<int>(i), to[i], flags);
        wire::frame_tag t;
        t.step = flags;
        q.add(frame_type::pull, {}, t);
        q.whole = true;
    }
    e.start(hold);
    return number;
}
SINTER_APART ticket client::start_pull_rows(int server, int table, span<const std::int64_t> keys, float* to) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    const std::int64_t width = layout(server).tables.at(static_cast<std::size_t>(table)).row_floats;
    ticket number = e.numbers;
    for (std::size_t at = 0; at < keys.size(); at += most_keys_of_frame) {
        const auto part = keys.subspan(at, std::min<std::size_t>(most_keys_of_frame, keys.size() - at));
        request& q = e.ask(hold, static_cast<std::size_t>(server), number = ++e.numbers, "pulling rows");
        q.values = to + static_cast<std::int64_t>(at) * width;
        q.floats = static_cast<std::int64_t>(part.size()) * width;
        q.pulls = true;
        wire::frame_tag t;
        t.bucket = table;
        t.elements = part.size();
        auto& block = q.next_block();
        block.resize(part.size() * 8);
        for (std::size_t k = 0; k < part.size(); ++k) wire::detail::put(block.data() + 8 * k, part[k]);
        q.add(frame_type::pull_rows, block, t);
        q.whole = true;
    }
    e.start(hold);
    return number;
}
SINTER_APART void client::wait(ticket t) {
    engine::lock hold(engine_->mutex);
    engine_->wait_for(hold, t);
}

SINTER_APART answer_info client::last() const {
    const engine::lock hold(engine_->mutex);
    return engine_->info;
}
SINTER_APART std::int64_t client::global_step() const {
    const engine::lock hold(engine_->mutex);
    return engine_->connections[0]->global_step;
}
SINTER_APART client_counters client::seen() const {
    const engine::lock hold(engine_->mutex);
    client_counters c = engine_->counters;
    for (const auto& l : engine_->connections) c.bytes_in += l->bytes_in, c.bytes_out += l->bytes_out;
    return c;
}

SINTER_APART void client::ask_all_to_stop(const char* reason) {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    e.asked = true;
    e.call_all(hold, calls::stop{std::string(reason).substr(0, most_reason)});
}
SINTER_APART void client::fail(const char* cause) noexcept {
    try {
        engine& e = *engine_;
        engine::lock hold(e.mutex);
        e.call_all(hold, calls::fail{std::string(cause).substr(0, most_reason)});
    } catch (const std::exception&) {   // the job has ended already, or does by this
    }
}
SINTER_APART bool client::asked() const { return engine_->asked; }
SINTER_APART bool client::server_ends() const { return engine_->server_ends; }
SINTER_APART std::int64_t client::stop_clock() const {
    const engine::lock hold(engine_->mutex);
    return engine_->asked ? engine_->stop_clock : -1;
}
SINTER_APART void client::ask_all_to_save() {
    engine::lock hold(engine_->mutex);
    engine_->call_and_wait(hold, 0, calls::save_together());
}
SINTER_APART std::int64_t client::files_clock() const {
    const engine::lock hold(engine_->mutex);
    return engine_->files_clock;
}
SINTER_APART bool client::saves_files(std::int64_t clocks) const {
    const engine::lock hold(engine_->mutex);
    return std::binary_search(engine_->all_files.begin(), engine_->all_files.end(), clocks);
}
SINTER_APART std::string client::stop_reason() const {
    engine::lock hold(engine_->mutex);
    return engine_->call_and_wait(hold, 0, calls::get_stop_reason()).reason;
}
template <class Call>
typename Call::answer client::call(int server, const Call& c) {
    engine::lock hold(engine_->mutex);
    return engine_->call_and_wait(hold, static_cast<std::size_t>(server), c);
}
template <class Call>
std::vector<typename Call::answer> client::call_all(const Call& c) {
    engine::lock hold(engine_->mutex);
    engine_->call_all(hold, c);
    std::vector<typename Call::answer> all;
    for (const auto& l : engine_->connections) all.push_back(decode<typename Call::answer>(as_bytes(l->text)));
    return all;
}
SINTER_COLD SINTER_APART std::vector<std::vector<wrong_number>> client::wrong_numbers() {
    std::vector<std::vector<wrong_number>> all;
    for (parameter_servers::wrong_numbers& w : call_all(calls::find_non_finite())) all.push_back(std::move(w.all));
    return all;
}
SINTER_APART void client::leave() {
    engine& e = *engine_;
    engine::lock hold(e.mutex);
    if (e.left) return;
    e.check();
    e.leaving = true;
    if (e.connections.size() > 1) e.ask_server_0_first(hold, call_id::rest, call_id::leave);
    e.call_and_wait(hold, 0, calls::leave());   // which knows its own progress
    e.left = true;
    for (const auto& l : e.connections) l->disconnect();
}

} // namespace sinter::parameter_servers
