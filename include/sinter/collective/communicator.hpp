// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <string_view>
#include <vector>

/// Collective operations: what the members of a job compute together from what each of them has.
namespace sinter::inline SINTER_TARGET::collective {

/// The elements of a vector; u8 is only moved, never added.
enum class element : std::uint8_t { f32, f64, i32, i64, u8 };
/// How elements of several members become one. Sums of integers wrap; a maximum or minimum with a
/// NaN is a NaN.
enum class reduction : std::uint8_t { sum, max, min };

/// What an operation does, with members r = 0, 1, ...
enum class kind : std::uint8_t {
    /// Every member gets the sum (or maximum...) of all. Its order is the engine's, and the same
    /// for the same number of members and elements: results are equal on all members, bit by bit.
    all_reduce,
    /// The same as ((x0 + x1) + (x2 + x3)) + ... elementwise, whatever the engine. Where the number
    /// of members is no power of two the last ones have no partner: (x0 + x1) + x2.
    all_reduce_tree,
    /// Member r gets part r of what all_reduce gives; other parts are left with anything.
    reduce_scatter,
    /// Member r gets part r of what all_reduce_tree gives.
    reduce_scatter_tree,
    /// Every member has part r from member r.
    all_gather,
    /// Every member has what the root has.
    broadcast,
    /// Lists of bytes whose lengths differ: see row_slot.
    all_gather_rows,
    /// Nobody returns before all have come. No data.
    barrier,
    /// Member r, who has part r, also gets part r - 1 from the member before it, the first one from
    /// the last.
    shift,
};

/// What all_gather_rows reads and writes: `data` are size() slots of n bytes each, n a multiple of
/// 8. A slot begins with this; member r fills slot r, and has all slots afterwards. Only what is
/// used is sent.
struct row_slot {
    std::int64_t bytes = 0;   ///< that follow: at most n - 8
};

/// The bucket of what is done outside of steps.
inline constexpr int outside_of_steps = -2;
/// What is asked of a communicator; all members ask for the same, in the same order.
struct operation {
    kind what = kind::barrier;
    element type = element::f32;
    reduction how = reduction::sum;
    std::int64_t step = 0;   ///< for errors, and compared: members do the same in the same step
    int bucket = -1;         ///< likewise; outside_of_steps: `step` is how many were made before, and for errors alone
    int root = 0;            ///< of a broadcast
    /// What of the step members compare.
    constexpr std::int64_t compared_step() const { return bucket == outside_of_steps ? 0 : step; }
};

/// Elements [first, end).
struct part_range {
    std::int64_t first = 0, end = 0;
};

/// Part r of n elements in `parts` parts: whole cache lines, but for the last.
constexpr part_range part_of(std::int64_t n, int r, int parts) {
    constexpr std::int64_t line = 16;
    const std::int64_t lines = (n + line - 1) / line;
    const auto at = [&](int p) { return p == parts ? n : lines * p / parts * line; };
    return {at(r), at(r + 1)};
}

/// Names an operation that was started.
using ticket = std::int64_t;

/// The members of a job, as one of them sees them. One communicator for each session: all members
/// start the same operations in the same order. What differs (an operation's kind, type, reduction,
/// step, bucket or number of elements) is an error on all of them, and nothing is computed.
class communicator {
public:
    communicator() = default;
    communicator(const communicator&) = delete;
    communicator& operator=(const communicator&) = delete;
    /// What has been started and not waited for is given up: the other members get an error.
    virtual ~communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    /// Starts an operation on n elements at `data`, in place. The memory belongs to the
    /// communicator until wait() has returned; after an error nothing can be said of its contents.
    /// `more`: the caller goes on computing meanwhile, and another thread carries the operation
    /// out; otherwise the caller's wait() does.
    virtual ticket start(const operation&, void* data, std::int64_t n, bool more) = 0;
    /// Whether `data` may also be memory of this member's GPU.
    virtual bool reads_device_memory() const { return false; }
    /// Returns when the operation and all before it are done. Throws cluster_error: the first thing
    /// that went wrong, on every member.
    virtual void wait(ticket) = 0;
    /// Throws what went wrong, if anything did.
    virtual void check() = 0;
    /// Notifies the others that this member cannot go on, and why: their next wait throws it.
    virtual void fail(std::string_view cause) noexcept = 0;
    /// This member is at work: `what`, in this step. Known to the watchdog, if there is one.
    virtual void progress(std::int64_t step, const char* what) { (void)step, (void)what; }
    /// Step `step` is over, with this loss (NaN: not known): for who has started the job to show.
    virtual void report(std::int64_t step, double loss) { (void)step, (void)loss; }
    /// So many steps have been made: for errors of what is done outside of steps.
    void behind_step(std::int64_t steps) { behind_ = steps; }
    std::int64_t behind() const { return behind_; }
    virtual void ask_all_to_stop(const char* reason) { (void)reason; }
    virtual bool asked_to_stop() const { return false; }

