// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cuda/current_device.hpp>
#include <sinter/device/cuda/launch_times.hpp>
#include <sinter/device/cuda/mark_recorder.hpp>
#include <sinter/device/cuda/step_graphs.hpp>
#include <sinter/device/cuda/stream_engine.hpp>
#include <sinter/device/cuda/gpu_program.hpp>
#include <sinter/device/cuda/peers.hpp>
#include <sinter/device/cuda/stream_event.hpp>
#include <sinter/device/device.hpp>
#include <sinter/device/joined_lists.hpp>
#include <sinter/compiler/target.hpp>
#include <cstring>
#include <memory>

/// A GPU as a device: what programs are planned for, and how they run. Compile with nvcc (.cu).
namespace sinter::inline SINTER_TARGET {

/// A CUDA stream with the libraries' handles, made for one GPU of those that CUDA_VISIBLE_DEVICES
/// leaves visible.
class cuda_context {
public:
    /// `number`: which GPU; -1 is the calling thread's current one. `precision`: of the libraries'
    /// products.
    explicit cuda_context(int number = -1, gpu::product_precision precision = gpu::product_precision::float32) {
        int n = 0;
        if (const cudaError_t s = cudaGetDeviceCount(&n); s != cudaSuccess || n < 1)
            throw device_error("no CUDA device", "cudaGetDeviceCount",
                               s == cudaSuccess ? "0 devices" : cudaGetErrorString(s), "a GPU and its driver");
        if (number >= n || number < -1)
            throw option_error("number of the GPU", "cuda_device", std::to_string(number),
                               "0 to " + std::to_string(n - 1));
        number_ = number < 0 ? gpu::current_device_number() : number;
        const gpu::current_device here(number_);
        gpu::check(cudaStreamCreateWithFlags(stream_.place(), cudaStreamNonBlocking), "cudaStreamCreate");
        gpu::check(cudaStreamCreateWithFlags(side_.place(), cudaStreamNonBlocking), "cudaStreamCreate");
        gpu::check(cudaEventCreateWithFlags(side_done_.place(), cudaEventDisableTiming), "cudaEventCreate");
        few_ = pinned_buffer(few_bytes);
        engine_ = std::make_unique<gpu::stream_engine>(stream_.get(), precision);
    }
    int number() const { return number_; }   ///< the GPU's
    cudaStream_t stream() const { return stream_.get(); }
    /// A second stream: what is copied, or added up, while a step's kernels run.
    cudaStream_t side() const { return side_.get(); }
    /// What is queued on `stream` from now on waits for what is on the second stream now.
    void follow_side(cudaStream_t stream) const {
        gpu::check(cudaEventRecord(side_done_.get(), side_.get()), "cudaEventRecord");
        gpu::check(cudaStreamWaitEvent(stream, side_done_.get(), 0), "cudaStreamWaitEvent");
    }
    gpu::stream_engine& engine() const { return *engine_; }
    void wait() const { gpu::check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize"); }
    /// Copies to the host by way of `stream`, and waits: faults of the kernels before come to light
    /// here. A few numbers, a loss perhaps, go through pinned memory, which the device writes to by
    /// itself.
    void read(const float* from, float* to, std::int64_t floats, cudaStream_t stream) const {
        const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
        void* const by = bytes <= few_bytes ? few_.data() : static_cast<void*>(to);
        gpu::check(cudaMemcpyAsync(by, from, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync from the device");
        gpu::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        if (by != to) std::memcpy(to, by, bytes);
    }
    bool records() const { return records_; }   ///< steps as CUDA graphs

private:
    int number_ = 0;
    bool records_ = gpu::environment("SINTER_CUDA_GRAPHS", true) && !gpu::environment("SINTER_CUDA_SYNC", false);
    gpu::owned<cudaStream_t, &cudaStreamDestroy> stream_, side_;
    gpu::owned<cudaEvent_t, &cudaEventDestroy> side_done_;
    static constexpr std::size_t few_bytes = 256;
    pinned_buffer few_;
    std::unique_ptr<gpu::stream_engine> engine_;
};

/// Runs a compiled program P on a GPU. The first bind takes the memory of the batch; a step
/// allocates nothing once its batch size has been seen twice: the first step chooses algorithms,
/// the second records the CUDA graph that all later ones are. With SINTER_CUDA_GRAPHS=0 in the
/// environment each launch is queued by itself.
template <class P>
class cuda_runner {
    using program_type = gpu_program<gpu::stream_engine, P>;
    static constexpr int ports = program_type::ports;
    static constexpr std::int64_t state_floats = (sizeof(gpu::step_state) + 255) / 256 * 64;

public:
    static constexpr std::int64_t scratch_floats() { return program_type::scratch_floats(); }

    void bind(const cuda_memory& m) {
        if (!batch_.size()) take_batch_memory();
        program_.bind(m, at_, tables_);
        graphs_.clear();
    }
    /// Takes memory for lists that come from elsewhere: runtime::joined_lists.
    void reserve_list(int number, int rows, int width) {
        if (lists_.reserve(number, rows, width)) graphs_.clear();
    }
    /// Updates read these lists, which are in the host's memory, from now on.
    void place_lists(cuda_context& on, const row_list* lists) {
        on.wait();   // the last copies out of the staging buffer are done
        const auto most = static_cast<std::size_t>(lists_.floats()) * sizeof(float);
        if (list_staging_.size() < most) list_staging_ = pinned_buffer(most);   // for all lists at once
        std::int64_t at = 0;
        lists_.assign(lists, [&](void* to, const void* from, std::int64_t words) {
            const auto bytes = static_cast<std::size_t>(words) * sizeof(float);
            char* const staged = list_staging_.data() + at;
            std::memcpy(staged, from, bytes);
            gpu::check(cudaMemcpyAsync(to, staged, bytes, cudaMemcpyHostToDevice, on.stream()),
                       "cudaMemcpyAsync of a list of rows");
            at += static_cast<std::int64_t>(bytes);
        });
        program_.place_lists(lists_.lists());
    }
    /// As run(); the second stream can wait for each mark, by follow().
    void run_marked(cuda_context& on, const runtime::step_arguments& s, const runtime::launch_marks& marks) {
        gpu::mark_recorder recorder(on.stream(), marks, marks_);
        run(on, s, recorder);
    }
    void follow(cuda_context& on, int mark) const {
        gpu::check(cudaStreamWaitEvent(on.side(), marks_[static_cast<std::size_t>(mark)].get(), 0),
                   "cudaStreamWaitEvent");
    }
    template <class Observer>
    void run(cuda_context& on, const runtime::step_arguments& s, Observer& observe) {
        constexpr bool marked = std::is_same_v<Observer, gpu::mark_recorder>;
        on.wait();   // the last copy out of the staging buffer is done
        write_state(s);
        gpu::step_key key{.batch = s.batch,
                          .first = s.launches.first,
                          .end = s.launches.end,
                          .fires = program_type::fires(s.step),
                          .marked = marked,
                          .generation = on.engine().generation()};
        const auto given = [&](int i) {
            return s.ports && s.ports[i];
        };   // evaluation without targets: those are not read
        for (int i = 0; i < ports; ++i)
            if (given(i)) stage(i, s.ports[i], s.batch), key.ports |= std::uint64_t{1} << i;
        const auto queue = [&](auto& watch) {
            if constexpr (marked) watch.begin();
            upload(s, key.ports, on.stream());
            program_.run(on.engine(), reinterpret_cast<const gpu::step_state*>(batch_.data()), s.step, s.batch, watch,
                         s.launches);
            if constexpr (marked) watch.end();
        };
        if constexpr (requires { observe.took(0, 0.); }) {
            gpu::launch_times times(on.stream());
            queue(times);
            times.tell(observe);
        } else if (!(marked || std::is_same_v<Observer, runtime::unobserved>) || !on.records()) {
            queue(observe);
        } else {
            graphs_.run(on.stream(), key, [&] { queue(observe); });
        }
    }

private:
    static_assert(ports <= 64, "a program on a GPU has at most 64 inputs and targets");
    program_type program_;
    gpu::step_graphs graphs_;
    std::vector<gpu::mark_recorder::event> marks_;
    cuda_arena batch_;        ///< the step's state, then the ports
    pinned_buffer staging_;   ///< the same on the host
    float* at_[ports + 1] = {};
    float* tables_ = nullptr;
    runtime::joined_lists<cuda_arena> lists_;
    pinned_buffer list_staging_;

    void take_batch_memory() {
        std::int64_t n = state_floats;
        for (int i = 0; i < ports; ++i) n += base::round_up(program_type::port_floats(i), 64);
        batch_ = cuda_arena(n + runtime::program_tables<P>::floats);
        staging_ = pinned_buffer(batch_.bytes());
        n = state_floats;
        for (int i = 0; i < ports; ++i) {
            at_[i] = batch_.data() + n;
            n += base::round_up(program_type::port_floats(i), 64);
        }
        tables_ = batch_.data() + n;
        if constexpr (runtime::program_tables<P>::floats > 0) {
            float* const staged = reinterpret_cast<float*>(staging_.data()) + n;
            runtime::program_tables<P>::fill(staged);
            constexpr auto bytes = static_cast<std::size_t>(runtime::program_tables<P>::floats) * sizeof(float);
            gpu::check(cudaMemcpy(tables_, staged, bytes, cudaMemcpyHostToDevice), "cudaMemcpy of tables");
        }
    }
    void write_state(const runtime::step_arguments& s) {
        const gpu::step_state now = program_type::state_of(s);
        std::memcpy(staging_.data(), &now, sizeof now);
    }
    static std::size_t bytes_of(int i, int batch) {
        return static_cast<std::size_t>(program_type::port_floats(i, batch)) * sizeof(float);
    }
    std::size_t place_of(int i) const { return static_cast<std::size_t>(at_[i] - batch_.data()) * sizeof(float); }
    void stage(int i, const float* from, int batch) {
        std::memcpy(staging_.data() + place_of(i), from, bytes_of(i, batch));
    }
    /// The step's state, and the ports of these bits: together, unless what lies between them is as
    /// long again.
    void upload(const runtime::step_arguments& s, std::uint64_t given, cudaStream_t stream) {
        std::size_t wanted = sizeof(gpu::step_state), end = wanted;
        for (int i = 0; i < ports; ++i)
            if (given >> i & 1) wanted += bytes_of(i, s.batch), end = place_of(i) + bytes_of(i, s.batch);
        if (end <= 2 * wanted || end <= std::size_t{1} << 14) return copy(0, end, stream);
        copy(0, sizeof(gpu::step_state), stream);
        for (int i = 0; i < ports; ++i)
            if (given >> i & 1) copy(place_of(i), bytes_of(i, s.batch), stream);
    }
    void copy(std::size_t place, std::size_t bytes, cudaStream_t stream) {
        gpu::check(cudaMemcpyAsync(reinterpret_cast<char*>(batch_.data()) + place, staging_.data() + place, bytes,
                                   cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync to the device");
    }
};

/// One GPU. Throws device_error where there is none.
class cuda_device {
public:
    /// Weights lie plain, as the libraries want them, and pools are kernels of their own. Parts are
    /// chosen at run time.
    static constexpr sinter::compiler::target target{.lanes = 1, .parts = 1, .pooled_convolutions = false,
                                           .transposed_products = true, .row_lists = true};
    static constexpr int panel_width = 1;
    static constexpr bool shares_memory = false;
    using memory = cuda_memory;
    using staging = pinned_arena;
    template <class P>
    using runner = cuda_runner<P>;

    struct options {
        int number = -1;   ///< of the GPU; -1: the calling thread's current one (cudaSetDevice)
        /// Of dense, recurrent and convolutional layers and other matrix products, forward and
        /// backward.
        gpu::product_precision products = gpu::product_precision::float32;
    };
    using event = gpu::stream_event;

    explicit cuda_device(options o = {-1, gpu::product_precision::float32}) : context_(o.number, o.products) {}

    int threads() const { return 1; }
    /// While what this returns lives, the calling thread's current GPU is this one: memory taken
    /// then lies on it.
    gpu::current_device enter() const { return gpu::current_device(context_.number()); }
    template <class P, class Observer = runtime::unobserved>
    void run(runner<P>& r, const runtime::step_arguments& s, Observer observe = {}) {
        const auto here = enter();
        r.run(context_, s, observe);
    }
    template <class P>
    void reserve_list(runner<P>& r, int number, int rows, int width) const {
        const auto here = enter();
        r.reserve_list(number, rows, width);
    }
    template <class P>
    void place_lists(runner<P>& r, const row_list* lists) {
        const auto here = enter();
        r.place_lists(context_, lists);
    }
    void read(const cuda_memory& m, compiler::address from, float* to, std::int64_t floats) const {
        const auto here = enter();
        context_.read(m.at(from), to, floats, context_.stream());
    }
    void write(cuda_memory& m, compiler::address to, const float* from, std::int64_t floats) const {
        const auto here = enter();
        gpu::check(cudaMemcpyAsync(m.at(to), from, static_cast<std::size_t>(floats) * sizeof(float),
                                   cudaMemcpyHostToDevice, context_.stream()),
                   "cudaMemcpyAsync to the device");
        context_.wait();
    }
    /// In this device's memory.
    float* in_device(const cuda_memory& m, compiler::address a) const { return m.at(a); }
    const float* host_view(const cuda_memory& m, compiler::address from, float* workspace, std::int64_t floats) const {
        read(m, from, workspace, floats);
        return workspace;
    }
    /// Between GPUs directly where the machine can, else by way of the host, as CUDA does it.
    void add_from(cuda_memory& to, compiler::address a, const cuda_device& other, const cuda_memory& from,
                  std::int64_t floats) {
        const auto here = enter();
        peers_.add(to.at(a), number(), from.at(a), other.number(), floats, context_.stream());
        context_.wait();
    }
    void copy_from(cuda_memory& to, compiler::address a, const cuda_device& other, const cuda_memory& from,
                   std::int64_t floats) {
        const auto here = enter();
        peers_.copy(to.at(a), number(), from.at(a), other.number(), floats, context_.stream());
        context_.wait();
    }
    template <class P>
    void run_marked(runner<P>& r, const runtime::step_arguments& s, const runtime::launch_marks& marks) {
        const auto here = enter();
        r.run_marked(context_, s, marks);
    }
    template <class P>
    void follow(const runner<P>& r, int mark) {
        const auto here = enter();
        r.follow(context_, mark);
    }
    void read_aside(const cuda_memory& m, compiler::address from, float* to, std::int64_t floats) const {
        const auto here = enter();
        context_.read(m.at(from), to, floats, context_.side());
    }
    void add_aside(cuda_memory& to, compiler::address a, const cuda_device& other, const cuda_memory& from,
                   std::int64_t floats) {
        {
            const auto there = other.enter();
            other.context_.follow_side(context_.side());
        }
        const auto here = enter();
        peers_.add(to.at(a), number(), from.at(a), other.number(), floats, context_.side());
    }
    void wait_aside() const {
        const auto here = enter();
        gpu::check(cudaStreamSynchronize(context_.side()), "cudaStreamSynchronize");
    }
    int number() const { return context_.number(); }   ///< of the GPU
    event record() const {
        const auto here = enter();
        return event(context_.stream());
    }
    void wait() const {
        const auto here = enter();
        context_.wait();
    }

private:
    cuda_context context_;
    gpu::peer_copies peers_;
};
static_assert(compute_device<cuda_device>);
/// As strategies are written: single<cuda>{}.
using cuda = cuda_device;

} // namespace sinter
