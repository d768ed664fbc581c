// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE softmax_cross_entropy
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/softmax_cross_entropy.hpp>

#include "fixtures/pytorch_ops.hpp"
#include "train/losses/loss_run.hpp"

using namespace sinter;
using namespace sinter::test;
using loss_type = softmax_cross_entropy_loss;

/// Each row by itself, from its largest logit down, in doubles; the mean over all rows.
static loss_and_gradient reference(const doubles& z, const doubles& labels) {
    const int classes = z.d.back(), rows = z.size() / classes;
    loss_and_gradient r{0, doubles(z.d)};
    for (int i = 0; i < rows; ++i) {
        const int first = i * classes, right = static_cast<int>(labels[i]);
        double largest = z[first], all = 0;
        for (int c = 0; c < classes; ++c) largest = std::max(largest, z[first + c]);
        for (int c = 0; c < classes; ++c) all += std::exp(z[first + c] - largest);
        r.loss += (std::log(all) + (largest - z[first + right])) / rows;
        for (int c = 0; c < classes; ++c)
            r.gradient[first + c] = (std::exp(z[first + c] - largest) / all - (c == right)) / rows;
    }
    return r;
}
/// Logits [batch, D...], drawn.
static doubles drawn(std::vector<int> extents, double low = -4, double high = 4) {
    return random_numbers(5).fill(std::move(extents), low, high);
}

BOOST_AUTO_TEST_CASE(every_label) {
    const doubles z = drawn({5, 5});
    for (int shift = 0; shift < 5; ++shift) {   // each row meets each label once
        doubles labels({5});
        for (int i = 0; i < 5; ++i) labels[i] = (i + shift) % 5;
        check_loss<loss_type, 5>(z, labels, reference);
    }
    check_loss_as<as_trained, loss_type, 5>(z, doubles({5}, {4, 0, 3, 1, 2}), reference);
}
BOOST_AUTO_TEST_CASE(more_classes_than_a_vector_has_lanes) {
    check_loss<loss_type, 37>(drawn({6, 37}), doubles({6}, {0, 36, 17, 16, 35, 1}), reference);
}
BOOST_AUTO_TEST_CASE(several_labels_an_example) {
    doubles labels({3, 2, 3});
    for (int i = 0; i < labels.size(); ++i) labels[i] = 5 * i % 7;
    check_loss<loss_type, 2, 3, 7>(drawn({3, 2, 3, 7}), labels, reference);
}
// One class is always right: nothing to learn, whatever its logit.
BOOST_AUTO_TEST_CASE(one_class) {
    const doubles z({4, 1}, {0, -3, 1e4, -1e4});
    check_loss<loss_type, 1>(z, doubles({4}), [](const doubles& y, const doubles& t) {
        const loss_and_gradient r = reference(y, t);
        BOOST_TEST(r.loss == 0);
        return r;
    });
}
// Where e^z is infinite or zero: the loss is the distance to the largest logit, and gradients are integers.
BOOST_AUTO_TEST_CASE(extreme_logits) {
    const doubles z({6, 3},
                    {1e4, -1e4, 0,  1e4, -1e4, 0,  1e4, -1e4, 0,  -1e4, -1e4, -1e4,  1e4, 1e4, 1e4,  1e4, 1e4, -1e4});
    const doubles labels({6}, {0, 1, 2, 1, 2, 2});
    const loss_and_gradient r = reference(z, labels);
    BOOST_TEST(r.loss == (0 + 2e4 + 1e4 + std::log(3.) + std::log(3.) + 2e4 + std::log(2.)) / 6,
               boost::test_tools::tolerance(1e-12));
    check_loss<loss_type, 3>(z, labels, reference);
    for (int i = 0; i < 6; ++i) {   // alone, too, so that a large loss beside it hides nothing
        const doubles row({1, 3}, {z[3 * i], z[3 * i + 1], z[3 * i + 2]});
        check_loss<loss_type, 3>(row, doubles({1}, {labels[i]}), reference);
    }
}
// What a class's score is measured from does not matter.
BOOST_AUTO_TEST_CASE(a_common_offset_changes_nothing) {
    const doubles z = map(drawn({4, 6}), [](double v) { return std::round(v * 64) / 64; }), labels({4}, {5, 0, 2, 3});
    const loss_and_gradient want = reference(z, labels);
    for (double offset : {-1024., 1024.})   // exact in float beside 1/64
        check_loss_as<as_fused, loss_type, 6>(map(z, [&](double v) { return v + offset; }), labels,
                                              [&](const doubles& y, const doubles& t) {
            const loss_and_gradient r = reference(map(y, [&](double v) { return v - offset; }), t);
            if (y.d[0] == 4) BOOST_TEST(r.loss == want.loss);
            return r;
        });
}
BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace golden = fixture::pytorch;
    auto list = [](const double (&x)[20]) { return doubles({1, 4, 5}, std::vector<double>(x, x + 20)); };
    doubles labels({1, 4});
    for (int i = 0; i < 4; ++i) labels[i] = golden::cross_entropy_labels[i];
    check_loss<loss_type, 4, 5>(list(golden::log_softmax_x), labels, [&](const doubles&, const doubles&) {
        return loss_and_gradient{golden::cross_entropy, list(golden::cross_entropy_dx)};
    });
}
