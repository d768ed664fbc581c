// SPDX-License-Identifier: BSL-1.0
// Jobs of several processes whose workers share this machine's GPU: two workers over a ring, two that update in parts,
// two beside two parameter servers, and one with asynchronous servers. Losses are those of one process with the GPU
// (which cases.cu compares with the processor's), within what other sums' order makes of them.
//   jobs          prints the jobs' names
//   jobs NAME     prints a JSON line
// Exit status: 0 all is well, 1 it differs or failed, as where there is no GPU, 2 there is no such job.
#include "cuda/device_part.hpp"
#include "cuda/strategy_cases.hpp"
#include "strategy/parameter_server/job.hpp"
#include <sinter/collective/ring.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/strategy/sharded_update.hpp>

using namespace sinter;

namespace {

constexpr int batch = 32, width = 4, classes = 10, steps = 20;
constexpr auto of_words = indices<width> >> embedding<500, 32> >> flatten >> dense<64> >> relu >> dense<classes>;
constexpr auto of_numbers = features<width> >> dense<64> >> relu >> dense<64> >> relu >> dense<classes>;

struct examples {
    std::int32_t words[steps * batch * width], labels[steps * batch];
    float numbers[steps * batch * width];
    examples() {
        random_stream r(4);
        for (std::int32_t& w : words) w = static_cast<int>(r.below(500));
        for (float& x : numbers) x = static_cast<float>(r.below(1000)) / 1000;
        for (std::int32_t& l : labels) l = static_cast<int>(r.below(classes));
    }
};
const examples all;

/// The losses of twenty steps; the batch of each is the job's.
template <class Net, class Optimizer, class Strategy>
std::string losses(const Strategy& s, Net net, Optimizer optimizer) {
    trainer t{net, softmax_cross_entropy, optimizer, max_batch<batch>, s};
    if (t.has_served()) return "served";
    std::string text;
    for (int i = 0; i < steps; ++i) {
        const data::input_view in{nullptr, all.words + i * batch * width, width};
        batch_view b{.labels = all.labels + i * batch, .size = batch};
        if constexpr (std::is_same_v<const Net, decltype(of_words)>) b.inputs = {&in, 1};
        else b.x = all.numbers + i * batch * width;
        text += base::general_text(static_cast<double>(t.step(b)), 9) + " ";
    }
    t.end_training();
    return text;
}
std::vector<double> numbers_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<double> x;
    for (double v = 0; in >> v;) x.push_back(v);
    return x;
}

/// Runs the job in processes of their own, which alone use the GPU, and compares worker 0's losses.
template <class Net, class Optimizer, class Make>
int check(const std::string& name, int workers, int servers, Net net, Optimizer optimizer, Make make) {
    server_job job(workers, servers, 5);
    job.start_all([&](const cluster& c) { return losses(make(c), net, optimizer); });
    const std::string found = job.result(0, 100);
    std::string others;
    for (int i = 1; i < job.size(); ++i) {
        const std::string r = job.result(i, 20);
        if (r.starts_with("error") || r == "HUNG" || r == "KILLED") others += r;
    }
    processes apart;
    apart.start([&] { return losses(single<cuda>{}, net, optimizer); });
    const std::vector<double> got = numbers_of(found), expected = numbers_of(apart.result(0, 100));
    double worst = got.size() == steps && expected.size() == steps ? 0 : 1;
    for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i)
        worst = std::max(worst, std::abs(1 - got[i] / expected[i]));
    const bool ok = others.empty() && worst <= 1e-4;
    const std::string fault = ok ? "" : ", \"error\": \"" + (others.empty() ? found : others) + "\"";
    std::printf("{\"check\": \"%s\", \"ok\": %s, \"worst\": %.2e%s}\n", name.c_str(), ok ? "true" : "false", worst,
                fault.c_str());
    return !ok;
}

int run(const std::string& name) {
    using ring_of_gpus = test::all_here<multi_worker<ring, cuda>>;
    if (name == "ring")
        return check(name, 2, 0, of_words, adam{}, [](const cluster& c) { return ring_of_gpus{{c}}; });
    if (name == "sharded_update")
        return check(name, 2, 0, of_numbers, momentum{.learning_rate = 0.05f}, [](const cluster& c) {
            return sharded_update(ring_of_gpus{{c}});
        });
    if (name == "servers")
        return check(name, 2, 2, of_words, sgd{.learning_rate = 0.2f}, [](const cluster& c) {
            return test::all_here<parameter_server<sync<0>, cuda>>{{c}};
        });
    if (name == "asynchronous_servers")
        return check(name, 1, 2, of_words, sgd{.learning_rate = 0.2f}, [](const cluster& c) {
            return test::all_here<parameter_server<async, cuda>>{{c}};
        });
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return std::puts("ring\nsharded_update\nservers\nasynchronous_servers"), 0;
    // The parent asks nothing of CUDA: a process that has used it must not fork.
    return run(argv[1]);
}
