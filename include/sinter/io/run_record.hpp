// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/file_lock.hpp>
#include <sinter/io/printable.hpp>
#include <sinter/io/write_order.hpp>
#if SINTER_BODIES
#include <sinter/base/hash.hpp>
#include <sinter/base/os/process.hpp>
#include <sinter/base/os/random_number.hpp>
#include <sinter/base/whole_number.hpp>
#include <sinter/io/make_folders.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY {

/// The small file beside checkpoints that says whose they are, and how often a run has begun anew
/// at the same step. It has a checksum.
///
/// A run that begins takes them over: it writes a token that no other run has. Before a checkpoint
/// gets its name the token is compared, under the file's lock (io/file_lock.hpp). So a run that was
/// replaced, because it hung or because a network was cut in two, can no longer write over what its
/// successor has written: its next save is an io_error.
class run_record {
public:
    /// Where a run begins, among those that write in a folder (io/write_order.hpp).
    struct beginning {
        std::int64_t step = 0;    ///< of the model
        std::int64_t after = 0;   ///< the greatest number of a run that has files there, whatever the record says
        std::int64_t first = -1;  ///< the run with which its history begins; -1: itself
    };
    /// `patience`: seconds to wait for the lock at most.
    explicit run_record(std::string path, double patience = io::file_lock::patience)
        : path_(std::move(path)), patience_(patience) {}

    /// This run is from now on the one that may write. `step` is where it begins; returns how often
    /// in a row runs have begun there and not ended, this one included. `epoch`: of a job whose
    /// members change, in which this process became the one that writes; it takes the files over
    /// anew in each, and without `from` goes on with the history that the record has.
    SINTER_SELDOM SINTER_COLD std::int64_t take(std::int64_t step, std::int64_t epoch = 0,
                                                const std::optional<beginning>& from = {});
    bool taken(std::int64_t epoch = 0) const { return !mine_.empty() && epoch == epoch_; }
    const std::string& owner() const { return mine_; }   ///< what take() wrote
    /// The order of this run's next file.
    SINTER_SELDOM const io::write_order& next_file();
    /// Calls f() while nobody can take over; io_error where somebody has.
    SINTER_SELDOM SINTER_COLD void guarded(base::function_ref<void()> f);
    /// The run has ended by itself: what begins at its step later is no restart.
    SINTER_SELDOM SINTER_COLD void ended();
    const std::string& path() const { return path_; }
    /// Of the files of the run that may write, as the record says at this moment; run 0: it does not say.
    SINTER_SELDOM SINTER_COLD static io::write_order order_in(const std::string& path);

private:
    struct fields {
        std::int64_t generation = 0, step = -1, begun = 0, first = 0, began = 0;
        std::string owner;
        bool damaged = false;
    };
    std::string path_, mine_;
    double patience_;
    std::int64_t epoch_ = 0;   ///< of which `mine_` is
    io::write_order order_;

    static std::string token(const fields& f) { return to_text({f.generation, " ", f.owner}); }
    SINTER_SELDOM static std::string sum_of(std::string_view text);

    /// The file, open and locked.
    class opened {
    public:
        SINTER_COLD opened(const run_record& r, bool make)
            : path_(r.path_), fd_(open(r.path_, make)), lock_(fd_.get(), r.path_, r.patience_) {}
        std::string text() const { return read_all(fd_.get(), path_); }
        /// In one call, over what was there: a reader has the lock, or sees by the checksum that it has a part.
        SINTER_SELDOM SINTER_COLD void write(const fields& f) const;

    private:
        const std::string& path_;
        io::descriptor fd_;
        io::file_lock lock_;

        SINTER_SELDOM SINTER_COLD static io::descriptor open(const std::string& path, bool make);
    };
    SINTER_SELDOM SINTER_COLD void need_own(const opened& file) const;
    SINTER_SELDOM SINTER_COLD static std::string read_all(int fd, const std::string& path);
    /// What is no such line is nobody's. Nor is one whose numbers no run has counted: there would soon
    /// be no larger one. Earlier versions have written no more than the owner.
    SINTER_SELDOM SINTER_COLD static fields parse(std::string_view text);
    SINTER_SELDOM static fields nobodys(std::string_view text);
};

