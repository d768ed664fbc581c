// SPDX-License-Identifier: BSL-1.0
// The time of one prediction for one example, by one thread, as one JSON line; float32.
#include "nets.hpp"
#include "options.hpp"
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/train/export_onnx.hpp>
#include <sinter/train/predictor.hpp>
#include <algorithm>
#include <cstdio>
#include <span>

using namespace sinter;
using namespace sinter::base;

namespace {

constexpr const char* help =
    "predict [--model mlp|lenet|policy] [--seconds S] [--onnx FILE] [--threads 1]\n"
    "Times predictions for S seconds (default 1) and prints one JSON line. --onnx FILE: writes the net there\n"
    "instead, for bench/peers/onnxruntime_predict.py.";

struct settings {
    std::string model = "lenet", onnx;
    double seconds = 1;
};

template <class Net>
int run(Net net, const settings& s) {
    if (!s.onnx.empty()) {
        export_onnx(net, s.onnx);
        return 0;
    }
    const trainer<Net, softmax_cross_entropy_loss, sgd> model({}, {.threads = 1});
    predictor p{net, model};
    constexpr int examples = 8;
    constexpr std::size_t width = static_cast<std::size_t>(decltype(p)::program::v.inputs[0].s.size());
    const std::vector<float> x = bench::numbers(examples * width);
    std::vector<float> y(p(std::span(x).first(width)).size());
    double sum = 0;
    const auto once = [&](long i) {
        p(std::span(x).subspan(static_cast<std::size_t>(i % examples) * width, width), y);
        sum += static_cast<double>(y[0]);
    };
    long calls = 1;
    for (double took = 0; took < 1e-4; calls *= 2) {   // a sample is so long that the clock does not matter
        const double t0 = monotonic_seconds();
        for (long i = 0; i < calls; ++i) once(i);
        took = monotonic_seconds() - t0;
    }
    std::vector<double> ms;
    for (const double began = monotonic_seconds(); monotonic_seconds() - began < s.seconds || ms.size() < 3;) {
        const double t0 = monotonic_seconds();
        for (long i = 0; i < calls; ++i) once(i);
        ms.push_back(1e3 * (monotonic_seconds() - t0) / static_cast<double>(calls));
    }
    std::sort(ms.begin(), ms.end());
    std::printf(
        "{\"system\": \"sinter\", \"model\": \"%s\", \"optimizer\": \"predict\", \"threads\": 1, \"median_ms\": %.7f, "
        "\"best_ms\": %.7f, \"samples\": %zu, \"checksum\": %.5f}\n",
        s.model.c_str(), ms[ms.size() / 2], ms.front(), ms.size(),
        sum / (static_cast<double>(calls) * static_cast<double>(ms.size())));
    return 0;
}

int choose(const settings& s) {
    if (s.model == "mlp") return run(bench::mlp, s);
    if (s.model == "lenet") return run(bench::lenet, s);
    if (s.model == "policy") return run(bench::policy, s);
    throw option_error("unknown model", "--model", s.model, "mlp, lenet or policy");
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--model") s.model = value;
        else if (name == "--onnx") s.onnx = value;
        else if (name == "--threads") bench::number(name, value, 1, 1);
        else if (name == "--seconds") s.seconds = bench::number(name, value, 0., 3600.);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] { return choose(s); });
}
