// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/meanwhile.hpp>

/// Rows of tables of 64-bit keys, as a model is saved and loaded.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Rows of a table of 64-bit keys, in the order of their keys, from the first key of the request
/// on; of those that were there when it was asked for the smallest of all.
template <>
inline void server_session::carry_out(const calls::read_rows& c) {
    const auto& tables = e_.memory.layout().tables;
    if (c.table >= static_cast<std::int64_t>(tables.size()) || tables[static_cast<std::size_t>(c.table)].rows >= 0)
        throw refused_request{"rows of no table of 64-bit keys"};
    const auto number = static_cast<std::size_t>(c.table);
    if (sorted_table_ != c.table || c.first == INT64_MIN)
        do_meanwhile([&] {
            e_.memory.use_rows(number, [&](const row_store& rows, std::int64_t) {
                sorted_keys_.assign(rows.keys().begin(), rows.keys().end());
            });
            std::sort(sorted_keys_.begin(), sorted_keys_.end());
        });
    sorted_table_ = c.table;
    table_rows r;
    r.table = c.table, r.first = c.first;
    {
        const base::mutex_release away(e_.mutex);
        e_.memory.use_rows(number, [&](const row_store& rows, std::int64_t) {
            r.row_floats = rows.row_floats(), r.slots = rows.slots();
            const auto most = static_cast<std::size_t>(table_rows::most(r.row_floats, r.slots));
            auto at = std::lower_bound(sorted_keys_.begin(), sorted_keys_.end(), c.first);
            for (; at != sorted_keys_.end() && r.size() < most; ++at) {
                const std::int32_t k = rows.find(*at);
                if (k < 0) continue;   // given up meanwhile
                r.keys.push_back(*at);
                r.steps.push_back(rows.steps()[static_cast<std::size_t>(k)]);
                const std::int64_t from = std::int64_t{k} * r.row_floats;
                r.values.insert(r.values.end(), rows.values() + from, rows.values() + from + r.row_floats);
                for (int s = 0; s < r.slots; ++s)
                    r.values.insert(r.values.end(), rows.slot(s) + from, rows.slot(s) + from + r.row_floats);
            }
            if (at == sorted_keys_.end()) sorted_keys_ = {}, sorted_table_ = -1;
        });
    }
    answer_call(r);
}
template <>
inline void server_session::carry_out(const calls::put_rows& c) {
    const base::mutex_release away(e_.mutex);
    const auto changing = changes();
    if (e_.replicated()) {
        const lock hold(e_.mutex);
        need_to_go_on();
        if (e_.copies.stream()) e_.copies.stream()->add(copied::put_rows, {}, as_bytes(encode<table_rows>(c)));
    }
    e_.put_rows(c);
    answer(encode(calls::nothing()));
}
/// The table has no rows but those that its initializer makes.
template <>
inline void server_session::carry_out(const calls::reset_table& c) {
    need_chief();
    check_number(c.table, 0, "rows of no table", "a table to reset", std::ssize(e_.memory.layout().tables) - 1);
    const base::mutex_release away(e_.mutex);
    const auto changing = changes();
    if (e_.replicated()) {
        const lock hold(e_.mutex);
        need_to_go_on();
        wire::frame_tag t;
        t.bucket = static_cast<std::int32_t>(c.table);
        if (e_.copies.stream()) e_.copies.stream()->add(copied::forget, t);
    }
    e_.memory.forget_rows(static_cast<std::size_t>(c.table));
    answer(encode(calls::nothing()));
}

} // namespace sinter::parameter_servers
