// SPDX-License-Identifier: BSL-1.0
#include "canonical.hpp"

bool distributed::train_canonical_2(const settings& s, int& code) { return train_in_shards<2>(s, code); }

bool distributed::train_canonical(const settings& s, int& code) {
    return (s.canonical == 2 && train_canonical_2(s, code)) || (s.canonical == 4 && train_canonical_4(s, code));
}
