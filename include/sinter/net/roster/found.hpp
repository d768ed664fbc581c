// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/message.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/one_folder.hpp>
#include <sinter/net/environment.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/net/job_key.hpp>
#include <sinter/net/roster/indexed_job.hpp>
#include <sinter/net/roster/open_mpi.hpp>
#include <sinter/net/roster/slurm.hpp>
#include <sinter/net/roster/tf_config.hpp>
#include <sinter/net/roster/torchrun.hpp>

/// The cluster that this process finds itself in: what the families of variables say, in their
/// order, or a program's arguments.
namespace sinter::inline SINTER_ORDINARY {

namespace wire::roster {

/// The job's name, key and spares, where the options do not say them.
SINTER_COLD inline cluster_options with_job_and_key(cluster_options o, const environment& env) {
    if (o.job.empty()) o.job = env("SINTER_JOB").value_or("");
    if (o.spares == 0) o.spares = variables(env).integer("SINTER_SPARES", 0, most_ranks).value_or(0);
    if (!o.key.empty()) return o;
    const auto key = env("SINTER_KEY"), file = env("SINTER_KEY_FILE");
    if (key && file)
        throw option_error("two keys", "SINTER_KEY and SINTER_KEY_FILE", "both set", "one of them");
    if (key) o.key = *key, check_key_length(o.key, "SINTER_KEY");
    if (!file) return o;
    const auto bytes = io::read_whole_file(*file);
    o.key.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!o.key.empty() && (o.key.back() == '\n' || o.key.back() == '\r')) o.key.pop_back();
    if (o.key.empty() || o.key.size() > 4096)
        throw option_error("no valid key in the file", "SINTER_KEY_FILE " + *file,
                           std::to_string(bytes.size()) + " bytes", "1 to 4096 bytes");
    check_key_length(o.key, "SINTER_KEY_FILE " + *file);
    check_key_file(*file);
    return o;
}

/// TF_CONFIG's model_dir, where the options name no folder. Throws option_error where they name
/// another one, as TensorFlow's RunConfig does, and where it is an address of an object store
/// (gs://bucket), which is no folder of a file system.
SINTER_COLD inline cluster_options with_folder(cluster_options o, const tf_config& tf) {
    if (tf.model_dir.find("://") != std::string::npos)
        throw option_error("checkpoints are kept in a file system", "TF_CONFIG's model_dir",
                           quoted_text(tf.model_dir), "a path of a folder, say where the store is mounted");
    o.folder =
        io::one_folder(o.folder, tf.model_dir, "cluster_options::folder and TF_CONFIG's model_dir");
    return o;
}

/// Throws where SINTER_SIZE says another number of members than were found: a process that trains
/// by itself although it was started as one of several would finish without an error.
SINTER_COLD inline void check_size(const cluster& c, const environment& env) {
    const auto size = variables(env).integer("SINTER_SIZE", 1, most_ranks);
    if (size && *size != c.size())
        throw option_error("the cluster has another size than its launcher gave", "SINTER_SIZE",
                           std::to_string(c.size()) + " that train, by " + c.how(), std::to_string(*size));
}

/// Whether what `outer` says may be true of a launcher within which another one started `c`.
SINTER_COLD inline bool may_contain(const claim& outer, const cluster& c, const claim* inner) {
    if (outer.size == 1) return true;
    if (inner && inner->local_size > 1 && c.size() == outer.size * inner->local_size) return true;
    if (inner && outer.family == "SLURM_*" && inner->family == "OMPI_*") return c.size() >= outer.size;
    if (static_cast<std::size_t>(outer.size) == c.all().size() && outer.size != c.size()) return true;   // with servers
    return outer.size == c.size() && (c.rank() < 0 || c.rank() == outer.rank);
}

} // namespace wire::roster

