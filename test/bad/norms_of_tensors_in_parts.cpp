// SPDX-License-Identifier: BSL-1.0
// expect: sharded_update: this optimizer takes norms of whole tensors of weights or updates
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <sinter/strategy/sharded_update.hpp>
#include <sinter/train/optimizers/lamb.hpp>

using namespace sinter;

struct nobody {
    static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&) { return nullptr; }
};
constexpr auto net = features<12> >> dense<10>;

int main() {
    estimator model{net, mse, lamb{}, sharded_update(multi_worker<nobody>{})};
    model.inner().step({});
}
