// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/callback.hpp>
#include <sinter/base/span.hpp>
#include <sinter/graph/variable_info.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

/// Tables that others keep (strategy_traits::remote_tables), as a process sees them: session_base::tables(). A row is
/// its values, and behind them the optimizer's memory of it, slot by slot.
class table_calls {
public:
    /// f(table, slot, number, key, value) of a number that is infinite or NaN. slot -1: its values. `number` is its
    /// place in the table's plain form, or in the row of `key` where keys are any numbers; -1: it is to be looked for
    /// in what session_base::read() gives. `key`: null where rows have numbers.
    using wrong_number_function =
        base::callback<void(const variable_info&, int, std::int64_t, const std::int64_t*, float)>;
    /// f(key, step of its last update, row).
    using row_function = base::callback<void(std::int64_t, std::int64_t, const float*)>;
    /// f(i, key, step, row) says what row number i of those that are given is.
    using given_row_function = base::callback<void(std::size_t, std::int64_t&, std::int64_t&, float*)>;
    /// f(rows): some at a time.
    using rows_function = base::callback<void(span<const float>)>;
    /// f(folder's name, file, its bytes, its checksum).
    using file_function =
        base::callback<void(const std::string&, const std::string&, std::uint64_t, std::uint64_t)>;

    /// The table begins with its initializer's values by this key of random numbers, on whoever keeps it.
    virtual void start_table(const variable_info&, std::uint64_t key) = 0;
    /// Whether others keep tables and the optimizer's memory now. They look for infinities and NaN themselves, and f is
    /// called of the first in each variable and slot.
    virtual bool each_wrong_number(wrong_number_function f) const = 0;
    /// Rows of a table whose keys are any numbers, in their order. Of an asynchronous job that goes on this is no cut.
    virtual void each_row(const variable_info&, row_function f) const = 0;
    /// The table has these `n` rows, and no others. `slots`: of each row behind its values, or 0: they begin anew.
    /// Where there is no room for all, those of low numbers stay. `lasts`: f may be called later, too.
    virtual void put_rows(const variable_info&, int slots, std::size_t n, given_row_function f,
                          bool lasts = false) = 0;
    /// Whether those that keep tables can save them better than the chief can: save_tables(), each_block().
    virtual bool keeps_tables() const = 0;
    /// f of a table of known rows (slot -1: its values), some at a time: where keeps_tables().
    virtual void each_block(const variable_info&, int slot, rows_function f) = 0;
    /// By the chief: all write their rows below this folder. False: the chief does not see the files.
    virtual bool save_tables(const std::string& folder, file_function f) = 0;
    /// Rows are those of folder/name/file from now on. `slots`: with the optimizer's memory.
    virtual void put_tables(const std::string& folder, const std::string& name, const std::vector<std::string>& files,
                            bool slots) = 0;

protected:
    ~table_calls() = default;
};

} // namespace sinter
