// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <sinter/base/cluster_error.hpp>
#include <sinter/collective/element.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// The first error of several threads; all get the same.
class first_error {
public:
    explicit operator bool() const { return is_set_.load(std::memory_order_acquire); }
    void set(const cluster_error& e) noexcept {
        const std::lock_guard lock(mutex_);
        if (error_) return;
        error_ = std::make_exception_ptr(e);
        is_set_.store(true, std::memory_order_release);
    }
    [[noreturn]] void rethrow() const { std::rethrow_exception(error_); }

private:
    std::atomic<bool> is_set_{false};
    std::exception_ptr error_;   // written once, before is_set_
    std::mutex mutex_;
};

/// Whether two members do the same thing in the same place of the same step.
inline bool same(const operation& a, const operation& b) {
    return a.what == b.what && a.type == b.type && a.how == b.how && a.compared_step() == b.compared_step() &&
           a.bucket == b.bucket && a.root == b.root;
}
/// That member `rank` does something else than member `than`.
SINTER_COLD inline cluster_error differing(int rank, std::string role, std::string address, const operation& a,
                                           std::int64_t n, const operation& b, std::int64_t m, int than) {
    return {rank,
            std::move(role),
            std::move(address),
            name_of(b),
            b.step,
            "it does " + text_of(a, n) + ", but rank " + std::to_string(than) + " does " + text_of(b, m) +
                why_other(rank, a, than, b)};
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
