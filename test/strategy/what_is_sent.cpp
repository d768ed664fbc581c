// SPDX-License-Identifier: BSL-1.0
// shows members: a step whose sums fail changes nothing; buckets leave when they are final, once for each update
// weighs: 2
#include <boost/test/unit_test.hpp>
#include <sinter/collective/forwarding_communicator.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// What a member of a job sends in a step, and when: each bucket as soon as it is final, once for
// each update; and that a step whose sums fail, whichever of them, changes nothing.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<6> >> dense<24> >> relu >> dense<20> >> relu >> dense<16> >> batch_norm >> relu
    >> dense<12> >> relu >> dense<3>;
constexpr int largest = 12, members = 2;

/// What a member starts, and the last launch that was over then.
struct notes {
    struct sum {
        int bucket, behind;
        bool more;
        std::int64_t n;
    };
    std::vector<sum> sums{};   ///< of buckets
    int other = 0;             ///< operations, of losses and states
    int launch = -1;
    int fails_at = -1;         ///< waiting for this operation of a step throws; -1: none does
    int waits = 0;
};
/// Stands between a session and a communicator, notes and fails.
class noting final : public collective::forwarding_communicator {
public:
    noting(std::unique_ptr<collective::communicator> c, notes* to) : forwarding_communicator(std::move(c)), to_(to) {}
    collective::ticket start(const collective::operation& o, void* data, std::int64_t n, bool more) override {
        if (o.bucket >= 0) to_->sums.push_back({o.bucket, to_->launch, more, n});
        else ++to_->other;
        return c_->start(o, data, n, more);
    }
    void wait(collective::ticket t) override {
        c_->wait(t);
        if (to_->waits++ == to_->fails_at)
            throw cluster_error(1, "worker/1", "a:1", "all-reduce", 3, "the cable is out");
    }

private:
    notes* to_;
};
/// Members with a Between before their communicators.
template <class Between, class To>
struct members_behind : thread_members<> {
    To* to = nullptr;
    sinter::strategy_parts::synchronous_setup setup(const sinter::strategy_parts::program_identity& i) const {
        sinter::strategy_parts::synchronous_setup s = thread_members<>::setup(i);
        s.members = std::make_unique<Between>(std::move(s.members), to);
        return s;
    }
};
/// f(trainer, to) on each member; what each has noted, once the trainers are gone.
template <class Between = noting, class To = notes, class Optimizer, class F>
std::vector<To> on_each(Optimizer o, F f) {
    std::vector<To> all(members);
    const auto errors = as_members(members, [&](const auto& s) {
        To& mine = all[static_cast<std::size_t>(s.rank)];
        members_behind<Between, To> with;
        static_cast<thread_members<>&>(with) = s;
        with.to = &mine;
        trainer t{net, mse, o, max_batch<largest>, with, {.threads = 1}};
        f(t, mine);
    });
    for (const std::string& e : errors) BOOST_TEST(e == "");
    return all;
}
void need(bool holds, const std::string& what) {   // Boost.Test's macros are not for threads
    if (!holds) throw std::runtime_error(what);
}

/// `round`: steps from one update to the next.
template <class Optimizer>
void check_starts(Optimizer o, int round) {
    on_each(o, [round](auto& t, notes& n) {
        using P = typename std::remove_cvref_t<decltype(t)>::training;
        constexpr int first_update = P::v.segments.first_update, loss = strategy_parts::of_program::loss_launch<P>;
        need(P::v.n_buckets >= 4, "too few buckets to see anything");
        const random_batch<P> b(1, largest);
        for (int step = 0; step < 3 * round; ++step) {
            n = {};
            t.step(b.view(), [&](int launch, bool before) { n.launch = before ? n.launch : launch; });
            if ((step + 1) % round != 0) continue;
            need(static_cast<int>(n.sums.size()) == P::v.n_buckets, "one sum for each bucket");
            int meanwhile = 0;
            for (int k = 0; k < P::v.n_buckets; ++k) {
                const notes::sum& s = n.sums[static_cast<std::size_t>(k)];
                const auto& bucket = P::v.buckets[k];
                need(s.bucket == k && s.n == bucket.floats, "bucket " + std::to_string(k) + " in its order");
                need(s.behind >= bucket.final_after, "not before it is final");
                if (bucket.final_after >= first_update) continue;
                need(s.more && s.behind == std::max(bucket.final_after, loss),
                     "bucket " + std::to_string(k) + " waits: it is final behind launch " +
                         std::to_string(bucket.final_after) + ", and started behind " + std::to_string(s.behind));
                meanwhile += s.behind + 1 < first_update;
            }
            need(meanwhile >= 2, "nothing is sent while the step goes on");
        }
    });
}

} // namespace

