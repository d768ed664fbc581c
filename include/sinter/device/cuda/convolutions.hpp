// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/memory.hpp>
#include <sinter/kernel/cuda/library_work.hpp>
#include <deque>

/// Convolutions by cuDNN, NHWC, by algorithms that it declares deterministic.
namespace sinter::inline SINTER_TARGET::gpu {

class convolutions {
public:
    convolutions(cudaStream_t stream, product_precision precision)
        : stream_(stream), tf32_(precision == product_precision::tf32) {
        check(cudnnCreate(dnn_.place()), "cudnnCreate");
        check(cudnnSetStream(dnn_.get(), stream), "cudnnSetStream");
    }

    /// Is there an algorithm? The first question about extents looks for one and takes the memory
    /// that it needs; after that nothing is allocated.
    bool can(const convolution& v) { return plan_of(v).algorithm >= 0; }

    std::int64_t generation() const { return generation_; }   ///< how often the workspace has moved

    void run(const convolution& v) {
        const plan& p = plan_of(v);
        const float one = 1.f, zero = 0.f;
        void* workspace = workspace_.data();
        switch (v.part) {
            case convolution_part::results:
                check(cudnnConvolutionForward(dnn_.get(), &one, p.x.get(), v.x, p.filter.get(), v.filter, p.how.get(),
                                              static_cast<cudnnConvolutionFwdAlgo_t>(p.algorithm), workspace, p.bytes,
                                              &zero, p.y.get(), v.y),
                      "cudnnConvolutionForward");
                break;
            case convolution_part::input_gradient:
                check(cudnnConvolutionBackwardData(dnn_.get(), &one, p.filter.get(), v.filter, p.y.get(), v.y,
                                                   p.how.get(), static_cast<cudnnConvolutionBwdDataAlgo_t>(p.algorithm),
                                                   workspace, p.bytes, &zero, p.x.get(), v.x),
                      "cudnnConvolutionBackwardData");
                break;
            default:
                check(cudnnConvolutionBackwardFilter(dnn_.get(), &one, p.x.get(), v.x, p.y.get(), v.y, p.how.get(),
                                                     static_cast<cudnnConvolutionBwdFilterAlgo_t>(p.algorithm),
                                                     workspace, p.bytes, &zero, p.filter.get(), v.filter),
                      "cudnnConvolutionBackwardFilter");
        }
    }

private:
    static constexpr std::size_t most_bytes = std::size_t{1} << 30;
    using tensor_descriptor = owned<cudnnTensorDescriptor_t, &cudnnDestroyTensorDescriptor>;
    struct plan {
        convolution key{};
        tensor_descriptor x, y;
        owned<cudnnFilterDescriptor_t, &cudnnDestroyFilterDescriptor> filter;
        owned<cudnnConvolutionDescriptor_t, &cudnnDestroyConvolutionDescriptor> how;
        int algorithm = -1;
        std::size_t bytes = 0;
    };
    owned<cudnnHandle_t, &cudnnDestroy> dnn_;
    cudaStream_t stream_;
    bool tf32_;
    cuda_arena workspace_;
    std::int64_t generation_ = 0;
    std::deque<plan> plans_;

    const plan& plan_of(const convolution& v) {
        convolution key = v;
        key.x = key.y = key.filter = nullptr;
        for (const plan& old : plans_)
            if (old.key == key) return old;
        plan fresh;
        fresh.key = key;
        describe(fresh);
        choose(fresh);
        const auto floats = static_cast<std::int64_t>((fresh.bytes + 3) / 4);
        if (floats > workspace_.size()) {
            check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");   // what is queued still uses the old one
            workspace_ = cuda_arena(floats);
            ++generation_;
        }
        return plans_.emplace_back(std::move(fresh));
    }
    void describe(plan& to) const {
        const convolution& v = to.key;
        images(to.x, v.images, v.H, v.W, v.CI);
        images(to.y, v.images, v.OH, v.OW, v.CO);
        check(cudnnCreateFilterDescriptor(to.filter.place()), "cudnnCreateFilterDescriptor");
        check(cudnnSetFilter4dDescriptor(to.filter.get(), CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, v.CO, v.CI, v.KH, v.KW),
              "cudnnSetFilter4dDescriptor");
        check(cudnnCreateConvolutionDescriptor(to.how.place()), "cudnnCreateConvolutionDescriptor");
        check(cudnnSetConvolution2dDescriptor(to.how.get(), v.above, v.left, v.stride, v.stride, 1, 1,
                                              CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
              "cudnnSetConvolution2dDescriptor");
        check(cudnnSetConvolutionMathType(to.how.get(), tf32_ ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH),
              "cudnnSetConvolutionMathType");
    }
    static void images(tensor_descriptor& to, std::int64_t n, int h, int w, int c) {
        check(cudnnCreateTensorDescriptor(to.place()), "cudnnCreateTensorDescriptor");
        check(cudnnSetTensor4dDescriptor(to.get(), CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, static_cast<int>(n), c, h, w),
              "cudnnSetTensor4dDescriptor");
    }
    void choose(plan& to) const {
        int n = 0;
        if (to.key.part == convolution_part::results) {
            cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
            check(cudnnGetConvolutionForwardAlgorithm_v7(dnn_.get(), to.x.get(), to.filter.get(), to.how.get(),
                                                         to.y.get(), CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &n, found),
                  "cudnnGetConvolutionForwardAlgorithm_v7");
            take(to, found, n);
        } else if (to.key.part == convolution_part::input_gradient) {
            cudnnConvolutionBwdDataAlgoPerf_t found[CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT];
            check(cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn_.get(), to.filter.get(), to.y.get(), to.how.get(),
                                                              to.x.get(), CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, &n,
                                                              found),
                  "cudnnGetConvolutionBackwardDataAlgorithm_v7");
            take(to, found, n);
        } else {
            cudnnConvolutionBwdFilterAlgoPerf_t found[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT];
            check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn_.get(), to.x.get(), to.y.get(), to.how.get(),
                                                                to.filter.get(),
                                                                CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, &n, found),
                  "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
            take(to, found, n);
        }
    }
    /// The first, as the library orders them by speed, that is reproducible, as exact as was asked
    /// for and modest. None converts to float16, as CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION does.
    template <class Found>
    void take(plan& to, const Found* found, int n) const {
        for (int i = 0; i < n; ++i) {
            const Found& f = found[i];
            if (f.status != CUDNN_STATUS_SUCCESS || f.determinism != CUDNN_DETERMINISTIC || f.memory > most_bytes)
                continue;
            if (f.mathType == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION) continue;
            if (f.mathType == CUDNN_TENSOR_OP_MATH && !tf32_) continue;
            if (tf32_) check(cudnnSetConvolutionMathType(to.how.get(), f.mathType), "cudnnSetConvolutionMathType");
            to.algorithm = static_cast<int>(f.algo);
            to.bytes = f.memory;
            return;
        }
    }
};

} // namespace sinter::gpu
