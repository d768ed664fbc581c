// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/data/transform/gather.hpp>
#include <sinter/data/transform/map.hpp>

/// Numbers in memory brought around zero or into a range, by statistics that are learned once, from
/// the training data.
namespace sinter::inline SINTER_ORDINARY::data {

/// What numbers are brought to.
enum class scaling_form : std::uint8_t {
    standard,   ///< mean 0 and standard deviation 1 (of the population: n, not n - 1)
    min_max     ///< the smallest becomes `low`, the largest `high`
};
/// What has statistics of its own.
enum class statistics_of : std::uint8_t {
    columns,      ///< each number of an example
    last_axis,    ///< each place of an example's last axis, its channels: over all other axes
    everything    ///< all numbers have the same
};
/// How a scaling is fitted.
struct scaling_options {
    scaling_form form = scaling_form::standard;
    statistics_of of = statistics_of::columns;
    double low = 0, high = 1;   ///< of min_max
};

/// x becomes (x - shift) / spread, or for min_max low + (high - low) (x - shift) / spread, with a
/// shift and a spread for each of columns() columns. The arithmetic is in doubles, whatever the
/// numbers are, and sums are Welford's, so that numbers far from zero (times, prices) lose no
/// digits; integers beyond 2^53 (times in nanoseconds) are compared as integers first. NaN, a missing
/// value, counts in no statistics and stays NaN. What never changes becomes 0, or low.
///
///     const auto s = data::scaling::fit(training);           // of a set's first float input
///     auto pipeline = training | data::map(s) | data::batch(64);
///     const data::dataset test = s.apply(data::idx("t10k-images-idx3-ubyte.gz"));
///
/// save and load_scaling are in scaling/save.hpp.
class scaling {
public:
    struct column_scale {
        double shift = 0, spread = 1;   ///< mean and deviation, or smallest number and range
        double rest = 0;                ///< what belongs to the shift and no double near 2^60 can tell
    };

    /// Learns from rows of `columns` numbers each: floats, doubles or integers. data_error
    /// where they fill no whole rows or one is infinite; option_error for impossible options. In an
    /// array there are rows alone: last_axis means columns. data_error where there are no rows.
    template <class C>
        requires requires(const C& c) { c.data(), c.size(); typename C::value_type; }
    static scaling fit(const C& values, int columns, const scaling_options& o = {}) {
        return learned(span<const typename C::value_type>(values), columns, o);
    }
    /// The same from a set's first float input (pixels as bytes / 255), or from its first targets.
    SINTER_APART static scaling fit(const dataset& set, const scaling_options& o = {}, role of = role::input);
    /// Of statistics that are known. option_error unless there are some, and all are finite and
    /// spreads above 0.
    SINTER_APART scaling(std::vector<column_scale> of_columns, const scaling_options& o);

    int columns() const { return static_cast<int>(columns_.size()); }
    const std::vector<column_scale>& statistics() const { return columns_; }
    const scaling_options& options() const { return options_; }

    /// A number of this column, and back.
    template <class T>
    double scaled(T x, int column = 0) const {
        const column_scale& c = columns_[static_cast<std::size_t>(column)];
        const double y = (less(x, c.shift) - c.rest) / c.spread;
        return options_.form == scaling_form::standard ? y : options_.low + y * (options_.high - options_.low);
    }
    SINTER_APART double original(double y, int column = 0) const;

    /// Rows of columns() numbers. data_error where they fill no whole rows.
    template <class C>
        requires requires(const C& c) { c.data(), c.size(); typename C::value_type; }
    std::vector<float> apply(const C& values) const {
        return each<float>(values, [this](auto x, int c) { return static_cast<float>(this->scaled(x, c)); });
    }
    /// What apply made these of.
    template <class C>
        requires requires(const C& c) { c.data(), c.size(); typename C::value_type; }
    std::vector<double> original(const C& values) const {
        return each<double>(values, [this](auto y, int c) { return this->original(static_cast<double>(y), c); });
    }
    /// The set with its first float input (or first targets) scaled; pixels become floats.
    /// data_error where it has none, or their extents do not fit.
    SINTER_APART dataset apply(const dataset& set, role of = role::input) const;
    /// As a step of a pipeline, `map(s)`: an example's x. Pixels stay bytes in memory that way.
    SINTER_APART void operator()(example& e) const;

