// SPDX-License-Identifier: BSL-1.0
// shows numbers: a step over parts equals the step over the whole, with weights, ignored labels, short parts
// processors: 2
// weighs: 2
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/strategy/sharded_update.hpp>
#include <sinter/train/full_batch.hpp>

#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// The gradient that a trainer shows, and L-BFGS, which lives by it, are those of the whole batch under every strategy
// whose processes have it; where they have not it is refused.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<4> >> dense<6> >> relu >> dense<2>;
constexpr int batch = 16, examples = 60;   // the last batch has 12

struct data_of_test {
    std::vector<float> x = std::vector<float>(examples * 4);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(examples);
    data_of_test() {
        random_stream r(3);
        for (float& v : x) v = r.normal();
        for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = x[4 * i] + 0.3f * r.normal() > 0;
    }
    data::batch_view first(int size) const { return {.x = x.data(), .labels = labels.data(), .size = size}; }
    data::pipeline batches() const {
        return data::source(data::dataset(extents(4), x).labels(labels)) | data::batch(batch);
    }
};
const data_of_test all;

template <class... Strategy>
std::vector<float> gradients(int size, Strategy... s) {
    trainer t{net, softmax_cross_entropy, sgd{}, max_batch<batch>, built_with<program_options{.store_gradients = true}>,
              s..., {.threads = 2}};
    t.step(all.first(batch));   // what is left behind by an earlier step is nobody's gradient
    t.step(all.first(size));
    std::vector<float> g;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float v : t.gradient(t.parameter(i))) g.push_back(v);
    return g;
}
template <class... Strategy>
lbfgs_result minimized(Strategy... s) {
    full_batch m{net, softmax_cross_entropy, max_batch<batch>, s..., {.threads = 2}};
    data::pipeline d = all.batches();
    return m.train(d, {.max_iterations = 8});
}
void check(const lbfgs_result& got, const lbfgs_result& wanted, const char* what) {
    BOOST_TEST(std::abs(got.loss - wanted.loss) < 1e-4, what << ": " << got.loss << ", not " << wanted.loss);
    BOOST_TEST(got.iterations == wanted.iterations, what);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_gradient_is_that_of_the_whole_batch) {
    for (const int size : {batch, 9, 1}) {   // fewer examples than replicas, too
        const std::vector<float> wanted = gradients(size);
        BOOST_TEST(furthest(gradients(size, mirrored<2>{}), wanted) < 1e-6, size);
        BOOST_TEST(furthest(gradients(size, mirrored<4>{}), wanted) < 1e-6, size);
        BOOST_TEST(furthest(gradients(size, canonical<4>(mirrored<2>{})), wanted) < 1e-6, size);
        std::vector<std::vector<float>> got(3);
        const auto errors =
            as_members(3, [&](const auto& s) { got[static_cast<std::size_t>(s.rank)] = gradients(size, s); });
        for (std::size_t r = 0; r < 3; ++r) {
            BOOST_TEST(errors[r] == "");
            BOOST_TEST(furthest(got[r], wanted) < 1e-6, size);
        }
    }
}
BOOST_AUTO_TEST_CASE(the_same_minimum) {
    const lbfgs_result wanted = minimized();
    BOOST_TEST(wanted.iterations == 8);
    check(minimized(mirrored<2>{}), wanted, "mirrored<2>");
    check(minimized(canonical<4>(mirrored<2>{})), wanted, "canonical<4>");
    std::vector<lbfgs_result> got(2);
    const auto errors = as_members(2, [&](const auto& s) { got[static_cast<std::size_t>(s.rank)] = minimized(s); });
    for (std::size_t r = 0; r < 2; ++r) {
        BOOST_TEST(errors[r] == "");
        check(got[r], wanted, "members");
    }
}
BOOST_AUTO_TEST_CASE(parts_are_refused) {
    const auto errors = as_members(2, [&](const auto& s) { minimized(sharded_update(s)); });
    for (const std::string& e : errors) BOOST_TEST(e.find("sharded_update") != e.npos, e);
}
