// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <sinter/data/stages/cursor_bytes.hpp>
#include <cstdint>
#include <string>
#include <vector>

/// How tests read the stages of a pipeline, and hold them against plain vectors.
namespace reading {

namespace data = sinter::data;
using i64 = std::int64_t;

/// Numbers for a test's parameters (Steele, Lea, Flood: SplitMix64, OOPSLA 2014).
class dice {
public:
    explicit dice(std::uint64_t seed) : x_(seed * 0x9e3779b97f4a7c15) {}
    i64 operator()(i64 first, i64 last) {
        std::uint64_t z = x_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return first + static_cast<i64>((z ^ (z >> 31)) % static_cast<std::uint64_t>(last - first + 1));
    }

private:
    std::uint64_t x_;
};

/// Up to `most` elements from a cursor on; values are computed with a state of their own, as by another thread.
template <class Stages>
std::vector<typename Stages::value_type> rest(const Stages& s, i64 pass, data::stage_parts::cursor_of<Stages> c = {},
                                              std::size_t most = 1000) {
    typename Stages::state reads{}, computes{};
    s.begin(reads, pass);
    s.begin(computes, pass);
    std::vector<typename Stages::value_type> all;
    for (data::stage_parts::ticket_of<Stages> k{}; all.size() < most && data::stage_parts::next(s, reads, c, k);)
        all.push_back(s.get(computes, k));
    return all;
}

/// A cursor as a checkpoint keeps it, and read from there. Where `damaged`, with bytes missing, too many or changed as
/// well: these are refused, or are another place, from which a few elements can be read.
template <class Stages>
data::stage_parts::cursor_of<Stages> saved_and_read(const Stages& s, i64 pass,
                                                    const data::stage_parts::cursor_of<Stages>& c, bool damaged) {
    if constexpr (data::stream_stage<Stages> && sinter::base::has_value_bytes<data::stage_parts::cursor_of<Stages>>) {
        std::string bytes;
        data::stage_parts::write_cursor<Stages>(c, bytes);
        BOOST_TEST(bytes.size() < 1024u);
        if (!damaged) return data::stage_parts::read_cursor(s, bytes);
        const auto look = [&](const std::string& other) {
            try {
                rest(s, pass, data::stage_parts::read_cursor(s, other), 3);
            } catch (const sinter::error&) {
            }
        };
        const auto refused = [&](const std::string& other) {
            BOOST_CHECK_THROW(static_cast<void>(data::stage_parts::read_cursor(s, other)), sinter::format_error);
        };
        if (!bytes.empty()) refused(bytes.substr(0, bytes.size() - 1)), refused(bytes + '\0');
        for (std::size_t i = 0; i < bytes.size(); i += 7) {   // 7 and 8, which is a number's size, have no divisor
            std::string other = bytes;
            other[i] = static_cast<char>(other[i] ^ (1 << i % 8));
            look(other);
        }
        return data::stage_parts::read_cursor(s, bytes);
    } else {
        return c;
    }
}

/// That a pass of `s` has these elements: read in order; from each place on, with a state that was never used, and with
/// one that comes from another pass; by two readers in turns with one state; and backwards where elements can be found
/// by number. A second look past the end finds it again.
template <class Stages>
void check(const Stages& s, i64 pass, const std::vector<typename Stages::value_type>& expected, i64 size) {
    using cursor = data::stage_parts::cursor_of<Stages>;
    BOOST_TEST(s.size() == size);
    BOOST_REQUIRE((rest(s, pass) == expected));
    std::vector<cursor> at{{}};
    typename Stages::state one{};
    s.begin(one, pass);
    cursor c{};
    for (data::stage_parts::ticket_of<Stages> k{}; at.size() <= expected.size();) {
        BOOST_REQUIRE(data::stage_parts::next(s, one, c, k));
        BOOST_REQUIRE((s.get(one, k) == expected[at.size() - 1]));
        at.push_back(saved_and_read(s, pass, c, at.size() == expected.size() / 2));
    }
    for (int twice = 0; twice < 2; ++twice) {
        data::stage_parts::ticket_of<Stages> k{};
        BOOST_REQUIRE(!data::stage_parts::next(s, one, c, k));
    }
    for (std::size_t i = 0; i <= expected.size(); ++i) {
        const std::vector<typename Stages::value_type> after(expected.begin() + static_cast<std::ptrdiff_t>(i),
                                                             expected.end());
        BOOST_REQUIRE((rest(s, pass, at[i]) == after));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {   // the state comes from this place in another pass
        s.begin(one, pass + 1);
        c = {};
        data::stage_parts::ticket_of<Stages> k{};
        for (std::size_t n = 0; n < i && data::stage_parts::next(s, one, c, k); ++n) static_cast<void>(s.get(one, k));
        s.begin(one, pass);
        c = at[i];
        BOOST_REQUIRE(data::stage_parts::next(s, one, c, k));
        BOOST_REQUIRE((s.get(one, k) == expected[i]));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {   // by turns: the state stands elsewhere than each cursor
        const std::size_t place[] = {i, expected.size() - 1 - i};
        for (const std::size_t p : place) {
            cursor there = at[p];
            data::stage_parts::ticket_of<Stages> k{};
            BOOST_REQUIRE(data::stage_parts::next(s, one, there, k));
            BOOST_REQUIRE((s.get(one, k) == expected[p]));
        }
    }
    if constexpr (Stages::is_indexed)
        for (std::size_t i = expected.size(); i-- > 0;) {
            s.prefetch(one, static_cast<i64>(i));
            BOOST_REQUIRE((s.get(one, static_cast<i64>(i)) == expected[i]));
        }
}

/// Plain models, over vectors.
template <class T, class Keep>
std::vector<T> those(const std::vector<T>& all, Keep keep) {
    std::vector<T> kept;
    i64 i = 0;
    for (const T& e : all)
        if (keep(e, i++)) kept.push_back(e);
    return kept;
}
template <class T>
std::vector<T> joined(std::vector<T> a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace reading
