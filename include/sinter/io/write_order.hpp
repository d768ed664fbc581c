// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/whole_number.hpp>
#include <optional>

namespace sinter::inline SINTER_ORDINARY::io {

/// When a checkpoint was written, among all that were ever written in its folder, and by which run. Steps do not tell:
/// a run that has been taken back to an earlier step, and one that was begun anew, write lower ones later.
struct write_order {
    static constexpr const char* key = "written";   ///< in a file's metadata
    std::int64_t run = 0;      ///< that wrote it: a later one has a greater number; 0: a version before 2026-12 did
    std::int64_t number = 0;   ///< among that run's files, from 1
    std::int64_t began = 0;    ///< the step at which that run began
    std::int64_t first = 0;    ///< the run with which its history begins; its own number where it began with none

    std::string text() const { return to_text({run, " ", number, " ", began, " ", first}); }
    /// Nothing where the text is no such four numbers.
    SINTER_SELDOM SINTER_COLD static std::optional<write_order> parse(std::string_view text);
    /// Of a file's metadata; that of an earlier version has none.
    template <class Map>
    SINTER_COLD static write_order of(const Map& metadata) {
        const auto found = metadata.find(key);
        return found == metadata.end() ? write_order{} : parse(found->second).value_or(write_order{});
    }
    bool is_later(const write_order& than) const {
        return run != than.run ? run > than.run : number > than.number;
    }
    /// Whether a run with a file of this order may have come from one of `earlier` order and `step`.
    bool comes_from(const write_order& earlier, std::int64_t step) const {
        return run == earlier.run || (earlier.run >= first && step <= began);
    }
};

#if SINTER_BODIES
SINTER_SELDOM_BODY std::optional<write_order> write_order::parse(std::string_view text) {
    write_order o;
    for (std::int64_t* x : {&o.run, &o.number, &o.began, &o.first}) {
        if (!base::take_number(text, *x) || *x < 0 || *x > INT64_MAX / 2) return {};
        if (x == &o.first) break;
        if (text.empty() || text.front() != ' ') return {};
        text.remove_prefix(1);
    }
    if (!text.empty()) return {};
    return o;
}
#endif

} // namespace sinter::io
