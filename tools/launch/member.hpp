// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "descendants.hpp"
#include "environment.hpp"
#include "ports.hpp"
#include <sinter/base/error.hpp>
#include <sinter/base/json_text.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace launch {

using sinter::io::descriptor;

/// One process of the job, and what it has said.
struct member {
    std::string role;   // as in TF_CONFIG
    int index = 0;
    reserved_port port;

    pid_t pid = -1;                       // of its process group, too
    std::optional<int> status;            // as of waitpid, once it has ended
    std::array<descriptor, 2> output;     // its stdout and stderr
    std::array<std::string, 2> unended;   // lines that have no end yet
    descriptor progress;
    std::string last_words;               // its last line on stderr
    std::string step, rate, loss, note;   // as it reported them
    double busy = -1, reported_at = 0;    // which part of its time it did not wait for others; -1: not known
    double pace = -1;                     // steps per second, as measured from one step to the next; -1: not known
    bool reported_anew = false;

    member(std::string r, int i) : role(std::move(r)), index(i) {}
    /// As before it was started.
    void begin_anew() {
        pid = -1;
        status.reset();
        for (descriptor& d : output) d.close();
        progress.close();
        last_words.clear(), step.clear(), rate.clear(), loss.clear(), note.clear();
        busy = pace = -1;
        counts.clear(), tables.clear();
    }
    std::string name() const { return role + "/" + std::to_string(index); }
    bool trains() const { return role == "worker"; }
    bool running() const { return pid > 0 && !status; }
    bool failed() const { return status && *status != 0; }
    void signal(int number) const {
        if (running()) ::kill(-pid, number);
    }
    /// How it ended, in words.
    std::string ending() const {
        if (!status) return "runs";
        if (WIFEXITED(*status)) return "exit status " + std::to_string(WEXITSTATUS(*status));
        return "signal " + std::to_string(WTERMSIG(*status)) + " (" + ::strsignal(WTERMSIG(*status)) + ")";
    }
    /// What it counted beside its steps, by key (net/progress_report.hpp).
    std::vector<std::pair<std::string, std::string>> counts;
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> tables;   // by name
    std::string count_of(const char* key) const {
        for (const auto& [k, value] : counts)
            if (k == key) return value;
        return {};
    }
    /// "1.25 MB"
    static std::string bytes_in_words(const std::string& number) {
        const double n = std::atof(number.c_str());
        const char* const unit = n < 1e6 ? "kB" : n < 1e9 ? "MB" : "GB";
        char text[32];
        std::snprintf(text, sizeof text, "%.3g %s", n / (n < 1e6 ? 1e3 : n < 1e9 ? 1e6 : 1e9), unit);
        return text;
    }
    /// One line of JSON: all that it has reported.
    std::string json(double seconds) const {
        std::string s = "{\"seconds\": " + sinter::json::text(seconds) + ", \"member\": " + sinter::json::text(name());
        const auto number = [&](const std::string& key, const std::string& value) {
            if (!value.empty())
                s += ", " + sinter::json::text(key) + ": " + sinter::json::text(std::atof(value.c_str()));
        };
        number("step", step), number("steps_per_second", rate), number("loss", loss);
        if (busy >= 0) s += ", \"busy\": " + sinter::json::text(busy);
        for (const auto& [key, value] : counts) number(key, value);
        if (!tables.empty()) {
            s += ", \"tables\": {";
            for (const auto& [table, numbers] : tables) {
                s += (s.ends_with('{') ? "" : ", ") + sinter::json::text(table) + ": {";
                for (const auto& [key, value] : numbers)
                    s += (s.ends_with('{') ? "" : ", ") + sinter::json::text(key) + ": " +
                         sinter::json::text(std::atof(value.c_str()));
                s += "}";
            }
            s += "}";
        }
        if (!note.empty()) s += ", \"note\": " + sinter::json::text(note);
        return s + "}\n";
    }
    /// What it is doing, in words: "step 120, 34.5 steps/s, loss 0.25"; empty if it said nothing.
    std::string doing() const {
        std::string s = step.empty() ? "" : "step " + step;
        if (!rate.empty()) s += ", " + rate + " steps/s";
        if (!loss.empty()) s += ", loss " + loss;
        if (const std::string n = count_of("staleness"); !n.empty())
            s += ", staleness " + n + " (" + count_of("most_staleness") + " at most)";
        for (const char* key : {"dropped", "repeated"})
            if (const std::string n = count_of(key); !n.empty()) s += ", " + n + " " + key;
        for (const char* key : {"sent", "received"})
            if (const std::string n = count_of(key); !n.empty()) s += ", " + bytes_in_words(n) + " " + key;
        if (const std::string n = rows(); !n.empty()) s += ", " + n + " rows";
        if (!note.empty()) s += (s.empty() ? "" : "; ") + note;
        return s;
    }
    /// Takes in a packet of net/progress_report.hpp's protocol.
    void take_report(std::string_view packet) {
        std::string clean;   // it goes to a terminal
        for (const char c : packet) clean += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
        if (clean.starts_with("note ")) {
            note = clean.substr(5);
        } else if (clean.starts_with("count ")) {
            counts = numbers_in(clean.substr(6));
        } else if (clean.starts_with("table ")) {
            const std::size_t end = std::min(clean.find(' ', 6), clean.size());
            const std::string table = clean.substr(6, end - 6);
            const auto at = std::ranges::find(tables, table, [](const auto& t) { return t.first; });
            if (at != tables.end()) at->second = numbers_in(clean.substr(end));
            else if (tables.size() < most_tables) tables.emplace_back(table, numbers_in(clean.substr(end)));
        } else if (clean == "rest") {
            busy = pace = -1;
            return;
        } else if (clean.starts_with("step ")) {
            std::istringstream words(clean);
            loss.clear(), note.clear();
            busy = pace = -1, reported_at = sinter::base::monotonic_seconds();
            for (std::string key, value; words >> key >> value;)
                if (key == "step") step = value;
                else if (key == "rate") rate = value, pace = known(value);
                else if (key == "loss") loss = value;
                else if (key == "busy") busy = known(value);
        } else {
            return;
        }
        reported_anew = true;
    }

private:
    /// Of all tables together; empty: it has none.
    std::string rows() const {
        if (tables.empty()) return {};
        double n = 0;
        for (const auto& [table, numbers] : tables)
            for (const auto& [key, value] : numbers)
                if (key == "rows") n += std::atof(value.c_str());
        char text[32];
        std::snprintf(text, sizeof text, "%.0f", n);
        return text;
    }
    /// -1 where it is no number that could be compared.
    static double known(const std::string& value) {
        const double x = std::atof(value.c_str());
        return std::isfinite(x) ? x : -1;
    }
    static constexpr std::size_t most_tables = 1000;
    static std::vector<std::pair<std::string, std::string>> numbers_in(const std::string& text) {
        std::istringstream words(text);
        std::vector<std::pair<std::string, std::string>> all;
        for (std::string key, value; all.size() < 20 && words >> key >> value;) all.emplace_back(key, value);
        return all;
    }
};

