// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "io/temporary_folder.hpp"
#include "net/processes.hpp"
#include "strategy/faulty_ring.hpp"
#include "support/points.hpp"
#include "support/same_training.hpp"
#include <cmath>
#include <sinter/base/checksum.hpp>
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/metrics.hpp>

/// Members of elastic jobs as processes of their own, and what they tell of their lives.
namespace sinter::test {

constexpr int steps_of_a_life = 60;

/// How a member trains.
struct plan {
    int die_at = -1;           ///< kills itself behind this step
    double pause = 0;          ///< seconds that each step takes longer
    int throw_at = -1;
    int spares = 0;
    std::string checkpoints{};
    double dead_after = 1;
    int steps = steps_of_a_life;
    int joined = 0;            ///< while fewer train, steps of the second half take long: who is to join has time to
    const shared_flag* begun = nullptr;   ///< set behind the first step
    int fault_behind = -1;     ///< `what` happens in the step behind this one, under faulty_ring
    planned_fault what{};
    const shared_flag* fewer = nullptr;   ///< set behind the first step that not all of three have made
};
/// What a member does besides.
struct conduct {
    const plan& p;
    std::string& log;
    void after_step(auto& run, const data::batch_view&) {
        const int n = run.model.session().member().count;
        if (log.empty() || log.back() != static_cast<char>('0' + n)) log += static_cast<char>('0' + n);
        if (p.begun) p.begun->set();
        if (p.fewer && n < 3) p.fewer->set();
        const bool waits = n < p.joined && run.step > p.steps / 2;
        if (p.pause > 0) ::usleep(static_cast<useconds_t>((waits ? 0.5 : p.pause) * 1e6));
        if (run.step == p.throw_at) throw data_error("the data are gone", "a test's hook", "nothing", "something");
        if (run.step == p.die_at) ::raise(SIGKILL);
        if (run.step == p.fault_behind) next_fault = p.what;
    }
};
/// The strategy itself; canonical<4> in one process for `single`.
template <class Strategy>
auto in_four_shards(const Strategy& s) {
    if constexpr (std::is_same_v<Strategy, single<cpu_device>>) return canonical<4>();
    else return s;
}
inline auto training() { return points(200, 3) | data::shuffle(50) | data::batch(16); }

/// All parameters, states and slots.
template <class Model>
std::vector<float> numbers(const Model& m) {
    std::vector<float> all;
    const auto add = [&](const std::vector<float>& x) { all.insert(all.end(), x.begin(), x.end()); };
    for (int i = 0; i < m.inner().parameters(); ++i) add(m.inner().plain(m.inner().parameter(i)));
    for (int i = 0; i < m.inner().states(); ++i) add(m.inner().plain(m.inner().state(i)));
    for (int k = 0; k < m.inner().slots(); ++k)
        for (int i = 0; i < m.inner().parameters(); ++i) add(m.inner().plain_slot(m.inner().parameter(i), k));
    return all;
}
template <class Model, class Data = decltype(&training)>
std::vector<float> trained_alone(Model model, int steps, Data make_data = &training) {
    auto data = make_data();
    model.train(data, {.max_steps = steps, .progress = nullptr});
    return numbers(model);
}
/// How a member was healed: " repeated N waited N", where it was not there from the beginning.
std::string healing_of(const auto& session) {
    const auto& h = session.healed_by();
    return " repeated " + std::to_string(h.steps) + " images " + std::to_string(h.images) + " waited " +
           std::to_string(h.waits);
}
/// A member's whole life: "ok members 32 steps 60 chief 1 ...". `make(strategy)` is the model under a strategy,
/// `under(multi_worker)` the one that the job has.
template <class Algorithm = ring, class Make, class Under, class Data = decltype(&training)>
std::string life(Make make, Under under, const std::vector<std::string>& at, int slot, const plan& p,
                 Data make_data = &training) {
    cluster_options o = quick(p.dead_after);
    o.spares = p.spares;
    auto model = make(under(multi_worker<Algorithm>{cluster::of(at, slot, o)}));
    auto data = make_data();
    auto test = points(61, 4) | data::batch(8);
    std::string members;
    conduct c{p, members};
    if (p.checkpoints.empty()) model.train(data, {.max_steps = p.steps, .progress = nullptr}, c);
    else
        model.train(data, {.max_steps = p.steps, .progress = nullptr}, c,
                    save_checkpoints(p.checkpoints, {.every_steps = 5, .resume = true, .keep = 3}));
    const evaluation_result e = model.evaluate(test, metrics::auc{});
    const std::vector<float> w = numbers(model);
    double sum = 0;
    for (const float x : w) sum += static_cast<double>(x);
    const double off = furthest(w, trained_alone(make(single<cpu_device>{}), p.steps, make_data));
    return "ok members " + members + " steps " + std::to_string(model.inner().steps()) + " chief " +
           std::to_string(model.inner().session().member().chief()) + " examples " + std::to_string(e.examples) +
           healing_of(model.inner().session()) + " auc " + std::to_string(e.metrics[0].value) + " sum " +
           std::to_string(sum) + " bits " +
           std::to_string(sinter::base::checksum::of({reinterpret_cast<const std::byte*>(w.data()), w.size() * 4})) +
           " off " + (off == 0 ? "nothing" : std::to_string(off));
}
inline std::string word_behind(const std::string& text, const std::string& key) {
    const std::size_t at = text.find(key + " ");
    if (at == text.npos) return "?";
    const std::size_t begin = at + key.size() + 1;
    return text.substr(begin, text.find(' ', begin) - begin);
}
inline void is_well(const std::string& text) {
    BOOST_TEST(holds(text, "ok"), text);
    BOOST_TEST(word_behind(text, "steps") == std::to_string(steps_of_a_life), text);
    BOOST_TEST(word_behind(text, "examples") == "61", text);
    const std::string off = word_behind(text, "off");
    BOOST_TEST((off == "nothing" || std::stod("0" + off) < 1e-3), text);
}
/// Those that have ended well have the same numbers.
inline void are_equal(const std::vector<std::string>& texts) {
    for (const std::string& t : texts) {
        is_well(t);
        for (const char* key : {"bits", "auc"}) BOOST_TEST(word_behind(t, key) == word_behind(texts[0], key), t);
    }
}

} // namespace sinter::test
