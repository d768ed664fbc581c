// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/os/terminal.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/train/progress_line.hpp>
#include <limits>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

/// How progress is shown; detect: a bar where the output is a terminal, else plain lines.
enum class progress_style { detect, terminal, plain };

/// What progress may be given.
struct progress_options {
    progress_style style = progress_style::detect;   ///< detect: a bar if the file is a terminal
    double bar_every = 0.1;                          ///< seconds between two drawings of the bar
    double line_every = 10;                          ///< seconds between two plain lines of one pass
    const char* unit = "examples";                     ///< what an example is called
    double (*clock)() = base::monotonic_seconds;
};

/// Shows how a pass over the data goes: on a terminal a line that is drawn over itself, elsewhere a
/// line now and then and one at the end of each pass. Writing is cheap enough to call update() on
/// every step.
class progress {
public:
    explicit progress(std::FILE* out = stderr, progress_options options = {})
        : out_(out), options_(options),
          terminal_(options.style == progress_style::terminal ||
                    (options.style == progress_style::detect && base::os::is_terminal(out))) {}
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;
    /// A line that was left unfinished (by an exception) is ended, so that what follows starts on
    /// one of its own.
    ~progress() {
        if (drawn_) std::fputc('\n', out_);
    }

    /// Whether anything is written: what goes on meanwhile is known when it is shown again. The end of a pass before
    /// is then shown as well, as long as there was no update since: whoever was to write it may have ended.
    SINTER_SELDOM SINTER_COLD void show(bool on);
    /// A new pass: `total` examples, or 0 if nobody knows. `seconds`: what it has taken before, where it goes on.
    SINTER_SELDOM SINTER_COLD void begin(std::string title, std::int64_t total, double seconds = 0);
    /// `done` examples of this pass have been seen. Shown only if the last time is long enough ago.
    SINTER_SELDOM void update(std::int64_t done, double loss, span<const named_value> metrics = {});
    /// All examples have been seen: what follows before finish() (validation, say) does not count
    /// in the pass's time.
    SINTER_SELDOM SINTER_COLD void stop_clock();
    /// The pass is over; always shown.
    SINTER_SELDOM SINTER_COLD void finish(double loss, span<const named_value> metrics = {});
    SINTER_SELDOM SINTER_COLD void finish();
    /// A line of its own.
    SINTER_SELDOM SINTER_COLD void say(const std::string& line);
    bool on_terminal() const { return terminal_; }

private:
    SINTER_SELDOM double note(std::int64_t done, double loss, span<const named_value> metrics);
    double now() const { return stopped_ ? ended_ : options_.clock(); }
    SINTER_SELDOM int columns() const;
    SINTER_SELDOM SINTER_COLD void draw();
    SINTER_SELDOM SINTER_COLD void print();

    std::FILE* out_;
    progress_options options_;
    bool terminal_, running_ = false, drawn_ = false, stopped_ = false, shows_ = true;
    training_parts::progress_state state_;
    std::string missed_;   ///< of a pass that has ended while nothing was written
    std::vector<named_value> metrics_;
    double began_ = 0, ended_ = 0, shown_ = 0;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void progress::show(bool on) {
    if (!on && drawn_) std::fputc('\n', out_), drawn_ = false;
    if (on && !shows_ && !missed_.empty()) {
        std::fprintf(out_, "%s\n", missed_.c_str());
        std::fflush(out_);
    }
    missed_.clear();
    shows_ = on;
}

SINTER_SELDOM_BODY void progress::begin(std::string title, std::int64_t total, double seconds) {
    finish();
    state_ = {};
    state_.title = std::move(title);
    state_.unit = options_.unit;
    state_.total = total;
    state_.loss = std::numeric_limits<double>::quiet_NaN();
    const double now = options_.clock();
    began_ = now - seconds;
    stopped_ = false;
    shown_ = terminal_ ? -1e300 : now;   // the bar at once, a plain line only when there is something to say
    running_ = true;
}

SINTER_SELDOM_BODY void progress::update(std::int64_t done, double loss, span<const named_value> metrics) {
    const double now = note(done, loss, metrics);
    missed_.clear();
    if (!running_ || !shows_ || now - shown_ < (terminal_ ? options_.bar_every : options_.line_every)) return;
    shown_ = now;
    if (terminal_) draw();
    else print();
}

SINTER_SELDOM_BODY void progress::stop_clock() {
    if (!running_) return;
    ended_ = options_.clock();
    stopped_ = true;
    state_.seconds = ended_ - began_;
    if (terminal_ && shows_) draw();   // or the bar would stand a little short of its end until then
}

SINTER_SELDOM_BODY void progress::finish(double loss, span<const named_value> metrics) {
    note(state_.done, loss, metrics);
    finish();
}

SINTER_SELDOM_BODY void progress::finish() {
    if (!running_) return;
    state_.seconds = now() - began_;
    running_ = false;
    if (!shows_) return void(missed_ = training_parts::plain_progress_line(state_));
    if (!terminal_) return print();
    draw();
    std::fputc('\n', out_);
    std::fflush(out_);
    drawn_ = false;
}

SINTER_SELDOM_BODY void progress::say(const std::string& line) {
    finish();
    if (!shows_) return;
    std::fprintf(out_, "%s\n", line.c_str());
    std::fflush(out_);
}

SINTER_SELDOM_BODY double progress::note(std::int64_t done, double loss, span<const named_value> metrics) {
    const double at = now();
    state_.done = done;
    state_.loss = loss;
    metrics_.assign(metrics.begin(), metrics.end());   // a later finish() may outlive the caller's array
    state_.metrics = metrics_;
    state_.seconds = at - began_;
    return at;
}

SINTER_SELDOM_BODY int progress::columns() const {
    const int n = base::os::terminal_columns(out_);
    return n > 0 ? n : 80;
}

SINTER_SELDOM_BODY void progress::draw() {
    // One write, and the rest of the old line is erased behind the new one, not before it: no
    // flicker. The last column stays free, where some terminals would wrap. (Built by append:
    // g++ 12 warns, wrongly, of a copy upon itself where a literal is put before a string.)
    const std::string line =
        std::string("\r").append(training_parts::progress_line(state_, columns() - 1)).append("\x1b[K");
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
    drawn_ = true;
}

SINTER_SELDOM_BODY void progress::print() {
    const std::string line = training_parts::plain_progress_line(state_) + "\n";
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
}
#endif

} // namespace sinter
