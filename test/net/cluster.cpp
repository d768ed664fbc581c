// SPDX-License-Identifier: BSL-1.0
// shows joining: one time-out from which others follow; settings that contradict each other are refused
// The roster as a value: ranks, roles, and which lists of members are refused.
#define BOOST_TEST_MODULE net_cluster
#include <boost/test/unit_test.hpp>
#include <sinter/net/cluster.hpp>
#include <support/refusals.hpp>
#include <limits>

using namespace sinter;
using sinter_test::refused, sinter_test::says;
using role = cluster_role;

namespace {

const std::vector<cluster_member> six{{role::ps, 1, "p1", 1},     {role::worker, 1, "w1", 1},
                                      {role::chief, 0, "c", 1},   {role::worker, 0, "w0", 1},
                                      {role::ps, 0, "p0", 1},     {role::evaluator, 0, "e", 1}};

} // namespace

BOOST_AUTO_TEST_CASE(ranks_are_those_that_train_chief_first) {
    const cluster c(six, role::worker, 1);
    BOOST_TEST(c.size() == 3);
    BOOST_TEST(c.rank() == 2);
    BOOST_TEST(!c.is_chief());
    BOOST_TEST(c.member(0).name() == "chief/0");
    BOOST_TEST(c.member(1).host == "w0");
    BOOST_TEST(c.self().name() == "worker/1");
    BOOST_TEST(c.workers().size() == 2u);
    BOOST_TEST(c.servers().size() == 2u);
    BOOST_TEST(c.servers()[1].host == "p1");
    BOOST_TEST(c.evaluator()->host == "e");
    BOOST_TEST(c.all().size() == 6u);
    BOOST_TEST(c.addresses_known());
    BOOST_TEST(text_of(c.master()) == "c:1");
    BOOST_TEST(says(refused([&] { c.member(3); }), {"no such rank", "3", "0 to 2"}));
    BOOST_TEST(says(refused([&] { c.member(-1); }), {"no such rank"}));
}

BOOST_AUTO_TEST_CASE(servers_and_evaluators_have_no_rank) {
    const cluster ps(six, role::ps, 0), evaluator(six, role::evaluator, 0);
    BOOST_TEST(ps.rank() == -1);
    BOOST_TEST(!ps.is_chief());
    BOOST_TEST(ps.size() == 3);
    BOOST_TEST(evaluator.rank() == -1);
    BOOST_TEST(evaluator.self().host == "e");
    // An evaluator that is not listed is one all the same.
    const cluster apart({{role::chief, 0, "c", 1}}, role::evaluator, 12);
    BOOST_TEST(apart.self().name() == "evaluator/12");
    BOOST_TEST(apart.rank() == -1);
    BOOST_TEST(apart.size() == 1);
}

BOOST_AUTO_TEST_CASE(without_a_chief_the_first_worker_is_it) {
    BOOST_TEST(cluster::of({"a:1", "b:2"}, 0).is_chief());
    const cluster second = cluster::of({"a:1", "b:2"}, 1);
    BOOST_TEST(!second.is_chief());
    BOOST_TEST(second.rank() == 1);
    BOOST_TEST(second.self().port == 2);
    // Indices may leave gaps; ranks do not.
    const cluster sparse({{role::worker, 7, "b", 1}, {role::worker, 3, "a", 1}}, role::worker, 7);
    BOOST_TEST(sparse.rank() == 1);
    BOOST_TEST(sparse.member(0).name() == "worker/3");
    const cluster one;
    BOOST_TEST(one.size() == 1);
    BOOST_TEST(one.is_chief());
}

BOOST_AUTO_TEST_CASE(contradictory_lists_are_refused) {
    using members = std::vector<cluster_member>;
    const auto list = [](members m, role r = role::worker, int i = 0, cluster_options o = {}) {
        return refused([&] { cluster(m, r, i, o); });
    };
    BOOST_TEST(says(list({}), {"nobody in the cluster trains"}));
    BOOST_TEST(says(list({{role::ps, 0, "a", 1}}, role::ps), {"nobody in the cluster trains"}));
    BOOST_TEST(says(list({{role::chief, 0, "a", 1}, {role::chief, 1, "b", 1}}, role::chief), {"two chiefs"}));
    BOOST_TEST(says(list({{role::worker, 0, "a", 1}, {role::evaluator, 0, "b", 1}, {role::evaluator, 1, "c", 1}}),
                    {"two evaluators"}));
    BOOST_TEST(says(list({{role::worker, 0, "a", 1}, {role::worker, 0, "b", 1}}), {"a task twice", "worker/0"}));
    BOOST_TEST(says(list({{role::worker, -1, "a", 1}}), {"negative", "worker/-1"}));
    BOOST_TEST(says(list({{role::worker, 0, "a", 1}}, role::worker, 1), {"worker/1", "one of its 1 tasks"}));
    BOOST_TEST(says(list({{role::worker, 0, "a", 1}}, role::ps, 0), {"ps/0", "a type that has tasks"}));
    BOOST_TEST(says(list({{role::worker, 0, "a", 1}}, role::evaluator, -1), {"evaluator/-1"}));
    BOOST_TEST(says(list({{role::worker, 0, "a", 1}, {role::ps, 0, "A", 1}}), {"a:1", "worker/0", "ps/0"}));
    BOOST_TEST(says(list({{role::worker, 0, "a", 1}, {role::worker, 1, "a", 1}}), {"a:1", "worker/0", "worker/1"}));
}

