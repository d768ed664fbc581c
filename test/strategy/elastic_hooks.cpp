// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
#define BOOST_TEST_MODULE elastic_hooks
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <sinter/layers/norm.hpp>

// Hooks that write weights, load a file or begin anew at the beginning of a run or of an epoch, in elastic jobs. A
// process that joins calls them in the midst of an epoch, when the others have written all of it long ago: what it has
// been given stays as it is.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto model_net = features<2> >> dense<8> >> batch_norm >> relu >> dense<2>;
template <class Strategy>
auto model_under(const Strategy& s) {
    return estimator{model_net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, in_four_shards(s),
                     {.threads = 1}};
}
constexpr auto four_shards = [](const auto& m) { return elastic(canonical<4>(m)); };

struct writes_at_beginnings {
    std::string file;
    void begin(auto& run) {
        run.model.reset();
        load(run.model, file);
    }
    void epoch_begin(auto& run) {
        const auto& v = run.model.parameter(0);
        std::vector<float> x = run.model.plain(v);
        for (float& f : x) f *= 0.5f;
        run.model.set_plain(v, x.data());
    }
};
std::string bits(const std::vector<float>& w) {
    return std::to_string(sinter::base::checksum::of({reinterpret_cast<const std::byte*>(w.data()), w.size() * 4}));
}
template <class Model, class... Hooks>
std::string trained(Model model, const std::string& file, Hooks... more) {
    auto data = training();
    writes_at_beginnings writes{file};
    model.train(data, {.max_steps = steps_of_a_life, .progress = nullptr}, more..., writes);
    return "steps " + std::to_string(model.inner().steps()) + " bits " + bits(numbers(model));
}

} // namespace

BOOST_AUTO_TEST_CASE(what_hooks_write_at_beginnings) {
    const temporary_folder folder;
    const std::string file = folder / "before.safetensors";
    {
        auto first = model_under(single<cpu_device>{});
        auto data = training();
        first.train(data, {.max_steps = 7, .progress = nullptr});
        first.save(file);
    }
    const std::string alone = trained(model_under(single<cpu_device>{}), file);
    const auto at = own_addresses(3);
    const auto live = [&at, &file](int slot, const plan& p) {
        std::string members;
        const std::string end = trained(model_under(four_shards(multi_worker<ring>{cluster::of(at, slot, quick())})),
                                        file, conduct{p, members});
        return end + " members " + members;
    };
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(r, {.die_at = r == 1 ? 17 : -1, .pause = 0.06, .joined = 3}); });
    BOOST_TEST(job.result(1) == "KILLED");
    const int again = job.start([=] { return live(1, {.pause = 0.06, .joined = 3}); });
    BOOST_TEST(job.result(0) == alone + " members 323");
    BOOST_TEST(job.result(2) == alone + " members 323");
    BOOST_TEST(job.result(again) == alone + " members 3");
}
