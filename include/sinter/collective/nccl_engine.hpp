// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/processors.hpp>
#include <sinter/collective/tcp.hpp>

#if !__has_include(<nccl.h>)
#error                                                                                                                 \
    "sinter/collective/nccl.hpp needs NCCL (on Debian or Ubuntu, from NVIDIA's repository: apt-get install libnccl-dev)"
#elif !__has_include(<cuda_runtime_api.h>)
#error "sinter/collective/nccl.hpp needs the CUDA Toolkit"
#endif
#include <cuda_runtime_api.h>
#include <functional>
#include <nccl.h>

namespace sinter::inline SINTER_ORDINARY::collective {

inline bool on_device(const void* data) {
    cudaPointerAttributes a{};
    if (data && ::cudaPointerGetAttributes(&a, data) == cudaSuccess) return a.type == cudaMemoryTypeDevice;
    ::cudaGetLastError();
    return false;
}

/// Sums of memory on GPUs by NCCL, one GPU a member. NCCL hangs or computes anything where members
/// differ; so all first meet over TCP, which compares what they do. What NCCL has no operation for
/// (the order of the tree, maxima that keep NaNs, rows) goes through the host and TCP, as does memory
/// of the host.
class nccl_engine final : public engine {
public:
    /// `from_first`: what the first member says, on all of them; each calls it once. `device`: this member's.
    nccl_engine(std::shared_ptr<membership> m, std::unique_ptr<transport_engine> over_tcp, int device,
                const std::function<std::string(const std::string&)>& from_first)
        : members_(std::move(m)), over_tcp_(std::move(over_tcp)), device_(device) {
        need(::cudaSetDevice(device_), "the device");
        need(::cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
        ncclUniqueId id{};
        std::string fault, bytes;
        if (members_->rank() == 0) {
            if (const ncclResult_t r = ::ncclGetUniqueId(&id); r != ncclSuccess) fault = ::ncclGetErrorString(r);
            else bytes.assign(id.internal, sizeof id.internal);
        }
        const std::string received = from_first(bytes);
        if (received.size() != sizeof id.internal)
            throw own_error(to_text({"rank ", members_->job_rank(0), " has no NCCL: ", fault}));
        received.copy(id.internal, sizeof id.internal);
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        need(::ncclCommInitRankConfig(&comm_, members_->size(), id, members_->rank(), &config));
        settle();
    }
    /// Waits for nobody: the others may be gone.
    ~nccl_engine() override {
        if (comm_) ::ncclCommAbort(comm_);
        if (stream_) ::cudaStreamDestroy(stream_);
    }

    bool reads_device_memory() const override { return true; }
    void perform(const operation& o, std::int64_t number, void* data, std::int64_t n) override {
        now_ = o;
        need(::cudaSetDevice(device_), "the device");   // each thread has its own
        if (!on_device(data)) return over_tcp_->perform(o, number, data, n);
        const bool sums = o.how == reduction::sum;
        switch (o.what) {
            case kind::all_reduce:
                if (!sums) break;
                agree(o, number, n);
                return run(
                    [&] { return ::ncclAllReduce(data, data, count(n), type_of(o.type), ncclSum, comm_, stream_); });
            case kind::broadcast:
                agree(o, number, n);
                return run(
                    [&] { return ::ncclBroadcast(data, data, count(n), type_of(o.type), o.root, comm_, stream_); });
            case kind::all_gather: {
                agree(o, number, n);
                return run([&] {   // parts are not all of one size: a broadcast each, in one group
                    ncclResult_t result = ::ncclGroupStart();
                    for (int r = 0; r < members_->size() && fine(result); ++r) {
                        const auto [first, end] = part_of(n, r, members_->size());
                        void* const at = static_cast<std::byte*>(data) + first * bytes_of(o.type);
                        result = ::ncclBroadcast(at, at, count(end - first), type_of(o.type), r, comm_, stream_);
                    }
                    const ncclResult_t ended = ::ncclGroupEnd();
                    return fine(result) ? ended : result;
                });
            }
            case kind::reduce_scatter:   // as an all-reduce, so that either gives the same bits
                if (!sums) break;
                agree(o, number, n);
                return run(
                    [&] { return ::ncclAllReduce(data, data, count(n), type_of(o.type), ncclSum, comm_, stream_); });
            default: break;
        }
        by_way_of_the_host(o, number, data, n);
    }

private:
    std::shared_ptr<membership> members_;
    std::unique_ptr<transport_engine> over_tcp_;
    ncclComm_t comm_ = nullptr;
    cudaStream_t stream_ = nullptr;
    int device_ = 0;
    operation now_;
    std::vector<std::byte> host_;

    static std::size_t count(std::int64_t n) { return static_cast<std::size_t>(n); }
    static bool fine(ncclResult_t r) { return r == ncclSuccess || r == ncclInProgress; }
    static ncclDataType_t type_of(element e) {
        switch (e) {
            case element::f32: return ncclFloat32;
            case element::f64: return ncclFloat64;
            case element::i32: return ncclInt32;
            case element::i64: return ncclInt64;
            case element::u8: break;
        }
        return ncclUint8;
    }
    /// All do the same, or all get an error before NCCL is asked.
    void agree(const operation& o, std::int64_t number, std::int64_t n) {
        if (members_->size() > 1) over_tcp_->agree({o, number, nullptr, n});
    }
    template <class F>
    void run(F f) {
        need(f());
        settle();
        cudaError_t over;
        while ((over = ::cudaStreamQuery(stream_)) == cudaErrorNotReady) look();
        need(over, "an operation of NCCL's");
        look();
    }
    /// Until what NCCL does in the background is done.
    void settle() {
        ncclResult_t state = ncclInProgress;
        while (true) {
            need(::ncclCommGetAsyncError(comm_, &state));
            if (state != ncclInProgress) break;
            look();
        }
        need(state);
    }
    /// A member's death is known over TCP long before NCCL would say so.
    void look() {
        try {
            members_->check();
        } catch (...) {
            abort();
            throw;
        }
        ncclResult_t state = ncclSuccess;
        need(::ncclCommGetAsyncError(comm_, &state));
        if (!fine(state)) need(state);
        base::yield_core();
    }
    void abort() noexcept {
        if (comm_) ::ncclCommAbort(comm_);
        comm_ = nullptr;
    }
    void by_way_of_the_host(const operation& o, std::int64_t number, void* data, std::int64_t n) {
        const std::size_t bytes =
            count(n * bytes_of(o.type) * (o.what == kind::all_gather_rows ? members_->size() : 1));
        host_.resize(std::max(host_.size(), bytes));
        need(::cudaMemcpy(host_.data(), data, bytes, cudaMemcpyDeviceToHost), "a copy to the host");
        over_tcp_->perform(o, number, host_.data(), n);
        need(::cudaMemcpy(data, host_.data(), bytes, cudaMemcpyHostToDevice), "a copy from the host");
    }
    SINTER_COLD cluster_error own_error(std::string cause) const {
        const int r = members_->rank();
        return {members_->job_rank(r), members_->role(r), members_->address(r), name_of(now_), now_.step,
                std::move(cause)};
    }
    void need(ncclResult_t r) {
        if (fine(r)) return;
        std::string cause = std::string("NCCL: ") + ::ncclGetErrorString(r);
        if (const char* const more = ::ncclGetLastError(comm_); more && *more) (cause += ": ") += more;
        abort();
        throw own_error(std::move(cause));
    }
    void need(cudaError_t e, const char* what) const {
        if (e != cudaSuccess) throw own_error(std::string("CUDA refuses ") + what + ": " + ::cudaGetErrorString(e));
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
