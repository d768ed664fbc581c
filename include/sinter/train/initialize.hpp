// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/compiler/program.hpp>
#include <sinter/train/orthonormal.hpp>
#include <string_view>
#include <vector>

/// First values of parameters and states, as their initializers say.
namespace sinter::inline SINTER_TARGET::detail {

inline void draw_normal(std::vector<float>& x, const initializer& init, random_stream& r) {
    for (std::size_t i = 0; i < x.size(); i += 2) {
        const std::uint32_t a = r.word(), b = r.word();   // in this order
        const normal_pair p = normal(a, b);
        x[i] = init.middle + init.a * p.first;
        if (i + 1 < x.size()) x[i + 1] = init.middle + init.a * p.second;
    }
}
inline void draw_truncated_normal(std::vector<float>& x, const initializer& init, random_stream& r) {
    for (float& e : x) {
        float v = r.normal();
        while (v < -2.f || v > 2.f) v = r.normal();
        e = init.middle + init.a * v;
    }
}
/// The shorter vectors of a normal matrix, made orthonormal one after the other. That is the Q of a
/// QR decomposition whose R has a positive diagonal, so no direction is preferred (Mezzadri 2007).
inline void draw_orthogonal(std::vector<float>& x, const shape& s, float gain, random_stream& r) {
    const std::size_t columns = static_cast<std::size_t>(s.last()), rows = x.size() / columns;
    const bool tall = rows >= columns;
    const std::size_t length = tall ? rows : columns, count = tall ? columns : rows;
    orthonormal_vectors q(count, length);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t i = 0; i < length; ++i) q.at(k, i) = static_cast<double>(r.normal());
    q.orthonormalize();
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t i = 0; i < length; ++i)
            x[tall ? i * columns + k : k * columns + i] = gain * static_cast<float>(q.at(k, i));
}
inline void write_identity(std::vector<float>& x, const shape& s, float gain) {
    const std::size_t columns = static_cast<std::size_t>(s.last());
    const std::size_t rows = s.rank > 1 ? static_cast<std::size_t>(s.d[s.rank - 2]) : 1;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (s.rank < 2 || i / columns % rows == i % columns) x[i] = gain;
}

/// The initializers that a program's parameters and states have, a bit for each kind.
template <class P>
constexpr unsigned init_kinds_of() {
    unsigned found = 0;
    for (int i = 0; i < P::v.n_parameters; ++i) found |= 1u << static_cast<int>(P::v.parameters[i].init.kind);
    for (int i = 0; i < P::v.n_states; ++i) found |= 1u << static_cast<int>(P::v.states[i].init.kind);
    return found;
}

/// First values of a variable, plain: drawn from a stream of their own that depends on the seed and
/// the variable's path alone. Only what draws for one of `Kinds` is compiled.
template <unsigned Kinds = ~0u>
std::vector<float> initial_values(const variable_info& v, std::string_view path, std::uint64_t seed) {
    constexpr auto has = [](init_kind k) { return (Kinds >> static_cast<int>(k) & 1u) != 0; };
    const initializer& init = v.init;
    std::vector<float> x(static_cast<std::size_t>(v.s.size()), init.kind == init_kind::constant ? init.a : 0.f);
    random_stream r(base::stream(seed, base::fnv1a(path)));
    if constexpr (has(init_kind::uniform))
        if (init.kind == init_kind::uniform)
            for (float& e : x) e = init.middle + init.a * (2.f * base::uniform(r.word()) - 1.f);
    if constexpr (has(init_kind::normal))
        if (init.kind == init_kind::normal) detail::draw_normal(x, init, r);
    if constexpr (has(init_kind::truncated_normal))
        if (init.kind == init_kind::truncated_normal) detail::draw_truncated_normal(x, init, r);
    if constexpr (has(init_kind::orthogonal))
        if (init.kind == init_kind::orthogonal) detail::draw_orthogonal(x, v.s, init.a, r);
    if constexpr (has(init_kind::identity))
        if (init.kind == init_kind::identity) detail::write_identity(x, v.s, init.a);
    return x;
}

} // namespace sinter::detail