/// TF_CONFIG of `self` in a cluster of `all`.
inline std::string tf_config(const std::vector<member>& all, const member& self) {
    std::string jobs;
    for (const char* role : {"worker", "ps", "evaluator"}) {
        std::string addresses;
        for (const member& m : all)
            if (m.role == role)
                addresses += (addresses.empty() ? "" : ", ") +
                             sinter::json::text("127.0.0.1:" + std::to_string(m.port.number()));
        if (!addresses.empty()) jobs += (jobs.empty() ? "" : ", ") + sinter::json::text(role) + ": [" + addresses + "]";
    }
    return "{\"cluster\": {" + jobs + "}, \"task\": {\"type\": " + sinter::json::text(self.role) +
           ", \"index\": " + std::to_string(self.index) + "}}";
}

/// Even shares of the cores that this process may use; empty where there are fewer than shares.
inline std::vector<cpu_set_t> share_cores(std::size_t shares) {
    cpu_set_t all;
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof all, &all) != 0) return {};
    for (int c = 0; c < CPU_SETSIZE; ++c)
        if (CPU_ISSET(static_cast<std::size_t>(c), &all)) cores.push_back(c);
    if (cores.size() < shares) return {};
    std::vector<cpu_set_t> out(shares);
    for (std::size_t i = 0; i < shares; ++i) {
        CPU_ZERO(&out[i]);
        for (std::size_t c = i * cores.size() / shares; c < (i + 1) * cores.size() / shares; ++c)
            CPU_SET(static_cast<std::size_t>(cores[c]), &out[i]);
    }
    return out;
}

/// Starts a member: in a process group of its own, with an empty stdin, its output in pipes, and
/// the job's key in a descriptor. Throws io_error where the program cannot be run.
inline void start(member& m, const std::vector<member>& all, const std::vector<std::string>& command,
                  variables environment, const descriptor& key, const cpu_set_t* cores, int trainers) {
    int pipes[2][2], refusal[2], progress[2];
    if (::pipe2(pipes[0], O_CLOEXEC) != 0 || ::pipe2(pipes[1], O_CLOEXEC) != 0 || ::pipe2(refusal, O_CLOEXEC) != 0 ||
        ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, progress) != 0)
        sinter::io::throw_io_error(errno, "cannot make pipes", m.name());
    descriptor ends[] = {descriptor(pipes[0][1]), descriptor(pipes[1][1]), descriptor(refusal[1]),
                         descriptor(progress[1])};
    descriptor refused(refusal[0]);
    m.output = {descriptor(pipes[0][0]), descriptor(pipes[1][0])};
    m.progress = descriptor(progress[0]);

    // Both descriptors keep their numbers in the member: no other one of ours survives the exec.
    struct stat s {};
    ::fstat(progress[1], &s);
    environment.set("TF_CONFIG", tf_config(all, m));
    environment.set("SINTER_SIZE", std::to_string(trainers));
    environment.set("SINTER_KEY_FILE", "/proc/self/fd/" + std::to_string(key.get()));
    environment.set("SINTER_PROGRESS_FD", std::to_string(progress[1]) + ":" + std::to_string(s.st_ino));
    std::vector<std::string> arguments = command;
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    const std::vector<char*> envp = environment.pointers();

    const pid_t parent = ::getpid(), child = ::fork();
    if (child < 0) sinter::io::throw_io_error(errno, "cannot start a process", m.name());
    if (child == 0) {
        die_with(parent);
        ::setpgid(0, 0);
        sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::dup2(null, 0), ::dup2(pipes[0][1], 1), ::dup2(pipes[1][1], 2);
        ::fcntl(key.get(), F_SETFD, 0), ::fcntl(progress[1], F_SETFD, 0);
        if (cores) ::sched_setaffinity(0, sizeof *cores, cores);
        ::execvpe(argv[0], argv.data(), envp.data());
        const int reason = errno;
        [[maybe_unused]] const auto n = ::write(refusal[1], &reason, sizeof reason);
        ::_exit(127);
    }
    ::setpgid(child, child);   // whichever of the two is first
    m.pid = child;
    ends[2].close();
    int reason = 0;
    const auto n = sinter::io::uninterrupted([&] { return ::read(refused.get(), &reason, sizeof reason); });
    if (n == sizeof reason) sinter::io::throw_io_error(reason, "cannot start the program", command[0]);
}

} // namespace launch
