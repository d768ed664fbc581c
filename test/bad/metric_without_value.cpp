// SPDX-License-Identifier: BSL-1.0
// expect: evaluate: this is no metric, which is a class with add, value and a name
#include <sinter/sinter.hpp>

using namespace sinter;

struct counter {
    static constexpr const char* name = "counter";
    std::int64_t all = 0;
    void add(const float*, const float*, std::int64_t n) { all += n; }
};

int main() {
    const data::dataset set = data::dataset(extents(2), std::vector<float>(2)).labels({1});
    estimator model{features<2> >> dense<2>, softmax_cross_entropy, sgd{}};
    model.evaluate(set | data::batch(1), counter{});
}
