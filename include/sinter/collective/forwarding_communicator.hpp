// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <sinter/collective/communicator.hpp>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Hands all calls on to another communicator: the base of those that stand between it and a
/// session. It reads no device's memory, whatever the other one does, since who stands between may
/// look.
class forwarding_communicator : public communicator {
public:
    explicit forwarding_communicator(std::unique_ptr<communicator> c) : c_(std::move(c)) {}
    int rank() const override { return c_->rank(); }
    int size() const override { return c_->size(); }
    ticket start(const operation& o, void* data, std::int64_t n, bool more) override {
        return c_->start(o, data, n, more);
    }
    void wait(ticket t) override { c_->wait(t); }
    void check() override { c_->check(); }
    void fail(std::string_view cause) noexcept override { c_->fail(cause); }
    void progress(std::int64_t step, const char* what) override { c_->progress(step, what); }
    void report(std::int64_t step, double loss) override {
        set_steps_done(step);
        c_->report(step, loss);
    }
    void ask_all_to_stop(const char* reason) override { c_->ask_all_to_stop(reason); }
    bool asked_to_stop() const override { return c_->asked_to_stop(); }
    message start_send(int to, std::int64_t tag, span<const std::byte> x) override {
        return c_->start_send(to, tag, x);
    }
    message start_recv(int from, std::int64_t tag, span<std::byte> x) override { return c_->start_recv(from, tag, x); }
    void wait_message(message m, double within) override { c_->wait_message(m, within); }
    std::unique_ptr<communicator> split(int color, int key) override { return c_->split(color, key); }

protected:
    std::unique_ptr<communicator> c_;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
