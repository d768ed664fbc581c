// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/kernel/panels.hpp>
#include <sinter/program/program.hpp>
#include <algorithm>
#include <string>
#include <vector>

/// Parameters and states at run time: their names, how they start, and their plain form.
namespace sinter {

/// `conv2d_1/kernel`.
inline std::string path_of(view<const scope_entry> scopes, const variable_info& v) {
    std::string path;
    for (int s = v.scope; s > 0; s = scopes[s].parent) {
        std::string part = scopes[s].name;
        if (scopes[s].number) part += '_' + std::to_string(scopes[s].number);
        path = path.empty() ? part : part + '/' + path;
    }
    return path.empty() ? v.name : path + '/' + v.name;
}

inline std::vector<std::int64_t> extents_of(const shape& s) { return {s.d, s.d + s.rank}; }

/// The plain, row-major form of a variable, as files and users know it, from the form in the kernels' memory.
inline std::vector<float> to_plain(const variable_info& v, const float* packed, int panel_width, int lanes) {
    std::vector<float> plain(static_cast<std::size_t>(v.s.size()));
    if (v.s.form == layout::weights && lanes > 1) unpack_panels(packed, plain.data(), v.s.rows(), v.s.last(), panel_width, lanes);
    else std::copy_n(packed, plain.size(), plain.data());
    return plain;
}
inline std::vector<float> from_plain(const variable_info& v, const float* plain, int panel_width, int lanes) {
    std::vector<float> packed(static_cast<std::size_t>(v.floats));
    if (v.s.form == layout::weights && lanes > 1) pack_panels(plain, packed.data(), v.s.rows(), v.s.last(), panel_width, lanes);
    else std::copy_n(plain, static_cast<std::size_t>(v.s.size()), packed.data());
    return packed;
}

/// First values: drawn from a stream of their own that depends on the seed and the variable's path alone.
inline std::vector<float> first_values(const variable_info& v, std::string_view path, std::uint64_t seed) {
    std::vector<float> x(static_cast<std::size_t>(v.s.size()), v.init.kind == init_kind::constant ? v.init.a : 0.f);
    if (v.init.kind == init_kind::constant) return x;
    random_stream r(stream(seed, fnv1a(path)));
    if (v.init.kind == init_kind::uniform) {
        for (float& e : x) e = v.init.a * (2.f * uniform(r.word()) - 1.f);
        return x;
    }
    for (std::size_t i = 0; i < x.size(); i += 2) {
        const std::uint32_t a = r.word(), b = r.word();   // in this order
        const normal_pair p = normal(a, b);
        x[i] = v.init.a * p.first;
        if (i + 1 < x.size()) x[i + 1] = v.init.a * p.second;
    }
    return x;
}

} // namespace sinter
