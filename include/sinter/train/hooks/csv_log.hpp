// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/decimal.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/file_status.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/make_folders.hpp>
#include <sinter/train/hooks/hook.hpp>
#include <sinter/train/hooks/hook_state.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

/// What csv_log may be given.
struct csv_log_options {
    char separator = ',';
    bool append = false;   ///< behind what the file has, without a second heading
};

/// Writes a table with a line for each epoch (Keras' CSVLogger): epoch, step, examples, seconds,
/// loss, accuracy, val_loss, val_accuracy, and the metrics by their names, as the first epoch has
/// them. What was not measured is an empty field; nine digits, a point in every locale. Each line
/// is in the file when the epoch ends. A run that is resumed goes on behind the lines that had been
/// written when it was saved: later ones, of epochs that are done again, are cut off when the first
/// of these ends.
///
/// Of several members the chief alone writes. Where another one becomes the chief
/// (strategy/elastic.hpp) that one goes on in the file, which all reach by the same path: it adds
/// the lines that the one before it has not written. Where it cannot, a message says so and training
/// goes on; the lines are written as soon as that is possible.
///
///     model.train(data, {.epochs = 100}, csv_log("run.csv"));
class csv_log {
public:
    static constexpr const char* name = "csv_log";
    explicit csv_log(std::string path, csv_log_options o = {}) : path_(std::move(path)), o_(o) {}

    /// Opens the file, and makes its folder where it is missing. io_error where that cannot be written.
    SINTER_APART SINTER_COLD void begin(training_run& run);
    SINTER_COLD void epoch_begin(training_run& run) { ended_ = run.epoch - 1; }
    /// Who becomes the chief writes what the one before it has left to be written.
    SINTER_APART SINTER_COLD void chief_changed(training_run& run);
    /// io_error where the line cannot be written; the file then ends with the one before.
    SINTER_APART SINTER_COLD void epoch_end(training_run& run);
    SINTER_APART SINTER_COLD void end(training_run& run);
    void state(hook_state& s) { s("written", written_); }

private:
    struct line_of_epoch {
        int epoch;
        std::string text;
    };
    std::string path_, heading_;
    csv_log_options o_;
    io::descriptor file_;          ///< the chief's
    std::int64_t written_ = 0;     ///< bytes of the file, as far as this process knows of them
    std::vector<line_of_epoch> lines_;   ///< that this process has not seen in the file
    int ended_ = 0;                ///< the last epoch that has ended here
    bool took_over_ = false;       ///< this process has not been the chief all the time

