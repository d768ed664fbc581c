// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/record.hpp>
#include <sinter/data/source/csv/record_places.hpp>
#include <sinter/data/source/csv/values.hpp>
#include <sinter/data/stages/stage.hpp>
#include <limits>
#include <memory>
#if SINTER_BODIES
#include <sinter/data/source/csv/number.hpp>
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data::csv {

/// Which columns of CSV files become fields of records, and of which types.
struct record_options {
    std::vector<std::string> columns{};      ///< these, in this order; empty: all of the first file
    std::vector<record_field> types{};       ///< types of single columns: name, type, optional
    std::int64_t look_at = std::numeric_limits<std::int64_t>::max();   ///< records that the other types are found by
    char decimal = '.';                      ///< or ',': the sign between a number's whole part and the rest
};

/// Records of CSV files, their schema, and where in each file its columns are.
class record_files {
public:
    SINTER_APART record_files(file_paths paths, options o, record_options r);
    std::int64_t size() const { return places_.size(); }
    const record_schema& schema() const { return schema_; }
    SINTER_SELDOM record get(record_places::held& h, std::int64_t i) const;
    SINTER_SELDOM SINTER_COLD void describe(description& d) const;

private:
    record_places places_;
    record_schema schema_;
    std::vector<std::vector<std::size_t>> columns_;   ///< of each file: that of each field
    char decimal_;

    SINTER_COLD std::vector<record_field> found_types(const std::vector<std::string>& names,
                                                      const record_options& r) const;
};

class record_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = record;
    using state = record_places::held;

    explicit record_stage(std::shared_ptr<const record_files> files) : files_(std::move(files)) {}
    const record_schema& schema() const { return files_->schema(); }
    std::int64_t size() const { return files_->size(); }
    void begin(state&, std::int64_t) const {}
    record get(state& s, std::int64_t i) const { return files_->get(s, i); }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const { files_->describe(d); }

private:
    std::shared_ptr<const record_files> files_;
};

/// The records of CSV files as data::record, file after file, for columns that are known at run time only. An indexed
/// stage.
///
///     auto rows = data::csv::records("adult.csv", {}, {.columns = {"age", "workclass"}});
///     const auto age = rows.schema().field<std::int64_t>("age");
///
/// A column whose type is not given is i64 where all of its values are whole numbers, f32 where all are numbers, else
/// text; one without any value is f32. It is optional where a value is missing (csv::options). For that all records are
/// read, or the first `look_at`; then each column found so is optional, and a value behind them that is not of its type
/// is a format_error when its record is read, with file, line, column and the column's name. Texts are as they stand in
/// the file; a missing one is empty as a std::optional.
///
/// The columns are found by their names in each file anew. Errors and memory are as of csv::rows: data_error where a
/// column is missing, when this is called. option_error where a type is given to a column that is not there, or has
/// extents; for a decimal sign other than these; and for look_at < 0.
SINTER_SELDOM SINTER_COLD record_stage records(file_paths paths, options o = {}, record_options r = {});

#if SINTER_BODIES
SINTER_COLD SINTER_APART record_files::record_files(file_paths paths, options o, record_options r)
    : places_(std::move(paths), std::move(o)), decimal_(r.decimal) {
    if (r.decimal != '.' && r.decimal != ',')
        throw option_error("impossible decimal sign", "csv::records", io::printable({&r.decimal, 1}), "'.' or ','");
    if (r.look_at < 0)
        throw option_error("impossible number of records", "csv::records, look_at", to_text({r.look_at}), "0 or more");
    const std::vector<std::string>& names = r.columns.empty() ? places_.names(0) : r.columns;
    for (std::size_t f = 0; f < places_.paths().size(); ++f) {
        auto& of_file = columns_.emplace_back();
        for (const std::string& name : names)
            of_file.push_back(static_cast<std::size_t>(find_column(places_.names(f), name, places_.paths()[f])));
    }
    schema_ = record_schema(found_types(names, r));
}

