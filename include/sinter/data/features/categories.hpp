// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/source/csv/table.hpp>
#include <algorithm>
#include <map>

/// How a column of a CSV file becomes a class number, from 0 to size - 1.
namespace sinter::inline SINTER_ORDINARY::data {

namespace detail {
/// What categories keep while they work.
struct category_work {
    std::size_t at = 0;                                       ///< the column's place in a row
    std::map<std::string, std::int64_t, std::less<>> seen;   ///< words, while it learns
    std::vector<double> values;
    std::map<std::string, int, std::less<>> numbers;         ///< of the words
};
} // namespace detail

/// Made by the functions below. Some learn from the training data: what they have learned is saved
/// with them.
struct categories {
    enum class kind : std::uint8_t { bucketized, quantiles, vocabulary, hashed, crossed };
    kind form = kind::hashed;
    std::string column;                 ///< its name; several share none
    int size = 0;
    std::vector<double> boundaries{};   ///< ascending
    std::vector<std::string> words{};   ///< the vocabulary; number 0 is for all others
    std::vector<categories> parts{};    ///< that are crossed
    bool learns = false;                ///< words or boundaries come from the training data
    detail::category_work work{};

    static constexpr int most = 1 << 24;   ///< categories

    /// Finds the columns among a file's. data_error where one is not there.
    SINTER_APART void bind(const std::vector<std::string>& names, const std::string& file);
    /// Looks at no rows so far: what an earlier fit that failed has seen does not count.
    SINTER_APART void forget();
    /// Looks at one row of the training data.
    SINTER_APART void observe(span<const csv::field> row, const std::string& file);
    /// Do its words or boundaries, or those of what it crosses, come from the training data?
    SINTER_APART bool is_learned() const;
    /// Has looked at all of it.
    SINTER_APART void learn();
    /// The row's category. format_error where numbers are needed and there are none.
    SINTER_APART int of(span<const csv::field> row, const std::string& file) const;
    /// Call it whenever `words` has changed.
    SINTER_APART void number_words();

private:
    int bucket(std::uint64_t hash) const {   // mixed first: neighbouring numbers shall not have neighbouring buckets
        return static_cast<int>(base::stream(0x5eed, hash) % static_cast<std::uint64_t>(size));
    }
    SINTER_APART void learn_words();
    SINTER_APART void learn_boundaries();
};

namespace detail {
SINTER_APART void need_size(int size, int least, const char* where);
}

/// The stretch of numbers that x is in: 0 below the first boundary, i from boundary i - 1 (with it)
/// to boundary i; and a last one where x is missing. Boundaries + 2 categories. option_error unless
/// the boundaries ascend.
SINTER_APART categories bucketized(std::string column, std::vector<double> boundaries);
/// The same with boundaries that put about as many training examples into each of `buckets`;
/// buckets + 1 categories. Where values repeat, some buckets may stay empty.
SINTER_APART categories quantiles(std::string column, int buckets);
/// The place of the text among the words, from 1; 0 for all others. Spaces around it, and around the
/// words, do not count. A missing value is the empty text, and may be one of the words. Words + 1
/// categories. option_error for a word that stands there twice.
SINTER_APART categories vocabulary(std::string column, std::vector<std::string> words);
/// The same with the size - 1 words that are the most frequent in the training data.
SINTER_APART categories vocabulary(std::string column, int size);
/// A hash of the text: needs no vocabulary, but some texts share a category.
SINTER_APART categories hashed(std::string column, int buckets);
/// Every combination of the parts' categories; where there are more than `buckets` of them, a hash
/// of it. option_error for fewer than two parts, or one that is crossed itself.
SINTER_APART categories crossed(int buckets, std::vector<categories> parts);

#if SINTER_BODIES
SINTER_APART void categories::bind(const std::vector<std::string>& names, const std::string& file) {
    if (form != kind::crossed) work.at = static_cast<std::size_t>(csv::find_column(names, column, file));
    for (categories& p : parts) p.bind(names, file);
}

SINTER_APART void categories::forget() {
    for (categories& p : parts) p.forget();
    work.seen.clear();
    work.values.clear();
}

SINTER_APART void categories::observe(span<const csv::field> row, const std::string& file) {
    for (categories& p : parts) p.observe(row, file);
    if (!learns) return;
    if (form == kind::vocabulary) ++work.seen[std::string(csv::trimmed(csv::field_of(row, work.at, file).text))];
    else if (const double x = csv::number(csv::field_of(row, work.at, file), file, column); x == x)
        work.values.push_back(x);
}

SINTER_APART bool categories::is_learned() const {
    bool any = learns;
    for (const categories& p : parts) any = any || p.is_learned();
    return any;
}

SINTER_APART void categories::learn() {
    for (categories& p : parts) p.learn();
    if (learns && form == kind::vocabulary) learn_words();
    if (learns && form == kind::quantiles) learn_boundaries();
}

SINTER_APART int categories::of(span<const csv::field> row, const std::string& file) const {
    switch (form) {
        case kind::bucketized: case kind::quantiles: {
            const double x = csv::number(csv::field_of(row, work.at, file), file, column);
            const auto above = std::upper_bound(boundaries.begin(), boundaries.end(), x);
            return x == x ? static_cast<int>(above - boundaries.begin()) : size - 1;
        }
        case kind::vocabulary: {
            const auto found = work.numbers.find(csv::trimmed(csv::field_of(row, work.at, file).text));
            return found == work.numbers.end() ? 0 : found->second;
        }
        case kind::hashed: return bucket(base::fnv1a(csv::trimmed(csv::field_of(row, work.at, file).text)));
        case kind::crossed: break;
    }
    std::uint64_t all = 0,
                  combinations = 1;   // as digits of one number; beyond 2^64 they wrap, which is a hash as well
    for (const categories& p : parts) {
        all = all * static_cast<std::uint64_t>(p.size) + static_cast<std::uint64_t>(p.of(row, file));
        combinations =
            combinations > std::uint64_t{most} ? combinations : combinations * static_cast<std::uint64_t>(p.size);
    }
    return combinations <= static_cast<std::uint64_t>(size) ? static_cast<int>(all) : bucket(all);
}

SINTER_APART void categories::number_words() {
    work.numbers.clear();
    // an older file may have a word twice: the second takes no number, as it took none then
    for (const std::string& w : words) work.numbers.emplace(w, static_cast<int>(work.numbers.size()) + 1);
}

SINTER_APART void categories::learn_words() {
    std::vector<std::pair<std::int64_t, std::string>> ranked;
    for (const auto& [word, times] : work.seen) ranked.emplace_back(-times, word);
    work.seen.clear();
    std::sort(ranked.begin(), ranked.end());   // the most frequent first; among equals, by the alphabet
    words.clear();
    for (const auto& [times, word] : ranked)
        if (static_cast<int>(words.size()) + 1 < size) words.push_back(word);
    number_words();
}

SINTER_APART void categories::learn_boundaries() {
    std::sort(work.values.begin(), work.values.end());
    boundaries.clear();
    const auto buckets = static_cast<std::size_t>(size - 1);
    for (std::size_t i = 1; i < buckets && !work.values.empty(); ++i) {
        const double b = work.values[work.values.size() * i / buckets];
        if (b > work.values.front() && (boundaries.empty() || b > boundaries.back())) boundaries.push_back(b);
    }
    work.values = {};
}

namespace detail {
SINTER_APART void need_size(int size, int least, const char* where) {
    if (size < least || size > categories::most)
        throw option_error("impossible number of categories", where, std::to_string(size),
                           std::to_string(least) + " to 2^24");
}
} // namespace detail

SINTER_APART categories bucketized(std::string column, std::vector<double> boundaries) {
    for (std::size_t i = 0; i < boundaries.size(); ++i)
        if (!(boundaries[i] - boundaries[i] == 0) || (i && !(boundaries[i - 1] < boundaries[i])))
            throw option_error("boundaries must ascend", "bucketized, boundary " + std::to_string(i),
                               base::number_text(boundaries[i]));
    const int size = static_cast<int>(boundaries.size()) + 2;
    return {.form = categories::kind::bucketized,
            .column = std::move(column),
            .size = size,
            .boundaries = std::move(boundaries)};
}

SINTER_APART categories quantiles(std::string column, int buckets) {
    detail::need_size(buckets, 1, "quantiles");
    return {.form = categories::kind::quantiles, .column = std::move(column), .size = buckets + 1, .learns = true};
}

SINTER_APART categories vocabulary(std::string column, std::vector<std::string> words) {
    for (std::string& w : words) w = std::string(csv::trimmed(w));
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (const auto [first, fresh] = places.emplace(words[i], i); !fresh)
            throw option_error("two words are the same", "vocabulary, " + io::printable(column),
                               io::printable(words[i], 40) + " at " + std::to_string(first->second) + " and " +
                                   std::to_string(i),
                               "words that differ");
    categories c{.form = categories::kind::vocabulary,
                 .column = std::move(column),
                 .size = static_cast<int>(words.size()) + 1,
                 .words = std::move(words)};
    c.number_words();
    return c;
}

SINTER_APART categories vocabulary(std::string column, int size) {
    detail::need_size(size, 1, "vocabulary");
    return {.form = categories::kind::vocabulary, .column = std::move(column), .size = size, .learns = true};
}

SINTER_APART categories hashed(std::string column, int buckets) {
    detail::need_size(buckets, 1, "hashed");
    return {.form = categories::kind::hashed, .column = std::move(column), .size = buckets};
}

SINTER_APART categories crossed(int buckets, std::vector<categories> parts) {
    detail::need_size(buckets, 1, "crossed");
    if (parts.size() < 2) throw option_error("too few parts", "crossed", std::to_string(parts.size()), "at least 2");
    for (const categories& p : parts)
        if (p.form == categories::kind::crossed) throw option_error("a part is crossed itself", "crossed");
    return {.form = categories::kind::crossed, .column = {}, .size = buckets, .parts = std::move(parts)};
}
#endif

} // namespace sinter::data