    SINTER_APART SINTER_COLD int open(bool anew);
    SINTER_APART SINTER_COLD std::int64_t size() const;
    SINTER_APART SINTER_COLD std::int64_t size_of_file() const;
    SINTER_APART SINTER_COLD void write_lines();
    /// Goes on behind the lines of epochs up to `known`: whoever was the chief before may have written them, also of an
    /// epoch that is done again without it. The last such epoch; 0: there is none behind `written_`.
    SINTER_APART SINTER_COLD int find_end(std::int64_t there, int known);
    SINTER_APART SINTER_COLD void write(std::string_view text);
    /// What comes after the run's own lines.
    SINTER_COLD bool cut() const { return base::os::set_length(file_.get(), static_cast<std::uint64_t>(written_)); }
    /// Without what was written of the line, or the next run to append would go on within it.
    [[noreturn]] SINTER_APART SINTER_COLD void refuse(int fault) const;
    SINTER_APART void add(std::string& line, std::string_view field) const;
    static std::string number(double x) { return x == x ? base::general_text(x, 9) : std::string(); }
    SINTER_APART std::string quoted_text(const std::string& s) const;
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART void csv_log::begin(training_run& run) {
    lines_.clear();
    took_over_ = false;
    ended_ = 0;
    if (!run.resumed) written_ = o_.append ? size_of_file() : 0;
    if (!run.chief) return;
    if (const int fault = open(!run.resumed && !o_.append))
        io::throw_io_error(fault, "cannot open for writing", path_);
    written_ = std::min(written_, size());
}
SINTER_APART void csv_log::chief_changed(training_run& run) {
    file_.close();
    took_over_ = run.chief;
    if (run.chief) write_lines();
}
SINTER_APART void csv_log::epoch_end(training_run& run) {
    const epoch_result& r = run.result;
    ended_ = r.epoch;
    heading_.clear();
    for (const char* column :
         {"epoch", "step", "examples", "seconds", "loss", "accuracy", "val_loss", "val_accuracy"})
        add(heading_, column);
    for (const metric_value& m : r.metrics) add(heading_, quoted_text(m.name));
    heading_ += '\n';
    std::string line;
    for (const std::int64_t n : {std::int64_t{r.epoch}, run.step, r.examples}) add(line, to_text({n}));
    for (const double x : {r.seconds, r.loss, r.training_accuracy, r.validation_loss, r.accuracy})
        add(line, number(x));
    for (const metric_value& m : r.metrics) add(line, number(m.value));
    lines_.push_back({r.epoch, line + '\n'});
    if (run.chief) write_lines();
}
SINTER_APART void csv_log::end(training_run& run) {
    if (run.chief) write_lines();
    if (const int fault = file_.close()) io::throw_io_error(fault, "cannot close", path_);
}
SINTER_APART int csv_log::open(bool anew) {
    io::make_folders_above(path_);
    using base::os::opening;
    file_ = base::os::open_to_change(path_, anew ? opening::emptied : opening::made);
    return file_ ? 0 : errno;
}
SINTER_APART std::int64_t csv_log::size() const {
    const base::os::file_status status = base::os::status_of(file_.get());
    if (!status) io::throw_io_error(errno, "cannot ask for the size", path_);
    return static_cast<std::int64_t>(status.bytes);
}
SINTER_APART std::int64_t csv_log::size_of_file() const {
    return static_cast<std::int64_t>(base::os::status_of(path_).bytes);
}
SINTER_APART void csv_log::write_lines() try {
    if (lines_.empty()) return;
    if (!file_)
        if (const int fault = open(false)) io::throw_io_error(fault, "cannot open for writing", path_);
    const std::int64_t there = size();
    // Who has become the chief finds what the one before it has written. A run that was resumed does its epoch
    // again, and has that line to write.
    const int known = took_over_ ? ended_ : lines_.front().epoch - 1;
    const int last = there == written_ ? 0 : find_end(there, known);
    std::string text = written_ == 0 ? heading_ : "";
    const std::size_t empty = text.size();
    for (const line_of_epoch& l : lines_)
        if (l.epoch > last) text += l.text;
    // Not before there is a line to take their place: a run that had ended does no epoch again.
    if (text.size() > empty) {
        if (there > written_ && !cut())
            io::throw_io_error(errno, "cannot cut off what comes after the run's lines", path_);
        write(text);
    }
    lines_.clear();
} catch (const io_error& e) {
    if (!took_over_) throw;
    base::say(message_level::warning, e.what(), name);
}
SINTER_APART int csv_log::find_end(std::int64_t there, int known) {
    written_ = std::min(written_, there);
    std::string text(static_cast<std::size_t>(there - written_), '\0');
    std::size_t n = 0;
    while (n < text.size()) {
        const auto got = base::os::read_some_at(file_.get(), static_cast<std::uint64_t>(written_) + n,
                                                as_writable_bytes(text).subspan(n));
        if (got <= 0) break;
        n += static_cast<std::size_t>(got);
    }
    text.resize(n);
    const std::string first = to_text({"epoch", std::string(1, o_.separator)});
    bool heads = written_ == 0 && text.compare(0, first.size(), first) == 0;
    int last = 0;
    for (std::size_t at = 0, next; (next = text.find('\n', at)) != text.npos; at = next + 1) {
        std::int64_t epoch = 0;
        std::size_t i = at;
        for (; text[i] >= '0' && text[i] <= '9'; ++i)
            if (epoch <= known) epoch = 10 * epoch + (text[i] - '0');
        const bool is_line = i > at && text[i] == o_.separator;
        if (is_line ? epoch > known : !heads) break;   // a heading may have several lines
        if (is_line) heads = false, last = static_cast<int>(epoch);
        written_ += static_cast<std::int64_t>(next + 1 - at);
    }
    return last;
}
SINTER_APART void csv_log::write(std::string_view text) {
    for (std::string_view left = text; !left.empty();) {
        const std::int64_t at = written_ + static_cast<std::int64_t>(text.size() - left.size());
        const auto n = base::os::write_some_at(file_.get(), static_cast<std::uint64_t>(at), as_bytes(left));
        if (n <= 0) refuse(n < 0 ? errno : ENOSPC);
        left.remove_prefix(static_cast<std::size_t>(n));
    }
    written_ += static_cast<std::int64_t>(text.size());
}
SINTER_APART void csv_log::refuse(int fault) const {
    (void)cut();   // or it is as the fault left it
    io::throw_io_error(fault, "cannot write", path_);
}
SINTER_APART void csv_log::add(std::string& line, std::string_view field) const {
    if (!line.empty()) line += o_.separator;
    line += field;
}
SINTER_APART std::string csv_log::quoted_text(const std::string& s) const {
    if (s.find_first_of(std::string("\"\r\n") + o_.separator) == std::string::npos) return s;
    std::string q = "\"";
    for (const char c : s) (q += c) += c == '"' ? "\"" : "";
    return q + '"';
}

} // namespace sinter
#endif
