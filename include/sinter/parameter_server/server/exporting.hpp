// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/engine.hpp>

/// A server hands on which rows of its tables have changed (server_options::changes).
namespace sinter::inline SINTER_TARGET::sharded {

/// All rows the first time, after the chief has overwritten values (which sets the global step,
/// too), and where another copy has led meanwhile.
inline void server::engine::keep_exporting() {
    const std::int64_t every = std::max<std::int64_t>(1, options.changes_every_steps);
    std::int64_t since = 0, exported = 0, set_before = -1;
    std::uint64_t led_before = 0;
    lock hold(mutex);
    for (;;) {
        const bool last = stopping, leads = part == copy_role::leading && open && !renewing;
        if (steps_set != set_before || epoch != led_before) {
            since = exported = 0;
            set_before = steps_set, led_before = epoch;
        }
        if (!leads || global_step == exported || (!last && global_step / every == exported / every)) {
            if (last) return;
            changed.wait_for(hold, std::chrono::milliseconds(20));
            continue;
        }
        hold.unlock();
        std::vector<table_changes> all;
        {
            const std::unique_lock alone(gate);
            hold.lock();
            if (part != copy_role::leading || renewing) continue;
            exported = global_step;
            hold.unlock();
            all = memory.changes(since, exported);
        }
        std::string fault;
        try {
            options.changes(shard_number, {all.data(), all.size()});
        } catch (const std::exception& e) {
            fault = e.what();
        }
        hold.lock();
        if (fault.empty()) since = exported;
        else notes.say("changes of tables could not be written: " + fault, message_level::warning);
    }
}

} // namespace sinter::sharded
