// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/inner_stages.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

/// How many streams interleave() deals files to.
struct streams {
    explicit streams(std::int64_t n) : count(n) {}
    std::int64_t count;
};

struct stream_options {
    /// How many batches a pass has. 0: as many as there are, until all streams have ended.
    std::int64_t batches = 0;
};

namespace stage_parts {

/// How rows of batches are dealt to streams, and which of the streams are read.
struct dealt_rows {
    std::int64_t streams, rows, first, last, batches;

    /// Of stream `i` in each batch.
    std::int64_t of(std::int64_t i) const { return begin_of(i + 1) - begin_of(i); }
    /// Of the streams that are read.
    std::int64_t own() const { return begin_of(last) - begin_of(first); }
    /// The same for streams `first_stream` to last_stream - 1 alone; option_error where there are no such.
    SINTER_SELDOM SINTER_COLD dealt_rows only(std::int64_t first_stream, std::int64_t last_stream) const;

private:
    std::int64_t begin_of(std::int64_t i) const {   // rows * i / streams, without an overflow
        return rows / streams * i + rows % streams * i / streams;
    }
};
/// option_error where that cannot be.
SINTER_SELDOM SINTER_COLD dealt_rows deal_rows(streams s, std::int64_t rows, stream_options o);
/// option_error where streams would have no file.
SINTER_SELDOM SINTER_COLD void need_files_for(const dealt_rows& rows, std::int64_t files);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_empty_stream(std::int64_t stream, std::int64_t files);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_place(std::int64_t stream, std::int64_t file);

#if SINTER_BODIES
SINTER_SELDOM_BODY dealt_rows dealt_rows::only(std::int64_t first_stream, std::int64_t last_stream) const {
    if (first_stream < 0 || first_stream >= last_stream || last_stream > streams)
        throw option_error("no such streams", "interleave, only", to_text({first_stream, " to ", last_stream}),
                           to_text({"a first one and one behind the last, between 0 and ", streams}));
    dealt_rows some = *this;
    some.first = first_stream;
    some.last = last_stream;
    return some;
}

SINTER_SELDOM_BODY dealt_rows deal_rows(streams s, std::int64_t rows, stream_options o) {
    constexpr std::int64_t most = 65536;
    if (s.count < 1 || s.count > most)
        throw option_error("impossible number of streams", "interleave", to_text({s.count}), to_text({"1 to ", most}));
    if (rows < s.count)
        throw option_error("fewer rows in a batch than streams", "interleave", to_text({rows}),
                           to_text({s.count, " or more: a row for each stream"}));
    if (o.batches < 0)
        throw option_error("impossible number of batches", "interleave", to_text({o.batches}), "0 or more");
    return {s.count, rows, 0, s.count, o.batches};
}

SINTER_SELDOM_BODY void need_files_for(const dealt_rows& rows, std::int64_t files) {
    if (files < rows.streams && files != endless)
        throw option_error("fewer files than streams", "interleave", to_text({files, " files"}),
                           to_text({rows.streams, " or more: a file for each stream"}));
}

SINTER_APART void refuse_empty_stream(std::int64_t stream, std::int64_t files) {
    throw data_error("a stream has no elements, and cannot begin again", to_text({"interleave, stream ", stream}),
                     to_text({files, " files without an element"}), "an element in one of its files");
}

SINTER_APART void refuse_place(std::int64_t stream, std::int64_t file) {
    throw option_error("no place in a file", to_text({"interleave, stream ", stream, ", its file ", file}), {},
                       "a place that was noted for the same file");
}
#endif

} // namespace stage_parts

template <class F>
struct interleave_streams_step {
    F make;
    stage_parts::dealt_rows rows;

    /// Those of streams `first` to last - 1 alone, as of the stage.
    interleave_streams_step only(std::int64_t first, std::int64_t last) && {
        return {std::move(make), rows.only(first, last)};
    }
    /// So many rows of each batch these are.
    std::int64_t rows_of_batch() const { return rows.own(); }
};

