// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <map>
#include <string>
#include <utility>

#include "support/doubles.hpp"

namespace sinter::test {

/// By how far the element moves in an array of extents d, named by `letters`, when this letter's value grows by one.
inline int step_of(char letter, const std::string& letters, const std::vector<int>& d) {
    int step = 0, size = 1;
    for (std::size_t i = letters.size(); i-- > 0; size *= d[i])
        if (letters[i] == letter && d[i] != 1) step += size;   // twice in a diagonal
    return step;
}

/// By going through all values of all letters. An ellipsis is spelled out here; the batch is Z, wherever it is written.
inline doubles plain_einsum(const std::string& text, const std::vector<doubles>& x) {
    std::vector<std::string> in(1);
    const auto arrow = text.find("->");
    for (char c : text.substr(0, arrow))
        if (c == ',') in.emplace_back();
        else in.back() += c;
    const std::string out = text.substr(arrow + 2);
    std::map<char, int> extent;
    for (std::size_t k = 0; k < in.size(); ++k)
        for (std::size_t i = 0; i < in[k].size(); ++i) extent[in[k][i]] = std::max(extent[in[k][i]], x[k].d[i]);
    std::vector<int> d;
    for (char c : out) d.push_back(extent[c]);
    doubles y(d);
    // What a letter's next value adds to the place in each operand and in the result, which comes last.
    std::vector<std::vector<int>> steps;
    std::vector<int> extents;
    for (const auto& [letter, n] : extent) {
        steps.emplace_back();
        extents.push_back(n);
        for (std::size_t k = 0; k < in.size(); ++k) steps.back().push_back(step_of(letter, in[k], x[k].d));
        steps.back().push_back(step_of(letter, out, d));
    }
    std::vector<int> at(extents.size()), place(in.size() + 1);
    for (bool more = true; more;) {
        double product = 1;
        for (std::size_t k = 0; k < in.size(); ++k) product *= x[k][place[k]];
        y[place.back()] += product;
        more = false;
        for (std::size_t l = 0; l < extents.size() && !more; ++l) {
            more = ++at[l] < extents[l];
            const int turns = more ? 1 : 1 - std::exchange(at[l], 0);
            for (std::size_t k = 0; k < place.size(); ++k) place[k] += turns * steps[l][k];
        }
    }
    return y;
}

} // namespace sinter::test
