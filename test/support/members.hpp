// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <sinter/base/cluster_error.hpp>
#include <sinter/collective/communicator.hpp>
#include <sinter/collective/element.hpp>
#include <string>
#include <thread>
#include <vector>

// What is asked of every engine. Functions of one member: Boost.Test's macros are not for threads, so they throw.
namespace sinter::test {
using namespace sinter::collective;
using collective::reduction;   // losses have one, too

struct unmet : std::runtime_error {
    using runtime_error::runtime_error;
};
inline void need(bool holds, const std::string& what) {
    if (!holds) throw unmet(what);
}

/// Runs f(rank) on n threads; what any of them throws is a failed check.
inline void on_members(int n, const std::function<void(int)>& f) {
    std::vector<std::string> faults(static_cast<std::size_t>(n));
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
        threads.emplace_back([&, r] {
            try {
                f(r);
            } catch (const std::exception& e) {
                faults[static_cast<std::size_t>(r)] = e.what();
            }
        });
    for (auto& t : threads) t.join();
    for (int r = 0; r < n; ++r)
        BOOST_TEST(faults[static_cast<std::size_t>(r)].empty(),
                   n << " members, member " << r << ": " << faults[static_cast<std::size_t>(r)]);
}

/// A number that is any member's without talking: not representable exactly, so that orders of sums differ.
template <class T>
T number_of(int rank, std::int64_t i) {
    std::uint64_t h = static_cast<std::uint64_t>(rank + 1) * 0x9E3779B97F4A7C15u +
                      static_cast<std::uint64_t>(i) * 0xBF58476D1CE4E5B9u;
    h ^= h >> 31, h *= 0x94D049BB133111EBu, h ^= h >> 29;
    if constexpr (std::is_integral_v<T>) return static_cast<T>(h);
    else return static_cast<T>(static_cast<double>(h >> 11) * 0x1p-53 - 0.5) * static_cast<T>(1 + h % 7);
}
template <class T>
constexpr element element_of() {
    if (std::is_same_v<T, float>) return element::f32;
    if (std::is_same_v<T, double>) return element::f64;
    if (std::is_same_v<T, std::int32_t>) return element::i32;
    return std::is_same_v<T, std::int64_t> ? element::i64 : element::u8;
}

/// ((x0 + x1) + (x2 + x3)) + ...: neighbours are joined, round after round.
template <class T>
T tree_sum(std::vector<T> x) {
    while (x.size() > 1) {
        std::vector<T> half;
        for (std::size_t k = 0; k + 1 < x.size(); k += 2) {
            if constexpr (std::is_integral_v<T>)
                half.push_back(static_cast<T>(static_cast<std::uint64_t>(x[k]) + static_cast<std::uint64_t>(x[k + 1])));
            else half.push_back(x[k] + x[k + 1]);
        }
        if (x.size() % 2) half.push_back(x.back());
        x = half;
    }
    return x.front();
}
template <class T>
T reduced(int members, reduction how, std::int64_t i) {
    std::vector<T> x;
    for (int r = 0; r < members; ++r) x.push_back(number_of<T>(r, i));
    if (how == reduction::max) return *std::max_element(x.begin(), x.end());
    if (how == reduction::min) return *std::min_element(x.begin(), x.end());
    return tree_sum(x);
}

/// All reductions of n elements of type T. Where the order is the engine's, sums are near the exact one and equal on
/// all members, and the same when done again.
template <class T>
void check_reductions(communicator& c, std::int64_t n) {
    const int members = c.size();
    const auto fill = [&](std::vector<T>& x) {
        x.resize(static_cast<std::size_t>(n) + 1);
        for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = number_of<T>(c.rank(), i);
        x.back() = T(77);   // lies behind
    };
    std::vector<T> x;
    std::vector<std::vector<std::byte>> before;
    for (const reduction how : {reduction::sum, reduction::max, reduction::min})
        for (const kind what :
             {kind::all_reduce, kind::all_reduce_tree, kind::reduce_scatter, kind::reduce_scatter_tree}) {
            fill(x);
            c.wait(c.start({.what = what, .type = element_of<T>(), .how = how, .step = 3, .bucket = 1}, x.data(), n,
                           false));
            const bool scatters = what == kind::reduce_scatter || what == kind::reduce_scatter_tree;
            const bool tree = what == kind::all_reduce_tree || what == kind::reduce_scatter_tree;
            const auto mine = scatters ? c.part(n, c.rank()) : part_range{0, n};
            const std::string where = std::string(name_of(what)) + ", " + name_of(how) + " of " + std::to_string(n) +
                                      " " + name_of(element_of<T>());
            for (std::int64_t i = mine.first; i < mine.end; ++i) {
                const T got = x[static_cast<std::size_t>(i)], expected = reduced<T>(members, how, i);
                if (tree || how != reduction::sum || std::is_integral_v<T>)
                    need(got == expected, where + ": not the same bits at " + std::to_string(i));
                else
                    need(std::abs(static_cast<double>(got - expected)) <=
                             16 * members * static_cast<double>(std::numeric_limits<T>::epsilon()),
                         where + ": far off at " + std::to_string(i));
            }
            need(x.back() == T(77), where + ": wrote behind the end");
            if (scatters) continue;
            const auto all = c.all_gather(as_bytes(x));
            for (const auto& other : all) need(other == all.front(), where + ": members differ");
            if (what != kind::all_reduce) continue;
            fill(x);
            c.wait(c.start({.what = what, .type = element_of<T>(), .how = how, .step = 4, .bucket = 1}, x.data(), n,
                           true));
            const auto again = as_bytes(x);
            need(std::equal(again.begin(), again.end(), all.front().begin()),
                 where + ": another result when done again");
        }
}

/// Every operation, every type.
inline void check_operations(communicator& c, std::int64_t n) {
    check_reductions<float>(c, n);
    check_reductions<double>(c, n);
    check_reductions<std::int32_t>(c, n);
    check_reductions<std::int64_t>(c, n);
    const int members = c.size(), rank = c.rank();
    std::vector<float> x(static_cast<std::size_t>(n), -1.f);
    const auto mine = c.part(n, rank);
    for (std::int64_t i = mine.first; i < mine.end; ++i) x[static_cast<std::size_t>(i)] = number_of<float>(9, i);
    c.wait(c.start({.what = kind::all_gather}, x.data(), n, false));
    for (std::int64_t i = 0; i < n; ++i)
        need(x[static_cast<std::size_t>(i)] == number_of<float>(9, i), "all-gather of " + std::to_string(n));
    const int before = (rank + members - 1) % members;
    for (std::int64_t i = 0; i < n; ++i)
        x[static_cast<std::size_t>(i)] = i >= mine.first && i < mine.end ? number_of<float>(rank, i) : -1.f;
    c.wait(c.start({.what = kind::shift}, x.data(), n, false));
    const auto gets = c.part(n, before);
    for (std::int64_t i = 0; i < n; ++i) {
        const bool own = i >= mine.first && i < mine.end, came = i >= gets.first && i < gets.end;
        const float wanted = own ? number_of<float>(rank, i) : came ? number_of<float>(before, i) : -1.f;
        need(x[static_cast<std::size_t>(i)] == wanted, "shift of " + std::to_string(n));
    }
    for (int root = 0; root < members; ++root) {
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)
            bytes[static_cast<std::size_t>(i)] = rank == root ? number_of<std::uint8_t>(root, i) : std::uint8_t(0);
        c.broadcast(as_writable_bytes(bytes), root);
        for (std::int64_t i = 0; i < n; ++i)
            need(bytes[static_cast<std::size_t>(i)] == number_of<std::uint8_t>(root, i),
                 "broadcast of " + std::to_string(n));
    }
    // member r has r * n / 3 bytes
    std::vector<std::uint8_t> list(static_cast<std::size_t>(rank * n / 3));
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = number_of<std::uint8_t>(rank, static_cast<std::int64_t>(i));
    const auto lists = c.all_gather(as_bytes(list));
    need(static_cast<int>(lists.size()) == members, "as many lists as members");
    for (int r = 0; r < members; ++r) {
        const auto& l = lists[static_cast<std::size_t>(r)];
        need(static_cast<std::int64_t>(l.size()) == r * n / 3, "the length of a list");
        for (std::size_t i = 0; i < l.size(); ++i)
            need(std::to_integer<std::uint8_t>(l[i]) == number_of<std::uint8_t>(r, static_cast<std::int64_t>(i)),
                 "a list's bytes");
    }
    c.barrier();
}

