// SPDX-License-Identifier: BSL-1.0
// expect: predictor: its weights come from a trainer, an estimator or a weights_file(path)
#include <sinter/sinter.hpp>
#include <sinter/train/predictor.hpp>

using namespace sinter;

// A file's name is no model: weights_file("net.safetensors") is.
constexpr auto net = features<12> >> dense<10>;

int main() { predictor p{net, "net.safetensors"}; }
