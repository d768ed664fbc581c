// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/thread_group.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/strategy/synchronous/session.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

/// Members of a job that are threads of the test, with buckets so small that a net has several.
namespace sinter::test {

template <int BucketBytes = 256>
struct thread_members {
    using device = cpu_device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .bucket_bytes = BucketBytes};
    std::shared_ptr<collective::thread_group> group{};
    int rank = 0;
    batch_input input = batch_input::global;
    state_policy states = state_policy::per_shard;

    sinter::strategy_parts::synchronous_setup setup(const sinter::strategy_parts::program_identity&) const {
        return {.workers = 1, .input = input, .states = states, .members = group->take(rank)};
    }
    cpu_device::options device_options(int) const { return {}; }
    std::uint64_t policy() const { return 1; }
    template <class Programs>
    using session = sinter::strategy_parts::synchronous_session<Programs>;
};

/// f(member) on a thread for each of n members; the errors' texts, empty where there were none.
template <int BucketBytes = 256, class F>
std::vector<std::string> as_members(int n, F f, batch_input input = batch_input::global,
                                    state_policy states = state_policy::per_shard) {
    const auto group = std::make_shared<collective::thread_group>(n);
    std::vector<std::string> errors(static_cast<std::size_t>(n));
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
        threads.emplace_back([&, r] {
            try {
                f(thread_members<BucketBytes>{group, r, input, states});
            } catch (const std::exception& e) {
                errors[static_cast<std::size_t>(r)] = e.what();
            }
        });
    for (std::thread& t : threads) t.join();
    return errors;
}

} // namespace sinter::test
