// SPDX-License-Identifier: BSL-1.0
// A net that does not compile, trained from structs: its own error, and none about the structs' fields.
// expect: fault_kind::axis_out_of_range
// refuse: the_element_fits_the_model
#include <sinter/pipelines.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

struct sample {
    std::array<float, 4> x;
    std::int32_t kind;
};

int main() {
    constexpr auto net = features<4> >> [](tensor x) { return mean(x, {2}); } >> dense<3>;
    estimator model{net, softmax_cross_entropy, adam{}};
    auto train = data::rows(std::vector<sample>(9)) | data::batch(3);
    model.train(train);
    model.predict(train);
}
