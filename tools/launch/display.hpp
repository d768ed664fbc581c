// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "member.hpp"
#include <sinter/base/message.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace launch {

/// What people see: members' output with their names in front, and a line of progress for each
/// member. On a terminal those lines stay at the bottom; elsewhere they are written now and then.
class display {
public:
    /// `json`: a file for what members report, too, a line for each; empty: none. Throws io_error.
    explicit display(double every, const std::string& json = {})
        : terminal_(every < 0 && ::isatty(2)), every_(every < 0 ? (terminal_ ? 0.2 : 10) : every) {
        if (json.empty()) return;
        json_ = std::fopen(json.c_str(), "we");
        if (!json_) sinter::io::throw_io_error(errno, "cannot open", json);
    }
    ~display() {
        if (json_) std::fclose(json_);
    }
    display(const display&) = delete;
    display& operator=(const display&) = delete;
    /// Something that a member has just reported.
    void show_report(const member& m) {
        if (json_) write(m.json(sinter::base::monotonic_seconds() - began_));
    }
    /// Whether this member is slower than the others, from now on.
    void note_slow(const member& m, bool slow) {
        if (!json_) return;
        write("{\"seconds\": " + sinter::json::text(sinter::base::monotonic_seconds() - began_) + ", \"member\": " +
              sinter::json::text(m.name()) + ", \"slow\": " + sinter::json::text(slow) + "}\n");
    }

    /// A line of a member's stdout (0) or stderr (1).
    void line(const member& m, int stream, std::string_view text) {
        erase();
        const std::string whole = "[" + m.name() + "] " + std::string(text) + "\n";
        std::FILE* const to = stream == 0 ? stdout : stderr;
        std::fwrite(whole.data(), 1, whole.size(), to);
        std::fflush(to);
    }
    /// A line of the launcher itself. SINTER_VERBOSITY says which there are, as it does for members.
    void say(const std::string& text, sinter::message_level level = sinter::message_level::normal) {
        if (!sinter::base::says(level)) return;
        erase();
        std::fprintf(stderr, "sinter-launch: %s\n", text.c_str());
    }
    /// Progress, if it is time again.
    void progress(std::vector<member>& members) {
        const double now = sinter::base::monotonic_seconds();
        if (every_ == 0 || now - last_ < every_) return;
        last_ = now;
        show(members);
    }
    /// The last progress of an attempt.
    void finish(std::vector<member>& members) {
        if (every_ != 0) show(members);
        drawn_ = 0;
    }
    /// Seconds until progress is due.
    double due() const { return every_ == 0 ? 3600 : std::max(0., last_ + every_ - sinter::base::monotonic_seconds()); }

private:
    void write(const std::string& line) {
        std::fwrite(line.data(), 1, line.size(), json_);
        std::fflush(json_);
    }
    void show(std::vector<member>& members) {
        erase();
        for (member& m : members) {
            if (!terminal_ && !m.reported_anew) continue;
            m.reported_anew = false;
            const std::string what = m.status ? m.ending() + "; " + m.doing() : m.doing();
            std::fprintf(stderr, "%s%s: %.160s\n", terminal_ ? "" : "sinter-launch: ", m.name().c_str(), what.c_str());
            drawn_ += terminal_;
        }
    }
    void erase() {
        if (drawn_ > 0) std::fprintf(stderr, "\x1b[%dA\x1b[J", drawn_);
        drawn_ = 0;
    }

    bool terminal_;
    std::FILE* json_ = nullptr;
    double began_ = sinter::base::monotonic_seconds();
    double every_, last_ = sinter::base::monotonic_seconds();
    int drawn_ = 0;
};

} // namespace launch
