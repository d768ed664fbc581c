// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/write_order.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Tells a file from another that has taken its name.
struct file_identity {
    std::uint64_t inode = 0;
    std::int64_t seconds = 0, nanoseconds = 0, bytes = 0;   ///< of its last change; its length

    /// False: there is no such file.
    SINTER_APART SINTER_COLD bool is(const std::string& path);
    bool operator==(const file_identity&) const = default;
    bool is_later(const file_identity& than) const {
        return seconds != than.seconds ? seconds > than.seconds : nanoseconds > than.nanoseconds;
    }
};

/// What is known of a checkpoint without reading its tensors.
struct known_checkpoint {
    std::int64_t step = -1;       ///< of the model; -1: a single file that cannot be read
    io::write_order order{};
    bool readable = false;        ///< its head is whole
    bool ordered = false;         ///< `order` is known
    bool in_history = true;       ///< of the run that wrote the newest, or of one that this has come from
    file_identity file{};

    /// Whether this was written later. Versions before write_order ordered by steps.
    bool is_later(const known_checkpoint& than) const {
        if (order.is_later(than.order)) return true;
        return !than.order.is_later(order) && step > than.step;
    }
    SINTER_APART SINTER_COLD void read_head(const std::string& path);
};

/// Of files whose heads are damaged those get an order that were changed after all others, and whose steps the run
/// that has the folder `now` may have reached: they are taken for that run's.
SINTER_APART SINTER_COLD void guess_orders(std::vector<known_checkpoint>& all, const io::write_order& now);
/// Sorts: first the newest, and what it has come from, and then all others, each the newest first. A file of which
/// nothing is known but its name stands where its step is in that history, to be tried and told of.
SINTER_APART SINTER_COLD void sort_newest_first(std::vector<known_checkpoint>& all);

/// "step 60", "steps 10 to 100".
SINTER_APART SINTER_COLD std::string steps_of(const std::vector<known_checkpoint>& some);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/os/file_status.hpp>
#include <sinter/io/safetensors/checksum.hpp>
#include <algorithm>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART bool file_identity::is(const std::string& path) {
    const base::os::file_status s = base::os::status_of(path);
    if (s) *this = {s.number, s.seconds, s.nanoseconds, static_cast<std::int64_t>(s.bytes)};
    return bool(s);
}
SINTER_APART void known_checkpoint::read_head(const std::string& path) {
    try {
        const auto f = safetensors::open(path, [](std::string_view name) { return name != "step"; });
        safetensors::need_checksum_of_metadata(f.metadata, path);
        order = io::write_order::of(f.metadata);
        const auto t = f.tensors.find("step");
        if (step < 0 && t != f.tensors.end() && t->second.data.size() == sizeof step)
            std::memcpy(&step, t->second.data.data(), sizeof step);
        readable = ordered = true;
    } catch (const error&) {   // whoever reads it whole says why
    }
}
SINTER_APART void guess_orders(std::vector<known_checkpoint>& all, const io::write_order& now) {
    const known_checkpoint* newest = nullptr;
    for (const known_checkpoint& c : all)
        if (c.readable && (!newest || c.is_later(*newest))) newest = &c;
    if (!newest || newest->order.run >= now.run) return;
    for (known_checkpoint& c : all) {
        if (c.readable || c.step <= now.began || !c.file.is_later(newest->file)) continue;
        c.order = {now.run, c.step, now.began, now.first};
        c.ordered = true;
    }
}
SINTER_APART void sort_newest_first(std::vector<known_checkpoint>& all) {
    bool marked = false;
    const auto sort = [&] {
        std::sort(all.begin(), all.end(), [&](const known_checkpoint& a, const known_checkpoint& b) {
            if (!marked) return a.ordered != b.ordered ? a.ordered : a.is_later(b);
            if (a.in_history != b.in_history) return a.in_history;
            return a.in_history ? a.step > b.step : a.is_later(b);   // in a history that is the order of writing
        });
    };
    sort();
    const known_checkpoint* last = nullptr;   // of the history, so far
    for (known_checkpoint& c : all) {
        if (!c.ordered) break;
        c.in_history = !last || (c.step < last->step && last->order.comes_from(c.order, c.step));
        if (c.in_history) last = &c;
    }
    marked = true;
    sort();
}

SINTER_APART std::string steps_of(const std::vector<known_checkpoint>& some) {
    if (some.empty()) return "no step";
    const auto [least, most] = std::ranges::minmax(some, {}, &known_checkpoint::step);
    return least.step == most.step ? to_text({"step ", least.step})
                                   : to_text({"steps ", least.step, " to ", most.step});
}

} // namespace sinter::training_parts
#endif
