// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/convolutions.hpp>
#include <sinter/device/cuda/products.hpp>
#include <sinter/kernel/cuda/launch.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// Puts a program's kernels, products and convolutions on a stream, in order. With
/// SINTER_CUDA_SYNC=1 in the environment it waits for each, so that a fault is reported by the
/// launch that made it rather than by a later call.
class stream_engine {
public:
    static constexpr bool multiplies = true;   ///< products never need kernels of ours
    stream_engine(cudaStream_t stream, product_precision precision)
        : stream_(stream), products_(stream, precision), convolutions_(stream, precision) {}

    template <int S, std::uint64_t... W>
    void elements(const source_call& s, const typename body<W...>::call& c) {
        launch_elements<S, W...>(s, c, stream_);
        done("launch of an element kernel");
    }
    template <std::uint64_t... W>
    void rows(const typename body<W...>::call& c) {
        launch_rows<W...>(c, stream_);
        done("launch of a row kernel");
    }
    template <int S>
    void blocks(const block_call& c) {
        launch_blocks<S>(c, stream_);
        done("launch of a block kernel");
    }
    template <chain_step Step>
    void chain(std::int64_t threads, const chain_call& c) {
        launch_chain<static_cast<int>(Step)>(threads, c, stream_);
        done("launch of a chain kernel");
    }
    void add_partials(const float* partial, float* to, std::int64_t used, std::int64_t columns, int parts) {
        launch_sums(partial, to, used, columns, parts, stream_);
        done("launch of the sum kernel");
    }
    bool product(const gpu::product& p) {
        products_.run(p);
        done("a product by cuBLASLt");
        return true;
    }
    /// Another number once the memory that libraries work in has moved.
    std::int64_t generation() const { return convolutions_.generation(); }
    bool can_convolve(const convolution& v) { return convolutions_.can(v); }
    void convolve(const convolution& v) {
        convolutions_.run(v);
        done("a convolution by cuDNN");
    }

private:
    cudaStream_t stream_;
    const bool waits_ = environment("SINTER_CUDA_SYNC", false);
    products products_;
    convolutions convolutions_;

    void done(const char* what) const {
        check(cudaGetLastError(), what);
        if (waits_) check(cudaStreamSynchronize(stream_), what);
    }
};

} // namespace sinter::gpu
