// SPDX-License-Identifier: BSL-1.0
// shows network: flipped bits, wrong keys, recordings, other versions: refused with the reason
// needs: distributed
#define BOOST_TEST_MODULE handshake
#include <boost/test/unit_test.hpp>
#include <sinter/net/handshake.hpp>
#include <random>
#include <vector>

// Two ends that meet, without sockets: what is said by one is heard by the other, or by a third one later.
using namespace sinter;
using wire::handshake;
using state = handshake::state;
using refusal = handshake::refusal;
using messages = std::vector<std::vector<std::byte>>;

static wire::greeting member(int rank) {
    wire::greeting g;
    g.role = 1;
    g.index = g.rank = rank;
    g.size = 3;
    g.same = {1, 2, 3};
    g.incarnation = 100u + static_cast<unsigned>(rank);
    g.job = "a job";
    g.address = "host:" + std::to_string(7000 + rank);
    return g;
}

static std::vector<std::byte> said_by(handshake& h) {
    std::vector<std::byte> m(h.outgoing().begin(), h.outgoing().end());
    h.sent();
    return m;
}
/// Lets them talk until nobody has more to say; notes what was said. Returns false if somebody says the wrong length.
static void talk(handshake& a, handshake& b, messages* noted = nullptr) {
    for (bool more = true; more;) {
        more = false;
        for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
            if (from->outgoing().size() == 0) continue;
            const auto m = said_by(*from);
            if (noted) noted->push_back(m);
            if (to->wanted() == m.size()) to->receive(m);
            more = true;
        }
    }
}
static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(members_of_a_job_accept_each_other) {
    for (const char* key : {"", "secret"}) {
        handshake a(true, member(2), key), b(false, member(0), key);
        talk(a, b);
        BOOST_TEST((b.now() == state::to_decide));
        BOOST_TEST(b.peer().rank == 2);
        BOOST_TEST(b.peer().address == "host:7002");
        b.decide("");
        talk(a, b);
        BOOST_TEST((a.now() == state::accepted));
        BOOST_TEST((b.now() == state::accepted));
        BOOST_TEST(a.peer().rank == 0);
        BOOST_TEST((a.sending().key == b.receiving().key));
        BOOST_TEST((a.receiving().key == b.sending().key));
        BOOST_TEST((a.sending().key != a.receiving().key));
        BOOST_TEST(a.sending().secret == (*key != 0));
        BOOST_TEST(a.sending().seed == b.receiving().seed);
        handshake c(true, member(2), key), d(false, member(0), key);   // another connection, other keys
        talk(c, d);
        BOOST_TEST((c.sending().key != a.sending().key));
    }
}

BOOST_AUTO_TEST_CASE(the_key_is_needed_on_both_sides) {
    handshake a(true, member(2), "wrong"), b(false, member(0), "secret");
    messages said;
    talk(a, b, &said);
    BOOST_TEST((a.now() == state::refused && a.why() == refusal::key));
    BOOST_TEST((b.now() == state::refused && b.why() == refusal::key));
    BOOST_TEST(!b.proved());
    BOOST_TEST(holds(b.reason(), "does not know the job's key"));
    handshake c(true, member(2), ""), d(false, member(0), "secret");
    talk(c, d);
    BOOST_TEST((c.why() == refusal::other_job && d.why() == refusal::other_job));
    BOOST_TEST(holds(d.reason(), "it has no job key, this process has one"));
    BOOST_TEST(holds(c.reason(), "it has a job key, this process has none"));
}

BOOST_AUTO_TEST_CASE(nothing_recorded_fits_again) {
    handshake a(true, member(2), "secret"), b(false, member(0), "secret");
    messages said;
    talk(a, b, &said);
    b.decide("");
    talk(a, b, &said);
    BOOST_REQUIRE(said.size() == 4u);
    handshake again(false, member(0), "secret");   // a stranger dials, with what a said
    again.receive(said[0]);
    again.sent();
    again.receive(said[2]);
    BOOST_TEST(!again.proved());
    again.sent();
    BOOST_TEST((again.now() == state::refused && again.why() == refusal::key));
    handshake dials(true, member(2), "secret");   // a stranger listens, with what b said
    dials.sent();
    dials.receive(said[1]);
    dials.sent();
    dials.receive(said[3]);
    BOOST_TEST((dials.now() == state::refused && dials.why() == refusal::key));
    // A stranger sends a member's own words back to it.
    handshake one(true, member(2), "secret");
    const auto greeting = said_by(one);
    one.receive(greeting);
    const auto proof = said_by(one);
    std::vector<std::byte> verdict(said[3].size());
    std::memcpy(verdict.data(), said[3].data(), 352);
    std::memcpy(verdict.data() + 352, proof.data(), 32);
    one.receive(verdict);
    BOOST_TEST((one.now() == state::refused));
    // Between two channels of TLS nobody can hand on what is said.
    handshake here(true, member(2), "secret"), there(false, member(0), "secret");
    const std::string_view left = "left channel", right = "right channel";
    here.bind(as_bytes(left));
    there.bind(as_bytes(right));
    talk(here, there);
    BOOST_TEST((there.now() == state::refused && there.why() == refusal::key));
}

