// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/batch_view.hpp>
#include <sinter/data/stage.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// What makes the rows of batches: a pipeline's stages behind an interface that knows no types (data/batches.hpp).
/// Elements are taken one after the other, by one thread at a time. Their values are computed by any number of
/// threads, each row where it belongs: so batches are the same whatever the number of threads.
class row_source {
public:
    virtual ~row_source() = default;
    virtual const column_list& columns() const = 0;
    virtual std::int64_t size() const = 0;   ///< elements in a pass, or unknown_size or endless
    /// So many threads will call fill() from now on, while so many batches of up to `rows` rows are being made. Both
    /// are counted from 0.
    virtual void prepare(int threads, int batches, int rows) = 0;
    /// The next element taken is the one at this place. Rows that were taken before may still be filled.
    virtual void start(const position& at) = 0;
    /// Where the next element is that would be taken: writes the cursors alone.
    virtual void save_cursors(std::string& to) const = 0;
    /// format_error where these are no cursors of this pipeline.
    virtual void need_cursors(const std::string& cursors) const = 0;
    /// Takes the next n elements for rows from `first` on of a batch; how many there were: fewer at the pass's end.
    virtual int take(int batch, int first, int n) = 0;
    /// Computes rows first to first + n - 1 of that batch, and writes them from row `at` of the buffer on. Each row is
    /// computed once at most: its value may have been moved from.
    virtual void fill(int thread, int batch, int first, int n, batch_buffer& to, int at) = 0;
    virtual void describe(description& d) const = 0;
};

} // namespace sinter::data
