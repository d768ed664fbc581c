// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/none.hpp>

#include "support/shards.hpp"

/// Updates on three servers against a trainer's, bit by bit.
namespace sinter::test {

using shards_loss = std::remove_cvref_t<decltype(softmax_cross_entropy)>;
template <class Net, class Optimizer>
using shards_program =
    compiled<request<std::remove_cvref_t<Net>, shards_loss, Optimizer, program_mode::training, 5, cpu_device::target,
                     program_options{.gradients = gradient_policy::reduced, .bucket_bytes = 512}>>;

/// Five steps. `sums_on_servers`: see blocks_of.
template <class Net, class Optimizer>
void check_shards(Net, Optimizer o, const char* what,
                  parameter_servers::row_partition how = parameter_servers::row_partition::mod,
                  bool sums_on_servers = false) {
    using P = shards_program<Net, Optimizer>;
    trainer<Net, shards_loss, no_optimizer, 5> first({}, {.threads = 1});
    auto h = with_first_slots<P>(first, o);
    shards<P, Optimizer> all(h, o, 3, how, sums_on_servers);
    const std::vector<float> before(h.at({space::parameter, 0}), h.at({space::parameter, 0}) + P::v.z.trained);
    BOOST_TEST(all.differences(h) == 0, what << ", at the start");
    for (std::int64_t step = 0; step < 5; ++step) {
        const random_batch<P> b(static_cast<std::uint64_t>(step));
        BOOST_TEST(h.gradients(b.view()));
        all.step(h, step);
        h.update();
        BOOST_TEST(all.differences(h) == 0, what << ", step " << step);
    }
    BOOST_TEST(std::memcmp(before.data(), h.at({space::parameter, 0}), 4 * before.size()) != 0,
               what << " changes nothing");
}

} // namespace sinter::test
