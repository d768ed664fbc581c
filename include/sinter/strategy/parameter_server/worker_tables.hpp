// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/initial_row.hpp>
#include <sinter/strategy/parameter_server/job_tables.hpp>
#include <sinter/strategy/parameter_server/loaded_rows.hpp>
#include <sinter/strategy/parameter_server/remote_tables.hpp>
#include <sinter/strategy/parameter_server/rows_of_steps.hpp>
#include <sinter/strategy/parameter_server/server_link.hpp>
#include <sinter/strategy/synchronous/list_exchange.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The tables of a worker whose rows its servers have: rows on their ways, and whole tables where
/// this process has no servers (the evaluator), or not yet. P: the training program, Others: those
/// of losses that alternate with its.
template <class P, class... Others>
class worker_tables {
    using tables = remote_tables<P, Others...>;

public:
    static constexpr int count = tables::count;

    /// `push_every`: steps whose gradients are one push. `copies`: gradients are in memory that the host does not read.
    SINTER_COLD explicit worker_tables(const server_places& places, int shards, int push_every = 1, bool copies = false)
        : rows_(placements(places)), whole_(at(count)), loaded_(at(count)), stream_(at(count)), renewed_(at(count)),
          first_(at(places.servers() + 1)) {
        for (int t = 0; t < count; ++t) {
            const remote_table& r = tables::table(t);
            const std::int64_t floats = std::int64_t{r.most_rows} * r.width;
            std::int64_t most = std::int64_t{r.most_rows} * push_every;
            if (!r.hashed) most = std::min(most, r.rows);
            pulled_.emplace_back(at(floats));
            pushed_.emplace_back(at(most * r.width));
            keys_.emplace_back(at(most));
            if (push_every > 1) accumulated_.emplace_back(most, r.width);
            joined_.emplace_back(shards, 0, r.most_rows, r.most_rows, r.width, copies);
        }
    }
    static const remote_table& table(int t) { return tables::table(t); }
    static const variable_info& variable(int t) { return P::v.parameters[table(t).parameter]; }
    static int table_at(compiler::address a) { return tables::table_at(a); }

    /// The table begins with its initializer's values.
    void start(const variable_info& v, std::uint64_t stream) {
        for (int t = 0; t < count; ++t)
            if (&variable(t) == &v || variable(t).at == v.at)
                stream_[at(t)] = stream, whole_[at(t)].clear(), loaded_[at(t)].forget(), renewed_[at(t)] = true;
    }
    /// A row's first values; `row`: its number in the whole table, or its key.
    void first_row(int t, std::int64_t row, float* to) const {
        const remote_table& r = table(t);
        const initializer& init = variable(t).init;
        if (r.hashed) compiler::initial_row_of_key(init, stream_[at(t)], row, r.width, to);
        else compiler::initial_row(init, stream_[at(t)], row, r.width, to);
    }
    /// A table that was written before there were servers, or without any: [rows, width], or empty.
    std::vector<float>& whole(int t) { return whole_[at(t)]; }
    const std::vector<float>& whole(int t) const { return whole_[at(t)]; }
    /// Of a table of 64-bit keys the rows that were loaded so.
    strategy_parts::loaded_rows& loaded(int t) { return loaded_[at(t)]; }
    const strategy_parts::loaded_rows& loaded(int t) const { return loaded_[at(t)]; }
    /// Whether servers are to be sent the table: it was written, or begins anew where they had it
    /// before.
    bool take_written(int t, bool before) {
        const bool renewed = renewed_[at(t)];
        renewed_[at(t)] = false;
        return !whole_[at(t)].empty() || loaded_[at(t)] || (renewed && before);
    }
    /// All first values, where nothing has been written or loaded.
    SINTER_COLD std::vector<float> first_rows(int t) {
        if (!whole_[at(t)].empty()) return whole_[at(t)];
        const remote_table& r = table(t);
        std::vector<float> x(at(r.hashed ? 0 : r.rows * r.width));
        for (std::int64_t i = 0; i < r.rows && !r.hashed; ++i) first_row(t, i, &x[at(i * r.width)]);
        if (!r.hashed && loaded_[at(t)])
            loaded_[at(t)].each([&](std::int64_t key, std::int64_t, const float* row) {
                if (key >= 0 && key < r.rows) std::copy_n(row, r.width, &x[at(key * r.width)]);
            });
        return x;
    }

