// SPDX-License-Identifier: BSL-1.0
// processors: 2
#include <boost/test/unit_test.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/sharded_update.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "io/temporary_folder.hpp"
#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

#include <sys/mman.h>
#include <unistd.h>

// Under sharded_update the optimizer's memory is divided among members, also after a file was loaded.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<1024> >> dense<3072>;   // two slots of Adam: 25 MB

// The other way around means the same.
static_assert(canonical_strategy<2, sharded_update_strategy<thread_members<>>>::others ==
              sinter::strategy_parts::other_processes::update_parts);

/// The share of the slots' pages that take memory.
template <class Trainer>
double resident(Trainer& t) {
    using P = typename Trainer::training;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    char* const begin = reinterpret_cast<char*>(t.session().replicas().first().host({compiler::space::slot, 0}));
    const std::size_t bytes = static_cast<std::size_t>(P::v.floats(compiler::space::slot)) * 4 / page * page;
    std::vector<unsigned char> pages(bytes / page);
    BOOST_REQUIRE(::mincore(begin, bytes, pages.data()) == 0);
    return static_cast<double>(std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; })) /
           static_cast<double>(pages.size());
}

} // namespace

BOOST_AUTO_TEST_CASE(each_member_has_its_part_of_the_slots) {
    temporary_folder folder;
    double fresh[2], trained[2], loaded[2];
    std::vector<float> variables[2], variables_again[2];
    auto errors = as_members(2, [&](const auto& s) {
        const auto r = static_cast<std::size_t>(s.rank);
        trainer t{net, mse, adam{}, max_batch<2>, sharded_update(s), {.threads = 1}};
        fresh[r] = resident(t);
        train_on(t, 2, {2});
        trained[r] = resident(t);
        save(t, folder / std::to_string(s.rank));
        variables[r] = all_variables(t);
    });
    for (const std::string& e : errors) BOOST_TEST(e == "");
    errors = as_members(2, [&](const auto& s) {
        const auto r = static_cast<std::size_t>(s.rank);
        trainer t{net, mse, adam{}, max_batch<2>, sharded_update(s), {.threads = 1}};
        load(t, folder / std::to_string(s.rank));
        loaded[r] = resident(t);
        variables_again[r] = all_variables(t);
    });
    for (const std::string& e : errors) BOOST_TEST(e == "");
    for (int r = 0; r < 2; ++r) {
        BOOST_TEST_CONTEXT("member " << r) {
            BOOST_TEST(fresh[r] < 0.1);
            BOOST_TEST(trained[r] > 0.4);
            BOOST_TEST(trained[r] < 0.7);
            BOOST_TEST(loaded[r] > 0.4);
            BOOST_TEST(loaded[r] < 0.7);
            BOOST_TEST(same_bits(variables[r], variables[0]));
            BOOST_TEST(same_bits(variables_again[r], variables[0]));
        }
    }
}
// A run that was saved within a round of steps goes on: what had been gathered counts once, not once for each member.
BOOST_AUTO_TEST_CASE(a_round_goes_on_from_a_file) {
    temporary_folder folder;
    constexpr auto small = features<4> >> dense<40>;
    constexpr auto gathers = accumulate<3>(adam{.learning_rate = 0.05f});
    std::vector<float> undisturbed[2], resumed[2];
    for (const bool saves : {true, false}) {
        const auto errors = as_members(2, [&](const auto& s) {
            const auto r = static_cast<std::size_t>(s.rank);
            trainer t{small, mse, gathers, max_batch<2>, sharded_update(s), {.threads = 1}};
            if (saves) train_on(t, 4, {2}), save(t, folder / std::to_string(s.rank));
            else load(t, folder / std::to_string(s.rank));
            train_on(t, 5, {2});
            (saves ? undisturbed : resumed)[r] = all_variables(t);
        });
        for (const std::string& e : errors) BOOST_TEST(e == "");
    }
    for (int r = 0; r < 2; ++r) BOOST_TEST(furthest(resumed[r], undisturbed[r]) < 1e-5);
}
