// SPDX-License-Identifier: BSL-1.0
// expect: parameter_server: accumulate<N> gathers gradients in a slot of its own
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/strategy/parameter_server/shard_update.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

using namespace sinter;
using namespace sinter::compiler;

constexpr auto net = features<12> >> dense<10>;
using optimizer = accumulated<2, adam>;
using program = compiled<request<std::remove_cvref_t<decltype(net)>, std::remove_cvref_t<decltype(mse)>, no_optimizer,
                                 program_mode::training, 5, cpu_device::target,
                                 program_options{.gradients = gradient_policy::reduced}>>;

int main() { return sinter::strategy_parts::make_updater<program>(optimizer{})->scalars(); }
