// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/serving.hpp>

/// A worker's push, when all of it has come.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A push is whole. It may ask for values, which are the answer.
inline void server_session::commit(span<const std::byte> bytes) {
    commit_block b;
    if (!b.decode(bytes)) throw refused_request{"a commit that makes no sense"};
    take(bytes.subspan(commit_block::bytes));
    staged_push& p = *k_.incoming;
    if (!e_.has_phase(b.info.phase))
        throw refused_request{"a push of a phase that this job does not have"};
    p.describe(b);
    if (const char* fault = p.fault()) throw refused_request{fault};
    const bool copied = e_.options.order.mode == update_mode::async ? apply_now(b) : stage(b);
    conn_.work_ends();
    if (b.pull == 0) return answer({});
    if (!copied) {
        lock hold(e_.mutex);
        wait_until_readable();
    }
    copy(b.pull, !copied);
}

/// It becomes an update at once. True: the values are in values_ already.
inline bool server_session::apply_now(const commit_block& b) {
    {
        lock hold(e_.mutex);
        wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.progress.is_open(); });
    }
    const auto changing = changes();
    staged_push& p = *k_.incoming;
    lock hold(e_.mutex);
    if (e_.replicated()) need_to_go_on();
    k_.info = {};
    if (!e_.log.take(w_, incarnation_, b.number)) {
        ++k_.counters.repeated;
        k_.info.push = fate::repeated;
        p.clear();
        return false;
    }
    e_.tickets.give_back(w_);
    e_.together.save_was_named(b.save);
    const std::int64_t named = e_.saves.newest_named();
    e_.report_saves(named, e_.saves.pushed(b.save, e_.options.files != nullptr));
    if (b.version < e_.progress.version()) {
        ++k_.counters.dropped, ++k_.counters.outdated;
        k_.info.push = fate::outdated;
        if (e_.copies.stream())
            e_.copies.stream()->add_push(w_, incarnation_, b, p, e_.memory.layout(), copied_push::late);
        p.clear();
        e_.changed.notify_all();
        return false;
    }
    version_ = e_.progress.version();
    if (e_.copies.stream()) e_.copies.stream()->add_push(w_, incarnation_, b, p, e_.memory.layout());
    if (!p.info.finite) {
        ++k_.counters.not_finite;
        k_.info.push = fate::not_finite;
        p.clear();
        e_.changed.notify_all();
        return false;
    }
    conn_.work_begins();
    const std::int64_t step = e_.progress.begun();
    const int phase = p.info.phase;
    e_.begin_update(phase, p.info.rate, scalars_.data());
    hold.unlock();
    const bool copies = (b.pull & pull_flag::values) != 0 && p.has_dense();
    if (copies) reserve_values(e_.memory.layout().updated());
    const char* const fault = e_.apply_push(p, step, scalars_.data(), copies ? values_.data() : nullptr);
    hold.lock();
    e_.progress.end_update(phase);
    const std::int64_t late = std::max<std::int64_t>(0, step - std::max<std::int64_t>(0, b.read_step));
    ++k_.counters.applied;
    k_.counters.staleness_sum += late;
    k_.counters.staleness_max = std::max(k_.counters.staleness_max, late);
    k_.info.push = fate::applied;
    k_.info.staleness = late;
    k_.info.loss = p.info.loss, k_.info.weight = p.info.weight, k_.info.examples = p.info.examples;
    p.clear();
    e_.gets_on();
    if (e_.tickets.limit() > 0) e_.changed.notify_all();
    if (fault) throw refused_request{fault};
    return copies;
}
/// It waits for the others of its clock.
inline bool server_session::stage(const commit_block& b) {
    lock hold(e_.mutex);
    e_.comes_to(w_, b.clock);
    wait([&]() SINTER_REQUIRES(e_.mutex) {
        return e_.progress.is_open() && (e_.log.has(w_, incarnation_, b.number) || e_.all_clocks.may_push(b.clock));
    }, awaited::clock);
    k_.info.push = fate::repeated;
    if (!e_.log.take(w_, incarnation_, b.number)) {
        ++k_.counters.repeated;
        k_.incoming->clear();
        return false;
    }
    const std::int64_t behind = std::max<std::int64_t>(0, e_.all_clocks.applied() - b.clock);
    e_.together.give(b.clock);
    const bool taken = e_.take_push(w_, b.clock) == clocks::verdict::taken;
    if (e_.copies.stream())
        e_.copies.stream()->add_push(w_, incarnation_, b, *k_.incoming, e_.memory.layout(),
                            taken ? copied_push::taken : copied_push::late);
    if (taken) {
        k_.incoming->incarnation = incarnation_;
        std::swap(k_.incoming, k_.staged[e_.slot_of(b.clock)]);
        ++k_.counters.staged;
        k_.info.push = fate::staged;
    } else {
        ++k_.counters.dropped;
        k_.info.push = fate::late;
        k_.info.staleness = behind;
        k_.applied_number = b.number;
    }
    k_.incoming->clear();
    conn_.work_begins();
    e_.advance();
    e_.changed.notify_all();
    return false;
}

} // namespace sinter::parameter_servers
