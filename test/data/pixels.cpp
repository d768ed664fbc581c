// SPDX-License-Identifier: BSL-1.0
// Sets that keep images as bytes: whatever comes out of a pipeline is what comes out of the same set of floats.
#define BOOST_TEST_MODULE pixels
#include <boost/test/unit_test.hpp>
#include <sinter/data/transform/augment.hpp>
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/transform/repeat.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <cstring>
#include <thread>

using namespace sinter;

static constexpr int images = 70;

// Every byte is there; rows of 35, which fill no vectors.
static std::vector<std::byte> bytes(int images, int width) {
    std::vector<std::byte> b(static_cast<std::size_t>(images * width));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::byte>(i * 37 + i / 256);
    return b;
}
static std::vector<float> shares(const std::vector<std::byte>& bytes) {
    std::vector<float> f;
    for (const std::byte b : bytes) f.push_back(static_cast<float>(b) / 255.0f);
    return f;
}
static std::vector<std::int32_t> numbers(int n) {
    std::vector<std::int32_t> labels;
    for (int i = 0; i < n; ++i) labels.push_back(i);
    return labels;
}
static const std::vector<std::byte> large = bytes(images, 35), small = bytes(images, 3);
static data::dataset of_bytes() {
    return data::dataset().pixels(extents(5, 7, 1), large).pixels(extents(3), small).labels(numbers(images));
}
static data::dataset of_floats() {
    return data::dataset().input(extents(5, 7, 1), shares(large)).input(extents(3),
                                                                        shares(small)).labels(numbers(images));
}

static bool same(const data::input_view& a, const data::input_view& b, int size) {
    return a.width == b.width &&
        std::memcmp(a.values, b.values, sizeof(float) * static_cast<std::size_t>(size * a.width)) == 0;
}
static void expect_equal(data::pipeline a, data::pipeline b) {
    for (int pass = 0; pass < 2; ++pass)
        for (;;) {
            const data::batch_view *of_a = a.next(), *of_b = b.next();
            BOOST_REQUIRE(!of_a == !of_b);
            if (!of_a) break;
            BOOST_REQUIRE(of_a->size == of_b->size);
            BOOST_REQUIRE(of_a->inputs.size() == 2u);
            for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(same(of_a->inputs[i], of_b->inputs[i], of_a->size));
            BOOST_TEST(std::memcmp(of_a->labels, of_b->labels, 4 * static_cast<std::size_t>(of_a->size)) == 0);
            BOOST_TEST(of_a->x == of_a->inputs[0].values);
        }
}

BOOST_AUTO_TEST_CASE(batches_are_those_of_floats) {
    const auto both = [](auto pipeline) { expect_equal(pipeline(of_bytes()), pipeline(of_floats())); };
    both([](data::dataset s) { return s | data::batch(16); });
    both([](data::dataset s) {
        return s.slice(3, 50) | data::shuffle(20, 1) | data::repeat(2) | data::batch(9) | data::prefetch();
    });
    both([](data::dataset s) { return s | data::random_flip(1) | data::shuffle(30, 2) | data::batch(9); });
    both([](data::dataset s) {
        return s | data::shuffle(30, 2) | data::random_crop(4, 6, 1, 1, 3) | data::scale(2, -1) | data::batch(9);
    });
    // One that reads what came in after it has written.
    const auto backward = [](const data::example_view& in, data::example& out) {
        for (std::size_t i = 0; i < in.x.size(); ++i) out.x[i] = in.x[in.x.size() - 1 - i];
    };
    both([&](data::dataset s) { return s | data::map(extents(5, 7, 1), backward) | data::batch(16); });
}

BOOST_AUTO_TEST_CASE(all_floats_of_a_set_are_there_when_asked_for) {
    const data::dataset set = of_bytes();
    const std::vector<float> expected = shares(large);
    const float* of_thread[2];
    std::thread other([&] { of_thread[1] = set.x().data(); });
    of_thread[0] = set.x().data();
    other.join();
    BOOST_TEST(of_thread[0] == of_thread[1]);
    BOOST_REQUIRE(set.x().size() == expected.size());
    BOOST_TEST(std::memcmp(set.x().data(), expected.data(), sizeof(float) * expected.size()) == 0);
    const data::dataset part = set.slice(10, 5);
    BOOST_TEST(part.x().size() == 5u * 35u);
    BOOST_TEST(part.x().data() == set.x().data() + 350);
    BOOST_TEST(std::memcmp(part.row(0, 0), large.data() + 350, 35) == 0);
}

BOOST_AUTO_TEST_CASE(bytes_of_other_libraries_and_sets_that_do_not_fit) {
    const std::vector<std::uint8_t> grey{0, 51, 255, 102};
    const auto set = data::dataset().pixels(extents(2), grey);
    BOOST_TEST(set.size() == 2);
    BOOST_TEST(set.x()[1] == 0.2f);
    BOOST_TEST(set.x()[3] == 0.4f);
    BOOST_TEST(data::dataset().pixels(extents(2), std::vector<std::byte>{}).size() == 0);
    BOOST_CHECK_EXCEPTION(data::dataset().pixels(extents(3), grey), data_error,
                          [](const data_error& e) { return e.got() == "4" && e.needed() == "a multiple of 3"; });
    BOOST_CHECK_THROW(data::dataset().pixels(extents(2), grey).pixels(extents(4), grey), data_error);   // 2 rows and 1
}
