// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <utility>
#include <vector>
#if SINTER_BODIES
#include <sinter/data/stages/counts.hpp>
#endif

/// Windows over typed elements.
namespace sinter::inline SINTER_ORDINARY::data {

/// shift: from one window's first element to that of the next; 0: as many as a window has.
/// stride: from one element of a window to its next.
/// drop_remainder: windows that the end of the pass leaves with fewer elements are left out.
struct windowing_options {
    std::int64_t shift = 0, stride = 1;
    bool drop_remainder = false;
};

struct window_step {
    std::int64_t size, shift, stride;
    bool drop_remainder;

    std::int64_t span() const { return (size - 1) * stride + 1; }   ///< from a window's first element to its last
    /// Windows of n elements.
    std::int64_t windows(std::int64_t n) const {
        if (n < 0) return n;
        const std::int64_t firsts = drop_remainder ? n - span() + 1 : n;
        return firsts <= 0 ? 0 : (firsts - 1) / shift + 1;
    }
};

/// Windows of `size` elements, each a std::vector: of 0 to 6 with {.shift = 1, .stride = 2} and size 3 they are
/// 0 2 4, 1 3 5, 2 4 6, 3 5, 4 6, 5, 6. Without options each element is in one window. option_error unless size and
/// stride are 1 or more, shift is 0 or more, and a window spans fewer than 2^63 elements.
///
/// An element is computed for each window that it is in.
SINTER_SELDOM window_step window(std::int64_t size, windowing_options o = {});

#if SINTER_BODIES
SINTER_SELDOM_BODY window_step window(std::int64_t size, windowing_options o) {
    stage_parts::at_least(1, size, "impossible number of elements", "window", "1 or more");
    stage_parts::at_least(0, o.shift, "impossible shift", "window", "1 or more, or 0: the window's size");
    stage_parts::at_least(1, o.stride, "impossible stride", "window", "1 or more");
    stage_parts::product_of_sizes(size, o.stride, "window");
    return {size, o.shift ? o.shift : size, o.stride, o.drop_remainder};
}
#endif

namespace stage_parts {

SINTER_COLD inline void describe_window(const window_step& w, description& d) {
    d.stage("window")("size", w.size)("shift", w.shift)("stride", w.stride)("drop_remainder", w.drop_remainder);
}

} // namespace stage_parts

/// Of an indexed stage: window i begins with element i * shift.
template <element_stage Up>
class windowed_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = Up::maps;
    using value_type = std::vector<typename Up::value_type>;
    using state = typename Up::state;

    windowed_stage(Up up, window_step w) : up_(std::move(up)), w_(w), n_(up_.size()) {}
    std::int64_t size() const { return w_.windows(n_); }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    value_type get(state& s, std::int64_t i) const {
        const std::int64_t first = i * w_.shift, n = elements_from(first);
        value_type all;
        all.reserve(static_cast<std::size_t>(n));
        for (std::int64_t e = 0; e < n; ++e) all.push_back(up_.get(s, first + e * w_.stride));
        return all;
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const {
        const std::int64_t first = i * w_.shift, n = elements_from(first);
        for (std::int64_t e = 0; e < n && e < most_prefetched; ++e) up_.prefetch(s, first + e * w_.stride);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        stage_parts::describe_window(w_, d);
    }

private:
    static constexpr std::int64_t most_prefetched = 8;

    std::int64_t elements_from(std::int64_t first) const {
        if (n_ == endless) return w_.size;
        const std::int64_t there = (n_ - first - 1) / w_.stride + 1;
        return there < w_.size ? there : w_.size;
    }

    Up up_;
    window_step w_;
    std::int64_t n_;
};

/// Of a stream. Its elements are computed where a window is; what a thread that takes windows keeps are their tickets,
/// as many as a window spans. Going on somewhere reads those of one window again.
template <stream_stage Up>
class windowed_stage<Up> {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = std::vector<typename Up::value_type>;
    /// Where the next window begins.
    struct cursor {
        typename Up::cursor up{};
        std::int64_t place = 0;   ///< elements before it
        std::int64_t gap = 0;     ///< elements from there on that are in no window
    };
    using ticket = std::vector<typename Up::ticket>;
    struct state {
        struct input {
            typename Up::cursor before{};
            typename Up::ticket k{};
        };
        typename Up::state up{};
        typename Up::cursor reader{};
        std::int64_t place = -1;      ///< of inputs[first], or of the reader where there are none
        std::vector<input> inputs;    ///< taken and not done with, from `first` on
        std::size_t first = 0;
        bool ended = false;
    };

    windowed_stage(Up up, window_step w) : up_(std::move(up)), w_(w) {}
    std::int64_t size() const { return w_.windows(up_.size()); }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.place = -1;
    }
    bool fits(const cursor& c) const { return up_.fits(c.up) && c.place >= 0 && c.gap >= 0; }
    bool next(state& s, cursor& c, ticket& k) const {
        if (s.place != c.place) go_to(s, c);
        while (c.gap > 0)
            if (!leave_one_out(s, c)) return false;
        const auto span = static_cast<std::size_t>(w_.span());
        while (!s.ended && s.inputs.size() - s.first < span) take(s);
        const std::size_t n = s.inputs.size() - s.first;
        if (n == 0 || (w_.drop_remainder && n < span)) return false;
        const bool is_last_use = n <= static_cast<std::size_t>(w_.shift);
        k.clear();
        for (std::size_t e = 0; e < n; e += static_cast<std::size_t>(w_.stride)) {
            auto& of = s.inputs[s.first + e].k;
            if (is_last_use) k.push_back(std::move(of));
            else k.push_back(of);
        }
        if (is_last_use) {
            c = {s.reader, c.place + static_cast<std::int64_t>(n), w_.shift - static_cast<std::int64_t>(n)};
            forget(s, s.inputs.size());
        } else {
            s.first += static_cast<std::size_t>(w_.shift);
            c = {s.inputs[s.first].before, c.place + w_.shift, 0};
            if (s.first > s.inputs.size() / 2) forget(s, s.first);
        }
        s.place = c.place;
        return true;
    }
    value_type get(state& s, ticket& k) const {
        value_type all;
        all.reserve(k.size());
        for (auto& e : k) all.push_back(up_.get(s.up, e));
        return all;
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        stage_parts::describe_window(w_, d);
    }

private:
    static void forget(state& s, std::size_t n) {
        s.inputs.erase(s.inputs.begin(), s.inputs.begin() + static_cast<std::ptrdiff_t>(n));
        s.first = 0;
    }
    void go_to(state& s, const cursor& c) const {
        forget(s, s.inputs.size());
        s.reader = c.up;
        s.ended = false;
        s.place = c.place;
    }
    void take(state& s) const {
        typename state::input in{s.reader, {}};
        if (up_.next(s.up, s.reader, in.k)) s.inputs.push_back(std::move(in));
        else s.ended = true;
    }
    bool leave_one_out(state& s, cursor& c) const {
        typename Up::ticket left_out{};
        if (s.ended || !up_.next(s.up, s.reader, left_out)) {
            s.ended = true;
            return false;
        }
        c = {s.reader, c.place + 1, c.gap - 1};
        s.place = c.place;
        return true;
    }

    Up up_;
    window_step w_;
};

template <element_stage Up>
windowed_stage<Up> operator|(Up up, window_step w) {
    return {std::move(up), w};
}

} // namespace sinter::data
