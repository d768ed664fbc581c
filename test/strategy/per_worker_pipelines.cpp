// SPDX-License-Identifier: BSL-1.0
// shows data: `data::per_worker`: each worker's own pipeline, made again when workers change; files dealt to workers
// needs: distributed
#define BOOST_TEST_MODULE per_worker_pipelines
#include <boost/test/unit_test.hpp>
#include "net/processes.hpp"
#include <sinter/collective/ring.hpp>
#include <sinter/pipelines.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <algorithm>
#include <map>

// Pipelines of which each worker has its own.
using namespace sinter;

namespace {

struct sample {
    std::array<float, 2> x;
    std::int32_t label;
};
constexpr port_info inputs[] = {{.s = {.rank = 1, .d = {2}}}}, targets[] = {{.s = {.type = dtype::i32}}};
constexpr data::model_ports ports{{inputs, 1}, {targets, 1}};

/// "Files" of ten elements each, which are numbered through.
auto read_file(std::int64_t file) {
    return data::from(10, [file](std::int64_t i) {
        const auto n = static_cast<std::int32_t>(10 * file + i);
        return sample{{static_cast<float>(n), 1}, n};
    });
}
auto share_of(std::int64_t files, data::worker_files_options o) {
    return data::worker_files(data::range(files), read_file, o);
}
/// How often each number comes over all workers.
std::map<std::int32_t, int> numbers_of_workers(std::int64_t files, int count, data::shard_policy policy) {
    std::map<std::int32_t, int> all;
    for (int i = 0; i < count; ++i)
        for (const sample& s : data::elements(share_of(files, {.index = i, .count = count, .policy = policy})))
            ++all[s.label];
    return all;
}
std::vector<std::int32_t> labels_of_pass(data::pipeline& p) {
    std::vector<std::int32_t> all;
    for (const data::batch_view& b : p) all.insert(all.end(), b.labels, b.labels + b.size);
    std::sort(all.begin(), all.end());
    return all;
}
auto files_of(int n) {
    return data::per_worker([n](int index, int count) {
        return share_of(n, {.index = index, .count = count}) | data::batch(4);
    });
}

} // namespace

BOOST_AUTO_TEST_CASE(files_and_elements_are_dealt_out) {
    using enum data::shard_policy;
    for (const data::shard_policy policy : {automatic, file, data::shard_policy::data})
        for (const int count : {1, 2, 3, 5}) {
            const auto all = numbers_of_workers(5, count, policy);
            BOOST_TEST(all.size() == 50u);
            for (const auto& [number, times] : all) BOOST_TEST(times == 1, number);
        }
    for (const auto& [number, times] : numbers_of_workers(5, 3, off)) BOOST_TEST(times == 3, number);
    // With a file for each worker nobody reads another's.
    for (const sample& s : data::elements(share_of(6, {.index = 1, .count = 3}))) BOOST_TEST(s.label / 10 % 3 == 1);
    // With too few the elements are dealt out, or it is an error.
    const auto some = numbers_of_workers(2, 3, automatic);
    BOOST_TEST(some.size() == 20u);
    const auto is_named = [](const option_error& e) {
        return e.where() == "worker_files" && e.got() == "2 files" && holds(e.needed(), "3 or more");
    };
    BOOST_CHECK_EXCEPTION(share_of(2, {.index = 0, .count = 3, .policy = file}), option_error, is_named);
    BOOST_CHECK_THROW(share_of(2, {.index = 3, .count = 3}), option_error);
}

BOOST_AUTO_TEST_CASE(made_again_for_the_pass_behind_a_change) {
    auto batches = files_of(6);
    BOOST_CHECK_THROW(batches.seek({1, 0}), option_error);
    data::pipeline& p = data::pipeline_for<ports>(batches, 1, 2);
    BOOST_TEST(labels_of_pass(p).size() == 30u);
    p.next();
    BOOST_TEST((p.position().epoch == 1 && p.position().index == 4));
    p.be_worker(1, 3);   // in the middle of a pass, which goes on as it was
    std::vector<std::int32_t> rest = labels_of_pass(p);
    BOOST_TEST(rest.size() == 26u);
    const std::vector<std::int32_t> next = labels_of_pass(p);
    BOOST_TEST(next.size() == 20u);
    for (const std::int32_t n : next) BOOST_TEST(n / 10 % 3 == 1);
    const data::position at = p.position();
    BOOST_TEST((at == data::position{3, 0}));
    p.next();
    const data::position within = p.position();
    const std::int32_t label = p.next()->labels[0];
    p.seek(within);
    BOOST_TEST(p.next()->labels[0] == label);
    BOOST_TEST(&data::pipeline_for<ports>(batches, 1, 3) == &p);   // goes on
    BOOST_TEST(batches.position().index == 8);
    batches.rewind();
    BOOST_TEST((batches.position() == data::position{}));
}

BOOST_AUTO_TEST_CASE(workers_train_on_their_own) {
    const auto seen = [](const auto& strategy) {
        std::map<int, int> times;
        auto data = data::per_worker([&times](int index, int count) {
            return share_of(5, {.index = index, .count = count}) | data::map([&times](const sample& s) {
                ++times[s.label];
                return sample{{static_cast<float>(s.label % 7), 1}, s.label % 3};
            }) | data::batch(4);
        });
        estimator model{features<2> >> dense<3>, softmax_cross_entropy, sgd{.learning_rate = 1e-2f}, max_batch<4>,
                        strategy, {.threads = 1}};
        const auto history = model.train(data, {.epochs = 2, .progress = nullptr});
        std::string text = std::to_string(history.back().examples) + ":";
        for (const auto& [number, n] : times) text += " " + std::to_string(number) + "x" + std::to_string(n);
        const evaluation_result e = model.evaluate(data);
        return text + " evaluated " + std::to_string(e.examples);
    };
    const auto at = own_addresses(2);
    processes job;
    for (int r = 0; r < 2; ++r)
        job.start([&, r] {
            return seen(multi_worker<ring>{cluster::of(at, r, quick(10)), {.input = batch_input::per_worker}});
        });
    const std::string a = job.result(0), b = job.result(1);
    for (const std::string& t : {a, b}) {
        BOOST_TEST(t.starts_with("50:"), t);   // of both
        BOOST_TEST(holds(t, "evaluated 50"), t);
    }
    for (int n = 0; n < 50; ++n) {
        const std::string twice = " " + std::to_string(n) + "x2";
        BOOST_TEST(holds(n / 10 % 2 ? b : a, twice), n << ": " << a << "; " << b);
        BOOST_TEST(!holds(n / 10 % 2 ? a : b, " " + std::to_string(n) + "x"), n << ": " << a << "; " << b);
    }
    BOOST_TEST(seen(single<cpu_device>{}).starts_with("50: 0x2 1x2"));
    processes shared;   // where members share batches they must read the same
    const auto others = own_addresses(2);
    for (int r = 0; r < 2; ++r)
        shared.start([&, r] { return seen(multi_worker<ring>{cluster::of(others, r, quick(10))}); });
    for (int r = 0; r < 2; ++r) {
        const std::string t = shared.result(r);
        BOOST_TEST(holds(t, "members do not train alike"), t);
        BOOST_TEST(holds(t, "shard"), t);
        BOOST_TEST(holds(t, "batch_input::per_worker"), t);
    }
}
