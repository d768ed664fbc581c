// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/folder_names.hpp>
#include <sinter/io/safetensors/checksum.hpp>
#include <sinter/io/safetensors/read.hpp>
#include <sinter/io/run_record.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <algorithm>
#include <cstdio>

namespace sinter::inline SINTER_TARGET {

/// Where a run's checkpoints are: one file, or the newest few in a folder, step-300.safetensors and
/// so on.
class checkpoint_folder {
public:
    /// `keep` files in a folder of that name; 0: one file of that name.
    explicit checkpoint_folder(std::string path, int keep = 0) : path_(std::move(path)), keep_(keep) {
        while (keep_ > 0 && path_.size() > 1 && path_.back() == '/') path_.pop_back();
    }
    const std::string& path() const { return path_; }
    std::string record() const { return path_ + (keep_ > 0 ? "/run" : ".run"); }   ///< run_record's file
    std::string name(std::int64_t step) const {
        return keep_ > 0 ? joined({path_, "/", prefix, step, suffix}) : path_;
    }
    SINTER_COLD void make_folder() const {
        if (keep_ > 0 && ::mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST)
            io::throw_io_error(errno, "cannot make the folder", path_);
    }
    /// Steps of the files that are there, the newest first. io_error where the folder is there and cannot be read.
    SINTER_COLD std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> all;
        io::for_each_name(path_, [&](std::string_view n) {
            if (!n.starts_with(prefix) || !n.ends_with(suffix)) return;
            n = n.substr(prefix.size(), n.size() - prefix.size() - suffix.size());
            std::int64_t step = 0;
            const auto [end, fault] = std::from_chars(n.data(), n.data() + n.size(), step);
            if (fault == std::errc{} && end == n.data() + n.size() && step >= 0) all.push_back(step);
        });
        std::sort(all.rbegin(), all.rend());
        return all;
    }
    /// The bytes of the newest file that is whole, and its name; empty where there is no file.
    SINTER_COLD std::string read_newest(std::vector<std::byte>& bytes) const {
        return newest([&](const std::string& file) { read_whole(file, bytes); });
    }
    /// The newest file that read(file) can read; empty where there is no file. One that is damaged
    /// is named on stderr, and passed over. What read() has thrown where all are. io_error where it cannot be
    /// said whether there is one: a run is not begun anew for that.
    template <class Read>
    SINTER_COLD std::string newest(Read read) const {
        std::vector<std::string> names;
        if (keep_ == 0) {
            if (::access(path_.c_str(), F_OK) == 0) names.push_back(path_);
            else if (errno != ENOENT) io::throw_io_error(errno, "cannot look for a checkpoint", path_);
        } else {
            for (const std::int64_t s : steps()) names.push_back(name(s));
        }
        for (const std::string& file : names) {
            try {
                read(file);
                return file;
            } catch (const error& e) {
                if (&file == &names.back()) throw;
                std::fprintf(stderr, "%s\nThe checkpoint before it is taken.\n", e.what());
            }
        }
        return {};
    }
    /// Reads one, and checks its form and its checksum. io_error, format_error.
    SINTER_COLD static void read_whole(const std::string& file, std::vector<std::byte>& bytes) {
        io::input_file in(file);
        bytes.resize(static_cast<std::size_t>(in.size()));
        if (in.read_up_to(span<std::byte>(bytes.data(), bytes.size())) != bytes.size())
            throw io_error("file became shorter while it was read", file, {}, joined({bytes.size(), " bytes"}));
        const auto f = safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), file);
        safetensors::need_checksum(f);
        detail::need_table_files(f);
    }
    /// All but the newest `keep`, as long as the run may write.
    SINTER_COLD void remove_old(run_record& record) const {
        if (keep_ == 0) return;
        const std::vector<std::int64_t> all = steps();
        if (all.size() <= static_cast<std::size_t>(keep_)) return;
        record.guarded([&] {
            for (std::size_t i = static_cast<std::size_t>(keep_); i < all.size(); ++i) {
                ::unlink(name(all[i]).c_str());
                detail::table_files::remove(name(all[i]));
            }
        });
    }

private:
    static constexpr std::string_view prefix = "step-", suffix = ".safetensors";
    std::string path_;
    int keep_;
};

} // namespace sinter
