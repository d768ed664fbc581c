// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/element.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/io/tfrecord/example.hpp>
#include <sinter/io/tfrecord/feature_values.hpp>
#include <limits>
#include <optional>
#include <utility>

/// tf.train.Example as structs.
namespace sinter::inline SINTER_ORDINARY::data {

namespace example_parts {

template <class F>
struct flat {
    using number = F;
};
template <class F, std::size_t N>
struct flat<F[N]> : flat<F> {};
template <class F, std::size_t N>
struct flat<std::array<F, N>> : flat<F> {};
template <int H, int W, int C>
struct flat<pixels<H, W, C>> : flat<std::uint8_t> {};

template <class F>
inline constexpr bool is_optional = false;
template <class F>
inline constexpr bool is_optional<std::optional<F>> = true;
template <class F>
inline constexpr bool is_extra = false;
template <class F>
inline constexpr bool is_extra<extra<F>> = true;
template <class F>
inline constexpr bool is_vector = false;
template <class F>
inline constexpr bool is_vector<std::vector<F>> = true;
/// What one byte of a text may become.
template <class N>
inline constexpr bool is_byte = std::same_as<N, std::uint8_t> || std::same_as<N, std::byte>;

template <std::integral N>
N checked(std::int64_t value, const tfrecord::feature_view& f) {
    constexpr bool wide = sizeof(N) == 8;   // a number of 64 bits without a sign is written as one with a sign
    if constexpr (!wide)
        if (value < std::int64_t{std::numeric_limits<N>::min()} || value > std::int64_t{std::numeric_limits<N>::max()})
            tfrecord::refuse_value("value is beyond the field's range", f, value, std::numeric_limits<N>::min(),
                                   std::numeric_limits<N>::max());
    return static_cast<N>(value);
}

template <class N>
void put_numbers(span<N> to, const tfrecord::feature_view& f) {
    if constexpr (is_byte<N>)
        if (f.kind() == tfrecord::value_kind::bytes || std::same_as<N, std::byte>)
            return tfrecord::copy_bytes(f, as_writable_bytes(to));
    if constexpr (std::same_as<N, float>) {
        f.floats(to);
    } else if constexpr (std::same_as<N, double>) {
        if (float value; to.size() == 1) {
            f.floats({&value, 1});
            to[0] = value;
            return;
        }
        std::vector<float> values(to.size());
        f.floats(values);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[i];
    } else if constexpr (std::same_as<N, std::int64_t>) {
        f.integers(to);
    } else if constexpr (std::integral<N>) {
        if (std::int64_t value; to.size() == 1) {
            f.integers({&value, 1});
            to[0] = checked<N>(value, f);
            return;
        }
        std::vector<std::int64_t> values(to.size());
        f.integers(values);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = checked<N>(values[i], f);
    }
}

template <class N>
void put_all(std::vector<N>& to, const tfrecord::feature_view& f) {
    to.clear();
    if constexpr (is_byte<N>)
        if (f.kind() == tfrecord::value_kind::bytes || std::same_as<N, std::byte>) {
            const span<const std::byte> b = tfrecord::only_bytes(f);
            to.resize(b.size());
            if (!b.empty()) std::memcpy(to.data(), b.data(), b.size());
            return;
        }
    if constexpr (std::same_as<N, std::string>) {
        f.each_bytes([&](span<const std::byte> b) {
            to.emplace_back(reinterpret_cast<const char*>(b.data()), b.size());
        });
    } else if constexpr (std::floating_point<N>) {
        f.each_floats([&](span<const float> piece) { to.insert(to.end(), piece.begin(), piece.end()); });
    } else if constexpr (std::integral<N>) {
        f.each_integers([&](span<const std::int64_t> piece) {
            for (const std::int64_t x : piece) to.push_back(checked<N>(x, f));
        });
    }
}

template <class N>
inline constexpr bool is_number = std::integral<N> || std::same_as<N, float> || std::same_as<N, double> ||
                                  std::same_as<N, std::byte>;

/// The feature of that name into the field of that name.
template <class F>
void put(F& to, const tfrecord::example_view& e, std::string_view name) {
    using number = typename flat<F>::number;
    if constexpr (is_optional<F>) {
        const tfrecord::feature_view* const f = e.find(name);
        if (f && f->kind() != tfrecord::value_kind::none && f->size() > 0) put(to.emplace(), e, name);
        else to.reset();
    } else if constexpr (is_extra<F>) {
        put(to.value, e, name);
    } else if constexpr (std::same_as<F, std::string>) {
        const span<const std::byte> b = tfrecord::only_bytes(e.at(name));
        to.assign(reinterpret_cast<const char*>(b.data()), b.size());
    } else if constexpr (is_vector<F>) {
        static_assert(is_number<typename F::value_type> || std::same_as<typename F::value_type, std::string>,
                      "examples_as: a vector is of numbers, std::byte or std::string");
        put_all(to, e.at(name));
    } else if constexpr (is_number<number>) {
        put_numbers(span<number>(reinterpret_cast<number*>(&to), sizeof(F) / sizeof(number)), e.at(name));
    } else if constexpr (element_parts::is_struct<F>) {
        base::for_each_field(to, [&](std::string_view inner, auto& field) { put(field, e, inner); });
    } else {
        static_assert(sizeof(F) == 0, "examples_as: a field of the struct is none that a feature can be read into: "
                                      "numbers, std::byte, arrays and vectors of them, pixels, std::string, "
                                      "std::vector<std::string>, std::optional and data::extra of them, and structs");
    }
}

template <class S, class Ticket>
concept knows_places = requires(const S& s, Ticket& k) {
    { s.where(k) } -> std::same_as<tfrecord::place>;
};

} // namespace example_parts

template <element_stage Up, class T>
class parsed_examples {
public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = T;
    using cursor = stage_parts::cursor_of<Up>;
    using ticket = stage_parts::ticket_of<Up>;
    struct state {
        typename Up::state up;
        tfrecord::example_view example;
    };

