// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "support/half_steps.hpp"

/// Trainers of one model under different strategies, compared.
namespace sinter::test {

/// All that training leaves: parameters, states and slots, in their plain form.
template <class Trainer>
std::vector<float> all_variables(const Trainer& t) {
    std::vector<float> all;
    const auto add = [&](const std::vector<float>& x) { all.insert(all.end(), x.begin(), x.end()); };
    for (int i = 0; i < t.parameters(); ++i) {
        add(t.plain(t.parameter(i)));
        for (int k = 0; k < Trainer::slots_of(t.parameter(i)); ++k) add(t.plain_slot(t.parameter(i), k));
    }
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    return all;
}
template <class Trainer>
std::vector<float> all_weights(const Trainer& t) {
    std::vector<float> all;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float x : t.plain(t.parameter(i))) all.push_back(x);
    return all;
}
inline double furthest(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return INFINITY;
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])); !(d <= most)) most = d;
    return most;
}
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

/// Steps on batches of these sizes, over and over, each of new numbers; returns the losses.
template <class Trainer>
std::vector<float> train_on(Trainer& t, int steps, const std::vector<int>& sizes) {
    std::vector<float> losses;
    for (int i = 0; i < steps; ++i) {
        const random_batch<typename Trainer::evaluation> b(static_cast<std::uint64_t>(i),
                                                           sizes[static_cast<std::size_t>(i) % sizes.size()]);
        losses.push_back(t.step(b.view()));
    }
    return losses;
}

} // namespace sinter::test
