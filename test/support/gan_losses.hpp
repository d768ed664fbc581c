// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/softplus.hpp>
#include <sinter/sinter.hpp>

/// The two losses of a small GAN whose net has outputs (critic of real ones, critic of drawn ones).
namespace sinter::test {

struct telling {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const {
        return sum(ops::softplus(-y[0]) + ops::softplus(y[1]), {-1}) + 0.1f * sum(y[0] * y[0], {-1});
    }
};
struct drawing {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return sum(ops::softplus(-y[1]), {-1}); }
};

} // namespace sinter::test
