// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/source/csv/record_places.hpp>
#include <sinter/data/source/csv/structs.hpp>
#include <sinter/data/stages/stage.hpp>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::data::csv {

template <class T>
class row_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    using state = record_places::held;

    row_stage(file_paths paths, options o, struct_options s)
        : places_(std::make_shared<const record_places>(std::move(paths), std::move(o))), decimal_(s.decimal) {
        auto columns = std::make_shared<std::vector<struct_columns<T>>>();
        for (std::size_t f = 0; f < places_->paths().size(); ++f)
            columns->emplace_back(places_->names(f), places_->paths()[f], s);
        columns_ = std::move(columns);
    }
    std::int64_t size() const { return places_->size(); }
    void begin(state&, std::int64_t) const {}
    T get(state& s, std::int64_t i) const {
        const std::vector<field>& fields = places_->read(i, s);
        const std::string& path = places_->paths()[s.file()];
        const std::vector<std::string>& names = places_->names(s.file());
        T to{};
        for (const auto& c : (*columns_)[s.file()].all())
            c.put(to, field_of(fields, c.column, path), {&path, &names[c.column], decimal_});
        return to;
    }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const {
        d.stage("records of CSV files, found by their numbers");
        stage_parts::describe_files(d, places_->paths(), places_->bytes());
        d("records", size())("element", type_text<T>())("delimiter",
                                                        std::string_view(&places_->read_with().delimiter, 1));
        d("decimal sign", std::string_view(&decimal_, 1))("header", places_->read_with().header);
    }

private:
    std::shared_ptr<const record_places> places_;
    std::shared_ptr<const std::vector<struct_columns<T>>> columns_;
    char decimal_;
};

/// The records of CSV files as structs, file after file, each to be found by its number: so shuffle() shuffles all of
/// them, and going on anywhere costs nothing.
///
///     struct passenger { float age; std::optional<int> hours_per_week; std::string workclass; };
///     auto train = data::csv::rows<passenger>("adult.csv") | data::map(...) | data::shuffle() | data::batch(64);
///
/// Columns are found by the fields' names, in each file anew; fields are as csv::struct_reader says, but for
/// std::string_view, whose text would be gone. The files are read once when this is called, which finds where records
/// begin: errors of csv::reader come then, and data_error where a column is missing; a value that is not of its field's
/// type is a format_error when its record is read. Memory: 8 bytes for each record. Files that are compressed, or too
/// large to be read twice, are for csv::stream.
template <class T>
row_stage<T> rows(file_paths paths, options o = {}, struct_options s = {}) {
    static_assert(!detail::has_views<T>, "csv::rows: the text that a field of std::string_view shows ends with its "
                                         "record; needed is std::string");
    return row_stage<T>(std::move(paths), std::move(o), std::move(s));
}

} // namespace sinter::data::csv
