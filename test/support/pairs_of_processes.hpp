// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "support/member_processes.hpp"
#include "support/pairs.hpp"

// The same of members that are processes: their faults are seen from outside, for memory is their own.
namespace sinter::test {

/// What each of n members says of its error, told to `f` in this process.
template <class Algorithm>
members_runner_of_texts runner_of_processes() {
    return [](int n, const std::function<std::string(communicator&)>& f) {
        return texts_of_processes<Algorithm>(n, f);
    };
}

/// A member dies while others await its message, or send it more than connections hold: they know who it was.
template <class Algorithm>
void check_deaths_between_messages() {
    for (const bool sends : {false, true}) {
        const auto texts = texts_of_processes<Algorithm>(3, [sends](communicator& c) {
            c.barrier();
            std::vector<std::byte> x(8), large(16'000'000);
            try {
                if (c.rank() == 1) {
                    c.recv(0, 1, x);
                    ::raise(SIGKILL);
                }
                if (c.rank() == 0) c.send(1, 1, x);
                if (sends) for (;;) c.send(1, 2, large);
                c.recv(c.rank() == 0 ? 1 : 0, 2, large);
            } catch (const cluster_error& e) {
                return std::to_string(e.rank()) + " " + e.role();
            }
            return std::string("nothing happened");
        });
        for (int r = 0; r < 3; ++r)
            BOOST_TEST(texts[static_cast<std::size_t>(r)] == (r == 1 ? "KILLED" : "1 worker/1"));
    }
}

/// One that has done its part is awaited in vain, whether it has sent something before or not; what it sent comes.
template <class Algorithm>
void check_members_that_leave() {
    for (const bool has_sent : {false, true}) {
        const auto texts = texts_of_processes<Algorithm>(3, [has_sent](communicator& c) {
            c.barrier();
            if (c.rank() == 1) {
                if (has_sent) c.send(0, 1, bytes_of_message(5'000'000, 3));
                return std::string("left");
            }
            if (c.rank() == 0 && has_sent) need_message(c, 1, 1, 5'000'000, 3);
            return error_by([&] {
                std::vector<std::byte> x(8);
                c.recv(c.rank() == 0 ? 1 : 0, 2, x, std::numeric_limits<double>::infinity());
            });
        });
        BOOST_TEST(texts[1] == "left");
        for (const int r : {0, 2}) {
            const std::string& t = texts[static_cast<std::size_t>(r)];
            BOOST_TEST((holds(t, "it has left the job, and this member still waits for it") && holds(t, "rank 1")), t);
        }
    }
}

}   // namespace sinter::test
