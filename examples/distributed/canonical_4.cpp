// SPDX-License-Identifier: BSL-1.0
#include "canonical.hpp"

bool distributed::train_canonical_4(const settings& s, int& code) { return train_in_shards<4>(s, code); }
