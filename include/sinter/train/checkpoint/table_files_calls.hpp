// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/saved_variables.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Tables that others keep, in checkpoints. Few models have any: what reads and writes files calls them by
/// trainer_facts::tables, which is null in other programs, and these are spared the code.
namespace sinter::inline SINTER_ORDINARY::safetensors {
struct contents;   // io/safetensors/contents.hpp
struct expected_tensor;   // io/safetensors/check_matches.hpp
struct file;   // io/safetensors/read.hpp
struct entry;   // io/safetensors/write.hpp
struct entry_source;
} // namespace sinter::safetensors
namespace sinter::inline SINTER_ORDINARY::training_parts {

class table_files;   // train/checkpoint/table_files.hpp

/// What a file takes of such tables. All members make each of these calls.
class tables_to_save {
public:
    virtual ~tables_to_save() = default;
    /// By the chief: servers write the tables that they keep beside the file, and `to` says what they have written.
    /// False: no server keeps them, or the chief does not see what they write.
    virtual bool save_beside(table_files& to) = 0;
    /// Tables whose rows are known and that servers keep come to the chief a few rows at a time, and wait on
    /// the disk. False: there are no such servers.
    virtual bool stream(const std::vector<saved_variable>& variables) = 0;
    /// On the chief the next of those that stream() has read, in the variables' order. Null: no more.
    virtual const safetensors::entry_source* next() = 0;
    /// Tables of 64-bit keys. `finite`: data_error for numbers that are not.
    virtual void add_hashed(std::vector<safetensors::entry>& entries, bool whole, bool finite) = 0;
};

/// What load() finds in a file of tables of 64-bit keys.
class tables_to_load {
public:
    virtual ~tables_to_load() = default;
    /// Adds what the file must hold.
    virtual void expect(const trainer_facts& facts, const safetensors::contents& f, bool whole,
                        std::vector<safetensors::expected_tensor>& to) = 0;
    /// Looks at what was expected, before anything changes. Throws format_error.
    virtual void check(const safetensors::contents& f, bool whole) const = 0;
    /// Gives all rows to whoever keeps them; the newest first, where there may be room for less.
    /// `now`: the step that rows of files without steps count as updated at.
    virtual void put(const safetensors::contents& f, bool whole, std::int64_t now, session_base& to) const = 0;
};

/// What the code of checkpoints calls of these tables' code (train/checkpoint/tables_of_servers.hpp).
struct table_files_calls {
    /// `path`: of the file; empty where it is kept in memory.
    std::unique_ptr<tables_to_save> (*to_save)(const trainer_state& t, const std::string& path);
    std::unique_ptr<tables_to_load> (*to_load)();
    /// A file whose tables of 64-bit keys are left there.
    safetensors::file (*open)(const trainer_facts& facts, const std::string& path);
    /// f(contents) of the file that the chief opens so (shared_file.hpp), or does not find.
    void (*with_opened)(session_base& s, const trainer_facts& facts, const std::string& path, saved what,
                        base::function_ref<std::optional<safetensors::file>()> open,
                        base::function_ref<void(const safetensors::contents&)> f);
    static const table_files_calls all;
};

} // namespace sinter::training_parts
