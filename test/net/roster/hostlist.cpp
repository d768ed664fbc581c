// SPDX-License-Identifier: BSL-1.0
// one thread: functions of text alone
// Slurm's lists of hosts, against what `scontrol show hostnames` prints for them. (Slurm 22 refuses a name that goes on
// behind its last bracket; older manuals have such names.)
#define BOOST_TEST_MODULE net_roster_hostlist
#include <boost/test/unit_test.hpp>
#include <sinter/net/roster/hostlist.hpp>
#include <support/refusals.hpp>

using namespace sinter::wire::roster;
using sinter_test::refused, sinter_test::says;

namespace {

std::string hosts(const char* list) {
    std::string out;
    for (const std::string& host : expand_hostlist(list, "NODES")) (out += out.empty() ? "" : " ") += host;
    return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(lists) {
    BOOST_TEST(hosts("node") == "node");
    BOOST_TEST(hosts("a,b.c-d,e_1") == "a b.c-d e_1");
    BOOST_TEST(hosts("node[01-03,7]") == "node01 node02 node03 node7");
    BOOST_TEST(hosts("node[1-3]") == "node1 node2 node3");
    BOOST_TEST(hosts("node[9-11]") == "node9 node10 node11");
    BOOST_TEST(hosts("node[08-11]") == "node08 node09 node10 node11");
    BOOST_TEST(hosts("node[5]") == "node5");
    BOOST_TEST(hosts("n[0-1]x,login,m[003]-ib") == "n0x n1x login m003-ib");
    BOOST_TEST(hosts("r[1-2]n[1-2]") == "r1n1 r1n2 r2n1 r2n2");
    BOOST_TEST(hosts("[1-2]") == "1 2");
    BOOST_TEST(expand_hostlist("n[0-99999]", "NODES").back() == "n99999");
}

BOOST_AUTO_TEST_CASE(malformed_lists) {
    for (const char* bad : {"", ",", "a,", ",a", "a,,b", "a[", "a[]", "a[1", "a]", "a[x]", "a[2-1]", "a[1-]", "a[-1]",
                            "a[1,]", "a[[1]]", "a[1-2-3]", "a b", "a[0-99999],b", "a[0-999][0-999]", "a[0-999999999]",
                            "a[1000000000]", "a;b", "a\n"})
        BOOST_TEST(says(refused([&] { hosts(bad); }), {"NODES: not a valid list of hosts", "needed"}), bad);
    const std::string wide = "a[" + std::string(1000, '1') + "]", longest(1 << 20, 'a');
    BOOST_TEST(says(refused([&] { hosts(wide.c_str()); }), {"NODES"}));
    BOOST_TEST(says(refused([&] { hosts(longest.c_str()); }), {"255"}));
    std::string product;
    for (int i = 0; i < 100; ++i) product += "[0-9]";
    BOOST_TEST(says(refused([&] { hosts(product.c_str()); }), {"at most 100000"}));
}
