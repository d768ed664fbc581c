// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// weighs: 3
#include <boost/test/unit_test.hpp>
#include "../../examples/common/diloco.hpp"
#include <sinter/collective/thread_group.hpp>
#include <cmath>
#include <thread>

// The example's strategy against the paper's algorithm 1, in double: arXiv 2311.08105. Inner steps of AdamW on a linear
// model by mean squared error, outer steps of Nesterov's momentum as PyTorch has it (SGD with nesterov=True).
using namespace sinter;

namespace {

constexpr int inputs = 3, outputs_of_it = 2, size = 6, inner = 4, rounds = 5, workers = 3;
constexpr auto linear = features<inputs> >> dense<outputs_of_it>;

/// Members that are threads.
struct threads_of_test {
    static inline collective::thread_group* group = nullptr;
    static std::unique_ptr<collective::communicator> connect(const cluster& c, const wire::identity&) { return group->take(c.rank()); }
};
struct batch {
    float x[size * inputs], y[size * outputs_of_it];
    batch(int worker, int step) {
        random_stream r(9, static_cast<std::uint64_t>(100 * worker + step));
        for (float& v : x) v = r.normal();
        for (float& v : y) v = r.normal();
    }
    data::batch_view view() const { return {.x = x, .y = y, .size = size}; }
};
using parameters = std::vector<double>;   // the matrix row by row, then the biases
constexpr std::size_t count = inputs * outputs_of_it + outputs_of_it;

parameters gradient_of(const parameters& p, const batch& b) {
    parameters g(count);
    for (int e = 0; e < size; ++e)
        for (int j = 0; j < outputs_of_it; ++j) {
            double y = p[static_cast<std::size_t>(inputs * outputs_of_it + j)];
            for (int i = 0; i < inputs; ++i) y += static_cast<double>(b.x[e * inputs + i]) * p[static_cast<std::size_t>(i * outputs_of_it + j)];
            const double d = 2 * (y - static_cast<double>(b.y[e * outputs_of_it + j])) / (size * outputs_of_it);
            g[static_cast<std::size_t>(inputs * outputs_of_it + j)] += d;
            for (int i = 0; i < inputs; ++i) g[static_cast<std::size_t>(i * outputs_of_it + j)] += d * static_cast<double>(b.x[e * inputs + i]);
        }
    return g;
}
/// Algorithm 1: theta after all rounds.
parameters reference(parameters theta, double rate, double decay, double outer_rate, double momentum) {
    std::vector<parameters> m(workers, parameters(count)), v(m);
    parameters velocity(count);
    int t = 0;
    for (int round = 0; round < rounds; ++round) {
        parameters delta(count);
        for (std::size_t w = 0; w < workers; ++w) {
            parameters mine = theta;
            for (int h = 0; h < inner; ++h) {
                const parameters g = gradient_of(mine, batch(static_cast<int>(w), t + h));
                const int k = t + h + 1;
                for (std::size_t i = 0; i < count; ++i) {
                    m[w][i] = 0.9 * m[w][i] + 0.1 * g[i];
                    v[w][i] = 0.999 * v[w][i] + 0.001 * g[i] * g[i];
                    mine[i] -= rate * decay * mine[i];
                    mine[i] -= rate * (m[w][i] / (1 - std::pow(0.9, k))) / (std::sqrt(v[w][i] / (1 - std::pow(0.999, k))) + 1e-8);
                }
            }
            for (std::size_t i = 0; i < count; ++i) delta[i] += (theta[i] - mine[i]) / workers;
        }
        t += inner;
        for (std::size_t i = 0; i < count; ++i) {
            velocity[i] = momentum * velocity[i] + delta[i];
            theta[i] -= outer_rate * (delta[i] + momentum * velocity[i]);
        }
    }
    return theta;
}
template <class Trainer>
parameters weights(const Trainer& t) {
    parameters all(count);
    for (int i = 0; i < t.parameters(); ++i) {
        const std::vector<float> x = t.plain(t.parameter(i));
        std::copy(x.begin(), x.end(), all.begin() + (x.size() == outputs_of_it ? inputs * outputs_of_it : 0));
    }
    return all;
}
void check(float outer_rate, float momentum) {
    collective::thread_group group(workers);
    threads_of_test::group = &group;
    std::vector<parameters> first(workers), last(workers);
    std::vector<std::thread> threads;
    for (int w = 0; w < workers; ++w)
        threads.emplace_back([&, w] {
            const cluster all = cluster::of({"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}, w);
            trainer t{linear, mse, adamw{.learning_rate = 0.02f, .weight_decay = 0.1f}, max_batch<size>,
                      example::diloco<threads_of_test>{all, inner, outer_rate, momentum},
                      {.threads = 1, .seed = static_cast<std::uint64_t>(w) + 1}};
            first[static_cast<std::size_t>(w)] = weights(t);
            for (int i = 0; i < rounds * inner; ++i) t.step(batch(w, i).view());
            last[static_cast<std::size_t>(w)] = weights(t);
        });
    for (std::thread& t : threads) t.join();
    const parameters wanted = reference(first[0], 0.02, 0.1, static_cast<double>(outer_rate), static_cast<double>(momentum));
    double off = 0, moved = 0;
    for (std::size_t i = 0; i < count; ++i) {
        off = std::fmax(off, std::abs(last[0][i] - wanted[i]));
        moved = std::fmax(moved, std::abs(wanted[i] - first[0][i]));
    }
    BOOST_TEST(off < 2e-6, "off by " << off);
    BOOST_TEST(moved > 0.05);
    for (const parameters& p : first) BOOST_TEST((p == first[0]));   // all begin where the chief does, whatever their seeds
    for (const parameters& p : last) BOOST_TEST((p == last[0]));
}

} // namespace

BOOST_AUTO_TEST_CASE(the_papers_settings) { check(0.7f, 0.9f); }
BOOST_AUTO_TEST_CASE(the_mean_of_the_weights) { check(1.f, 0.f); }
