// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/message.hpp>
#include <sinter/base/os/text_in_memory.hpp>
#include <sinter/profile/kernel_table.hpp>

namespace sinter::inline SINTER_TARGET::profile {

/// What each runner of a program has that is compiled with SINTER_PROFILE defined: counters of the
/// launches, told as messages (base/message.hpp), one a line, when the runner ends. Counting takes
/// two looks at the clock a launch, and after the first run no memory.
class step_profile {
public:
    step_profile() = default;
    step_profile(step_profile&&) = default;
    step_profile& operator=(step_profile&&) = default;
    ~step_profile() {
        if (counts_.empty()) return;
        try {
            say_lines();
        } catch (...) {   // a machine that lacks the memory for a table has other worries
        }
    }

    /// To be told, launch by launch, of one run of P on a batch. (P is no parameter of the class,
    /// so that programs that never run cost no build time.)
    template <class P>
    auto observe(int threads, int batch) {
        if (counts_.empty()) counts_.resize(static_cast<std::size_t>(P::v.n_launches));
        text_ = text_of_program<P>;
        mode_ = P::request::mode;
        threads_ = threads;
        ++steps_;
        return [this, batch](int launch, bool before) {
            const double now = monotonic_seconds();
            if (before) {
                began_ = now;
                return;
            }
            kernel_count& n = counts_[static_cast<std::size_t>(launch)];
            const double took = now - began_;
            n.seconds += took;
            n.least = n.launches ? std::min(n.least, took) : took;
            n.examples += batch;
            ++n.launches;
        };
    }
    const std::vector<kernel_count>& counts() const { return counts_; }

    SINTER_COLD void print(std::FILE* out) const {
        machine_limits limits(threads_);
        const bool training = mode_ == program_mode::training;
        std::fputs(training ? "training\n" : mode_ == program_mode::evaluation ? "evaluation\n" : "prediction\n", out);
        print_kernel_table(text_(0), counts_, steps_, &limits, out);
    }

private:
    SINTER_COLD void say_lines() const {
        base::os::text_in_memory printed;
        if (!printed.out()) return;
        print(printed.out());
        std::string_view rest = printed.text();
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            base::say(message_level::normal, rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    std::vector<kernel_count> counts_;
    program_text (*text_)(std::int64_t scratch) = nullptr;
    program_mode mode_ = program_mode::training;
    std::int64_t steps_ = 0;
    double began_ = 0;
    int threads_ = 1;
};

} // namespace sinter::profile

namespace sinter::inline SINTER_TARGET {

/// What runners on the CPU have.
template <class P>
struct step_counter : profile::step_profile {};

} // namespace sinter
