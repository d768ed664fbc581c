// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <cstring>
#include <sinter/device/cuda/status.hpp>
#include <sinter/device/model_memory.hpp>

namespace sinter::inline SINTER_TARGET {

/// A stretch of zeroed device memory of fixed size. Throws device_error where the device has not so
/// much left.
class cuda_arena {
public:
    cuda_arena() = default;
    explicit cuda_arena(std::int64_t floats) : n_(floats > 0 ? floats : 0) {
        if (!n_) return;
        gpu::check(cudaMalloc(reinterpret_cast<void**>(&p_), bytes()), "cudaMalloc");
        clear();
    }
    cuda_arena(cuda_arena&& o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
    cuda_arena& operator=(cuda_arena&& o) noexcept {
        std::swap(p_, o.p_);
        std::swap(n_, o.n_);
        return *this;
    }
    ~cuda_arena() { (void)cudaFree(p_); }
    void clear() {
        if (!n_) return;
        gpu::check(cudaMemset(p_, 0, bytes()), "cudaMemset");
        gpu::check(cudaStreamSynchronize(nullptr),
                   "cudaStreamSynchronize");   // models' streams do not wait for this one
    }
    float* data() const { return p_; }
    std::int64_t size() const { return n_; }   ///< floats
    std::size_t bytes() const { return static_cast<std::size_t>(n_) * sizeof(float); }

private:
    float* p_ = nullptr;
    std::int64_t n_ = 0;
};
using cuda_memory = runtime::basic_model_memory<cuda_arena>;

/// Host memory that the device copies from and to by itself.
class pinned_buffer {
public:
    pinned_buffer() = default;
    explicit pinned_buffer(std::size_t bytes) : bytes_(bytes) {
        if (bytes) gpu::check(cudaMallocHost(&p_, bytes), "cudaMallocHost");
    }
    pinned_buffer(pinned_buffer&& o) noexcept
        : p_(std::exchange(o.p_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
    pinned_buffer& operator=(pinned_buffer&& o) noexcept {
        std::swap(p_, o.p_);
        std::swap(bytes_, o.bytes_);
        return *this;
    }
    ~pinned_buffer() {
        if (p_) (void)cudaFreeHost(p_);
    }
    char* data() const { return static_cast<char*>(p_); }
    std::size_t size() const { return bytes_; }   ///< bytes

private:
    void* p_ = nullptr;
    std::size_t bytes_ = 0;
};

/// The same as floats, zeros at first: where gradients are on their way between GPUs and processes.
class pinned_arena {
public:
    pinned_arena() = default;
    explicit pinned_arena(std::int64_t floats)
        : memory_(static_cast<std::size_t>(floats) * sizeof(float)), n_(floats) {
        if (n_) std::memset(memory_.data(), 0, static_cast<std::size_t>(n_) * sizeof(float));
    }
    float* data() const { return reinterpret_cast<float*>(memory_.data()); }
    std::int64_t size() const { return n_; }   ///< floats

private:
    pinned_buffer memory_;
    std::int64_t n_ = 0;
};

} // namespace sinter
