// SPDX-License-Identifier: BSL-1.0
// shows network: TLS: without a certificate nobody gets in, nobody reads along
// needs: distributed
// waits: until those that are refused give up
#define BOOST_TEST_MODULE tls
#include <boost/test/unit_test.hpp>
#include <sinter/net/process_group.hpp>
#include "certificates.hpp"
#include "fault_proxy.hpp"
#include "processes.hpp"
#include "io/temporary_folder.hpp"

// The same job through TLS: what members say to each other, and who is kept out.
using namespace sinter;
using wire::process_group;

/// Sends numbered payloads to the other one, and checks what comes.
static std::string talk(const cluster& c, std::size_t bytes, int rounds) {
    process_group g(c, {});
    const int other = 1 - g.rank();
    std::vector<std::byte> mine(bytes), theirs(bytes);
    for (int i = 0; i < rounds; ++i) {
        const auto value = [i](int from, std::size_t j) {
            return static_cast<std::byte>(i + from * 9 + static_cast<int>(j % 251));
        };
        for (std::size_t j = 0; j < bytes; ++j) mine[j] = value(g.rank(), j);
        g.link(other).send({.operation = 1, .step = i}, mine);
        g.link(other).receive({.operation = 1, .step = i}, theirs);
        for (;;) {
            const bool gone = g.link(other).flush(), here = g.link(other).fill();
            if (gone && here) break;
            pollfd waits[] = {{g.link(other).descriptor(), g.link(other).wants(), 0},
                              {g.failed_descriptor(), POLLIN, 0}};
            ::poll(waits, 2, 1000);
            g.check();
        }
        for (std::size_t j = 0; j < bytes; ++j)
            if (theirs[j] != value(other, j)) return "WRONG DATA";
    }
    g.exchange("end", "");
    g.leave();
    return "right";
}

static cluster_options through(const tls_files& f, double join_within = 30) {
    cluster_options o = quick(5);
    o.tls = f;
    o.join_within = join_within;
    return o;
}

BOOST_AUTO_TEST_CASE(members_with_certificates_connect_and_exchange) {
    const temporary_folder f;
    const authority a(f.path(), "authority");
    const tls_files files[] = {a.member("zero"), a.member("one")};
    for (const std::size_t bytes : {0ul, 1ul, 5000ul, wire::most_payload}) {
        const auto at = own_addresses(2);
        processes p;
        for (int r = 0; r < 2; ++r)
            p.start([&, r] { return talk(cluster::of(at, r, through(files[r])), bytes, bytes > 10000 ? 5 : 50); });
        for (int r = 0; r < 2; ++r) BOOST_TEST(p.result(r) == "right");
    }
}

BOOST_AUTO_TEST_CASE(nobody_on_the_way_reads_or_changes_it) {
    const temporary_folder f;
    const authority a(f.path(), "authority");
    const tls_files files[] = {a.member("zero"), a.member("one")};
    const auto at = own_addresses(3);
    for (const bool flip : {false, true}) {
        processes p;
        int ends[2];
        BOOST_REQUIRE(::pipe(ends) == 0);
        p.start([&] {
            fault_proxy::faults faults;
            std::string seen;
            faults.record = &seen;
            faults.connection = 1;   // data
            if (flip) faults.flip_at = 8000;
            fault_proxy::run(wire::parse_address(at[2], "test"), wire::parse_address(at[0], "test"), faults, [&] {
                if (seen.size() > 50000) {   // the payloads' pattern, or the key's, or a header's
                    const char found = holds(seen, "\x09\x0a\x0b\x0c\x0d\x0e") || holds(seen, "SRNF") ? 'y' : 'n';
                    (void)!::write(ends[1], &found, 1);
                    seen.clear();
                }
                return true;
            });
            return std::string();
        });
        for (int r = 0; r < 2; ++r)
            p.start([&, r] {
                return talk(cluster::of({r == 0 ? at[0] : at[2], at[1]}, r, through(files[r])), 5000, 30);
            });
        if (!flip) {
            char found = '?';
            pollfd wait{ends[0], POLLIN, 0};
            BOOST_REQUIRE(::poll(&wait, 1, 50000) == 1);
            BOOST_TEST(::read(ends[0], &found, 1) == 1);
            BOOST_TEST(found == 'n');
        }
        for (int r = 1; r <= 2; ++r)
            BOOST_TEST((flip ? holds(p.result(r), "error: ") : p.result(r) == "right"), p.result(r));
        p.signal(0, SIGKILL);
        ::close(ends[0]);
        ::close(ends[1]);
    }
}

BOOST_AUTO_TEST_CASE(who_has_no_certificate_of_the_authority_is_kept_out) {
    const temporary_folder f;
    const authority ours(f.path(), "ours"), others(f.path(), "others");
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return talk(cluster::of(at, 0, through(ours.member("zero"), 2)), 100, 1); });
    tls_files theirs = others.member("one");
    theirs.authority = f / "ours.pem";   // it would take ours
    p.start([&] { return talk(cluster::of(at, 1, through(theirs, 2)), 100, 1); });
    const std::string zero = p.result(0), one = p.result(1);
    BOOST_TEST(holds(zero, "missing after 2.0 s: worker/1"), zero);
    BOOST_TEST(holds(one, "missing after 2.0 s: worker/0"), one);
    // Without TLS, where the other has it: neither hangs nor joins.
    const auto there = own_addresses(2);
    p.start([&] { return talk(cluster::of(there, 0, through(ours.member("zero"), 2)), 100, 1); });
    cluster_options plain = quick(2);
    plain.join_within = 2;
    p.start([&] { return talk(cluster::of(there, 1, plain), 100, 1); });
    for (const int i : {2, 3}) BOOST_TEST(holds(p.result(i), "missing after 2.0 s"), p.result(i));
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_named) {
    const temporary_folder f;
    const authority a(f.path(), "authority");
    tls_files files = a.member("zero");
    const auto at = own_addresses(2);
    const auto told = [&] {
        try {
            process_group g(cluster::of(at, 0, through(files)), {});
        } catch (const option_error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const tls_files right = files;
    files.certificate = "/nonexistent.pem";
    BOOST_TEST(holds(told(), "/nonexistent.pem: cannot use a certificate"), told());
    files = right;
    files.key = a.member("another").key;
    BOOST_TEST(holds(told(), "another.key"), told());
    files = right;
    files.authority = "/nonexistent.pem";
    BOOST_TEST(holds(told(), "cannot use an authority"), told());
}
