// SPDX-License-Identifier: BSL-1.0
// optimise: sanitized
// processors: 2
// also: parts64
// alone: its operator new
#define BOOST_TEST_MODULE bitwise
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <sinter/data/source/drawn_digits.hpp>
#include <sinter/sinter.hpp>
#include <atomic>
#include <bit>
#include <cstdlib>

// The number of threads, and a break between two steps, change no bit of the weights; a step allocates nothing.
using namespace sinter;

static std::atomic<long> allocations{0};
[[gnu::noinline]] static void* counted_or_null(std::size_t bytes, std::size_t alignment) noexcept {
    ++allocations;
    bytes = (bytes + alignment - 1) / alignment * alignment;   // what aligned_alloc asks for
    return std::aligned_alloc(alignment, bytes ? bytes : alignment);
}
[[gnu::noinline]] static void* counted(std::size_t bytes, std::size_t alignment) {
    if (void* p = counted_or_null(bytes, alignment)) return p;
    throw std::bad_alloc();
}
// Not inlined: g++ would otherwise see free() meet a `new` that it takes for the library's, and warn.
[[gnu::noinline]] static void release(void* p) { std::free(p); }
void* operator new(std::size_t n) { return counted(n, alignof(std::max_align_t)); }
void* operator new[](std::size_t n) { return counted(n, alignof(std::max_align_t)); }
void* operator new(std::size_t n, std::align_val_t a) { return counted(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return counted(n, static_cast<std::size_t>(a)); }
// A sanitizer's own forms would not call these.
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    return counted_or_null(n, alignof(std::max_align_t));
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
    return counted_or_null(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

constexpr auto net = image<28, 28, 1>
    >> conv2d<8, 3> >> batch_norm >> relu >> max_pool<2>
    >> conv2d<12, 3> >> relu >> max_pool<2>
    >> flatten >> dense<24> >> relu >> dropout<0.3f> >> dense<10>;
using small_net = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, 32>;

// Weights, gradients, two moments and activations of 32 images: known while compiling.
static_assert(small_net::bytes() > 4 * 3 * (8 * 9 + 12 * 72 + 24 * 588 + 240));
static_assert(small_net::bytes() < 8'000'000);

static data::pipeline digits() {   // 100 is no multiple of 32: each pass ends with a short batch
    return data::source(data::drawn_digits(100, 3)) | data::shuffle(100, 5) | data::batch(32);
}
static void train(small_net& t, data::pipeline& p, std::int64_t until) {
    while (t.steps() < until)
        if (const data::batch_view* b = p.next()) t.step(*b);
}

using bits = std::vector<std::uint32_t>;
static void append(bits& all, const std::vector<float>& x) {
    for (float v : x) all.push_back(std::bit_cast<std::uint32_t>(v));
}
/// Everything that training changes, bit by bit.
static bits everything(const small_net& t) {
    bits all;
    for (int i = 0; i < t.parameters(); ++i) append(all, t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) append(all, t.plain(t.state(i)));
    for (int s = 0; s < adam::slots; ++s)
        for (int i = 0; i < t.parameters(); ++i) append(all, t.plain_slot(t.parameter(i), s));
    return all;
}
static bits trained(int threads, std::int64_t steps, std::uint64_t seed = 1) {
    small_net t(adam{}, {.threads = threads, .seed = seed});
    auto p = digits();
    train(t, p, steps);
    BOOST_TEST(t.threads() == threads);   // or one number of threads would be compared with itself
    return everything(t);
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_nothing) {
    const bits one = trained(1, 100);
    BOOST_TEST((trained(2, 100) == one));
    BOOST_TEST((trained(3, 100) == one));
    BOOST_TEST((trained(1, 100, 2) != one));   // or the comparison above would prove nothing
}

BOOST_AUTO_TEST_CASE(nor_do_more_threads_than_cores) {
    const bits one = trained(1, 12);
    BOOST_TEST((trained(7, 12) == one));
    BOOST_TEST((trained(SINTER_PARTS, 12) == one));
    small_net t(adam{}, {.threads = 1000});
    BOOST_TEST(t.threads() == SINTER_PARTS);   // more would find no work
}

BOOST_AUTO_TEST_CASE(training_goes_on_from_a_file_as_if_it_had_not_stopped) {
    const temporary_folder folder;
    const std::string file = folder / "half.safetensors";
    data::position where;
    {
        small_net t(adam{}, {.threads = 1});
        auto p = digits();
        train(t, p, 10);
        save(t, file);
        where = p.position();
    }
    small_net t(adam{}, {.threads = 2});
    load(t, file);
    BOOST_TEST(t.steps() == 10);
    auto p = digits();
    p.seek(where);
    train(t, p, 20);
    BOOST_TEST((everything(t) == trained(1, 20)));
}

BOOST_AUTO_TEST_CASE(reset_starts_anew) {
    small_net t(adam{}, {.threads = 1});
    auto p = digits();
    train(t, p, 5);
    t.reset();
    p.rewind();
    train(t, p, 20);
    BOOST_TEST((everything(t) == trained(1, 20)));
}

BOOST_AUTO_TEST_CASE(evaluation_between_steps_changes_nothing) {
    small_net t(adam{}, {.threads = 1});
    auto p = digits(), other = digits();
    while (t.steps() < 20)
        if (const data::batch_view* b = p.next()) {
            t.step(*b);
            t.evaluate(*b);
            if (const data::batch_view* o = other.next()) t.predict(*o);
        }
    BOOST_TEST((everything(t) == trained(1, 20)));
}

BOOST_AUTO_TEST_CASE(a_step_allocates_nothing) {
    for (int threads : {1, 2}) {
        small_net t(adam{}, {.threads = threads});
        auto p = digits();
        const data::batch_view* b = p.next();
        // Read before anything is checked: Boost.Test itself allocates.
        const long before = allocations;
        for (int i = 0; i < 5; ++i) t.step(*b);
        const long after = allocations;
        BOOST_TEST(after == before, after - before << " allocations in five steps of " << threads << " threads");
        float sum = 0;
        const long unread = allocations;
        for (float y : t.output()) sum += y;
        const long read = allocations;
        BOOST_TEST(read == unread);
        BOOST_TEST(sum == sum);
    }
    const long before = allocations;
    static int* volatile kept;   // else the compiler may leave out the pair
    kept = new int;
    delete kept;
    const long after = allocations;
    BOOST_TEST(after == before + 1);   // the counter does count
}
