// SPDX-License-Identifier: BSL-1.0
// shows saving: files of tables that change, shrink or are replaced while they are used
// needs: distributed
// weighs: 2
#include "job.hpp"
#include "../../io/temporary_folder.hpp"
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>
#include <sinter/estimator/training_end.hpp>
#include <sinter/io/safetensors/open.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/stop_at.hpp>
#include "support/peak_memory.hpp"
#include <functional>
#include <filesystem>
#include <cstdlib>

// Files with tables of 64-bit keys stay on the disk while their rows are used. Whoever resumes, loads or evaluates does
// not hold them; and when somebody damages, changes, shortens or replaces one, nobody uses what was not verified, and
// nobody crashes.
using namespace sinter;

namespace {

constexpr int width = 64, batch = 500, keys_each = 3, steps = 40;
constexpr int rows = steps * batch * keys_each;   // with Adam's slots 46 MB
constexpr auto net =
    keys<keys_each> >> hashed_embedding<width, hashed_options{.most_rows = 2 * rows}> >> flatten >> dense<1>;

/// Step s names rows of its own.
data::dataset all_keys(int first = 0, int last = steps) {
    std::vector<std::int32_t> halves;
    for (std::int64_t i = std::int64_t{first} * batch * keys_each; i < std::int64_t{last} * batch * keys_each; ++i) {
        const std::int64_t key = (i + 1) * 0x0123456789ab;
        halves.insert(halves.end(),
                      {static_cast<std::int32_t>(key & 0xffffffffu), static_cast<std::int32_t>(key >> 32)});
    }
    const std::vector<float> y(halves.size() / (2 * keys_each), 0.5f);
    return data::dataset().input(extents(keys_each, 2), std::move(halves)).targets(extents(1), y);
}
auto model_of(const cluster& c) {
    return estimator{net, mse, adam{.learning_rate = 0.01f}, max_batch<batch>, parameter_server<sync<0>>{c},
                     {.threads = 1}};
}
constexpr save_options every_10{.every_steps = 10, .resume = true, .keep = 2};

/// A job of two servers whose workers do f(model, training data). What worker 0 says.
template <class F>
std::string job(int workers, F f, bool ends_well = true) {
    server_job j(workers, 2);
    j.start_all([=](const cluster& c) -> std::string {
        auto model = model_of(c);
        auto data = data::source(all_keys()) | data::batch(batch);
        if (model.inner().session().serves()) {
            model.train(data, {.epochs = 1, .progress = nullptr});
            return "served";
        }
        return f(model, data);
    });
    const std::string said = j.result(0, 120);
    for (int i = 1; i < workers; ++i) j.result(i);
    if (ends_well)
        for (int i = workers; i < j.size(); ++i) BOOST_TEST(j.result(i) == "served");
    return said;
}
/// A run with two checkpoints: of steps 30 and 40.
void make_run(const std::string& folder) {
    BOOST_TEST_REQUIRE(job(1, [=](auto& model, auto& data) {
        model.train(data, {.epochs = 1, .progress = nullptr}, save_checkpoints(folder, every_10));
        return to_text({model.inner().steps()});
    }) == "40");
    BOOST_TEST_REQUIRE((checkpoint_folder(folder, 2).steps() == std::vector<std::int64_t>{40, 30}));
    training_parts::training_end(folder).write(40);   // as train_and_evaluate does: nobody is to wait for more
}
/// A file of the rows of server 0, which belongs to a checkpoint.
std::string rows_of(const std::string& checkpoint) {
    for (const auto& f : std::filesystem::recursive_directory_iterator(checkpoint + ".tables"))
        if (f.path().filename() == "shard-0-of-2.safetensors") return f.path().string();
    return "none";
}
/// Where the table's values begin there.
std::streamoff values_in(const std::string& path) {
    const auto f = safetensors::open(path, [](std::string_view n) { return n.starts_with("table/"); });
    return static_cast<std::streamoff>(f.at("table/hashed_embedding/table/values").begin);
}
void change_a_row(const std::string& checkpoint) {
    const std::string path = rows_of(checkpoint);
    const std::streamoff at = values_in(path) + std::streamoff{width} * 4 * (rows / 4) + 3;
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    const int byte = f.seekg(at).get();
    f.seekp(at).put(static_cast<char>(byte ^ 1));
}
void shorten(const std::string& checkpoint) {
    const std::string path = rows_of(checkpoint);
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(values_in(path)));
}
void copy_checkpoint(const std::string& from, const std::string& to) {
    constexpr auto all = std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive;
    std::filesystem::copy(from, to, all);
    std::filesystem::copy(from + ".tables", to + ".tables", all);
}
bool says(const std::string& text, const char* word) { return text.find(word) != text.npos; }
/// What one that evaluates says of f(its model, its data).
template <class F>
std::string evaluates(F f) {
    processes all;
    const std::vector<std::string> a = own_addresses(2);
    const auto [host, port] = wire::parse_address(a[0], "a test");
    const auto [server, there] = wire::parse_address(a[1], "a test");
    const std::vector<cluster_member> of{{cluster_role::worker, 0, host, port}, {cluster_role::ps, 0, server, there}};
    return all.result(all.start([&]() -> std::string {
        auto model = model_of(cluster(of, cluster_role::evaluator, 0, quick()));
        auto data = data::source(all_keys(36, 40)) | data::batch(batch);
        return f(model, data);
    }), 120);
}

