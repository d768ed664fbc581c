// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sinter/base/cold.hpp>
#include <sinter/base/span.hpp>
#include <string_view>
#include <vector>

/// Collective operations: what the members of a job compute together from what each of them has.
namespace sinter::inline SINTER_ORDINARY::collective {

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
/// Names a message between two members that was started.
using message = std::int64_t;
/// Seconds that a message may take where nothing else is given.
inline constexpr double message_within = 300;

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
    /// communicator until wait() has returned; after an error its contents are undefined.
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
    void set_steps_done(std::int64_t steps) { steps_done_ = steps; }
    std::int64_t steps_done() const { return steps_done_; }
    virtual void ask_all_to_stop(const char* reason) { (void)reason; }
    virtual bool asked_to_stop() const { return false; }

    /// Which of n elements are member r's in reduce_scatter and all_gather.
    part_range part(std::int64_t n, int r) const { return part_of(n, r, size()); }

    // ---- Messages between two members. They do not count among the operations of all: they may be sent and awaited
    // while operations are queued or carried out, in any order, by any thread. A message is matched by the two members
    // and its tag; of several with the same ones the first that was sent goes to the first that is awaited.

    /// Starts to send bytes to a member, which may be this one. They must stay until wait_message() has returned: then
    /// they have been copied or are on their way, whether the other member awaits them yet or not.
    virtual message start_send(int to, std::int64_t tag, span<const std::byte>) {
        (void)to, (void)tag;
        no("messages between two members");
    }
    /// Starts to await a message of exactly so many bytes. After an error its contents are undefined.
    virtual message start_recv(int from, std::int64_t tag, span<std::byte>) {
        (void)from, (void)tag;
        no("messages between two members");
    }
    /// Returns when this message is there or on its way; each may be waited for once. Throws cluster_error, on every
    /// member: the first thing that went wrong, which may be that the message has not come within so many seconds
    /// (infinity: as long as both members live), or that it has another size.
    virtual void wait_message(message, double within) {
        (void)within;
        no("messages between two members");
    }
    void send(int to, std::int64_t tag, span<const std::byte> x, double within = message_within) {
        wait_message(start_send(to, tag, x), within);
    }
    void recv(int from, std::int64_t tag, span<std::byte> x, double within = message_within) {
        wait_message(start_recv(from, tag, x), within);
    }

    /// A communicator over the members that give the same color, in the order of their keys, and of their ranks here
    /// where keys are equal. All members call it, as one of their operations; who gives a negative color is in no group
    /// and gets null. A group's operations and messages are apart from those of others. Its failures are failures of
    /// all members here, and the reverse; errors name ranks of the whole job. It may outlive this communicator.
    virtual std::unique_ptr<communicator> split(int color, int key) {
        (void)color, (void)key;
        no("groups of some members");
    }

    // What follows waits for its result.
    void all_reduce(span<float> x, reduction how = reduction::sum) { reduce_now(x, element::f32, how); }
    void all_reduce(span<double> x, reduction how = reduction::sum) { reduce_now(x, element::f64, how); }
    void all_reduce(span<std::int32_t> x, reduction how = reduction::sum) { reduce_now(x, element::i32, how); }
    void all_reduce(span<std::int64_t> x, reduction how = reduction::sum) { reduce_now(x, element::i64, how); }
    void broadcast(span<std::byte> x, int root = 0) {
        now({.what = kind::broadcast, .type = element::u8, .step = steps_done_, .bucket = outside_of_steps,
             .root = root},
            x.data(), static_cast<std::int64_t>(x.size()));
    }
    void barrier() { now({.what = kind::barrier, .step = steps_done_, .bucket = outside_of_steps}, nullptr, 0); }
    void barrier(std::int64_t step) { now({.what = kind::barrier, .step = step}, nullptr, 0); }   ///< within a step
    /// What each member has, in rank order: as many bytes as it likes.
    SINTER_APART std::vector<std::vector<std::byte>> all_gather(span<const std::byte> mine);

private:
    [[noreturn]] SINTER_COLD SINTER_APART static void no(const char* what);
    void now(const operation& o, void* data, std::int64_t n) { wait(start(o, data, n, false)); }
    template <class T>
    void reduce_now(span<T> x, element type, reduction how) {
        now({.what = kind::all_reduce, .type = type, .how = how, .step = steps_done_, .bucket = outside_of_steps},
            x.data(), static_cast<std::int64_t>(x.size()));
    }
    std::int64_t steps_done_ = 0;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective

#if SINTER_BODIES
#include <cstring>
#include <sinter/base/error.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {
SINTER_APART std::vector<std::vector<std::byte>> communicator::all_gather(span<const std::byte> mine) {
    std::int64_t most[1] = {static_cast<std::int64_t>(mine.size())};
    all_reduce(span<std::int64_t>(most, 1), reduction::max);
    const std::size_t slot = sizeof(row_slot) + (static_cast<std::size_t>(most[0]) + 7) / 8 * 8;
    const auto members = static_cast<std::size_t>(size()), own = static_cast<std::size_t>(rank());
    std::vector<std::byte> slots(slot * members);
    const row_slot head{static_cast<std::int64_t>(mine.size())};
    std::memcpy(slots.data() + own * slot, &head, sizeof head);
    if (!mine.empty()) std::memcpy(slots.data() + own * slot + sizeof head, mine.data(), mine.size());
    now({.what = kind::all_gather_rows, .type = element::u8, .step = steps_done_, .bucket = outside_of_steps},
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

[[noreturn]] SINTER_COLD SINTER_APART void communicator::no(const char* what) {
    throw device_error("this communicator has none of them", what);
}
} // namespace sinter::inline SINTER_ORDINARY::collective
#endif
