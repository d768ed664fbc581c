// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/safetensors/open.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/io/scratch_file.hpp>
#include <sinter/train/checkpoint/table_files_calls.hpp>

/// Tables of 64-bit keys (hashed_embedding) in files. Such a table is several tensors: its values
/// by its path, [rows, width]; `PATH/keys`, I64 [rows]; to resume, `optimizer/0/PATH` as of other
/// parameters, and `optimizer/updated/PATH`, I64 [rows], the step that updated each row last. Rows
/// are in the order of their keys, so that the number of servers makes no difference.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// A tensor that waits on the disk until it is written.
class scratch_tensor final : public safetensors::entry_source {
public:
    explicit scratch_tensor(const std::string& folder) : file_(folder) {}
    void append(span<const std::byte> bytes) { file_.append(bytes); }
    std::size_t size() const { return file_.size(); }
    void read(std::uint64_t at, span<std::byte> to) const override { file_.read(at, to); }

private:
    mutable io::scratch_file file_;   // its last bytes are written when it is first read
};

/// What save() writes of them. Rows come from the servers a few at a time and wait on the disk.
class hashed_tables_to_save {
public:
    /// On the chief. `folder`: for what waits. Throws io_error, cluster_error, and data_error for
    /// numbers that are not finite, unless `finite` is false.
    SINTER_APART SINTER_COLD void take(const trainer_state& t, bool whole, const std::string& folder, bool finite);
    SINTER_APART SINTER_COLD void add_to(std::vector<safetensors::entry>& entries);

private:
    enum array : int { keys, steps, values };
    struct table {
        std::string path;
        int width;
        std::vector<scratch_tensor> arrays;   ///< keys, steps, values, then slots
        bool whole = false;
    };
    std::vector<table> tables_;
};

/// What load() finds of them in a file.
class hashed_tables_to_load final : public tables_to_load {
public:
    SINTER_APART SINTER_COLD void expect(const trainer_facts& facts, const safetensors::contents& f, bool whole,
                                         std::vector<safetensors::expected_tensor>& to) override;
    SINTER_APART SINTER_COLD void check(const safetensors::contents& f, bool whole) const override;
    SINTER_APART SINTER_COLD void put(const safetensors::contents& f, bool whole, std::int64_t now,
                                      session_base& to) const override;
    /// Whether a file's tensor of this name has a row for each of such a table's.
    SINTER_APART SINTER_COLD static bool has_rows(const trainer_facts& facts, std::string_view name);
    /// Looks at all that the chief alone knows of a file. Throws mismatch_error and format_error.
    SINTER_APART SINTER_COLD static void check_rows(const trainer_facts& facts, const safetensors::contents& f,
                                                    bool whole);

private:
    struct table {
        const variable_info* v;
        std::string path;
        int slots;
        std::size_t rows;
    };
    std::vector<table> tables_;
};

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/number_text.hpp>
#include <sinter/io/safetensors/check_matches.hpp>
#include <sinter/strategy/table_calls.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <sinter/train/not_finite.hpp>
#include <algorithm>
#include <cstring>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_COLD inline std::string keys_name(const std::string& path) { return path + "/keys"; }
SINTER_COLD inline std::string steps_name(const std::string& path) { return "optimizer/updated/" + path; }

/// The rows of one such table as a file has them.
class rows_of_file {
public:
    std::vector<std::size_t> order;                   ///< which of the file's rows is number i; empty: that one
    safetensors::tensor_reader keys, steps;           ///< steps: empty: all are `now`
    std::int64_t now = 0;
    std::size_t width = 0;                            ///< floats of a row
    std::vector<safetensors::tensor_reader> values;   ///< of the table, and of each slot

    /// `row` may be null: only the key and the step. io_error where the file is no longer what it
    /// was.
    void get(std::size_t i, std::int64_t& key, std::int64_t& step, float* row) {
        const std::size_t at = order.empty() ? i : order[i];
        key = keys.number(at);
        step = steps.size() == 0 ? now : steps.number(at);
        if (!row) return;
        for (safetensors::tensor_reader& x : values) {
            x.read(std::uint64_t{4} * width * at, {reinterpret_cast<std::byte*>(row), 4 * width});
            row += width;
        }
    }
};
SINTER_COLD inline std::vector<std::size_t> newest_first(std::size_t rows, safetensors::tensor_reader& steps) {
    std::vector<std::int64_t> step(rows);
    steps.read(0, {reinterpret_cast<std::byte*>(step.data()), 8 * rows});
    std::vector<std::size_t> order(rows);
    for (std::size_t i = 0; i < rows; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return step[a] > step[b]; });
    return order;
}

