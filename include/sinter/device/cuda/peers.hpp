// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/memory.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

__global__ void add_floats(float* to, const float* from, std::int64_t n) {
    const std::int64_t all = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += all) to[i] += from[i];
}

/// What one GPU has from others: copied, or added to its own. Work is queued on the stream; the
/// calling thread's current GPU is the one that gets it.
class peer_copies {
public:
    void copy(float* to, int own, const float* from, int peer, std::int64_t n, cudaStream_t stream) {
        allow(own, peer);
        check(cudaMemcpyPeerAsync(to, own, from, peer, static_cast<std::size_t>(n) * sizeof(float), stream),
              "cudaMemcpyPeerAsync");
    }
    /// The peer's floats lie in memory of this GPU meanwhile, which is taken once for the longest.
    void add(float* to, int own, const float* from, int peer, std::int64_t n, cudaStream_t stream) {
        if (n == 0) return;
        if (copied_.size() < n) copied_ = cuda_arena(n);
        copy(copied_.data(), own, from, peer, n, stream);
        constexpr int threads = 256;
        const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((n + threads - 1) / threads, 1024));
        add_floats<<<blocks, threads, 0, stream>>>(to, copied_.data(), n);
        check(cudaGetLastError(), "add_floats");
    }

private:
    cuda_arena copied_;
    std::uint64_t asked_ = 0;   ///< a bit for each peer

    /// Lets this GPU read the peer's memory, if the machine can. CUDA copies through the host
    /// otherwise.
    void allow(int own, int peer) {
        if (own == peer || peer >= 64 || asked_ >> peer & 1) return;
        asked_ |= std::uint64_t{1} << peer;
        int can = 0;
        if (cudaDeviceCanAccessPeer(&can, own, peer) != cudaSuccess || !can) return;
        const cudaError_t s = cudaDeviceEnablePeerAccess(peer, 0);
        if (s == cudaErrorPeerAccessAlreadyEnabled) (void)cudaGetLastError();
        else check(s, "cudaDeviceEnablePeerAccess");
    }
};

} // namespace sinter::gpu
