// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/error.hpp>
#include <cstdlib>
#include <cstring>
#include <utility>

/// Every status that CUDA and its libraries return becomes a device_error that names the call.
namespace sinter::inline SINTER_TARGET::gpu {

inline void check(cudaError_t s, const char* call) {
    if (s != cudaSuccess)
        throw device_error(std::string("CUDA: ") + cudaGetErrorString(s), call, cudaGetErrorName(s), "cudaSuccess");
}
inline void check(cublasStatus_t s, const char* call) {
    if (s != CUBLAS_STATUS_SUCCESS)
        throw device_error("cuBLASLt refuses", call, cublasLtGetStatusName(s), "CUBLAS_STATUS_SUCCESS");
}
inline void check(cudnnStatus_t s, const char* call) {
    if (s != CUDNN_STATUS_SUCCESS)
        throw device_error("cuDNN refuses", call, cudnnGetErrorString(s), "CUDNN_STATUS_SUCCESS");
}

/// A switch in the environment: 0 is no, anything else yes; `otherwise` where it is not set.
inline bool environment(const char* name, bool otherwise) {
    const char* const s = std::getenv(name);
    return s && *s ? std::strcmp(s, "0") != 0 : otherwise;
}

/// A library's handle or descriptor, destroyed with its owner.
template <class T, auto Destroy>
class owned {
public:
    owned() = default;
    owned(owned&& o) noexcept : t_(std::exchange(o.t_, T{})) {}
    owned& operator=(owned&& o) noexcept {
        std::swap(t_, o.t_);
        return *this;
    }
    ~owned() {
        if (t_) (void)Destroy(t_);
    }
    T get() const { return t_; }
    T* place() { return &t_; }   ///< for the call that creates it

private:
    T t_{};
};

} // namespace sinter::gpu
