// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <utility>

/// The standard's algorithms over iterators. g++'s <algorithm> brings ranges and execution policies as well, which no header here
/// uses and which take every program 5 MB to compile.
#if defined(__GLIBCXX__)
#include <bits/stl_algo.h>
#else
#include <algorithm>
#endif
