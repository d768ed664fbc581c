// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/data/dataset.hpp>
#if SINTER_BODIES
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#endif

/// Sets made of other sets' examples: of chosen ones, or of several sets one after the other. Rows
/// are copied as they lie, pixels as bytes.
namespace sinter::inline SINTER_ORDINARY::data {

/// The examples at these places, in this order; one may come several times. data_error for a place
/// that is not there.
SINTER_APART dataset gather(const dataset& from, span<const std::int64_t> places);

/// The sets' examples one after the other. data_error unless all have the same columns: roles,
/// extents, types, and pixels or numbers.
SINTER_APART dataset concat(span<const dataset> sets);
inline dataset concat(std::initializer_list<dataset> sets) {
    return concat(span<const dataset>(sets.begin(), sets.size()));
}

/// The numbers from 0 below n (less than 2^32) in random order, the same for equal (n, seed): each
/// order equally likely.
SINTER_APART std::vector<std::int64_t> random_order(std::int64_t n, std::uint64_t seed = 0);

#if SINTER_BODIES
namespace detail {
/// n rows of T, the i-th copied from row(i).
template <class T, class F>
std::vector<T> copied_rows(std::size_t width, std::int64_t n, F row) {
    std::vector<T> all(width * static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        std::memcpy(all.data() + width * static_cast<std::size_t>(i), row(i), width * sizeof(T));
    return all;
}

/// Adds a column like `c` of n rows, the i-th at row(i).
template <class F>
void add_column(dataset& to, const column& c, std::int64_t n, F row) {
    const auto width = static_cast<std::size_t>(c.width());
    if (c.pixels) to.pixels(c.row, copied_rows<std::byte>(width, n, row));
    else if (c.use == role::label) to.labels(c.row, copied_rows<std::int32_t>(width, n, row));
    else if (c.use == role::target) to.targets(c.row, copied_rows<float>(width, n, row));
    else if (c.use == role::weight) to.weights(c.row, copied_rows<float>(width, n, row));
    else if (c.row.type == dtype::i32) to.input(c.row, copied_rows<std::int32_t>(width, n, row));
    else to.input(c.row, copied_rows<float>(width, n, row));
    if (c.name) to.named(c.name);
}
} // namespace detail

SINTER_APART dataset gather(const dataset& from, span<const std::int64_t> places) {
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i] < 0 || places[i] >= from.size())
            throw data_error("no such example", to_text({"gather, place ", i}), to_text({places[i]}),
                             to_text({"0 to ", from.size() - 1}));
    dataset to;
    for (std::size_t c = 0; c < from.columns().size(); ++c)
        detail::add_column(to, from.columns()[c], static_cast<std::int64_t>(places.size()),
                           [&](std::int64_t i) { return from.row(c, places[static_cast<std::size_t>(i)]); });
    return to;
}

SINTER_APART dataset concat(span<const dataset> sets) {
    std::vector<std::int64_t> ends;
    std::int64_t n = 0;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        const column_list &a = sets[0].columns(), &b = sets[s].columns();
        if (a.size() != b.size())
            throw data_error("sets of different columns", to_text({"concat, set ", s}), to_text({b.size(), " columns"}),
                             to_text({a.size(), ", as the first has"}));
        for (std::size_t c = 0; c < a.size(); ++c)
            if (a[c].use != b[c].use || a[c].row != b[c].row || a[c].pixels != b[c].pixels)
                throw data_error("sets of different columns", to_text({"concat, set ", s, ", column ", c}),
                                 to_text({b[c].width(), b[c].pixels ? " pixels" : " numbers"}),
                                 to_text({a[c].width(), a[c].pixels ? " pixels" : " numbers",
                                         " of the same role, extents and type, as the first has"}));
        for (std::size_t c = 0; c < a.size(); ++c)
            if (a[c].name != b[c].name)
                throw data_error("sets of different columns", to_text({"concat, set ", s, ", column ", c}),
                                 b[c].name ? b[c].name : "no name",
                                 a[c].name ? to_text({a[c].name, ", as the first has"})
                                           : "no name, as the first has none");
        ends.push_back(n += sets[s].size());
    }
    dataset to;
    for (std::size_t c = 0; !sets.empty() && c < sets[0].columns().size(); ++c) {
        std::size_t s = 0;
        detail::add_column(to, sets[0].columns()[c], n, [&](std::int64_t i) {   // i ascends
            while (i >= ends[s]) ++s;
            return sets[s].row(c, i - ends[s] + sets[s].size());
        });
    }
    return to;
}

SINTER_APART std::vector<std::int64_t> random_order(std::int64_t n, std::uint64_t seed) {
    if (n < 0 || n > (std::int64_t{1} << 32) - 1)
        throw option_error("impossible number", "random_order", to_text({n}), "0 to 2^32 - 1");
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    random_stream random(base::stream(seed, base::fnv1a("data/random_order")));
    for (std::size_t left = order.size(); left > 1; --left)   // Fisher-Yates
        std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
    return order;
}
#endif

} // namespace sinter::data