    /// Which of n elements are member r's in reduce_scatter and all_gather.
    part_range part(std::int64_t n, int r) const { return part_of(n, r, size()); }

    // What follows waits for its result.
    void all_reduce(span<float> x, reduction how = reduction::sum) { reduce_now(x, element::f32, how); }
    void all_reduce(span<double> x, reduction how = reduction::sum) { reduce_now(x, element::f64, how); }
    void all_reduce(span<std::int32_t> x, reduction how = reduction::sum) { reduce_now(x, element::i32, how); }
    void all_reduce(span<std::int64_t> x, reduction how = reduction::sum) { reduce_now(x, element::i64, how); }
    void broadcast(span<std::byte> x, int root = 0) {
        now({.what = kind::broadcast, .type = element::u8, .step = behind_, .bucket = outside_of_steps, .root = root},
            x.data(), static_cast<std::int64_t>(x.size()));
    }
    void barrier() { now({.what = kind::barrier, .step = behind_, .bucket = outside_of_steps}, nullptr, 0); }
    void barrier(std::int64_t step) { now({.what = kind::barrier, .step = step}, nullptr, 0); }   ///< within a step
    /// What each member has, in rank order: as many bytes as it likes.
    std::vector<std::vector<std::byte>> all_gather(span<const std::byte> mine) {
        std::int64_t most[1] = {static_cast<std::int64_t>(mine.size())};
        all_reduce(span<std::int64_t>(most, 1), reduction::max);
        const std::size_t slot = sizeof(row_slot) + (static_cast<std::size_t>(most[0]) + 7) / 8 * 8;
        const auto members = static_cast<std::size_t>(size()), own = static_cast<std::size_t>(rank());
        std::vector<std::byte> slots(slot * members);
        const row_slot head{static_cast<std::int64_t>(mine.size())};
        std::memcpy(slots.data() + own * slot, &head, sizeof head);
        if (!mine.empty()) std::memcpy(slots.data() + own * slot + sizeof head, mine.data(), mine.size());
        now({.what = kind::all_gather_rows, .type = element::u8, .step = behind_, .bucket = outside_of_steps},
            slots.data(), static_cast<std::int64_t>(slot));
        std::vector<std::vector<std::byte>> all(members);
        for (std::size_t r = 0; r < members; ++r) {
            row_slot has;
            const std::byte* const at = slots.data() + r * slot;
            std::memcpy(&has, at, sizeof has);
            all[r].assign(at + sizeof has, at + sizeof has + has.bytes);
        }
        return all;
    }

private:
    void now(const operation& o, void* data, std::int64_t n) { wait(start(o, data, n, false)); }
    template <class T>
    void reduce_now(span<T> x, element type, reduction how) {
        now({.what = kind::all_reduce, .type = type, .how = how, .step = behind_, .bucket = outside_of_steps}, x.data(),
            static_cast<std::int64_t>(x.size()));
    }
    std::int64_t behind_ = 0;
};

}   // namespace sinter::inline SINTER_TARGET::collective
