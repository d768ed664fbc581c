// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <map>
#include <string>

#include "support/doubles.hpp"

namespace sinter::test {

/// By going through all values of all letters. An ellipsis is spelled out here; the batch is Z, wherever it is written.
inline doubles plain_einsum(const std::string& text, const std::vector<doubles>& x) {
    std::vector<std::string> in(1);
    const auto arrow = text.find("->");
    for (char c : text.substr(0, arrow))
        if (c == ',') in.emplace_back();
        else in.back() += c;
    const std::string out = text.substr(arrow + 2);
    std::map<char, int> extent, at;
    for (std::size_t k = 0; k < in.size(); ++k)
        for (std::size_t i = 0; i < in[k].size(); ++i) extent[in[k][i]] = std::max(extent[in[k][i]], x[k].d[i]);
    std::vector<int> d;
    for (char c : out) d.push_back(extent[c]);
    doubles y(d);
    int all = 1;
    for (const auto& [c, n] : extent) all *= n;
    for (int n = 0; n < all; ++n) {
        int rest = n;
        for (const auto& [c, e] : extent) at[c] = rest % e, rest /= e;
        double product = 1;
        for (std::size_t k = 0; k < in.size(); ++k) {
            std::vector<int> place;
            for (std::size_t i = 0; i < in[k].size(); ++i) place.push_back(x[k].d[i] == 1 ? 0 : at[in[k][i]]);
            product *= x[k].at(place);
        }
        std::vector<int> place;
        for (char c : out) place.push_back(at[c]);
        y.at(place) += product;
    }
    return y;
}

} // namespace sinter::test