SINTER_APART void hashed_tables_to_save::take(const trainer_state& t, bool whole, const std::string& folder,
                                              bool finite) {
    const table_calls& calls = *t.session().tables();
    for (const variable_info& v : t.facts.parameters) {
        if (!is_hashed_table(v)) continue;
        table to{t.facts.path(v), v.s.last(), {}, whole};
        const int slots = whole ? t.facts.slots_of(v) : 0;
        for (int k = 0; k < 3 + slots; ++k) to.arrays.emplace_back(folder);
        calls.each_row(v, [&](std::int64_t key, std::int64_t step, const float* row) {
            to.arrays[keys].append({reinterpret_cast<const std::byte*>(&key), sizeof key});
            to.arrays[steps].append({reinterpret_cast<const std::byte*>(&step), sizeof step});
            const std::int64_t floats = std::int64_t{to.width} * (1 + slots);
            if (const std::int64_t at = finite ? first_not_finite(row, floats) : floats; at < floats)
                throw data_error("a row has a number that is not finite",
                                 to_text({to.path, ", key ", key, ", number ", at}), base::number_text(row[at]),
                                 "finite numbers: try a smaller learning rate");
            for (int k = 0; k < 1 + slots; ++k)
                to.arrays[static_cast<std::size_t>(values + k)].append(
                    {reinterpret_cast<const std::byte*>(row + std::int64_t{k} * to.width),
                     static_cast<std::size_t>(to.width) * 4});
        });
        tables_.push_back(std::move(to));
    }
}
SINTER_APART void hashed_tables_to_save::add_to(std::vector<safetensors::entry>& entries) {
    using safetensors::dtype;
    for (table& t : tables_) {
        const auto rows = static_cast<std::int64_t>(t.arrays[keys].size() / 8);
        entries.push_back({keys_name(t.path), dtype::i64, {rows}, nullptr, &t.arrays[keys]});
        for (std::size_t k = values; k < t.arrays.size(); ++k)
            entries.push_back({k == values ? t.path : slot_name(t.path, static_cast<int>(k) - values - 1),
                               dtype::f32, {rows, t.width}, nullptr, &t.arrays[k]});
        if (t.whole) entries.push_back({steps_name(t.path), dtype::i64, {rows}, nullptr, &t.arrays[steps]});
    }
}

SINTER_APART void hashed_tables_to_load::expect(const trainer_facts& facts, const safetensors::contents& f, bool whole,
                                                std::vector<safetensors::expected_tensor>& to) {
    using safetensors::dtype;
    for (const variable_info& v : facts.parameters) {
        if (!is_hashed_table(v)) continue;
        const std::string path = facts.path(v);
        if (const auto apart = table_files::of(f); apart && apart->has(path)) continue;
        const auto found = f.tensors.find(keys_name(path));
        const std::int64_t rows =
            found != f.tensors.end() && found->second.shape.size() == 1 ? found->second.shape[0] : 0;
        const int slots = whole ? facts.slots_of(v) : 0;
        to.push_back({keys_name(path), dtype::i64, {rows}});
        to.push_back({path, dtype::f32, {rows, v.s.last()}});
        for (int k = 0; k < slots; ++k) to.push_back({slot_name(path, k), dtype::f32, {rows, v.s.last()}});
        if (whole) to.push_back({steps_name(path), dtype::i64, {rows}});
        tables_.push_back({&v, path, slots, static_cast<std::size_t>(rows)});
    }
}
SINTER_APART bool hashed_tables_to_load::has_rows(const trainer_facts& facts, std::string_view name) {
    for (const variable_info& v : facts.parameters) {
        if (!is_hashed_table(v)) continue;
        const std::string path = facts.path(v);
        if (name == path || name == keys_name(path) || name == steps_name(path)) return true;
        for (int k = 0; k < facts.slots_of(v); ++k)
            if (name == slot_name(path, k)) return true;
    }
    return false;
}
SINTER_APART void hashed_tables_to_load::check_rows(const trainer_facts& facts, const safetensors::contents& f,
                                                    bool whole) {
    hashed_tables_to_load tables;
    std::vector<safetensors::expected_tensor> expected;
    tables.expect(facts, f, whole, expected);
    for (const safetensors::expected_tensor& e : expected)
        if (const safetensors::tensor_view& t = f.at(e.name); t.type != e.type || t.shape != e.shape)
            throw mismatch_error("a tensor does not fit the program", to_text({f.source, ", tensor ", e.name}),
                                 safetensors::describe(t.type, t.shape), safetensors::describe(e.type, e.shape));
    tables.check(f, whole);
}
SINTER_APART void hashed_tables_to_load::check(const safetensors::contents& f, bool whole) const {
    for (const table& t : tables_) {
        std::vector<std::int64_t> sorted(t.rows);
        safetensors::tensor_reader(f, f.at(keys_name(t.path)))
            .read(0, {reinterpret_cast<std::byte*>(sorted.data()), 8 * t.rows});
        std::sort(sorted.begin(), sorted.end());
        if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
            throw format_error("a key twice", to_text({f.source, ", tensor ", keys_name(t.path)}),
                               to_text({*twice}), "keys that differ");
        if (!whole) continue;
        safetensors::tensor_reader steps(f, f.at(steps_name(t.path)));
        for (std::size_t i = 0; i < t.rows; ++i)
            if (const std::int64_t step = steps.number(i); step < 0)
                throw format_error("number of steps", to_text({f.source, ", tensor ", steps_name(t.path)}),
                                   to_text({step}), "0 or more");
    }
}
SINTER_APART void hashed_tables_to_load::put(const safetensors::contents& f, bool whole, std::int64_t now,
                                             session_base& to) const {
    for (const table& t : tables_) {
        const auto of = std::make_shared<rows_of_file>();
        const auto reads = [&](const std::string& name) { return safetensors::tensor_reader(f, f.at(name)); };
        of->keys = reads(keys_name(t.path));
        if (whole) of->steps = reads(steps_name(t.path));
        of->now = now;
        of->width = static_cast<std::size_t>(t.v->s.last());
        of->values.push_back(reads(t.path));
        for (int k = 0; k < t.slots; ++k) of->values.push_back(reads(slot_name(t.path, k)));
        if (whole) of->order = newest_first(t.rows, of->steps);
        to.tables()->put_rows(*t.v, t.slots, t.rows,
                              [of](std::size_t i, std::int64_t& key, std::int64_t& step, float* row) {
                                  of->get(i, key, step, row);
                              },
                              f.left_in != nullptr);
    }
}

} // namespace sinter::training_parts
#endif
