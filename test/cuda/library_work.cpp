// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>

#include "cuda/rehearsal.hpp"

// What libraries are told of their operands, and what a launch that fails says.
using namespace sinter;
using namespace sinter::compiler;

struct watching_engine : test::rehearsal_engine {
    static inline int aligned = 0, unaligned = 0, false_promises = 0;

    bool product(const gpu::product& p) {
        const gpu::product_key key = gpu::product_key::of(p);
        check(p.a, key.a);
        check(p.b, key.b);
        check(p.c, key.c);
        return false;
    }

private:
    static void check(const float* operand, int promised) {
        const auto address = reinterpret_cast<std::uintptr_t>(operand);
        if (address % static_cast<std::uintptr_t>(promised)) ++false_promises;
        ++(address % 64 ? unaligned : aligned);
    }
};

template <class Engine, class Net>
static void train(Net, int batch) {
    trainer<Net, softmax_cross_entropy_loss, sgd, 5, single<test::rehearsal_on<Engine>>> t(sgd{});
    const std::vector<float> x(5 * 20, 0.5f);
    const std::int32_t labels[5] = {};
    t.step({.x = x.data(), .labels = labels, .size = batch});
}
constexpr auto net = array<5, 4> >> lstm<6> >> flatten >> dense<10>;

BOOST_AUTO_TEST_CASE(no_alignment_is_promised_that_is_not_there) {   // slices of 6 floats times an odd batch begin anywhere
    train<watching_engine>(net, 5);
    train<watching_engine>(net, 3);
    BOOST_TEST(watching_engine::false_promises == 0);
    BOOST_TEST(watching_engine::unaligned > 0);
    BOOST_TEST(watching_engine::aligned > 0);
}
BOOST_AUTO_TEST_CASE(alignments) {
    BOOST_TEST(gpu::alignment_of(0x1000) == 64);
    BOOST_TEST(gpu::alignment_of(0x1030) == 16);
    BOOST_TEST(gpu::alignment_of(0x1038) == 4);
    BOOST_TEST(gpu::alignment_of(0x1004) == 4);
}
BOOST_AUTO_TEST_CASE(one_plan_for_operands_elsewhere_but_not_for_less_aligned_ones) {
    alignas(64) float memory[64];
    const gpu::product p{memory, memory + 16, memory + 32, 2, 2, 2, 2, 2, false, false};
    gpu::product elsewhere = p, unaligned = p, larger = p;
    std::swap(elsewhere.a, elsewhere.b);
    unaligned.b = memory + 17;
    larger.k = 3;
    BOOST_TEST((gpu::product_key::of(elsewhere) == gpu::product_key::of(p)));
    BOOST_TEST(!(gpu::product_key::of(unaligned) == gpu::product_key::of(p)));
    BOOST_TEST(!(gpu::product_key::of(larger) == gpu::product_key::of(p)));
}

struct failing_engine : test::rehearsal_engine {
    bool product(const gpu::product&) { throw device_error("refuses", "some call", "a fault", "none"); }
};
BOOST_AUTO_TEST_CASE(a_fault_names_its_launch) {
    BOOST_CHECK_EXCEPTION(train<failing_engine>(net, 5), device_error, [](const device_error& e) {
        const std::string where = e.where();
        return where.starts_with("launch ") && where.ends_with("some call") && e.fault() == "refuses" && e.got() == "a fault";
    });
}
