// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/status.hpp>
#include <deque>

namespace sinter::inline SINTER_TARGET::gpu {

/// What a GPU takes for each launch, by events on its stream before and behind it.
class launch_times {
public:
    explicit launch_times(cudaStream_t stream) : stream_(stream) {}

    void operator()(int launch, bool before) {
        if (before) {
            one& o = all_.emplace_back();
            o.launch = launch;
            check(cudaEventCreate(o.begin.place()), "cudaEventCreate");
            check(cudaEventCreate(o.end.place()), "cudaEventCreate");
        }
        one& o = all_.back();
        check(cudaEventRecord(before ? o.begin.get() : o.end.get(), stream_), "cudaEventRecord");
    }
    /// Waits, then calls `observe.took(launch, seconds)` for each.
    template <class Observer>
    void tell(Observer& observe) const {
        check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        for (const one& o : all_) {
            float ms = 0;
            check(cudaEventElapsedTime(&ms, o.begin.get(), o.end.get()), "cudaEventElapsedTime");
            observe.took(o.launch, 1e-3 * static_cast<double>(ms));
        }
    }

private:
    using event = owned<cudaEvent_t, &cudaEventDestroy>;
    struct one {
        int launch = 0;
        event begin, end;
    };
    cudaStream_t stream_;
    std::deque<one> all_;
};

} // namespace sinter::gpu