    /// What is held here of all tables. `slots`: of those that are trained.
    SINTER_COLD std::vector<job_tables::held_table> held(int slots) {
        std::vector<job_tables::held_table> all;
        for (int t = 0; t < count; ++t)
            all.push_back({&whole(t), &loaded(t), variable(t).group != compiler::frozen_group ? slots : 0});
        return all;
    }
    /// What was loaded is the servers'.
    SINTER_COLD void forget_loaded() {
        for (int t = 0; t < count; ++t) {
            loaded(t).forget();
            if (whole(t).empty()) take_written(t, false);   // it does not begin anew
        }
    }

    /// To the servers, of a table of 64-bit keys, what was loaded.
    SINTER_COLD void send_loaded(server_link& link, int t) const {
        const strategy_parts::loaded_rows& rows = loaded_[at(t)];
        link.put_rows(t, rows.slots(), rows.size(),
                      [&](std::size_t i, std::int64_t& key, std::int64_t& step, float* to) {
                          rows.get(i, key, step, to);
                      });
    }

    /// The batch as program Q takes it. `v`: of the step that it is for.
    template <class Q>
    batch_view prepare(const batch_view& b, const step_values& v = {}) {
        return rows_.template prepare<Q>(b, v);
    }
    template <class Q>
    batch_view prepare(const batch_view& b, const step_values& v, span<const runtime::batch_shard> parts) {
        return rows_.template prepare<Q>(b, v, parts);
    }
    template <class Q>
    void place_drawn(int part, const float** ports) {
        rows_.template place_drawn<Q>(part, ports);
    }
    /// f(table, parameter) for each table that program Q reads whole.
    template <class Q, class F>
    static void each_whole(F f) {
        for (int t = 0; t < count; ++t)
            if (const int i = table(t).parameter; !Q::v.parameters[i].remote) f(t, i);
    }
    /// Brings the rows that the prepared batch names; `parameters`: the arena with the compact
    /// copies.
    void pull(server_link* link, float* parameters) {
        for (int t = 0; t < count; ++t) {
            float* const compact = parameters + table(t).at.offset();
            if (!link) {
                const span<const std::int64_t> keys = rows_.keys(t);
                const std::vector<float>& own = whole_[at(t)];
                for (std::size_t i = 0; i < keys.size(); ++i) {
                    float* const to = compact + static_cast<std::int64_t>(i) * table(t).width;
                    if (const float* const row = loaded_[at(t)].find(keys[i])) std::copy_n(row, table(t).width, to);
                    else if (own.empty()) first_row(t, keys[i], to);
                    else std::copy_n(&own[at(keys[i] * table(t).width)], table(t).width, to);
                }
                continue;
            }
            float* to = pulled_[at(t)].data();
            for (int s = 0; s < link->servers(); ++s) {
                const auto keys = rows_.wanted(t, s).keys;
                if (!keys.empty()) waiting_.push_back(link->client().start_pull_rows(s, t, keys, to));
                to += static_cast<std::int64_t>(keys.size()) * table(t).width;
            }
        }
        if (!link) return;
        for (const parameter_servers::ticket k : waiting_) link->client().wait(k);
        waiting_.clear();
        for (int t = 0; t < count; ++t) {
            const float* from = pulled_[at(t)].data();
            for (int s = 0; s < link->servers(); ++s) {
                rows_.place(t, s, from, parameters + table(t).at.offset());
                from += static_cast<std::int64_t>(rows_.wanted(t, s).keys.size()) * table(t).width;
            }
        }
    }

