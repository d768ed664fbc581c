// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::undeclared_scalar
// expect: got<0>
// expect: needed<1>
#include <sinter/sinter.hpp>
#include <sinter/strategy/parameter_server/shard_update.hpp>

using namespace sinter;
using namespace sinter::compiler;

struct mine {
    float rate = 0.1f;
    static constexpr int slots = 0, n_scalars = 0;
    static constexpr void update(update_context& u) { u.set_parameter(u.parameter() - u.gradient() * u.scalar(0)); }
    void scalars(std::int64_t, float* out) const { out[0] = rate; }
};
constexpr auto net = features<12> >> dense<10>;
using program = compiled<request<std::remove_cvref_t<decltype(net)>, std::remove_cvref_t<decltype(mse)>, no_optimizer,
                                 program_mode::training, 5, cpu_device::target,
                                 program_options{.gradients = gradient_policy::reduced}>>;

int main() { return sinter::strategy_parts::make_updater<program>(mine{})->scalars(); }
