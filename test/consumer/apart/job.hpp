// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <string>
#include <vector>

/// A job of one parameter server and one worker, whose files see none of each other's types of Sinter.
void serve(const std::vector<std::string>& addresses);
/// What a weight of 1 is after one push.
float work(const std::vector<std::string>& addresses);
