// SPDX-License-Identifier: BSL-1.0
// shows servers: TLS: the values of a job without it; other certificates are refused and named
// needs: distributed
// waits: until those that are refused give up
#define BOOST_TEST_MODULE tls
#include <boost/test/unit_test.hpp>
#include "../net/certificates.hpp"
#include "../net/fault_proxy.hpp"
#include "io/temporary_folder.hpp"
#include "job.hpp"
#include <sinter/base/hash.hpp>

// Parameter servers through TLS: the very values as without it, nobody reads along, and who has no certificate of the
// job's authority is kept out and told so, while the others go on.
using namespace sinter;
using server_job::job;
using server_job::shared_counts;

namespace {

/// The job as one of its processes knows it.
job with(job j, const tls_files& files) {
    j.options.tls = files;
    return j;
}
job of(int workers, int servers, std::int64_t floats = 4096) {
    return {.servers = servers, .workers = workers, .floats = floats, .options = quick(2)};
}
/// What this worker's values are after steps of gradients that are no whole numbers: their bytes' hash.
std::string trained(const job& j, int w, std::atomic<std::int64_t>* made = nullptr) {
    parameter_servers::client c(j.worker(w), j.identity(), j.layout(), {.replicas = j.replicas});
    if (w == 0) j.begin(c);
    c.wait_until_open();
    std::vector<std::vector<float>> values;
    std::vector<parameter_servers::pull_target> to;
    for (int s = 0; s < j.servers; ++s) values.emplace_back(static_cast<std::size_t>(j.floats));
    for (auto& v : values) to.push_back({v.data()});
    std::vector<float> g(static_cast<std::size_t>(j.floats));
    std::mt19937 random(static_cast<unsigned>(w));
    for (int step = 0; step < 12 && c.may_step(); ++step) {
        if (made) *made = step;
        for (float& x : g) x = static_cast<float>(random()) * 1e-7f;
        c.begin_push();
        for (int s = 0; s < j.servers; ++s) c.push(s, 0, g);
        c.wait(c.commit({.loss = 1}, to));
    }
    c.leave();
    std::string hashes;
    for (const auto& v : values)
        hashes +=
            std::to_string(base::fnv1a({reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float)})) + ' ';
    return hashes;
}
std::ptrdiff_t descriptors(pid_t of) {
    return std::distance(std::filesystem::directory_iterator("/proc/" + std::to_string(of) + "/fd"), {});
}
/// What all processes of a job say, servers last. Clocks: the sum does not depend on who comes
/// first. `victim`: a server that is killed after some steps.
std::vector<std::string> all_of(job j, const authority* a, int victim = -1) {
    j.order.mode = parameter_servers::update_mode::clocks;
    j.order.all_join = true;
    const auto own = [&](const std::string& name) { return a ? with(j, a->member(name)) : j; };
    processes p;
    shared_counts& counts = shared_counts::make();
    std::vector<int> all;
    for (int w = 0; w < j.workers; ++w)
        all.push_back(p.start([&, w] { return trained(own("worker" + std::to_string(w)), w, &counts.begun[w]); }));
    for (int s = 0; s < j.servers; ++s)
        all.push_back(p.start([&, s] { return own("server" + std::to_string(s)).serve(s); }));
    if (victim >= 0) {
        for (int i = 0; i < 40000 && counts.begun[0] < 4; ++i) ::usleep(500);
        p.signal(all[static_cast<std::size_t>(j.workers + victim)], SIGKILL);
    }
    std::vector<std::string> said;
    for (const int i : all) said.push_back(p.result(i));
    return said;
}

} // namespace

