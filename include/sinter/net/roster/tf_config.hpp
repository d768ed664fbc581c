// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/json_reader.hpp>
#include <sinter/net/cluster.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace sinter::inline SINTER_ORDINARY::wire::roster {

/// TF_CONFIG as TensorFlow reads it: jobs of any name, and the task that this process is. Whether
/// the jobs are roles that Sinter knows, `to_cluster` asks. Unknown keys are ignored. Sources:
/// tfconfig_cluster_resolver.py, run_config.py.
struct tf_config {
    std::map<std::string, std::map<int, std::string>> jobs;   ///< address by index, by job
    std::optional<std::string> type;                          ///< task.type
    std::optional<int> index;                                 ///< task.index, not negative
    std::string rpc_layer, session_master, eval_session_master, model_dir;

    SINTER_COLD std::size_t tasks() const {
        std::size_t n = 0;
        for (const auto& [name, addresses] : jobs) n += addresses.size();
        return n;
    }
    /// What TensorFlow would connect to: session_master; nothing where there is one task at most;
    /// the address of the task (this process's if not given), behind the RPC layer.
    SINTER_COLD std::string master(const std::optional<std::string>& job = {}, std::optional<int> task = {}) const {
        if (!session_master.empty()) return session_master;
        const auto& j = job ? job : type;
        if (tasks() < 2 || !j) return "";
        const auto found = jobs.find(*j);
        if (found == jobs.end()) return "";
        const auto at = found->second.find(task ? *task : index.value_or(0));
        if (at == found->second.end()) return "";
        return (rpc_layer.empty() ? "" : rpc_layer + "://") + at->second;
    }
    /// This task's place among all: the chief first, parameter servers last, other jobs by name
    /// between them; nullopt for a task that is not in the cluster, as an evaluator.
    SINTER_COLD std::optional<int> global_id() const {
        if (!type) return 0;
        const auto place = [](const std::string& job) {
            return std::pair(job == "chief" || job == "master" ? 0 : job == "ps" ? 2 : 1, job);
        };
        int before = 0;
        for (const auto& [name, addresses] : jobs)
            if (place(name) < place(*type)) before += static_cast<int>(addresses.size());
        if (jobs.empty()) return index.value_or(0);
        const auto own = jobs.find(*type);
        if (own == jobs.end()) return {};
        for (const auto& [i, address] : own->second) {
            if (i == index.value_or(0)) return before;
            ++before;
        }
        return {};
    }
};

inline constexpr std::size_t longest_tf_config = std::size_t{4} << 20;   // bytes; 10^5 tasks take 3 MB

namespace detail {

/// Reads one TF_CONFIG; the members are the levels of the text.
class tf_config_reader {
public:
    explicit tf_config_reader(std::string_view text) : in_(text, "TF_CONFIG", 0, "text") {}

    SINTER_COLD tf_config read() {
        each_once([&](const std::string& key) {
            if (key == "cluster") cluster();
            else if (key == "task") task();
            else if (key == "rpc_layer") out_.rpc_layer = string("a string");
            else if (key == "session_master") out_.session_master = string("a string");
            else if (key == "eval_session_master") out_.eval_session_master = string("a string");
            else if (key == "sparseCluster") {   // Kubeflow's: of the workers, each is given itself
                in_.fail("\"cluster\", and not a TFJob's \"sparseCluster\": leave enableDynamicWorker out");
            } else if (key == "model_dir") {
                if (in_.peek() == '"' && (out_.model_dir = in_.string()).empty())
                    in_.fail("model_dir to be a path, or not there");
                else if (out_.model_dir.empty()) null_or("a string");
            } else if (key == "service" && in_.peek() != '{') null_or("an object, for the key \"service\"");
            else in_.skip();
        });
        in_.end();
        return std::move(out_);
    }

private:
    /// An object whose keys differ from each other; `member` consumes the value.
    SINTER_COLD void each_once(const std::function<void(const std::string&)>& member) {
        std::set<std::string> seen;
        in_.object([&](std::string key) {
            if (!seen.insert(key).second) in_.fail("the key " + quoted_text(key) + " once");
            member(key);
        });
    }
    SINTER_COLD void null_or(const char* needed) {
        const bool literal = in_.peek() == 'n';
        if (!literal) in_.fail(needed);
        in_.scalar();
    }
    SINTER_COLD std::string string(const char* needed) {
        if (in_.peek() == '"') return in_.string();
        null_or(needed);
        return "";
    }
    SINTER_COLD void cluster() {
        if (in_.peek() != '{') return null_or("an object of jobs, as in {\"worker\": [\"host:port\"]}");
        each_once([&](const std::string& job) {
            auto& addresses = out_.jobs[job];
            const std::string needed = "an address for " + quoted_text(job) + " as a string, \"host:port\"";
            const auto address = [&](int index) {
                if (in_.peek() != '"') in_.fail(needed);
                if (out_.tasks() == largest_cluster) in_.fail("at most 100000 tasks");
                addresses[index] = in_.string();
            };
            if (in_.peek() == '[') {
                in_.array([&] { address(static_cast<int>(addresses.size())); });
            } else if (in_.peek() == '{') {
                each_once([&](const std::string& key) {
                    const auto index = wire::integer(key, 0, 0x7fffffff);
                    if (!index || addresses.contains(static_cast<int>(*index)))
                        in_.fail("indices of " + quoted_text(job) + ", each once, not " + quoted_text(key));
                    address(static_cast<int>(*index));
                });
            } else {
                in_.fail("a list of the addresses of " + quoted_text(job) + ", or an object of them by index");
            }
            if (addresses.empty()) out_.jobs.erase(job);
        });
    }
    SINTER_COLD void task() {
        if (in_.peek() != '{') return null_or("an object, as in {\"type\": \"worker\", \"index\": 0}");
        each_once([&](const std::string& key) {
            if (key != "type" && key != "index") return in_.skip();
            const char c = in_.peek();
            if (c == '{' || c == '[') in_.fail("a plain value for task." + key);
            const std::string value = c == '"' ? in_.string() : std::string(in_.scalar());
            if (c == 'n') return;   // null: as if it were not there
            if (key == "type") {
                out_.type = value;
            } else {
                const auto index = wire::integer(value, 0, 0x7fffffff);
                if (!index) in_.fail("task.index to be an integer that is not negative, not " + quoted_text(value));
                out_.index = static_cast<int>(*index);
            }
        });
    }

