// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <memory>
#include <sinter/sinter.hpp>
#include <sinter/train/predictor.hpp>

// What doc/models.md says: a model is a member, a return value, and stands behind an interface, and
// nobody spells its type.
using namespace sinter;

namespace {

constexpr auto net = features<2> >> dense<16> >> relu >> dense<1>;

auto make_model(std::uint64_t seed) {   // a return value
    return estimator{net, mse, adam{.learning_rate = 0.02f}, max_batch<4>, {.threads = 1, .seed = seed}};
}
using model_type = decltype(make_model(1));
using predictor_type = decltype(predictor{net, std::declval<const model_type&>()});

struct scorer {
    virtual ~scorer() = default;
    virtual void train(const data::batch_view& b) = 0;
    virtual float score(span<const float> point) = 0;
};
class net_scorer : public scorer {   // a member, behind an interface
public:
    explicit net_scorer(std::uint64_t seed) : model_(make_model(seed)), predictor_(net, model_) {}
    void train(const data::batch_view& b) override {
        model_.inner().step(b);
        predictor_.take(model_);
    }
    float score(span<const float> point) override { return predictor_(point)[0]; }

private:
    model_type model_;
    predictor_type predictor_;
};

template <class Model>
float loss_of(Model& m, const data::batch_view& b) { return m.evaluate(b); }   // any trainer will do

} // namespace

BOOST_AUTO_TEST_CASE(models_in_programs) {
    const float x[8] = {1, 0, 0, 1, 1, 1, 0, 0}, y[4] = {1, 1, 0, 0};
    const data::batch_view b{.x = x, .y = y, .size = 4};
    const std::unique_ptr<scorer> s = std::make_unique<net_scorer>(7);
    auto same = make_model(7);
    for (int i = 0; i < 3; ++i) {
        s->train(b);
        same.inner().step(b);
    }
    const auto want = same.predict({.x = x, .size = 1});
    BOOST_TEST(s->score({x, 2}) == want[0]);
    trainer plain{net, mse, adam{.learning_rate = 0.02f}, max_batch<4>, {.threads = 1, .seed = 7}};
    for (int i = 0; i < 3; ++i) plain.step(b);
    BOOST_TEST(loss_of(plain, b) == loss_of(same.inner(), b));
}

// Run-time options stand once; the type cannot tell.
BOOST_AUTO_TEST_CASE(options_given_twice) {
    BOOST_CHECK_THROW((trainer{net, mse, sgd{}, {.threads = 1}, max_batch<4>, {.seed = 2}}), option_error);
}
