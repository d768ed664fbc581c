// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/message.hpp>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/run_record.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/parameter_server/checkpoint/load_shard.hpp>
#include <sinter/parameter_server/checkpoint/newest_first.hpp>
#include <sinter/parameter_server/shard_checkpoint.hpp>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Checkpoints of servers in a folder that all of them see:
///
///     FOLDER/step-300/shard-1-of-2.safetensors   what server 1 has
///     FOLDER/step-300/shard-1-of-2.json          its length, checksum, step, and who wrote it
///     FOLDER/step-300/shard-1-of-2.saving        while server 1 writes these
///     FOLDER/step-300/manifest.json              of all files: there is no checkpoint without it
///     FOLDER/server-1.run                        who may write as server 1 (io/run_record.hpp)
///
/// Each server writes its own file, whole or not at all; whoever is last adds the manifest. A
/// checkpoint is loaded when every file is as the manifest says, else the one before, by all
/// servers alike. The newest is the one that was made last: where load() of an older step has
/// taken a job back, those of later steps from before are older (known_checkpoint). Servers of
/// another number each read the ranges and rows that are theirs from whichever files have them:
/// nobody holds all of a model. A server that another process has replaced can write no more.
class shard_checkpoints final : public shard_files {
public:
    /// From now on this process is the one that writes as this server, and as those that a job with
    /// more servers had. Throws io_error where the folder cannot be written.
    SINTER_COLD explicit shard_checkpoints(shard_checkpoint_setup s) : s_(std::move(s)) {
        detail::make_folder(s_.folder);
        for (int k = s_.server; k == s_.server || detail::exists(record_path(k)); k += s_.servers) {
            records_.push_back(std::make_unique<run_record>(record_path(k)));
            records_.back()->take(-1);
        }
    }

    /// `where`: the name of the checkpoint's folder, `step-N` for one that load() finds; empty: by
    /// the view's global step. Throws io_error; what was there stays then.
    SINTER_COLD void save(const shard_view& v, const std::string& where) override {
        const std::string name = where.empty() ? to_text({"step-", v.global_step}) : where;
        if (name.find('/') != std::string::npos || name.front() == '.')
            throw option_error("not the name of a folder", "checkpoint", io::printable(name), "as step-300");
        const std::string folder = to_text({s_.folder, "/", name});
        detail::make_folder(folder);
        {
            const saving_mark writes(to_text({folder, "/", stem(s_.server), saving}));
            const shard_record r = write_shard(v, folder);
            write_text(to_text({folder, "/", stem(s_.server), ".json"}), text_of(r) + "\n");
        }
        complete(folder);
        if (s_.server == 0 && s_.keep > 0) remove_old(name);   // of the whole ones, which this need not be yet
    }

    /// Throws mismatch_error where the newest is of another program, format_error where there are
    /// some and none is whole. What is damaged is named in a message.
    SINTER_COLD bool load(shard_view& v) override {
        std::vector<std::pair<std::int64_t, std::exception_ptr>> faults;   // by name
        const auto note = [&](std::int64_t name, const error&) { faults.emplace_back(name, std::current_exception()); };
        const auto known = detail::newest_first(s_.folder, note);
        const std::size_t unreadable = faults.size();
        for (const detail::known_checkpoint& c : known) {
            const std::string folder = to_text({s_.folder, "/step-", c.name});
            try {
                for (const shard_record& r : c.manifest.shards) check_file(folder, r);
            } catch (const error& e) {
                note(c.name, e);
                continue;
            }
            for (std::size_t i = 0; i < faults.size(); ++i)   // of what cannot be read the name alone shows the age
                if (i >= unreadable || faults[i].first > c.name) report_passed_over(faults[i].second);
            detail::shard_loading(v, {s_.program, s_.server, s_.servers, s_.pieces, s_.tables})
                .from(folder, c.manifest);
            v.name = c.name;
            begin_anew();
            return true;
        }
        if (!faults.empty()) std::rethrow_exception(faults.back().second);
        begin_anew();
        return false;
    }
    /// Of any program that has such tables. Throws io_error, format_error, mismatch_error.
    SINTER_COLD void load_tables(shard_view& v, const std::string& name) override {
        const std::string folder = to_text({s_.folder, "/", name});
        const shard_manifest m = read_manifest(folder + "/manifest.json");
        for (const shard_record& r : m.shards) check_file(folder, r);
        detail::shard_loading(v, {s_.program, s_.server, s_.servers, s_.pieces, s_.tables}).tables_from(folder, m);
    }
    /// What this server wrote by now, perhaps in a run that has ended, must not be taken for a part
    /// of a checkpoint of the same name that is to come. Those that are whole stay whole.
    SINTER_COLD void begin_anew() override {
        record().guarded([&] {
            for (const std::int64_t step : detail::steps_in(s_.folder))
                for (const char* end : {".json", saving})
                    ::unlink(to_text({s_.folder, "/step-", step, "/", stem(s_.server), end}).c_str());
        });
    }

private:
    static constexpr const char* saving = ".saving";
    /// A file that is there as long as a server writes its part, beside it.
    struct saving_mark {
        std::string path;
        explicit saving_mark(std::string p) : path(std::move(p)) {
            const io::descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
            if (!fd) io::throw_io_error(errno, "cannot make", path);
        }
        ~saving_mark() { ::unlink(path.c_str()); }
        saving_mark(const saving_mark&) = delete;
        saving_mark& operator=(const saving_mark&) = delete;
    };
    shard_checkpoint_setup s_;
    std::vector<std::unique_ptr<run_record>> records_;   ///< the first is this server's