BOOST_AUTO_TEST_CASE(values_are_those_without_it) {
    const temporary_folder f;
    const authority a(f.path(), "authority");
    for (const std::int64_t floats : {std::int64_t{64}, std::int64_t{300'000}}) {   // within one frame, and in two
        const std::vector<std::string> plain = all_of(of(2, 2, floats), nullptr),
            through = all_of(of(2, 2, floats), &a);
        BOOST_TEST(plain == through, boost::test_tools::per_element());
        BOOST_TEST(plain[0] == plain[1]);
        BOOST_TEST(holds(plain[2], "step 12 "), plain[2]);
    }
}

/// Servers tell each other through it, too.
BOOST_AUTO_TEST_CASE(second_copies_have_the_values) {
    const temporary_folder f;
    const authority a(f.path(), "authority");
    job j = of(2, 2, 300'000);
    const std::string expected = all_of(j, nullptr)[0];
    j.replicas = 2;
    for (const int victim : {0, 1}) {
        const std::vector<std::string> said = all_of(j, &a, victim);
        for (const std::size_t w : {0u, 1u}) BOOST_TEST(said[w] == expected);
        BOOST_TEST(said[static_cast<std::size_t>(2 + victim)] == "KILLED");
        BOOST_TEST(holds(said[static_cast<std::size_t>(3 - victim)], "step 12 "),
                   said[static_cast<std::size_t>(3 - victim)]);
    }
}

BOOST_AUTO_TEST_CASE(nobody_on_the_way_reads_or_changes_it) {
    const temporary_folder f;
    const authority a(f.path(), "authority");
    for (const bool flip : {false, true}) {
        const job j = of(1, 1);
        processes p;
        shared_counts& counts = shared_counts::make();
        const auto at = [&](std::size_t i) { return wire::parse_address(j.at[i], "test"); };
        const int proxy = p.start([&] {
            fault_proxy::faults faults;
            std::string seen;
            faults.record = &seen;
            faults.connection = 0;
            if (flip) faults.flip_at = 30000;
            fault_proxy::run(at(15), at(1), faults, [&] {
                counts.other[0] += static_cast<std::int64_t>(seen.size());
                // A float of the gradient again and again, and what a frame's header begins with.
                counts.other[1] += holds(seen, std::string("\0\0\x80\x3f\0\0\x80\x3f", 8)) || holds(seen, "SRNF");
                seen.clear();
                return true;
            });
            return std::string();
        });
        const int server = p.start([&] { return with(j, a.member("server")).serve(0); });
        const int worker = p.start([&] {
            job seen = with(j, a.member("worker"));
            seen.at[1] = j.at[15];
            return server_job::work(seen, 0, 30, counts);
        });
        BOOST_TEST(p.result(worker) == "values 30");   // a flipped bit only costs a connection
        BOOST_TEST(holds(p.result(server), "step 30 worker 30 0 "), p.result(server));
        if (!flip) BOOST_TEST(counts.other[0] > 30 * 4096 * 4);
        BOOST_TEST(counts.other[1] == 0);
        p.signal(proxy, SIGKILL);
    }
}

BOOST_AUTO_TEST_CASE(missing_certificate_is_refused_with_reason) {
    const temporary_folder f;
    const authority ours(f.path(), "ours"), others(f.path(), "others");
    job j = of(2, 1);
    j.options.join_within = 2;
    tls_files theirs = others.member("theirs");
    theirs.authority = f / "ours.pem";   // it would take ours
    const tls_files servers = ours.member("server"), right = ours.member("worker");
    const struct {
        const char* what;
        job server, worker, stranger;
        const char* says;   // besides the server's name
    } kinds[]{
        {"a certificate of another authority", with(j, servers), with(j, right), with(j, theirs), "TLS"},
        {"no TLS where the server has it", with(j, servers), with(j, right), j, ""},
        {"TLS where the server has none", j, j, with(j, right), ""},
    };
    for (const auto& k : kinds) {
        BOOST_TEST_CONTEXT(k.what) {
            processes p;
            shared_counts& counts = shared_counts::make();
            const int server = p.start([&] { return k.server.serve(0); });
            const int worker = p.start([&] {
                parameter_servers::client c(k.worker.worker(0), j.identity(), j.layout());
                j.begin(c);
                server_job::pusher mine(c, j, 0);
                while (!counts.enough && c.may_step()) mine.push(counts), ::usleep(2000);
                const auto values = static_cast<std::int64_t>(server_job::common_value(c, j, 0));
                c.leave();
                return std::to_string(values - counts.acknowledged[0]);
            });
            while (counts.acknowledged[0] == 0) ::usleep(1000);
            const std::ptrdiff_t before = descriptors(p.pid(server));
            const int stranger = p.start([&] {
                parameter_servers::client c(k.stranger.worker(1), j.identity(), j.layout());
                c.wait_until_open();
                return std::string("got in");
            });
            const std::string told = p.result(stranger);
            BOOST_TEST(holds(told, "ps/0 at " + j.at[2] + ", joining the job: it was not there within 2 s: "), told);
            BOOST_TEST(holds(told, k.says), told);
            BOOST_TEST(descriptors(p.pid(server)) <= before + 2);   // it tried dozens of times
            counts.enough = true;
            BOOST_TEST(p.result(worker) == "0");
            BOOST_TEST(holds(p.result(server), "step "), p.result(server));
        }
    }
}
