// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/copies.hpp>
#include <sinter/parameter_server/server/meanwhile.hpp>

/// A server's part of a checkpoint of the whole job, which the chief asks for.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// All rows become those of the files that all servers have written together, perhaps as many as
/// another number of servers.
SINTER_COLD inline void server::engine::load_tables(const tables_of_job& from) {
    const std::shared_ptr<shard_files> files = options.files_in(shard_number, from.folder);
    shard_view v = memory.view();
    v.server = shard_number;
    v.servers = static_cast<int>(who.servers().size());
    v.restore_row = [&](std::size_t table, std::int64_t key, std::int64_t step, const float* values,
                        const float* const* slots) {
        memory.use_rows(table, [&](row_store& rows, std::int64_t& newest) {
            newest = std::max(newest, step);
            if (from.slots) rows.restore(key, step, values, slots);
            else rows.write(key, values, step);
        });
    };
    for (std::size_t t = 0; t < v.tables.size(); ++t) memory.forget_rows(t);
    files->load_tables(v, from.name);
    for (std::size_t t = 0; t < v.tables.size(); ++t)
        memory.use_rows(t, [](row_store& rows, std::int64_t&) { rows.order_by_age(); });
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::save_tables& to) {
    if (!e_.options.files_in) throw refused_request{"this server writes no files for a job"};
    std::string fault;   // an answer, for the chief can do without
    do_meanwhile([&] {
        try {
            e_.save(to.name, false, e_.options.files_in(e_.shard_number, to.folder));
        } catch (const std::exception& e) {
            fault = *e.what() ? e.what() : "it failed";
        }
    });
    answer_call(calls::save_tables::answer{fault});
}
template <>
SINTER_COLD inline void server_session::carry_out(const calls::load_tables& from) {
    if (w_ != 0) throw refused_request{"only the chief overwrites values"};
    if (!e_.options.files_in) throw refused_request{"this server reads no files of a job"};
    if (e_.replicated()) {
        need_to_go_on();
        if (e_.copies.stream()) e_.copies.stream()->add(copied::load, {}, as_bytes(encode(from)));
    }
    do_meanwhile([&] { e_.load_tables(from); });
    answer_call();
}

} // namespace sinter::parameter_servers
