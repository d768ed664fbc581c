// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// waits: for members that are late or never come
#define BOOST_TEST_MODULE waiting
#include <boost/test/unit_test.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/net/process_group.hpp>
#include "processes.hpp"
#include <fcntl.h>
#include <sys/resource.h>

// What members say on standard error, or to a function of the program's own: whom they wait for, and who has met.
using namespace sinter;
using wire::process_group;

namespace {

/// A member whose standard error is read by this process.
class logging_member {
public:
    logging_member(processes& p, const std::vector<std::string>& at, int rank, const char* verbosity = nullptr) {
        int ends[2];
        BOOST_REQUIRE(::pipe(ends) == 0);
        p.start([&] {
            ::dup2(ends[1], 2);
            if (verbosity) ::setenv("SINTER_VERBOSITY", verbosity, 1);
            process_group g(cluster::of(at, rank, quick(10)), {});
            g.leave();
            return std::string("well");
        });
        ::close(ends[1]);
        from_ = ends[0];
    }
    ~logging_member() { ::close(from_); }
    /// All up to a line that has this in it, or to the end.
    std::string until(const std::string& part) {
        while (!holds(text_, part)) {
            char bytes[1000];
            const auto n = ::read(from_, bytes, sizeof bytes);
            if (n <= 0) break;
            text_.append(bytes, static_cast<std::size_t>(n));
        }
        return text_;
    }

private:
    int from_ = -1;
    std::string text_;
};

} // namespace

// In a job that may wait ten seconds the first line comes after two.
BOOST_AUTO_TEST_CASE(missing_then_joined_members_are_reported) {
    const auto at = own_addresses(3);
    processes p;
    logging_member first(p, at, 0);
    const std::string waits = "sinter: worker/0 waits for worker/1 at " + at[1] + ", worker/2 at " + at[2] +
                              " (10 s)\n";
    BOOST_TEST(first.until("(10 s)\n") == waits);
    logging_member second(p, at, 1);
    BOOST_TEST(holds(second.until("(10 s)\n"), "sinter: worker/1 waits for worker/2 at " + at[2] + " (10 s)\n"));
    logging_member third(p, at, 2);
    const std::string all = "worker/0 at " + at[0] + ", worker/1 at " + at[1] + ", worker/2 at " + at[2] + "\n";
    logging_member* const members[] = {&first, &second, &third};
    for (int r = 0; r < 3; ++r) {
        const std::string own =
            "sinter: worker/" + std::to_string(r) + " is in a job of 3 members, and all are there: ";
        BOOST_TEST(holds(members[r]->until("\n\n"), own + all));
        BOOST_TEST(p.result(r) == "well");
    }
}

BOOST_AUTO_TEST_CASE(verbosity_quiet_reports_nothing) {
    const auto at = own_addresses(2);
    processes p;
    logging_member first(p, at, 0, "quiet");
    logging_member second(p, at, 1, "quiet");
    for (int r = 0; r < 2; ++r) BOOST_TEST(p.result(r) == "well");
    BOOST_TEST(first.until("\n").empty());
    BOOST_TEST(second.until("\n").empty());
}

// A refused stranger, what is ignored of the environment, and who has met: all go to the one function.
BOOST_AUTO_TEST_CASE(a_function_of_the_programs_own_takes_all_of_it) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] {
        std::string all;
        on_message([&](message_level, std::string_view text, std::string_view place) {
            (((all += place) += "|") += text) += '\n';
        });
        const wire::environment env{[](const char* name) {
            return std::string_view(name) == "WORLD_SIZE" ? std::optional<std::string>("4") : std::nullopt;
        }};
        cluster::from_environment({}, env);
        process_group g(cluster::of(at, 0, quick(10)), {});
        g.leave();
        return all;
    });
    p.start([&] {
        cluster_options o = quick(10);
        o.key = "this is another key";
        o.join_within = 1;
        try {
            process_group g(cluster::of(at, 1, o), {});
        } catch (const cluster_error&) {
        }
        process_group g(cluster::of(at, 1, quick(10)), {});
        g.leave();
        return std::string("well");
    });
    const std::string all = p.result(0);
    BOOST_TEST(holds(all, "|ignored: WORLD_SIZE=4 (RANK is not set)\n"));
    BOOST_TEST(holds(all, "worker/0|refused a connection from 127.0.0.1:"));
    BOOST_TEST(holds(all, "worker/0|worker/0 is in a job of 2 members, and all are there: worker/0 at "));
}

BOOST_AUTO_TEST_CASE(a_long_list_is_cut) {
    std::vector<std::string> all;
    for (int i = 0; i < 8; ++i) all.push_back("w" + std::to_string(i));
    BOOST_TEST(wire::few_of(all) == "w0, w1, w2, w3, w4, w5, w6, w7");
    all.resize(100, "w");
    BOOST_TEST(wire::few_of(all) == "w0, w1, w2, w3, w4, w5, w6, w7 and 92 more");
}

// A process that may have too few connections says so itself, at once; and where what it has is used up meanwhile,
// whoever dials it is told that instead of "no answer in time".
BOOST_AUTO_TEST_CASE(too_few_descriptors_are_named) {
    const auto at = own_addresses(30);
    processes p;
    p.start([&] {
        const rlimit few{40, 40};
        ::setrlimit(RLIMIT_NOFILE, &few);
        process_group g(cluster::of(at, 3, quick(10)), {});
        return std::string("well");
    });
    const std::string told = p.result(0);
    BOOST_TEST(holds(told, "worker/3 at " + at[3] + ", joining the job: too few descriptors: this process may have at "
                           "most 40 files and connections at once (RLIMIT_NOFILE, ulimit -n) and has "), told);
    BOOST_TEST(holds(told, "need 59 more"), told);

    const shared_flag ready;
    const std::vector<std::string> two(at.begin(), at.begin() + 2);
    const auto patient = [] {
        cluster_options o = quick(10);
        o.join_within = 3;
        return o;
    };
    p.start([&] {
        on_message([&](message_level, std::string_view text, std::string_view) {
            if (text.find("waits for worker/1") == text.npos) return;
            while (::open("/dev/null", O_RDONLY) >= 0) {}   // now it listens, and has none left
            ready.set();
        });
        const rlimit few{64, 64};
        ::setrlimit(RLIMIT_NOFILE, &few);
        cluster_options o = patient();
        o.join_within = 10;
        process_group g(cluster::of(two, 0, o), {});
        return std::string("well");
    });
    ready.wait();
    p.start([&] {
        process_group g(cluster::of(two, 1, patient()), {});
        return std::string("well");
    });
    const std::string dialler = p.result(2), own = p.result(1);
    BOOST_TEST(holds(dialler, "worker/0 at " + two[0]), dialler);
    BOOST_TEST(holds(dialler, "it has no descriptor left: at most 64 files and connections at once (RLIMIT_NOFILE"),
               dialler);
    BOOST_TEST(!holds(own, "well"), own);
}
