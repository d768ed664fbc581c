// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/parameter_server/checkpoint/tensor_file.hpp>
#include <sinter/parameter_server/table_changes.hpp>
#include <charconv>

/// What has changed of a table since a step, for those who answer queries with a copy of it: its
/// file is as long as there are such rows, however many the table has.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

struct delta_counts {
    std::int64_t rows = 0;      ///< whose values are in it
    std::int64_t removed = 0;   ///< keys that have no row any more
};

/// What a file of changes says of itself.
struct delta_header {
    std::string table;
    std::int64_t since = 0;   ///< 0: all rows that were ever updated; what a copy has is to be forgotten first
    std::int64_t step = 0;
};

/// Writes changes, whole or not at all, as safetensors: keys (I64 [n]: rows of the whole table, or
/// 64-bit keys), values (F32 [n, row_floats]), and removed (I64). Metadata: table, since, step.
/// Throws io_error where the file cannot be written.
SINTER_COLD inline delta_counts write_delta(const std::string& path, const std::string& table, const table_changes& c) {
    using safetensors::dtype;
    const auto n = static_cast<std::int64_t>(c.keys.size()), gone = static_cast<std::int64_t>(c.removed.size());
    safetensors::write(path,
                       {{"keys", dtype::i64, {n}, c.keys.data()},
                        {"values", dtype::f32, {n, c.row_floats}, c.values.data()},
                        {"removed", dtype::i64, {gone}, c.removed.data()}},
                       {{"table", table}, {"since", to_text({c.since})}, {"step", to_text({c.step})}});
    return {n, gone};
}

/// Throws io_error, and format_error where it is no file of changes.
SINTER_COLD inline delta_header read_delta_header(const std::string& path) {
    const tensor_file f(path);
    const auto text = [&](const char* name) -> const std::string& {
        const auto found = f.metadata().find(name);
        if (found == f.metadata().end()) throw format_error("no such metadata", path, "none", name);
        return found->second;
    };
    const auto number = [&](const char* name) {
        const std::string& t = text(name);
        std::int64_t n = -1;
        const auto [end, fault] = std::from_chars(t.data(), t.data() + t.size(), n);
        if (fault != std::errc{} || end != t.data() + t.size() || n < 0)
            throw format_error("no global step", to_text({path, ", ", name}), io::printable(t),
                               "a number of 0 or more");
        return n;
    };
    return {text("table"), number("since"), number("step")};
}

/// Calls put(key, row) for each row of such a file and then remove(key). Holds some rows at a time.
/// Throws io_error, format_error, and mismatch_error where it is of another table: all but errors
/// of reading come before the first call.
template <class Put, class Remove>
delta_counts read_delta(const std::string& path, const std::string& table, int row_floats, Put put, Remove remove) {
    using safetensors::dtype;
    const tensor_file f(path);
    const auto of = f.metadata().find("table");
    if (of == f.metadata().end() || of->second != table)
        throw mismatch_error("changes of another table", path, of == f.metadata().end() ? "no name" : of->second,
                             table);
    const auto list = [&](const char* name) -> const safetensors::tensor_place& {
        const safetensors::tensor_place* const p = f.find(name);
        if (!p || p->type != dtype::i64 || p->shape.size() != 1)
            throw format_error("no such list of keys", path, "none", name);
        return *p;
    };
    const std::vector<std::int64_t> keys = f.all<std::int64_t>(list("keys")),
                                    removed = f.all<std::int64_t>(list("removed"));
    std::vector<std::int64_t> all = keys;
    all.insert(all.end(), removed.begin(), removed.end());
    std::sort(all.begin(), all.end());
    if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
        throw format_error("a key twice", to_text({path, ", keys and removed"}), to_text({*twice}), "keys that differ");
    const auto n = static_cast<std::int64_t>(keys.size());
    const safetensors::tensor_place& values = f.need("values", dtype::f32, {n, row_floats});
    const std::int64_t some = std::max<std::int64_t>(1, (1 << 18) / std::max(row_floats, 1));
    std::vector<float> rows(static_cast<std::size_t>(std::min(n, some) * row_floats));
    for (std::int64_t first = 0; first < n; first += some) {
        const std::int64_t m = std::min(some, n - first);
        f.read(values, static_cast<std::uint64_t>(4 * first * row_floats), rows.data(),
               static_cast<std::size_t>(4 * m * row_floats));
        for (std::int64_t i = 0; i < m; ++i)
            put(keys[static_cast<std::size_t>(first + i)], rows.data() + i * row_floats);
    }
    for (const std::int64_t key : removed) remove(key);
    return {n, static_cast<std::int64_t>(removed.size())};
}

} // namespace sinter::parameter_servers
