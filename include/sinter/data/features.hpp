// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/data/features/categories.hpp>
#include <sinter/data/features/numeric.hpp>

/// From the columns of a CSV file to what a net takes: numbers around zero, indicators, and numbers
/// for embeddings.
namespace sinter::inline SINTER_ORDINARY::data {

/// Says what becomes of which column, learns what that needs (means, vocabularies, boundaries) from
/// the training data, and then does the same to any data. save and load are in features/save.hpp,
/// examples straight from a file in features/stream.hpp.
///
///     data::features people;
///     people.number("age").indicator(data::vocabulary("occupation", 12)).label("income", {"<=50K", ">50K"});
///     people.fit(train);
///     const data::dataset set = people.apply(test);
///
/// All numbers and indicators make one float input of width() numbers, in the order in which they
/// were named; each index is an int input of its own behind it.
class features {
public:
    enum class kind : std::uint8_t { number, indicator, index };
    struct item {
        kind form;
        numeric value;       ///< of a number
        categories classes;  ///< of the others
    };

    SINTER_APART features& number(std::string column, numeric_options o = {});
    /// 1 at the category's place, 0 at all others: `size` numbers.
    SINTER_APART features& indicator(categories c);
    /// The category's number, for an embedding<size, N>.
    SINTER_APART features& index(categories c);
    /// A class number for each row: the text's place among `classes`. option_error where there is a
    /// target, too, where there are no classes, or two of the same text.
    SINTER_APART features& label(std::string column, std::vector<std::string> classes);
    /// A number for each row to be told, standardised like the others unless the options say
    /// otherwise.
    SINTER_APART features& target(std::string column, numeric_options o = {});

    SINTER_APART int width() const;
    SINTER_APART int indices() const;
    const std::vector<item>& items() const { return items_; }
    const categories& label() const { return label_; }
    const numeric& target() const { return target_; }

    /// Learns from the training data. Errors as bind and write; data_error where there is something
    /// to learn and no row. After an error all is as it was before.
    SINTER_APART void fit(const csv::table& training);
    /// The same from a file too large for memory: its rest.
    SINTER_APART void fit(csv::reader& training);
    /// The table's rows as examples. option_error before fit() or load_features(), where something
    /// is learned from data.
    SINTER_APART dataset apply(const csv::table& from) const;

    /// The same, with all that it has learned, but without label and target: for rows to predict
    /// on, whose table need not have that column. `people.inputs_only().apply(table)`,
    /// `csv_examples("new.csv", people.inputs_only())`.
    SINTER_APART features inputs_only() const;

    /// For those who go through rows themselves. bind finds the columns; data_error where one is
    /// not there.
    SINTER_APART void bind(const std::vector<std::string>& names, const std::string& file);
    /// width() floats and indices() integers; format_error, with the place, where a number is
    /// needed and there is none.
    SINTER_APART void write(span<const csv::field> row, float* x, std::int32_t* index) const;
    /// format_error, with the place, for a text that is no class.
    SINTER_APART std::int32_t label_of(span<const csv::field> row) const;
    /// format_error, with the place, where it is missing.
    SINTER_APART float target_of(span<const csv::field> row) const;
    bool has_label() const { return !label_.words.empty(); }
    bool has_target() const { return !target_.column.empty(); }

    /// option_error where something is to be learned from the training data and has not been.
    void need_fitted(const char* where) const {
        if (!fitted_ && is_learned()) refuse_unfitted(where);
    }

private:
    bool fitted_ = false;
    std::vector<item> items_;
    categories label_;
    numeric target_;
    std::string file_;

    friend class feature_file;

