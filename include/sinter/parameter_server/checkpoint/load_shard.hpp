// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/checkpoint/folder.hpp>
#include <sinter/parameter_server/checkpoint/manifest.hpp>
#include <sinter/parameter_server/row_index.hpp>
#include <sinter/parameter_server/shard_files.hpp>
#include <algorithm>
#include <charconv>
#include <deque>

/// A shard's memory as tensors of its file, and back, also from files of another number of servers.
namespace sinter::inline SINTER_ORDINARY::parameter_servers::detail {

/// The tensors of a shard:
///     values, slot/K     F32 [floats]       its array, and each slot of it
///     pieces             I64 [n, 3]         of each range: its place in a worker's parameters, its place
///                                           in the array, its length
///     states             F32 [n]
///     log                U8 [n]
///     table/NAME/keys    I64 [rows]         rows of the whole table, or 64-bit keys
///     table/NAME/steps   I64 [rows]         the step that updated each last
///     table/NAME/values, table/NAME/slot/K  F32 [rows, row_floats]
struct shard_entries {
    std::vector<safetensors::entry> entries;

    SINTER_COLD shard_entries(const shard_view& v, const std::vector<piece>& pieces,
                              const std::vector<row_placement>& tables, int server) {
        using safetensors::dtype;
        const std::int64_t floats = v.layout->floats;
        entries.push_back({"values", dtype::f32, {floats}, v.values});
        for (std::size_t k = 0; k < v.slots.size(); ++k)
            entries.push_back({to_text({"slot/", k}), dtype::f32, {floats}, v.slots[k]});
        for (const piece& p : pieces) pieces_.insert(pieces_.end(), {p.parameter, p.first, p.floats});
        entries.push_back({"pieces", dtype::i64, {static_cast<std::int64_t>(pieces.size()), 3}, pieces_.data()});
        entries.push_back({"states", dtype::f32, {v.layout->states}, v.states});
        entries.push_back({"log", dtype::u8, {static_cast<std::int64_t>(v.log.size())}, v.log.data()});
        for (std::size_t t = 0; t < v.tables.size(); ++t) {
            const table_view& of = v.tables[t];
            const table_layout& l = v.layout->tables[t];
            const std::string name = to_text({"table/", l.name, "/"});
            if (of.then) {
                add_rows(of, name, l.row_floats, [rows = l.rows < 0 ? nullptr : &tables[t], server](std::int64_t k) {
                    return rows ? rows->row(server, k) : k;
                });
                continue;
            }
            std::vector<std::int64_t>& keys = keys_.emplace_back(static_cast<std::size_t>(of.rows));
            for (std::int64_t r = 0; r < of.rows; ++r) {
                const std::int64_t local = of.keys.empty() ? r : of.keys[static_cast<std::size_t>(r)];
                keys[static_cast<std::size_t>(r)] = l.rows < 0 ? local : tables[t].row(server, local);
            }
            entries.push_back({name + "keys", dtype::i64, {of.rows}, keys.data()});
            if (!of.steps.empty()) entries.push_back({name + "steps", dtype::i64, {of.rows}, of.steps.data()});
            entries.push_back({name + "values", dtype::f32, {of.rows, l.row_floats}, of.values});
            for (std::size_t k = 0; k < of.slots.size(); ++k)
                entries.push_back({to_text({name, "slot/", k}), dtype::f32, {of.rows, l.row_floats}, of.slots[k]});
        }
    }
    shard_entries(const shard_entries&) = delete;
    shard_entries& operator=(const shard_entries&) = delete;

private:
    /// Rows that others change meanwhile.
    struct some_rows final : safetensors::entry_source {
        enum class what : std::uint8_t { keys, steps, floats };
        const rows_of_a_moment& from;
        what part;
        int array;
        std::function<std::int64_t(std::int64_t)> key;

        some_rows(const rows_of_a_moment& f, what p, int a = 0, std::function<std::int64_t(std::int64_t)> k = nullptr)
            : from(f), part(p), array(a), key(std::move(k)) {}
        void read(std::uint64_t at, span<std::byte> to) const override {
            const auto first = static_cast<std::int64_t>(at);
            if (part == what::floats)
                return from.floats(array, first / 4, {reinterpret_cast<float*>(to.data()), to.size() / 4});
            const span<std::int64_t> x(reinterpret_cast<std::int64_t*>(to.data()), to.size() / 8);
            if (part == what::steps) return from.steps(first / 8, x);
            from.keys(first / 8, x);
            for (std::int64_t& k : x) k = key(k);
        }
    };
    std::vector<std::int64_t> pieces_;
    std::vector<std::vector<std::int64_t>> keys_;
    std::deque<some_rows> sources_;

