// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/safetensors/contents.hpp>

#include <bit>
#include <cstring>
#include <limits>

/// Tensors' elements as numbers of a C++ type.
namespace sinter::inline SINTER_ORDINARY::safetensors {

namespace detail {

inline float from_half(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 1023u;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float tiny = static_cast<float>(fraction) * 0x1p-24f;   // subnormal there, normal here
    return sign != 0 ? -tiny : tiny;
}
inline float from_bfloat16(std::uint16_t b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16); }

/// Is the integer v one of T's?
template <class T, class From>
constexpr bool fits_in(From v) {
    if (v < From{0})
        return std::is_signed_v<T> &&
               static_cast<std::int64_t>(v) >= static_cast<std::int64_t>(std::numeric_limits<T>::min());
    return static_cast<std::uint64_t>(v) <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
}

} // namespace detail

/// The elements in order, as T: float, double or an integer. Floating-point types become float or
/// double by rounding to nearest (float64 beyond float32's range becomes infinite); so do whole
/// numbers, of which float32 holds all up to 2^24 and double all up to 2^53. Integers and
/// booleans become integers where each fits: else data_error names the first that does not.
/// mismatch_error for floating-point types as integers, and for types that have no C++ counterpart
/// (complex numbers, floats of 4, 6 and 8 bits).
template <class T>
std::vector<T> converted_elements(const tensor_view& t) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                  "as<T>(): T is float, double or an integer type");
    std::vector<T> out;
    const auto each = [&]<class From>(From, auto value) {
        const std::size_t n = t.data.size() / sizeof(From);
        out.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            From x;
            std::memcpy(&x, t.data.data() + i * sizeof x, sizeof x);   // they may lie at any address
            const auto v = value(x);
            if constexpr (std::is_integral_v<T>) {   // apart: clang 14 looks into what one condition of both would
                                                     // leave out
                if constexpr (std::is_integral_v<decltype(v)>)
                    if (!detail::fits_in<T>(v))
                        throw data_error(
                            "a number does not fit", to_text({"tensor ", io::printable(t.name), ", element ", i}),
                            to_text({v}),
                            to_text({std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max()}));
            }
            out[i] = static_cast<T>(v);
        }
    };
    const auto whole = [&](auto from) { each(from, [](auto v) { return v; }); };
    const auto real = [&](auto from, auto value) {
        if constexpr (std::is_floating_point_v<T>) each(from, value);
        else
            throw mismatch_error("elements are no whole numbers", to_text({"tensor ", io::printable(t.name)}),
                                 describe(t.type, t.shape), "a type of integers, or as<float>() and as<double>()");
    };
    switch (t.type) {
        case dtype::f32: real(float{}, [](float v) { return v; }); break;
        case dtype::f64: real(double{}, [](double v) { return v; }); break;
        case dtype::f16: real(std::uint16_t{}, detail::from_half); break;
        case dtype::bf16: real(std::uint16_t{}, detail::from_bfloat16); break;
        case dtype::boolean:
            each(std::uint8_t{}, [](std::uint8_t v) { return static_cast<std::uint8_t>(v != 0); });
            break;
        case dtype::u8: whole(std::uint8_t{}); break;
        case dtype::i8: whole(std::int8_t{}); break;
        case dtype::u16: whole(std::uint16_t{}); break;
        case dtype::i16: whole(std::int16_t{}); break;
        case dtype::u32: whole(std::uint32_t{}); break;
        case dtype::i32: whole(std::int32_t{}); break;
        case dtype::u64: whole(std::uint64_t{}); break;
        case dtype::i64: whole(std::int64_t{}); break;
        default:
            throw mismatch_error("elements have no C++ type", to_text({"tensor ", io::printable(t.name)}),
                                 describe(t.type, t.shape), "BOOL, I8 to I64, U8 to U64, F16, BF16, F32 or F64");
    }
    return out;
}
template <class T>
std::vector<T> tensor_view::as() const {
    return converted_elements<T>(*this);
}

} // namespace sinter::safetensors
