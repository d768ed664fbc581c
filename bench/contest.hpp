// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

#include <unistd.h>

#include <sinter/device/cpu/denormals.hpp>

#include "measure.hpp"
#include "options.hpp"

/// The same work done by several, timed in turns: what slows the machine down for a while slows all
/// of them.
namespace sinter::bench {
using namespace runtime;

struct contestant {
    std::string name;
    std::function<void()> run;
};

/// Prints one JSON line: what `facts` says (members without braces), each contestant's median and
/// best time in us, our fraction of the peak, and the best peer's median over ours. Ours are those
/// named sinter...: the last of them is what programs take.
inline void contest(const std::string& facts, double flops, const std::vector<contestant>& all, double seconds,
                    int rounds) {
    std::vector<std::vector<double>> us(all.size());
    std::vector<double> peaks;
    for (int r = 0; r < rounds; ++r) {
        for (std::size_t i = 0; i < all.size(); ++i) us[i].push_back(1e6 * time_of(all[i].run, seconds, 1).median);
        peaks.push_back(peak_flops(0.0002, 1));
    }
    const auto middle = [](std::vector<double>& v) { return std::sort(v.begin(), v.end()), v[v.size() / 2]; };
    const double peak = middle(peaks);
    std::printf("{%s", facts.c_str());
    double best = std::numeric_limits<double>::infinity(), ours = 0, our_best = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double t = middle(us[i]);
        if (all[i].name.starts_with("sinter")) ours = t, our_best = us[i][0];
        else best = std::min(best, t);
        std::printf(",\"%s_us\":%.2f,\"%s_best_us\":%.2f", all[i].name.c_str(), t, all[i].name.c_str(), us[i][0]);
    }
    std::printf(",\"gflops\":%.1f,\"of_peak\":%.3f,\"best_of_peak\":%.3f,\"over_best_peer\":%.3f}\n",
                flops / ours / 1e3, flops / ours * 1e6 / peak, flops / our_best * 1e6 / peaks.back(), best / ours);
    std::fflush(stdout);
}

/// What programs of contests are told: which layers and kinds of work, by parts of their names, and
/// how long to time them.
struct contest_settings {
    double seconds;
    int rounds;
    std::string layer = {}, kind = {};
    bool wanted(const std::string& of_layer, const std::string& of_kind) const {
        return of_layer.find(layer) != std::string::npos && of_kind.find(kind) != std::string::npos;
    }
};

/// Largest difference between two results, relative to their size.
inline double difference(const float* a, const float* b, std::int64_t n) {
    double most = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
        size = std::max(size, static_cast<double>(std::abs(b[i])));
    }
    return most / (size > 0 ? size : 1);
}
inline void expect_equal(const char* who, const std::string& facts, const float* a, const float* b, std::int64_t n) {
    if (const double d = difference(a, b, n); !(d < 1e-3)) {
        std::fprintf(stderr, "%s differs by %g in {%s}\n", who, d, facts.c_str());
        std::exit(1);
    }
}

/// Libraries read their number of threads when they are loaded: begins the program again with one
/// thread asked for.
inline void with_one_thread(char** argv) {
    if (std::getenv("OMP_NUM_THREADS") && std::getenv("OPENBLAS_NUM_THREADS")) return;
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
    std::perror("beginning again with one thread");
    std::exit(1);
}

template <class Run>
int contest_main(int argc, char** argv, const char* help, contest_settings& s, Run run) {
    with_one_thread(argv);
    const flush_denormals here;
    const auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--layer") s.layer = value;
        else if (name == "--kind") s.kind = value;
        else if (name == "--rounds") s.rounds = number(name, value, 1, 1000);
        else if (name == "--seconds") s.seconds = number(name, value, 1e-6, 10.);
        else return false;
        return true;
    };
    return with_options(argc, argv, help, take, run);
}

} // namespace sinter::bench
