// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "support/thread_members.hpp"
#include <sinter/strategy/synchronous/session.hpp>

namespace sinter_test {

/// A communicator that somebody else owns.
class borrowed final : public collective::communicator {
public:
    explicit borrowed(collective::communicator& to) : to_(to) {}
    int rank() const override { return to_.rank(); }
    int size() const override { return to_.size(); }
    collective::ticket start(const collective::operation& o, void* data, std::int64_t n, bool more) override {
        return to_.start(o, data, n, more);
    }
    void wait(collective::ticket t) override { to_.wait(t); }
    void check() override { to_.check(); }
    void fail(std::string_view cause) noexcept override { to_.fail(cause); }

private:
    collective::communicator& to_;
};

/// The library's own session for the members of thread_members.hpp.
struct synchronous_member : thread_settings {
    using device = cpu_device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .bucket_bytes = 64};
    synchronous_member() = default;
    synchronous_member(thread_settings s) : thread_settings(s) {}
    sinter::strategy_parts::synchronous_setup setup(const sinter::strategy_parts::program_identity&) const {
        return {.workers = 1, .input = own_batches ? batch_input::per_worker : batch_input::global,
                .members = std::make_unique<borrowed>(*group)};
    }
    cpu_device::options device_options(int) const { return {.threads = 1}; }
    std::uint64_t policy() const { return 1; }
    template <class Programs>
    using session = sinter::strategy_parts::synchronous_session<Programs>;
};

} // namespace sinter_test
