// SPDX-License-Identifier: BSL-1.0
// A training step of a small net in libtorch, PyTorch's C++ interface, as bench/peers/pytorch_step.py times it in
// Python; bench/peers/libtorch.sh builds it, and bench/build_cost.py measures what that costs. Its optimizers are not
// fused: libtorch has none that are.
#include <torch/torch.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <malloc.h>
#include <string>

struct flatten_pixels : torch::nn::Module {   // to [n][height * width * channel]: in channels_last memory no copy
    torch::Tensor forward(const torch::Tensor& x) { return x.permute({0, 2, 3, 1}).flatten(1); }
};
struct layers {
    torch::nn::Sequential net;
    layers& conv(int in, int out, int kernel, bool same) {
        net->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kernel).padding(same ? kernel / 2 : 0)));
        net->push_back(torch::nn::ReLU());
        net->push_back(torch::nn::MaxPool2d(2));
        return *this;
    }
    layers& flatten() { return net->push_back(flatten_pixels()), *this; }
    layers& dense(int in, int out) { return net->push_back(torch::nn::Linear(in, out)), *this; }
    layers& hidden(int in, int out) { return dense(in, out), net->push_back(torch::nn::ReLU()), *this; }
};

static torch::nn::Sequential net_of(const std::string& model) {
    layers l;
    if (model == "mlp") l.flatten().hidden(784, 128).dense(128, 10);
    else if (model == "policy") l.hidden(4, 64).hidden(64, 64).dense(64, 2);
    else if (model == "lenet")
        l.conv(1, 6, 5, true).conv(6, 16, 5, false).flatten().hidden(400, 120).hidden(120, 84).dense(84, 10);
    else if (model == "cnn")
        l.conv(1, 32, 3, true).conv(32, 64, 3, true).flatten().hidden(3136, 128).dense(128, 10);
    else throw std::runtime_error("unknown model " + model + ": mlp, lenet, cnn or policy");
    const torch::NoGradGuard none;
    for (torch::Tensor& p : l.net->parameters()) {
        if (p.dim() > 1) torch::nn::init::xavier_uniform_(p);
        else torch::nn::init::zeros_(p);
        if (p.dim() == 4) p.set_data(p.contiguous(torch::MemoryFormat::ChannelsLast));
    }
    return l.net;
}

static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void time_step(const std::string& model, const std::string& optimizer, int threads) {
    at::set_num_threads(threads);
    at::set_num_interop_threads(1);
    torch::manual_seed(1);
    torch::nn::Sequential net = net_of(model);
    const bool policy = model == "policy";
    const int n = policy ? 32 : 64;
    torch::Tensor x = policy ? torch::rand({n, 4})
                             : torch::rand({n, 1, 28, 28}).contiguous(torch::MemoryFormat::ChannelsLast);
    const torch::Tensor labels = torch::randint(0, policy ? 2 : 10, {n}, torch::kLong);
    std::unique_ptr<torch::optim::Optimizer> o;
    if (optimizer == "sgd") o = std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.01));
    else if (optimizer == "adam")
        o = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(1e-3).eps(1e-7));
    else throw std::runtime_error("unknown optimizer " + optimizer + ": sgd or adam");
    const auto step = [&] {
        o->zero_grad(true);
        torch::Tensor loss = torch::nn::functional::cross_entropy(net->forward(x), labels);
        loss.backward();
        o->step();
        return loss;
    };

    // As bench/peers/common.py's report().
    const double first = step().item<double>(), began = seconds();
    int warm = 0;
    for (; warm < 2 || seconds() - began < (warm < 10 ? 4 : 1); ++warm) step().item<double>();
    const double took = (seconds() - began) / warm;
    const int steps = std::max(1, static_cast<int>(std::ceil(0.02 / took)));
    const int count = std::max(3, std::min(30, static_cast<int>(10 / (steps * took))));
    std::vector<double> ms;
    double loss = 0;
    const std::clock_t processor = std::clock();
    for (int k = 0; k < count; ++k) {
        const double start = seconds();
        torch::Tensor last;
        for (int i = 0; i < steps; ++i) last = step();
        loss = last.item<double>();
        ms.push_back(1e3 * (seconds() - start) / steps);
    }
    const double cpu = 1e3 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC / (count * steps);
    if (!(loss < first)) throw std::runtime_error("the loss did not fall: this is not training");
    std::sort(ms.begin(), ms.end());
    std::printf("{\"system\": \"libtorch\", \"model\": \"%s\", \"optimizer\": \"%s\", \"threads\": %d, "
                "\"median_ms\": %.5f, \"best_ms\": %.5f, \"cpu_ms\": %.5f, \"version\": \"%d.%d.%d\"}\n",
                model.c_str(), optimizer.c_str(), threads, (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2,
                ms.front(), cpu, TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
}

int main(int argc, char** argv) {
    // A malloc that keeps large blocks, as all peers get.
    ::mallopt(M_MMAP_THRESHOLD, 1 << 30), ::mallopt(M_TRIM_THRESHOLD, 2147483647), ::mallopt(M_TOP_PAD, 1 << 26);
    std::string model = "mlp", optimizer = "sgd";
    int threads = 1;
    try {
        for (int i = 1; i < argc; i += 2) {
            const std::string name = argv[i];
            if (i + 1 == argc) throw std::runtime_error(name + " needs a value");
            if (name == "--model") model = argv[i + 1];
            else if (name == "--optimizer") optimizer = argv[i + 1];
            else if (name == "--threads") threads = std::stoi(argv[i + 1]);
            else throw std::runtime_error("unknown option " + name + ": --model, --optimizer or --threads");
        }
        time_step(model, optimizer, threads);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "libtorch_step: %s\n", e.what());
        return 1;
    }
}
