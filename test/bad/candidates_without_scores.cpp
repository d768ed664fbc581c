// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_number_of_inputs
// expect-gcc: in_op<printed<10>{"parameter"}>
// expect-clang: in_op<'p', 'a', 'r', 'a', 'm', 'e', 't', 'e', 'r'>
// expect: got<0>
// expect: needed<1>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>

using namespace sinter;

// The loss samples the classes of a layer candidate_scores<1000>, which is not there.
constexpr auto net = features<12> >> dense<1000>;

int main() { estimator model{net, sampled_softmax<1000, 20>, sgd{}}; }
