// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/status.hpp>
#include <cstdint>
#include <deque>

/// CUDA graphs of a program's steps: what a step queues is recorded once, then queued again by one
/// call.
namespace sinter::inline SINTER_TARGET::gpu {

/// Steps of equal keys queue the same work.
struct step_key {
    int batch = 0;                  ///< examples
    int first = 0, end = 0;         ///< launches: a step may be run in two halves
    std::uint64_t fires = 0;        ///< which launches that run in some steps only run in this one
    std::uint64_t ports = 0;        ///< which inputs and targets are copied
    bool marked = false;            ///< events are recorded behind launches
    std::int64_t generation = 0;    ///< of the libraries' workspaces: memory that was there when the graph was made
    bool operator==(const step_key&) const = default;
};

class step_graphs {
public:
    /// Queues `work()` on the stream: by itself when its key is new (libraries choose algorithms
    /// and take memory then), from the second time on as a graph. A stream that refuses to be
    /// recorded is never asked again.
    template <class Work>
    void run(cudaStream_t stream, const step_key& key, Work&& work) {
        kept* const k = find(key);
        if (!k) return work();
        if (!k->graph.get() && !record(stream, *k, work)) return work();
        check(cudaGraphLaunch(k->graph.get(), stream), "cudaGraphLaunch");
    }
    void clear() { kept_.clear(); }   ///< the addresses that work uses have changed

private:
    static constexpr std::size_t most = 8;   ///< sizes of batches, mainly; others are queued launch by launch
    struct kept {
        step_key key;
        owned<cudaGraphExec_t, &cudaGraphExecDestroy> graph;
    };
    std::deque<kept> kept_;
    bool refused_ = false;

    /// Null the first time.
    kept* find(const step_key& key) {
        if (refused_) return nullptr;
        for (kept& k : kept_)
            if (k.key == key) return &k;
        if (kept_.size() == most) kept_.pop_front();
        kept_.emplace_back().key = key;
        return nullptr;
    }
    template <class Work>
    bool record(cudaStream_t stream, kept& to, Work& work) {
        owned<cudaGraph_t, &cudaGraphDestroy> made;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        bool fine = true;
        try {
            work();
        } catch (const device_error&) {   // a fault that is not the recording's own comes again without it
            fine = false;
        }
        fine = cudaStreamEndCapture(stream, made.place()) == cudaSuccess && fine;
        fine = fine && cudaGraphInstantiate(to.graph.place(), made.get(), 0) == cudaSuccess;
        if (!fine) {
            (void)cudaGetLastError();
            refused_ = true;
            kept_.clear();
        }
        return fine;
    }
};

} // namespace sinter::gpu
