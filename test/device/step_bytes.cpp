// SPDX-License-Identifier: BSL-1.0
// alone: its operator new
#define BOOST_TEST_MODULE step_bytes
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <new>
#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/trainer.hpp>

/// What a trainer says that it takes is what it takes: arenas are counted as they are allocated.
namespace {
std::int64_t taken = 0;   // bytes of memory that is aligned like an arena
}
void* operator new(std::size_t n, std::align_val_t to) {
    taken += static_cast<std::int64_t>(n);
    if (void* p = std::aligned_alloc(static_cast<std::size_t>(to), n)) return p;
    throw std::bad_alloc();
}
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

using namespace sinter;
using namespace sinter::base;
using namespace sinter::runtime;

constexpr auto net = image<12, 12, 1> >> conv2d<4, 3> >> relu >> max_pool<2> >> conv2d<6, 3> >> relu >> flatten
    >> dropout<0.25f> >> dense<5>;
using model_type = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, 16>;
using program = model_type::training;

// A user may hold a net to a limit while it compiles.
static_assert(model_type::bytes() < 1'000'000);
static_assert(model_type::bytes() == program::v.bytes() + 4 * cpu_runner<program>::scratch_floats());
static_assert(cpu_runner<program>::scratch_floats() > 0);
// Weights, gradients if stored, and two moments, each at least as large as the plain weights.
static_assert(program::v.bytes() > 4 * 3 * (9 * 4 + 4 + 9 * 4 * 6 + 6 + 216 * 5 + 5) + 4 * 16 * 144);

static const std::vector<float> pixels(16 * 144, 0.5f);
static const std::vector<std::int32_t> classes(16, 1);
static data::batch_view batch() {
    data::batch_view b;
    b.size = 16;
    b.x = pixels.data();
    b.labels = classes.data();
    return b;
}

BOOST_AUTO_TEST_CASE(a_trainer_takes_what_it_says_and_nothing_later) {
    const std::int64_t before = taken;
    model_type t({}, {.threads = 1});
    BOOST_TEST(taken - before == model_type::bytes() + static_cast<std::int64_t>(sizeof(team)));   // its threads' lines
    const std::int64_t made = taken;
    t.step(batch());
    t.evaluate(batch());
    t.predict(batch());
    BOOST_TEST(taken - made == 0);   // they work in the training program's memory
}
BOOST_AUTO_TEST_CASE(programs_that_share_memory_do_not_disturb_each_other) {
    model_type a({}, {.threads = 1}), b({}, {.threads = 1});
    float first = 0, second = 0;
    for (int i = 0; i < 3; ++i) {
        first = a.step(batch());
        const float loss = b.evaluate(batch());
        const float output = b.output()[3];
        BOOST_TEST(b.predict(batch())[3] == output);
        second = b.step(batch());
        BOOST_TEST(first == second);
        BOOST_TEST(b.evaluate(batch()) != loss);   // it has learned meanwhile
    }
}
BOOST_AUTO_TEST_CASE(memory_comes_back_when_a_batch_is_refused) {
    model_type t({}, {.threads = 1});
    data::batch_view bad = batch();
    bad.labels = nullptr;
    BOOST_CHECK_THROW(t.evaluate(bad), data_error);
    model_type other({}, {.threads = 1});
    BOOST_TEST(t.step(batch()) == other.step(batch()));
}
BOOST_AUTO_TEST_CASE(threads_beyond_the_parts_are_not_begun) {
    BOOST_TEST(cpu_device(3).threads() == 3);
    BOOST_TEST(cpu_device(64).threads() == cpu_device::target.parts);
    BOOST_TEST(cpu_device(0).threads() == std::min(usable_cores(), cpu_device::target.parts));
    BOOST_CHECK_THROW(cpu_device(-1), option_error);
    BOOST_CHECK_THROW(cpu_device(2000), option_error);
}
