// SPDX-License-Identifier: BSL-1.0
// expect: the strategy's session lacks a part: sinter/strategy/strategy.hpp
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// A session that does not say who it is among the members.
struct alone {
    using device = cpu_device;
    static constexpr strategy_traits traits{};
    template <class Programs>
    class session : public single_session<Programs> {
    public:
        session(const alone&, int) : single_session<Programs>(cpu_device::options{}) {}
        int member() const { return 0; }
    };
};
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, alone{}}; }
