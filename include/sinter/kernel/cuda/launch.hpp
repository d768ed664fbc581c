// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/attention.hpp>
#include <sinter/kernel/cuda/attention_gradient.hpp>
#include <sinter/kernel/cuda/element_walk.hpp>
#include <sinter/kernel/cuda/partial_sums.hpp>
#include <sinter/kernel/cuda/sources/rows.hpp>

/// The __global__ functions: templates over integers only (nvcc's host stubs fail on class
/// types), five in all.
namespace sinter::inline SINTER_TARGET::gpu {

inline constexpr int block_threads = 256;

template <int S, int Operands, int Literals, int Draws, std::uint64_t... W>
__global__ void __launch_bounds__(block_threads) element_kernel(source_call s, body_call<Operands, Literals, Draws> c) {
    element_walk<S, W...>::thread(static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x, s, c);
}
template <int Operands, int Literals, int Draws, std::uint64_t... W>
__global__ void __launch_bounds__(block_threads) row_kernel(body_call<Operands, Literals, Draws> c) {
    constexpr int warps = block_threads / warp_lanes;
    const int part = static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / warp_lanes;
    if (part < c.parts) row_walk<W...>::lane(part, static_cast<int>(threadIdx.x) % warp_lanes, c);
}
template <int S>
__global__ void __launch_bounds__(attention_threads) block_kernel(block_call c) {
    __shared__ attention_workspace workspace;
    block_kernel_of<S>::block(blockIdx.x, c, workspace);
}
template <int Step>
__global__ void __launch_bounds__(block_threads) chain_kernel(chain_call c, std::int64_t threads) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    if (i < threads) chain_thread<static_cast<chain_step>(Step)>(i, c);
}
/// One warp a column.
template <int Threads>
__global__ void __launch_bounds__(Threads)
    sum_kernel(const float* partial, float* to, std::int64_t used, std::int64_t columns, int parts) {
    const std::int64_t column =
        static_cast<std::int64_t>(blockIdx.x) * (Threads / warp_lanes) + threadIdx.x / warp_lanes;
    if (column >= used) return;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    float v = lane_sum(partial + column, columns, parts, lane);
    for (int h = warp_lanes / 2; h; h /= 2) v += __shfl_xor_sync(0xffffffffu, v, h);
    if (lane == 0) to[column] = v;
}

inline unsigned blocks_for(std::int64_t n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

template <int S, std::uint64_t... W>
void launch_elements(const source_call& s, const typename body<W...>::call& c, cudaStream_t stream) {
    using B = body<W...>;
    element_kernel<S, B::operands + 1, B::literals + 1, B::draws + 1, W...>
        <<<blocks_for(element_walk<S, W...>::threads(c), block_threads), block_threads, 0, stream>>>(s, c);
}
template <std::uint64_t... W>
void launch_rows(const typename body<W...>::call& c, cudaStream_t stream) {
    using B = body<W...>;
    row_kernel<B::operands + 1, B::literals + 1, B::draws + 1, W...>
        <<<blocks_for(c.parts, block_threads / warp_lanes), block_threads, 0, stream>>>(c);
}
template <int S>
void launch_blocks(const block_call& c, cudaStream_t stream) {
    block_kernel<S><<<static_cast<unsigned>(block_kernel_of<S>::count(c)), attention_threads, 0, stream>>>(c);
}
template <int Step>
void launch_chain(std::int64_t threads, const chain_call& c, cudaStream_t stream) {
    chain_kernel<Step><<<blocks_for(threads, block_threads), block_threads, 0, stream>>>(c, threads);
}
inline void launch_sums(const float* partial, float* to, std::int64_t used, std::int64_t columns, int parts,
                        cudaStream_t stream) {
    sum_kernel<block_threads>
        <<<blocks_for(used, block_threads / warp_lanes), block_threads, 0, stream>>>(partial, to, used, columns, parts);
}

} // namespace sinter::gpu