    io::json_reader in_;
    tf_config out_;
};

} // namespace detail

/// Reads the text of TF_CONFIG. Throws option_error that says at which byte what was needed.
SINTER_COLD inline tf_config parse_tf_config(std::string_view text) {
    if (text.size() > longest_tf_config)
        throw option_error("text is too long", "TF_CONFIG", std::to_string(text.size()) + " bytes",
                           "at most " + std::to_string(longest_tf_config));
    if (text.find_first_not_of(" \t\r\n") == text.npos) return {};
    if (!base::is_utf8(text)) throw option_error("text is not UTF-8", "TF_CONFIG", "other bytes", "UTF-8 (RFC 3629)");
    try {
        return detail::tf_config_reader(text).read();
    } catch (const format_error& e) {
        throw option_error(e.fault(), e.where(), e.got(), e.needed());
    }
}

/// The cluster that TF_CONFIG describes: jobs named chief (or, as of old, master), worker, ps and
/// evaluator. nullopt where it describes none, so that this process is alone. Throws option_error.
SINTER_COLD inline std::optional<sinter::cluster> to_cluster(const tf_config& config, cluster_options options) {
    const auto fault = [](const char* what, std::string got, const char* needed) {
        return option_error(what, "TF_CONFIG", std::move(got), needed);
    };
    if (config.jobs.empty()) {
        if (config.type && *config.type != "worker")
            throw fault("a task without a cluster", "task.type " + quoted_text(*config.type),
                        "task.type \"worker\", or a \"cluster\"");
        if (config.index.value_or(0) != 0)
            throw fault("a task without a cluster", "task.index " + std::to_string(*config.index),
                        "task.index 0, or a \"cluster\"");
        return {};
    }
    const bool master = config.jobs.contains("master");
    const auto role_of = [&](const std::string& name) {
        for (const auto role : {cluster_role::chief, cluster_role::worker, cluster_role::ps, cluster_role::evaluator})
            if (name == text_of(role) || (role == cluster_role::chief && name == "master")) return role;
        throw fault("no such role", quoted_text(name), "chief, worker, ps or evaluator");
    };
    if (master && config.jobs.contains("chief"))
        throw fault("two names for one role", "jobs \"master\" and \"chief\"", "one of them; \"chief\" is today's");
    std::vector<cluster_member> members;
    for (const auto& [name, addresses] : config.jobs)
        for (const auto& [index, address] : addresses) {
            cluster_member m{role_of(name), index, "", 0};
            const auto [host, port] = parse_address(address, "TF_CONFIG, " + m.name());
            m.host = host, m.port = port;
            members.push_back(std::move(m));
        }
    if (!config.type) throw fault("a cluster without this process's task", "no task.type", "task.type and task.index");
    if (!config.index)
        throw fault("a cluster without this process's task", "no task.index", "task.type and task.index");
    const cluster_role role = role_of(*config.type);
    if (master && role == cluster_role::evaluator)
        throw fault("an evaluator beside a \"master\", which evaluates itself", "job \"master\"", "job \"chief\"");
    return sinter::cluster(std::move(members), role, *config.index, std::move(options), "TF_CONFIG");
}

} // namespace sinter::inline SINTER_ORDINARY::wire::roster
