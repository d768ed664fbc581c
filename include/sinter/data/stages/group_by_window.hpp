// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <concepts>
#include <map>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

struct same_for_all_keys {
    std::int64_t size;
    std::int64_t operator()(std::int64_t) const { return size; }
    void describe(description& d) const { d("size", size); }
};

} // namespace stage_parts

struct group_options {
    std::int64_t window = 65'536;   ///< inputs after which all groups are closed; 0: at the end of a pass alone
    bool drop_remainder = false;    ///< leave out groups that are closed before they are full
};
template <class Key, class Size>
struct group_by_window_step {
    Key key;
    Size size;
    group_options options;
    const char* name = "group_by_window";
};

/// Elements of equal `key(element)`, a whole number, together: vectors of `size` elements, or of size(key). A group
/// comes when it is full. At the end of a pass those that are not full come, too, in the order of their keys. So far it
/// is tf.data's group_by_window.
///
/// Groups are closed after each `window` inputs as well: then memory has no more than so many elements, and going on in
/// the middle of a pass reads at most one window again. With window 0 it reads the pass from its beginning. Each
/// process of a job computes all elements. option_error for a size below 1 or a negative window; data_error where
/// size(key) is below 1.
template <class Key, class Size>
auto group_by_window(Key key, Size size, group_options o = {}) {
    if (o.window < 0)
        throw option_error("impossible window", "group_by_window", to_text({o.window}), "inputs, or 0");
    if constexpr (std::integral<Size>) {
        const auto n = static_cast<std::int64_t>(size);
        if (n < 1) throw option_error("impossible size of a group", "group_by_window", to_text({n}), "1 or more");
        return group_by_window_step<Key, stage_parts::same_for_all_keys>{std::move(key), {n}, o};
    } else {
        return group_by_window_step<Key, Size>{std::move(key), std::move(size), o};
    }
}

template <element_stage Up, class Key, class Size>
class grouped_stage {
    using element = typename Up::value_type;

public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = std::vector<element>;
    using ticket = value_type;
    struct cursor {
        stage_parts::cursor_of<Up> up{};   ///< at the beginning of the window
        std::int64_t window = 0, inputs = 0;
        std::int64_t closed = 0;   ///< of the groups that were not full at the window's end
    };
    struct state {
        typename Up::state up{};
        stage_parts::cursor_of<Up> at{};
        std::int64_t window = -1, inputs = 0, closed = 0;   ///< where the state stands; window -1: nowhere
        std::map<std::int64_t, value_type> open;
    };

    grouped_stage(Up up, group_by_window_step<Key, Size> s) : up_(std::move(up)), step_(std::move(s)) {}
    std::int64_t size() const { return up_.size() == endless ? endless : unknown_size; }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.window = -1;
    }
    bool fits(const cursor& c) const {
        const std::int64_t window = step_.options.window;
        return stage_parts::fits(up_, c.up) && c.window >= 0 && c.closed >= 0 && c.inputs >= 0 &&
               (window == 0 || c.inputs <= window);
    }
    bool next(state& s, cursor& c, ticket& k) const {
        const bool stands = s.window == c.window && s.inputs == c.inputs && s.closed == c.closed;
        s.window = -1;   // should what is before throw
        if (!stands) go_to(s, c, k);
        const bool found = find(s, c, k);
        s.window = c.window;
        s.inputs = c.inputs;
        s.closed = c.closed;
        return found;
    }
    value_type get(state&, ticket& k) const { return std::move(k); }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage(step_.name)("key", type_text<Key>())("window", step_.options.window)
            ("drop_remainder", step_.options.drop_remainder);
        if constexpr (base::tells_settings<Key>) step_.key.describe(d);
        if constexpr (base::tells_settings<Size>) step_.size.describe(d);
        else d("size", type_text<Size>());
    }

private:
    enum read_result { at_end, still_open, full };

    void go_to(state& s, const cursor& c, ticket& left_out) const {
        s.at = c.up;
        s.open.clear();
        for (std::int64_t i = 0; i < c.inputs && read(s, left_out) != at_end;) ++i;
        for (std::int64_t i = 0; i < c.closed && !s.open.empty(); ++i) s.open.erase(s.open.begin());
    }
    bool find(state& s, cursor& c, ticket& k) const {
        for (;;) {
            const bool window_ended = step_.options.window > 0 && c.inputs == step_.options.window;
            if (!window_ended && c.closed == 0) {
                const read_result got = read(s, k);
                if (got != at_end) ++c.inputs;
                if (got == full) return true;
                if (got == still_open) continue;
            }
            if (step_.options.drop_remainder) s.open.clear();
            if (const auto first = s.open.begin(); first != s.open.end()) {
                k = std::move(first->second);
                s.open.erase(first);
                ++c.closed;
                return true;
            }
            if (!window_ended) return false;
            c = {s.at, c.window + 1, 0, 0};
        }
    }
    read_result read(state& s, ticket& k) const {
        stage_parts::ticket_of<Up> from{};
        if (!stage_parts::next(up_, s.up, s.at, from)) return at_end;
        element e(up_.get(s.up, from));
        const auto key = static_cast<std::int64_t>(step_.key(std::as_const(e)));
        const auto size = static_cast<std::int64_t>(step_.size(key));
        if (size < 1)
            throw data_error("impossible size of a group", to_text({step_.name, ", key ", key}), to_text({size}),
                             "1 or more");
        value_type& group = s.open[key];
        group.push_back(std::move(e));
        if (static_cast<std::int64_t>(group.size()) < size) return still_open;
        k = std::move(group);
        s.open.erase(key);
        return full;
    }

    Up up_;
    group_by_window_step<Key, Size> step_;
};

template <element_stage Up, class Key, class Size>
auto operator|(Up up, group_by_window_step<Key, Size> s) {
    using in = typename Up::value_type;
    constexpr bool fits = [] {
        if constexpr (std::is_invocable_v<const Key&, const in&> && std::is_invocable_v<const Size&, std::int64_t>)
            return std::integral<std::remove_cvref_t<std::invoke_result_t<const Key&, const in&>>> &&
                   std::integral<std::remove_cvref_t<std::invoke_result_t<const Size&, std::int64_t>>>;
        else return false;
    }();
    static_assert(fits, "group_by_window and bucket_by_sequence_length: needed is a function that takes an element of "
                        "this pipeline and gives a whole number, its key or its length, and a size or size(key)");
    if constexpr (fits) return grouped_stage<Up, Key, Size>(std::move(up), std::move(s));
    else return refused_stage{};
}

} // namespace sinter::data
