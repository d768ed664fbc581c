// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/frame.hpp>
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/push_info.hpp>
#include <sinter/parameter_server/shard_layout.hpp>
#include <bit>
#include <cstring>

/// What clients and servers say: data frames whose `operation` is one of these words. A worker
/// sends requests, and each has one answer, in order. Whatever is read is compared with the shard's
/// layout before a byte of it is stored. Functions of bytes alone: nothing here reads a socket.
///
/// | type | tag | payload |
/// |---|---|---|
/// | gradient | offset, elements: floats of the dense array | these floats |
/// | sections | | sections of a push: rows, states, short ranges |
/// | rows | bucket: table; elements: rows of a push | their floats, then their keys, 64 bits each |
/// | commit | | commit_block, then sections |
/// | pull | step: flags | |
/// | pull_rows | bucket: table; elements: rows | keys, 64 bits each |
/// | write | bucket: array; offset, elements | floats |
/// | read | bucket: array; offset, elements | |
/// | call | elements: call_id; bucket: of two copies, the shard | arguments (calls.hpp) |
/// | heartbeat, wait | | |
/// | squares | step: clock; elements: tensors | floats, between servers (server/shared_squares.hpp) |
/// | values | offset, elements | floats |
/// | answer | | answer_block, then text |
///
/// Arrays of tables are numbered (table + 1) * table_arrays + array, rows counted in floats.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

enum class frame_type : std::uint32_t {
    gradient = 1, sections, commit, pull, pull_rows, write, read, call, heartbeat, rows,
    answer = 32, values, wait,
    squares = 64
};
inline constexpr int table_arrays = 64;
inline constexpr std::size_t most_frame = wire::most_payload;
inline constexpr std::int64_t floats_of_frame = static_cast<std::int64_t>(most_frame / 4);
/// Answers and pushes whose floats take no more bytes than this are one frame.
inline constexpr std::size_t most_batched = std::size_t{1} << 15;
/// Frames of no more bytes are copied, to leave with others and to be read with others.
inline constexpr std::size_t most_short = std::size_t{1} << 14;
inline constexpr std::int64_t most_keys_of_frame = static_cast<std::int64_t>(most_frame / 8);

namespace pull_flag {
inline constexpr std::uint32_t values = 1, states = 2;
}

// What `save` is in the two blocks below, N of a checkpoint's name step-N; 0: there is none.
//
// |                | to or from server 0                | to or from another server          |
// |----------------|------------------------------------|------------------------------------|
// | push, clocks   | of clock save_clock - 1: what is saved once it is applied | the same    |
// | push, async    | the last that all others have made | the last that server 0 has named   |
// | answer, clocks | what is saved at save_clock        | of no use                          |
// | answer, async  | the last that server 0 has named   | the last that this server has made |

/// The end of a push.
struct commit_block {
    static constexpr std::size_t bytes = 96;
    std::uint64_t number = 0;     // of this worker's pushes, from 1
    std::int64_t clock = 0, read_step = 0;
    push_info info;
    std::uint32_t pull = 0;       // pull_flag
    std::int64_t version = 0;     // of the values that it was computed from
    std::int64_t save = 0;        // as the table above says

    void encode(std::byte* to) const {
        using wire::detail::put;
        put(to, number), put(to + 8, clock), put(to + 16, read_step);
        const double d[5] = {info.loss, info.weight, info.examples, info.square_sum, info.states_count};
        for (int i = 0; i < 5; ++i) put(to + 24 + 8 * i, std::bit_cast<std::uint64_t>(d[i]));
        put(to + 64, std::bit_cast<std::uint32_t>(info.rate));
        put(to + 68, pull);
        put(to + 72, std::uint32_t{info.finite} | std::uint32_t{info.states_are_changes} << 1 |
                         std::uint32_t{info.adds} << 2);
        put(to + 76, static_cast<std::uint32_t>(info.phase));
        put(to + 80, version), put(to + 88, save);
    }
    /// False: makes no sense.
    bool decode(span<const std::byte> from) {
        using wire::detail::get;
        if (from.size() < bytes) return false;
        const std::byte* const b = from.data();
        number = get<std::uint64_t>(b), clock = get<std::int64_t>(b + 8), read_step = get<std::int64_t>(b + 16);
        double* const d[5] = {&info.loss, &info.weight, &info.examples, &info.square_sum, &info.states_count};
        for (int i = 0; i < 5; ++i) *d[i] = std::bit_cast<double>(get<std::uint64_t>(b + 24 + 8 * i));
        info.rate = std::bit_cast<float>(get<std::uint32_t>(b + 64));
        pull = get<std::uint32_t>(b + 68);
        const auto flags = get<std::uint32_t>(b + 72), phase = get<std::uint32_t>(b + 76);
        info.finite = flags & 1, info.states_are_changes = (flags & 2) != 0, info.adds = (flags & 4) != 0;
        info.phase = static_cast<int>(phase);
        version = get<std::int64_t>(b + 80), save = get<std::int64_t>(b + 88);
        return number != 0 && clock >= 0 && clock < INT64_MAX / 2 && read_step >= -1 && pull < 4 && flags < 8 &&
               phase < most_phases && version >= 0 && save >= 0 && save < most_count && info.weight >= 0 &&
               info.states_count >= 0;
    }
};

