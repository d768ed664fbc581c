// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/io/file.hpp>
#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace launch {

/// What sinter-launch was asked to do.
struct options {
    int workers = 1, servers = 0, spares = 0;
    bool evaluator = false;
    int restarts = 0;          ///< how often the whole job is started anew after a failure
    int replicas = 1;          ///< 2: servers keep each part twice, and one that fails is treated as with `elastic`
    bool elastic = false;      ///< members may die: `restarts` of them are started again, one by one
    double grace = 10;         ///< seconds that members have to end by themselves before they are killed
    double progress = -1;      ///< seconds between lines of progress; 0: none; -1: by what stderr is
    bool share_cores = true;   ///< each trainer on an even share of the cores
    std::string verbosity;     ///< SINTER_VERBOSITY of all members; empty: as it is
    std::string json;          ///< a file for what members report, as lines of JSON; empty: none
    std::string plan;          ///< not empty: one process, which plans for such a cluster and does not train
    std::vector<std::string> command;
};

inline constexpr const char* usage = R"(usage: sinter-launch -n 4 [options] -- PROGRAM [ARGUMENTS]
Starts PROGRAM once for each member of a cluster on this machine, shows their progress and their output, and ends
when all have ended. The members find each other by cluster::from_environment(). The exit status is 0 if all
members' were, 1 if one failed, 2 for wrong options, 127 if PROGRAM cannot be started, 128 + N after signal N.

)";

inline constexpr std::size_t longest_plan = 1 << 16;   // bytes

/// What --plan says: a description of a cluster, or the name of a file that has one.
inline std::string text_of_plan(std::string text) {
    std::error_code none;
    if (std::filesystem::is_regular_file(text, none)) {
        const auto bytes = sinter::io::read_whole_file(text);
        text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    if (text.empty() || text.size() > longest_plan || text.find('\0') != text.npos)
        throw sinter::option_error("no description of a cluster", "--plan", std::to_string(text.size()) + " bytes",
                                   "1 to 65536 bytes of text, as in \"workers=64 bandwidth=25Gbit/s\"");
    return text;
}

/// Reads the command line; nullopt where it only asks for help, which is printed. Throws
/// sinter::option_error.
inline std::optional<options> parse(int argc, const char* const* argv) {
    namespace po = boost::program_options;
    options o;
    int processes = 0, workers = 0;
    std::string cores = "share";
    po::options_description known("options");
    known.add_options()("processes,n", po::value(&processes)->value_name("N"), 
                        "N workers (the first one is the chief)")(
        "workers", po::value(&workers)->value_name("W"), "the same, beside --ps")(
        "ps", po::value(&o.servers)->value_name("S"), "S parameter servers")(
        "evaluator", po::bool_switch(&o.evaluator), "an evaluator")(
        "restarts", po::value(&o.restarts)->value_name("N"), 
        "start all members again after a failure, N times at most")(
        "elastic", po::bool_switch(&o.elastic),
        "members go on without those that fail; these are started again, --restarts of them at most")(
        "replicas", po::value(&o.replicas)->value_name("N"),
        "2: servers keep each part twice; others go on without one that fails (it is started again: --restarts)")(
        "spares", po::value(&o.spares)->value_name("N"), 
        "N more workers, which wait until they are needed (--elastic)")(
        "grace", po::value(&o.grace)->value_name("SECONDS"), "how long members may take to end by themselves (10)")(
        "progress", po::value(&o.progress)->value_name("SECONDS"),
        "time between lines of progress; 0: none (10; on a terminal all the time)")(
        "json", po::value(&o.json)->value_name("FILE"), "write what members report there, a line of JSON for each")(
        "verbosity", po::value(&o.verbosity)->value_name("quiet|normal|detailed"),
        "which messages members and launcher write (SINTER_VERBOSITY, or normal)")(
        "cores", po::value(&cores)->value_name("share|all"), "each worker has its share of the cores, or all (share)")(
        "plan", po::value(&o.plan)->value_name("TEXT|FILE"),
        "run PROGRAM once: it plans a job of the cluster that TEXT describes, and trains nothing")(
        "help,h", "this");
    int end = 1;   // what follows -- is the program's
    while (end < argc && std::string(argv[end]) != "--") ++end;
    po::variables_map found;
    try {
        po::store(po::command_line_parser(std::vector<std::string>(argv + 1, argv + end))
                      .options(known).positional({}).run(), found);
        po::notify(found);
    } catch (const po::error& e) {
        throw sinter::option_error(e.what(), "the options", "", "options before --, the program after it");
    }
    if (found.count("help")) {
        std::ostringstream text;
        text << usage << known;
        std::fputs(text.str().c_str(), stdout);
        return {};
    }
    const auto range = [](const char* name, double value, double low, double high) {
        if (!(value >= low && value <= high))
            throw sinter::option_error("out of range", name, sinter::base::number_text(value),
                                       sinter::base::number_text(low) + " to " + sinter::base::number_text(high));
    };
    if (found.count("processes") && found.count("workers"))
        throw sinter::option_error("two numbers of workers", "the options", "-n and --workers", "one of them");
    if (found.count("processes")) range("-n", processes, 1, 1000), o.workers = processes;
    if (found.count("workers")) range("--workers", workers, 1, 1000), o.workers = workers;
    range("--ps", o.servers, 0, 1000);
    range("--restarts", o.restarts, 0, 1000000);
    range("--spares", o.spares, 0, 1000);
    if (o.spares > 0 && !o.elastic)
        throw sinter::option_error("spares are for jobs whose members may die", "--spares", std::to_string(o.spares),
                                   "--elastic");
    range("--replicas", o.replicas, 1, 2);
    if (o.replicas == 2 && o.servers < 2)
        throw sinter::option_error("one server cannot keep its part twice", "--replicas 2", std::to_string(o.servers),
                                   "--ps 2 or more");
    range("--grace", o.grace, 0, 86400);
    if (found.count("progress")) range("--progress", o.progress, 0, 86400);
    if (found.count("verbosity") && o.verbosity != "quiet" && o.verbosity != "normal" && o.verbosity != "detailed")
        throw sinter::option_error("no such choice", "--verbosity", o.verbosity, "quiet, normal or detailed");
    if (cores != "share" && cores != "all")
        throw sinter::option_error("no such choice", "--cores", cores, "share or all");
    o.share_cores = cores == "share";
    if (end < argc) o.command.assign(argv + end + 1, argv + argc);
    if (o.command.empty())
        throw sinter::option_error("no program", "the options", "", "-- PROGRAM [ARGUMENTS] (see --help)");
    if (found.count("plan")) o.plan = text_of_plan(o.plan);
    return o;
}

} // namespace launch
