// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/target.hpp>
#include <sinter/device/model_memory.hpp>
#include <concepts>

namespace sinter::inline SINTER_TARGET {

/// A device: where a model's memory lies, and what runs its programs. cpu_device (device/cpu.hpp)
/// and cuda_device (device/cuda.hpp) are such; a class of yours that has the same is one, too.
/// Strategies are made of devices, and a trainer knows a device only by what is written here.
///
/// Target
///     `target`, a compiler::target: what programs are planned for. `panel_width`, columns of one
///     panel of packed weights (1: they lie plain). Both are constants; devices of equal target
///     share programs.
/// Memory
///     `memory`, a runtime::basic_model_memory of arenas. An arena is a stretch of zeroed floats:
///     default constructed it is empty, made from a number of floats it has so many; `clear()`
///     zeroes it; it moves, and stays where it is when moved.
/// Read, write
///     `read(memory, address, to, floats)` and `write(memory, address, from, floats)` copy between
///     the device and the host, in the form in which variables lie there. They return when the copy
///     is whole.
///     `host(memory, address)`, static, of a device that `shares_memory`: where the floats at an address lie, for the
///     host to read and write.
///     `host_view(memory, address, scratch, floats)`: where the host can read the floats at
///     `address`: in place if `shares_memory`, else copied to `scratch`.
/// Runner
///     `runner<P>` runs one compiled program P. `runner<P>::scratch_floats()` is a constant, the
///     floats of scratch memory that P's kernels take. `bind(memory)` takes note of where the
///     arenas lie, once before the first run.
/// Run
///     `run<P>(runner, runtime::step_arguments)` runs P on a batch: all of it, or the stretch that
///     `launches` names. A step runs in two halves so, gradients and updates, cut at
///     P::v.segments.first_update; the second half may leave `ports` null.
///     `run<P>(runner, step_arguments, observe)` calls `observe(launch, before)` around each
///     launch. A run allocates nothing once its batch's size has been seen twice.
///     Returns bool where the device can end a step of which `needs_finite_loss` before anything is
///     changed: false if it did. Returns void where the loss is known too late for that.
/// Peers (optional: adds_from_peers)
///     `add_from(memory, address, device, memory, floats)` adds the floats at the address in
///     another device's memory to those there in this one's, `copy_from` copies them. They return
///     when that is done. `in_device(memory, address)`: where the floats there lie, for a
///     communicator that reads the device's memory. Where a device lacks them, strategies go through
///     the host.
///     `staging`: memory of the host's that copies are fast from and to, a class as runtime::arena,
///     which it is by default.
/// Marks (optional: marks_launches)
///     `run_marked(runner, step_arguments, launch_marks)` does as run() does but may return before
///     it is done. Beside what it does, a device then copies and adds up, in the order of these
///     calls: `follow(runner, number)`: what is asked for in this way from now on waits for the
///     launch so marked, and for none behind it; `read_aside(memory, address, to, floats)` returns
///     when that is done; `wait_aside()`: until all is. Of a device that adds_from_peers also
///     `add_aside(memory, address, device, memory, floats)`, behind what was asked for of the other
///     device in this way; it may return before that is done.
/// Lists (needed where target::row_lists and not shares_memory)
///     `reserve_list(runner, number, rows, width)` takes memory for a list of rows that comes from
///     elsewhere, the gradient of a table as all replicas together have it;
///     `place_lists(runner, lists)` copies all lists there, from the host's memory, and lets
///     updates read them in place of those that the program has made. All are reserved, or none. A
///     runner whose device shares the host's memory has `place_lists(lists)` and reads them where
///     they are.
/// Events
///     `record()` gives an `event`, whose `wait()` returns when all is done that was asked of the
///     device before. It may be called by an observer: what a launch has written is there after the
///     wait, by whichever thread.
/// Options
///     `options`, which the device is made from; default constructed, they stand for the usual
///     device. Where they have a member `threads`, a model's run-time options give it. `threads()`:
///     host threads that the device works with.
///     `enter()`, if there is one, makes the device the calling thread's current one for the
///     lifetime of its result.
/// Errors
///     Making a device throws device_error where there is none, option_error where its options are
///     impossible. Whatever goes wrong on the device comes out of run, read or event::wait as
///     device_error. Parameters, states and slots then are where they were.
/// Moves
///     A device moves, and so do its runners and memories; what was bound stays bound.
template <class D>
concept compute_device =
    requires {
        sizeof(D);
        typename D::memory;
        typename D::options;
        typename D::event;
    } &&
    std::movable<D> && std::default_initializable<typename D::options> &&
    std::constructible_from<D, typename D::options> && std::movable<typename D::memory> &&
    requires(const D& d, const typename D::memory& from, typename D::memory& to, compiler::address a, float* x,
             const float* y, std::int64_t floats) {
        { D::target } -> std::convertible_to<sinter::compiler::target>;
        { D::panel_width } -> std::convertible_to<int>;
        { D::shares_memory } -> std::convertible_to<bool>;
        { d.threads() } -> std::same_as<int>;
        d.read(from, a, x, floats);
        d.write(to, a, y, floats);
        { d.host_view(from, a, x, floats) } -> std::same_as<const float*>;
        { d.record() } -> std::same_as<typename D::event>;
        d.record().wait();
        to.parameters.clear();
    };

/// A device with memory of its own that reads that of others of its kind.
template <class D>
concept adds_from_peers = compute_device<D> && !D::shares_memory &&
    requires(D& d, typename D::memory& to, const D& other, const typename D::memory& from, compiler::address a,
             std::int64_t floats) {
        d.add_from(to, a, other, from, floats);
        d.copy_from(to, a, other, from, floats);
        { d.in_device(from, a) } -> std::same_as<float*>;
    };

/// A device whose gradients can be sent while it makes others.
template <class D>
concept marks_launches = compute_device<D> && !D::shares_memory &&
    requires(D& d, const typename D::memory& from, compiler::address a, float* x, std::int64_t floats) {
        d.read_aside(from, a, x, floats);
        d.wait_aside();
    };

namespace detail {
template <class D>
struct staging_of {
    using type = runtime::arena;
};
template <class D>
    requires requires { typename D::staging; }
struct staging_of<D> {
    using type = typename D::staging;
};
} // namespace detail

/// A device that can run the compiled program P. (Nothing of P is compiled to find out.)
template <class D, class P>
concept runs_program = compute_device<D> && std::movable<typename D::template runner<P>> &&
    requires(D& d, typename D::template runner<P>& r, const typename D::memory& m, const runtime::step_arguments& s) {
        { D::template runner<P>::scratch_floats() } -> std::same_as<std::int64_t>;
        r.bind(m);
        d.template run<P>(r, s);
    };

/// What device D's options come to where a model is to work with so many of the host's threads (0:
/// the device decides).
template <class D>
typename D::options with_threads(typename D::options o, int threads) {
    if constexpr (requires { o.threads; })
        if (threads) o.threads = threads;
    return o;
}

} // namespace sinter
