// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/status.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// A place in a stream: wait() returns when all that was queued before it is done. Throws
/// device_error.
class stream_event {
public:
    explicit stream_event(cudaStream_t stream) {
        check(cudaEventCreateWithFlags(event_.place(), cudaEventDisableTiming), "cudaEventCreate");
        check(cudaEventRecord(event_.get(), stream), "cudaEventRecord");
    }
    void wait() const { check(cudaEventSynchronize(event_.get()), "cudaEventSynchronize"); }
    cudaEvent_t get() const { return event_.get(); }   ///< for streams that wait for it (cudaStreamWaitEvent)

private:
    owned<cudaEvent_t, &cudaEventDestroy> event_;
};

} // namespace sinter::gpu
