// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "train.hpp"
#include <sinter/distributed.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/central_storage.hpp>

namespace distributed {

/// canonical<S> over each of the strategies: they share their programs, which are compiled once.
template <int S>
bool train_in_shards(const settings& s, int& code) {
    const std::string name = s.strategy + ":" + s.detail;
    if (name == "single:") code = train(s, canonical<S>(single<cpu_device>{}));
    else if (name == "mirrored:2") code = train(s, canonical<S>(mirrored<2>{}));
    else if (name == "central_storage:2") code = train(s, canonical<S>(central_storage<2>{}));
    else if (name == "multi_worker:ring")
        code = train(s, canonical<S>(multi_worker<ring>{cluster::from_environment()}));
    else if (name == "multi_worker:halving_doubling")
        code = train(s, canonical<S>(multi_worker<halving_doubling>{cluster::from_environment()}));
    else if constexpr (S >= 4) {
        if (name == "mirrored:4") code = train(s, canonical<S>(mirrored<4>{}));
        else if (name == "central_storage:4") code = train(s, canonical<S>(central_storage<4>{}));
        else return false;
    } else return false;
    return true;
}
bool train_canonical_2(const settings&, int& code);
bool train_canonical_4(const settings&, int& code);

} // namespace distributed