    std::string record_path(int server) const { return to_text({s_.folder, "/server-", server, ".run"}); }
    std::string stem(int server) const { return to_text({"shard-", server, "-of-", s_.servers}); }
    run_record& record() const { return *records_.front(); }
    auto guarded_rename() const {
        return [this](auto rename) { record().guarded([&] { rename(); }); };
    }
    SINTER_COLD void write_text(const std::string& path, const std::string& text) const {
        io::atomic_write(path, [&](io::output_file& out) { out.write(std::string_view(text)); }, guarded_rename());
    }
    SINTER_COLD shard_record write_shard(const shard_view& v, const std::string& folder) const {
        shard_record r{stem(s_.server) + ".safetensors", 0, 0, s_.server, s_.servers, v.global_step,
                       v.clock, v.version, record().owner()};
        detail::shard_entries all(v, s_.pieces, s_.tables, s_.server);
        safetensors::sort_as_written(all.entries);
        const std::string path = to_text({folder, "/", r.file});
        const std::string head = safetensors::encode_header(
            all.entries, {{"program", to_text({s_.program})}, {"step", to_text({v.global_step})}}, path);
        base::checksum sum;
        io::atomic_write(
            path,
            [&](io::output_file& out) {
                const auto put = [&](span<const std::byte> bytes) {
                    sum.update(bytes);
                    out.write(bytes);
                };
                put(as_bytes(head));
                for (const safetensors::entry& e : all.entries)
                    safetensors::detail::each_piece(e, safetensors::detail::bytes_of(e, path), put);
                r.bytes = out.written();
            },
            guarded_rename());
        r.checksum = sum.value();
        return r;
    }
    SINTER_COLD static void report_passed_over(const std::exception_ptr& fault) {
        try {
            std::rethrow_exception(fault);
        } catch (const error& e) {
            base::say(message_level::warning, std::string(e.what()) + "; the checkpoint before it is taken");
        }
    }
    /// Adds the manifest where the files of all servers are there, of one moment.
    SINTER_COLD void complete(const std::string& folder) const {
        shard_manifest m;
        for (int k = 0; k < s_.servers; ++k) {
            const std::string path = to_text({folder, "/", stem(k), ".json"});
            if (!detail::exists(path)) return;
            m.shards.push_back(read_record_file(path));
        }
        if (m.is_one_moment()) write_text(folder + "/manifest.json", m.text());
    }
    SINTER_COLD std::string part(std::int64_t name, int server) const {
        return to_text({s_.folder, "/step-", name, "/", stem(server)});
    }
    /// Whether some server writes its part of a checkpoint, or has written one since it began, of
    /// which a checkpoint may still come: none of `whole` that was made later is of this life.
    SINTER_COLD bool is_in_use(std::int64_t name, const std::vector<detail::known_checkpoint>& whole) const {
        for (int k = 0; k < s_.servers; ++k) {
            if (detail::exists(part(name, k) + saving)) return true;
            if (!detail::exists(part(name, k) + ".json")) continue;   // begin_anew() has removed those of before
            try {
                const shard_record r = read_record_file(part(name, k) + ".json");
                const auto is_over = [&](const detail::known_checkpoint& c) {
                    return std::tuple(c.manifest.version(), c.name) > std::tuple(r.version, name) &&
                           detail::exists(part(c.name, s_.server) + ".json");
                };
                if (std::ranges::none_of(whole, is_over)) return true;
            } catch (const error&) {   // damaged: part of none
            }
        }
        return false;
    }
    /// All but the newest whole ones, and what is unfinished from before them. After load() of an
    /// older step what is being written may have any of their names: it stays, as does `now`.
    SINTER_COLD void remove_old(const std::string& now) const {
        const auto whole =
            detail::newest_first(s_.folder, [](std::int64_t, const error&) {});   // load() names what is damaged
        const auto kept = static_cast<std::size_t>(s_.keep);
        if (whole.size() <= kept) return;
        std::int64_t before = INT64_MAX;   // unfinished ones of lower names go
        for (std::size_t i = 0; i < kept; ++i) before = std::min({before, whole[i].name, whole[i].step()});
        record().guarded([&] {
            for (const std::int64_t name : detail::steps_in(s_.folder)) {
                const auto at = static_cast<std::size_t>(
                    std::ranges::find(whole, name, &detail::known_checkpoint::name) - whole.begin());
                const bool old = at == whole.size() ? name < before : at >= kept;
                const std::string step = to_text({"step-", name});
                if (old && step != now && !is_in_use(name, whole))
                    detail::remove_folder(to_text({s_.folder, "/", step}));
            }
        });
    }
};

SINTER_COLD SINTER_APART std::unique_ptr<shard_files> checkpoints_of(shard_checkpoint_setup s) {
    return std::make_unique<shard_checkpoints>(std::move(s));
}

} // namespace sinter::parameter_servers
