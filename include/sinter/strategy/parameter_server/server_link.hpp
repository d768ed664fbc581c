// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/callback.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/device/arena.hpp>
#include <sinter/parameter_server/client.hpp>
#include <sinter/parameter_server/tables_of_job.hpp>
#include <sinter/strategy/parameter_server/loaded_rows.hpp>
#include <sinter/strategy/parameter_server/server_places.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// A worker's connection to its servers, and the values that come from there: dense parameters and
/// states by stretches, tables by rows. It knows addresses, and no net.
class server_link {
public:
    using rows_function = base::callback<void(span<const float>)>;
    using row_function = base::callback<void(std::int64_t, std::int64_t, const float*)>;
    using given_row_function = loaded_rows::row_function;

    SINTER_COLD SINTER_APART server_link(const cluster& c, const wire::identity& i, server_places places,
                                         parameter_servers::client_options o);
    parameter_servers::client& client() { return *client_; }
    const server_places& places() const { return places_; }
    int servers() const { return places_.servers(); }

    /// Where pulled values come to: those of take().
    span<const parameter_servers::pull_target> targets() const { return {targets_.data(), targets_.size()}; }
    SINTER_APART void take(float* parameters) const;
    const float* states() const { return states_[0].data(); }

    /// Stretches of an array (client::parameters, or slot k as 1 + k), from and to the parameter's
    /// place `from`.
    SINTER_COLD SINTER_APART void read(int array, std::int64_t from, float* to, std::int64_t n);
    SINTER_COLD SINTER_APART void write(int array, std::int64_t to, const float* from, std::int64_t n);
    SINTER_COLD SINTER_APART void read_all(float* parameters);
    SINTER_COLD SINTER_APART void write_all(const float* parameters, const float* states);
    /// All rows of table t, in their order.
    SINTER_COLD SINTER_APART void read_table(int t, int array, float* to);
    /// f(rows) of all rows of table t, some at a time, in their order.
    SINTER_COLD SINTER_APART void each_block(int t, int array, const rows_function& f);
    SINTER_COLD SINTER_APART void write_table(int t, int array, const float* from);

    /// Table t has its initializer's values again.
    SINTER_COLD SINTER_APART void forget_rows(int t);

    /// Each server writes what it has to folder/name, or reads tables from there: all at once. Why one
    /// of them could not write; empty: all have.
    SINTER_COLD SINTER_APART std::string save_for_the_job(const std::string& folder, const std::string& name);
    SINTER_COLD SINTER_APART void load_for_the_job(const parameter_servers::tables_of_job& from);

    /// A number that is infinite or NaN.
    struct wrong_value {
        int table = -1;         ///< -1: of a dense parameter's slot
        int slot = -1;          ///< -1: of the values
        std::int64_t key = 0;   ///< of a table: a row of all, or its key
        std::int64_t at = 0;    ///< in the row; else in the parameters' arena
        float value = 0;
    };
    /// Of each array the first that the servers have found, in the order of tables and slots.
    SINTER_COLD SINTER_APART std::vector<wrong_value> wrong_values();

