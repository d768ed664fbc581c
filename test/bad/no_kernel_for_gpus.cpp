// SPDX-License-Identifier: BSL-1.0
// expect: this net holds an op that has no kernel for GPUs
#include <sinter/ops/ctc_loss.hpp>
#include <sinter/sinter.hpp>

#include "../cuda/rehearsal.hpp"

using namespace sinter;
using namespace sinter::compiler;

constexpr auto net = inputs(array<8, 5>, indices<3>) >> [](tensor x, tensor labels) {
    return ops::ctc_loss(x, labels);
};
using device = test::rehearsal_device;
using program = compiled<
    request<std::remove_const_t<decltype(net)>, mse_loss, sgd, program_mode::prediction, 4, device::target,
            program_options{}>>;

device::runner<program> runner;

int main() {
    device d{device::options{}};
    d.run(runner, {});
}
