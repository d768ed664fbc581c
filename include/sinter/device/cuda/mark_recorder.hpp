// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/status.hpp>
#include <sinter/device/model_memory.hpp>
#include <limits>
#include <vector>

namespace sinter::inline SINTER_TARGET::gpu {

/// An observer that records an event behind each marked launch. Where the stream is being recorded
/// as a CUDA graph, the event becomes a node of the graph: each launch of the graph records it
/// anew.
class mark_recorder {
public:
    using event = owned<cudaEvent_t, &cudaEventDestroy>;

    /// `events`: by the marks' numbers; those that are missing are made.
    mark_recorder(cudaStream_t stream, const runtime::launch_marks& marks, std::vector<event>& events)
        : stream_(stream), marks_(marks), events_(events) {
        while (events_.size() < static_cast<std::size_t>(marks.n))
            check(cudaEventCreateWithFlags(events_.emplace_back().place(), cudaEventDisableTiming), "cudaEventCreate");
    }
    void begin() { next_ = 0; }
    void end() { pass(std::numeric_limits<int>::max()); }
    /// A loop's launches are run several times; behind its last one is before the next launch.
    void operator()(int launch, bool before) {
        if (before) pass(launch);
    }

private:
    cudaStream_t stream_;
    runtime::launch_marks marks_;
    std::vector<event>& events_;
    int next_ = 0;

    /// Records those behind launches before this one.
    void pass(int launch) {
        for (; next_ < marks_.n && marks_.marks[next_].launch < launch; ++next_) {
            cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
            check(cudaStreamIsCapturing(stream_, &now), "cudaStreamIsCapturing");
            const unsigned how = now == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
            check(cudaEventRecordWithFlags(events_[static_cast<std::size_t>(marks_.marks[next_].number)].get(), stream_,
                                           how), "cudaEventRecordWithFlags");
        }
    }
};

} // namespace sinter::gpu