struct ran {   // one for all cases: it takes a while
    const temporary_folder folder;
    ran() { make_run(folder / "run"); }
    std::string newest() const { return checkpoint_folder(folder / "run", 2).name(40); }
    /// A copy that a case may spoil.
    std::string copy(const std::string& name) const {
        std::filesystem::copy(folder / "run", folder / name.c_str(), std::filesystem::copy_options::recursive);
        return folder / name.c_str();
    }
};
const ran& the_run() {
    static const ran r;
    return r;
}

/// Before the run is saved again: the system maps what is written then.
struct measures {
    double most = 0;
    void after_step(training_run&, const data::batch_view&) { most = test::peak_megabytes(); }
};
BOOST_AUTO_TEST_CASE(a_worker_that_resumes_does_not_hold_the_file) {
    BOOST_TEST(std::filesystem::file_size(rows_of(the_run().newest())) > 22'000'000u);   // of about half the rows
    for (const int workers : {1, 2}) {
        const std::string folder = the_run().copy("resumed" + std::to_string(workers));
        const std::string said = job(workers, [=](auto& model, auto& data) {
            const double before = test::peak_megabytes(true);
            measures memory;
            model.train(data, {.epochs = 2, .progress = nullptr}, save_checkpoints(folder, every_10),
                        stop_at({.step = 42}), memory);
            return to_text({model.inner().steps(), " ", static_cast<std::int64_t>(memory.most - before), " MB"});
        });
        BOOST_TEST(said.starts_with("42 "), said);
        if (!test::is_sanitized) BOOST_TEST(std::atoi(said.c_str() + 3) < 35, said);
    }
}
BOOST_AUTO_TEST_CASE(the_evaluator_does_not_hold_the_file) {
    const std::string folder = the_run().folder / "run";
    const std::string said = evaluates([&](auto& model, auto& data) {
        const double before = test::peak_megabytes(true);
        const auto r = train_and_evaluate(
            model,
            {.data = &data, .max_steps = 40, .folder = folder, .keep = 2, .does = duty::evaluate, .progress = nullptr},
            {.data = &data, .start_delay = 0, .throttle = 0});
        const double more = test::peak_megabytes() - before;
        // Other rows than the file's begin near 0, and a loss of 0.25.
        const bool good =
            r.evaluations.size() == 1 && r.evaluations[0].step == 40 && r.evaluations[0].result.loss < 0.2;
        return to_text({good ? "good " : "bad ", static_cast<std::int64_t>(more), " MB"});
    });
    BOOST_TEST(said.starts_with("good "), said);
    if (!test::is_sanitized) BOOST_TEST(std::atoi(said.c_str() + 5) < 20, said);
}
BOOST_AUTO_TEST_CASE(a_damaged_row_is_found_before_anything_changes) {
    const std::string folder = the_run().copy("damaged");
    change_a_row(checkpoint_folder(folder, 2).name(40));
    // resume() takes the one before
    BOOST_TEST(job(1, [=](auto& model, auto& data) {
        model.train(data, {.epochs = 1, .progress = nullptr}, save_checkpoints(folder, {.resume = true, .keep = 2}),
                    stop_at({.step = 31}));
        return to_text({model.inner().steps()});
    }) == "31");
    const std::string file = folder + "/spoilt";
    copy_checkpoint(the_run().newest(), file);
    change_a_row(file);
    BOOST_TEST(job(1, [=](auto& model, auto& data) {
        std::string said;
        try {
            model.load(file);
        } catch (const format_error& e) { said = e.what(); }
        model.train(data, {.epochs = 1, .progress = nullptr}, stop_at({.step = 1}));
        return to_text({says(said, "was damaged") ? "refused, " : said.c_str(), model.inner().steps()});
    }) == "refused, 1");
}
// Between load() and the first step the rows are still in the file.
BOOST_AUTO_TEST_CASE(a_file_that_is_changed_or_shortened_before_the_first_step) {
    int n = 0;
    for (const auto spoil : {change_a_row, shorten}) {
        const std::string file = the_run().folder / ("before" + std::to_string(n++)).c_str();
        copy_checkpoint(the_run().newest(), file);
        const std::string said = job(1, [=](auto& model, auto& data) -> std::string {
            model.load(file);
            spoil(file);
            model.train(data, {.epochs = 1, .progress = nullptr});
            return "trained";
        }, false);
        BOOST_TEST((says(said, "error: ") && says(said, file.c_str()) &&
                    says(said, spoil == shorten ? "another length" : "was damaged")), said);
    }
}
BOOST_AUTO_TEST_CASE(a_file_that_is_replaced_stays_what_it_was) {
    const std::string file = the_run().folder / "replaced";
    copy_checkpoint(the_run().newest(), file);
    const std::string said = job(1, [=](auto& model, auto& data) -> std::string {
        model.load(file);
        write_bytes(file + "-new", "another");
        std::filesystem::rename(file + "-new", file);
        model.train(data, {.epochs = 1, .progress = nullptr}, stop_at({.step = 41}));
        const bool has_rows = model.evaluate(data).loss < 0.2;
        return to_text({model.inner().steps(), ", ", has_rows ? "with its rows" : "without its rows"});
    });
    BOOST_TEST(said == "41, with its rows");
}
/// A metric that does something behind the first batch.
struct spoils {
    static constexpr const char* name = "spoils";
    std::function<void()> f;
    std::int64_t n = 0;
    void add(const float*, const float*, int rows_of_batch) {
        if (n == 0) f();
        n += rows_of_batch;
    }
    void merge(const spoils& o) { n += o.n; }
    double value() const { return 0; }
    std::int64_t count() const { return n; }
};
BOOST_AUTO_TEST_CASE(an_evaluator_passes_over_a_file_that_changes_while_it_evaluates) {
    const std::string folder = the_run().copy("evaluated");
    const std::string newest = checkpoint_folder(folder, 2).name(40);
    for (const auto spoil : {change_a_row, shorten}) {
        copy_checkpoint(the_run().newest(), newest);
        const std::string said = evaluates([&](auto& model, auto& data) {
            // The first batch is looked up before, the others behind the change.
            auto all = data::source(all_keys()) | data::batch(batch);
            const auto r = train_and_evaluate(
                model,
                {.data = &data, .max_steps = 40, .folder = folder, .keep = 2, .does = duty::evaluate,
                 .progress = nullptr},
                {.data = &all, .metrics = {spoils{[&] { spoil(newest); }}}, .start_delay = 0, .throttle = 0});
            return to_text({r.evaluations.size(), " evaluations"});
        });
        BOOST_TEST(said == "0 evaluations");
    }
}

}   // namespace