/// Reads records until each type is known.
inline std::vector<record_field> record_files::found_types(const std::vector<std::string>& names,
                                                           const record_options& r) const {
    std::vector<record_field> fields;
    std::vector<std::size_t> open;   // fields whose types are looked for; these are i64 until something else comes
    for (const std::string& name : names) {
        const auto given = std::find_if(r.types.begin(), r.types.end(),
                                        [&](const record_field& f) { return f.name == name; });
        fields.push_back(given != r.types.end() ? *given : record_field{.name = name, .type = record_type::i64});
        if (given == r.types.end()) open.push_back(fields.size() - 1);
    }
    for (const record_field& f : r.types) {
        if (std::find(names.begin(), names.end(), f.name) == names.end())
            throw option_error("a type for a column that is not read", "csv::records, types", io::printable(f.name),
                               "the name of a column");
        if (!f.extents.empty() || f.variable)
            throw option_error("a column has one value", "csv::records, types", io::printable(f.name),
                               "a type without extents");
    }
    std::vector<char> has_value(fields.size());
    const auto is_one = [&](const csv::field& f, record_type type, const value_place& at) {
        try {
            if (type == record_type::i64) read_integer(f, at, INT64_MIN, INT64_MAX);
            else read_float(f, at);
            return true;
        } catch (const format_error&) {   // once or twice a column
            return false;
        }
    };
    const std::int64_t n = std::min(r.look_at, places_.size());
    record_places::held h;
    for (std::int64_t i = 0; i < n && !open.empty(); ++i) {
        const std::vector<csv::field>& all = places_.read(i, h);
        const std::string& path = places_.paths()[h.file()];
        for (const std::size_t f : open) {
            record_field& to = fields[f];
            const csv::field& value = field_of(all, columns_[h.file()][f], path);
            if (value.missing) {
                to.optional = true;
                continue;
            }
            has_value[f] = true;
            const value_place at{&path, &to.name, decimal_};
            if (to.type == record_type::i64 && !is_one(value, to.type, at)) to.type = record_type::f32;
            if (to.type == record_type::f32 && !is_one(value, to.type, at)) to.type = record_type::text;
        }
    }
    for (const std::size_t f : open) {
        if (!has_value[f]) fields[f].type = record_type::f32;
        if (n < places_.size()) fields[f].optional = true;
    }
    return fields;
}

SINTER_SELDOM_BODY record record_files::get(record_places::held& h, std::int64_t i) const {
    const std::vector<csv::field>& all = places_.read(i, h);
    const std::string& path = places_.paths()[h.file()];
    const std::vector<std::size_t>& columns = columns_[h.file()];
    record to(schema_);
    for (std::size_t f = 0; f < schema_.size(); ++f) {
        const csv::field& from = field_of(all, columns[f], path);
        const record_field& field = schema_[f];
        const value_place at{&path, &field.name, decimal_};
        if (field.type == record_type::text) {
            to.set(f, span<const std::string_view>(&from.text, 1));
            if (from.missing) to.set_missing(f);
        } else if (from.missing && field.optional) {
            to.set_missing(f);
        } else if (field.type == record_type::f32) {
            to.floats_to_write(f, 1)[0] = read_float(from, at);
        } else {
            to.integers_to_write(f, 1)[0] = read_integer(from, at, INT64_MIN, INT64_MAX);
        }
    }
    return to;
}

SINTER_SELDOM_BODY void record_files::describe(description& d) const {
    d.stage("records of CSV files, found by their numbers");
    stage_parts::describe_files(d, places_.paths(), places_.bytes());
    d("records", size())("delimiter", std::string_view(&places_.read_with().delimiter, 1));
    d("decimal sign", std::string_view(&decimal_, 1))("header", places_.read_with().header);
    schema_.describe(d);
}

SINTER_SELDOM_BODY record_stage records(file_paths paths, options o, record_options r) {
    return record_stage(std::make_shared<const record_files>(std::move(paths), std::move(o), std::move(r)));
}
#endif

} // namespace sinter::data::csv
