// SPDX-License-Identifier: BSL-1.0
// expect: the strategy's session lacks a part: sinter/strategy/strategy.hpp
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// A session that has all that does not depend on the programs, and makes no steps.
struct without_steps {
    using device = cpu_device;
    static constexpr strategy_traits traits{};
    template <class Programs>
    class session : public session_base {
    public:
        session(const without_steps&, int) {}
        void read(compiler::address, float*, std::int64_t) const override {}
        void write(compiler::address, const float*, std::int64_t) override {}
        void clear_slots() override {}
        int threads() const override { return 1; }
    };
};
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, without_steps{}}; }
