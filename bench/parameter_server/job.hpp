// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <sinter/base/os/monotonic_seconds.hpp>

#include "../options.hpp"

/// What workers and servers do when a parameter server is timed, the same for Sinter, ps-lite and
/// plain sockets: a step pushes the gradient of what was pulled last and pulls what comes next,
/// both under way at once, and waits for both.
namespace sinter::bench {

struct server_job {
    int servers = 1, workers = 1;
    std::string what = "rows";                     ///< rows: of a table; dense: a vector of dim floats
    std::int64_t dim = 16, rows = 128, table = 100'000;
    double seconds = 1;
    double compute_ms = 0, slower = 1;             ///< a step's pause; the last worker's is so many times as long

    bool dense() const { return what == "dense"; }
    /// Rows, or floats of the vector, that a server has.
    std::int64_t held_by(int s) const { return ((dense() ? dim : table) + servers - 1 - s) / servers; }

    bool take(const std::string& name, const std::string& value) {
        constexpr std::int64_t most = std::int64_t{1} << 31;
        if (name == "--servers") servers = number<int>(name, value, 1, 16);
        else if (name == "--workers") workers = number<int>(name, value, 1, 16);
        else if (name == "--what") what = value;
        else if (name == "--dim") dim = number<std::int64_t>(name, value, 1, most);
        else if (name == "--rows") rows = number<std::int64_t>(name, value, 1, most);
        else if (name == "--table") table = number<std::int64_t>(name, value, 1, most);
        else if (name == "--seconds") seconds = number<double>(name, value, 0.01, 1e4);
        else if (name == "--compute") compute_ms = number<double>(name, value, 0, 1e4);
        else if (name == "--slower") slower = number<double>(name, value, 1, 1e3);
        else return false;
        return true;
    }
    int counted() const { return slower > 1 && workers > 1 ? workers - 1 : workers; }
    void compute(int worker) const {
        if (compute_ms > 0) ::usleep(static_cast<useconds_t>(1e3 * compute_ms * (worker >= counted() ? slower : 1)));
    }
    void check() const {
        if (what != "rows" && what != "dense") throw option_error("no such work", "--what", what, "rows or dense");
        if (!dense() && rows > table / 2)
            throw option_error("too many rows for the table", "--rows", std::to_string(rows),
                               std::to_string(table / 2));
    }
};

/// Rows of one step by server, unique and in order; row r of the table is row r / servers of
/// server r % servers.
using step_rows = std::vector<std::vector<std::int32_t>>;
inline std::vector<step_rows> draw_rows(const server_job& j, int worker, int sets = 32) {
    std::mt19937_64 random(static_cast<std::uint64_t>(worker) + 1);
    std::uniform_int_distribution<std::int64_t> any(0, j.table - 1);
    std::vector<step_rows> all;
    for (int k = 0; k < sets; ++k) {
        std::vector<std::int64_t> rows;
        while (static_cast<std::int64_t>(rows.size()) < j.rows) {
            while (static_cast<std::int64_t>(rows.size()) < j.rows) rows.push_back(any(random));
            std::sort(rows.begin(), rows.end());
            rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        }
        step_rows by(static_cast<std::size_t>(j.servers));
        for (const std::int64_t r : rows)
            by[static_cast<std::size_t>(r % j.servers)].push_back(static_cast<std::int32_t>(r / j.servers));
        all.push_back(std::move(by));
    }
    return all;
}

/// Memory that forked processes share: where workers wait for each other, and leave how fast they
/// were.
class tally {
public:
    static constexpr int most = 16;
    tally() {
        void* const p = ::mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw device_error("no shared memory", "mmap", "failed", std::to_string(sizeof(shared)));
        at_ = new (p) shared{};
    }
    /// Returns once n processes have called it so many times as this one.
    void meet(int n) {
        ++calls_;
        ++at_->arrived;
        while (at_->arrived < calls_ * n) ::usleep(200);
    }
    struct shared {
        std::atomic<int> arrived{0};
        std::atomic<std::int64_t> steps{0};   // that each makes
        double steps_per_s[most] = {}, median_ms[most] = {}, best_ms = 0;   // best: the first worker's
        std::int64_t peak_kib[most] = {};
    };
    shared& at() { return *at_; }

private:
    shared* at_;
    int calls_ = 0;
};

/// Times step(k), k = 0, 1, ..., of one worker, for j.seconds; all workers begin together. rest()
/// comes before it waits for the others, who may not have to wait for a step of its meanwhile.
template <class Step, class Rest>
void time_worker(tally& t, const server_job& j, int worker, Step step, Rest rest) {
    std::int64_t k = 0;
    const double warm_until = base::monotonic_seconds() + std::min(0.3, j.seconds / 3);
    const auto next = [&] { j.compute(worker), step(k++); };
    while (k < 3 || base::monotonic_seconds() < warm_until) next();
    rest();
    t.meet(j.workers);
    std::vector<double> took;
    took.reserve(1 << 20);
    const double begin = base::monotonic_seconds();
    double last = begin;
    while (last - begin < j.seconds || took.size() < 3) {
        next();
        const double now = base::monotonic_seconds();
        took.push_back(now - last);
        last = now;
    }
    const auto w = static_cast<std::size_t>(worker);
    t.at().steps_per_s[w] = static_cast<double>(took.size()) / (last - begin);
    std::nth_element(took.begin(), took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2), took.end());
    t.at().median_ms[w] = 1e3 * took[took.size() / 2];
    rest();
    t.meet(j.workers);
}

/// The line of a run; `more`: further fields. A slow worker is not counted in its rate.
inline void print_job(tally& t, const server_job& j, const std::string& system, const std::string& more = {}) {
    const auto& a = t.at();
    const double rate = std::accumulate(a.steps_per_s, a.steps_per_s + j.counted(), 0.);
    std::printf("{\"system\": \"%s\", \"what\": \"%s\", \"servers\": %d, \"workers\": %d, \"dim\": %lld, ",
                system.c_str(), j.dense() ? "push and pull" : "push and pull rows", j.servers, j.workers,
                static_cast<long long>(j.dim));
    if (!j.dense())
        std::printf("\"rows\": %lld, \"table\": %lld, ", static_cast<long long>(j.rows),
                    static_cast<long long>(j.table));
    if (j.compute_ms > 0) std::printf("\"compute_ms\": %g, \"slower\": %g, ", j.compute_ms, j.slower);
    std::printf("%s\"steps_per_s\": %.1f, \"median_ms\": %.5f}\n", more.c_str(), rate,
                *std::max_element(a.median_ms, a.median_ms + j.counted()));
    std::fflush(stdout);
}

} // namespace sinter::bench
