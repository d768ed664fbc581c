// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// While it lives, this thread's processor takes denormal numbers for zero and makes none (x86;
/// elsewhere nothing). An optimizer's moments of a weight without gradients decay into the
/// denormals and stay there, and every operation on them traps into microcode: an MLP's Adam step
/// takes a quarter longer, a pass over moments in L2 three times.
class flush_denormals {
public:
#if defined(__SSE2__)
    flush_denormals() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(before_ | to_zero); }
    ~flush_denormals() { __builtin_ia32_ldmxcsr(before_); }
#else
    flush_denormals() {}
    ~flush_denormals() {}
#endif
    flush_denormals(const flush_denormals&) = delete;
    flush_denormals& operator=(const flush_denormals&) = delete;

private:
#if defined(__SSE2__)
    static constexpr unsigned to_zero = 0x8040;   // results (bit 15) and operands (bit 6)
    unsigned before_;
#endif
};

} // namespace sinter::runtime
