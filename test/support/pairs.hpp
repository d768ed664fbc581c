// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "support/members.hpp"
#include <limits>

// What is asked of messages between two members and of groups, whatever carries them. Functions of one member.
namespace sinter::test {

inline std::vector<std::byte> bytes_of_message(std::int64_t n, int seed) {
    std::vector<std::byte> x(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        x[static_cast<std::size_t>(i)] = static_cast<std::byte>(number_of<std::uint8_t>(seed, i));
    return x;
}
inline void need_message(communicator& c, int from, std::int64_t tag, std::int64_t n, int seed) {
    std::vector<std::byte> x(static_cast<std::size_t>(n) + 1, std::byte{77});
    c.recv(from, tag, span<std::byte>(x).first(static_cast<std::size_t>(n)));
    need(x.back() == std::byte{77}, "wrote behind the end");
    x.pop_back();
    need(x == bytes_of_message(n, seed),
         "a message of " + std::to_string(n) + " bytes from " + std::to_string(from) + " is not what was sent");
}

/// gloo's test/send_recv_test.cc and MPI's corner cases: each of these ends without anybody's being in the right order.
inline void check_messages(communicator& c, std::initializer_list<std::int64_t> sizes = {0, 1, 1000, 3'000'000}) {
    const int members = c.size(), rank = c.rank();
    for (const std::int64_t n : sizes) {
        // Large ones that cross: all send to all, themselves too, before anybody receives. (gloo: AllToAll, SelfSend.)
        std::vector<std::vector<std::byte>> mine;
        for (int to = 0; to < members; ++to) mine.push_back(bytes_of_message(n, rank * members + to));
        for (int to = 0; to < members; ++to) c.send(to, 5, mine[static_cast<std::size_t>(to)]);
        for (int from = 0; from < members; ++from) need_message(c, from, 5, n, from * members + rank);
    }
    const int next = (rank + 1) % members, before = (rank + members - 1) % members;
    {   // Several on their way, awaited by tag in another order; negative and large tags are tags.
        constexpr std::int64_t tags[] = {0, -1, INT64_MAX, INT64_MIN, 7};
        std::vector<std::vector<std::byte>> out;
        std::vector<message> sent;
        for (int k = 0; k < 5; ++k) out.push_back(bytes_of_message(100 + k, rank + 50 * k));
        for (int k = 0; k < 5; ++k) sent.push_back(c.start_send(next, tags[k], out[static_cast<std::size_t>(k)]));
        for (int k = 4; k >= 0; --k) need_message(c, before, tags[k], 100 + k, before + 50 * k);
        for (const message m : sent) c.wait_message(m, 60);
    }
    {   // Of one tag: in the order in which they were sent, and in which they are awaited, also where waits are not.
        std::vector<std::vector<std::byte>> in(6);
        std::vector<message> awaited;
        for (int k = 0; k < 6; ++k) {
            in[static_cast<std::size_t>(k)].resize(static_cast<std::size_t>(10 * k));
            awaited.push_back(c.start_recv(before, 3, in[static_cast<std::size_t>(k)]));
        }
        for (int k = 0; k < 6; ++k) c.send(next, 3, bytes_of_message(10 * k, rank + k));
        for (int k = 5; k >= 0; --k) {
            c.wait_message(awaited[static_cast<std::size_t>(k)], 60);
            need(in[static_cast<std::size_t>(k)] == bytes_of_message(10 * k, before + k), "messages of one tag");
        }
    }
    // Beside operations that are queued and cannot be done yet: nobody else has come to them.
    std::vector<float> x(1000, 1.f);
    const ticket t = c.start({.what = kind::all_reduce, .step = 1, .bucket = 0}, x.data(), 1000, true);
    for (int k = 0; k < 3; ++k) {
        const auto out = bytes_of_message(50000, rank + k);
        const message m = c.start_send(next, k, out);
        need_message(c, before, k, 50000, before + k);
        c.wait_message(m, 60);
    }
    c.wait(t);
    for (const float v : x) need(v == static_cast<float>(members), "the sum beside messages");
    // A member that only comes to an operation once it has got a message from one that waits in it.
    if (members > 1 && rank == 0) {
        const ticket late = c.start({.what = kind::barrier, .step = 2}, nullptr, 0, true);
        c.send(1, 9, bytes_of_message(2'000'000, 1));
        c.wait(late);
    } else {
        if (rank == 1) need_message(c, 0, 9, 2'000'000, 1);
        c.barrier(2);
    }
}

/// Runs f on n members; what each of them says.
using members_runner_of_texts =
    std::function<std::vector<std::string>(int, const std::function<std::string(communicator&)>&)>;
/// Of members that are threads.
inline members_runner_of_texts texts_of(const members_runner& run) {
    return [run](int n, const std::function<std::string(communicator&)>& f) {
        std::vector<std::string> texts(static_cast<std::size_t>(n));
        run(n, [&](communicator& c) { texts[static_cast<std::size_t>(c.rank())] = f(c); });
        return texts;
    };
}

/// What the members say of an error: `f(communicator)` of each, which must throw cluster_error.
inline std::string error_by(const std::function<void()>& f) {
    try {
        f();
    } catch (const cluster_error& e) {
        return e.what();
    }
    return "no error";
}

/// All members learn of each fault, in words, whatever they wait for. `run`: see members_runner.
inline void check_message_faults(const members_runner_of_texts& run) {
    struct fault {
        const char* says;
        std::function<void(communicator&)> of_0, of_1;
    };
    std::vector<std::byte> x(100);
    const auto recv = [](std::int64_t tag, std::size_t n, double within) {
        return [=](communicator& c) {
            std::vector<std::byte> to(n);
            c.recv(1, tag, to, within);
        };
    };
    const auto send = [](std::int64_t tag, std::size_t n) {
        return [=](communicator& c) { c.send(0, tag, std::vector<std::byte>(n)); };
    };
    const fault all[] = {
        {"it sent 100 bytes; this member awaits 99", recv(1, 99, 60), send(1, 100)},
        {"it sent 0 bytes; this member awaits 1", recv(1, 1, 60), send(1, 0)},
        {"it sent 3000000 bytes; this member awaits 0", recv(1, 0, 60), send(1, 3000000)},
        {"with tag 2: the message did not come within 0.5 s", recv(2, 8, 0.5), send(1, 8)},
        {"the disk is full", recv(2, 8, 60), [](communicator& c) { c.fail("the disk is full"); }},
    };
    for (const fault& f : all)
        for (const int members : {2, 3}) {
            const auto texts = run(members, [&](communicator& c) {
                return error_by([&] {
                    if (c.rank() == 0) f.of_0(c);
                    if (c.rank() == 1) f.of_1(c);
                    std::vector<std::byte> never(1);
                    if (c.rank() == 2) c.recv(0, 77, never, 60);
                    else c.barrier();
                });
            });
            BOOST_TEST(static_cast<int>(texts.size()) == members);
            for (const auto& t : texts) {
                if (t.empty()) continue;   // of other members than these
                const bool holds = t.find(f.says) != t.npos || t.find(std::string(f.says).substr(12)) != t.npos;
                BOOST_TEST((holds && t.find("rank 1") != t.npos), f.says << ": " << t);
            }
        }
}

/// Groups by every color, in the order of keys; operations and messages of several at once; groups of groups.
inline void check_groups(communicator& c) {
    const int members = c.size(), rank = c.rank();
    const auto alone = c.split(rank, 0);
    need(alone && alone->size() == 1 && alone->rank() == 0, "a group of one");
    const auto reversed = c.split(0, -rank);
    need(reversed->size() == members && reversed->rank() == members - 1 - rank, "the order of keys");
    const auto parity = c.split(rank % 2, 0);
    const int in_parity = rank % 2 == 0 ? (members + 1) / 2 : members / 2;
    need(parity->size() == in_parity && parity->rank() == rank / 2, "the order of ranks where keys are equal");
    const auto but_last = c.split(rank == members - 1 && members > 1 ? -1 : 3, 0);
    need((but_last == nullptr) == (rank == members - 1 && members > 1), "a negative color");
    const auto halves = reversed->split(reversed->rank() * 2 / members, 0);

    for (const std::int64_t n : {0, 100, 3000})
        for (communicator* const g : {alone.get(), reversed.get(), parity.get(), halves.get()}) check_operations(*g, n);
    if (but_last) check_messages(*but_last, {0, 1000});
    check_messages(*reversed, {0, 100000});
    check_messages(*parity, {1000});

    // Operations of all and of two groups, started in an order of each member's own.
    std::vector<double> a(5000, 1), b(5000, 1), d(5000, 1);
    const operation o{.what = kind::all_reduce, .type = element::f64, .step = 3, .bucket = 1};
    std::vector<std::pair<communicator*, std::vector<double>*>> what{
        {&c, &a}, {reversed.get(), &b}, {parity.get(), &d}};
    std::rotate(what.begin(), what.begin() + rank % 3, what.end());
    std::vector<ticket> tickets;
    for (auto& [g, v] : what) tickets.push_back(g->start(o, v->data(), 5000, true));
    for (std::size_t k = 0; k < 3; ++k) what[k].first->wait(tickets[k]);
    need(a[7] == members && b[4999] == members && d[0] == in_parity, "sums of three groups at once");

    // A message of one group is none of another's, though members and tag are the same.
    const int next = (rank + 1) % members, before = (rank + members - 1) % members;
    const int next_there = (reversed->rank() + members - 1) % members, before_there = (reversed->rank() + 1) % members;
    c.send(next, 4, bytes_of_message(64, rank));
    reversed->send(next_there, 4, bytes_of_message(32, rank + 100));
    need_message(*reversed, before_there, 4, 32, before + 100);
    need_message(c, before, 4, 64, before);
}

/// A group's failure reaches members of others, and the reverse.
inline void check_failures_of_groups(const members_runner_of_texts& run) {
    for (const bool of_group : {true, false}) {
        const auto texts = run(4, [&](communicator& c) {
            const auto g = c.split(c.rank() / 2, 0);
            return error_by([&] {
                if (c.rank() == 3) (of_group ? *g : c).fail("its memory is gone");
                std::vector<std::byte> x(8);
                if (c.rank() == 0) g->recv(1, 1, x, 60);
                if (c.rank() == 1) c.barrier();
                g->barrier();
                c.barrier();
            });
        });
        BOOST_TEST(texts.size() == 4u);
        for (const auto& t : texts)
            if (!t.empty())   // of other members than these
                BOOST_TEST((t.find("its memory is gone") != t.npos && t.find("rank 3") != t.npos), t);
    }
}

}   // namespace sinter::test
