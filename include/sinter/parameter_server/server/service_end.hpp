// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/target_namespace.hpp>
#include <optional>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Whether a server's work comes to its end, and why: it stops, or it has failed. Neither is taken back, and the first
/// failure is the one that everybody gets.
class service_end {
public:
    void stop() { stopping_ = true; }
    void fail(const cluster_error& e) {
        if (!failure_) failure_.emplace(e);
    }
    bool is_stopping() const { return stopping_; }
    const std::optional<cluster_error>& failure() const { return failure_; }
    bool goes_on() const { return !stopping_ && !failure_; }

private:
    bool stopping_ = false;
    std::optional<cluster_error> failure_;
};

} // namespace sinter::parameter_servers
