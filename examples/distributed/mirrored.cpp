// SPDX-License-Identifier: BSL-1.0
#include "train.hpp"
#include <sinter/strategy/central_storage.hpp>

bool distributed::train_mirrored(const settings& s, int& code) {
    if (s.canonical) return false;
    if (s.strategy == "mirrored" && s.detail == "2") code = train(s, mirrored<2>{});
    else if (s.strategy == "mirrored" && s.detail == "4") code = train(s, mirrored<4>{});
    else if (s.strategy == "central_storage" && s.detail == "2") code = train(s, central_storage<2>{});
    else if (s.strategy == "central_storage" && s.detail == "4") code = train(s, central_storage<4>{});
    else return false;
    return true;
}
