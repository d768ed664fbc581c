// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/data/stage.hpp>
#include <concepts>
#include <cstdint>
#include <type_traits>

/// What the stages of a pipeline of typed elements (data/element.hpp) promise each other. A stage is a value that is
/// constant while it is read: threads share it. What changes lies in two small values that its reader keeps:
///
/// `state`  of one thread: buffers, an open file, the order of a pass. Nothing in it needs to be saved.
/// `cursor` of one reader of a stream: where it is. It is all that must be known to go on from there.
///
/// There are two kinds. An indexed stage has element i of pass p as a pure function of (p, i), so that any thread may
/// compute any of them. A stream gives elements one after the other: next() takes the next one, and get() computes its
/// value, which any thread may do. Random numbers depend on (seed, pass, the element's number at that stage) alone.
namespace sinter::inline SINTER_ORDINARY::data {

/// is_indexed   true
/// maps         how many maps an element has gone through: each draws random numbers of its own
/// value_type   of its elements
/// state        default constructed, of one thread
/// size()       elements in a pass; known, but endless where there is no end
/// begin(state, pass)   get() is of this pass from now on
/// get(state, i)        element i, 0 <= i < size(); a reference only to what stays where it is as long as the stage
/// prefetch(state, i)   get(state, i) comes soon; does nothing where that is no gain
/// describe(d)          what members that read the same data must share: stages and settings
template <class S>
concept indexed_stage = S::is_indexed && requires(const S& s, typename S::state& t, std::int64_t i, description& d) {
    typename S::value_type;
    { S::maps } -> std::convertible_to<int>;
    { s.size() } -> std::same_as<std::int64_t>;
    s.begin(t, i);
    { s.get(t, i) } -> std::convertible_to<typename S::value_type>;
    s.prefetch(t, i);
    s.describe(d);
};

/// is_indexed, maps, value_type, state, size(), begin(), describe() as of an indexed stage; size() may be unknown_size
/// cursor       a value; default constructed it is at the beginning of a pass. Checkpoints keep it as bytes, so it is
///              made of numbers, strings, arrays, vectors, tuples and structs of these (base/value_bytes.hpp)
/// fits(cursor)   false for what can be no cursor of this stage: bytes of a damaged file are refused before next()
///                sees them. That it is a place of this very pass is not known: next() then gives an error or its end
/// ticket       what get() needs of an element that next() has taken
/// next(state, cursor, ticket)   the next element; false at the end of the pass, also when it is asked again there
/// get(state, ticket)            its value. Another thread's state may be given than next() had.
template <class S>
concept stream_stage = !S::is_indexed && requires(const S& s, typename S::state& t, typename S::cursor& c,
                                                  typename S::ticket& k, std::int64_t i, description& d) {
    typename S::value_type;
    { S::maps } -> std::convertible_to<int>;
    { s.size() } -> std::same_as<std::int64_t>;
    s.begin(t, i);
    { s.next(t, c, k) } -> std::same_as<bool>;
    { s.fits(c) } -> std::same_as<bool>;
    { s.get(t, k) } -> std::convertible_to<typename S::value_type>;
    s.describe(d);
};

template <class S>
concept element_stage = indexed_stage<S> || stream_stage<S>;

/// What a step gives that cannot be there, behind the static_assert that says so. It takes all further steps, and a
/// model takes it, without another error.
struct refused_stage {
    static std::int64_t size() { return unknown_size; }
};
template <class Step>
refused_stage operator|(refused_stage up, const Step&) {
    return up;
}

namespace stage_parts {

/// A stage of either kind read as a stream.
template <class S>
struct as_stream {
    using cursor = typename S::cursor;
    using ticket = typename S::ticket;
};
template <indexed_stage S>
struct as_stream<S> {
    using cursor = std::int64_t;
    using ticket = std::int64_t;
};
template <class S>
using cursor_of = typename as_stream<S>::cursor;
template <class S>
using ticket_of = typename as_stream<S>::ticket;

template <element_stage S>
bool next(const S& s, typename S::state& t, cursor_of<S>& c, ticket_of<S>& k) {
    if constexpr (indexed_stage<S>) {
        if (const std::int64_t n = s.size(); c >= n && n != endless) return false;
        k = c++;
        return true;
    } else {
        return s.next(t, c, k);
    }
}

/// Whether this can be a cursor of the stage.
template <element_stage S>
bool fits(const S& s, const cursor_of<S>& c) {
    if constexpr (indexed_stage<S>) {
        const std::int64_t n = s.size();
        return c >= 0 && (n == endless || c <= n);
    } else {
        return s.fits(c);
    }
}

/// Elements from `c` on that are left out, up to n of them; how many there were.
template <element_stage S>
std::int64_t skip(const S& s, typename S::state& t, cursor_of<S>& c, std::int64_t n) {
    if constexpr (indexed_stage<S>) {
        if (const std::int64_t all = s.size(); all != endless && n > all - c) n = all - c;
        c += n;
        return n;
    } else {
        ticket_of<S> left_out{};
        std::int64_t done = 0;
        while (done < n && s.next(t, c, left_out)) ++done;
        return done;
    }
}

} // namespace stage_parts

} // namespace sinter::data
