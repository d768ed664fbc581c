// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/protocol.hpp>

/// What a leader says to its follower (copies.hpp): data frames, in the order in which they count.
///
/// | type | tag | payload |
/// |---|---|---|
/// | copied_gradient | bucket: worker; offset, elements | floats of the worker's push |
/// | copied_sections | bucket: worker | sections of it |
/// | copied_commit | bucket: worker; step: incarnation; elements: copied_push | commit_block |
/// | copied_joining | step: clock; elements: version; offset: a bit for each worker whose push makes it | |
/// | copied_norm | step: clock; elements: tensors | of shard 0: the sum of all servers' squares |
/// | copied_clock | step: clock; elements: version of the values; offset: bits of the sum of squares | |
/// | copied_write | bucket: array; offset, elements | floats |
/// | copied_rows | bucket: table; elements: rows | of each: key, step, values and slots |
/// | copied_put_rows | | table_rows of a file |
/// | copied_forget | bucket: table, which begins anew | |
/// | copied_load | | tables_of_job, whose rows are read |
/// | copied_state | | who is there, clocks, log, tickets: an archive |
/// | copied_ready | step: epoch | |
/// | copied_end | | |
/// | copied_answer | step: how many frames the follower has taken in; bucket: 1 where its process was asked to end | |
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

namespace copied {
inline constexpr std::uint32_t gradient = 80, sections = 81, commit = 82, clock = 83, write = 84, rows = 85, state = 86,
                               ready = 87, end = 88, answer = 89, put_rows = 90, joining = 91, norm = 92,
                               forget = 93, load = 94;
} // namespace copied

/// What becomes of a push that a leader sends.
enum class copied_push : std::uint8_t {
    taken,
    staged,   ///< it waits for its clock, and the log knows of it already
    late      ///< its clock takes no more: only the log is to know of it
};

/// Bytes of a row of a table with so many slots.
constexpr std::size_t copied_row_bytes(int row_floats, int slots) {
    return 16 + 4 * static_cast<std::size_t>(row_floats) * static_cast<std::size_t>(1 + slots);
}

/// What is wrong with the header of a leader's frame, for a shard of this layout; null: nothing.
/// `slots_of(table)`: slots of its rows.
template <class Slots>
const char* fault_of_copy(const wire::frame_header& h, const shard_layout& layout, int slots, int workers,
                          Slots slots_of) {
    const auto elements = static_cast<std::int64_t>(h.tag.elements), offset = static_cast<std::int64_t>(h.tag.offset);
    const bool floats = elements >= 0 && elements <= floats_of_frame && h.bytes == 4 * h.tag.elements;
    const bool worker = h.tag.bucket >= 0 && h.tag.bucket < workers;
    switch (h.tag.operation) {
        case copied::gradient:
            return worker && floats && within(offset, elements, layout.updated()) ? nullptr
                                                                                  : "a gradient beyond the shard";
        case copied::sections: return worker ? nullptr : "sections of no worker";
        case copied::commit:
            return worker && h.bytes == commit_block::bytes && elements >= 0 && elements <= 2
                       ? nullptr : "a commit of no worker";
        case copied::clock:
            return h.bytes == 0 && h.tag.step >= 0 && elements >= 0 ? nullptr : "a clock that makes no sense";
        case copied::joining:
            return h.bytes == 0 && h.tag.step >= 0 && elements >= 0 ? nullptr : "a clock that makes no sense";
        case copied::norm: return floats && h.tag.step >= 0 ? nullptr : "squares that are cut short";
        case copied::write:
            return floats && within(offset, elements, array_floats(layout, h.tag.bucket, slots))
                       ? nullptr : "floats beyond an array";
        case copied::rows: {
            if (h.tag.bucket < 0 || h.tag.bucket >= static_cast<std::int64_t>(layout.tables.size()))
                return "rows of no table";
            const table_layout& t = layout.tables[static_cast<std::size_t>(h.tag.bucket)];
            return elements >= 0 && elements <= most_keys_of_frame &&
                           h.bytes == h.tag.elements * copied_row_bytes(t.row_floats, slots_of(h.tag.bucket))
                       ? nullptr : "rows that are cut short";
        }
        case copied::load: return h.bytes <= most_short ? nullptr : "the name of files that is too long";
        case copied::put_rows: return h.bytes <= most_frame ? nullptr : "rows that are too many";
        case copied::forget:
            return h.bytes == 0 && h.tag.bucket >= 0 && h.tag.bucket < static_cast<std::int64_t>(layout.tables.size())
                       ? nullptr : "rows of no table";
        case copied::state: return nullptr;
        case copied::ready: return h.bytes == 0 && h.tag.step > 0 ? nullptr : "an epoch that makes no sense";
        case copied::end: return h.bytes == 0 ? nullptr : "an end with more";
        case static_cast<std::uint32_t>(frame_type::heartbeat): return h.bytes == 0 ? nullptr : "a heartbeat with more";
        default: return "a message that is not known";
    }
}

} // namespace sinter::parameter_servers
