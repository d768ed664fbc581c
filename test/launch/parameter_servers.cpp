// SPDX-License-Identifier: BSL-1.0
// shows servers: a slow worker is named within two seconds; counters as JSON
// needs: tools distributed
// processors: 2
// alone: it starts itself as the members of a job
//
// sinter-launch with workers and parameter servers: what it tells of each member, to people and as lines of JSON, and
// that it names a worker that is slower than the others.
#define BOOST_TEST_MODULE launch_parameter_servers
#include <boost/property_tree/json_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include "launched.hpp"
#include <map>
#include <optional>
#include <sstream>
#include <thread>
#include <chrono>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace sinter;
using boost::property_tree::ptree;
using launched::run;

namespace {

constexpr int batch = 8;
constexpr hashed_options forty{.most_rows = 40, .admit_after = 2};
constexpr auto net = keys<2> >> hashed_embedding<4, forty> >> flatten >> dense<3>;

struct examples {
    std::vector<std::int64_t> keys_ = std::vector<std::int64_t>(64 * 2);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(64);
    examples() {
        random_stream r(3);
        for (std::int64_t& k : keys_) k = static_cast<std::int64_t>(r.word() % 100);
        for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r.word() % 3);
    }
    data::batch_view at(int i, data::input_view& in) const {
        in = {nullptr, reinterpret_cast<const std::int32_t*>(keys_.data() + i % 8 * batch * 2), 4};
        data::batch_view b;
        b.labels = labels.data() + i % 8 * batch, b.size = batch, b.inputs = {&in, 1};
        return b;
    }
};