/// What each answer ends with.
struct answer_block {
    static constexpr std::size_t bytes = 112;
    /// ends_soon: the server's own process was asked to end, and asks the workers to stop all.
    enum flag : std::uint32_t {
        refused = 1, ticket = 2, asked_to_stop = 4, open = 8, no_more_steps = 16, ends_soon = 32
    };
    answer_info info;
    std::uint32_t flags = 0;
    std::uint32_t inline_bytes = 0;   // of floats that follow in this frame; text follows otherwise
    std::int64_t version = 0;         // of the values in this answer, or else of the server's
    std::int64_t stop_clock = -1;     // no worker begins this clock or a later one; -1: go on
    std::int64_t files_clock = 0;     // workers that share batches save after the clock before
    std::int64_t save_clock = 0, save = 0;   // as the table above says; save_clock 0: without clocks

    void encode(std::byte* to) const {
        using wire::detail::put;
        put(to, info.global_step), put(to + 8, info.clock), put(to + 16, info.applied), put(to + 24, info.staleness);
        const double d[3] = {info.loss, info.weight, info.examples};
        for (int i = 0; i < 3; ++i) put(to + 32 + 8 * i, std::bit_cast<std::uint64_t>(d[i]));
        put(to + 56, static_cast<std::uint32_t>(info.push)), put(to + 60, flags), put(to + 64, inline_bytes);
        put(to + 68, std::uint32_t{0});
        put(to + 72, version), put(to + 80, stop_clock), put(to + 88, save_clock), put(to + 96, save);
        put(to + 104, files_clock);
    }
    bool decode(span<const std::byte> from) {
        using wire::detail::get;
        if (from.size() < bytes) return false;
        const std::byte* const b = from.data();
        info.global_step = get<std::int64_t>(b), info.clock = get<std::int64_t>(b + 8);
        info.applied = get<std::int64_t>(b + 16), info.staleness = get<std::int64_t>(b + 24);
        double* const d[3] = {&info.loss, &info.weight, &info.examples};
        for (int i = 0; i < 3; ++i) *d[i] = std::bit_cast<double>(get<std::uint64_t>(b + 32 + 8 * i));
        const auto fate = get<std::uint32_t>(b + 56);
        info.push = static_cast<answer_info::fate>(fate);
        flags = get<std::uint32_t>(b + 60), inline_bytes = get<std::uint32_t>(b + 64);
        version = get<std::int64_t>(b + 72), stop_clock = get<std::int64_t>(b + 80);
        save_clock = get<std::int64_t>(b + 88), save = get<std::int64_t>(b + 96);
        files_clock = get<std::int64_t>(b + 104);
        return fate <= static_cast<std::uint32_t>(answer_info::fate::outdated) && flags < 64 && version >= 0 &&
               save >= 0 && inline_bytes <= from.size() - bytes;
    }
};

/// A part of a push within a frame.
struct section {
    static constexpr std::size_t header = 24;
    enum what : std::uint32_t { dense = 1, rows = 2, states = 3 };
    std::uint32_t kind = dense;
    std::int32_t table = 0;
    std::int64_t first = 0, count = 0;   // floats, or rows

    void encode(std::byte* to) const {
        using wire::detail::put;
        put(to, kind), put(to + 4, table), put(to + 8, first), put(to + 16, count);
    }
};
constexpr std::size_t row_section_bytes(std::int64_t rows, int row_floats) {
    return static_cast<std::size_t>(rows) * (8 + 4 * static_cast<std::size_t>(row_floats));
}

/// Whether floats [first, first + count) are of an array of `size`.
constexpr bool within(std::int64_t first, std::int64_t count, std::int64_t size) {
    return first >= 0 && count >= 0 && first <= size && count <= size - first;
}
/// How many floats an array of this number has, of `layout`; -1: there is none, or it grows.
inline std::int64_t array_floats(const shard_layout& layout, std::int64_t array, int slots) {
    if (array == states_array) return layout.states;
    if (array < 0) return -1;
    const std::int64_t table = array / table_arrays - 1, which = array % table_arrays;
    if (which > slots) return -1;
    if (table < 0) return layout.floats;
    if (table >= static_cast<std::int64_t>(layout.tables.size())) return -1;
    const table_layout& t = layout.tables[static_cast<std::size_t>(table)];
    return t.rows < 0 ? -1 : t.rows * t.row_floats;
}

