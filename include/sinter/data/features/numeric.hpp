// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/source/csv/table.hpp>
#include <limits>

namespace sinter::inline SINTER_ORDINARY::data {

/// What becomes of a column of numbers before the net gets it.
struct numeric_options {
    bool logarithm = false;      ///< sign(x) log(1 + |x|) first: for amounts of very different sizes
    bool standardise = true;     ///< so that the training data have mean 0 and standard deviation 1
    bool tell_missing = false;   ///< one more number: 1 where the value is missing, else 0
};

namespace detail {
/// What a column of numbers keeps while it works.
struct numeric_work {
    std::size_t at = 0;      ///< the column's place in a row
    std::int64_t count = 0;  ///< values seen, their mean so far, and the sum of squares around it
    double mean = 0, squares = 0;
};
} // namespace detail

/// A column of numbers; a missing one becomes the training data's mean (0 where all were missing).
struct numeric {
    std::string column;
    numeric_options options{};
    /// Learned, after the logarithm. NaN: there is no mean yet.
    double mean = std::numeric_limits<double>::quiet_NaN(), deviation = 1;
    detail::numeric_work work{};

    int width() const { return options.tell_missing ? 2 : 1; }
    void bind(const std::vector<std::string>& names, const std::string& file) {
        work.at = static_cast<std::size_t>(csv::find_column(names, column, file));
    }
    SINTER_APART void observe(span<const csv::field> row, const std::string& file);
    /// Also without `standardise`: a missing value still needs the mean.
    SINTER_APART void learn();
    /// option_error where the number is missing and there is no mean.
    SINTER_APART void write(span<const csv::field> row, const std::string& file, float* out) const;
    double scaled(double x) const { return options.standardise ? (x - mean) / deviation : x; }
    /// What scaled and the logarithm made `y` of.
    SINTER_APART double original(double y) const;
    /// The same of each, as of a net's predictions for a whole data set.
    template <class C>
        requires requires(const C& c) { c.data(), c.size(); typename C::value_type; }
    std::vector<double> original(const C& y) const {
        std::vector<double> x;
        x.reserve(y.size());
        for (const auto v : y) x.push_back(original(static_cast<double>(v)));
        return x;
    }
    /// The number itself, or its logarithm; NaN where it is missing.
    SINTER_APART double read(span<const csv::field> row, const std::string& file) const;
    [[noreturn]] SINTER_APART void refuse_missing(const csv::field& f, const std::string& file) const;
};

#if SINTER_BODIES
SINTER_APART void numeric::observe(span<const csv::field> row, const std::string& file) {
    const double x = read(row, file);
    if (!(x == x)) return;
    const double before = x - work.mean;   // Welford 1962: no difference of large sums
    work.mean += before / static_cast<double>(++work.count);
    work.squares += before * (x - work.mean);
}

SINTER_APART void numeric::learn() {
    mean = work.mean;
    const double variance = work.count ? work.squares / static_cast<double>(work.count) : 0;
    deviation = variance > 0 ? __builtin_sqrt(variance) : 1;   // what never changes becomes 0
    work = {.at = work.at};
}

SINTER_APART void numeric::write(span<const csv::field> row, const std::string& file, float* out) const {
    const double x = read(row, file);
    const bool missing = !(x == x);
    if (missing && !(mean == mean)) refuse_missing(csv::field_of(row, work.at, file), file);
    out[0] = static_cast<float>(scaled(missing ? mean : x));
    if (options.tell_missing) out[1] = missing ? 1.f : 0.f;
}

SINTER_APART double numeric::original(double y) const {
    const double x = options.standardise ? y * deviation + mean : y;
    return !options.logarithm ? x : x < 0 ? -__builtin_expm1(-x) : __builtin_expm1(x);
}

SINTER_APART double numeric::read(span<const csv::field> row, const std::string& file) const {
    const double x = csv::number(csv::field_of(row, work.at, file), file, column);
    return !options.logarithm ? x : x < 0 ? -__builtin_log1p(-x) : __builtin_log1p(x);
}

SINTER_COLD SINTER_APART void numeric::refuse_missing(const csv::field& f, const std::string& file) const {
    throw option_error("a number is missing, and no mean was learned",
                       csv::place(file, f) + ", column " + io::printable(column), io::printable(f.text, 40),
                       "fit(), also for numbers that are not standardised");
}
#endif

} // namespace sinter::data