/// Mixes files so that which worker reads which of them changes nothing. Files are dealt to S streams, file number f to
/// stream f mod S. A stream has the elements of its files, one file after the other: those of the pipeline that
/// make(file) gives. In each batch of B rows, stream i of S fills rows B*i/S to B*(i+1)/S - 1, in its order.
///
///     auto files = data::list_files("train-*.tfrecord");
///     auto mixed = files | data::interleave(data::streams(8), [](const std::string& path) {
///         return data::tfrecords(path);
///     }, 256, {.batches = 1000});
///     auto train = mixed.only(0, 4) | data::batch(128);          // worker 0 of 2; the other one has only(4, 8)
///
/// So n workers, where n divides S, each read S/n streams, and open no other files. Worker w has only(w*S/n, (w+1)*S/n)
/// and batches of rows_of_batch() rows: these are its rows of the whole batch.
///
/// Where streams have different lengths there are two ways. With `batches` a pass has exactly so many batches: a stream
/// that ends before begins again at its first file, one that has more is cut off, and the batches are the same for any
/// number of workers. Without, one that has ended fills no rows any more, and those behind move up; a pass ends with
/// its longest stream. Batches are then the same for any number of workers until the first stream ends. From there on
/// each worker still has its streams' elements in the order of one reader, but batches of one worker are filled up
/// from its own streams alone.
///
/// The order of files may change with the pass, and is what the pipeline before it says: it must be one whose elements
/// are found by number, as list_files() and rows() are. make() is called by several threads at a time and gives the
/// same stages for the same element. What is random in them depends on their seeds and on the pass. A map behind this
/// stage draws by an element's number among those that its worker reads: for random numbers that are the same for any
/// number of workers, the map is within make().
///
/// The cursor holds, for each of the S streams, the number of its file and the cursor in it: going on opens one file
/// for each stream that is read, and goes to its place. A cursor of a reader of all streams is good for any only(),
/// which goes on with the entries of its streams; entries of streams that a worker does not read stay as they are. A
/// file for which make() throws is left out.
/// option_error unless 1 <= S <= B, for fewer files than S, for S above 65536, and for batches < 0; data_error where a
/// stream without elements would have to begin again.
template <class F>
interleave_streams_step<F> interleave(streams s, F make, std::int64_t batch_rows, stream_options o = {}) {
    return {std::move(make), stage_parts::deal_rows(s, batch_rows, o)};
}

template <indexed_stage Up, class F>
class interleaved_streams {
    using inner = std::remove_cvref_t<std::invoke_result_t<const F&, const typename Up::value_type&>>;
    struct of_stream {
        std::int64_t file = 0;                    ///< of the stream's files: the one that is read
        stage_parts::cursor_of<inner> at{};       ///< in it
        bool has_given = false;                   ///< an element since the stream began, or began again
        bool ended = false;
    };
    using reading = stage_parts::inner_reading<inner>;   ///< a file; its number is among the stream's

public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps + inner::maps;
    using value_type = typename inner::value_type;
    struct state {
        typename Up::state up;
        std::int64_t pass = 0;
        std::vector<reading> taking;   ///< for next(), of each stream that is read
        stage_parts::inner_states<inner> computing;
    };
    struct cursor {
        std::vector<of_stream> streams;   ///< all of them, once something was read
        std::int64_t stream = 0;          ///< whose turn it is
        std::int64_t row = 0;             ///< of those that it fills in this batch
        std::int64_t round = 0;           ///< number of the batch
    };
    using ticket = stage_parts::inner_ticket<inner>;

    interleaved_streams(Up up, F make, stage_parts::dealt_rows rows)
        : up_(std::move(up)), make_(std::move(make)), rows_(rows) {
        stage_parts::need_files_for(rows_, up_.size());
    }
    /// Those of streams `first` to last - 1 alone: the rows of one worker, in the same order, and no other file is
    /// opened. option_error where there are no such streams.
    SINTER_COLD interleaved_streams only(std::int64_t first, std::int64_t last) const {
        return {up_, make_, rows_.only(first, last)};
    }
    /// So many rows of each batch these are.
    std::int64_t rows_of_batch() const { return rows_.own(); }