    SINTER_COLD void add_rows(const table_view& of, const std::string& name, int width,
                              std::function<std::int64_t(std::int64_t)> key) {
        using what = some_rows::what;
        using safetensors::dtype;
        const auto add = [&](const std::string& part, dtype type, std::vector<std::int64_t> shape, auto... how) {
            entries.push_back({name + part, type, std::move(shape), nullptr, &sources_.emplace_back(*of.then, how...)});
        };
        add("keys", dtype::i64, {of.rows}, what::keys, 0, std::move(key));
        add("steps", dtype::i64, {of.rows}, what::steps);
        add("values", dtype::f32, {of.rows, width}, what::floats);
        for (std::size_t k = 0; k < of.slots.size(); ++k)
            add(to_text({"slot/", k}), dtype::f32, {of.rows, width}, what::floats, static_cast<int>(k) + 1);
    }
};

/// Fills in a shard from files of any number of servers.
class shard_loading {
public:
    struct target {
        std::uint64_t program;
        int server, servers;
        const std::vector<piece>& pieces;
        const std::vector<row_placement>& tables;
    };
    shard_loading(shard_view& v, target to) : v_(v), to_(to) {}

    /// Step and log are those of this server where there were as many, else those of server 0.
    /// Throws mismatch_error where the files are of another program, or lack something.
    SINTER_COLD void from(const std::string& folder, const shard_manifest& m) {
        std::int64_t floats = 0;
        bool states = v_.layout->states == 0;
        const int logged = m.shards.size() == static_cast<std::size_t>(to_.servers) ? to_.server : 0;
        for (const shard_record& r : m.shards) {
            const tensor_file f(to_text({folder, "/", r.file}));
            const auto program = f.metadata().find("program");
            if (program == f.metadata().end() || program->second != to_text({to_.program}))
                throw mismatch_error("a checkpoint of another program, or for another processor", f.path(),
                                     program == f.metadata().end() ? "no program" : program->second,
                                     to_text({to_.program}));
            floats += dense(f);
            states = take_states(f) || states;
            for (std::size_t t = 0; t < v_.tables.size(); ++t) rows(f, t);
            if (r.server != logged) continue;
            v_.global_step = step_of(f);
            const safetensors::tensor_place* const log = f.find("log");
            const std::vector<char> bytes = log ? f.all<char>(*log) : std::vector<char>();
            v_.log.assign(bytes.data(), bytes.size());
        }
        if (floats != v_.layout->floats)
            throw mismatch_error("the checkpoint has not all of this server's parameters", folder,
                                 to_text({floats, " floats"}), to_text({v_.layout->floats, " floats"}));
        if (!states)
            throw mismatch_error("the checkpoint has other states", folder, "none of this length",
                                 to_text({v_.layout->states, " floats"}));
    }
    /// Rows of tables alone, which look the same on all processors.
    SINTER_COLD void tables_from(const std::string& folder, const shard_manifest& m) {
        for (const shard_record& r : m.shards) {
            const tensor_file f(to_text({folder, "/", r.file}));
            for (std::size_t t = 0; t < v_.tables.size(); ++t) rows(f, t);
        }
    }

private:
    shard_view& v_;
    target to_;

