// SPDX-License-Identifier: BSL-1.0
#include "train.hpp"

bool distributed::train_single(const settings& s, int& code) {
    if (s.canonical || s.strategy != "single" || !s.detail.empty()) return false;
    code = train(s, single<cpu_device>{});
    return true;
}
