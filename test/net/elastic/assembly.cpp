// SPDX-License-Identifier: BSL-1.0
// shows elastic: the agreement on who goes on: never two parts, whatever is lost, cut, killed or late
// needs: distributed
// one thread: its network is a list of this test's own
#include <boost/test/unit_test.hpp>
#include <sinter/net/elastic/assembly.hpp>
#include <map>
#include <memory>
#include <random>
#include <set>

// Who goes on: the rules of an elastic job's members, on a network of this test's own that loses, repeats, delays and
// cuts, with processes that die and come again. However it goes, no list has two followers.
using namespace sinter::wire;

namespace {

sinter::span<const std::byte> octets(const std::string& s, std::size_t n) {
    return {reinterpret_cast<const std::byte*>(s.data()), n};
}
struct network {
    explicit network(std::uint64_t seed, int slots, int most) : draw(seed), with{slots, most, 1., 30., 5.} {
        for (int s = 0; s < slots; ++s) start(s);
    }
    std::mt19937_64 draw;
    assembly::settings with;
    double now = 0, loss = 0, longest = 0.01;
    std::vector<std::unique_ptr<assembly>> at{static_cast<std::size_t>(with.slots)};
    std::vector<int> side = std::vector<int>(static_cast<std::size_t>(with.slots));   // who reaches whom
    std::set<std::pair<int, int>> broken;   // cables between two
    std::multimap<double, std::pair<int, assembly_message>> way;
    std::map<std::int64_t, member_list> lists;   // by epoch
    std::string wrong;