/// gloo's oracle (gloo/test/allreduce_test.cc): member r has r + k * stride at k, with stride = members; the sum is
/// k * stride^2 + stride * (stride - 1) / 2.
inline void check_closed_form(communicator& c,
                              std::initializer_list<std::int64_t> sizes = {0, 1, 10, 100, 1000, 10000}) {
    const std::int64_t stride = c.size();
    for (const std::int64_t n : sizes)
        for (const kind what : {kind::all_reduce, kind::all_reduce_tree}) {
            std::vector<std::int64_t> x(static_cast<std::size_t>(n));
            for (std::int64_t k = 0; k < n; ++k) x[static_cast<std::size_t>(k)] = c.rank() + k * stride;
            c.wait(c.start({.what = what, .type = element::i64}, x.data(), n, false));
            for (std::int64_t k = 0; k < n; ++k)
                need(x[static_cast<std::size_t>(k)] == k * stride * stride + stride * (stride - 1) / 2,
                     "the sum of " + std::to_string(n) + " at " + std::to_string(k));
        }
}
/// The same for floats.
inline void check_closed_form_of_floats(communicator& c,
                                        std::initializer_list<std::int64_t> sizes = {0, 4, 100, 1000, 10000}) {
    const std::int64_t stride = c.size();
    for (const std::int64_t n : sizes) {
        std::vector<float> x(static_cast<std::size_t>(n));
        for (std::int64_t k = 0; k < n; ++k) x[static_cast<std::size_t>(k)] = static_cast<float>(c.rank() + k * stride);
        c.all_reduce(span<float>(x));
        for (std::int64_t k = 0; k < n; ++k)   // all sums are below 2^24
            need(x[static_cast<std::size_t>(k)] == static_cast<float>(k * stride * stride + stride * (stride - 1) / 2),
                 "the sum of " + std::to_string(n) + " floats at " + std::to_string(k));
    }
}

