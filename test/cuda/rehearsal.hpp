// SPDX-License-Identifier: BSL-1.0
// A device without a GPU: programs planned for CUDA, whose kernels' threads the host runs one after the other, products
// and convolutions too by the element. What it cannot show is the libraries' part and the launches themselves.
#pragma once
#include <sinter/device/cuda/gpu_program.hpp>
#include <sinter/device/device.hpp>
#include <sinter/device/joined_lists.hpp>
#include <sinter/kernel/cuda/partial_sums.hpp>
#include <functional>
#include <vector>

namespace sinter::test {
using namespace compiler;
using namespace runtime;

struct rehearsal_engine {
    static constexpr bool multiplies = false;
    int element_kernels = 0, row_kernels = 0, block_kernels = 0;

    template <int S, std::uint64_t... W>
    void elements(const gpu::source_call& s, const typename gpu::body<W...>::call& c) {
        using walk = gpu::element_walk<S, W...>;
        for (std::int64_t i = 0; i < walk::threads(c); ++i) walk::thread(i, s, c);
        ++element_kernels;
    }
    template <std::uint64_t... W>
    void rows(const typename gpu::body<W...>::call& c) {
        for (int i = 0; i < c.parts; ++i) gpu::row_walk<W...>::warp(i, c);
        ++row_kernels;
    }
    template <int S>
    void blocks(const gpu::block_call& c) {
        using kernel = gpu::block_kernel_of<S>;
        gpu::attention_workspace workspace;
        for (std::int64_t i = 0; i < kernel::count(c); ++i) {
            // nothing is left from block to block
            std::fill_n(reinterpret_cast<float*>(&workspace), sizeof workspace / sizeof(float), NAN);
            kernel::block(i, c, workspace);
        }
        ++block_kernels;
    }
    template <gpu::chain_step Step>
    void chain(std::int64_t threads, const gpu::chain_call& c) {
        for (std::int64_t i = threads; i-- > 0;) gpu::chain_thread<Step>(i, c);   // in whatever order
    }
    void add_partials(const float* partial, float* to, std::int64_t used, std::int64_t columns, int parts) {
        for (std::int64_t j = 0; j < used; ++j) to[j] = gpu::whole_sum(partial + j, columns, parts);
    }
    bool product(const gpu::product&) { return false; }
    bool can_convolve(const gpu::convolution&) { return false; }
    void convolve(const gpu::convolution&) {}
};

template <class Engine, class P>
class rehearsal_runner {
public:
    using program_type = gpu_program<Engine, P>;
    static constexpr std::int64_t scratch_floats() { return program_type::scratch_floats(); }
    void bind(const model_memory& m) {
        for (int i = 0; i < program_type::ports; ++i) {
            if (port_[i].empty()) port_[i].resize(static_cast<std::size_t>(program_type::port_floats(i)));
            at_[i] = port_[i].data();
        }
        tables_.resize(program_tables<P>::floats + 1);
        program_tables<P>::fill(tables_.data());
        program_.bind(m, at_, tables_.data());
    }
    template <class Observer>
    void run(Engine& e, const step_arguments& s, Observer& observe) {
        const gpu::step_state now = program_type::state_of(s);
        for (int i = 0; s.ports && i < program_type::ports && s.ports[i]; ++i) {
            std::copy_n(s.ports[i], program_type::port_floats(i, s.batch), at_[i]);
        }
        program_.run(e, &now, s.step, s.batch, observe, s.launches);
    }
    void reserve_list(int number, int rows, int width) { lists_.reserve(number, rows, width); }
    void place_lists(const row_list* lists) {
        lists_.assign(lists, [](void* to, const void* from, std::int64_t words) {
            std::memcpy(to, from, static_cast<std::size_t>(words) * 4);
        });
        program_.place_lists(lists_.lists());
    }

private:
    program_type program_;
    joined_lists<arena> lists_;
    std::vector<float> port_[program_type::ports + 1], tables_;
    float* at_[program_type::ports + 1] = {};
};

/// `Engine`: rehearsal_engine, or one made of it that watches.
template <class Engine>
class rehearsal_on {
public:
    static constexpr sinter::compiler::target target{.lanes = 1, .parts = 1, .pooled_convolutions = false,
                                           .transposed_products = true, .row_lists = true};
    static constexpr int panel_width = 1;
    static constexpr bool shares_memory = false;
    using memory = model_memory;
    template <class P>
    using runner = rehearsal_runner<Engine, P>;

