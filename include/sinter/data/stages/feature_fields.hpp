// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/element.hpp>
#include <sinter/io/tfrecord/feature_values.hpp>
#include <limits>
#include <optional>

/// Features of tf.train.Example and tf.train.SequenceExample into fields of structs.
namespace sinter::inline SINTER_ORDINARY::data::example_parts {

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

/// Whether a feature can be read into an F by put_feature().
template <class F>
inline constexpr bool is_feature = std::same_as<F, std::string> || is_number<typename flat<F>::number>;
template <class N, class A>
inline constexpr bool is_feature<std::vector<N, A>> = is_number<N> || std::same_as<N, std::string>;

/// All values of a feature.
template <class F>
void put_feature(F& to, const tfrecord::feature_view& f) {
    static_assert(is_feature<F>, "needed is a type that is_feature");
    using number = typename flat<F>::number;
    if constexpr (std::same_as<F, std::string>) {
        const span<const std::byte> b = tfrecord::only_bytes(f);
        to.assign(reinterpret_cast<const char*>(b.data()), b.size());
    } else if constexpr (is_vector<F>) {
        put_all(to, f);
    } else {
        put_numbers(span<number>(reinterpret_cast<number*>(&to), sizeof(F) / sizeof(number)), f);
    }
}

} // namespace sinter::data::example_parts
