// SPDX-License-Identifier: BSL-1.0
// shows servers: which weights a step has under `pull_every` and `prefetch`
// needs: distributed
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <cmath>
#include <algorithm>
#include <sstream>

// Which weights a step is made with where they are pulled seldom, or beforehand: told by hand, a gradient at a
// time, and compared with what one worker and its servers end with.
using namespace sinter;

namespace {

constexpr auto net = features<6> >> dense<8> >> relu >> dense<3>;
constexpr int batch = 8, steps = 12;
constexpr float rate = 0.2f;

struct examples {
    float x[steps * batch * 6], y[steps * batch * 3];
    examples() {
        random_stream r(3);
        for (float& v : x) v = r.normal();
        for (float& v : y) v = r.normal();
    }
    data::batch_view at(int i) const { return {.x = x + i * batch * 6, .y = y + i * batch * 3, .size = batch}; }
};
const examples all;

template <class Trainer, class Read>
std::vector<float> numbers(const Trainer& t, Read read) {
    std::vector<float> out;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float v : read(t.parameter(i))) out.push_back(v);
    return out;
}
template <class Trainer>
std::vector<float> weights(const Trainer& t) {
    return numbers(t, [&](const variable_info& v) { return t.plain(v); });
}
/// The weights that servers have in the end.
std::vector<float> by_hand(int pull_every, bool prefetch) {
    trainer t{net, mse, sgd{.learning_rate = rate}, max_batch<batch>,
              built_with<program_options{.store_gradients = true}>, {.threads = 1}};
    std::vector<float> servers = weights(t), own = servers, on_its_way = servers;
    for (int i = 0; i < steps; ++i) {
        if (prefetch) {
            own = on_its_way;                                   // begun while the step before was made
            if (i % pull_every == 0) on_its_way = servers;      // and this one lacks what is pushed now
        }
        const float* from = own.data();
        for (int k = 0; k < t.parameters(); ++k) {
            t.set_plain(t.parameter(k), from);
            from += t.parameter(k).s.size();
        }
        t.step(all.at(i));
        const std::vector<float> g = numbers(t, [&](const variable_info& v) { return t.gradient(v); });
        for (std::size_t k = 0; k < g.size(); ++k) servers[k] -= rate * g[k];
        if (!prefetch && (i + 1) % pull_every == 0) own = servers;
    }
    return servers;
}
std::string by_servers(const cluster& c, parameter_server_options o) {
    trainer t{net, mse, sgd{.learning_rate = rate}, max_batch<batch>, parameter_server<async>{c, o}, {.threads = 1}};
    if (t.has_served()) return "served";
    for (int i = 0; i < steps; ++i) t.step(all.at(i));
    t.end_training();
    std::string text;
    for (const float v : weights(t)) text += base::general_text(static_cast<double>(v), 9) + " ";
    return text;
}
double furthest(const std::vector<float>& a, const std::string& text) {
    std::istringstream in(text);
    double x = 0, most = 0;
    for (const float v : a)
        if (in >> x) most = std::max(most, std::abs(x - static_cast<double>(v)));
        else return INFINITY;
    return most;
}

} // namespace

BOOST_AUTO_TEST_CASE(pulled_seldom_or_beforehand) {
    std::vector<std::vector<float>> wanted;
    std::vector<std::string> got;
    for (const bool prefetch : {false, true})
        for (const int every : {1, 2, 3}) {
            server_job job(1, 2);
            job.start_all([=](const cluster& c) {
                return by_servers(c, {.pull_every = every, .prefetch = prefetch});
            });
            got.push_back(job.result(0));
            wanted.push_back(by_hand(every, prefetch));
            BOOST_TEST(furthest(wanted.back(), got.back()) < 1e-5,
                       every << ", prefetch " << prefetch << ": " << got.back());
        }
    for (std::size_t i = 0; i < got.size(); ++i)   // and each is something else
        for (std::size_t k = 0; k < i; ++k) BOOST_TEST(furthest(wanted[k], got[i]) > 1e-3, k << " and " << i);
}
