// SPDX-License-Identifier: BSL-1.0
#pragma once

/// For functions that no program waits for: text for errors, progress and files. Compilers make
/// them small instead of fast, which halves what they add to a program's build time.
#define SINTER_COLD __attribute__((cold))
