// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/run_record.hpp>
#include <sinter/train/checkpoint/known_checkpoint.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

/// Where a run's checkpoints are: one file, or the newest few in a folder, step-300.safetensors and
/// so on. Which is newer is told by the order in which they were written (io/write_order.hpp), and,
/// of files of versions that have not recorded it, by their steps.
class checkpoint_folder {
public:
    using list = std::vector<training_parts::known_checkpoint>;

    /// `keep` files in a folder of that name; 0: one file of that name.
    explicit checkpoint_folder(std::string path, int keep = 0) : path_(std::move(path)), keep_(keep) {
        while (keep_ > 0 && path_.size() > 1 && path_.back() == '/') path_.pop_back();
    }
    const std::string& path() const { return path_; }
    int keeps() const { return keep_; }
    std::string record() const { return path_ + (keep_ > 0 ? "/run" : ".run"); }   ///< run_record's file
    std::string name(std::int64_t step) const {
        return keep_ > 0 ? to_text({path_, "/", prefix, step, suffix}) : path_;
    }
    SINTER_APART SINTER_COLD void make_folder() const;
    /// All that are there, the newest first: first those of the history that the newest belongs to, and then those
    /// of other runs and of steps that were taken back. io_error where nobody can say what is there.
    SINTER_APART SINTER_COLD list all() const;
    /// Their steps, likewise.
    SINTER_APART SINTER_COLD std::vector<std::int64_t> steps() const;
    /// The bytes of the newest file that is whole, and its name; empty where there is no file.
    SINTER_APART SINTER_COLD std::string read_newest(std::vector<std::byte>& bytes) const;
    /// The newest file that read(file) can read; empty where there is no file. The operator is told of one that is
    /// damaged, and it is passed over; only one of the same history takes its place. What read() has thrown where all
    /// of that are damaged. io_error where it cannot be said whether there is one: a run is not begun anew for that.
    SINTER_APART SINTER_COLD std::string newest(base::function_ref<void(const std::string&)> read) const;
    /// Reads one, and checks its form and its checksum. io_error, format_error.
    SINTER_APART SINTER_COLD static void read_whole(const std::string& file, std::vector<std::byte>& bytes);
    /// All but the newest `keep`, as long as the run may write.
    SINTER_APART SINTER_COLD void remove_old(run_record& record) const;

private:
    static constexpr std::string_view prefix = "step-", suffix = ".safetensors";
    std::string path_;
    int keep_;
    mutable list seen_;   ///< whoever follows a folder reads each file's head once

    SINTER_APART SINTER_COLD void look_at(const std::string& file, std::int64_t step, list& found) const;
};

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/os/file_names.hpp>
#include <sinter/base/whole_number.hpp>
#include <sinter/io/folder_names.hpp>
#include <sinter/io/safetensors/checksum.hpp>
#include <sinter/io/safetensors/read.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <algorithm>

namespace sinter::inline SINTER_ORDINARY {

SINTER_APART void checkpoint_folder::make_folder() const {
    if (keep_ > 0) io::make_folders(path_);
}
SINTER_APART checkpoint_folder::list checkpoint_folder::all() const {
    list found;
    if (keep_ == 0) {
        if (base::os::exists(path_)) look_at(path_, -1, found);
        else if (errno != ENOENT) io::throw_io_error(errno, "cannot look for a checkpoint", path_);
    } else {
        io::for_each_name(path_, [&](std::string_view n) {
            if (!n.starts_with(prefix) || !n.ends_with(suffix)) return;
            n = n.substr(prefix.size(), n.size() - prefix.size() - suffix.size());
            std::uint64_t step = 0;
            if (base::read_whole_number(n, step) && step <= INT64_MAX)
                look_at(to_text({path_, "/", prefix, n, suffix}), static_cast<std::int64_t>(step), found);
        });
    }
    if (std::ranges::find(found, false, &training_parts::known_checkpoint::readable) != found.end())
        training_parts::guess_orders(found, run_record::order_in(record()));
    training_parts::sort_newest_first(found);
    return seen_ = std::move(found);
}
SINTER_APART std::vector<std::int64_t> checkpoint_folder::steps() const {
    std::vector<std::int64_t> steps;
    for (const training_parts::known_checkpoint& c : all()) steps.push_back(c.step);
    return steps;
}
SINTER_APART std::string checkpoint_folder::read_newest(std::vector<std::byte>& bytes) const {
    return newest([&](const std::string& file) { read_whole(file, bytes); });
}
SINTER_APART std::string checkpoint_folder::newest(base::function_ref<void(const std::string&)> read) const {
    list known = all();
    const auto others = std::ranges::find(known, false, &training_parts::known_checkpoint::in_history);
    const list away(others, known.end());
    known.erase(others, known.end());
    for (const training_parts::known_checkpoint& c : known) {
        const std::string file = name(c.step);
        try {
            read(file);
            return file;
        } catch (const error& e) {
            const bool last = &c == &known.back();
            if (!last)
                base::say(message_level::warning, e.what() + std::string(". The checkpoint before it is taken."));
            if (last && !away.empty())
                base::say(message_level::warning,
                          to_text({"all checkpoints of the newest run are damaged. Those of ",
                                  training_parts::steps_of(away),
                                  " are of another one, or were taken back: load() reads them"}),
                          path_);
            if (last) throw;
        }
    }
    return {};
}
SINTER_APART void checkpoint_folder::read_whole(const std::string& file, std::vector<std::byte>& bytes) {
    io::input_file in(file);
    bytes.resize(static_cast<std::size_t>(in.size()));
    if (in.read_up_to(span<std::byte>(bytes.data(), bytes.size())) != bytes.size())
        throw io_error("file became shorter while it was read", file, {}, to_text({bytes.size(), " bytes"}));
    const auto f = safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), file);
    safetensors::need_checksum(f);
    training_parts::need_table_files(f);
}
SINTER_APART void checkpoint_folder::remove_old(run_record& record) const {
    if (keep_ == 0) return;
    const list known = all();
    if (known.size() <= static_cast<std::size_t>(keep_)) return;
    record.guarded([&] {
        for (std::size_t i = static_cast<std::size_t>(keep_); i < known.size(); ++i) {
            base::os::remove_file(name(known[i].step));
            training_parts::table_files::remove(name(known[i].step));
        }
    });
}
SINTER_APART void checkpoint_folder::look_at(const std::string& file, std::int64_t step, list& found) const {
    training_parts::known_checkpoint c{.step = step};
    if (!c.file.is(file)) return;   // removed meanwhile
    for (const training_parts::known_checkpoint& s : seen_)
        if (s.file == c.file && (s.step == step || step < 0)) c = s;
    c.ordered = c.readable;
    if (!c.readable) c.read_head(file);
    c.in_history = true;
    found.push_back(c);
}

} // namespace sinter
#endif