/// What is wrong with a request's header, for a shard of this layout; null: nothing.
inline const char* fault_of(const wire::frame_header& h, const shard_layout& layout, int slots) {
    const auto elements = static_cast<std::int64_t>(h.tag.elements), offset = static_cast<std::int64_t>(h.tag.offset);
    const bool floats = elements >= 0 && elements <= floats_of_frame && h.bytes == 4 * h.tag.elements;
    switch (static_cast<frame_type>(h.tag.operation)) {
        case frame_type::gradient:
            return floats && within(offset, elements, layout.updated()) ? nullptr : "a gradient beyond the shard";
        case frame_type::write:
            return floats && within(offset, elements, array_floats(layout, h.tag.bucket, slots))
                       ? nullptr : "floats beyond an array";
        case frame_type::read:
            return h.bytes == 0 && within(offset, elements, array_floats(layout, h.tag.bucket, slots))
                       ? nullptr : "a request beyond an array";
        case frame_type::sections: return nullptr;
        case frame_type::rows: {
            if (h.tag.bucket < 0 || h.tag.bucket >= static_cast<std::int64_t>(layout.tables.size()))
                return "rows of no table";
            const int width = layout.tables[static_cast<std::size_t>(h.tag.bucket)].row_floats;
            return elements >= 0 && elements <= most_keys_of_frame && h.bytes == row_section_bytes(elements, width)
                       ? nullptr : "rows of another length";
        }
        case frame_type::commit: return h.bytes >= commit_block::bytes ? nullptr : "a commit that is too short";
        case frame_type::pull: return h.bytes == 0 && h.tag.step >= 0 && h.tag.step < 4 ? nullptr : "a pull with more";
        case frame_type::pull_rows:
            return h.tag.bucket >= 0 && h.tag.bucket < static_cast<std::int64_t>(layout.tables.size()) &&
                           elements >= 0 && elements <= most_keys_of_frame && h.bytes == 8 * h.tag.elements
                       ? nullptr : "a pull of rows of no table";
        case frame_type::call:
            return h.tag.elements >= 1 && h.tag.elements <= last_call ? nullptr : "a call that is not known";
        case frame_type::heartbeat: return h.bytes == 0 ? nullptr : "a heartbeat with more";
        default: return "a request that is not known";
    }
}

/// Calls take(section, keys, floats) for each section of a push, whose keys and floats need not be
/// aligned. What is wrong, in words; null: nothing. All sections are looked at before the first is
/// taken.
template <class Take>
const char* read_sections(span<const std::byte> bytes, const shard_layout& layout, Take take) {
    const std::int64_t dense_floats = layout.updated();
    for (const bool taking : {false, true}) {
        span<const std::byte> left = bytes;
        while (!left.empty()) {
            using wire::detail::get;
            if (left.size() < section::header) return "a section that is cut short";
            const std::byte* const b = left.data();
            const section s{get<std::uint32_t>(b), get<std::int32_t>(b + 4), get<std::int64_t>(b + 8),
                            get<std::int64_t>(b + 16)};
            left = left.subspan(section::header);
            if (s.count < 0 || s.count > floats_of_frame) return "a section of more than a frame holds";
            std::size_t keys = 0, floats = static_cast<std::size_t>(s.count) * 4;
            if (s.kind == section::dense) {
                if (!within(s.first, s.count, dense_floats)) return "a gradient beyond the shard";
            } else if (s.kind == section::states) {
                if (!within(s.first, s.count, layout.states)) return "states beyond the shard";
            } else if (s.kind == section::rows) {
                if (s.table < 0 || s.table >= static_cast<std::int64_t>(layout.tables.size()))
                    return "rows of no table";
                const table_layout& t = layout.tables[static_cast<std::size_t>(s.table)];
                keys = static_cast<std::size_t>(s.count) * 8;
                floats *= static_cast<std::size_t>(t.row_floats);
            } else {
                return "a section that is not known";
            }
            if (left.size() < keys || left.size() - keys < floats) return "a section that is cut short";
            if (s.kind == section::rows && !taking) {
                const std::int64_t rows = layout.tables[static_cast<std::size_t>(s.table)].rows;
                for (std::size_t k = 0; rows >= 0 && k < keys; k += 8)
                    if (const auto key = get<std::int64_t>(left.data() + k); key < 0 || key >= rows)
                        return "a row that the table does not have";
            }
            if (taking) take(s, left.first(keys), left.subspan(keys, floats));
            left = left.subspan(keys + floats);
        }
    }
    return nullptr;
}

} // namespace sinter::parameter_servers