    std::int64_t size() const {
        std::int64_t n = 0;
        if (__builtin_mul_overflow(rows_.batches, rows_.own(), &n)) return endless;
        return rows_.batches ? n : unknown_size;
    }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.pass = pass;
        s.taking.clear();
        s.computing.clear();
    }
    bool next(state& s, cursor& c, ticket& k) const {
        s.taking.resize(static_cast<std::size_t>(rows_.last - rows_.first));
        c.streams.resize(static_cast<std::size_t>(rows_.streams));
        for (std::int64_t without = rows_.first; without < rows_.last;) {   // so many streams in a row have ended
            go_to_own_stream(c);
            if (rows_.batches && c.round >= rows_.batches) return false;
            if (take(s, c, k)) {
                if (++c.row >= rows_.of(c.stream)) next_stream(c);
                return true;
            }
            ++without;
            next_stream(c);
        }
        return false;
    }
    value_type get(state& s, ticket& k) const {
        return s.computing.get(k, s.pass, static_cast<std::size_t>(rows_.last - rows_.first));
    }
    /// False for what cannot be a cursor of this stage.
    bool fits(const cursor& c) const {
        if (!c.streams.empty() && static_cast<std::int64_t>(c.streams.size()) != rows_.streams) return false;
        if (c.stream < 0 || c.stream >= rows_.streams || c.row < 0 || c.row >= rows_.of(c.stream)) return false;
        if (c.round < 0) return false;
        if (c.round > INT64_MAX / 2) return false;   // so that it can be counted on
        std::int64_t number = 0;
        for (const of_stream& s : c.streams)
            if (s.file < 0 || s.file > files_of(number++)) return false;
        return true;
    }
    /// Which of the streams are read is not told: the others are other members' part of the same.
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("interleave")("function", type_text<F>())("streams", rows_.streams)("rows of a batch", rows_.rows);
        d("batches", rows_.batches)("goes on", "at the cursors of one file a stream");
        if constexpr (base::tells_settings<F>) make_.describe(d);
    }

private:
    Up up_;
    F make_;
    stage_parts::dealt_rows rows_;

    std::int64_t files_of(std::int64_t stream) const {
        const std::int64_t all = up_.size();
        return all == endless ? INT64_MAX : (all - stream - 1) / rows_.streams + 1;
    }
    void next_stream(cursor& c) const {
        c.row = 0;
        if (++c.stream < rows_.last) return;
        c.stream = rows_.first;
        ++c.round;
    }
    /// A cursor of another only() may stand at a stream that is not read here.
    void go_to_own_stream(cursor& c) const {
        if (c.stream >= rows_.first && c.stream < rows_.last) return;
        if (c.stream >= rows_.last) ++c.round;
        c.stream = rows_.first;
        c.row = 0;
    }
    /// The next element of the stream whose turn it is; false where it has ended.
    bool take(state& s, cursor& c, ticket& k) const {
        of_stream& from = c.streams[static_cast<std::size_t>(c.stream)];
        reading& file = s.taking[static_cast<std::size_t>(c.stream - rows_.first)];
        const std::int64_t files = files_of(c.stream);
        while (!from.ended) {
            if (from.file >= files) {
                begin_again(from, c.stream, files);
                continue;
            }
            if (!file.stages || file.number != from.file) open(s, c.stream, from, file);
            if (stage_parts::next(*file.stages, file.state, from.at, k.of)) {
                from.has_given = true;
                k.stages = file.stages;
                return true;
            }
            file = {};
            from.at = {};
            ++from.file;
        }
        return false;
    }
    /// A stream at its end begins again where a pass has a number of batches, and has ended else.
    void begin_again(of_stream& stream, std::int64_t number, std::int64_t files) const {
        const bool is_empty = !stream.has_given;
        stream = {.ended = rows_.batches == 0 || is_empty};
        if (rows_.batches != 0 && is_empty) stage_parts::refuse_empty_stream(number, files);
    }
    /// Should that throw, the next file is next.
    void open(state& s, std::int64_t stream, of_stream& from, reading& to) const {
        to = {};
        const stage_parts::cursor_of<inner> at = std::exchange(from.at, {});
        const std::int64_t number = from.file++;
        {
            const auto& element = up_.get(s.up, stream + number * rows_.streams);
            to.stages = std::make_shared<const inner>(make_(element));
        }
        if (!stage_parts::fits(*to.stages, at)) stage_parts::refuse_place(stream, number);
        to.stages->begin(to.state, s.pass);
        to.number = number;
        from.file = number;
        from.at = at;
    }
};

template <element_stage Up, class F>
auto operator|(Up up, interleave_streams_step<F> s) {
    constexpr bool numbered = indexed_stage<Up>;
    static_assert(numbered, "interleave: streams are dealt elements by their numbers; needed is an indexed pipeline, "
                            "as list_files() and rows() give it");
    if constexpr (numbered) {
        constexpr bool fits = [] {
            if constexpr (std::is_invocable_v<const F&, const typename Up::value_type&>)
                return element_stage<
                    std::remove_cvref_t<std::invoke_result_t<const F&, const typename Up::value_type&>>>;
            else return false;
        }();
        static_assert(fits, "interleave: needed is a function that takes an element of this pipeline and gives a "
                            "pipeline of elements, without batches");
        if constexpr (fits) return interleaved_streams<Up, F>(std::move(up), std::move(s.make), s.rows);
        else return refused_stage{};
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