    struct options {};
    struct event {
        void wait() const {}
    };

    explicit rehearsal_on(options) {}
    event record() const { return {}; }
    int threads() const { return 1; }
    template <class P, class Observer = unobserved>
    void run(runner<P>& r, const step_arguments& s, Observer observe = {}) {
        r.run(engine_, s, observe);
    }
    template <class P>
    void reserve_list(runner<P>& r, int number, int rows, int width) const { r.reserve_list(number, rows, width); }
    template <class P>
    void place_lists(runner<P>& r, const row_list* lists) { r.place_lists(lists); }
    void read(const model_memory& m, address from, float* to, std::int64_t n) const { std::copy_n(m.at(from), n, to); }
    void write(model_memory& m, address to, const float* from, std::int64_t n) const { std::copy_n(from, n, m.at(to)); }
    const float* host_view(const model_memory& m, address from, float* workspace, std::int64_t n) const {
        read(m, from, workspace, n);
        return workspace;
    }

protected:
    Engine engine_;
};
using rehearsal_device = rehearsal_on<rehearsal_engine>;

/// One that reads the memory of others, as GPUs do.
struct rehearsal_peer : rehearsal_device {
    using rehearsal_device::rehearsal_device;
    void add_from(model_memory& to, address a, const rehearsal_peer&, const model_memory& from, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) to.at(a)[i] += from.at(a)[i];
    }
    float* in_device(const model_memory& m, address a) const { return m.at(a); }
    void copy_from(model_memory& to, address a, const rehearsal_peer&, const model_memory& from, std::int64_t n) {
        std::copy_n(from.at(a), n, to.at(a));
    }
};

/// One that puts off what it is asked to do as long as it can, as a busy GPU may: marked launches
/// run when somebody waits for them, and none behind these. So whoever does not wait reads what is
/// not there yet.
template <class Base>
struct rehearsal_later : Base {
    using Base::Base;
    static inline thread_local int launched = 0;   ///< by this thread's last device: launches that have been run

    template <class P>
    void run_marked(typename Base::template runner<P>& r, const step_arguments& s, const launch_marks& marks) {
        catch_up();
        marks_ = marks;
        next_ = s.launches.first;
        end_ = std::min(s.launches.end, P::v.n_launches);
        work_ = [this, &r, s](int first, int end) {
            step_arguments now = s;
            if (first != s.launches.first) now.ports = nullptr;
            now.launches = {first, end};
            unobserved nobody;
            r.run(this->engine_, now, nobody);
        };
        launched = next_;
    }
    template <class P>
    void follow(const typename Base::template runner<P>&, int mark) {
        for (int i = 0; i < marks_.n; ++i)
            if (marks_.marks[i].number == mark) run_to(marks_.marks[i].launch + 1);
    }
    void read_aside(const model_memory& m, address from, float* to, std::int64_t n) const {
        Base::read(m, from, to, n);
    }
    void wait_aside() const {}
    void add_aside(model_memory& to, address a, const rehearsal_later& other, const model_memory& from,
                   std::int64_t n) {
        if constexpr (adds_from_peers<Base>) Base::add_from(to, a, other, from, n);
    }

    template <class P, class Observer = unobserved>
    void run(typename Base::template runner<P>& r, const step_arguments& s, Observer observe = {}) {
        catch_up();
        Base::template run<P>(r, s, observe);
    }
    void read(const model_memory& m, address from, float* to, std::int64_t n) const {
        catch_up();
        Base::read(m, from, to, n);
    }
    void write(model_memory& m, address to, const float* from, std::int64_t n) const {
        catch_up();
        Base::write(m, to, from, n);
    }
    const float* host_view(const model_memory& m, address from, float* workspace, std::int64_t n) const {
        catch_up();
        return Base::host_view(m, from, workspace, n);
    }

private:
    launch_marks marks_;
    std::function<void(int, int)> work_;
    mutable int next_ = 0, end_ = 0;

    void run_to(int end) const {
        end = std::min(end, end_);
        if (next_ >= end) return;
        work_(next_, end);
        launched = next_ = end;
    }
    void catch_up() const { run_to(end_); }
};
static_assert(marks_launches<rehearsal_later<rehearsal_peer>> && !marks_launches<rehearsal_device>);
static_assert(adds_from_peers<rehearsal_peer> && !adds_from_peers<rehearsal_device>);
static_assert(compute_device<rehearsal_device>);

} // namespace sinter::test
