// SPDX-License-Identifier: BSL-1.0
// expect: dense_2: got 11 features
static_assert(sizeof(int) == 0, "dense_2: got 10 features, needs 12");
