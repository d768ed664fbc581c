// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/engine.hpp>

/// A server hands on which rows of its tables have changed (server_options::changes).
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What went wrong; empty: nothing.
SINTER_COLD inline std::string server::engine::hand_on(std::vector<table_changes>& all) const {
    try {
        options.changes(shard_number, {all.data(), all.size()});
        return {};
    } catch (const std::exception& e) {
        return *e.what() ? e.what() : "it failed";
    }
}

/// All rows the first time, after the chief has overwritten values (which sets the global step,
/// too), and where another copy has led meanwhile.
SINTER_COLD inline void server::engine::keep_exporting() {
    const std::int64_t every = std::max<std::int64_t>(1, options.changes_every_steps);
    std::int64_t since = 0, exported = 0, set_before = -1;
    std::uint64_t led_before = 0;
    const lock hold(mutex);
    for (;;) {
        const bool last = ending.is_stopping(),
                   leads = copies.leads() && progress.is_open() && !progress.is_renewing();
        const std::int64_t step = progress.global_step();
        if (progress.times_set() != set_before || copies.epoch() != led_before) {
            since = exported = 0;
            set_before = progress.times_set(), led_before = copies.epoch();
        }
        if (!leads || step == exported || (!last && step / every == exported / every)) {
            if (last) return;
            changed.wait_for(mutex, 0.02);
            continue;
        }
        bool is_taken = false;
        std::string fault;
        {
            const base::mutex_release away(mutex);
            std::vector<table_changes> all;
            {
                const std::unique_lock alone(gate);
                {
                    const lock now(mutex);
                    is_taken = copies.leads() && !progress.is_renewing();
                    if (is_taken) exported = progress.global_step();
                }
                if (is_taken) all = memory.changes(since, exported);
            }
            if (is_taken) fault = hand_on(all);
        }
        if (is_taken && fault.empty()) since = exported;
        if (!fault.empty()) notes.say("changes of tables could not be written: " + fault, message_level::warning);
    }
}

} // namespace sinter::parameter_servers
