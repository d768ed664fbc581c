// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/quoted_text.hpp>
#include <cstdint>
#include <string>
#include <utility>

namespace sinter {

/// Something went wrong in a job of several processes. The first such error reaches every member,
/// so that all report the same member and the same cause. The text says all of it in one line. Its
/// words may come from another process, or from an exception of the user's: control characters and
/// bytes that are not UTF-8 (as where a text was cut) become \xHH.
class cluster_error : public error {
public:
    /// `rank`: the member at fault, -1 where none is known. `role`: "worker/2". `address`:
    /// "host:port". `operation`: what was going on, "all-reduce of bucket 3". `step`: the global
    /// step, -1 before the first. `cause`: what happened, in words.
    SINTER_APART cluster_error(int rank, std::string role, std::string address, std::string operation,
                               std::int64_t step, std::string cause);

    /// The member at fault; -1: none is known, as where an address is wrong before anybody has met.
    int rank() const noexcept { return rank_; }
    const std::string& role() const noexcept { return role_; }
    const std::string& address() const noexcept { return address_; }
    const std::string& operation() const noexcept { return operation_; }
    std::int64_t step() const noexcept { return step_; }
    const std::string& cause() const noexcept { return cause_; }

private:
    SINTER_APART static std::string where(int rank, std::string_view role, std::string_view address,
                                          std::string_view operation, std::int64_t step);
    std::string role_, address_, operation_, cause_;
    std::int64_t step_;
    int rank_;
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART cluster_error::cluster_error(int rank, std::string role, std::string address,
                                                      std::string operation, std::int64_t step, std::string cause)
    : error(base::one_line(cause), base::one_line(where(rank, role, address, operation, step))),
      role_(base::one_line(role)), address_(base::one_line(address)), operation_(base::one_line(operation)),
      cause_(fault()), step_(step), rank_(rank) {}

SINTER_COLD SINTER_APART std::string cluster_error::where(int rank, std::string_view role, std::string_view address,
                                                          std::string_view operation, std::int64_t step) {
    std::string s;
    const auto add = [&](std::initializer_list<text_piece> pieces) {
        if (!s.empty()) s += ", ";
        s += to_text(pieces);
    };
    if (rank >= 0) add({"rank ", rank});
    if (!role.empty() && !address.empty()) add({role, " at ", address});
    else if (!role.empty() || !address.empty()) add({role, address});
    if (!operation.empty()) add({operation});
    if (step >= 0) add({"step ", step});
    return s;
}
#endif

} // namespace sinter
