// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/decimal.hpp>
#include <sinter/io/file.hpp>
#include <sinter/train/hooks/hook.hpp>
#include <sinter/train/hooks/hook_state.hpp>
#include <utility>

namespace sinter::inline SINTER_TARGET {

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
/// of these ends. Of several members the chief alone writes.
///
///     model.train(data, {.epochs = 100}, csv_log("run.csv"));
class csv_log {
public:
    static constexpr const char* name = "csv_log";
    explicit csv_log(std::string path, csv_log_options o = {}) : path_(std::move(path)), o_(o) {}

    /// Opens the file. io_error where that cannot be written.
    SINTER_COLD void begin(training_run& run) {
        if (!run.chief) return;
        const int fresh = run.resumed || o_.append ? 0 : O_TRUNC;
        file_ = io::descriptor(
            io::uninterrupted([&] { return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | fresh, 0666); }));
        if (!file_) io::throw_io_error(errno, "cannot open for writing", path_);
        struct stat status {};
        if (::fstat(file_.get(), &status) != 0) io::throw_io_error(errno, "cannot ask for the size", path_);
        cuts_ = run.resumed && status.st_size > written_;
        if (!run.resumed || written_ > status.st_size) written_ = status.st_size;
        if (::lseek(file_.get(), written_, SEEK_SET) < 0) io::throw_io_error(errno, "cannot go to the end", path_);
    }
    /// io_error where the line cannot be written; the file then ends with the one before.
    SINTER_COLD void epoch_end(training_run& run) {
        if (!run.chief) return;
        const epoch_result& r = run.result;
        std::string line;
        if (written_ == 0) {
            for (const char* column :
                 {"epoch", "step", "examples", "seconds", "loss", "accuracy", "val_loss", "val_accuracy"})
                add(line, column);
            for (const metric_value& m : r.metrics) add(line, quoted_text(m.name));
            line += '\n';
        }
        const std::size_t begins = line.size();
        for (const std::int64_t n : {std::int64_t{r.epoch}, run.step, r.examples}) add(line, joined({n}), begins);
        for (const double x : {r.seconds, r.loss, r.training_accuracy, r.validation_loss, r.accuracy})
            add(line, number(x), begins);
        for (const metric_value& m : r.metrics) add(line, number(m.value), begins);
        line += '\n';
        // not before there is a line to take their place: a run that had ended does no epoch again
        if (std::exchange(cuts_, false) && ::ftruncate(file_.get(), written_) != 0)
            io::throw_io_error(errno, "cannot cut off what comes after the saved run", path_);
        for (std::string_view left = line; !left.empty();) {
            const auto n = io::uninterrupted([&] { return ::write(file_.get(), left.data(), left.size()); });
            if (n <= 0) refuse(n < 0 ? errno : ENOSPC);
            left.remove_prefix(static_cast<std::size_t>(n));
        }
        written_ += static_cast<std::int64_t>(line.size());
    }
    SINTER_COLD void end(training_run& run) {
        if (!run.chief) return;
        if (const int fault = file_.close()) io::throw_io_error(fault, "cannot close", path_);
    }
    void state(auto& s) { s("written", written_); }

private:
    std::string path_;
    csv_log_options o_;
    io::descriptor file_;
    std::int64_t written_ = 0;   ///< bytes of the file
    bool cuts_ = false;          ///< the file has lines of epochs that are to be done again

    /// Without what was written of the line, or the next run to append would go on within it.
    [[noreturn]] SINTER_COLD void refuse(int fault) const {
        if (::ftruncate(file_.get(), written_) != 0) {}   // then it is as the fault left it
        io::throw_io_error(fault, "cannot write", path_);
    }
    void add(std::string& line, std::string_view field, std::size_t begins = 0) const {
        if (line.size() > begins) line += o_.separator;
        line += field;
    }
    static std::string number(double x) { return x == x ? base::general_text(x, 9) : std::string(); }
    std::string quoted_text(const std::string& s) const {
        if (s.find_first_of(std::string("\"\r\n") + o_.separator) == std::string::npos) return s;
        std::string q = "\"";
        for (const char c : s) (q += c) += c == '"' ? "\"" : "";
        return q + '"';
    }
};

} // namespace sinter
