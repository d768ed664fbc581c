// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/cache.hpp>
#if SINTER_BODIES
#include <sinter/base/os/file_names.hpp>
#include <sinter/base/os/random_number.hpp>
#include <sinter/base/whole_number.hpp>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/file_lock.hpp>
#include <sinter/io/folder_names.hpp>
#include <sinter/io/tfrecord/reader.hpp>
#include <sinter/io/tfrecord/shard_name.hpp>
#include <sinter/io/tfrecord/writer.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct snapshot_options {
    int shards = 8;   ///< files that a new snapshot has
};
struct snapshot_step {
    std::string folder;
    int shards;
};

/// Writes the first whole pass into a folder, from which this run, and all later ones, read it instead of computing it.
/// As tf.data's snapshot. It counts when all elements of a pass are in it: a run that is broken off before leaves
/// nothing that another one reads, and the next one begins anew. (cache(file) goes on with what is there.)
///
/// What is written are the elements of pass 0, in any order; random numbers before it are the same in all passes, and
/// shuffle() belongs behind it. It knows what comes before it as cache(file) does: mismatch_error where that has
/// changed. Of several processes with one folder each writes files of its own; the first that is done decides. A
/// process that reads a part of a pass, as the workers of a job do, never has a whole one: then it is one process alone
/// that makes the snapshot, by reading a pass of elements().
///
/// The folder has a file `snapshot` when there is one, and RUN-00000-of-00008.tfrecord and so on: element i is in file
/// i mod shards (element_file.hpp). io_error, format_error and memory are as cache(file) has them. option_error for
/// fewer than 1 or more than 10 000 shards, or where a pass has no end.
SINTER_SELDOM SINTER_COLD snapshot_step snapshot(std::string folder, snapshot_options o = {});

namespace stage_parts {

/// The files of one snapshot, or of a run that may become one.
class snapshot_files {
public:
    static constexpr const char* stage_name = "snapshot";
    using buffer = element_file::buffer;

    SINTER_APART snapshot_files(std::string folder, std::string made_of, std::int64_t elements, int shards);
    snapshot_files(const snapshot_files&) = delete;
    snapshot_files& operator=(const snapshot_files&) = delete;
    SINTER_APART ~snapshot_files();

    bool has(std::int64_t i) const { return shard_of(i).has(i); }
    bool read(std::int64_t i, buffer& b, span<const std::byte>& bytes) {
        const bool there = shard_of(i).read(i, b, bytes);
        if (!there && was_there_) refuse(i);
        return there;
    }
    SINTER_APART void add(std::int64_t i, std::string_view bytes);
    std::int64_t end() const { return shards_[0]->end(); }
    SINTER_APART void set_end(std::int64_t n);
    [[noreturn]] void refuse(std::int64_t i) const { shard_of(i).refuse(i); }

private:
    static constexpr std::string_view magic = "Sinter's snapshot 1\n";
    static constexpr int most_shards = 10'000;

    std::string folder_, made_of_, run_;
    std::vector<std::unique_ptr<element_file>> shards_;
    unsigned forks_ = 0;
    bool was_there_ = false;   ///< it was whole before this run
    base::mutex guard_;
    std::int64_t added_ SINTER_GUARDED_BY(guard_) = 0;
    bool whole_ SINTER_GUARDED_BY(guard_) = false;   ///< it is the snapshot, or another run was faster
    bool stays_ = false;                             ///< this run's files are it

