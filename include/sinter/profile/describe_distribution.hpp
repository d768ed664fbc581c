// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/file_status.hpp>
#include <sinter/profile/distribution/chart.hpp>
#include <sinter/profile/distribution/cluster_text.hpp>
#include <sinter/profile/distribution/profile_of_program.hpp>
#include <sinter/train/chart/svg.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>

/// describe_distribution(model, cluster_model{...}): how a model's training would scale, before
/// machines are rented. A step is simulated event by event (doc/planning.md).
namespace sinter::inline SINTER_TARGET {

/// Prints what a step takes on `m` and on fewer workers, each algorithm beside it, buckets over
/// time, memory, and the largest batch that pays. Throws option_error where `p` or `m` has a figure
/// that cannot be used.
SINTER_COLD inline void describe_distribution(const training_profile& p, const cluster_model& m,
                                              std::FILE* out = stdout) {
    const distribution_plan whole = plan_distribution(p, m);
    const training_profile shown = m.bucket_bytes > 0 ? p.with_buckets_of(m.bucket_bytes) : p;
    profile::print_profile(shown, m, whole, out);
    profile::print_head("algorithm", out);
    for (int n : profile::worker_counts(m.workers)) {
        cluster_model other = m;
        if (profile::other_cluster(other, m.algorithm, n)) profile::print_line(plan_distribution(p, other), out);
    }
    std::fputc('\n', out);
    for (int a = 0; a < 4; ++a) {
        cluster_model other = m;
        const auto algorithm = static_cast<reduction_algorithm>(a);
        if (algorithm != m.algorithm && profile::other_cluster(other, algorithm, m.workers))
            profile::print_line(plan_distribution(p, other), out);
    }
    profile::print_buckets(shown, whole, out);
    profile::print_memory(whole, m, out);
    profile::print_paying(batch_that_pays(p, m), m, out);
}

/// The same figures as a table: a line for each algorithm and number of workers up to m.workers.
SINTER_COLD inline std::string distribution_csv(const training_profile& p, const cluster_model& m) {
    std::string s = profile::plan_columns;
    m.check();
    for (int a = 0; a < 4; ++a)
        for (int n : profile::worker_counts(m.workers)) {
            cluster_model other = m;
            if (profile::other_cluster(other, static_cast<reduction_algorithm>(a), n))
                s += profile::csv_line(plan_distribution(p, other));
        }
    return s;
}
/// And as a picture, SVG.
SINTER_COLD inline std::string distribution_chart(const training_profile& p, const cluster_model& m) {
    m.check();
    return to_svg(profile::charts_of(p, m));
}

/// What decides how a trainer or estimator scales. Where its strategy does not gather gradients in
/// buckets, that of the program that would: naming this compiles that program.
template <class Model>
training_profile profile_of() {
    return profile::profile_of_model<Model>();
}
template <class Model>
void describe_distribution(const Model&, const cluster_model& m, std::FILE* out = stdout) {
    describe_distribution(profile_of<Model>(), m, out);
}

/// What `sinter-launch --plan` asks a program for, by the environment variable SINTER_PLAN: a
/// cluster model's text, and with it csv=FILE and chart=FILE where these are to be written.
struct plan_request {
    cluster_model cluster;
    std::string csv, chart;   ///< paths; empty: not written

    /// Throws format_error or option_error, as cluster_model::parse() does.
    static plan_request parse(std::string_view text) {
        plan_request r;
        for (const profile::text_entry& e : profile::entries_of(text, "SINTER_PLAN")) {
            if (e.key == "csv") r.csv = e.value;
            else if (e.key == "chart") r.chart = e.value;
            else if (!profile::put(r.cluster, e, "SINTER_PLAN")) profile::refuse_key(e, "SINTER_PLAN");
        }
        r.cluster.check();
        return r;
    }
    static std::optional<plan_request> from_environment() {
        const char* const text = std::getenv("SINTER_PLAN");
        if (!text) return {};
        tell_launcher();
        return parse(text);
    }

private:
    /// That this program plans, by the pipe that SINTER_PLAN_FD names (its number, and of which file), if it is there.
    SINTER_COLD static void tell_launcher() {
        const char* const named = std::getenv("SINTER_PLAN_FD");
        long fd = -1;
        unsigned long inode = 0;
        if (!named || std::sscanf(named, "%ld:%lu", &fd, &inode) != 2 || fd < 0 || fd > 1'000'000) return;
        const base::os::file_status s = base::os::status_of(static_cast<int>(fd));
        if (!s || s.number != inode) return;
        constexpr std::byte plans{'p'};
        (void)base::os::write_some(static_cast<int>(fd), {&plans, 1});
    }
};

/// `if (print_plan_if_asked<decltype(estimator{...})>()) return 0;` at the beginning of main,
/// before anything connects: true where SINTER_PLAN is set, and the plan was printed.
template <class Model>
bool print_plan_if_asked(std::FILE* out = stdout) {
    const std::optional<plan_request> asked = plan_request::from_environment();
    if (!asked) return false;
    const training_profile p = profile_of<Model>();
    describe_distribution(p, asked->cluster, out);
    if (!asked->csv.empty()) svg::write(asked->csv, distribution_csv(p, asked->cluster));
    if (!asked->chart.empty()) svg::write(asked->chart, distribution_chart(p, asked->cluster));
    return true;
}

} // namespace sinter