using members_runner = std::function<void(int, const std::function<void(communicator&)>&)>;

/// What cluster_error a member's calls throw within a few operations; an error of another kind passes on.
inline std::string error_of(communicator& c, const operation& o, std::int64_t n, bool& applied) {
    std::vector<double> x(static_cast<std::size_t>(n) + 1, 1.0);
    try {
        c.wait(c.start(o, x.data(), n, false));
        applied = true;
        for (int k = 0; k < 3; ++k) c.barrier();
    } catch (const cluster_error& e) {
        if (e.operation().empty()) return "";
        return e.what();
    }
    return "";
}

/// Whatever differs is an error on all members, before anybody has a result.
inline void check_differences(const members_runner& run) {
    struct fault {
        operation mine;
        std::int64_t n;
        const char* says;
    };
    const operation usual{.what = kind::all_reduce, .type = element::f32, .step = 5, .bucket = 2};
    const auto with = [&](auto change) {
        operation o = usual;
        change(o);
        return o;
    };
    std::vector<std::pair<std::int64_t, fault>> cases;
    for (const auto& [n, m] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
             {1000, 2000}, {1000, 1001}, {100000, 99999}, {2000000, 1000000}, {0, 1}, {1, 0}})
        cases.push_back({n, {usual, m, "f32"}});
    cases.push_back({1000, {with([](operation& o) { o.type = element::i32; }), 1000, "i32"}});
    cases.push_back({1000, {with([](operation& o) { o.type = element::f64; }), 500, "f64"}});
    cases.push_back({1000, {with([](operation& o) { o.how = reduction::max; }), 1000, "max"}});
    cases.push_back({1000, {with([](operation& o) { o.bucket = 3; }), 1000, "bucket 3"}});
    cases.push_back({1000, {with([](operation& o) { o.step = 6; }), 1000, "step 6"}});
    cases.push_back({1000, {with([](operation& o) { o.what = kind::all_reduce_tree; }), 1000, "tree"}});
    cases.push_back({1000, {with([](operation& o) { o.what = kind::broadcast; }), 1000, "broadcast"}});
    cases.push_back({1000, {with([](operation& o) { o.what = kind::barrier; }), 0, "barrier"}});
    cases.push_back({1000, {with([](operation& o) { o.what = kind::all_gather; }), 1000, "all-gather"}});
    cases.push_back({1000, {with([](operation& o) { o.what = kind::shift; }), 1000, "shift"}});
    cases.push_back({1000, {with([](operation& o) { o.what = kind::reduce_scatter; }), 1000, "reduce-scatter"}});
    for (const int members : {2, 3, 4})
        for (const auto& [n, other] : cases) {
            const std::int64_t usual_n = n;
            const fault& f = other;
            std::mutex mutex;
            std::vector<std::string> texts;
            std::string differs;
            run(members, [&](communicator& c) {
                bool applied = false;
                const bool odd = c.rank() == members - 1;
                const std::string text = odd ? error_of(c, f.mine, f.n, applied) : error_of(c, usual, usual_n, applied);
                const std::lock_guard lock(mutex);
                texts.push_back(text);
                need(!applied || f.mine.what == kind::broadcast, "a member got a result");
            });
            BOOST_TEST(texts.size() == static_cast<std::size_t>(members));
            for (const auto& t : texts) {
                BOOST_TEST(!t.empty(), members << " members, " << f.says << ": a member has no error");
                BOOST_TEST(t == texts.front(), "all have the first error");
                BOOST_TEST(t.find(f.says) != std::string::npos, "the error says " << f.says << ": " << t);
            }
        }
}