    assembly& operator[](int s) { return *at[static_cast<std::size_t>(s)]; }
    bool runs(int s) const { return at[static_cast<std::size_t>(s)] != nullptr; }
    double chance() { return static_cast<double>(draw() >> 11) * 0x1p-53; }
    void start(int s) {
        at[static_cast<std::size_t>(s)] = std::make_unique<assembly>(with, s, [this] { return draw(); }, now);
    }
    void kill(int s) { at[static_cast<std::size_t>(s)].reset(); }
    assembly::send from(int s) {
        return [this, s](int to, const assembly_message& m) {
            const std::string bytes = archived(m);   // as it travels
            const auto copy = restored<assembly_message>(octets(bytes, bytes.size()));
            for (int k = 0; k < 1 + (loss > 0 && chance() < 0.1); ++k)
                if (side[static_cast<std::size_t>(s)] == side[static_cast<std::size_t>(to)] &&
                    !broken.contains(std::minmax(s, to)) && chance() >= loss)
                    way.emplace(now + longest * chance(), std::pair(to, copy));
        };
    }
    void pass(double seconds) {
        for (const double until = now + seconds; now < until; now += 0.025) {
            while (!way.empty() && way.begin()->first <= now) {
                const auto [to, m] = way.begin()->second;
                way.erase(way.begin());
                if (runs(to)) (*this)[to].receive(m, now, from(to));
            }
            for (int s = 0; s < with.slots; ++s)
                if (runs(s)) (*this)[s].tick(now, from(s)), look(s);
        }
    }
    /// What is on its way arrives, and what it is answered by, while nobody's clock ticks.
    void exchange() {
        while (!way.empty()) {
            const auto [to, m] = way.begin()->second;
            now = std::max(now, way.begin()->first);
            way.erase(way.begin());
            if (runs(to)) (*this)[to].receive(m, now, from(to)), look(to);
        }
    }
    /// Every list that anybody ever has is the only one of its epoch.
    void look(int s) {
        const member_list& l = (*this)[s].list();
        if (l.epoch == 0) return;
        const auto [known, is_new] = lists.emplace(l.epoch, l);
        if (!(known->second == l)) wrong = "two lists of epoch " + std::to_string(l.epoch);
    }
    void begin_all() {
        pass(1);
        member_list first{1, {}};
        for (int s = 0; s < with.most; ++s) first.entries.push_back({s, (*this)[s].self().incarnation, 1});
        for (int s = 0; s < with.most; ++s) {
            BOOST_TEST((*this)[s].all_are_new(now));
            (*this)[s].begin(first);
        }
    }
    void regroup(int s, std::int64_t done = 5, bool admits = false, int suspect = -1) {
        (*this)[s].regroup(done, true, admits, suspect, now);
    }
    std::vector<int> members(int s) {
        std::vector<int> m;
        for (const member_entry& x : (*this)[s].list().entries) m.push_back(x.slot);
        return m;
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(survivors_go_on_with_more_than_half) {
    network n(1, 3, 3);
    n.begin_all();
    n.kill(1);
    n.regroup(0, 5, false, 1), n.regroup(2, 4, false, 1);
    n.pass(1);   // the one that is suspected is given up sooner than after dead_after
    for (const int s : {0, 2}) {
        BOOST_TEST((n.members(s) == std::vector<int>{0, 2}));
        BOOST_TEST(n[s].list().epoch == 2);
        BOOST_TEST((n[s].state() == assembly_state::running));
        BOOST_TEST(done_of(n[s].list().entries[0].progress) == 5);
        BOOST_TEST(done_of(n[s].list().entries[1].progress) == 4);
    }
    n.kill(2);   // half with the chief
    n.regroup(0);
    n.pass(3);
    BOOST_TEST((n.members(0) == std::vector<int>{0}));
    BOOST_TEST(n.wrong == "");
}
// Who had no processor for a while has not read yet what others have answered: they are not dead,
// whoever of them is read first.
BOOST_AUTO_TEST_CASE(who_is_late_reads_all_before_it_decides) {
    for (const int suspect : {-1, 1, 2}) {
        network n(9, 3, 3);
        n.begin_all();
        n.pass(0.1);   // nothing is on its way any more
        n.longest = 0;
        for (const int s : {0, 1, 2}) n.regroup(s, 5, false, suspect);
        n[1].tick(n.now, n.from(1)), n[2].tick(n.now, n.from(2));   // all have come
        n[0].tick(n.now, n.from(0));
        std::vector<assembly_message> unread;
        while (!n.way.empty()) {
            const auto [to, m] = n.way.begin()->second;
            n.way.erase(n.way.begin());
            if (to == 0) unread.push_back(m);
            else n[to].receive(m, n.now, n.from(to));
        }
        n.now += suspect < 0 ? 1.1 : 0.3;   // longer than what takes a member, or one that is suspected, for dead
        for (const assembly_message& m : unread) n[0].receive(m, n.now, n.from(0));
        n[0].tick(n.now, n.from(0));
        n.pass(0.2);
        for (const int s : {0, 1, 2}) BOOST_TEST((n.members(s) == std::vector<int>{0, 1, 2}));
        BOOST_TEST(n.wrong == "");
    }
}
// Members that come one after the other agree as soon as the last one has come, by messages alone: training stands
// still meanwhile.
BOOST_AUTO_TEST_CASE(agreed_without_a_tick) {
    for (const std::vector<int>& order : {std::vector<int>{0, 2, 3}, {3, 2, 0}, {2, 0, 3}}) {
        network n(8, 4, 4);
        n.begin_all();
        n.kill(1), n.start(1);
        n.pass(3);   // it waits to join
        BOOST_TEST((n[1].state() == assembly_state::waiting));
        for (const int s : order) {
            BOOST_TEST(n[s].list().epoch == 1);
            n.now += 0.02;
            n.regroup(s, 9, true);
            n[s].tick(n.now, n.from(s));
            n.exchange();
        }
        for (const int s : {0, 1, 2, 3}) BOOST_TEST((n.members(s) == std::vector<int>{0, 1, 2, 3}));
        BOOST_TEST(n.wrong == "");
    }
}
BOOST_AUTO_TEST_CASE(half_without_the_chief_does_not_go_on) {
    network n(2, 2, 2);
    n.begin_all();
    n.kill(0);
    n.regroup(1);
    n.pass(4);
    BOOST_TEST(n[1].list().epoch == 1);
    BOOST_TEST(n[1].fault().find("of 2 members 1 is left or can be reached") == 0, n[1].fault());
}
// Nobody is left out because it comes late: it is alive, and computes.
BOOST_AUTO_TEST_CASE(who_lives_is_waited_for) {
    network n(3, 3, 3);
    n.begin_all();
    n.regroup(0), n.regroup(1);
    n.pass(10);
    BOOST_TEST(n[0].list().epoch == 1);
    n.regroup(2);
    n.pass(1);
    BOOST_TEST((n.members(0) == std::vector<int>{0, 1, 2}));
    n.regroup(0), n.regroup(1);
    n.pass(32);   // longer than stuck_after
    BOOST_TEST((n.members(1) == std::vector<int>{0, 1}));
    n.regroup(2);
    n.pass(1);
    BOOST_TEST(n[2].fault().find("this process was removed from the job") == 0, n[2].fault());
}
// Who is still being given the model's state is seen, and not taken in before it says so.
BOOST_AUTO_TEST_CASE(who_is_being_healed_joins_later) {
    network n(14, 3, 3);
    n.begin_all();
    n.kill(1);
    n.regroup(0), n.regroup(2);
    n.pass(2);
    n.start(1);
    n[1].may_join(false);
    n.pass(1);
    BOOST_TEST(!n[0].somebody_waits(n.now));
    BOOST_TEST(n[0].waiting(n.now, false).slot == 1);
    n.regroup(0, 9, true), n.regroup(2, 9, true);
    n.pass(1);
    BOOST_TEST((n.members(0) == std::vector<int>{0, 2}));
    n[1].may_join(true);
    n.pass(1);
    BOOST_TEST(n[0].somebody_waits(n.now));
    BOOST_TEST(n[0].waiting(n.now, false).slot == -1);
    n.regroup(0, 10, true), n.regroup(2, 10, true);
    n.pass(1);
    for (const int s : {0, 1, 2}) BOOST_TEST((n.members(s) == std::vector<int>{0, 1, 2}));
    BOOST_TEST(n.wrong == "");
}
BOOST_AUTO_TEST_CASE(a_process_that_is_started_again_waits_and_joins) {
    network n(4, 3, 3);
    n.begin_all();
    n.kill(1);
    n.regroup(0), n.regroup(2);
    n.pass(2);
    n.start(1);
    n.pass(1);
    BOOST_TEST((n[1].state() == assembly_state::waiting));
    BOOST_TEST(n[0].somebody_waits(n.now));
    n.regroup(0), n.regroup(2);   // a failure in the midst of a step: nobody can come in
    n.pass(1);
    BOOST_TEST((n.members(0) == std::vector<int>{0, 2}));
    n.regroup(0, 9, true), n.regroup(2, 9, true);
    n.pass(1);
    for (const int s : {0, 1, 2}) BOOST_TEST((n.members(s) == std::vector<int>{0, 1, 2}));
    BOOST_TEST(!is_healed(n[0].list().entries[1].progress));
    BOOST_TEST(done_of(n[0].list().entries[1].progress) == 9);
    BOOST_TEST(!n[0].somebody_waits(n.now));
}
// A process that is at once started again has its predecessor's place, and is no member.
BOOST_AUTO_TEST_CASE(a_successor_is_not_its_predecessor) {
    network n(5, 3, 3);
    n.begin_all();
    n.kill(0);
    n.start(0);
    n.regroup(1), n.regroup(2);
    n.pass(0.5);   // that somebody else answers there shows at once that the old one is dead
    BOOST_TEST((n.members(1) == std::vector<int>{1, 2}));
    n.regroup(1, 7, true), n.regroup(2, 7, true);
    n.pass(1);
    BOOST_TEST((n.members(0) == std::vector<int>{0, 1, 2}));
}
BOOST_AUTO_TEST_CASE(spares_wait_until_there_is_a_place) {
    network n(6, 4, 2);
    n.begin_all();
    n.pass(10);
    for (const int s : {2, 3}) BOOST_TEST((n[s].state() == assembly_state::waiting && n[s].fault().empty()));
    BOOST_TEST(!n[0].somebody_waits(n.now));
    n.kill(1);
    n.regroup(0);
    n.pass(2);
    BOOST_TEST(n[0].somebody_waits(n.now));
    n.regroup(0, 6, true);
    n.pass(1);
    BOOST_TEST((n.members(0) == std::vector<int>{0, 2}));   // one of the two
    BOOST_TEST(!n[0].somebody_waits(n.now));
    n[0].end(), n[0].send_end(n.from(0));
    n.pass(1);
    BOOST_TEST(n[3].fault() == "the job has ended before this process could join it");
}
// Cut in three parts of 1, 1 and 1, or 2, 2 and 1: none goes on. Of 3 and 2 the larger one does.
BOOST_AUTO_TEST_CASE(parts_of_a_job) {
    const auto going_on = [](std::vector<int> sides) {
        const int slots = static_cast<int>(sides.size());
        network n(7, slots, slots);
        n.begin_all();
        n.side = sides;
        for (int s = 0; s < slots; ++s) n.regroup(s);
        n.pass(5);
        BOOST_TEST(n.wrong == "");
        std::vector<int> on;
        for (int s = 0; s < slots; ++s)
            if (n[s].list().epoch == 2) on.push_back(s);
            else BOOST_TEST(!n[s].fault().empty());
        return on;
    };
    using list = std::vector<int>;
    BOOST_TEST((going_on({0, 1, 2}) == list{}));
    BOOST_TEST((going_on({0, 1, 1, 2, 2}) == list{}));
    BOOST_TEST((going_on({0, 1, 1}) == list{1, 2}));
    BOOST_TEST((going_on({0, 1, 0, 1}) == list{0, 2}));      // half, with the chief
    BOOST_TEST((going_on({0, 1, 1, 0, 1}) == list{1, 2, 4}));
}
// Single cables are broken: those that all reach each other go on, as many as there can be, and the others are removed.
BOOST_AUTO_TEST_CASE(cables_between_two_members) {
    using list = std::vector<int>;
    const auto going_on = [](int slots, std::set<std::pair<int, int>> broken, bool lost = false) {
        network n(17, slots, slots);
        n.begin_all();
        n.pass(0.2);
        if (!lost) n.broken = broken;
        for (int s = 0; s < slots; ++s) {
            int other = -1;   // that cannot be connected with, though it answers
            for (const auto& [a, b] : broken)
                if (lost && (a == s || b == s)) other = a + b - s;
            n[s].regroup(5, true, false, -1, n.now, other);
        }
        n.pass(6);
        BOOST_TEST(n.wrong == "");
        std::vector<int> on;
        for (int s = 0; s < slots; ++s)
            if (n[s].list().epoch == 2 && n[s].list().find(s, n[s].self().incarnation)) on.push_back(s);
            else BOOST_TEST(n[s].fault().find("removed from the job") != std::string::npos, n[s].fault());
        if (!on.empty()) BOOST_TEST((n.members(on[0]) == on));
        return on;
    };
    BOOST_TEST((going_on(3, {{1, 2}}) == list{0, 1}));
    BOOST_TEST((going_on(3, {{1, 2}}, true) == list{0, 1}));
    BOOST_TEST((going_on(4, {{1, 2}, {2, 3}}) == list{0, 1, 3}));
    BOOST_TEST((going_on(5, {{0, 4}, {1, 4}, {2, 3}}) == list{0, 1, 2}));
    const list chief_cut = going_on(3, {{0, 1}});   // one of them goes on with the third, never both
    BOOST_TEST((chief_cut == list{0, 2} || chief_cut == list{1, 2}));
}
// Who reaches some of the members alone is not taken in, or the job would stand still until it is removed again.
BOOST_AUTO_TEST_CASE(who_does_not_reach_all_waits) {
    network n(18, 3, 3);
    n.begin_all();
    n.kill(2);
    n.regroup(0), n.regroup(1);
    n.pass(2);
    n.broken = {{1, 2}};
    n.start(2);
    n.pass(2);
    BOOST_TEST((n[2].state() == assembly_state::waiting));
    for (const int s : {0, 1}) BOOST_TEST(!n[s].somebody_waits(n.now));
    n.regroup(0, 9, true), n.regroup(1, 9, true);
    n.pass(1);
    BOOST_TEST((n.members(0) == std::vector<int>{0, 1}));
    n.broken.clear();
    n.pass(1);
    for (const int s : {0, 1}) BOOST_TEST(n[s].somebody_waits(n.now));
    n.regroup(0, 10, true), n.regroup(1, 10, true);
    n.pass(1);
    BOOST_TEST((n.members(2) == std::vector<int>{0, 1, 2}));
}
// A process of another program is told why it cannot join; those that run are not disturbed, and tell of it once.
BOOST_AUTO_TEST_CASE(who_differs_learns_why) {
    network n(19, 3, 3);
    n.with.same = {1, 2, 3};
    for (int s = 0; s < 3; ++s) n.start(s);
    n.begin_all();
    n.kill(1);
    n.regroup(0), n.regroup(2);
    n.pass(2);
    n.with.same = {1, 7, 3};
    n.start(1);
    n.pass(1);
    BOOST_TEST(n[1].fault().find("this process cannot join the job: the layout of memory") == 0, n[1].fault());
    for (const int s : {0, 2}) {
        BOOST_TEST(!n[s].somebody_waits(n.now));
        const auto news = n[s].take_events();
        BOOST_TEST_REQUIRE(news.size() == 1u);
        BOOST_TEST(news[0].slot == 1);
        BOOST_TEST(news[0].text.find("cannot join: the layout of memory") == 0, news[0].text);
    }
    n.with.same = {1, 2, 3};   // the right one after it
    n.kill(1), n.start(1);
    n.pass(1);
    BOOST_TEST(n[0].somebody_waits(n.now));
}
// Whatever is lost, cut, killed and started again, at any time: one list an epoch, of which each has more than half of
// the one before, or half with its chief.
BOOST_AUTO_TEST_CASE(never_two_parts) {
    std::int64_t epochs = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        const int slots = 2 + static_cast<int>(seed % 4);
        network n(seed, slots, slots);
        n.begin_all();
        n.loss = 0.3 * n.chance(), n.longest = 0.3 * n.chance();
        std::vector<std::int64_t> acted(static_cast<std::size_t>(slots));
        for (int event = 0; event < 40; ++event) {
            const int s = static_cast<int>(n.draw() % static_cast<unsigned>(slots));
            switch (n.draw() % 6) {
                case 0: n.kill(s); break;
                case 1:
                    if (!n.runs(s)) n.start(s);
                    break;
                case 2: n.side[static_cast<std::size_t>(s)] = static_cast<int>(n.draw() % 2); break;
                case 3: std::fill(n.side.begin(), n.side.end(), 0), n.broken.clear(); break;
                case 4:
                    if (const int o = static_cast<int>(n.draw() % static_cast<unsigned>(slots)); o != s)
                        n.broken.insert(std::minmax(s, o));
                    break;
                default: break;
            }
            for (int r = 0; r < slots; ++r)   // members that see a failure, each when it does
                if (n.runs(r) && n[r].state() == assembly_state::running && n.chance() < 0.7)
                    n.regroup(r, 5, n.chance() < 0.5, s);
            n.pass(0.1 + 2 * n.chance());
        }
        BOOST_TEST(n.wrong == "", "seed " << seed << ": " << n.wrong);
        for (const auto& [epoch, l] : n.lists) {
            if (!n.lists.contains(epoch - 1)) continue;
            ++epochs;
            const member_list &old = n.lists[epoch - 1], &now = l;
            const auto stays = [&](const member_entry& x) { return now.find(x.slot, x.incarnation) != nullptr; };
            BOOST_TEST(old.may_decide(stays),
                       "seed " << seed << ", epoch " << epoch);
        }
    }
    BOOST_TEST(epochs > 300);   // or it has shown nothing
}
// A list is what it was, in whatever order its messages come; what fits no message is refused.
BOOST_AUTO_TEST_CASE(messages) {
    assembly_message m{.kind = assembly_kind::promise, .from = {3, 99, 7}, .state = assembly_state::regrouping,
                       .admits = true, .nonce = 5, .run = 6, .epoch = 7, .ballot = 8, .before = 9,
                       .list = {4, {{1, 11, 3}, {2, 12, 5}}}, .same = {1, 2, 3}, .answered = {0, 2}, .lost = 2};
    const std::string bytes = archived(m);
    const auto whole = restored<assembly_message>(octets(bytes, bytes.size()));
    BOOST_TEST((whole.list == m.list && whole.from == m.from && whole.kind == m.kind && whole.state == m.state));
    BOOST_TEST((whole.nonce == 5u && whole.run == 6u && whole.epoch == 7 && whole.ballot == 8 && whole.before == 9));
    BOOST_TEST((whole.same == m.same && whole.answered == m.answered && whole.lost == 2));
    for (std::size_t n = 0; n < bytes.size(); ++n)
        BOOST_CHECK_THROW(restored<assembly_message>(octets(bytes, n)), sinter::error);
    std::string other = bytes;
    other[0] = 77;
    BOOST_CHECK_THROW(restored<assembly_message>(octets(other, other.size())), sinter::format_error);
}
