// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/row_list.hpp>
#include <sinter/parameter_server/placement.hpp>
#include <sinter/parameter_server/row_index.hpp>
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/strategy/parameter_server/drawn_rows.hpp>
#include <sinter/strategy/parameter_server/remote_lookups.hpp>
#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The tables of a worker whose rows are elsewhere: finds the unique rows that a batch names,
/// gives the program their numbers in its compact copies, and moves rows between these and what
/// travels. P: a training program with program_options::remote_tables; Others: those of further
/// losses that alternate with P's.
///
///     const batch_view whole = tables.prepare<P>(batch);            the batch, and the lookups' ports
///     tables.wanted(t, s).keys                                      what to ask server s for, of table t
///     tables.place(t, s, pulled, replica.host(tables.table(t).at))    into the compact copy
///     replica.step(whole, ...)
///     tables.collect(t, s, gradient, to)                            what server s is to be sent
///
/// Where the next batch is prepared while a step runs, there are two of these. Allocates nothing
/// after its construction, unless a table is of more servers than ever before.
template <class P, class... Others>
class remote_tables {
public:
    static constexpr int count = compiler::remote_tables_of<P>.n;
    static constexpr const remote_table& table(int t) { return compiler::remote_tables_of<P>.at[t]; }
    /// The table whose variable, gradient or slot lies at this address, or -1.
    static constexpr int table_at(compiler::address a) {
        for (int t = 0; t < count; ++t) {
            const std::int64_t z = P::v.z.trained, at = table(t).at.offset();
            if (a == table(t).at || a == table(t).gradient) return t;
            if (a.where() == compiler::space::slot && z > 0 && a.offset() % z == at) return t;
        }
        return -1;
    }

    /// What goes to one server. Rows of a table are its own numbers on that server, keys of a
    /// hashed one are the keys.
    struct of_server {
        span<const std::int64_t> keys;
        span<const std::int32_t> places;   ///< of each in the compact copy
    };

    /// `place[t]` says which server has which row of table t; a hashed table needs servers alone.
    SINTER_COLD explicit remote_tables(span<const parameter_servers::row_placement> place)
        : place_(place.begin(), place.end()) {
        if (place_.size() != at(count))
            throw option_error("placements do not fit the program's tables", "remote_tables", to_text({place_.size()}),
                               to_text({count}));
        for (int t = 0; t < count; ++t) {
            tables_.emplace_back(table(t).most_rows);
            prepare_servers(tables_.back(), place_[at(t)].servers, table(t).most_rows);
        }
    }

