// SPDX-License-Identifier: BSL-1.0
// expect: this net holds an op that has no kernel for GPUs
#include <sinter/expr/layers/attention.hpp>
#include <sinter/sinter.hpp>

#include "../cuda/rehearsal.hpp"

using namespace sinter;

constexpr auto net = array<8, 8> >> [](tensor x) { return attention(x, x, x); };
using device = test::rehearsal_device;
using program = compiled<
    request<std::remove_const_t<decltype(net)>, mse_loss, sgd, program_mode::prediction, 4, device::target, program_options{}>>;

device::runner<program> runner;

int main() {
    device d{1};
    d.run(runner, {});
}