#if SINTER_BODIES
SINTER_SELDOM_BODY std::int64_t run_record::take(std::int64_t step, std::int64_t epoch,
                                                 const std::optional<beginning>& from) {
    io::make_folders_above(path_);
    const opened file(*this, true);
    fields f = parse(file.text());
    if (f.damaged)
        base::say(message_level::warning, "was damaged, and is begun anew: how often this run was started is lost",
                  path_);
    f.generation = std::max(f.generation, from ? from->after : 0) + 1;
    f.begun = f.step == step ? f.begun + 1 : 1;
    f.step = step;
    f.first = !from ? f.first : from->first < 0 ? f.generation : from->first;
    std::string host = base::os::host_name();
    for (char& c : host)
        if (c == ' ' || c == '\n') c = '_';
    f.began = std::max<std::int64_t>(from ? from->step : step, 0);
    f.owner = to_text({host, ":", base::os::process_number(), ":", base::os::random_number()});
    file.write(f);
    mine_ = token(f);
    epoch_ = epoch;
    order_ = {f.generation, 0, f.began, f.first};
    return f.begun;
}

SINTER_SELDOM_BODY const io::write_order& run_record::next_file() {
    ++order_.number;
    return order_;
}

SINTER_SELDOM_BODY void run_record::guarded(base::function_ref<void()> f) {
    const opened file(*this, false);
    need_own(file);
    f();
}

SINTER_SELDOM_BODY void run_record::ended() {
    const opened file(*this, false);
    fields f = parse(file.text());
    if (token(f) != mine_) return;
    f.begun = 0;
    file.write(f);
}

SINTER_SELDOM_BODY io::write_order run_record::order_in(const std::string& path) {
    const io::descriptor fd = base::os::open_to_read(path);
    if (!fd) return {};
    const fields f = parse(read_all(fd.get(), path));
    return {f.generation, 0, f.began, f.first};
}

SINTER_SELDOM_BODY std::string run_record::sum_of(std::string_view text) { return to_text({base::fnv1a(text)}); }

SINTER_SELDOM_BODY void run_record::opened::write(const fields& f) const {
    std::string text =
        to_text({f.generation, " ", f.step, " ", f.begun, " ", f.owner, " ", f.first, " ", f.began});
    text += " " + sum_of(text) + "\n";
    const auto n = base::os::write_some_at(fd_.get(), 0, as_bytes(text));
    if (n != static_cast<std::ptrdiff_t>(text.size()) || !base::os::set_length(fd_.get(), text.size()))
        io::throw_io_error(n < 0 ? errno : ENOSPC, "cannot write", path_);
}

SINTER_SELDOM_BODY io::descriptor run_record::opened::open(const std::string& path, bool make) {
    using base::os::opening;
    io::descriptor fd = base::os::open_to_change(path, make ? opening::made : opening::existing);
    if (!fd) io::throw_io_error(errno, "cannot open", path);
    return fd;
}

SINTER_SELDOM_BODY void run_record::need_own(const opened& file) const {
    const fields now = parse(file.text());
    if (now.damaged)
        throw io_error("the file that says whose these checkpoints are was damaged: this run writes no more", path_,
                       "another checksum", "a run that is started again, which takes them over");
    if (token(now) != mine_)
        throw io_error("another run has taken these checkpoints over: this one may not write them any more", path_,
                       io::printable(now.owner), io::printable(mine_));
}

SINTER_SELDOM_BODY std::string run_record::read_all(int fd, const std::string& path) {
    char text[1024];
    const auto n = base::os::read_some_at(fd, 0, as_writable_bytes(text));
    if (n < 0) io::throw_io_error(errno, "cannot read", path);
    return {text, static_cast<std::size_t>(n)};
}

SINTER_SELDOM_BODY run_record::fields run_record::parse(std::string_view text) {
    fields f;
    const std::string_view line = text.substr(0, text.find('\n'));
    std::string_view rest = line;
    const auto take = [&](char expected) {
        const bool found = !rest.empty() && rest.front() == expected;
        if (found) rest.remove_prefix(1);
        return found;
    };
    for (std::int64_t* x : {&f.generation, &f.step, &f.begun})
        if (!base::take_number(rest, *x) || !take(' ') || *x > INT64_MAX / 2) return nobodys(text);
    if (f.generation < 0 || f.begun < 0) return nobodys(text);
    f.owner = rest.substr(0, rest.find(' '));
    rest.remove_prefix(f.owner.size());
    if (rest.empty()) return f;
    const std::size_t sum = line.rfind(' ');
    if (line.substr(sum + 1) != sum_of(line.substr(0, sum))) return nobodys(text);
    for (std::int64_t* x : {&f.first, &f.began})
        if (!take(' ') || !base::take_number(rest, *x) || *x < 0) return nobodys(text);
    return rest.size() == line.size() - sum ? f : nobodys(text);
}

SINTER_SELDOM_BODY run_record::fields run_record::nobodys(std::string_view text) {
    fields f;
    f.damaged = !text.empty();
    return f;
}
#endif

} // namespace sinter