/// Each waits for another root, or only for itself.
inline void check_roots(const members_runner& run) {
    for (const int members : {2, 3, 4}) {
        std::atomic<int> told{0};
        run(members, [&](communicator& c) {
            bool applied = false;
            const operation o{.what = kind::broadcast, .type = element::f32, .root = (c.rank() + 1) % members};
            if (!error_of(c, o, 100, applied).empty() && !applied) ++told;
        });
        BOOST_TEST(told == members);
    }
}

/// A member that cannot go on ends the others' waiting, and they say why.
inline void check_failures(const members_runner& run) {
    for (const int members : {2, 3}) {
        std::atomic<int> told{0};
        run(members, [&](communicator& c) {
            std::vector<float> x(100);
            if (c.rank() == 1) {
                c.all_reduce(span<float>(x));
                return c.fail("a file cannot be read");
            }
            try {
                for (int k = 0; k < 2; ++k) c.all_reduce(span<float>(x));   // the first may or may not be done in time
            } catch (const cluster_error& e) {
                if (e.rank() == 1 && std::string(e.what()).find("a file cannot be read") != std::string::npos) ++told;
            }
        });
        BOOST_TEST(told == members - 1);
    }
}

/// Buckets are started one after the other while the caller computes; small ones follow that the caller drives.
inline void check_buckets_beside_computing(communicator& c) {
    constexpr int buckets = 20;
    std::vector<std::vector<double>> x(buckets);
    for (int step = 0; step < 30; ++step) {
        ticket last = 0, first = 0;
        for (int b = 0; b < buckets; ++b) {
            auto& v = x[static_cast<std::size_t>(b)];
            v.assign(static_cast<std::size_t>(b * 97 % 400), c.rank() + 1.0 + b);
            last = c.start({.what = kind::all_reduce, .type = element::f64, .step = step, .bucket = b}, v.data(),
                           static_cast<std::int64_t>(v.size()), b % 7 != 6 && b + 1 < buckets);
            if (b == 4) first = last;
        }
        const auto check = [&](int b) {
            const double expected = c.size() * (c.size() + 1) / 2.0 + c.size() * b;
            for (const double got : x[static_cast<std::size_t>(b)])
                need(got == expected, "bucket " + std::to_string(b));
        };
        if (step % 2) c.wait(first), check(4);
        c.wait(last);
        for (int b = 0; b < buckets; ++b) check(b);
    }
}

}   // namespace sinter::test