    int rows(int t) const { return static_cast<int>(rows_.keys(t).size()); }   ///< that the prepared batch names

    // ---- gradients: lists of compact rows, one of each shard
    /// Where a copy of this shard's list is put.
    row_list copy(int t, int shard) { return joined_[at(t)].copy(shard); }
    void set(int t, int shard, row_list l) { joined_[at(t)].set(shard, l); }
    row_list as_list(int t, float* gradient) { return rows_.as_list(t, gradient); }
    void set_empty(int t, int shard) { joined_[at(t)].set_empty(shard); }
    const row_list& join(int t) { return joined_[at(t)].join_shards(); }
    void push(server_link& link, int t, const row_list& gradient) {
        float* to = pushed_[at(t)].data();
        std::int64_t* key = keys_[at(t)].data();
        for (int s = 0; s < link.servers(); ++s) {
            const span<const std::int64_t> keys = rows_.collect(t, s, gradient, to);
            if (keys.empty()) continue;
            std::copy(keys.begin(), keys.end(), key);
            const std::size_t floats = keys.size() * at(table(t).width);
            link.client().push_rows(s, t, {key, keys.size()}, {to, floats});
            to += floats;
            key += keys.size();
        }
    }
    // ---- where those of several steps become one push
    void begin_round(int t) { accumulated_[at(t)].clear(); }
    void accumulate(int t, const row_list& gradient) {
        const span<const std::int64_t> keys = rows_.keys(t);
        accumulated_[at(t)].add(gradient, [&](std::int32_t k) { return keys[at(k)]; });
    }
    void scale_accumulated(int t, float by) { accumulated_[at(t)].scale(by); }
    row_list accumulated(int t) { return accumulated_[at(t)].list(); }
    void push_accumulated(server_link& link, int t) {
        const row_list all = accumulated(t);
        const span<const std::int64_t> keys = accumulated_[at(t)].keys();
        const std::size_t width = at(all.row_floats);
        float* const rows = pushed_[at(t)].data();
        std::int64_t* const there = keys_[at(t)].data();
        std::fill(first_.begin(), first_.end(), std::size_t{0});
        for (const std::int64_t key : keys) ++first_[at(rows_.server_of(t, key))];
        std::size_t sum = 0;
        for (std::size_t& f : first_) sum += f, f = sum;   // each server's end
        for (std::size_t k = keys.size(); k-- > 0;) {
            const std::size_t to = --first_[at(rows_.server_of(t, keys[k]))];
            there[to] = rows_.key_there(t, keys[k]);
            std::copy_n(all.row(static_cast<int>(k)), width, rows + width * to);
        }
        for (int s = 0; s < link.servers(); ++s) {
            const std::size_t from = first_[at(s)], n = first_[at(s) + 1] - from;
            if (n) link.client().push_rows(s, t, {there + from, n}, {rows + width * from, width * n});
        }
    }

private:
    tables rows_;
    std::vector<std::vector<float>> whole_, pulled_, pushed_;
    std::vector<std::vector<std::int64_t>> keys_;
    std::vector<strategy_parts::loaded_rows> loaded_;
    std::vector<list_exchange> joined_;
    std::vector<rows_of_steps> accumulated_;   ///< where several steps are one push
    std::vector<std::uint64_t> stream_;   ///< of random numbers, by table
    std::vector<bool> renewed_;           ///< those that begin with their initializers' values again
    std::vector<parameter_servers::ticket> waiting_;
    std::vector<std::size_t> first_;   ///< of each server's rows in a push of several steps

    static constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    static std::vector<parameter_servers::row_placement> place_of(const server_places& p) {
        std::vector<parameter_servers::row_placement> all;
        for (const server_places::table& t : p.tables) all.push_back(t.rows);
        return all;
    }
    static tables placements(const server_places& p) {
        const std::vector<parameter_servers::row_placement> all = place_of(p);
        return tables({all.data(), all.size()});
    }
};

}   // namespace sinter::inline SINTER_TARGET::strategy_parts
