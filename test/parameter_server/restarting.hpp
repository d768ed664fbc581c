// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <filesystem>
#include <fstream>
#include "job.hpp"

/// Servers that save their shards, and workers that go on after a server was away.
namespace sinter::server_job {

/// A shard in one file, whole or not there.
class one_file : public shard_files {
public:
    explicit one_file(std::string at) : at_(std::move(at)) {}
    void save(const shard_view& v, const std::string&) override {
        {
            std::ofstream out(at_ + ".new", std::ios::binary);
            const auto n = static_cast<std::int64_t>(v.log.size());
            out.write(reinterpret_cast<const char*>(&v.global_step), 8).write(reinterpret_cast<const char*>(&n), 8);
            out.write(v.log.data(), n).write(reinterpret_cast<const char*>(v.values), v.layout->floats * 4);
        }
        std::filesystem::rename(at_ + ".new", at_);
    }
    bool load(shard_view& v) override {
        std::ifstream in(at_, std::ios::binary);
        std::int64_t n = 0;
        if (!in.read(reinterpret_cast<char*>(&v.global_step), 8).read(reinterpret_cast<char*>(&n), 8)) return false;
        v.log.resize(static_cast<std::size_t>(n));
        return bool(in.read(v.log.data(), n).read(reinterpret_cast<char*>(v.values), v.layout->floats * 4));
    }
    /// The values of a file of this job's.
    std::vector<float> values(const job& j) {
        std::vector<float> x(static_cast<std::size_t>(j.floats));
        const shard_layout layout = j.layout()[0];
        shard_view v;
        v.layout = &layout;
        v.values = x.data();
        return load(v) ? x : std::vector<float>();
    }

private:
    std::string at_;
};

class folder {
public:
    folder() : at_(std::filesystem::temp_directory_path() / ("sinter-restarts-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(at_);
    }
    ~folder() { std::filesystem::remove_all(at_); }
    std::string file(int server) const { return (at_ / std::to_string(server)).string(); }

private:
    std::filesystem::path at_;
};

inline std::string serve(const job& j, int s, const std::string& file) {
    server_options with;
    with.files = std::make_shared<one_file>(file);
    with.save_every_steps = 10;
    return j.serve(s, with);
}
inline std::string push_until_enough(const job& j, int w, shared_counts& counts) {
    client c(j.worker(w), j.identity(), j.layout(), {.reconnect_within = 20});
    if (w == 0) j.begin(c);
    c.wait_until_open();
    pusher mine(c, j, w);
    while (!counts.enough && c.may_step()) mine.push(counts), ::usleep(300);
    std::string text = "left";
    if (w == 0) {
        c.wait_for_others();
        text.clear();
        for (int s = 0; s < j.servers; ++s)
            text += std::to_string(static_cast<std::int64_t>(common_value(c, j, s))) + ' ';
    }
    c.leave();
    return text;
}
inline std::int64_t sum(const std::atomic<std::int64_t>* x, int n) {
    return std::accumulate(x, x + n, std::int64_t{0});
}

/// What a server that was killed must have at the end: what its last checkpoint had and what was pushed since.
class after_kills {
public:
    /// It has just been killed, and its file is as it will find it.
    void killed(const job& j, const std::string& file, const shared_counts& counts) {
        const std::vector<float> x = one_file(file).values(j);
        bool whole = !x.empty();
        for (const float v : x) whole = whole && v == x[0];
        broken_ |= !whole || x[0] < saved_;
        if (whole) saved_ = static_cast<std::int64_t>(x[0]);
        acknowledged_ = sum(counts.acknowledged, shared_counts::most);
        begun_ = sum(counts.begun, shared_counts::most);
    }
    /// What is wrong; empty: nothing.
    std::string trouble(std::int64_t value, const shared_counts& counts) const {
        const std::int64_t least = saved_ + sum(counts.acknowledged, shared_counts::most) - begun_,
                           most = saved_ + sum(counts.begun, shared_counts::most) - acknowledged_;
        if (!broken_ && value >= least && value <= most) return {};
        return std::to_string(least) + " <= " + std::to_string(value) + " <= " + std::to_string(most) +
               (broken_ ? "; a checkpoint was broken" : "");
    }

private:
    std::int64_t saved_ = 0, acknowledged_ = 0, begun_ = 0;
    bool broken_ = false;
};

} // namespace sinter::server_job
