// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/status.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

inline int current_device_number() {
    int n = 0;
    check(cudaGetDevice(&n), "cudaGetDevice");
    return n;
}

/// While this lives, the GPU `number` is the calling thread's current one; then the one before it
/// is again. Each thread begins with GPU 0, and streams, handles and memory are of the GPU that was
/// current when they were made.
class current_device {
public:
    explicit current_device(int number) : before_(current_device_number()), now_(number) {
        if (now_ != before_) check(cudaSetDevice(now_), "cudaSetDevice");
    }
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;
    ~current_device() {
        if (now_ != before_) (void)cudaSetDevice(before_);
    }

private:
    int before_, now_;
};

} // namespace sinter::gpu
