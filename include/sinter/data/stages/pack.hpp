// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/stages/whole_element.hpp>
#include <array>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

/// Several sequences in one row of N tokens. What is behind the last one is padding: segment 0.
template <int N>
struct packed_row {
    using numbers = std::array<std::int32_t, static_cast<std::size_t>(N)>;
    numbers tokens{};
    numbers segments{};    ///< 1 for the tokens of the row's first sequence, 2, ...
    numbers positions{};   ///< of a token within its sequence, from 0 on
    bool operator==(const packed_row&) const = default;
};

struct pack_options {
    std::int64_t window = 1024;    ///< sequences that are packed together
    bool split = false;            ///< cut sequences where a row is full, instead of looking for a row where one fits
    bool truncate = false;         ///< without split: leave out what is behind N tokens; false: data_error
    std::int32_t padding = 0;      ///< the token behind the last sequence
};
template <int N, class F>
struct pack_step {
    F tokens;
    pack_options options;
};

/// Rows of N tokens, each of several sequences one behind the other (packed_row). tokens(element) gives a sequence, as
/// std::vector<std::int32_t> or what has its data() and size().
///
/// Of `window` sequences each goes to the first row in which it fits whole, or begins a new one (first fit). With
/// `split` they are written one behind the other through all rows; what comes in the next row is a segment of its own,
/// with positions from 0 on. No row has sequences of two windows: so where a pass is gone on with, one window is read
/// again, and memory has the rows of one. Empty sequences leave nothing. Each process of a job computes all sequences.
/// option_error for a window below 1, or for split with truncate; data_error for a sequence of more than N tokens
/// unless one of these is asked for.
template <int N, class F>
    requires(!std::is_same_v<F, pack_options>)
pack_step<N, F> pack(F tokens, pack_options o = {}) {
    static_assert(N > 0, "pack<N>: a row has one token or more");
    if (o.window < 1) throw option_error("impossible window", "pack", to_text({o.window}), "1 or more sequences");
    if (o.split && o.truncate) throw option_error("sequences are split or truncated", "pack", "both", "one of them");
    return {std::move(tokens), o};
}
/// Of elements that are sequences themselves.
template <int N>
auto pack(pack_options o = {}) {
    return pack<N>(stage_parts::whole_element{}, o);
}

template <element_stage Up, int N, class F>
class packed_stage {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = packed_row<N>;
    using ticket = value_type;
    struct cursor {
        stage_parts::cursor_of<Up> up{};   ///< at the beginning of the window
        std::int64_t window = 0, row = 0;
    };

private:
    struct filled_row {
        value_type row{};
        int used = 0, segments = 0;
    };

public:
    struct state {
        typename Up::state up{};
        stage_parts::cursor_of<Up> at{};
        std::int64_t window = -1;   ///< whose rows these are; -1: none's
        std::vector<filled_row> rows;
        bool ended = false;
    };

    packed_stage(Up up, pack_step<N, F> s) : up_(std::move(up)), step_(std::move(s)) {}
    std::int64_t size() const { return up_.size() == endless ? endless : unknown_size; }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.window = -1;
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.window >= 0 && c.row >= 0; }
    bool next(state& s, cursor& c, ticket& k) const {
        if (s.window != c.window) {
            s.at = c.up;
            fill_rows(s, c.window);
        }
        while (c.row >= static_cast<std::int64_t>(s.rows.size())) {
            if (s.ended) return false;
            c = {s.at, c.window + 1, 0};
            fill_rows(s, c.window);
        }
        k = s.rows[static_cast<std::size_t>(c.row++)].row;
        return true;
    }
    const value_type& get(state&, const ticket& k) const { return k; }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        const pack_options& o = step_.options;
        d.stage("pack")("tokens", N)("function", type_text<F>())("window", o.window)("split", o.split)
            ("truncate", o.truncate)("padding", o.padding);
        if constexpr (base::tells_settings<F>) step_.tokens.describe(d);
    }

private:
    void fill_rows(state& s, std::int64_t window) const {
        s.window = -1;   // should what is before throw
        s.rows.clear();
        s.ended = false;
        std::size_t open = 0;   // rows before this one are full
        stage_parts::ticket_of<Up> k{};
        for (std::int64_t i = 0; i < step_.options.window; ++i) {
            if (!stage_parts::next(up_, s.up, s.at, k)) {
                s.ended = true;
                break;
            }
            const auto& e = up_.get(s.up, k);
            const auto& tokens = step_.tokens(e);
            place(s.rows, open, span<const std::int32_t>(tokens.data(), tokens.size()));
        }
        s.window = window;
    }
    void place(std::vector<filled_row>& rows, std::size_t& open, span<const std::int32_t> sequence) const {
        const auto all = static_cast<std::int64_t>(sequence.size());
        if (all > N && !step_.options.split && !step_.options.truncate)
            throw data_error("a sequence is longer than a row", "pack", to_text({all, " tokens"}),
                             to_text({"at most ", N, ", or .split or .truncate"}));
        std::int64_t n = all > N && step_.options.truncate ? N : all;
        const std::int32_t* from = sequence.data();
        while (n > 0) {
            while (open < rows.size() && rows[open].used == N) ++open;
            std::size_t r = open;
            if (!step_.options.split)
                while (r < rows.size() && rows[r].used + n > N) ++r;
            if (r == rows.size()) rows.emplace_back().row.tokens.fill(step_.options.padding);
            filled_row& to = rows[r];
            const int now = n < N - to.used ? static_cast<int>(n) : N - to.used;
            ++to.segments;
            for (int i = 0; i < now; ++i) {
                const auto at = static_cast<std::size_t>(to.used + i);
                to.row.tokens[at] = from[i];
                to.row.segments[at] = to.segments;
                to.row.positions[at] = i;
            }
            to.used += now;
            from += now;
            n -= now;
        }
    }

    Up up_;
    pack_step<N, F> step_;
};

template <element_stage Up, int N, class F>
auto operator|(Up up, pack_step<N, F> s) {
    using in = typename Up::value_type;
    constexpr bool fits = [] {
        if constexpr (std::is_invocable_v<const F&, const in&>)
            return requires(std::remove_cvref_t<std::invoke_result_t<const F&, const in&>> t) {
                { std::as_const(t).data() } -> std::same_as<const std::int32_t*>;
                { t.size() } -> std::convertible_to<std::size_t>;
            };
        else return false;
    }();
    static_assert(fits, "pack: needed are elements that are std::vector<std::int32_t>, or a function that takes an "
                        "element of this pipeline and gives one");
    if constexpr (fits) return packed_stage<Up, N, F>(std::move(up), std::move(s));
    else return refused_stage{};
}

} // namespace sinter::data