    /// f(key, step, row) for each row of table t, whose keys are any numbers, in the order of
    /// these; `row` has the values and then those of each slot. A few rows of each server are held
    /// at a time.
    SINTER_COLD SINTER_APART void each_row(int t, const row_function& f);
    /// Table t has `n` rows from now on, and no others. f(i, key, step, row) says what number i is,
    /// its slots behind its values; those that matter most come first.
    SINTER_COLD SINTER_APART void put_rows(int t, int slots, std::size_t n, const given_row_function& f);

private:
    static constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max() / 2;
    server_places places_;
    std::vector<arena> values_, states_;   ///< of each server
    std::vector<parameter_servers::pull_target> targets_;
    std::unique_ptr<parameter_servers::client> client_;   ///< ends first: until it has left, values may still come

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    template <class F>
    void each(std::int64_t from, std::int64_t n, bool updated, F f) const {
        places_.each_stretch(from, n, updated, f);
    }
    template <class F>
    void each_shard(int t, F f) {
        const server_places::table& table = places_.tables[at(t)];
        std::vector<float> rows;
        for (int s = 0; s < servers(); ++s) {
            rows.resize(at(table.rows.rows_of(s) * table.width));
            if (!rows.empty()) f(s, rows, table.rows, table.width);
        }
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::session_parts

#if SINTER_BODIES
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/row_index.hpp>
#include <sinter/parameter_server/table_rows.hpp>
#include <algorithm>
#include <tuple>

namespace sinter::inline SINTER_ORDINARY::session_parts {
SINTER_COLD SINTER_APART server_link::server_link(const cluster& c, const wire::identity& i, server_places places,
                                                  parameter_servers::client_options o)
    : places_(std::move(places)) {
    for (const parameter_servers::shard_layout& s : places_.shards) {
        // At least one, or a pull would ask for nothing, and not wait.
        values_.emplace_back(std::max<std::int64_t>(s.floats, 1));
        states_.emplace_back(s.states);
    }
    for (int s = 0; s < servers(); ++s)
        targets_.push_back({values_[at(s)].data(), places_.shards[at(s)].states ? states_[at(s)].data() : nullptr});
    client_ = std::make_unique<parameter_servers::client>(c, i, places_.shards, o);
}

SINTER_APART void server_link::take(float* parameters) const {
    each(0, everything, true, [&](int s, std::int64_t there, std::int64_t here, std::int64_t n) {
        std::copy_n(values_[at(s)].data() + there, n, parameters + here);
    });
}

SINTER_COLD SINTER_APART void server_link::read(int array, std::int64_t from, float* to, std::int64_t n) {
    each(from, n, array != 0, [&](int s, std::int64_t there, std::int64_t here, std::int64_t count) {
        client_->read(s, array, there, {to + (here - from), static_cast<std::size_t>(count)});
    });
}

SINTER_COLD SINTER_APART void server_link::write(int array, std::int64_t to, const float* from, std::int64_t n) {
    each(to, n, array != 0, [&](int s, std::int64_t there, std::int64_t here, std::int64_t count) {
        client_->write(s, array, there, {from + (here - to), static_cast<std::size_t>(count)});
    });
}

SINTER_COLD SINTER_APART void server_link::read_all(float* parameters) {
    read(parameter_servers::client::parameters, 0, parameters, everything);
}

SINTER_COLD SINTER_APART void server_link::write_all(const float* parameters, const float* states) {
    write(parameter_servers::client::parameters, 0, parameters, everything);
    if (const std::int64_t n = places_.shards[0].states)
        client_->write(0, parameter_servers::client::states, 0, {states, static_cast<std::size_t>(n)});
}

SINTER_COLD SINTER_APART void server_link::read_table(int t, int array, float* to) {
    each_shard(t, [&](int s, std::vector<float>& rows, const parameter_servers::row_placement& p, int width) {
        client_->read_rows(s, t, array, 0, {rows.data(), rows.size()});
        for (std::int64_t r = 0; r < p.rows_of(s); ++r)
            std::copy_n(&rows[at(r * width)], width, to + p.row(s, r) * width);
    });
}

SINTER_COLD SINTER_APART void server_link::each_block(int t, int array, const rows_function& f) {
    const server_places::table& table = places_.tables[at(t)];
    const std::int64_t width = table.width, all = table.rows.rows,
                       some = std::max<std::int64_t>(1, parameter_servers::floats_of_frame / width);
    std::vector<float> block, part;
    for (std::int64_t first = 0; first < all; first += some) {
        const std::int64_t end = std::min(all, first + some);
        block.resize(at((end - first) * width));
        for (int s = 0; s < servers(); ++s) {
            std::int64_t from = -1, n = 0;   // both ways of dealing out rows leave each server a run of them
            for (std::int64_t r = first; r < end; ++r)
                if (table.rows.server(r) == s) {
                    if (n == 0) from = table.rows.local(r);
                    ++n;
                }
            if (n == 0) continue;
            part.resize(at(n * width));
            client_->read_rows(s, t, array, from, {part.data(), part.size()});
            for (std::int64_t k = 0; k < n; ++k)
                std::copy_n(&part[at(k * width)], width, &block[at((table.rows.row(s, from + k) - first) * width)]);
        }
        f(span<const float>(block.data(), block.size()));
    }
}

SINTER_COLD SINTER_APART void server_link::write_table(int t, int array, const float* from) {
    each_shard(t, [&](int s, std::vector<float>& rows, const parameter_servers::row_placement& p, int width) {
        for (std::int64_t r = 0; r < p.rows_of(s); ++r)
            std::copy_n(from + p.row(s, r) * width, width, &rows[at(r * width)]);
        client_->write_rows(s, t, array, 0, {rows.data(), rows.size()});
    });
}

SINTER_COLD SINTER_APART void server_link::forget_rows(int t) {
    client_->call_all(parameter_servers::calls::reset_table{t});
}

SINTER_COLD SINTER_APART std::string server_link::save_for_the_job(const std::string& folder, const std::string& name) {
    std::string why;
    for (const auto& answer : client_->call_all(parameter_servers::calls::save_tables{folder, name}))
        if (why.empty()) why = answer.fault;
    return why;
}

SINTER_COLD SINTER_APART void server_link::load_for_the_job(const parameter_servers::tables_of_job& from) {
    client_->call_all(parameter_servers::calls::load_tables{from});
}

SINTER_COLD SINTER_APART void server_link::each_row(int t, const row_function& f) {
    std::vector<parameter_servers::table_rows> of(at(servers()));
    std::vector<std::size_t> next(at(servers()));
    std::vector<bool> more(at(servers()), true);
    const auto ask = [&](std::size_t s, std::int64_t from) {
        of[s] = client_->call(static_cast<int>(s), parameter_servers::calls::read_rows{t, from});
        if (of[s].row_floats != places_.tables[at(t)].width)
            throw format_error("rows of another width", "rows of a server's table", to_text({of[s].row_floats}),
                               to_text({places_.tables[at(t)].width}));
        next[s] = 0;
        const std::int64_t most = parameter_servers::table_rows::most(of[s].row_floats, of[s].slots);
        more[s] = static_cast<std::int64_t>(of[s].size()) >= most &&
                  of[s].keys.back() < std::numeric_limits<std::int64_t>::max();
    };
    for (std::size_t s = 0; s < of.size(); ++s) ask(s, std::numeric_limits<std::int64_t>::min());
    for (;;) {
        std::size_t least = of.size();
        for (std::size_t s = 0; s < of.size(); ++s) {
            if (next[s] == of[s].size() && more[s]) ask(s, of[s].keys.back() + 1);
            if (next[s] < of[s].size() && (least == of.size() || of[s].keys[next[s]] < of[least].keys[next[least]]))
                least = s;
        }
        if (least == of.size()) return;
        const std::size_t i = next[least]++;
        f(of[least].keys[i], of[least].steps[i], of[least].row(i));
    }
}

SINTER_COLD SINTER_APART void server_link::put_rows(int t, int slots, std::size_t n, const given_row_function& f) {
    const int width = places_.tables[at(t)].width;
    std::vector<parameter_servers::calls::put_rows> of(at(servers()));
    const auto send = [&](std::size_t s) {
        client_->call(static_cast<int>(s), of[s]);
        of[s].clear();
        of[s].first = 0;
    };
    for (parameter_servers::table_rows& r : of) r.table = t, r.first = 1, r.row_floats = width, r.slots = slots;
    for (std::size_t s = 0; s < of.size(); ++s) send(s);   // all that were there go
    std::vector<float> row(of[0].width());
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t key = 0, step = 0;
        f(i, key, step, row.data());
        const auto s = at(parameter_servers::server_of_key(key, servers()));
        of[s].keys.push_back(key), of[s].steps.push_back(step);
        of[s].values.insert(of[s].values.end(), row.begin(), row.end());
        if (static_cast<std::int64_t>(of[s].size()) >= parameter_servers::table_rows::most(width, slots)) send(s);
    }
    for (std::size_t s = 0; s < of.size(); ++s) {
        if (of[s].size()) send(s);
        send(s);
    }
}

SINTER_COLD SINTER_APART std::vector<server_link::wrong_value> server_link::wrong_values() {
    std::vector<wrong_value> all;
    const auto by_server = client_->wrong_numbers();
    for (int s = 0; s < servers(); ++s)
        for (const parameter_servers::wrong_number& n : by_server[at(s)]) {
            wrong_value w{static_cast<int>(n.table), static_cast<int>(n.slot), n.key, n.at, n.value};
            if (n.table >= std::ssize(places_.tables)) continue;
            if (n.table < 0)
                each(0, everything, true,
                     [&](int of, std::int64_t there, std::int64_t here, std::int64_t m) {
                         if (of == s && there <= n.at && n.at < there + m) w.at = here + n.at - there;
                     });
            else if (const server_places::table& t = places_.tables[at(n.table)]; !t.hashed)
                w.key = t.rows.row(s, n.key);
            all.push_back(w);
        }
    std::sort(all.begin(), all.end(), [](const wrong_value& a, const wrong_value& b) {
        return std::tie(a.table, a.slot, a.key, a.at) < std::tie(b.table, b.slot, b.key, b.at);
    });
    return all;
}
} // namespace sinter::inline SINTER_ORDINARY::session_parts
#endif
