// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <limits>
#include <sinter/device/arena.hpp>
#include <sinter/parameter_server/client.hpp>
#include <sinter/strategy/parameter_server/server_places.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// A worker's connection to its servers, and the values that come from there: dense parameters and
/// states by stretches, tables by rows. It knows addresses, and no net.
class server_link {
public:
    SINTER_COLD server_link(const cluster& c, const wire::identity& i, server_places places, sharded::client_options o)
        : places_(std::move(places)) {
        for (const sharded::shard_layout& s : places_.shards) {
            values_.emplace_back(s.floats);
            states_.emplace_back(s.states);
        }
        for (int s = 0; s < servers(); ++s)
            targets_.push_back({values_[at(s)].data(), places_.shards[at(s)].states ? states_[at(s)].data() : nullptr});
        client_ = std::make_unique<sharded::client>(c, i, places_.shards, o);
    }
    sharded::client& client() { return *client_; }
    const server_places& places() const { return places_; }
    int servers() const { return places_.servers(); }

    /// Where pulled values come to: those of take().
    span<const sharded::pull_target> targets() const { return {targets_.data(), targets_.size()}; }
    void take(float* parameters) const {
        each(0, everything, true, [&](int s, std::int64_t there, std::int64_t here, std::int64_t n) {
            std::copy_n(values_[at(s)].data() + there, n, parameters + here);
        });
    }
    const float* states() const { return states_[0].data(); }

    /// Stretches of an array (client::parameters, or slot k as 1 + k), from and to the parameter's place `from`.
    SINTER_COLD void read(int array, std::int64_t from, float* to, std::int64_t n) {
        each(from, n, array != 0, [&](int s, std::int64_t there, std::int64_t here, std::int64_t count) {
            client_->read(s, array, there, {to + (here - from), static_cast<std::size_t>(count)});
        });
    }
    SINTER_COLD void write(int array, std::int64_t to, const float* from, std::int64_t n) {
        each(to, n, array != 0, [&](int s, std::int64_t there, std::int64_t here, std::int64_t count) {
            client_->write(s, array, there, {from + (here - to), static_cast<std::size_t>(count)});
        });
    }
    SINTER_COLD void read_all(float* parameters) { read(sharded::client::parameters, 0, parameters, everything); }
    SINTER_COLD void write_all(const float* parameters, const float* states) {
        write(sharded::client::parameters, 0, parameters, everything);
        if (const std::int64_t n = places_.shards[0].states)
            client_->write(0, sharded::client::states, 0, {states, static_cast<std::size_t>(n)});
    }
    /// All rows of table t, in their order.
    SINTER_COLD void read_table(int t, int array, float* to) {
        each_shard(t, [&](int s, std::vector<float>& rows, const sharded::row_placement& p, int width) {
            client_->read_rows(s, t, array, 0, {rows.data(), rows.size()});
            for (std::int64_t r = 0; r < p.rows_of(s); ++r)
                std::copy_n(&rows[at(r * width)], width, to + p.row(s, r) * width);
        });
    }
    SINTER_COLD void write_table(int t, int array, const float* from) {
        each_shard(t, [&](int s, std::vector<float>& rows, const sharded::row_placement& p, int width) {
            for (std::int64_t r = 0; r < p.rows_of(s); ++r)
                std::copy_n(from + p.row(s, r) * width, width, &rows[at(r * width)]);
            client_->write_rows(s, t, array, 0, {rows.data(), rows.size()});
        });
    }

private:
    static constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max() / 2;
    server_places places_;
    std::vector<runtime::arena> values_, states_;   ///< of each server
    std::vector<sharded::pull_target> targets_;
    std::unique_ptr<sharded::client> client_;   ///< ends first: until it has left, values may still come

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
            rows.resize(at(table.rows.rows_of(s) * table.of.width));
            if (!rows.empty()) f(s, rows, table.rows, table.of.width);
        }
    }
};

}   // namespace sinter::inline SINTER_TARGET::detail
