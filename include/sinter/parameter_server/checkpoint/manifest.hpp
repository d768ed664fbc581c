// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/json_text.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/json_reader.hpp>
#include <sinter/parameter_server/checkpoint/tensor_file.hpp>
#include <algorithm>
#include <charconv>

/// What stands beside the files of a checkpoint of servers: of each file a line, and in the end one
/// manifest of all, without which there is no checkpoint.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// One server's file.
struct shard_record {
    std::string file;              ///< without a folder
    std::uint64_t bytes = 0, checksum = 0;
    int server = 0, servers = 1;
    std::int64_t step = 0;         ///< the server's global step when it was made
    std::int64_t clock = -1;       ///< by clocks: how many were applied; -1: each push is an update by itself
    std::int64_t version = 0;      ///< how often the chief had overwritten the job's values
    std::string owner;             ///< who wrote it (run_record)
};

SINTER_COLD inline std::string text_of(const shard_record& r) {
    char hex[17] = {};
    std::to_chars(hex, hex + 16, r.checksum, 16);
    return to_text({"{\"file\": ", json::text(r.file), ", \"bytes\": ", r.bytes, ", \"xxh64\": \"", hex,
                   "\", \"server\": ", r.server, ", \"servers\": ", r.servers, ", \"step\": ", r.step,
                   r.clock < 0 ? std::string() : to_text({", \"clock\": ", r.clock}), ", \"version\": ", r.version,
                   ", \"owner\": ", json::text(r.owner), "}"});
}
/// Reads one; unknown members are passed over. Throws format_error.
SINTER_COLD inline shard_record read_record(io::json_reader& in) {
    shard_record r;
    unsigned seen = 0;
    const auto number = [&](std::uint64_t most) {
        const std::uint64_t n = in.integer();
        if (n > most) in.fail("a number of at most " + std::to_string(most));
        return n;
    };
    in.object([&](std::string_view key) {
        const auto is = [&](std::string_view name, unsigned bit) {
            if (key != name) return false;
            if (seen & bit) in.fail("each member once, not " + std::string(name) + " again");
            seen |= bit;
            return true;
        };
        if (is("file", 1)) {
            r.file = in.string();
        } else if (is("bytes", 2)) {
            r.bytes = in.integer();
        } else if (is("xxh64", 4)) {
            const std::string hex = in.string();
            const auto [end, fault] = std::from_chars(hex.data(), hex.data() + hex.size(), r.checksum, 16);
            if (fault != std::errc{} || end != hex.data() + hex.size()) in.fail("up to 16 hexadecimal digits");
        } else if (is("server", 8)) {
            r.server = static_cast<int>(number(1 << 20));
        } else if (is("servers", 16)) {
            r.servers = static_cast<int>(number(1 << 20));
        } else if (is("step", 32)) {
            r.step = static_cast<std::int64_t>(number(INT64_MAX));
        } else if (is("owner", 64)) {
            r.owner = in.string();
        } else if (is("clock", 128)) {
            r.clock = static_cast<std::int64_t>(number(INT64_MAX));
        } else if (is("version", 256)) {
            r.version = static_cast<std::int64_t>(number(INT64_MAX));
        } else {
            in.skip();
        }
    });
    if ((seen & 127) != 127) in.fail("file, bytes, xxh64, server, servers, step and owner");
    if (r.file.empty() || r.file.front() == '.' || r.file.find('/') != std::string::npos)
        in.fail("the name of a file in this folder");
    return r;
}

/// All files of a checkpoint, by server.
struct shard_manifest {
    std::vector<shard_record> shards;

    /// Are all shards of the same step? Asynchronous servers each have their own.
    bool is_one_step() const { return all_have(&shard_record::step); }
    /// Whether the shards belong together: no values of the chief's lie between them, such as those
    /// of a file that was loaded. By clocks they are also of one step; or of one clock, where a
    /// server has lost some updates since it began again from a checkpoint. Two of them that are
    /// neither have been written under one name at different times.
    SINTER_COLD bool is_one_moment() const {
        if (!all_have(&shard_record::version)) return false;
        const bool by_clocks = std::ranges::any_of(shards, [](const shard_record& r) { return r.clock >= 0; });
        return !by_clocks || is_one_step() || all_have(&shard_record::clock);
    }
    /// How often the chief had overwritten the job's values.
    SINTER_COLD std::int64_t version() const {
        std::int64_t v = 0;
        for (const shard_record& r : shards) v = std::max(v, r.version);
        return v;
    }
    SINTER_COLD std::string text() const {
        std::string all = to_text({"{\"format\": 1, \"servers\": ", shards.size(), ", \"one_step\": ",
                                  is_one_step() ? "true" : "false", ", \"shards\": [\n"});
        for (const shard_record& r : shards) (all += text_of(r)) += &r == &shards.back() ? "\n" : ",\n";
        return all + "]}\n";
    }

private:
    SINTER_COLD bool all_have(std::int64_t shard_record::*number) const {
        return std::ranges::all_of(shards,
                                   [&](const shard_record& r) { return r.*number == shards.front().*number; });
    }
};

namespace detail {
SINTER_COLD inline std::string text_of_file(const std::string& path) {
    const std::vector<std::byte> bytes = io::read_whole_file(path);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!base::is_utf8(text)) throw format_error("is not UTF-8", path, "other bytes", "UTF-8 (RFC 3629)");
    return text;
}
} // namespace detail

/// Throws io_error, format_error.
SINTER_COLD inline shard_record read_record_file(const std::string& path) {
    const std::string text = detail::text_of_file(path);
    io::json_reader in(text, path, 0, "record");
    shard_record r = read_record(in);
    in.end();
    return r;
}
/// Likewise, and where it is not of each server once, or where its shards do not belong together.
SINTER_COLD inline shard_manifest read_manifest(const std::string& path) {
    const std::string text = detail::text_of_file(path);
    io::json_reader in(text, path, 0, "manifest");
    shard_manifest m;
    std::uint64_t format = 0;
    in.object([&](std::string_view key) {
        if (key == "format") format = in.integer();
        else if (key == "shards") in.array([&] { m.shards.push_back(read_record(in)); });
        else in.skip();
    });
    in.end();
    if (format != 1) throw format_error("a manifest of another form", path, to_text({"format ", format}), "format 1");
    if (m.shards.empty()) throw format_error("a manifest of no files", path, "0 files", "1 or more");
    for (std::size_t k = 0; k < m.shards.size(); ++k)
        if (m.shards[k].server != static_cast<int>(k) || m.shards[k].servers != static_cast<int>(m.shards.size()))
            throw format_error("a manifest whose files are not those of all servers", path,
                               to_text({"server ", m.shards[k].server, " of ", m.shards[k].servers}),
                               to_text({"server ", k, " of ", m.shards.size()}));
    if (!m.is_one_moment())
        throw format_error("a manifest whose files are of different steps, or from before and after load()", path,
                           to_text({"step ", m.shards.front().step, " of server 0, and others"}), "one step");
    return m;
}
/// Throws io_error or format_error where a file is not the one that was written.
SINTER_COLD inline void check_file(const std::string& folder, const shard_record& r) {
    const std::string path = to_text({folder, "/", r.file});
    const std::uint64_t bytes = io::input_file(path).size();
    if (bytes != r.bytes)
        throw format_error("a file of another length than its manifest says", path, to_text({bytes, " bytes"}),
                           to_text({r.bytes, " bytes"}));
    if (checksum_of_file(path) != r.checksum)
        throw format_error("a file that was damaged: its checksum is not the manifest's", path);
}

} // namespace sinter::parameter_servers
