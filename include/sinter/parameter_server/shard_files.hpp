// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/shard_layout.hpp>
#include <functional>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A table's rows as they were at one moment, for who copies them, some at a time, while others change them.
struct rows_of_a_moment {
    virtual ~rows_of_a_moment() = default;
    virtual void keys(std::int64_t first, span<std::int64_t> to) const = 0;
    virtual void steps(std::int64_t first, span<std::int64_t> to) const = 0;
    /// Of an array [rows, row_floats]: 0: values, 1 + k: slot k.
    virtual void floats(int array, std::int64_t first, span<float> to) const = 0;
};

/// One table's part of a shard_view: the rows that were made (row_store.hpp), in any order; `keys`
/// says which. Of a table whose rows are known the others are as they begin.
struct table_view {
    std::int64_t rows = 0;
    span<const std::int64_t> keys;   ///< local rows, or 64-bit keys
    span<const std::int64_t> steps;  ///< the global step that updated each last
    float* values = nullptr;         ///< [rows, row_floats]
    std::vector<float*> slots;       ///< each [rows, row_floats]
    /// Where others change the rows meanwhile: what they were. `keys` and `steps` are empty then, `values` and each of
    /// `slots` are null.
    std::shared_ptr<const rows_of_a_moment> then = nullptr;
};

/// A shard as it is saved and restored: memory of the server's.
struct shard_view {
    int server = 0, servers = 1;
    std::int64_t global_step = 0;
    std::int64_t clock = -1;         ///< clocks that are applied; -1: each push is an update by itself
    std::int64_t version = 0;        ///< how often the chief has overwritten the values of the job
    std::int64_t name = -1;          ///< load() says: N of the checkpoint's name, step-N; -1: it has none
    const shard_layout* layout = nullptr;
    float* values = nullptr;         ///< [layout->floats]
    std::vector<float*> slots;       ///< each [layout->floats]
    float* states = nullptr;         ///< [layout->states]
    std::vector<table_view> tables;
    std::string log;                 ///< which pushes are in it, and the clocks: bytes of the server's own

    /// load() hands each row of this server's tables to it: its key, the step that updated it last,
    /// its values and those of each slot. Null: rows are written to `tables`, which has all rows by
    /// their numbers.
    std::function<void(std::size_t table, std::int64_t key, std::int64_t step, const float* values,
                       const float* const* slots)>
        restore_row;
};

/// Where a server's shards are saved. Called by one thread at a time.
class shard_files {
public:
    virtual ~shard_files() = default;
    /// Writes the shard whole or not at all. `where`: as the chief's request says; empty: by its
    /// global step.
    virtual void save(const shard_view&, const std::string& where) = 0;
    /// Fills in a shard from the newest whole checkpoint. False: there is none.
    virtual bool load(shard_view&) = 0;
    /// The job goes on from other values: what this server wrote before is no part of a checkpoint
    /// that is to come.
    virtual void begin_anew() {}
    /// Hands on rows of tables alone, by shard_view::restore_row, of the checkpoint of this name.
    virtual void load_tables(shard_view&, const std::string&) {}
};

} // namespace sinter::parameter_servers
