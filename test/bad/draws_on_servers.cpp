// SPDX-License-Identifier: BSL-1.0
// expect: parameter_server: this optimizer draws random numbers
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/strategy/parameter_server/shard_update.hpp>

using namespace sinter;
using namespace sinter::compiler;

struct noisy {
    static constexpr int slots = 0, n_scalars = 0;
    static constexpr void update(update_context& u) {
        u.set_parameter(u.parameter() - u.gradient() * ops::random_uniform(u.gradient()));
    }
    void scalars(std::int64_t, float*) const {}
};
constexpr auto net = features<12> >> dense<10>;
using program = compiled<request<std::remove_cvref_t<decltype(net)>, std::remove_cvref_t<decltype(mse)>, no_optimizer,
                                 program_mode::training, 5, cpu_device::target,
                                 program_options{.gradients = gradient_policy::reduced}>>;

int main() { return sinter::strategy_parts::make_updater<program>(noisy{})->scalars(); }
