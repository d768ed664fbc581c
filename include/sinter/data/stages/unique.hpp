// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/element.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/stages/whole_element.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

/// Appends bytes that two values share where they are equal, and only there; extra<T> has none. Floats are equal where
/// their bits are.
template <class T>
void add_key(std::string& to, const T& v) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        to.append(reinterpret_cast<const char*>(&v), sizeof v);
    } else if constexpr (std::is_array_v<T>) {
        for (const auto& e : v) add_key(to, e);
    } else if constexpr (element_parts::form_of_field<T>::form.pixels) {
        add_key(to, v.bytes);
    } else if constexpr (requires { v.begin(); v.end(); v.size(); }) {
        add_key(to, v.size());
        for (const auto& e : v) add_key(to, e);
    } else if constexpr (element_parts::form_of_field<T>::form.kind != field_form::beside) {
        for_each_element_field(v, [&](auto, const auto& field) { add_key(to, field); });
    }
}
template <class T>
constexpr bool has_key() {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return true;
    else if constexpr (std::is_array_v<T>) return has_key<std::remove_extent_t<T>>();
    else if constexpr (element_parts::form_of_field<T>::form.pixels) return true;
    else if constexpr (element_parts::form_of_field<T>::form.kind == field_form::beside) return true;
    else if constexpr (requires { typename T::value_type; std::declval<const T&>().begin(); })
        return has_key<typename T::value_type>();
    else if constexpr (element_parts::is_struct<T> || element_parts::is_tuple<T>)
        return []<class... P>(element_parts::part_list<P...>) {
            return (has_key<typename P::type>() && ...);
        }(typename element_parts::parts_of<T>::type{});
    else return false;
}

} // namespace stage_parts

struct unique_options {
    std::int64_t window = 0;   ///< so many inputs know of each other; 0: all of a pass
};
template <class F>
struct unique_step {
    F key;
    std::int64_t window;
};

/// Leaves out elements whose `key(element)` is that of one before: a number, a text, an array, a vector or a struct of
/// these. Each process of a job asks for the keys of all elements. Memory has a key for each different element. Going
/// on in the middle of a pass reads it from its beginning. With a window of w inputs both are bounded: an element is
/// held against those before it in inputs 0 to w - 1, w to 2 w - 1, and so on, and what is read again is one window.
/// option_error for a negative window.
template <class F>
    requires(!std::is_same_v<F, unique_options>)
unique_step<F> unique(F key, unique_options o = {}) {
    if (o.window < 0)
        throw option_error("impossible window", "unique", to_text({o.window}), "inputs, or 0 for all of a pass");
    return {std::move(key), o.window};
}
/// Leaves out elements that are equal to one before in all fields but those that are data::extra.
inline unique_step<stage_parts::whole_element> unique(unique_options o = {}) {
    return unique(stage_parts::whole_element{}, o);
}

template <element_stage Up, class F>
class unique_stage {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using ticket = std::optional<value_type>;
    struct cursor {
        stage_parts::cursor_of<Up> up{};   ///< at the beginning of the window
        std::int64_t window = 0, inputs = 0;
    };
    struct state {
        typename Up::state up{};
        stage_parts::cursor_of<Up> at{};
        std::int64_t window = -1, inputs = 0;   ///< where the state stands; window -1: nowhere
        std::unordered_set<std::string> seen;
    };

    unique_stage(Up up, F key, std::int64_t window) : up_(std::move(up)), key_(std::move(key)), window_(window) {}
    std::int64_t size() const { return up_.size() == endless ? endless : unknown_size; }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.window = -1;
    }
    bool fits(const cursor& c) const {
        return stage_parts::fits(up_, c.up) && c.window >= 0 && c.inputs >= 0 && (window_ == 0 || c.inputs <= window_);
    }
    bool next(state& s, cursor& c, ticket& k) const {
        const bool stands = s.window == c.window && s.inputs == c.inputs;
        s.window = -1;   // should what is before throw
        if (!stands) {
            s.at = c.up;
            s.seen.clear();
            for (s.inputs = 0; s.inputs < c.inputs && read(s, k) != at_end;) ++s.inputs;
        }
        for (;;) {
            if (window_ > 0 && c.inputs == window_) {
                c = {s.at, c.window + 1, 0};
                s.seen.clear();
            }
            const read_result got = read(s, k);
            if (got != at_end) ++c.inputs;
            if (got == known) continue;
            s.window = c.window;
            s.inputs = c.inputs;
            return got == fresh;
        }
    }
    value_type get(state&, ticket& k) const { return std::move(*k); }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("unique")("function", type_text<F>())("window", window_);
        if constexpr (base::tells_settings<F>) key_.describe(d);
    }

private:
    enum read_result { at_end, known, fresh };
    read_result read(state& s, ticket& k) const {
        stage_parts::ticket_of<Up> from{};
        if (!stage_parts::next(up_, s.up, s.at, from)) return at_end;
        k.emplace(up_.get(s.up, from));
        std::string key;
        stage_parts::add_key(key, key_(std::as_const(*k)));
        return s.seen.insert(std::move(key)).second ? fresh : known;
    }

    Up up_;
    F key_;
    std::int64_t window_;
};

template <element_stage Up, class F>
auto operator|(Up up, unique_step<F> s) {
    constexpr bool fits = [] {
        if constexpr (std::is_invocable_v<const F&, const typename Up::value_type&>)
            return stage_parts::has_key<
                std::remove_cvref_t<std::invoke_result_t<const F&, const typename Up::value_type&>>>();
        else return false;
    }();
    static_assert(fits, "unique: needed is a function that takes an element of this pipeline and gives what it is told "
                        "by: numbers, texts, arrays, vectors, or a struct of these");
    if constexpr (fits) return unique_stage<Up, F>(std::move(up), std::move(s.key), s.window);
    else return refused_stage{};
}

} // namespace sinter::data