SINTER_COLD SINTER_APART cluster cluster::from_environment(cluster_options options, const wire::environment& env) {
    using namespace wire::roster;
    options = with_job_and_key(std::move(options), env);
    options.check();
    const auto tf = parse_tf_config(env("TF_CONFIG").value_or(""));
    options = with_folder(std::move(options), tf);
    std::vector<claim> claims;   // in order of precedence
    for (const auto family : {torchrun, kubeflow, open_mpi, pmix, slurm, indexed_job})
        if (auto c = family(env)) claims.push_back(std::move(*c));

    // The first that knows rank and size. Where it knows no address, one that agrees with it may.
    const auto best = std::ranges::find_if(claims, [](const claim& c) { return c.size > 0; });
    claim* const from = best == claims.end() ? nullptr : &*best;
    for (const claim& c : claims)
        if (from && !from->master.known() && c.rank == from->rank && c.size == from->size) from->master = c.master;

    std::optional<cluster> found = to_cluster(tf, options);
    const bool by_claim = !found && from;
    if (by_claim) {
        if (options.job.empty()) options.job = from->job;
        found = with_master(from->rank, from->size, from->master, options, from->needed);
    }
    for (const claim& c : claims)   // of a Job that says no more than an index, nobody may think that it is alone
        if (!found && c.family == "JOB_COMPLETION_INDEX")
            throw option_error(c.missing, c.family, c.variables, c.needed);
    if (!found) found = cluster(), found->options = options;

    const bool alone = !by_claim && tf.jobs.empty();
    const claim* const inner = by_claim ? from : nullptr;
    std::string winner = inner ? inner->variables : "TF_CONFIG", ignored;
    for (const claim& c : claims) {
        if (&c == inner) continue;
        if (c.size > 0 && !alone && !may_contain(c, *found, inner)) {
            const std::string both = (inner ? inner->family : "TF_CONFIG") + " and " + c.family;
            if (!inner) winner += " (" + found->self().name() + " of " + std::to_string(found->size()) + " that train)";
            throw option_error("two sources contradict each other", both, winner + "; " + c.variables,
                               "one of them unset, or both the same");
        }
        if (c.size == 0) ignored += (ignored.empty() ? "" : "; ") + c.variables + " (" + c.missing + ")";
    }
    std::string how = alone ? "a cluster of one" : winner;
    if (!ignored.empty()) how += "; ignored: " + ignored;
    found->explain(how);
    if (!ignored.empty() && env.notes == stderr) base::say(message_level::normal, "ignored: " + ignored);
    else if (!ignored.empty() && env.notes) std::fprintf(env.notes, "sinter: ignored: %s\n", ignored.c_str());
    check_size(*found, env);
    return *found;
}

SINTER_COLD SINTER_APART cluster cluster::from_environment(cluster_options options) {
    return from_environment(std::move(options), wire::environment{});
}

SINTER_COLD SINTER_APART cluster cluster::from_arguments(const cluster_arguments& a, cluster_options options,
                                       const wire::environment& env) {
    const bool any = !a.addresses.empty() || !a.master.empty() || a.rank >= 0 || a.size != 0;
    if (!any) return from_environment(std::move(options), env);
    options = wire::roster::with_job_and_key(std::move(options), env);
    options.check();
    const auto fault = [](const char* what, std::string got, const char* needed) {
        return option_error(what, "the arguments of the cluster", std::move(got), needed);
    };
    if (!a.addresses.empty() && !a.master.empty())
        throw fault("addresses of all and a master", "both", "one of them");
    if (a.addresses.empty() && a.master.empty())
        throw fault("no addresses", "a rank or size alone", "those of all, or a master");
    if (a.rank < 0) throw fault("no rank", "addresses alone", "this process's rank");
    if (!a.master.empty() && a.size == 0) throw fault("no size", "a master and a rank", "the number of ranks");
    const int listed = static_cast<int>(a.addresses.size());
    if (listed != 0 && a.size != 0 && a.size != listed)
        throw fault("two sizes", std::to_string(a.size) + ", and " + std::to_string(listed) + " addresses", "one");
    cluster c = listed ? of(a.addresses, a.rank, std::move(options))
                       : with_master(a.rank, a.size, wire::parse_address(a.master, "the master"), std::move(options));
    c.explain("arguments");
    wire::roster::check_size(c, env);
    return c;
}

SINTER_COLD SINTER_APART cluster cluster::from_arguments(const cluster_arguments& a, cluster_options options) {
    return from_arguments(a, std::move(options), wire::environment{});
}

} // namespace sinter::inline SINTER_ORDINARY
