// SPDX-License-Identifier: BSL-1.0
// expect: this is no strategy: sinter/strategy/strategy.hpp says what one has
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// It has a device, and does not say what programs must know of it.
struct alone {
    using device = cpu_device;
    template <class Programs>
    class session : public single_session<Programs> {
    public:
        session(const alone&, int) : single_session<Programs>(cpu_device::options{}) {}
    };
};
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, alone{}}; }
