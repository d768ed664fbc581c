// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <string>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What the chief says of files that all servers write or read, as part of a checkpoint of the
/// whole job: folder/name/shard-K-of-N.safetensors.
struct tables_of_job {
    std::string folder, name;
    std::uint8_t slots = 1;   ///< reading: 0: the optimizer's memory of rows begins anew

    template <class A>
    void serialize(A& a, unsigned) {
        a & folder & name & slots;
    }
};

} // namespace sinter::parameter_servers