    element_file& shard_of(std::int64_t i) const {
        return *shards_[static_cast<std::size_t>(i) % shards_.size()];
    }
    SINTER_APART std::string in_folder(std::string_view name) const;
    SINTER_APART void open_shards(std::int64_t elements, int shards, element_file::use u);
    SINTER_APART bool open_snapshot();
    SINTER_APART void commit_if_whole() SINTER_REQUIRES(guard_);
    SINTER_APART void remove_broken_runs(std::string_view but) const;
};

#if SINTER_BODIES
/// Nobody else begins or ends a run in the folder for as long as this lives.
class snapshot_lock {
public:
    SINTER_COLD explicit snapshot_lock(const std::string& path)
        : file_(base::os::open_to_change(path, base::os::opening::made)) {
        if (!file_) io::throw_io_error(errno, "cannot open", path);
        lock_.emplace(file_.get(), path);
    }

private:
    base::descriptor file_;
    std::optional<io::file_lock> lock_;
};

SINTER_COLD SINTER_APART snapshot_files::snapshot_files(std::string folder, std::string made_of, std::int64_t elements,
                                                        int shards)
    : folder_(std::move(folder)), made_of_(std::move(made_of)), forks_(base::forks::so_far()) {
    if (open_snapshot()) return;
    io::make_folders(folder_);
    const snapshot_lock hold(in_folder("lock"));
    if (open_snapshot()) return;
    remove_broken_runs({});
    for (std::uint64_t n = base::os::random_number(), i = 0; i < 16; ++i) run_ += "0123456789abcdef"[n >> 4 * i & 15];
    open_shards(elements, shards, element_file::use::add);
}

SINTER_COLD SINTER_APART snapshot_files::~snapshot_files() {
    if (stays_ || was_there_ || run_.empty() || forks_ != base::forks::so_far()) return;
    for (const auto& s : shards_) base::os::remove_file(s->path());
}

SINTER_APART std::string snapshot_files::in_folder(std::string_view name) const {
    return to_text({folder_, "/", name});
}

SINTER_APART void snapshot_files::open_shards(std::int64_t elements, int shards, element_file::use u) {
    for (int s = 0; s < shards; ++s)
        shards_.push_back(std::make_unique<element_file>(
            tfrecord::shard_name(in_folder(run_), s, shards),
            to_text({made_of_, "run\t", run_, "\nshard\t", s, " of ", shards, "\n"}), elements, u));
}

/// False: there is none.
SINTER_APART bool snapshot_files::open_snapshot() {
    const std::string path = in_folder("snapshot");
    if (!base::os::exists(path)) {
        if (errno != ENOENT && errno != ENOTDIR) io::throw_io_error(errno, "cannot look for the snapshot", path);
        return false;
    }
    tfrecord::reader file(path, {.packed = tfrecord::compression::none, .most_record_bytes = std::uint64_t{1} << 24});
    const auto refuse = [&](const char* got) {
        throw format_error("not a snapshot", path, got, "a file that snapshot() has made, or none");
    };
    if (!file.next()) refuse("an empty file");
    std::string_view text(reinterpret_cast<const char*>(file.record().data()), file.record().size());
    if (!text.starts_with(magic)) refuse("another text");
    text.remove_prefix(magic.size());
    const auto line = [&] {
        const std::size_t end = text.find('\n');
        if (end == text.npos) refuse("a text that is cut off");
        const std::string_view one = text.substr(0, end);
        text.remove_prefix(end + 1);
        return one;
    };
    const std::string_view run = line(), shards = line(), elements = line();
    std::uint64_t s = 0, n = 0;
    if (run.size() != 16 || run.find_first_not_of("0123456789abcdef") != run.npos ||
        !base::read_whole_number(shards, s) || s < 1 || s > most_shards || !base::read_whole_number(elements, n) ||
        n > static_cast<std::uint64_t>(INT64_MAX))
        refuse("other names and numbers");
    if (text != made_of_)
        throw mismatch_error("other stages have made this snapshot", path,
                             description::differences(made_of_, "this pipeline", text, "the snapshot"),
                             "the same stages as then, or another folder");
    run_ = run;
    was_there_ = true;
    open_shards(static_cast<std::int64_t>(n), static_cast<int>(s), element_file::use::only_read);
    std::int64_t there = 0;
    for (const auto& f : shards_) there += f->count();
    if (there != static_cast<std::int64_t>(n))
        throw format_error("a snapshot lacks elements", path, to_text({there, " of them"}), to_text({n}));
    return true;
}

SINTER_APART void snapshot_files::add(std::int64_t i, std::string_view bytes) {
    if (!shard_of(i).add(i, bytes)) return;
    const base::forks::delay undisturbed;
    base::mutex_lock hold(guard_);
    ++added_;
    commit_if_whole();
}

SINTER_APART void snapshot_files::set_end(std::int64_t n) {
    const base::forks::delay undisturbed;
    base::mutex_lock hold(guard_);
    shards_[0]->set_end(n);
    commit_if_whole();
}

SINTER_APART void snapshot_files::commit_if_whole() {
    if (whole_ || added_ != end() || forks_ != base::forks::so_far()) return;
    for (const auto& s : shards_) s->sync();
    const snapshot_lock hold(in_folder("lock"));
    whole_ = true;
    const std::string path = in_folder("snapshot");
    if (base::os::exists(path)) return;
    const std::string text = to_text({magic, run_, "\n", shards_.size(), "\n", added_, "\n", made_of_});
    io::atomic_write(path, [&](io::output_file& out) {
        const auto to_file = [&](span<const std::byte> bytes) { out.write(bytes); };
        tfrecord::writer w(to_file, {}, path);
        w.add(text);
        w.finish();
    });
    stays_ = true;
    remove_broken_runs(run_);
}

/// Of processes that have ended: who writes a run has locks on its files.
SINTER_APART void snapshot_files::remove_broken_runs(std::string_view but) const {
    std::vector<std::string> names;
    io::for_each_name(folder_, [&](std::string_view name) {
        const bool is_run = name.size() > 16 && name.substr(0, 16).find_first_not_of("0123456789abcdef") == name.npos &&
                            name[16] == '-' && name.ends_with(".tfrecord");
        if (is_run && name.substr(0, 16) != but) names.emplace_back(name);
    });
    for (const std::string& name : names) {
        const base::descriptor file = base::os::open_to_read(in_folder(name));
        if (file && base::os::try_lock(file.get())) base::os::remove_file(in_folder(name));
    }
}
#endif

} // namespace stage_parts

#if SINTER_BODIES
SINTER_SELDOM_BODY snapshot_step snapshot(std::string folder, snapshot_options o) {
    if (o.shards < 1 || o.shards > 10'000)
        throw option_error("number of shards is out of range", "snapshot", to_text({o.shards}), "1 to 10 000");
    return {std::move(folder), o.shards};
}
#endif

template <element_stage Up>
auto operator|(Up up, snapshot_step s) {
    constexpr bool fits = has_bytes<typename Up::value_type>;
    static_assert(fits, "snapshot: needed are elements that can be written as bytes: numbers, texts, arrays, pixels, "
                        "vectors, and structs and tuples of these");
    if constexpr (fits) {
        using store = stage_parts::files_of_elements<typename Up::value_type, stage_parts::snapshot_files>;
        stage_parts::need_end_of_pass(up.size(), "snapshot");
        auto kept = std::make_shared<store>(std::move(s.folder), stage_parts::made_of(up, "snapshot"), up.size(),
                                            s.shards);
        return cached_stage<Up, store>(std::move(up), std::move(kept));
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