/// Steps of 2 ms, for so many seconds. SLOW: from its second second on worker 1's take 40 ms, until two seconds before
/// the end.
template <auto Mode>
int work() {
    using clock = std::chrono::steady_clock;
    const cluster c = cluster::from_environment();
    parameter_server_options o;
    o.input = batch_input::per_worker;
    if (std::getenv("TWICE")) o.replicas = 2;
    const char* const restart = std::getenv("SINTER_RESTART");
    if (std::getenv("DIES") && c.self().name() == "ps/1" && restart && *restart == '0')
        std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(1)), ::raise(SIGKILL); }).detach();
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>, parameter_server<Mode>{c, o}, {.threads = 1}};
    if (t.has_served()) return 0;
    const examples all;
    const bool may_be_slow = c.rank() == 1 && std::getenv("SLOW");
    const double lasts = std::atof(std::getenv("FOR"));
    bool was_slow = false;
    data::input_view in;
    std::optional<clock::time_point> began;   // behind the first step, for which all have come
    for (int i = 0;; ++i) {
        t.step(all.at(i, in));
        const auto now = clock::now();
        if (!began) began = now;
        const double seconds = std::chrono::duration<double>(now - *began).count();
        if (seconds > lasts) break;
        const bool slow = may_be_slow && seconds > 1 && seconds < lasts - 2;
        if (slow && !was_slow) wire::progress_report().note("slows down");
        was_slow = slow;
        std::this_thread::sleep_for(std::chrono::milliseconds(slow ? 40 : 2));
    }
    t.end_training();
    return 0;
}
int member(const std::string& mode) {
    try {
        if (mode == "async") return work<async>();
        if (mode == "stale") return work<stale<3>>();
        return work<sync<1>>();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
const bool is_no_member = [] {
    if (const char* mode = std::getenv("TRAINS")) std::exit(member(mode));
    return true;
}();

std::vector<ptree> lines_of(const std::string& text) {
    std::vector<ptree> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        std::istringstream one(line);
        boost::property_tree::read_json(one, all.emplace_back());   // throws where it is no JSON
    }
    return all;
}
/// The last line of each member.
std::map<std::string, ptree> last_of(const std::vector<ptree>& lines) {
    std::map<std::string, ptree> last;
    for (const ptree& l : lines)
        if (!l.get_optional<bool>("slow")) last[l.get<std::string>("member")] = l;
    return last;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_each_member_counts) {
    const auto attempt = [] {
        return run("FOR=2.5 TRAINS=async $L --workers 2 --ps 2 --progress 0.5 --json lines -- $M; s=$?\n"
                   "cat lines; exit $s");
    };
    auto o = attempt();   // where the machine has other work any worker may be slow
    for (int i = 0; i < 5 && o.has(" is slow"); ++i) o = attempt();
    BOOST_REQUIRE(o.status == 0);
    const std::vector<ptree> lines = lines_of(o.out);
    double before = 0;
    for (const ptree& l : lines) {
        BOOST_TEST(l.get<double>("seconds") >= before);
        before = l.get<double>("seconds");
    }
    const auto last = last_of(lines);
    BOOST_TEST(last.size() == 4u);
    for (const auto& [name, l] : last) {
        BOOST_TEST_CONTEXT(name) {
            for (const char* key : {"step", "steps_per_second", "sent", "received"})
                BOOST_TEST(l.get<double>(key) > 0, key);
            for (const char* key : {"staleness", "most_staleness", "dropped", "repeated"})
                BOOST_TEST(l.get<double>(key) >= 0, key);
            BOOST_TEST(l.get<double>("staleness") <= l.get<double>("most_staleness"));
            BOOST_TEST(l.get<double>("most_staleness") < 3000);   // more steps than the other makes in all
            BOOST_TEST(l.get<double>("repeated") == 0);
            BOOST_TEST(l.get_child_optional("tables").has_value() == name.starts_with("ps/"));
        }
    }
    double rows = 0;
    for (const char* server : {"ps/0", "ps/1"}) {
        const ptree& tables = last.at(server).get_child("tables");
        BOOST_TEST(tables.size() == 1u);
        const ptree& t = tables.front().second;
        BOOST_TEST(t.get<double>("rows") == 20);   // half of them: all are taken
        BOOST_TEST(t.get<double>("made") == 20);
        BOOST_TEST(t.get<double>("waiting") > 0);
        BOOST_TEST(t.get<double>("refused") > 0);
        BOOST_TEST(t.get<double>("evicted") == 0);
        BOOST_TEST(t.get<double>("expired") == 0);
        rows += t.get<double>("rows");
        BOOST_TEST(last.at(server).get<double>("step") >= last.at("worker/0").get<double>("global_step") - 200);
    }
    BOOST_TEST(rows == 40);
    BOOST_TEST(o.has(" staleness "));
    BOOST_TEST(o.has("sinter-launch: ps/0: "));
    BOOST_TEST(o.has(", 20 rows"));
    BOOST_TEST(!o.has(" is slow"), o.err);
}

/// Seconds from when worker 1 becomes slow until it is named; -1: it is not.
double until_named(const std::vector<ptree>& lines) {
    double since = -1;
    for (const ptree& l : lines) {
        if (since < 0 && l.get("note", "") == "slows down") since = l.get<double>("seconds");
        if (const auto slow = l.get_optional<bool>("slow"); slow && *slow && since >= 0)
            return l.get<double>("seconds") - since;
    }
    return -1;
}

/// What is wrong with what the launcher says of jobs in which worker 1 is slow for a while; empty: nothing. Where the
/// machine has other work any worker may be slow.
std::string trouble_with_a_slow_worker() {
    const auto o = run(R"sh(for m in async stale sync
        do SLOW=1 FOR=6 TRAINS=$m $L --workers 3 --ps 1 --progress 0 --json lines.$m -- $M 2>said.$m & done; wait
        for m in async stale sync; do echo "== $m"; cat said.$m lines.$m; done)sh");
    std::string trouble;
    for (const std::string mode : {"async", "stale", "sync"}) {
        std::string said = o.out.substr(o.out.find("== " + mode + "\n") + mode.size() + 4);
        said = said.substr(0, std::min(said.find("== "), said.size()));
        const std::size_t json = std::min(said.find("{\"seconds"), said.size());
        const double seconds = until_named(lines_of(said.substr(json)));
        said = said.substr(0, json);
        const auto need = [&](bool right, const std::string& what) {
            if (!right) trouble += mode + ": " + what + ": " + said + "\n";
        };
        need(said.find("sinter-launch: worker/1 is slow: ") != said.npos, "it is not named");
        need(said.find("sinter-launch: worker/1 keeps up with the others again") != said.npos, "its end is not told");
        for (const char* other : {"worker/0", "worker/2"})
            need(said.find(std::string(other) + " is slow") == said.npos, other);
        need(seconds >= 0 && seconds <= 2, "named after " + std::to_string(seconds) + " s");
    }
    return trouble;
}

BOOST_AUTO_TEST_CASE(a_slow_worker_is_named_within_two_seconds) {
    std::string trouble = "not tried";
    for (int attempt = 0; attempt < 6 && !trouble.empty(); ++attempt) trouble = trouble_with_a_slow_worker();
    BOOST_TEST(trouble == "", trouble);
}

BOOST_AUTO_TEST_CASE(a_server_may_die_that_is_kept_twice) {
    const auto alone = run("TWICE=1 DIES=1 FOR=3 TRAINS=async $L --workers 2 --ps 2 --replicas 2 --progress 0 -- $M");
    BOOST_TEST(alone.status == 0, alone.err);
    BOOST_TEST(alone.has("ps/1 failed"), alone.err);
    const auto again =
        run("TWICE=1 DIES=1 FOR=3 TRAINS=async $L --workers 2 --ps 2 --replicas 2 --restarts 1 --progress 0 -- $M");
    BOOST_TEST(again.status == 0, again.err);
    BOOST_TEST(again.has("ps/1 is started again; restart 1 of 1"), again.err);
    const auto one = run("$L --workers 2 --ps 1 --replicas 2 -- $M");
    BOOST_TEST((one.status == 2 && one.has("one server cannot keep its part twice")), one.err);
}