    /// As the file says, whose checksum was compared: a manifest has none of its own.
    SINTER_COLD static std::int64_t step_of(const tensor_file& f) {
        const auto step = f.metadata().find("step");
        std::int64_t n = -1;
        if (step == f.metadata().end()) throw format_error("a shard without a step", f.path());
        const std::string& text = step->second;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (fault != std::errc{} || end != text.data() + text.size() || n < 0 || n > most_count)
            throw format_error("no global step", f.path(), io::printable(text), to_text({"0 to ", most_count}));
        return n;
    }
    /// What this file has of the server's array; returns how many floats.
    SINTER_COLD std::int64_t dense(const tensor_file& f) {
        const safetensors::tensor_place* const p = f.find("pieces");
        if (!p || p->type != safetensors::dtype::i64 || p->shape.size() != 2 || p->shape[1] != 3)
            throw format_error("a shard without pieces", f.path());
        const std::vector<std::int64_t> there = f.all<std::int64_t>(*p);
        const safetensors::tensor_place* const values = f.find("values");
        if (!values || values->type != safetensors::dtype::f32 || values->shape.size() != 1)
            throw format_error("a shard without values", f.path());
        const std::int64_t size = values->shape[0];
        std::vector<const safetensors::tensor_place*> slots;
        for (std::size_t k = 0; k < v_.slots.size(); ++k)
            slots.push_back(&f.need(to_text({"slot/", k}), safetensors::dtype::f32, {size}));
        std::int64_t floats = 0;
        for (std::size_t i = 0; i < there.size(); i += 3) {
            const std::int64_t from = there[i], first = there[i + 1], n = there[i + 2];
            if (from < 0 || first < 0 || n < 0 || first > size || n > size - first || from > INT64_MAX - n)
                throw format_error("a piece outside its shard", f.path(), to_text({first, " + ", n, " floats"}),
                                   to_text({"within ", size}));
            for (const piece& q : to_.pieces) {
                const std::int64_t begin = std::max(from, q.parameter);
                const std::int64_t count = std::min(from + n, q.parameter + q.floats) - begin;
                if (count <= 0) continue;
                const auto take = [&](const safetensors::tensor_place& of, float* to) {
                    f.read(of, static_cast<std::uint64_t>(4 * (first + begin - from)),
                           to + q.first + begin - q.parameter, static_cast<std::size_t>(4 * count));
                };
                take(*values, v_.values);
                for (std::size_t k = 0; k < slots.size(); ++k) take(*slots[k], v_.slots[k]);
                floats += count;
            }
        }
        return floats;
    }
    SINTER_COLD bool take_states(const tensor_file& f) {
        const safetensors::tensor_place* const p = f.find("states");
        if (!p || p->type != safetensors::dtype::f32 || v_.layout->states == 0 ||
            p->shape != std::vector<std::int64_t>{v_.layout->states})
            return false;
        f.read(*p, 0, v_.states, static_cast<std::size_t>(p->end - p->begin));
        return true;
    }
    /// This server's rows of table t, some at a time.
    SINTER_COLD void rows(const tensor_file& f, std::size_t t) {
        using safetensors::dtype;
        const table_layout& l = v_.layout->tables[t];
        const std::string name = to_text({"table/", l.name, "/"});
        const safetensors::tensor_place* const k = f.find(name + "keys");
        if (!k || k->type != dtype::i64 || k->shape.size() != 1)
            throw mismatch_error("the checkpoint has no such table", f.path(), "none", io::printable(l.name));
        const std::int64_t n = k->shape[0], width = l.row_floats;
        const safetensors::tensor_place* const steps = f.find(name + "steps");
        if (steps) f.need(name + "steps", dtype::i64, {n});
        std::vector<const safetensors::tensor_place*> arrays{&f.need(name + "values", dtype::f32, {n, width})};
        for (std::size_t s = 0; s < v_.tables[t].slots.size(); ++s)
            arrays.push_back(&f.need(to_text({name, "slot/", s}), dtype::f32, {n, width}));
        const std::int64_t some = std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(width, 1));
        const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
        std::vector<std::int64_t> keys(at(std::min(n, some))), step(keys.size(), 0);
        std::vector<std::vector<float>> values(arrays.size(), std::vector<float>(keys.size() * at(width)));
        std::vector<const float*> slots(arrays.size() - 1);
        for (std::int64_t first = 0; first < n; first += some) {
            const std::int64_t m = std::min(some, n - first);
            f.read(*k, static_cast<std::uint64_t>(8 * first), keys.data(), at(8 * m));
            bool any = false;
            for (std::int64_t i = 0; i < m; ++i) any = any || is_mine(t, keys[at(i)]);
            if (!any) continue;
            if (steps) f.read(*steps, static_cast<std::uint64_t>(8 * first), step.data(), at(8 * m));
            for (std::size_t a = 0; a < arrays.size(); ++a)
                f.read(*arrays[a], static_cast<std::uint64_t>(4 * width * first), values[a].data(), at(4 * width * m));
            for (std::int64_t i = 0; i < m; ++i) {
                if (!is_mine(t, keys[at(i)])) continue;
                check_number(step[at(i)], 0, "no step of a row's last update", f.path().c_str());
                for (std::size_t s = 0; s < slots.size(); ++s) slots[s] = values[s + 1].data() + i * width;
                put(t, keys[at(i)], step[at(i)], values[0].data() + i * width, slots);
            }
        }
    }
    SINTER_COLD bool is_mine(std::size_t t, std::int64_t key) const {
        if (v_.layout->tables[t].rows < 0) return server_of_key(key, to_.servers) == to_.server;
        return key >= 0 && key < to_.tables[t].rows && to_.tables[t].server(key) == to_.server;
    }
    void put(std::size_t t, std::int64_t key, std::int64_t step, const float* row,
             const std::vector<const float*>& slots) {
        const std::int64_t local = v_.layout->tables[t].rows < 0 ? key : to_.tables[t].local(key);
        if (v_.restore_row) return v_.restore_row(t, local, step, row, slots.data());
        table_view& to = v_.tables[t];
        const std::int64_t width = v_.layout->tables[t].row_floats;
        std::copy_n(row, width, to.values + local * width);
        for (std::size_t s = 0; s < slots.size(); ++s) std::copy_n(slots[s], width, to.slots[s] + local * width);
    }
};

} // namespace sinter::parameter_servers::detail