BOOST_AUTO_TEST_CASE(each_bucket_as_soon_as_it_is_final) { check_starts(adam{}, 1); }
BOOST_AUTO_TEST_CASE(in_the_last_step_of_a_round_as_well) { check_starts(accumulate<2>(adam{}), 2); }

BOOST_AUTO_TEST_CASE(once_for_each_update) {
    on_each(accumulate<3>(adam{}), [](auto& t, notes& n) {
        using P = typename std::remove_cvref_t<decltype(t)>::training;
        for (int step = 0; step < 9; ++step) {
            const random_batch<P> b(static_cast<std::uint64_t>(step), largest);
            n = {};
            t.step(b.view());
            std::int64_t floats = 0, all = 0;
            for (const notes::sum& s : n.sums) floats += s.n;
            for (int k = 0; k < P::v.n_buckets; ++k) all += P::v.buckets[k].floats;
            need(floats == (step % 3 == 2 ? all : 0), "step " + std::to_string(step) + ": " + std::to_string(floats) +
                                                          " floats of gradients are sent, of " + std::to_string(all));
            need(n.other > 0, "the loss is everybody's in each step");
        }
    });
}

/// Its thread still reads, when it is destroyed, what it was given and nobody has waited for.
class reads_to_the_end final : public collective::forwarding_communicator {
public:
    reads_to_the_end(std::unique_ptr<collective::communicator> c, int* read)
        : forwarding_communicator(std::move(c)), read_(read) {}
    ~reads_to_the_end() override {
        for (const span<const float> x : pending_)
            for (const float e : x) *read_ += e == e;
    }
    collective::ticket start(const collective::operation& o, void* data, std::int64_t n, bool more) override {
        if (o.bucket < 0) return c_->start(o, data, n, more);
        pending_.emplace_back(static_cast<const float*>(data), static_cast<std::size_t>(n));
        return -1;
    }
    void wait(collective::ticket t) override {
        if (t >= 0) c_->wait(t);
    }

private:
    int* read_;
    std::vector<span<const float>> pending_;
};
/// In a sanitized build: what a step that throws leaves on its way is there until the communicator is gone.
BOOST_AUTO_TEST_CASE(what_is_on_its_way_outlives_the_communicator) {
    const std::vector<int> read = on_each<reads_to_the_end, int>(adam{}, [](auto& t, int&) {
        using P = typename std::remove_cvref_t<decltype(t)>::training;
        const random_batch<P> b(1, largest);
        try {
            t.step(b.view(), [&](int launch, bool before) {
                if (!before && launch + 1 == P::v.segments.first_update) throw std::bad_alloc();
            });
        } catch (const std::bad_alloc&) {
            return;
        }
        need(false, "the step throws");
    });
    for (const int n : read) BOOST_TEST(n > 0);
}

BOOST_AUTO_TEST_CASE(a_sum_that_fails_changes_nothing) {
    int waits = 0;
    on_each(adam{}, [&](auto& t, notes& n) {
        train_on(t, 2, {largest});
        n = {};
        train_on(t, 1, {largest});
        if (t.session().member().chief()) waits = n.waits;
    });
    BOOST_TEST(waits >= 6);   // of the loss, states, four buckets or more
    for (int k = 0; k < waits; ++k)
        on_each(adam{}, [&](auto& t, notes& n) {
            using P = typename std::remove_cvref_t<decltype(t)>::training;
            train_on(t, 2, {largest});
            const std::vector<float> before = all_variables(t);
            const random_batch<P> b(7, largest);
            n = {.fails_at = k};
            std::string said;
            try {
                t.step(b.view());
            } catch (const cluster_error& e) {
                said = e.cause();
            }
            need(said == "the cable is out", "wait " + std::to_string(k) + ": " + said);
            need(t.steps() == 2, "the step does not count");
            need(same_bits(all_variables(t), before), "wait " + std::to_string(k) + " changes something");
            n = {};
            t.step(b.view());
            need(t.steps() == 3 && !same_bits(all_variables(t), before), "the next step is made");
        });
}
