// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/callback.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/parameter_server/tables_of_job.hpp>
#include <sinter/strategy/parameter_server/server_link.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// What becomes of a checkpoint that servers had begun with, in one line. `step`: of the chief.
SINTER_COLD SINTER_APART void say_what_was_found(bool goes_on, std::int64_t step, std::int64_t servers_step,
                                                 const std::string& checkpoints, const cluster& members);

/// Tables in checkpoints of a whole job: files that servers write and read at the chief's word.
class job_tables {
public:
    /// f(folder's name, file, its bytes, its checksum).
    using file_function =
        base::callback<void(const std::string&, const std::string&, std::uint64_t, std::uint64_t)>;
    /// What a process holds of a table itself.
    struct held_table {
        std::vector<float>* whole = nullptr;   ///< all of it
        loaded_rows* rows = nullptr;           ///< what a file has of it
        int slots = 0;                         ///< of the optimizer's memory
    };

    /// All servers write their rows into a folder of its own in `folder`. take(name, file, bytes,
    /// checksum) is called for each file; where there was no update since the last call these are the
    /// ones of then. False: this process sees no such files.
    SINTER_COLD SINTER_APART bool save(server_link& link, const std::string& folder, const file_function& take);
    /// The tables' rows are those of `files`. They go to the servers with the next values; until
    /// then, or without servers, they are read when they are needed.
    SINTER_COLD SINTER_APART void put(span<const held_table> tables, const server_places& places,
                                      const parameter_servers::tables_of_job& from,
                                      const std::vector<std::string>& files);
    /// The servers read what was put and is not theirs yet. False: there was nothing of that kind.
    SINTER_COLD SINTER_APART bool send(server_link& link);
    void forget() { to_send_ = {}; }

private:
    std::string folder_, name_;   ///< of what was saved last
    std::int64_t step_ = -1, version_ = -1;
    parameter_servers::tables_of_job to_send_;
    bool said_ = false;
};

} // namespace sinter::session_parts

#if SINTER_BODIES
#include <sinter/base/message.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/parameter_server/checkpoint/folder.hpp>
#include <sinter/parameter_server/checkpoint/manifest.hpp>
#include <sinter/parameter_server/checkpoint/rows_of_files.hpp>
#include <memory>
#include <optional>

namespace sinter::inline SINTER_ORDINARY::session_parts {
/// The same path from everywhere on this machine, and on others that have the same folders. Throws
/// io_error.
SINTER_COLD inline std::string absolute_folder(const std::string& folder) {
    const std::size_t slash = folder.rfind('/');   // it need not be there yet, what it is in must be
    const std::string above = slash == folder.npos ? "." : slash == 0 ? "/" : folder.substr(0, slash);
    const std::string full = base::os::canonical_path(above);
    if (full.empty()) io::throw_io_error(errno, "cannot find the folder", above);
    return to_text({full == "/" ? "" : full, "/", slash == folder.npos ? folder : folder.substr(slash + 1)});
}
/// A name that nothing in the folder has.
SINTER_COLD inline std::string new_name(const std::string& folder) {
    for (int i = 1;; ++i)
        if (const std::string name = to_text({"save-", i});
            !parameter_servers::detail::exists(to_text({folder, "/", name})))
            return name;
}
/// What servers say that they have written, where it is visible here.
SINTER_COLD inline std::optional<parameter_servers::shard_manifest> visible_files(const std::string& folder) {
    if (!parameter_servers::detail::exists(folder + "/manifest.json")) return {};
    parameter_servers::shard_manifest m = parameter_servers::read_manifest(folder + "/manifest.json");
    for (const parameter_servers::shard_record& r : m.shards)
        if (io::input_file(to_text({folder, "/", r.file})).size() != r.bytes) return {};
    return m;
}

SINTER_COLD SINTER_APART void say_what_was_found(bool goes_on, std::int64_t step, std::int64_t servers_step,
                                                 const std::string& checkpoints, const cluster& members) {
    const std::string theirs = to_text({"the servers' checkpoint of step ", servers_step, " in ", checkpoints});
    const std::string ours = step > 0 ? to_text({"from step ", step, ", which the chief has loaded,"})
                                      : std::string("anew, since the chief has loaded no run,");
    base::say(message_level::normal,
              goes_on ? "the job goes on from " + theirs : to_text({"the job begins ", ours, " and not from ", theirs}),
              members.self().name());
}

SINTER_COLD SINTER_APART bool job_tables::save(server_link& link, const std::string& folder,
                                               const file_function& take) {
    const std::string all = absolute_folder(folder);
    const std::int64_t step = link.client().global_step(), version = link.client().version();
    if (folder_ != all || step_ != step || version_ != version) name_.clear();
    folder_ = all, step_ = step, version_ = version;
    std::optional<parameter_servers::shard_manifest> m;
    if (!name_.empty()) m = visible_files(to_text({all, "/", name_}));
    if (!m) {
        name_ = new_name(all);
        const std::string fault = link.save_for_the_job(all, name_);
        if (fault.empty()) m = visible_files(to_text({all, "/", name_}));
        if (!m && !std::exchange(said_, true))
            base::say(message_level::warning,
                      to_text({"the servers cannot write their tables where the chief sees them, which writes them "
                              "itself then: the folder of checkpoints should be one that all see",
                              fault.empty() ? "" : ". ", fault}),
                      all);
    }
    if (!m) return name_.clear(), false;
    for (const parameter_servers::shard_record& r : m->shards) take(name_, r.file, r.bytes, r.checksum);
    return true;
}

SINTER_COLD SINTER_APART void job_tables::put(span<const held_table> tables, const server_places& places,
                                              const parameter_servers::tables_of_job& from,
                                              const std::vector<std::string>& files) {
    const auto opened = parameter_servers::rows_of_files::open(files);
    for (const auto& f : opened) safetensors::checksum(*f);   // what changes from now on is seen
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const int n = from.slots ? tables[t].slots : 0, width = places.tables[t].width;
        const auto rows = std::make_shared<parameter_servers::rows_of_files>(
            opened, places.shards[0].tables[t].name, width, n);
        tables[t].whole->clear();
        tables[t].rows->put(width, n, rows->size(),
                            [rows](std::size_t i, std::int64_t& key, std::int64_t& step, float* row) {
                                rows->get(i, key, step, row);
                            },
                            true);
    }
    to_send_ = {absolute_folder(from.folder), from.name, from.slots};
}

SINTER_COLD SINTER_APART bool job_tables::send(server_link& link) {
    if (to_send_.name.empty()) return false;
    link.load_for_the_job(to_send_);
    forget();
    return true;
}
} // namespace sinter::inline SINTER_ORDINARY::session_parts
#endif
