// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// weighs: 2
#define BOOST_TEST_MODULE elastic_parts_kept
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <algorithm>
#include <iomanip>
#include <sinter/train/optimizers/clip.hpp>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

// elastic(sharded_update(multi_worker<ring>)): the bits of a job without sharded_update that has lost the same members
// at the same steps; and what memory slots take.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto model_net = features<2> >> dense<40> >> relu >> dense<2>;

constexpr auto adam_model = [](const auto& s) {
    return estimator{model_net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, s, {.threads = 1}};
};
constexpr auto clipped_model = [](const auto& s) {   // all gradients are everywhere
    return estimator{model_net, softmax_cross_entropy, clip_by_global_norm{0.5f, adam{.learning_rate = 0.02f}},
                     max_batch<16>, s, {.threads = 1}};
};
constexpr auto in_parts = [](const auto& m) { return elastic(sharded_update(m)); };
constexpr auto everywhere = [](const auto& m) { return elastic(m); };

/// Members `dies[i]` are killed behind steps 20 + 11 i. What the others tell.
template <class Make, class Under>
std::vector<std::string> job_of(int members, const std::vector<int>& dies, Make make, Under under) {
    const auto at = own_addresses(members);
    processes job;
    for (int r = 0; r < members; ++r)
        job.start([&, r] {
            plan p;
            for (std::size_t i = 0; i < dies.size(); ++i)
                if (dies[i] == r) p.die_at = 20 + 11 * static_cast<int>(i);
            return life(make, under, at, r, p);
        });
    std::vector<std::string> told;
    for (int r = 0; r < members; ++r)
        if (const std::string t = job.result(r, 100); t != "KILLED") told.push_back(t);
    are_equal(told);
    BOOST_TEST(told.size() == static_cast<std::size_t>(members) - dies.size());
    return told;
}
template <class Make>
void has_the_same_bits(int members, const std::vector<int>& dies, Make make) {
    BOOST_TEST_CONTEXT(members << " members, of which " << dies[0] << " dies first") {
        const auto a = job_of(members, dies, make, in_parts), b = job_of(members, dies, make, everywhere);
        BOOST_TEST(word_behind(a[0], "bits") == word_behind(b[0], "bits"), a[0] << " | " << b[0]);
        BOOST_TEST(word_behind(a[0], "members") == word_behind(b[0], "members"));
    }
}

constexpr auto large_net = features<1024> >> dense<3072>;   // two slots of Adam: 25 MB

/// How many members there were, and which share of the slots' pages took memory: "3: 0.67, 2: 1.00". Training ends once
/// there are three again, for this member the `last`-th number of them.
struct notes_memory {
    std::string& log;
    int die_at, last;
    int members = 0, numbers = 0;
    void after_step(auto& run, const data::batch_view&) {
        ::usleep(60'000);
        if (run.step == die_at) ::raise(SIGKILL);
        using P = typename std::remove_cvref_t<decltype(run.model)>::training;
        const int n = run.model.session().member().count;
        if (std::exchange(members, n) == n) return;
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        auto& replica = run.model.session().replicas().first();
        char* const begin = reinterpret_cast<char*>(replica.host({compiler::space::slot, 0}));
        const std::size_t bytes = static_cast<std::size_t>(P::v.floats(compiler::space::slot)) * 4 / page * page;
        std::vector<unsigned char> pages(bytes / page);
        if (::mincore(begin, bytes, pages.data()) != 0) throw data_error("no pages", "mincore", "an error", "none");
        const auto in = std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; });
        std::ostringstream text;
        text << (log.empty() ? "" : ", ") << n << ": " << std::fixed << std::setprecision(2)
             << static_cast<double>(in) / static_cast<double>(pages.size());
        log += text.str();
        if (++numbers == last) run.ask_to_stop("three again");
    }
};
std::string live_large(const std::vector<std::string>& at, int slot, int die_at, int last) {
    std::vector<float> x(12 * 1024);
    std::vector<std::int32_t> labels(12);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) / 97.f;
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i * 101);
    data::dataset d;
    d.input(extents(1024), std::move(x)).labels(std::move(labels), 3072);
    auto data = d | data::batch(6);
    estimator model{large_net, softmax_cross_entropy, adam{}, max_batch<6>,
                    elastic(sharded_update(multi_worker<ring>{cluster::of(at, slot, quick(3))})), {.threads = 1}};
    std::string log;
    notes_memory notes{log, die_at, last};
    model.train(data, {.max_steps = 1000, .progress = nullptr}, notes);
    return log;
}

double share_of(const std::string& log, const std::string& members) {
    const std::size_t at = log.find(members);
    return at == log.npos ? 2 : std::stod(log.substr(at + members.size()));
}

} // namespace

BOOST_AUTO_TEST_CASE(the_bits_of_a_job_that_updates_everywhere) {
    has_the_same_bits(3, {1}, adam_model);
    has_the_same_bits(2, {1}, adam_model);
    has_the_same_bits(5, {0, 3}, adam_model);
    has_the_same_bits(4, {3, 1}, clipped_model);
}
// Two of three parts; both of two; and again two of three.
BOOST_AUTO_TEST_CASE(slots_take_memory_where_they_are_kept) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r) job.start([=] { return live_large(at, r, r == 1 ? 5 : -1, 3); });
    BOOST_TEST(job.result(1, 100) == "KILLED");
    const int again = job.start([=] { return live_large(at, 1, -1, 1); });
    for (const int r : {0, 2}) {
        const std::string said = job.result(r, 120);
        BOOST_TEST(share_of(said, "3: ") < 0.95, said);   // pages may be large
        BOOST_TEST(holds(said, ", 2: 1.00"), said);
        BOOST_TEST(share_of(said.substr(said.find("2: ")), "3: ") < 0.95, said);
    }
    BOOST_TEST(share_of(job.result(again, 120), "3: ") < 0.95, job.result(again, 100));
}