    /// Finds the rows that a batch names. The result is the batch with the lookups' ports behind
    /// its inputs, good until the next call; `Q` is the program that it is for, P or another of the
    /// model. `v`: of the step that it is for, where the net draws rows (sampled softmax). Throws
    /// data_error where the batch does not fit Q, and then nothing has changed.
    template <class Q = P>
    batch_view prepare(const batch_view& b, const step_values& v = {}) {
        return prepare<Q>(b, v, {&v.shard, 1});
    }
    /// The same for a batch that is cut into parts, each of which draws rows of its own, by its
    /// numbers. The result has the first part's: place_drawn() has those of others.
    template <class Q = P>
    batch_view prepare(const batch_view& b, const step_values& v, span<const runtime::batch_shard> parts) {
        static constexpr auto& look = compiler::remote_lookups_of<Q>;
        if (b.size < 1 || b.size > most_examples) session_parts::refuse_size(b.size, most_examples);
        const std::int32_t* from[std::size_t{look.n + 1}];
        find_sources<Q>(b, from);
        for (table_rows& t : tables_) t.rows.clear();
        parts_ = static_cast<int>(parts.size());
        if constexpr (look.drawn > 0)
            for (int part = 0; part < parts_; ++part) {
                step_values own = v;
                own.shard = parts[at(part)];
                drawn<Q>().draw(part, own);
            }
        begin_ports<Q>(b);
        for (int t = 0; t < count; ++t) name_rows<Q>(t, b.size, from);
        for (int t = 0; t < count; ++t) split(t);
        batch_view whole = b;
        whole.inputs = {inputs_.data(), inputs_.size()};
        return whole;
    }
    /// Where program Q's run on part `part` of the prepared batch has what all of its examples
    /// share: to `ports`, which are those of the batch.
    template <class Q>
    void place_drawn(int part, const float** ports) {
        static constexpr auto& look = compiler::remote_lookups_of<Q>;
        if constexpr (look.drawn > 0) {
            constexpr int own = Q::v.n_inputs - look.n - look.drawn;
            for (int i = 0; i < look.n; ++i)
                if (!look.at[i].batched)
                    ports[own + i] = reinterpret_cast<const float*>(ports_[at(i)].data() + part * look.at[i].width);
            for (int i = 0; i < look.drawn; ++i)
                ports[own + look.n + i] = reinterpret_cast<const float*>(drawn<Q>().of(part, i).data());
        }
    }
    /// The unique rows that the batch names, or keys, in the order in which they first occur.
    span<const std::int64_t> keys(int t) const { return tables_[at(t)].rows.keys(); }
    /// Which server has the row of this key, and as which of its own.
    int server_of(int t, std::int64_t key) const {
        const parameter_servers::row_placement& p = place_[at(t)];
        return table(t).hashed ? parameter_servers::server_of_key(key, p.servers) : p.server(key);
    }
    std::int64_t key_there(int t, std::int64_t key) const { return table(t).hashed ? key : place_[at(t)].local(key); }
    of_server wanted(int t, int server) const {
        const table_rows& r = tables_[at(t)];
        const std::size_t from = r.first[at(server)], n = r.first[at(server) + 1] - from;
        return {{r.server_keys.data() + from, n}, {r.places.data() + from, n}};
    }
    /// Puts pulled rows, in the order of wanted(), into the compact copy.
    void place(int t, int server, const float* rows, float* compact) const {
        const std::int64_t width = table(t).width;
        for (const std::int32_t p : wanted(t, server).places) {
            std::copy_n(rows, width, compact + p * width);
            rows += width;
        }
    }
    /// Writes the gradients of server's rows one behind the other to `to`; they are of the keys
    /// that it returns, good until the next call. `gradient`: the step's list, whose keys are the
    /// compact copy's rows. Rows of which the list has none are left out.
    span<const std::int64_t> collect(int t, int server, const row_list& gradient, float* to) {
        table_rows& r = tables_[at(t)];
        const std::int64_t width = table(t).width;
        std::fill_n(r.in_list.begin(), r.rows.size(), -1);
        for (int k = 0; k < gradient.size(); ++k) r.in_list[at(gradient.key(k))] = k;
        const of_server all = wanted(t, server);
        std::size_t n = 0;
        for (std::size_t i = 0; i < all.keys.size(); ++i) {
            const std::int32_t k = r.in_list[at(all.places[i])];
            if (k < 0) continue;
            r.pushed[n++] = all.keys[i];
            std::copy_n(gradient.row(k), width, to), to += width;
        }
        return {r.pushed.data(), n};
    }
    /// A gradient that is stored whole, as the compact copy is, as a list of the rows that the
    /// batch names.
    row_list as_list(int t, float* gradient) {
        std::vector<std::int32_t>& keys = tables_[at(t)].all;
        keys[0] = tables_[at(t)].rows.size();
        return {keys.data(), gradient, table(t).width};
    }

private:
    static constexpr int most_examples = P::request::options.remote_tables,
                         most_parts = P::request::options.remote_parts;
    static constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    struct table_rows {
        explicit table_rows(int most)
            : rows(most), places(at(most)), in_list(at(most)), all(at(list_header + most)), server_keys(at(most)),
              pushed(at(most)) {
            for (int k = 0; k < most; ++k) all[at(list_header + k)] = k;
        }
        parameter_servers::row_index rows;
        std::vector<std::int32_t> places, in_list, all;   ///< all: a list's keys, 0 1 2 ...
        std::vector<std::int64_t> server_keys, pushed;
        std::vector<std::size_t> first;   ///< of each server, and the end
    };
    std::vector<parameter_servers::row_placement> place_;
    std::vector<table_rows> tables_;
    std::vector<input_view> inputs_;
    std::vector<std::vector<std::int32_t>> ports_;
    int parts_ = 1;   ///< of the prepared batch
    std::tuple<typename drawn_rows_of<P>::type, typename drawn_rows_of<Others>::type...> drawn_;

    /// Of training program Q; of P where Q is none.
    template <class Q>
    auto& drawn() {
        constexpr std::size_t number = [] {
            std::size_t found = 0, i = 0;
            ((++i, found = std::is_same_v<Q, Others> ? i : found), ...);
            return found + 0 * i;
        }();
        return std::get<number>(drawn_);
    }

    static void prepare_servers(table_rows& r, int servers, int) { r.first.assign(at(servers) + 1, 0); }

