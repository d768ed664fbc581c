// SPDX-License-Identifier: BSL-1.0
// Cases of cases.hpp that several replicas train on one device's number, whose gradients are sent
// while the device makes others.
#pragma once
#include <exception>
#include <sinter/collective/thread_group.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/central_storage.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <thread>

namespace sinter::test {

/// Replicas on one GPU, however many there are.
template <class Strategy>
struct all_here : Strategy {
    typename Strategy::device::options device_options(int) const { return {}; }
};

/// A member of a job whose members are threads; gradients go through the host, in small buckets.
template <class Device>
struct member_thread {
    using device = Device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .bucket_bytes = 256};
    std::shared_ptr<collective::thread_group> group{};
    int rank = 0;

    sinter::strategy_parts::synchronous_setup setup(const sinter::strategy_parts::program_identity&) const {
        return {.workers = 1, .members = group->take(rank)};
    }
    typename Device::options device_options(int) const { return {}; }
    std::uint64_t policy() const { return 1; }
    template <class Programs>
    using session = sinter::strategy_parts::synchronous_session<Programs>;
};
/// `run(strategy)` on a thread for each of two members; what the first one returns.
template <class Device, class Run>
auto as_two_members(Run run) {
    const auto group = std::make_shared<collective::thread_group>(2);
    decltype(run(member_thread<Device>{})) first;
    std::exception_ptr faults[2];
    const auto as = [&](int rank) {
        try {
            auto got = run(member_thread<Device>{group, rank});
            if (rank == 0) first = std::move(got);
        } catch (...) {
            faults[rank] = std::current_exception();
        }
    };
    std::thread other([&] { as(1); });
    as(0);
    other.join();
    for (const std::exception_ptr& f : faults)
        if (f) std::rethrow_exception(f);
    return first;
}

} // namespace sinter::test
