// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/runtime/row_team.hpp>
#include <sinter/data/stages/stage.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/to_text.hpp>
#endif

/// Where the time of a pipeline goes.
namespace sinter::inline SINTER_ORDINARY::data {

/// What measured() has found of the stages up to its place, and since the place before it.
struct stage_time {
    std::string name;
    std::int64_t elements = 0;   ///< that came by
    double seconds = 0;          ///< that a thread takes for one in the stages since the place before; 0: unknown
};

/// Times of the places that measured() marks in one pipeline, to be read while it runs or afterwards, by hooks for
/// instance. Copies share them.
class stage_times {
public:
    /// In the order of the places, from the source on.
    SINTER_SELDOM SINTER_COLD std::vector<stage_time> all() const;
    /// One line for a person: whether the trainer waits for data, and which stage takes most of a row. `team`: what
    /// batches::statistics() says; `seconds`: since training began.
    SINTER_SELDOM SINTER_COLD std::string bottleneck(const team_statistics& team, double seconds) const;

    // ---- for the stages
    struct place {
        explicit place(std::string n) : name(std::move(n)) {}
        std::string name;
        std::atomic<std::int64_t> elements{0}, measured{0}, nanoseconds{0};
    };
    place* add(std::string name) {
        all_->push_back(std::make_unique<place>(std::move(name)));
        return all_->back().get();
    }

private:
    std::shared_ptr<std::vector<std::unique_ptr<place>>> all_ = std::make_shared<std::vector<std::unique_ptr<place>>>();
};

struct measured_step {
    std::string name;
    stage_times times;
};
/// Notes in `times`, under this name, how many elements come by here, and what a thread takes for one from the source
/// up to here. Changes nothing else. One element of 16 is timed, which takes some 50 ns.
///
///     data::stage_times times;
///     auto train = data::pictures(folder) | data::measured("read", times)
///                | data::map(decoded) | data::measured("decode", times) | data::batch(64) | data::parallel();
///     model.train(train);
///     std::puts(times.bottleneck(train.statistics(), seconds).c_str());
inline measured_step measured(std::string name, stage_times times) { return {std::move(name), std::move(times)}; }

template <element_stage Up>
class measured_stage {
    using ticket_type = stage_parts::ticket_of<Up>;

public:
    static constexpr bool is_indexed = Up::is_indexed;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using cursor = stage_parts::cursor_of<Up>;
    using ticket = ticket_type;
    struct state {
        typename Up::state up{};
        unsigned taken = 0, computed = 0;   ///< by this thread
    };

    measured_stage(Up up, measured_step s)
        : up_(std::move(up)), times_(std::move(s.times)), at_(times_.add(std::move(s.name))) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const { up_.begin(s.up, pass); }
    decltype(auto) get(state& s, std::int64_t i) const
        requires is_indexed
    {
        ++s.computed;
        if (s.computed % every != 0) return up_.get(s.up, i);
        count();
        const timer t(*at_);
        return up_.get(s.up, i);
    }
    void prefetch(state& s, std::int64_t i) const
        requires is_indexed
    {
        up_.prefetch(s.up, i);
    }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c); }
    bool next(state& s, cursor& c, ticket& k) const
        requires(!is_indexed)
    {
        if (++s.taken % every != 0) return up_.next(s.up, c, k);
        const timer t(*at_, 0);   // one element's part of taking and computing are added up
        return up_.next(s.up, c, k);
    }
    decltype(auto) get(state& s, ticket& k) const
        requires(!is_indexed)
    {
        ++s.computed;
        if (s.computed % every != 0) return up_.get(s.up, k);
        count();
        const timer t(*at_);
        return up_.get(s.up, k);
    }
    SINTER_COLD void describe(description& d) const { up_.describe(d); }   // measuring changes no element

private:
    static constexpr unsigned every = 16;

    class timer {
    public:
        explicit timer(stage_times::place& to, int measured = 1) : to_(to), measured_(measured) {}
        ~timer() {
            using std::chrono::nanoseconds;
            const auto took = std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now() - began_);
            to_.nanoseconds.fetch_add(took.count(), std::memory_order_relaxed);
            to_.measured.fetch_add(measured_, std::memory_order_relaxed);
        }
        timer(const timer&) = delete;

    private:
        stage_times::place& to_;
        int measured_;
        std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    };
    void count() const { at_->elements.fetch_add(every, std::memory_order_relaxed); }

    Up up_;
    stage_times times_;   ///< keeps at_ alive
    stage_times::place* at_;
};

template <element_stage Up>
measured_stage<Up> operator|(Up up, measured_step s) {
    return {std::move(up), std::move(s)};
}

#if SINTER_BODIES
SINTER_SELDOM_BODY std::vector<stage_time> stage_times::all() const {
    std::vector<stage_time> found;
    double before = 0;   // of the places so far: a place's own time includes theirs
    for (const std::unique_ptr<place>& p : *all_) {
        const auto n = p->measured.load();
        const double seconds = n > 0 ? static_cast<double>(p->nanoseconds.load()) / 1e9 / static_cast<double>(n) : 0;
        found.push_back({p->name, p->elements.load(), seconds > before ? seconds - before : 0});
        if (seconds > before) before = seconds;
    }
    return found;
}

SINTER_SELDOM_BODY std::string stage_times::bottleneck(const team_statistics& team, double seconds) const {
    const auto percent = [](double part, double of) { return static_cast<int>(of > 0 ? 100 * part / of + 0.5 : 0); };
    const int waited = percent(team.waited, seconds);
    if (waited < 2) return to_text({"the trainer is what takes time: it waited for data in ", waited, " % of it"});
    const stage_time* most = nullptr;
    double sum = 0;
    const std::vector<stage_time> stages = all();
    for (const stage_time& s : stages) {
        sum += s.seconds;
        if (!most || s.seconds > most->seconds) most = &s;
    }
    std::string line = to_text({"the trainer waited for data in ", waited, " % of the time, with ", team.threads,
                               team.threads == 1 ? " thread" : " threads", " at work"});
    if (most && sum > 0)
        line += to_text({"; of an element's ", static_cast<int>(sum * 1e6 + 0.5), " us \"", most->name, "\" takes ",
                        percent(most->seconds, sum), " %"});
    return line;
}
#endif

} // namespace sinter::data