    /// Where each lookup's integers are, checked.
    template <class Q>
    void find_sources(const batch_view& b, const std::int32_t** from) {
        static constexpr auto& look = compiler::remote_lookups_of<Q>;
        const float* targets[std::size_t{Q::v.n_targets + 1}];
        if constexpr (look.of_targets) session_parts::bind_targets(b, Q::v.targets, Q::v.n_targets, targets);
        for (int i = 0; i < look.n; ++i) {
            const remote_lookup& l = look.at[i];
            from[i] = nullptr;
            if (l.source == lookup_source::drawn) continue;
            const float* x = l.source == lookup_source::target
                                 ? targets[l.number]
                                 : session_parts::input_port(b, l.number, Q::v.inputs[l.number]);
            from[i] = reinterpret_cast<const std::int32_t*>(x);
        }
    }
    /// The batch's inputs, and behind them the lookups' ports.
    template <class Q>
    void begin_ports(const batch_view& b) {
        static constexpr auto& look = compiler::remote_lookups_of<Q>;
        constexpr std::size_t own = at(Q::v.n_inputs - look.n - look.drawn);
        if (ports_.size() < at(look.n)) ports_.resize(at(look.n));
        inputs_.resize(at(Q::v.n_inputs));
        for (std::size_t i = 0; i < own && !b.inputs.empty(); ++i)
            inputs_[i] = session_parts::input_column(b, static_cast<int>(i), Q::v.inputs[i]);
        if (b.inputs.empty() && own && b.x) inputs_[0] = {b.x, nullptr, Q::v.inputs[0].s.size()};
        for (int i = 0; i < look.n; ++i) {
            const remote_lookup& l = look.at[i];
            std::vector<std::int32_t>& port = ports_[at(i)];
            if (const std::size_t n = at(l.width) * at(l.batched ? most_examples : most_parts); port.size() < n)
                port.resize(n);
            inputs_[own + at(i)] = {nullptr, port.data(), l.width};
        }
        if constexpr (look.drawn > 0)
            for (int i = 0; i < look.drawn; ++i)
                inputs_[own + at(look.n + i)] = {nullptr, drawn<Q>().of(0, i).data(),
                                                 static_cast<int>(drawn<Q>().of(0, i).size())};
    }
    /// Example by example, and within one in the order in which gradients of lookups are joined:
    /// then the compact rows have the order that a list of the table's own would have.
    template <class Q>
    void name_rows(int t, int examples, const std::int32_t* const* from) {
        static constexpr auto& look = compiler::remote_lookups_of<Q>;
        parameter_servers::row_index& rows = tables_[at(t)].rows;
        const auto name = [&](int i, int place, const std::int32_t* x) {
            const remote_lookup& l = look.at[i];
            std::int32_t* to = ports_[at(i)].data() + std::int64_t{place} * l.width;
            for (int k = 0; k < l.width; ++k)
                to[k] = rows.place_of(l.words == 1 ? x[k] : parameter_servers::key_of_words(x[2 * k], x[2 * k + 1]));
        };
        for (int e = 0; e < examples; ++e)
            for (int i = look.n - 1; i >= 0; --i)
                if (const remote_lookup& l = look.at[i]; l.table == t && l.batched)
                    name(i, e, from[i] + std::int64_t{e} * l.width * l.words);
        for (int part = 0; part < parts_; ++part)
            for (int i = 0; i < look.n; ++i) {
                const remote_lookup& l = look.at[i];
                if (l.table != t || l.batched) continue;
                const std::int32_t* x = from[i];
                if constexpr (look.drawn > 0)
                    if (l.source == lookup_source::drawn) x = drawn<Q>().of(part, l.number).data();
                name(i, part, x);
            }
    }
    /// By server, each one's in the order in which they first occur.
    void split(int t) {
        table_rows& r = tables_[at(t)];
        const span<const std::int64_t> all = r.rows.keys();
        std::fill(r.first.begin(), r.first.end(), std::size_t{0});
        for (const std::int64_t key : all) ++r.first[at(server_of(t, key))];
        std::size_t sum = 0;
        for (std::size_t& f : r.first) sum += f, f = sum;   // each server's end
        for (std::size_t i = all.size(); i-- > 0;) {
            const std::size_t to = --r.first[at(server_of(t, all[i]))];
            r.places[to] = static_cast<std::int32_t>(i);
            r.server_keys[to] = key_there(t, all[i]);
        }
    }
};

} // namespace sinter::strategy_parts
