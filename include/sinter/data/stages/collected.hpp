// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/element.hpp>
#include <sinter/data/stages/pad_to.hpp>
#include <sinter/data/stages/window.hpp>

/// Several elements as one of columns, which padded_batch() and ragged_batch() are.
namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// Windows, of which each becomes what `Columns` makes of its elements.
template <element_stage Windows, class Columns>
class collected_stage {
public:
    static constexpr bool is_indexed = Windows::is_indexed;
    static constexpr int maps = Windows::maps;
    using value_type = typename Columns::batch;
    using state = typename Windows::state;
    using cursor = cursor_of<Windows>;
    using ticket = ticket_of<Windows>;

    collected_stage(Windows windows, Columns columns) : windows_(std::move(windows)), columns_(std::move(columns)) {}
    std::int64_t size() const { return windows_.size(); }
    bool fits(const cursor& c) const { return stage_parts::fits(windows_, c); }
    void begin(state& s, std::int64_t pass) const { windows_.begin(s, pass); }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        windows_.prefetch(s, i);
    }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        return windows_.next(s, c, k);
    }
    value_type get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return columns_(windows_.get(s, k));
    }
    value_type get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return columns_(windows_.get(s, i));
    }
    SINTER_COLD void describe(description& d) const {
        windows_.describe(d);
        columns_.describe(d);
    }

private:
    Windows windows_;
    Columns columns_;
};

template <class F>
struct in_a_vector {
    using type = F;
};
template <class F, std::size_t N>
struct in_a_vector<F[N]> {
    using type = std::array<typename in_a_vector<F>::type, N>;
};
template <class T>
struct in_a_vector<extra<T>> {
    using type = T;
};
template <class To, class F>
void move_field(To& to, F& field) {
    if constexpr (std::is_array_v<F>) {
        for (std::size_t i = 0; i < std::extent_v<F>; ++i) move_field(to[i], field[i]);
    } else if constexpr (std::is_same_v<To, F>) {
        to = std::move(field);
    } else {
        to = std::move(field.value);
    }
}

/// What field F of an element becomes in a batch: Vectors<T> of a std::vector<T>, of anything else a std::vector.
template <class F, template <class> class Vectors>
struct column_of {
    using type = std::vector<typename in_a_vector<F>::type>;
};
template <class T, template <class> class Vectors>
struct column_of<std::vector<T>, Vectors> {
    using type = Vectors<T>;
};

/// The batch of elements of type T: of a struct or a tuple a tuple of its fields' columns, of anything else its column.
template <class T, template <class> class Vectors>
struct batch_of {
    static constexpr bool is_one = !element_parts::is_struct<T> && !element_parts::is_tuple<T>;
    template <class... P>
    static auto type_of(element_parts::part_list<P...>) {
        using columns = std::tuple<typename column_of<typename P::type, Vectors>::type...>;
        if constexpr (is_one) return std::type_identity<std::tuple_element_t<0, columns>>{};
        else return std::type_identity<columns>{};
    }
    using parts = typename element_parts::parts_of<T>::type;
    using type = typename decltype(type_of(parts{}))::type;

    /// `all` as a batch. fill(column, vector_of), for fields that are vectors: vector_of(e) is that of an element.
    template <class Fill>
    static type of(std::vector<T> all, Fill fill) {
        type batch;
        const auto one = [&]<class P>(auto& column, P) {
            if constexpr (is_vector<typename P::type>) {
                fill(column, all, [](T& e) -> auto& { return P::of(e); });
            } else {
                column.reserve(all.size());
                for (T& e : all) {
                    typename in_a_vector<typename P::type>::type field{};
                    move_field(field, P::of(e));
                    column.push_back(std::move(field));
                }
            }
        };
        [&]<class... P, std::size_t... I>(element_parts::part_list<P...>, std::index_sequence<I...>) {
            if constexpr (is_one) (one(batch, P{}), ...);
            else (one(std::get<I>(batch), P{}), ...);
        }(parts{}, std::make_index_sequence<static_cast<std::size_t>(parts::count)>{});
        return batch;
    }
};

/// Whether there is a vector among the fields of T.
template <class T>
inline constexpr bool has_vectors = []<class... P>(element_parts::part_list<P...>) {
    return (is_vector<typename P::type> || ...);
}(typename element_parts::parts_of<T>::type{});

} // namespace sinter::data::stage_parts
