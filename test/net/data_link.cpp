// SPDX-License-Identifier: BSL-1.0
// shows network: every flipped bit of a frame is found, and what is cut, repeated, moved or lies about its size
// needs: distributed
#define BOOST_TEST_MODULE data_link
#include <boost/test/unit_test.hpp>
#include "linked_pair.hpp"
#include <random>
#include <vector>

// Frames between two ends, and what arrives when bytes were changed, lost, repeated or put in another order on the way.
using namespace sinter;
using bytes = std::vector<std::byte>;

static bytes drawn(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    bytes b(n);
    for (std::byte& x : b) x = static_cast<std::byte>(random());
    return b;
}

static wire::frame_tag tag_of(int i) {
    return {static_cast<std::uint32_t>(i), 1, 2, 1000 + i, i % 5, std::uint64_t{1} << 33,
            static_cast<std::uint64_t>(i) << 20};
}

/// The bytes that a link with direction 0's key puts on the wire for these frames.
static bytes recorded(bool secret, const std::vector<bytes>& payloads) {
    auto [a, b] = linked::sockets();
    wire::data_link link = linked::end(std::move(a), secret, 0);
    wire::channel raw(std::move(b));
    bytes all;
    const auto read_all = [&] {
        for (;;) {
            std::byte buffer[4096];
            const iovec part{buffer, sizeof buffer};
            const wire::transfer t = raw.read(&part, 1);
            if (t.how != wire::transfer::some) return;
            all.insert(all.end(), buffer, buffer + t.bytes);
        }
    };
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        link.send(tag_of(static_cast<int>(i)), payloads[i]);
        while (!link.flush()) read_all();
        read_all();
    }
    return all;
}

/// Puts these bytes on a new connection, in pieces of `piece` bytes, and receives frames of the payloads' sizes.
/// Returns the error, or nothing if all frames were as sent.
static std::string received(bool secret, const bytes& wire, const std::vector<bytes>& payloads,
                            std::size_t piece = 65536) {
    auto [a, b] = linked::sockets();
    wire::data_link link = linked::end(std::move(b), secret, 1);
    wire::channel raw(std::move(a));
    std::size_t gone = 0;
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        bytes into(payloads[i].size());
        link.receive(tag_of(static_cast<int>(i)), into);
        try {
            while (!link.fill()) {
                if (gone == wire.size()) raw.shut_down();   // what is missing will not come
                const iovec part{const_cast<std::byte*>(wire.data()) + gone, std::min(piece, wire.size() - gone)};
                if (part.iov_len != 0) gone += raw.write(&part, 1).bytes;
                pollfd wait{link.descriptor(), POLLIN, 0};
                ::poll(&wait, 1, 100);
            }
        } catch (const cluster_error& e) {
            BOOST_TEST(e.rank() == 0);
            BOOST_TEST(e.role() == "worker/0");
            BOOST_TEST(e.address() == "a:1");
            BOOST_TEST(e.step() == 1000 + static_cast<int>(i));
            return e.cause();
        }
        if (into != payloads[i]) return "WRONG DATA";
    }
    return "";
}

static bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(gmac_is_that_of_the_standard) {
    // The GCM specification's test case 1 (no text, no additional data): key and nonce of zeros.
    wire::direction_key k;
    k.secret = true;
    wire::seal s(k);
    s.begin(0);
    const wire::seal::tag t = s.finish();
    const unsigned char expected[] = {0x58, 0xe2, 0xfc, 0xce, 0xfa, 0x7e, 0x30, 0x61,
                                      0x36, 0x7f, 0x1d, 0x57, 0xa4, 0xe7, 0x45, 0x5a};
    BOOST_TEST(std::memcmp(t.data(), expected, 16) == 0);
    s.begin(1);
    BOOST_TEST((s.finish() != t));   // another frame, another nonce
}

BOOST_AUTO_TEST_CASE(frames_arrive_as_they_were_sent) {
    for (const bool secret : {false, true}) {
        linked::pair p = linked::both(secret);
        int i = 0;
        for (const std::size_t n : {0ul, 1ul, 15ul, 16ul, 4096ul, 262143ul, 262145ul, wire::most_payload}) {
            const bytes there = drawn(n, static_cast<unsigned>(n)), back = drawn(n, static_cast<unsigned>(n) + 1);
            bytes at_b(n), at_a(n);
            p.a.send(tag_of(i), there);   // both ways at once
            p.b.send(tag_of(i), back);
            p.a.receive(tag_of(i), at_a);
            p.b.receive(tag_of(i), at_b);
            ++i;
            for (bool done = false; !done;) {
                const bool gone_a = p.a.flush(), gone_b = p.b.flush(), here_a = p.a.fill(), here_b = p.b.fill();
                done = gone_a && gone_b && here_a && here_b;
            }
            BOOST_TEST((at_b == there));
            BOOST_TEST((at_a == back));
        }
    }
}