template <class Change>
static void check_difference(Change change, refusal expected, const std::string& there, const std::string& here) {
    wire::greeting other = member(2);
    change(other);
    for (const bool other_dials : {true, false}) {
        handshake a(other_dials, other, "secret"), b(!other_dials, member(0), "secret");
        talk(a, b);
        if (a.now() == state::to_decide || b.now() == state::to_decide) BOOST_ERROR("not refused");
        BOOST_TEST((b.now() == state::refused));
        BOOST_TEST((b.why() == expected), "from b: " << b.reason());
        BOOST_TEST((a.now() == state::refused));
        BOOST_TEST((a.why() == expected), "from a: " << a.reason());
        BOOST_TEST((holds(b.reason(), there + " there") && holds(b.reason(), here + " here")), b.reason());
        BOOST_TEST((holds(a.reason(), here + " there") && holds(a.reason(), there + " here")), a.reason());
        if (expected == refusal::member) BOOST_TEST((a.proved() && b.proved()));
    }
}

BOOST_AUTO_TEST_CASE(both_sides_report_what_differs) {
    using g = wire::greeting;
    check_difference([](g& x) { x.job = "another"; }, refusal::other_job, "'another'", "'a job'");
    check_difference([](g& x) { x.library = "9.9"; }, refusal::member, "9.9", "0.1.0");
    check_difference([](g& x) { x.size = 4; }, refusal::member, "4", "3");
    check_difference([](g& x) { x.same.model = 77; }, refusal::member, "77", "1");
    check_difference([](g& x) { x.same.layout = 77; }, refusal::member, "77", "2");
    check_difference([](g& x) { x.same.policy = 77; }, refusal::member, "77", "3");
    wire::greeting other = member(2);
    std::reverse(other.formats.begin(), other.formats.begin() + 4);
    handshake a(true, other, "secret"), b(false, member(0), "secret");
    talk(a, b);
    for (const handshake* h : {&a, &b}) BOOST_TEST((h->why() == refusal::member && holds(h->reason(), "byte order")));
    // A later protocol of the same kind: only what stays in place is read.
    wire::greeting later = member(2);
    later.major = wire::protocol_major + 1;
    later.minor = 5;
    later.library = "3.0.0";
    handshake c(true, later, "secret"), d(false, member(0), "secret");
    const auto first = said_by(c);
    d.receive(first);
    const auto answer = said_by(d);
    BOOST_TEST((d.now() == state::refused && d.why() == refusal::protocol));
    BOOST_TEST(holds(d.reason(), "protocol 3.5 of Sinter 3.0.0 there, protocol 2.0 of Sinter 0.1.0 here"));
    handshake e(true, member(1), "secret");   // and the other way round
    e.sent();
    std::vector<std::byte> theirs = first;
    e.receive(theirs);
    BOOST_TEST((e.now() == state::refused && e.why() == refusal::protocol));
    wire::greeting minor = member(2);   // another minor version is no obstacle
    minor.minor = 9;
    handshake m(true, minor, "secret"), n(false, member(0), "secret");
    talk(m, n);
    BOOST_TEST((n.now() == state::to_decide));
}

BOOST_AUTO_TEST_CASE(who_listens_can_refuse) {
    handshake a(true, member(2), "secret"), b(false, member(0), "secret");
    talk(a, b);
    b.decide("worker/2 is here already");
    talk(a, b);
    BOOST_TEST((a.now() == state::refused && a.why() == refusal::unwanted && a.proved()));
    BOOST_TEST(a.reason() == "worker/2 is here already");
    handshake c(true, member(2), "secret"), d(false, member(0), "secret");
    talk(c, d);
    d.decide(std::string(5000, 'x'));   // cut, not overrun
    talk(c, d);
    BOOST_TEST(c.reason() == std::string(343, 'x'));
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_ends_in_a_refusal) {
    messages said;
    {
        handshake a(true, member(2), "secret"), b(false, member(0), "secret");
        talk(a, b, &said);
        b.decide("");
        talk(a, b, &said);
    }
    for (std::size_t which = 0; which < 4; ++which)
        for (std::size_t bit = 0; bit < said[which].size() * 8; ++bit) {
            handshake a(true, member(2), "secret"), b(false, member(0), "secret");
            std::size_t i = 0;
            for (bool more = true; more;) {
                more = false;
                for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
                    if (from->outgoing().size() == 0) continue;
                    auto m = said_by(*from);
                    if (i++ == which) m[bit / 8] ^= std::byte{1} << bit % 8;
                    if (to->wanted() == m.size()) to->receive(m);
                    if (b.now() == state::to_decide) b.decide("");
                    more = true;
                }
            }
            BOOST_REQUIRE(!(a.now() == state::accepted && b.now() == state::accepted));
            BOOST_REQUIRE(a.now() != state::accepted);   // the last word is the acceptor's
        }
}

BOOST_AUTO_TEST_CASE(unproved_peers_cost_little_memory) {
    BOOST_TEST(sizeof(handshake) <= 2048u);   // texts within are bounded by the greeting's 456 bytes, twice
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) {   // any bytes
        handshake h(i % 2 == 0, member(0), "secret");
        if (i % 2 == 0) h.sent();
        while (h.wanted() != 0) {
            std::vector<std::byte> m(h.wanted());
            for (std::byte& x : m) x = static_cast<std::byte>(random());
            if (i % 3 == 0) wire::detail::put(m.data(), wire::detail::greeting_magic);
            h.receive(m);
            if (h.outgoing().size() != 0) h.sent();
        }
        BOOST_REQUIRE((h.now() == state::refused));
    }
}

BOOST_AUTO_TEST_CASE(texts_that_do_not_fit_are_refused_here) {
    wire::greeting g = member(0);
    g.job = std::string(64, 'j');
    BOOST_CHECK_THROW(handshake(true, g, "k"), option_error);
}
