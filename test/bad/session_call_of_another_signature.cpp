// SPDX-License-Identifier: BSL-1.0
// expect: member
// expect-gcc: marked 'override', but does not override
// expect-clang: only virtual member functions can be marked 'override'
#include <sinter/sinter.hpp>

using namespace sinter;

// A call of session_base that is misspelt: it would never be made.
struct pair {
    using device = cpu_device;
    static constexpr strategy_traits traits{};
    template <class Programs>
    class session : public replica_session<Programs> {
    public:
        session(const pair&, int) : replica_session<Programs>(cpu_device::options{}) {}
        membership members() const override { return {0, 2}; }
    };
};
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, pair{}}; }
