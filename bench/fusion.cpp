// SPDX-License-Identifier: BSL-1.0
// What fusion does to a training step: the same net as it is compiled, and with every op a kernel
// of its own. A JSON line for each: kernels, launches, bytes moved, peak memory, and time; batch
// 64, Adam.
#include <algorithm>
#include <cstdio>

#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/compiler/cost.hpp>

#include "nets.hpp"
#include "options.hpp"

using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;

namespace {

constexpr const char* help =
    "fusion [--model mlp|lenet|cnn|quickstart|all] [--threads N] [--seconds S]\n"
    "Trains each net with and without fusion, in turns, S seconds in all for a net (default 4), and prints a JSON\n"
    "line for each: kernels, launches, megabytes moved and held at batch 64, milliseconds a step. --threads 0: all\n"
    "cores; default 1.";

constexpr int batch = 64;

struct settings {
    std::string model = "all";
    int threads = 1;
    double seconds = 4;
};

template <class Net, bool Fused>
class side {
    using trainer_type =
        trainer<Net, softmax_cross_entropy_loss, adam, build_options{batch, program_options{.fuse = Fused}}>;
    trainer_type t_;
    std::vector<double> ms_;

public:
    explicit side(int threads) : t_({}, {.threads = threads}) {}
    void train(data::pipeline& batches, bool count) {
        for (const data::batch_view& b : batches) {
            const double t0 = monotonic_seconds();
            t_.step(b);
            if (count) ms_.push_back(1e3 * (monotonic_seconds() - t0));
        }
    }
    void print(const char* model) {
        constexpr program_cost c = cost_of<typename trainer_type::training>();
        std::sort(ms_.begin(), ms_.end());
        std::printf(
            "{\"model\": \"%s\", \"fused\": %s, \"optimizer\": \"adam\", \"threads\": %d, \"kernels\": %d, "
            "\"launches\": %d, \"moved_bytes\": %lld, \"activation_bytes\": %lld, \"peak_bytes\": %lld, "
            "\"median_ms\": %.5f, \"best_ms\": %.5f}\n",
            model, Fused ? "true" : "false", t_.threads(), c.kernels, c.launches,
            static_cast<long long>(c.total.read.at(batch) + c.total.written.at(batch)),
            static_cast<long long>(4 * trainer_type::training::v.z.activations), static_cast<long long>(t_.bytes()),
            ms_[ms_.size() / 2], ms_.front());
        std::fflush(stdout);
    }
};

template <class Net>
int run(const char* model, Net, const settings& s) {
    if (s.model != "all" && s.model != model) return 0;
    side<Net, true> fused(s.threads);
    side<Net, false> unfused(s.threads);
    auto batches = bench::images() | data::batch(batch);
    const double began = monotonic_seconds();
    for (int round = 0; round < 2 || monotonic_seconds() - began < s.seconds; ++round) {   // the first warms up
        fused.train(batches, round > 0);
        unfused.train(batches, round > 0);
    }
    fused.print(model);
    unfused.print(model);
    return 1;
}

int dispatch(const settings& s) {
    const int done = run("mlp", bench::mlp, s) + run("lenet", bench::lenet, s) + run("cnn", bench::cnn, s)
                   + run("quickstart", bench::quickstart, s);
    if (!done) throw option_error("unknown model", "--model", s.model, "mlp, lenet, cnn, quickstart or all");
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--model") s.model = value;
        else if (name == "--threads") s.threads = bench::number(name, value, 0, 1024);
        else if (name == "--seconds") s.seconds = bench::number(name, value, 0., 3600.);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] { return dispatch(s); });
}