BOOST_AUTO_TEST_CASE(pieces_make_no_difference) {
    const std::vector<bytes> payloads{drawn(100, 1), {}, drawn(777, 2)};
    for (const bool secret : {false, true})
        for (const std::size_t piece : {1ul, 7ul, 64ul, 1000ul})
            BOOST_TEST(received(secret, recorded(secret, payloads), payloads, piece) == "");
}

BOOST_AUTO_TEST_CASE(short_frames_leave_together_and_are_read_ahead) {
    std::mt19937 random(4);
    for (const bool secret : {false, true})
        for (const std::size_t ahead : {0ul, 1ul, 63ul, 64ul, 500ul, 16384ul}) {
            linked::pair p = linked::both(secret);
            if (ahead > 0) p.b.read_ahead(ahead);
            for (int round = 0; round < 20; ++round) {
                // Some short ones, a long one of two parts behind them, whose halves or whole may be empty.
                std::vector<bytes> all;
                for (unsigned k = random() % 5; k > 0; --k) {
                    all.push_back(drawn(random() % 300, random()));
                    p.a.send_later(tag_of(static_cast<int>(all.size()) - 1), all.back());
                }
                const std::size_t queued = p.a.waiting();
                BOOST_TEST((queued == 0) == all.empty());
                const std::size_t cut = std::vector<std::size_t>{0, 1000, 300'000}[random() % 3];
                all.push_back(drawn(round % 2 ? 300'000 : 1000, random()));
                const span<const std::byte> last(all.back());
                const std::size_t first = std::min(cut, last.size());
                p.a.send(tag_of(static_cast<int>(all.size()) - 1), last.first(first), last.subspan(first));
                BOOST_TEST(p.a.waiting() == queued);   // nothing has left yet
                for (std::size_t i = 0; i < all.size(); ++i) {
                    const wire::frame_header* h = nullptr;
                    while (!(h = p.b.next())) p.a.flush();
                    BOOST_TEST((h->tag == tag_of(static_cast<int>(i))));
                    BOOST_TEST_REQUIRE(h->bytes == all[i].size());
                    bytes into(all[i].size());
                    p.b.receive(h->tag, into);
                    while (!p.b.fill()) p.a.flush();
                    BOOST_TEST((into == all[i]));
                    // A whole header that is here already is not told of by poll().
                    if (ahead == 16384 && i == 0 && all.size() > 2) BOOST_TEST(p.b.has_more());
                    if (ahead == 0) BOOST_TEST(!p.b.has_more());
                }
                BOOST_TEST(p.a.flush());
                BOOST_TEST(p.a.waiting() == 0);
                BOOST_TEST(!p.b.has_more());
            }
        }
    linked::pair p = linked::both(false);
    const bytes some(4), too_long(wire::most_payload);
    p.a.send(tag_of(0), some);
    BOOST_CHECK_THROW(p.a.send_later(tag_of(1), some), error);   // it would come before the one that was begun
    BOOST_CHECK_THROW(p.b.send(tag_of(0), too_long, some), error);
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_found) {
    const std::vector<bytes> payloads{drawn(40, 3)};
    for (const bool secret : {false, true}) {
        const bytes wire = recorded(secret, payloads);
        BOOST_TEST(wire.size() == wire::header_bytes + 40 + wire::seal_bytes);
        for (std::size_t bit = 0; bit < wire.size() * 8; ++bit) {
            bytes flipped = wire;
            flipped[bit / 8] ^= std::byte{1} << bit % 8;
            const std::string error = received(secret, flipped, payloads);
            BOOST_TEST((!error.empty() && error != "WRONG DATA"), "bit " << bit);
            if (bit / 8 >= wire::header_bytes)
                BOOST_TEST(holds(error, secret ? "its MAC is wrong" : "its checksum is wrong"), error);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_is_cut_repeated_or_moved_is_found) {
    const std::vector<bytes> payloads{drawn(64, 4), drawn(64, 5), drawn(64, 6)};
    for (const bool secret : {false, true}) {
        const bytes wire = recorded(secret, payloads);
        const std::size_t one = wire.size() / 3;
        for (std::size_t n = 0; n < wire.size(); n += 13)
            BOOST_TEST(holds(received(secret, bytes(wire.data(), wire.data() + n), payloads),
                             "was closed by this peer"), "after " << n);
        const auto frame = [&](std::size_t i) { return bytes(wire.data() + i * one, wire.data() + (i + 1) * one); };
        const auto in_order = [&](std::initializer_list<std::size_t> order) {
            bytes b;
            for (const std::size_t i : order) {
                const bytes f = frame(i);
                b.insert(b.end(), f.begin(), f.end());
            }
            return received(secret, b, payloads);
        };
        BOOST_TEST(in_order({0, 1, 2}) == "");
        BOOST_TEST(holds(in_order({0, 0, 1, 2}), "frame 0 where frame 1 was due"));
        BOOST_TEST(holds(in_order({0, 2, 1}), "frame 2 where frame 1 was due"));
        BOOST_TEST(holds(in_order({1, 2}), "frame 1 where frame 0 was due"));
        // A byte more or less in the middle.
        bytes longer = wire, shorter = wire;
        longer.insert(longer.begin() + 100, std::byte{});
        shorter.erase(shorter.begin() + 100);
        for (const bytes& b : {longer, shorter}) BOOST_TEST(!received(secret, b, payloads).empty());
    }
    // Another connection's frames, with the same number and tag, do not count.
    auto [a, b] = linked::sockets();
    wire::data_link other(wire::channel(std::move(a)), linked::key(true, 1), linked::key(true, 0), {});
    wire::data_link link = linked::end(std::move(b), true, 1);
    bytes into(64);
    other.send(tag_of(0), payloads[0]);
    other.flush();
    link.receive(tag_of(0), into);
    BOOST_CHECK_EXCEPTION(while (!link.fill()) {}, cluster_error,
                          [](const cluster_error& e) { return holds(e.cause(), "damaged or forged"); });
}

BOOST_AUTO_TEST_CASE(collective_mismatch_fails) {
    const auto differs = [](auto change, std::size_t bytes_expected) {
        linked::pair p = linked::both(true);
        const bytes sent = drawn(4000, 7);
        bytes into(bytes_expected);
        wire::frame_tag expected = tag_of(3);
        change(expected);
        p.a.send(tag_of(3), sent);
        p.a.flush();
        p.b.receive(expected, into);
        try {
            while (!p.b.fill()) {}
        } catch (const cluster_error& e) {
            return e.cause();
        }
        return std::string();
    };
    using tag = wire::frame_tag;
    BOOST_TEST(differs([](tag&) {}, 4000) == "");
    const auto both = [](const std::string& s, const char* a, const char* b) {
        return holds(s, "members called different operations") && holds(s, a) && holds(s, b);
    };
    BOOST_TEST(both(differs([](tag& t) { t.operation = 4; }, 4000), "operation 3", "operation 4"));
    BOOST_TEST(both(differs([](tag& t) { t.dtype = 9; }, 4000), "type 1", "type 9"));
    BOOST_TEST(both(differs([](tag& t) { t.reduction = 0; }, 4000), "reduction 2", "reduction 0"));
    BOOST_TEST(both(differs([](tag& t) { t.step = 1; }, 4000), "step 1003", "step 1,"));
    BOOST_TEST(both(differs([](tag& t) { t.bucket = 0; }, 4000), "bucket 3", "bucket 0"));
    BOOST_TEST(both(differs([](tag& t) { t.elements = 5; }, 4000), "8589934592 elements", ", 5 elements"));
    BOOST_TEST(both(differs([](tag& t) { t.offset = 5; }, 4000), "at 3145728", "at 5"));
    for (const std::size_t n : {0ul, 3999ul, 4001ul, 8000ul})
        BOOST_TEST(both(differs([](tag&) {}, n), "4000 bytes", to_text({n, " bytes"}).c_str()));
}

BOOST_AUTO_TEST_CASE(header_faults_have_texts) {
    const wire::frame_header h{wire::frame_kind::data, 5, tag_of(2), 100};
    wire::frame_header back;
    BOOST_TEST((wire::decode(wire::encode(h, 1), 1, back) == wire::header_fault::none));
    BOOST_TEST((back == h));
    BOOST_TEST((wire::decode(wire::encode(h, 1), 2, back) == wire::header_fault::damaged));
    for (const std::uint64_t n :
         {wire::most_payload + 1, std::size_t{1} << 31, std::size_t{1} << 63, ~std::size_t{0}}) {
        wire::frame_header too_long = h;
        too_long.bytes = n;
        BOOST_TEST((wire::decode(wire::encode(too_long, 1), 1, back) == wire::header_fault::too_long));
    }
    wire::frame_header unknown = h;
    unknown.kind = static_cast<wire::frame_kind>(77);
    BOOST_TEST((wire::decode(wire::encode(unknown, 1), 1, back) == wire::header_fault::kind));
}

BOOST_AUTO_TEST_CASE(misuse_throws) {
    linked::pair p = linked::both(false);
    const bytes too_long(wire::most_payload + 1), some(1 << 20);
    bytes into(4);
    BOOST_CHECK_THROW(p.a.send(tag_of(0), too_long), error);
    p.a.receive(tag_of(0), into);
    BOOST_CHECK_THROW(p.a.receive(tag_of(0), into), error);
    BOOST_TEST(!p.a.fill());
    BOOST_TEST(p.b.flush());   // nothing to send
    BOOST_TEST(p.b.fill());
}
