// SPDX-License-Identifier: BSL-1.0
// shows data: processes that share a pipeline compute their own rows alone; four, two, then three go on in one pass
// needs: distributed
#define BOOST_TEST_MODULE streams_over_members
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "net/processes.hpp"
#include <sinter/collective/ring.hpp>
#include <sinter/pipelines.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>

// Real processes train on one pass of a pipeline: at first four, which stop in the middle of it, then two, which stop,
// and at last three. Each writes down the rows that it has computed and those that its steps were given. Together these
// are the rows of one process that reads the pass alone, each once and in its place.
using namespace sinter;

namespace {

struct sample {
    std::array<float, 4> x;
    std::int32_t label;
};
constexpr int batch = 6;

/// The rows of a step as text, "number of the first: first values".
struct notes {
    std::string file;
    std::int64_t ends_at;
    void after_step(training_run& run, const data::batch_view& b) {
        std::ofstream to(file, std::ios::app);
        for (int r = 0; r < b.size; ++r) {
            to << run.step << ' ' << b.first + r;
            for (int i = 0; i < 4; ++i) to << ' ' << b.x[4 * r + i];
            to << '\n';
        }
        if (run.step == ends_at) run.stop("asked");
    }
};
using row_key = std::pair<std::int64_t, int>;   ///< step, place in its batch

void add_rows(std::map<row_key, std::string>& all, const std::string& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        row_key k;
        std::string rest;
        words >> k.first >> k.second;
        std::getline(words, rest);
        BOOST_TEST(all.emplace(k, rest).second, line << ": a second time");
    }
}
/// How many rows this process has computed, as text.
template <class Make, class Strategy>
std::string train(Make make, const Strategy& s, const std::string& notes_file, const std::string& run_file,
                  std::int64_t ends_at) {
    std::atomic<int> computed{0};
    auto data = make() | data::map([&](const sample& e) {
        ++computed;
        return e;
    }) | data::batch(batch);
    estimator model{features<4> >> dense<3>, softmax_cross_entropy, sgd{.learning_rate = 1e-3f}, max_batch<batch>, s,
                    {.threads = 1}};
    notes n{notes_file, ends_at};
    model.train(data, {.epochs = 1, .progress = nullptr}, n,
                save_checkpoints(run_file, {.every_steps = 1, .resume = true, .restarts_at_a_step = 0}));
    return to_text({computed.load()});
}

template <class Make>
void four_then_two_then_three(Make make) {
    std::map<row_key, std::string> wanted, got;
    {
        temporary_folder folder;   // alone, and in a process of its own, since others are forked later
        processes alone;
        alone.start([&] { return train(make, single<cpu_device>{}, folder / "rows", folder / "run", -1); });
        BOOST_TEST(!alone.result(0).starts_with("error"), alone.result(0));
        add_rows(wanted, folder / "rows");
    }
    BOOST_TEST_REQUIRE(wanted.size() > 40u);
    temporary_folder folder;
    std::size_t before = 0;
    const int members[] = {4, 2, 3}, ends[] = {3, 5, -1};
    for (int phase = 0; phase < 3; ++phase) {
        const int n = members[phase];
        const auto at = own_addresses(n);
        processes job;
        const auto file = [&](int r) { return folder / to_text({"rows", phase, "_", r}).c_str(); };
        for (int r = 0; r < n; ++r)
            job.start([&, r] {
                return train(make, multi_worker<ring>{cluster::of(at, r, quick(10))}, file(r), folder / "run",
                             ends[phase]);
            });
        for (int r = 0; r < n; ++r) {
            const std::string computed = job.result(r);
            BOOST_TEST(!computed.starts_with("error"), "phase " << phase << ", rank " << r << ": " << computed);
            std::map<row_key, std::string> own;
            add_rows(own, file(r));
            BOOST_TEST(computed == std::to_string(own.size()));   // no others
            add_rows(got, file(r));
        }
        BOOST_TEST(got.size() > before);
        before = got.size();
    }
    BOOST_TEST((got == wanted));
}

sample numbered(std::int64_t i) {
    const auto x = static_cast<float>(i + 1);
    return {{x, x / 2, 0, -x}, static_cast<std::int32_t>(i % 3)};
}
auto first_numbers(std::int64_t n) { return data::from(n, numbered) | data::shuffle({.seed = 5}); }

} // namespace

BOOST_AUTO_TEST_CASE(shuffled) {
    four_then_two_then_three([] { return first_numbers(47); });
}
BOOST_AUTO_TEST_CASE(filtered_and_shuffled_in_a_window) {
    four_then_two_then_three([] {
        return data::from(90, numbered) | data::filter([](const sample& e) { return e.label != 1; })
             | data::shuffle(13);
    });
}
BOOST_AUTO_TEST_CASE(packed) {
    four_then_two_then_three([] {
        return data::range(80) | data::shuffle({.seed = 2}) | data::map([](std::int64_t i) {
            return std::vector<std::int32_t>(static_cast<std::size_t>(1 + i % 3), static_cast<std::int32_t>(i + 1));
        }) | data::pack<4>([](const std::vector<std::int32_t>& tokens) { return tokens; }, {.window = 7}) |
            data::map([](const data::packed_row<4>& r) {
                sample s{};
                for (std::size_t i = 0; i < 4; ++i) s.x[i] = static_cast<float>(r.tokens[i]);
                return s;
            });
    });
}
BOOST_AUTO_TEST_CASE(mixed) {
    four_then_two_then_three([] {
        return data::sample_from({0.7, 0.3}, {.seed = 9},
                                 first_numbers(40) | data::filter([](const sample& e) { return e.label != 0; }),
                                 first_numbers(25) | data::map([](const sample& e) {
                                     return sample{{e.x[0] + 100, 0, 0, 0}, e.label};
                                 }));
    });
}
BOOST_AUTO_TEST_CASE(streams_in_turns) {
    four_then_two_then_three([] {
        return data::range(7) | data::interleave([](std::int64_t i) {
            return data::from(9, [i](std::int64_t k) { return numbered(10 * i + k); }) |
                   data::filter([](const sample& e) { return e.label != 2; });
        }, {.cycle = 3, .block = 2});
    });
}