    SINTER_APART format_error missing_target(const csv::field& f) const;
    [[noreturn]] SINTER_APART static void refuse_unfitted(const char* where);
    /// Does anything come from the training data?
    SINTER_APART bool is_learned() const;
    SINTER_APART void forget();
    static void not_both(bool other) {
        if (other) throw option_error("features have a label or a target", "features", "both", "one of them");
    }
    SINTER_APART void observe(span<const csv::field> row);
    SINTER_APART void learn(const std::string& file, bool any_rows);
};

#if SINTER_BODIES
SINTER_APART features& features::number(std::string column, numeric_options o) {
    items_.push_back({kind::number, {.column = std::move(column), .options = o}, {}});
    fitted_ = fitted_ && !o.standardise;   // behind what may fail, here and below
    return *this;
}

SINTER_APART features& features::indicator(categories c) {
    const bool learned = c.is_learned();
    items_.push_back({kind::indicator, {}, std::move(c)});
    fitted_ = fitted_ && !learned;
    return *this;
}

SINTER_APART features& features::index(categories c) {
    const bool learned = c.is_learned();
    items_.push_back({kind::index, {}, std::move(c)});
    fitted_ = fitted_ && !learned;
    return *this;
}

SINTER_APART features& features::label(std::string column, std::vector<std::string> classes) {
    not_both(has_target());
    if (classes.empty()) throw option_error("a label without classes", "features, " + io::printable(column));
    label_ = vocabulary(std::move(column), std::move(classes));
    return *this;
}

SINTER_APART features& features::target(std::string column, numeric_options o) {
    not_both(has_label());
    o.tell_missing = false;
    target_ = {.column = std::move(column), .options = o};
    fitted_ = fitted_ && !o.standardise;
    return *this;
}

SINTER_APART int features::width() const {
    int n = 0;
    for (const item& i : items_)
        if (i.form == kind::number) n += i.value.width();
        else if (i.form == kind::indicator) n += i.classes.size;
    return n;
}

SINTER_APART int features::indices() const {
    int n = 0;
    for (const item& i : items_) n += i.form == kind::index;
    return n;
}

SINTER_APART void features::fit(const csv::table& training) {
    features next = *this;
    next.forget();
    next.bind(training.names(), training.file());
    std::vector<csv::field> fields;
    for (std::int64_t r = 0; r < training.rows(); ++r) next.observe(training.row(r, fields));
    next.learn(training.file(), training.rows() > 0);
    *this = std::move(next);
}

SINTER_APART void features::fit(csv::reader& training) {
    features next = *this;
    next.forget();
    bool bound = false;   // without header or names, the columns are known once a record has been read
    while (training.next()) {
        if (!bound) next.bind(training.names(), training.file());
        bound = true;
        next.observe(training.fields());
    }
    next.learn(training.file(), bound);
    *this = std::move(next);
}

SINTER_APART dataset features::apply(const csv::table& from) const {
    need_fitted("apply");
    features bound = *this;
    bound.bind(from.names(), from.file());
    const auto rows = static_cast<std::size_t>(from.rows()), wide = static_cast<std::size_t>(width());
    std::vector<float> x(rows * wide), y(has_target() ? rows : 0);
    std::vector<std::vector<std::int32_t>> index(static_cast<std::size_t>(indices()),
                                                 std::vector<std::int32_t>(rows));
    std::vector<std::int32_t> labels(has_label() ? rows : 0), one(index.size());
    std::vector<csv::field> fields;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = from.row(static_cast<std::int64_t>(r), fields);
        bound.write(row, x.data() + r * wide, one.data());
        for (std::size_t i = 0; i < one.size(); ++i) index[i][r] = one[i];
        if (has_label()) labels[r] = bound.label_of(row);
        if (has_target()) y[r] = bound.target_of(row);
    }
    dataset set;
    if (wide) set.input(extents(width()), std::move(x));
    for (auto& i : index) set.input(extents(1), std::move(i));
    if (has_label()) set.labels(std::move(labels));
    if (has_target()) set.targets(extents(1), std::move(y));
    return set;
}

SINTER_APART features features::inputs_only() const {
    features f = *this;
    f.label_ = {};
    f.target_ = {};
    return f;
}

SINTER_APART void features::bind(const std::vector<std::string>& names, const std::string& file) {
    file_ = file;
    for (item& i : items_)
        if (i.form == kind::number) i.value.bind(names, file);
        else i.classes.bind(names, file);
    if (has_label()) label_.bind(names, file);
    if (has_target()) target_.bind(names, file);
}

SINTER_APART void features::write(span<const csv::field> row, float* x, std::int32_t* index) const {
    for (const item& i : items_) {
        if (i.form == kind::number) {
            i.value.write(row, file_, x);
            x += i.value.width();
            continue;
        }
        const int c = i.classes.of(row, file_);
        if (i.form == kind::index) {
            *index++ = c;
            continue;
        }
        for (int k = 0; k < i.classes.size; ++k) *x++ = k == c ? 1.f : 0.f;
    }
}

SINTER_APART std::int32_t features::label_of(span<const csv::field> row) const {
    const int c = label_.of(row, file_);
    if (c == 0) {
        std::string all;
        for (const std::string& w : label_.words) all += (all.empty() ? "" : ", ") + w;
        const csv::field& f = row[label_.work.at];
        throw format_error("not a class", csv::place(file_, f) + ", column " + io::printable(label_.column),
                           io::printable(f.text, 40), "one of " + io::printable(all, 400));
    }
    return c - 1;
}

SINTER_APART float features::target_of(span<const csv::field> row) const {
    const double x = target_.read(row, file_);
    if (!(x == x))
        throw missing_target(csv::field_of(row, target_.work.at, file_));
    return static_cast<float>(target_.scaled(x));
}

SINTER_APART format_error features::missing_target(const csv::field& f) const {
    return {"the target is missing", csv::place(file_, f) + ", column " + io::printable(target_.column),
            io::printable(f.text, 40), "a number"};
}

SINTER_APART void features::refuse_unfitted(const char* where) {
    throw option_error("features have not learned from training data", std::string("features, ") + where,
                       "no fit()", "fit(), or a file that data::save wrote");
}

SINTER_APART bool features::is_learned() const {
    for (const item& i : items_)
        if (i.form == kind::number ? i.value.options.standardise : i.classes.is_learned()) return true;
    return has_target() && target_.options.standardise;
}

SINTER_APART void features::forget() {
    for (item& i : items_) i.value.work = {}, i.classes.forget();
    target_.work = {};
}

SINTER_APART void features::observe(span<const csv::field> row) {
    for (item& i : items_)
        if (i.form == kind::number) i.value.observe(row, file_);
        else i.classes.observe(row, file_);
    if (has_target()) target_.observe(row, file_);
}

SINTER_APART void features::learn(const std::string& file, bool any_rows) {
    if (!any_rows && is_learned())
        throw data_error("there is nothing to learn from", file, "no records", "at least one");
    for (item& i : items_)
        if (i.form == kind::number) i.value.learn();
        else i.classes.learn();
    target_.learn();
    fitted_ = true;
}
#endif

} // namespace sinter::data
