// SPDX-License-Identifier: BSL-1.0
#include "scorer.hpp"
#include <cstdio>
#include <vector>

int main() {
    std::vector<float> points;
    std::vector<int> classes;   // exclusive or: no line parts the two classes
    for (int i = 0; i < 256; ++i) {
        points.insert(points.end(), {i & 1 ? 1.f : -1.f, i & 2 ? 1.f : -1.f});
        classes.push_back((i & 1) ^ (i >> 1 & 1));
    }
    const std::unique_ptr<scorer> model = make_scorer(1);
    model->train(points, classes, 60);
    int right = 0;
    for (int i = 0; i < 4; ++i)
        right += (model->score(std::span<const float, 2>(points.data() + 2 * i, 2)) > 0.5f) ==
            (classes[static_cast<std::size_t>(i)] == 1);
    std::printf("trained: %d of 4 are right\n", right);
    return right == 4 ? 0 : 1;
}