    /// Of a step of a pipeline: what was learned.
    SINTER_APART void describe(description& d) const;

private:
    std::vector<column_scale> columns_;
    scaling_options options_;

    __extension__ using whole = __int128;

    /// x - y, with y an integer where x is one that no double holds.
    template <class T>
    static double less(T x, double y) {
        if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
            if (!is_exact(x) && y - y == 0 && y >= -0x1p63 && y < 0x1p65)
                return static_cast<double>(static_cast<whole>(x) - static_cast<whole>(y)) - (y - __builtin_trunc(y));
        return static_cast<double>(x) - y;
    }
    template <class T>
    static bool is_exact(T x) {
        return static_cast<whole>(x) <= whole{1} << 53 && static_cast<whole>(x) >= -(whole{1} << 53);
    }
    /// May those around it be none that a double holds? From half of 2^53 on: if others are beyond
    /// 2^53 while the first is smaller, they are so far apart that their last bit does not count.
    template <class T>
    static bool is_large(T x) {
        return static_cast<whole>(x) > whole{1} << 52 || static_cast<whole>(x) < -(whole{1} << 52);
    }
    template <class T>
    static scaling learned(span<const T> values, int columns, const scaling_options& o) {
        if (columns < 1)
            throw option_error("impossible number of columns", "scaling", to_text({columns}), "at least 1");
        if (values.size() % static_cast<std::size_t>(columns) != 0)
            refuse_rows(values.size(), static_cast<std::size_t>(columns));
        const auto n = o.of == statistics_of::everything ? std::size_t{1} : static_cast<std::size_t>(columns);
        if (values.size() == 0)
            throw data_error("there is nothing to learn from", "scaling", "no rows", "at least one");
        struct sums { double count = 0, mean = 0, squares = 0, least = 0, most = 0, shift = 0, rest = 0; };
        std::vector<sums> seen(n);
        for (std::size_t i = 0, c = 0; i < values.size(); ++i, c = c + 1 == n ? 0 : c + 1) {
            sums& s = seen[c];
            if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
                if (s.count == 0 && is_large(values[i])) {   // others are counted from this one
                    s.shift = static_cast<double>(values[i]);
                    s.rest = less(values[i], s.shift);
                }
            const double x = less(values[i], s.shift) - s.rest;
            if (x != x) continue;
            if (x - x != 0)
                throw data_error("a number is not finite", to_text({"scaling, value ", i}), base::number_text(x));
            s.least = s.count == 0 || x < s.least ? x : s.least;
            s.most = s.count == 0 || x > s.most ? x : s.most;
            const double before = x - s.mean;   // Welford 1962: no difference of large sums
            s.mean += before / ++s.count;
            s.squares += before * (x - s.mean);
        }
        std::vector<column_scale> of_columns;
        for (const sums& s : seen) {
            const bool standard = o.form == scaling_form::standard;
            const double spread = standard ? __builtin_sqrt(s.count > 0 ? s.squares / s.count : 0) : s.most - s.least;
            const double of_those = standard ? s.mean : s.least;
            of_columns.push_back({s.shift == 0 ? of_those : s.shift, s.least < s.most && spread > 0 ? spread : 1,
                                  s.shift == 0 ? 0 : s.rest + of_those});
        }
        return scaling(std::move(of_columns), o);
    }
    template <class To, class C, class F>
    std::vector<To> each(const C& values, F f) const {
        need_whole_rows(values.size());
        std::vector<To> y;
        y.reserve(values.size());
        int c = 0;
        for (const auto x : values) {
            y.push_back(f(x, c));
            c = c + 1 == columns() ? 0 : c + 1;
        }
        return y;
    }
    void need_whole_rows(std::size_t n) const {
        if (n % columns_.size() != 0) refuse_rows(n, columns_.size());
    }
    SINTER_APART void need_fit(const shape& row) const;
    [[noreturn]] SINTER_APART static void refuse_rows(std::size_t n, std::size_t columns);
    SINTER_APART static std::size_t column_of(const dataset& set, role of);
    static span<const float> numbers(const dataset& set, role of) {
        return of == role::input ? set.x() : set.targets();
    }
};

#if SINTER_BODIES
SINTER_APART scaling scaling::fit(const dataset& set, const scaling_options& o, role of) {
    const std::size_t c = column_of(set, of);
    const shape& row = set.columns()[c].row;
    return learned(numbers(set, of), o.of == statistics_of::last_axis ? row.last() : row.size(), o);
}

SINTER_APART scaling::scaling(std::vector<column_scale> of_columns, const scaling_options& o)
    : columns_(std::move(of_columns)), options_(o) {
    bool usable = !columns_.empty() && o.low - o.low == 0 && o.high - o.high == 0 && o.low < o.high;
    for (const column_scale& c : columns_)
        usable = usable && c.shift + c.rest - (c.shift + c.rest) == 0 && c.spread - c.spread == 0 && c.spread > 0;
    if (!usable)
        throw option_error("impossible statistics", "scaling", {},
                           "columns, finite numbers, spreads above 0, low < high");
}

SINTER_APART double scaling::original(double y, int column) const {
    const column_scale& c = columns_[static_cast<std::size_t>(column)];
    if (options_.form == scaling_form::min_max) y = (y - options_.low) / (options_.high - options_.low);
    return y * c.spread + c.rest + c.shift;
}

SINTER_APART dataset scaling::apply(const dataset& set, role of) const {
    const std::size_t chosen = column_of(set, of);
    need_fit(set.columns()[chosen].row);
    dataset to;
    for (std::size_t c = 0; c < set.columns().size(); ++c) {
        const column& from = set.columns()[c];
        if (c != chosen) detail::add_column(to, from, set.size(), [&](std::int64_t i) { return set.row(c, i); });
        else if (of == role::input) to.input(from.row, apply(numbers(set, of)));
        else to.targets(from.row, apply(numbers(set, of)));
    }
    return to;
}

SINTER_APART void scaling::operator()(example& e) const {
    need_fit(e.row);
    for (std::size_t i = 0; i < e.x.size(); ++i)
        e.x[i] = static_cast<float>(scaled(static_cast<double>(e.x[i]), static_cast<int>(i % columns_.size())));
}

SINTER_COLD SINTER_APART void scaling::describe(description& d) const {
    std::string learned;
    for (const column_scale& c : columns_)
        learned += to_text({base::number_text(c.shift), " ", base::number_text(c.spread), " ",
                           base::number_text(c.rest), " "});
    d("columns", columns())("form", static_cast<int>(options_.form))("low", options_.low)("high", options_.high);
    d("what was learned (its hash)", base::fnv1a(learned));
}

SINTER_APART void scaling::need_fit(const shape& row) const {
    if (options_.of == statistics_of::everything) return;
    const int n = options_.of == statistics_of::last_axis ? row.last() : row.size();
    if (n != columns())
        throw data_error("number of columns differs", "scaling", to_text({n}),
                         to_text({columns(), ", as were learned"}));
}

SINTER_COLD SINTER_APART void scaling::refuse_rows(std::size_t n, std::size_t columns) {
    throw data_error("values do not fill whole rows", "scaling", to_text({n}),
                     to_text({"a multiple of ", columns}));
}

SINTER_APART std::size_t scaling::column_of(const dataset& set, role of) {
    if (of == role::input || of == role::target)
        for (std::size_t c = 0; c < set.columns().size(); ++c)
            if (set.columns()[c].use == of && set.columns()[c].row.type == dtype::f32) return c;
    throw data_error("the set has none", "scaling", of == role::target ? "no targets" : "no float input");
}
#endif

} // namespace sinter::data
