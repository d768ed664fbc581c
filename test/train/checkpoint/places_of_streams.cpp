// SPDX-License-Identifier: BSL-1.0
// shows data: a checkpoint has the places of all stages; other stages, and damaged places, are refused
#define BOOST_TEST_MODULE places_of_streams
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <cstdio>
#include <functional>

// Runs on streams, which have more places than a number.
using namespace sinter;

namespace {

struct point {
    std::array<float, 2> x;
    std::int32_t label;
};
int asked = 0;   ///< how many elements the filter has been asked of
int asked_by_first_step = -1;

auto points(std::int64_t n) {
    return data::from(n, [](std::int64_t i) {
        random_stream random(7, static_cast<std::uint64_t>(i));
        const float x = random.uniform(), y = random.uniform();
        return point{{x, y}, x > y};
    });
}
auto stream(std::int64_t n = 400, float least = 0.3f, std::int64_t window = 16) {
    return points(n) | data::filter([least](const point& p) { return ++asked, p.x[0] + p.x[1] > least; })
         | data::shuffle(window) | data::map([](const point& p, random_stream& random) {
               return point{{p.x[0] + random.uniform() / 10, p.x[1]}, p.label};
           });
}
struct ends_behind {
    std::int64_t step;
    void after_step(training_run& run, const data::batch_view&) {
        if (asked_by_first_step < 0) asked_by_first_step = asked;
        if (run.step == step) throw std::runtime_error("killed");
    }
};
/// Weights at the end of the run, or until it was killed.
template <class Stages>
std::vector<float> run(const std::string& file, Stages stages, std::int64_t dies = -1, int batch = 8) {
    auto data = stages | data::batch(batch);
    auto held_out = stream(60) | data::batch(8);
    estimator model{features<2> >> dense<4> >> relu >> dense<2>, softmax_cross_entropy, adam{.learning_rate = 0.1f},
                    max_batch<16>, {.threads = 1}};
    try {
        model.train(data, {.epochs = 2, .validation = &model.pipeline_of(held_out), .progress = nullptr},
                    save_checkpoints(file, {.every_steps = 1, .resume = true, .restarts_at_a_step = 0}),
                    ends_behind{dies});
    } catch (const std::runtime_error& e) {
        if (std::string(e.what()) != "killed") throw;
    }
    std::vector<float> w;
    for (int i = 0; i < model.inner().parameters(); ++i)
        for (const float x : model.inner().plain(model.inner().parameter(i))) w.push_back(x);
    return w;
}
/// The file with this tensor's bytes changed; without checksums, as somebody may write it who knows the format.
void change(const std::string& file, const std::string& name, const std::function<void(std::vector<std::byte>&)>& f) {
    const safetensors::file all = safetensors::read(file);
    std::vector<std::vector<std::byte>> bytes;
    std::vector<safetensors::entry> entries;
    bytes.reserve(all.tensors.size());
    for (const auto& [n, t] : all.tensors) {
        bytes.emplace_back(t.data.begin(), t.data.end());
        std::vector<std::int64_t> shape(t.shape.begin(), t.shape.end());
        if (n == name) {
            f(bytes.back());
            shape[0] = std::ssize(bytes.back());
        }
        entries.push_back({n, t.type, shape, bytes.back().data()});
    }
    auto metadata = all.metadata;
    metadata.erase("checksum");
    metadata.erase("metadata_checksum");
    safetensors::write(file, entries, metadata);
}

} // namespace

BOOST_AUTO_TEST_CASE(killed_behind_any_step) {
    temporary_folder whole;
    const std::vector<float> undisturbed = run(whole / "run", stream());
    for (const std::int64_t step : {1, 20, 39, 40, 44, 57, 80}) {   // an epoch has some forty
        temporary_folder folder;
        run(folder / "run", stream(), step);
        BOOST_TEST((run(folder / "run", stream()) == undisturbed), "killed behind step " << step);
    }
}

BOOST_AUTO_TEST_CASE(going_on_reads_no_more_than_the_window_needs) {
    temporary_folder folder;
    run(folder / "run", stream(20'000), 1500);
    asked = 0;
    asked_by_first_step = -1;
    run(folder / "run", stream(20'000), 1501);
    BOOST_TEST(asked_by_first_step > 0);
    BOOST_TEST(asked_by_first_step < 100);   // of some 12,000 before: two windows, a batch, what the filter leaves out
}

BOOST_AUTO_TEST_CASE(other_stages_are_refused) {
    temporary_folder folder;
    const std::string file = folder / "run";
    run(file, stream(), 5);
    const auto refused = [&](auto stages, std::string_view what, int batch = 8) {
        BOOST_CHECK_EXCEPTION(run(file, stages, -1, batch), mismatch_error, [&](const mismatch_error& e) {
            BOOST_TEST(holds(e.what(), "the run was trained on other data"), e.what());
            BOOST_TEST(holds(e.got(), what), e.got());
            return holds(e.needed(), "load()");
        });
    };
    refused(stream(400, 0.3f, 17), "stage 3 (shuffle): window: the file has 16, this run has 17");
    refused(stream(401), "elements: the file has 400, this run has 401");
    refused(stream(), "size: the file has 8, this run has 16", 16);
    refused(stream() | data::take(100), "stage 5: the file has batch, this run has take");
    BOOST_TEST(run(file, stream()).size() > 0u);   // nothing was lost
}

BOOST_AUTO_TEST_CASE(damaged_places_are_refused) {
    temporary_folder folder;
    const std::string file = folder / "run";
    const auto again = [&](const std::function<void(std::vector<std::byte>&)>& f) {
        std::remove(file.c_str());
        run(file, stream(), 12);
        change(file, "run/cursors", f);
    };
    again([](std::vector<std::byte>&) {});
    const std::vector<float> whole = run(file, stream());
    const auto is_refused = [&](const std::function<void(std::vector<std::byte>&)>& f) {
        again(f);
        BOOST_CHECK_EXCEPTION(run(file, stream()), format_error, [](const format_error& e) {
            return holds(e.what(), "damaged, or a place among other data");
        });
    };
    is_refused([](std::vector<std::byte>& b) { b.pop_back(); });
    is_refused([](std::vector<std::byte>& b) { b.push_back(std::byte{0}); });
    is_refused([](std::vector<std::byte>& b) { b[7] = std::byte{0x80}; });    // below 0
    is_refused([](std::vector<std::byte>& b) { b[3] = std::byte{0x10}; });    // far behind the end
    is_refused([](std::vector<std::byte>& b) { b[15] = std::byte{0x7f}; });   // a group that no stream comes to
}

// The same pipeline in another program: another lambda makes the points, and there are more of them in the file.
BOOST_AUTO_TEST_CASE(names_in_code_are_not_part_of_the_data) {
    temporary_folder folder;
    run(folder / "run", stream(), 5);
    const auto same_stream = [] {
        return data::from(400, [](std::int64_t i) {
            random_stream random(7, static_cast<std::uint64_t>(i));
            const float x = random.uniform(), y = random.uniform();
            return point{{x, y}, x > y};
        }) | data::filter([](const point& p) { return p.x[0] + p.x[1] > 0.3f; }) | data::shuffle(16)
           | data::map([](const point& p, random_stream& random) {
                 return point{{p.x[0] + random.uniform() / 10, p.x[1]}, p.label};
             });
    };
    temporary_folder whole;
    BOOST_TEST((run(folder / "run", same_stream()) == run(whole / "run", stream())));
}