BOOST_AUTO_TEST_CASE(one_host_in_two_roles_needs_an_option) {
    const std::vector<cluster_member> talk{
        {role::chief, 0, "host1", 2222}, {role::worker, 0, "host1", 2222}, {role::worker, 1, "host2", 2222}};
    BOOST_TEST(says(refused([&] { cluster(talk, role::worker, 1); }),
                    {"host1:2222", "chief/0", "worker/0", "chief_is_worker0"}));
    cluster_options merge;
    merge.chief_is_worker0 = true;
    const cluster c(talk, role::worker, 1, merge), chief(talk, role::worker, 0, merge);
    BOOST_TEST(c.size() == 2);
    BOOST_TEST(c.rank() == 1);
    BOOST_TEST(c.self().name() == "worker/1");
    BOOST_TEST(chief.self().name() == "chief/0");
    BOOST_TEST(chief.is_chief());
    // Two addresses stay two members.
    const cluster apart({{role::chief, 0, "a", 1}, {role::worker, 0, "b", 1}}, role::worker, 0, merge);
    BOOST_TEST(apart.size() == 2);
    BOOST_TEST(apart.rank() == 1);
}

BOOST_AUTO_TEST_CASE(with_a_master_addresses_come_later) {
    const cluster c = cluster::with_master(2, 3, {"m", 29500});
    BOOST_TEST(c.rank() == 2);
    BOOST_TEST(c.size() == 3);
    BOOST_TEST(!c.addresses_known());
    BOOST_TEST(text_of(c.master()) == "m:29500");
    BOOST_TEST(c.member(1).host.empty());
    const host_port found[] = {{"m", 29500}, {"n", 5}, {"::1", 6}};
    const cluster full = c.with_addresses(found);
    BOOST_TEST(full.addresses_known());
    BOOST_TEST(full.rank() == 2);
    BOOST_TEST(text_of(full.self().address()) == "[::1]:6");
    BOOST_TEST(says(refused([&] { c.with_addresses(std::span(found).first(2)); }), {"got 2", "needed 3"}));
    BOOST_TEST(says(refused([] { cluster::with_master(3, 3, {"m", 1}); }), {"rank", "3", "0 to 2"}));
    BOOST_TEST(says(refused([] { cluster::with_master(0, 0, {"m", 1}); }), {"0", "1 to 100000"}));
    const cluster blind = cluster::with_master(0, 2, {}, {}, "MASTER_ADDR and MASTER_PORT");
    BOOST_TEST(says(refused([&] { blind.master(); }), {"address of rank 0", "MASTER_ADDR and MASTER_PORT"}));
}

BOOST_AUTO_TEST_CASE(addresses) {
    const auto read = [](const char* s) { return text_of(wire::parse_address(s, "here")); };
    BOOST_TEST(read("host:1") == "host:1");
    BOOST_TEST(read("a-b_c.d:65535") == "a-b_c.d:65535");
    BOOST_TEST(read("10.0.0.1:2222") == "10.0.0.1:2222");
    BOOST_TEST(read("[::1]:2222") == "[::1]:2222");
    BOOST_TEST(read("[fe80::1%eth0]:7") == "[fe80::1%eth0]:7");
    for (const char* bad : {"", ":", "host", "host:", ":1", "host:0", "host:65536", "host:-1", "host:1x", "host: 1",
                            "ho st:1", "::1:2222", "[host]:1", "[]:1", "[::1]", "grpc://host:1", "host:6:6", "h\n:1",
                            "[::1%]:1"}) {
        const std::string text = refused([&] { read(bad); });
        BOOST_TEST(says(text, {"here: ", "needed host:port"}), bad);
        BOOST_TEST(text.find('\n') == text.npos);
    }
}

BOOST_AUTO_TEST_CASE(settings_that_contradict_each_other) {
    cluster_options o;
    o.check();
    BOOST_TEST(o.heartbeat_every() == 1);
    BOOST_TEST(o.stuck_after() == 300);
    o.dead_after = 2;
    o.heartbeat = 1.5;
    BOOST_TEST(says(refused([&] { o.check(); }), {"heartbeat", "dead_after"}));
    o.heartbeat = 1;
    o.progress_within = 1;
    BOOST_TEST(says(refused([&] { o.check(); }), {"progress_within", "dead_after"}));
    o.progress_within = 3;
    o.check();
    o.tls.key = "k.pem";
    BOOST_TEST(says(refused([&] { o.check(); }), {"TLS", "certificate, key and authority"}));
    for (const double bad : {0., -1., 1e9, std::numeric_limits<double>::quiet_NaN()}) {
        cluster_options p;
        p.dead_after = bad;
        BOOST_TEST(says(refused([&] { p.check(); }), {"dead_after"}));
    }
}
