// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/sinter.hpp>

/// A net of all that must come out the same on servers: a table, running statistics, random numbers.
namespace sinter::server_words {

constexpr auto net = indices<6> >> embedding<50, 8> >> flatten >> dense<24> >> batch_norm >> relu >> dropout<0.3f>
    >> dense<5>;
constexpr int batch = 8;

struct examples {
    std::int32_t words[64 * 6], labels[64];
    examples() {
        random_stream r(3);
        for (std::int32_t& w : words) w = static_cast<int>(r.word() % 50);
        for (std::int32_t& l : labels) l = static_cast<int>(r.word() % 5);
    }
};
/// Step i of a run through the examples again and again, by the first `size` examples of its batch; gives the loss.
float step(auto& t, const examples& all, int i, int size = batch) {
    const data::input_view in{nullptr, all.words + i % 8 * batch * 6, 6};
    return t.step({.labels = all.labels + i % 8 * batch, .size = size, .inputs = {&in, 1}});
}

} // namespace sinter::server_words