    explicit parsed_examples(Up up) : up_(std::move(up)) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const { up_.begin(s.up, pass); }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c); }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        return up_.next(s.up, c, k);
    }
    T get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        return parsed(s, up_.get(s.up, k), k);
    }
    T get(state& s, std::int64_t i) const
        requires is_indexed
    {
        return parsed(s, up_.get(s.up, i), i);
    }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s.up, i);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("examples")("element", type_text<T>());
    }

private:
    Up up_;

    template <class Ticket>
    T parsed(state& s, const typename Up::value_type& record, Ticket& k) const {
        tfrecord::place where;
        if constexpr (example_parts::knows_places<Up, Ticket>) where = up_.where(k);
        s.example.parse(as_bytes(record), where);
        T to{};
        base::for_each_field(to, [&](std::string_view name, auto& field) {
            example_parts::put(field, s.example, name);
        });
        return to;
    }
};

template <class T>
struct examples_as_step {};

/// Reads each element, the bytes of a tf.train.Example, into a struct: a field takes the feature of its name.
///
///     struct sample { data::pixels<28, 28> image; std::int64_t label; std::vector<float> curve; };
///     auto train = data::tfrecords("train.tfrecord") | data::examples_as<sample>() | data::batch(64);
///
/// | field | feature |
/// |---|---|
/// | float, double; arrays of them | as many floats |
/// | integers, bool; arrays of them | as many integers, each within the field's range |
/// | std::string | one text |
/// | pixels, arrays of std::uint8_t or std::byte | one text of as many bytes (std::uint8_t: or as many integers) |
/// | std::vector | all numbers or texts; of std::byte: one text, of std::uint8_t: one text, or integers |
/// | std::optional | empty where the feature is missing or has no values |
/// | data::extra, a struct | the same of what is in it |
///
/// data_error, with the feature's name, where one is missing, of another kind, or has another number of values;
/// format_error where the bytes are no Example. Directly behind tfrecords() and tfrecords_indexed() these say the file,
/// the byte and the record, too. The elements are computed by whichever thread fills a batch.
template <class T>
examples_as_step<T> examples_as() {
    return {};
}

template <element_stage Up, class T>
auto operator|(Up up, examples_as_step<T>) {
    using in = typename Up::value_type;
    constexpr bool fits = std::same_as<in, std::string> || std::same_as<in, std::vector<std::byte>>;
    static_assert(fits, "examples_as: needed is a pipeline of std::string or std::vector<std::byte>, the bytes of "
                        "tf.train.Example, as tfrecords() gives them");
    if constexpr (fits) return parsed_examples<Up, T>(std::move(up));
    else return refused_stage{};
}

} // namespace sinter::data
