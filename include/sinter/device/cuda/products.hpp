// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/memory.hpp>
#include <sinter/kernel/cuda/library_work.hpp>
#include <deque>

/// Matrix products by cuBLASLt, by algorithms that give the same bits each time.
namespace sinter::inline SINTER_TARGET::gpu {

class products {
public:
    products(cudaStream_t stream, product_precision precision)
        : stream_(stream),
          computes_(precision == product_precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F),
          workspace_(workspace_bytes / 4) {
        check(cublasLtCreate(lt_.place()), "cublasLtCreate");
    }

    /// The first product of its extents chooses an algorithm and keeps it; after that nothing is
    /// allocated.
    void run(const product& p) {
        const plan& with = plan_of(p);
        const float one = 1.f, zero = 0.f;   // row-major: the library, which counts by columns, gets c^T = b^T a^T
        check(cublasLtMatmul(lt_.get(), with.how.get(), &one, p.b, with.b.get(), p.a, with.a.get(), &zero, p.c,
                             with.c.get(), p.c, with.c.get(), &with.algorithm, workspace_.data(), workspace_.bytes(),
                             stream_),
              "cublasLtMatmul");
    }

private:
    static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
    using layout = owned<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
    struct plan {
        product_key key{};
        owned<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy> how;
        layout a, b, c;
        cublasLtMatmulAlgo_t algorithm{};
    };
    owned<cublasLtHandle_t, &cublasLtDestroy> lt_;
    cudaStream_t stream_;
    cublasComputeType_t computes_;
    cuda_arena workspace_;
    std::deque<plan> plans_;

    const plan& plan_of(const product& p) {
        const product_key key = product_key::of(p);
        for (const plan& old : plans_)
            if (old.key == key) return old;
        plan fresh;
        fresh.key = key;
        make(fresh, p);
        return plans_.emplace_back(std::move(fresh));
    }
    void make(plan& to, const product& p) const {
        check(cublasLtMatmulDescCreate(to.how.place(), computes_, CUDA_R_32F), "cublasLtMatmulDescCreate");
        transpose(to, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b);
        transpose(to, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a);
        matrix(to.b, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.ldb, p.count, p.stride_b);
        matrix(to.a, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.lda, p.count, p.stride_a);
        matrix(to.c, p.m, p.n, p.n, p.count, p.m * p.n);
        owned<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy> wish;
        check(cublasLtMatmulPreferenceCreate(wish.place()), "cublasLtMatmulPreferenceCreate");
        const std::size_t bytes = workspace_.bytes();
        // no sums in place: those come in whatever order the blocks finish
        const std::uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
        set(wish.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, bytes);
        set(wish.get(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, sums);
        auto promise = [&](cublasLtMatmulPreferenceAttributes_t of, int aligned) {
            set(wish.get(), of, static_cast<std::uint32_t>(aligned));
        };
        promise(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, to.key.b);   // the library's first operand is b
        promise(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, to.key.a);
        promise(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, to.key.c);
        promise(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, to.key.c);
        cublasLtMatmulHeuristicResult_t found{};
        int n = 0;
        check(cublasLtMatmulAlgoGetHeuristic(lt_.get(), to.how.get(), to.b.get(), to.a.get(), to.c.get(), to.c.get(),
                                             wish.get(), 1, &found, &n),
              "cublasLtMatmulAlgoGetHeuristic");
        if (n < 1)
            throw device_error("cuBLASLt has no algorithm for a product", "cublasLtMatmulAlgoGetHeuristic",
                               std::to_string(p.m) + " x " + std::to_string(p.k) + " x " + std::to_string(p.n), "one");
        to.algorithm = found.algo;
    }
    template <class T>
    static void set(cublasLtMatmulPreference_t to, cublasLtMatmulPreferenceAttributes_t what, const T& value) {
        check(cublasLtMatmulPreferenceSetAttribute(to, what, &value, sizeof value),
              "cublasLtMatmulPreferenceSetAttribute");
    }
    static void transpose(plan& to, cublasLtMatmulDescAttributes_t which, bool yes) {
        const cublasOperation_t how = yes ? CUBLAS_OP_T : CUBLAS_OP_N;
        check(cublasLtMatmulDescSetAttribute(to.how.get(), which, &how, sizeof how), "cublasLtMatmulDescSetAttribute");
    }
    /// `rows` stored rows of `columns` each, `step` from one to the next.
    static void matrix(layout& to, std::int64_t rows, std::int64_t columns, std::int64_t step, std::int64_t count,
                       std::int64_t stride) {
        check(cublasLtMatrixLayoutCreate(to.place(), CUDA_R_32F, static_cast<std::uint64_t>(columns),
                                         static_cast<std::uint64_t>(rows), step), "cublasLtMatrixLayoutCreate");
        const auto n = static_cast<std::int32_t>(count);
        check(cublasLtMatrixLayoutSetAttribute(to.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n, sizeof n),
              "batch count");
        check(cublasLtMatrixLayoutSetAttribute(to.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                               sizeof stride),
              "batch stride");
    }
};

} // namespace sinter::gpu
