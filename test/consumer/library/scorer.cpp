// SPDX-License-Identifier: BSL-1.0
#include "scorer.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>
#include <sinter/train/predictor.hpp>

using namespace sinter;

namespace {

constexpr auto net = features<2> >> dense<16> >> relu >> dense<1>;
constexpr auto answers = net >> sigmoid;   // what is trained on, as a probability

// An estimator's type is long: deduction names it.
using model_type = decltype(estimator{net, sigmoid_cross_entropy, adam{}});
using predictor_type = decltype(predictor{answers, std::declval<const model_type&>()});

// A function may return a model.
model_type make_model(unsigned seed) {
    return estimator{net, sigmoid_cross_entropy, adam{.learning_rate = 0.02f}, {.threads = 1, .seed = seed}};
}

class net_scorer final : public scorer {
public:
    explicit net_scorer(unsigned seed) : model_(make_model(seed)), predictor_(answers, model_) {}
    void train(std::span<const float> points, std::span<const int> classes, int epochs) override {
        auto data = data::source(data::dataset(extents(2), {points.begin(), points.end()})
                                     .targets(extents(1), {classes.begin(), classes.end()}))
                  | data::batch(32);
        model_.train(data, {.epochs = epochs, .progress = nullptr});
        predictor_.take(model_);
    }
    float score(std::span<const float, 2> point) override { return predictor_(point)[0]; }
    void save(const std::string& file) const override { model_.save(file); }

private:
    model_type model_;
    predictor_type predictor_;
};

} // namespace

std::unique_ptr<scorer> make_scorer(unsigned seed) { return std::make_unique<net_scorer>(seed); }
