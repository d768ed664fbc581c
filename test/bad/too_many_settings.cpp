// SPDX-License-Identifier: BSL-1.0
// expect: two max_batch, two built_with or two strategies: one of each is needed
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<12> >> dense<10>;
constexpr program_options careful{.winograd = winograd::forbid};

int main() {
    estimator model{net, mse, sgd{}, max_batch<16>, built_with<careful>, single<cpu_device>{},
                    trainer_options{.threads = 2}, built_with<careful>};
}
