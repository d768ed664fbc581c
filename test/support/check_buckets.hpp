// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <algorithm>

#include "support/half_steps.hpp"

/// What must hold of the buckets of a program under gradient_policy::reduced, checked by brute force.
namespace sinter::test {
using namespace compiler;

struct stretch_of_floats {
    std::int64_t begin, end;
    auto operator<=>(const stretch_of_floats&) const = default;
};
/// Each float of the arena is in one bucket; where steps are accumulated, each of the slot that
/// belongs to a parameter with a gradient.
template <class P>
void check_partition(const char* what) {
    std::vector<stretch_of_floats> all;
    for (int i = 0; i < P::v.n_buckets; ++i) {
        const gradient_bucket& b = P::v.buckets[i];
        all.push_back({b.at.offset(), b.at.offset() + b.floats});
        if (b.is_list()) all.push_back({b.keys.offset(), b.keys.offset() + floats_of_keys(b.most_rows)});
        if (i) BOOST_TEST(P::v.buckets[i - 1].final_after <= b.final_after, what);
    }
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i)
        BOOST_TEST(all[i - 1].end <= all[i].begin, what << ": buckets overlap");
    if (P::v.buckets[0].every > 1) return;
    for (std::size_t i = 1; i < all.size(); ++i)
        BOOST_TEST(all[i - 1].end == all[i].begin, what << ": a gap between buckets");
    BOOST_TEST(all.front().begin == 0, what);
    BOOST_TEST(all.back().end == P::v.z.gradients, what);
}
/// Each bucket holds its parameters' whole gradients, and nothing touches it between `final_after`
/// and the first update.
template <class P>
void check_addresses(const char* what) {
    for (int i = 0; i < P::v.n_parameters; ++i) {
        const variable_info& v = P::v.parameters[i];
        if (v.bucket < 0) continue;
        const gradient_bucket& b = P::v.buckets[v.bucket];
        if (b.is_list()) {
            BOOST_TEST(b.parameter == i, what);
            continue;
        }
        const std::int64_t at = b.every > 1 ? (P::v.slots - 1) * P::v.z.trained + v.at.offset() : v.gradient.offset();
        BOOST_TEST((b.at.offset() <= at && at + v.floats <= b.at.offset() + b.floats), what << ": parameter " << i);
    }
    for (int n = 0; n < P::v.n_buckets; ++n) {
        const gradient_bucket& b = P::v.buckets[n];
        int last = -1;
        for (int i = 0; i < P::v.segments.first_update; ++i)
            for (int k = 0; k < P::v.launches[i].args; ++k) {
                const address a = P::v.args[P::v.launches[i].first_arg + k];
                const bool inside = a.where() == b.at.where() && a.offset() >= b.at.offset() &&
                    a.offset() < b.at.offset() + b.floats;
                if (inside || (b.is_list() && a.bits == b.keys.bits)) last = i;
            }
        while (last >= 0 && P::v.launches[last].is_producer) ++last;
        for (int l = 0; l < P::v.n_loops; ++l)
            if (last >= P::v.loops[l].first && last < P::v.loops[l].end) last = P::v.loops[l].end - 1;
        BOOST_TEST(last <= b.final_after, what << ": bucket " << n);
        BOOST_TEST(b.final_after < P::v.segments.first_update, what);
        if (b.every == 1) BOOST_TEST(last == b.final_after, what << ": bucket " << n << " could be final earlier");
    }
}
/// Runs the gradients of `h` once, stopping behind each bucket's `final_after`: what is there then
/// stays until all are done.
template <class P, class Optimizer>
void check_final(half_steps<P, Optimizer>& h, const data::batch_view& b, const char* what) {
    h.begin(b);
    int next = 0;
    std::vector<std::vector<float>> seen;
    const auto contents = [&](const gradient_bucket& x) {
        std::vector<float> all(h.at(x.at), h.at(x.at) + x.floats);
        if (x.is_list()) all.insert(all.end(), h.at(x.keys), h.at(x.keys) + floats_of_keys(x.most_rows));
        return all;
    };
    for (int i = 0; i < P::v.n_buckets; ++i) {
        const gradient_bucket& x = P::v.buckets[i];
        if (next <= x.final_after) BOOST_TEST(h.run({next, x.final_after + 1}));
        next = std::max(next, x.final_after + 1);
        seen.push_back(contents(x));
    }
    if (next < P::v.segments.first_update) BOOST_TEST(h.run({next, P::v.segments.first_update}));
    for (int i = 0; i < P::v.n_buckets; ++i) {
        const std::vector<float> now = contents(P::v.buckets[i]), &then = seen[static_cast<std::size_t>(i)];
        BOOST_TEST(std::memcmp(now.data(), then.data(), 4 * now.size()) == 0,
                   what << ": bucket " << i << " was not final");
    }
}

} // namespace sinter::test
