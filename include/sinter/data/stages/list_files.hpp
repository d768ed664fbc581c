// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/file_paths.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <memory>
#if SINTER_BODIES
#include <sinter/base/os/paths_like.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct list_files_options {
    bool shuffle = true;      ///< in another order each pass, the same for equal (seed, pass); else by their bytes
    std::uint64_t seed = 0;
};

/// Paths, found once.
class listed_files {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = std::string;
    struct state {
        std::shared_ptr<const stage_parts::pass_order> order;   ///< null: they are not shuffled
    };

    listed_files(std::vector<std::string> paths, list_files_options o)
        : paths_(std::make_shared<const file_paths>(std::move(paths))), options_(o) {
        const std::uint64_t seed = base::stream(o.seed, base::fnv1a("data/list_files"));
        if (o.shuffle) orders_ = std::make_shared<stage_parts::pass_orders>(size(), seed);
    }
    std::int64_t size() const { return static_cast<std::int64_t>(paths_->size()); }
    void begin(state& s, std::int64_t pass) const {
        if (orders_) s.order = orders_->of(pass);
    }
    const std::string& get(state& s, std::int64_t i) const {
        return (*paths_)[static_cast<std::size_t>(s.order ? (*s.order)(i) : i)];
    }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const {
        d.stage("list of files");
        stage_parts::describe_names(d, *paths_);
        d("shuffle", options_.shuffle)("seed", options_.seed);
    }

private:
    std::shared_ptr<const file_paths> paths_;
    list_files_options options_;
    std::shared_ptr<stage_parts::pass_orders> orders_;
};

/// The paths that match patterns, as the shell has them (*, ?, [a-c]; names that begin with a dot are left out), each
/// once: an indexed stage of std::string, shuffled unless told otherwise, as tf.data.Dataset.list_files is.
///
///     auto train = data::list_files("train-*.csv") | data::interleave([](const std::string& path) {
///         return data::csv::stream<passenger>(path);
///     });
///
/// They are looked for when this is called. data_error where no file matches any of the patterns; io_error where a
/// folder cannot be read.
SINTER_SELDOM SINTER_COLD listed_files list_files(file_paths patterns, list_files_options o = {});

#if SINTER_BODIES
SINTER_SELDOM_BODY listed_files list_files(file_paths patterns, list_files_options o) {
    stage_parts::need_files(patterns, "list_files");
    std::vector<std::string> paths;
    std::string all;
    for (const std::string& pattern : patterns) {
        io::need_whole_path(pattern);
        int fault = 0;
        const std::vector<std::string> found = base::os::paths_like(pattern, fault);
        if (fault) io::throw_io_error(fault, "cannot list files", pattern);
        paths.insert(paths.end(), found.begin(), found.end());
        all += to_text({all.empty() ? "" : ", ", pattern});
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    if (paths.empty()) throw data_error("no files match", all, "none", "one file or more");
    return listed_files(std::move(paths), o);
}
#endif

} // namespace sinter::data
