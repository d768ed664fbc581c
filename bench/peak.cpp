// SPDX-License-Identifier: BSL-1.0
// Measures how many float32 multiply-adds the machine does: the figure to which every benchmark is
// compared, in the same run. Usage: peak [THREADS]; prints one JSON line. Build with -O3
// -march=native (and -mprefer-vector-width=512).
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
using vec [[gnu::vector_size(vector_bytes)]] = float;
constexpr std::size_t lanes = vector_bytes / sizeof(float);

// A value that the compiler cannot know: with known inputs it folds the loop.
inline vec hidden(float value) {
    asm volatile("" : "+m"(value));
    return value - vec{};
}

// As many independent chains as there are indices; one multiply-add of each per round.
template <std::size_t... I>
float chains(long rounds, std::index_sequence<I...>) {
    const vec scale = hidden(0.9999f), offset = hidden(1e-6f);
    vec sum[] = {hidden(0.01f * static_cast<float>(I))...};
    for (long r = 0; r < rounds; ++r) ((sum[I] = sum[I] * scale + offset), ...);
    vec total{};
    ((total += sum[I]), ...);
    return total[0] + total[lanes - 1];
}

double now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

std::atomic<float> sink;

// GFLOP/s of all threads together, from the slowest one's time.
template <std::size_t Chains>
double measure(int threads, long rounds) {
    std::atomic<int> waiting{threads};
    std::vector<double> took(static_cast<std::size_t>(threads));
    std::vector<std::thread> team;
    for (auto& time : took)
        team.emplace_back([&waiting, &time, rounds] {
            for (--waiting; waiting > 0;) std::this_thread::yield();
            const double start = now();
            sink = chains(rounds, std::make_index_sequence<Chains>{});
            time = now() - start;
        });
    for (auto& t : team) t.join();
    const double flops = 2.0 * static_cast<double>(lanes * Chains) * static_cast<double>(rounds) * threads;
    return flops / *std::max_element(took.begin(), took.end()) / 1e9;
}

// Nanoseconds in which a cache line goes to another thread and back: what threads wait for at every
// kernel's end. A virtual machine's cores may be neighbours or not, and that changes by the minute.
// The median of pieces: a new thread often shares its parent's core for milliseconds, in each of
// which it takes a hundred thousand times as long.
double round_trip() {
    constexpr int pieces = 2'000, trips = 100;
    alignas(64) std::atomic<int> ball{0};
    std::thread other([&ball] {
        for (int i = 0; i < pieces * trips; ++i) {
            while (ball.load(std::memory_order_acquire) != 2 * i + 1) {}
            ball.store(2 * i + 2, std::memory_order_release);
        }
    });
    std::vector<double> took;
    for (int i = 0; i < pieces * trips;) {
        const double start = now();
        for (const int end = i + trips; i < end; ++i) {
            ball.store(2 * i + 1, std::memory_order_release);
            while (ball.load(std::memory_order_acquire) != 2 * i + 2) {}
        }
        took.push_back(now() - start);
    }
    other.join();
    std::sort(took.begin(), took.end());
    return took[took.size() / 2] / trips * 1e9;
}

int main(int argc, char** argv) {
    const std::string_view text = argc > 1 ? argv[1] : "1";
    int threads = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (code != std::errc{} || end != text.data() + text.size() || threads < 1 || threads > 1024 || argc > 2) {
        std::puts(
            "usage: peak [THREADS]     (1 to 1024)\n"
            "GFLOP/s of float32 multiply-adds, all threads together, as one JSON line");
        return text == "--help" ? 0 : 2;
    }
    std::vector<double> found;
    for (int repeat = 0; repeat < 7; ++repeat)  // how many chains suit depends on latency, ports and registers
        found.push_back(std::max({measure<8>(threads, 8'000'000), measure<10>(threads, 8'000'000),
                                  measure<12>(threads, 8'000'000)}));
    std::sort(found.begin(), found.end());
    std::printf("{\"threads\": %d, \"gflops\": %.1f, \"median_gflops\": %.1f, \"vector_bits\": %zu", threads,
                found.back(), found[found.size() / 2], vector_bytes * 8);
    if (threads > 1 && std::thread::hardware_concurrency() > 1) std::printf(", \"round_trip_ns\": %.0f", round_trip());
    std::puts("}");
}
