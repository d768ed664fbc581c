// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/features.hpp>
#include <sinter/data/stage.hpp>
#if SINTER_BODIES
#include <sinter/base/os/file_status.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// The file's records as examples: `csv_examples("train.csv", people) | shuffle(10'000) |
/// batch(64)`. Plain or gzip. Its size is unknown until a pass has come to its end. Errors as
/// csv::reader and features.
SINTER_APART examples csv_examples(const std::string& path, const features& f, const csv::options& o = {});

#if SINTER_BODIES
/// Examples of a CSV file that is read anew in each pass: none of it is kept in memory.
class csv_stage final : public example_stage {
public:
    csv_stage(std::string path, features f, csv::options o)
        : path_(std::move(path)), features_(std::move(f)), options_(std::move(o)) {
        if (features_.width()) add(role::input, features_.width(), dtype::f32);
        for (int i = 0; i < features_.indices(); ++i) add(role::input, 1, dtype::i32);
        if (features_.has_label()) add(role::label, 1, dtype::i32);
        if (features_.has_target()) add(role::target, 1, dtype::f32);
        if (columns_.count == 0) throw option_error("there are no features", "csv_examples");
        x_.resize(static_cast<std::size_t>(features_.width()));
        index_.resize(static_cast<std::size_t>(features_.indices()));
        begin(0);   // what is wrong with the header is told now
        features_.need_fitted("csv_examples");
        look_at_first();
    }
    const column_list& columns() const override { return columns_; }
    std::int64_t size() const override { return size_; }
    void begin(std::int64_t) override {
        in_.reset();
        in_ = std::make_unique<open_file>(path_, options_);
        features_.bind(in_->reader.names().empty() ? numbered() : in_->reader.names(), path_);
        read_ = 0;
    }
    bool next(const void** rows) override {
        if (!in_->reader.next()) return ended();
        const span<const csv::field> row = in_->reader.fields();
        features_.write(row, x_.data(), index_.data());
        std::size_t c = 0;
        if (!x_.empty()) rows[c++] = x_.data();
        for (const std::int32_t& i : index_) rows[c++] = &i;
        if (features_.has_label()) label_ = features_.label_of(row), rows[c++] = &label_;
        if (features_.has_target()) target_ = features_.target_of(row), rows[c++] = &target_;
        ++read_;
        return true;
    }
    /// How many examples there are only a pass tells: so the file's length, in bytes, as it lies there.
    SINTER_COLD void describe(description& d) const override {
        d.stage("records of a CSV file")("bytes of the file", bytes_);
        d("the first example (its hash)", first_);
    }
    void skip(std::int64_t n) override {
        for (; n > 0 && in_->reader.next(); --n) ++read_;
        if (n > 0) ended();
    }

private:
    struct open_file {
        open_file(const std::string& path, const csv::options& o) : file(path), plain(file), reader(plain, o) {}
        io::input_file file;
        io::gzip_source plain;
        csv::reader reader;
    };
    std::string path_;
    features features_;
    csv::options options_;
    column_list columns_;
    std::unique_ptr<open_file> in_;
    std::vector<float> x_;
    std::vector<std::int32_t> index_;
    std::int32_t label_ = 0;
    float target_ = 0;
    std::int64_t size_ = unknown_size, read_ = 0, bytes_ = 0;
    std::uint64_t first_ = 0;   // example, its hash

    /// For describe(). What is wrong with the first record is for those to say who ask for it.
    SINTER_COLD void look_at_first() {
        const base::os::file_status s = base::os::status_of(path_);
        if (!s.is_regular()) return;   // a pipe's bytes come once
        bytes_ = static_cast<std::int64_t>(s.bytes);
        const void* rows[column_list::most];
        try {
            if (next(rows)) {
                base::fnv1a_hash h;
                for (std::size_t c = 0; c < columns_.size(); ++c)
                    for (std::size_t b = 0; b < columns_[c].bytes(); ++b)
                        h.add(static_cast<const unsigned char*>(rows[c])[b]);
                first_ = h.value();
            }
        } catch (const error&) {
        }
        size_ = unknown_size;
        begin(0);
    }
    void add(role use, int width, dtype type) {
        if (columns_.count == column_list::most)
            throw option_error("too many features of their own", "csv_examples", {},
                               "at most " + std::to_string(column_list::most));
        column c{use, extents(width)};
        c.row.type = type;
        columns_[columns_.count++] = c;
    }
    /// A file without header and names: its columns are 0, 1, ..., and how many there are its first
    /// record tells.
    std::vector<std::string> numbered() {
        if (in_->reader.next()) {
            const std::vector<std::string> names = in_->reader.names();
            in_ = std::make_unique<open_file>(path_, options_);
            return names;
        }
        throw format_error("no records", path_, "an empty file", "at least one");
    }
    bool ended() {   // from now on the number of examples is known
        size_ = read_;
        return false;
    }
};

SINTER_APART examples csv_examples(const std::string& path, const features& f, const csv::options& o) {
    return examples(new csv_stage(path, f, o));
}
#endif

} // namespace sinter::data
