// SPDX-License-Identifier: BSL-1.0
// shows joining: the job's description in the environment: one world is refused where the launcher gave four
// The roster from what each launcher sets, which of several counts, what is ignored and what is refused.
#define BOOST_TEST_MODULE net_from_environment
#include <boost/test/unit_test.hpp>
#include <sinter/net/from_environment.hpp>
#include <support/refusals.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using sinter_test::refused, sinter_test::says;

namespace {

using variables = std::map<std::string, std::string>;
wire::environment given(const variables& v) {
    return {[v](const char* name) {
                const auto at = v.find(name);
                return at == v.end() ? std::nullopt : std::optional<std::string>(at->second);
            },
            nullptr};
}
cluster from(const variables& v, cluster_options o = {}) { return cluster::from_environment(std::move(o), given(v)); }
std::string refused_from(const variables& v) {
    return refused([&] { from(v); });
}
variables operator+(variables a, const variables& b) {
    for (const auto& [name, value] : b) a[name] = value;
    return a;
}
variables without(variables v, const char* name) {
    v.erase(name);
    return v;
}

const variables tf{{"TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}})"}};
const variables torch{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "m"}, {"MASTER_PORT", "29500"}};
const variables pet{{"PET_NNODES", "2"}, {"PET_NODE_RANK", "1"}, {"PET_NPROC_PER_NODE", "auto"},
                    {"PET_MASTER_ADDR", "t-node-0-0.t"}, {"PET_MASTER_PORT", "29400"}, {"JOB_COMPLETION_INDEX", "1"}};
const variables mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                    {"PMIX_NAMESPACE", "1744502785"}, {"PMIX_RANK", "1"}};
const variables slurm{{"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"},
                      {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_JOB_NODELIST", "node[01-03,7]"},
                      {"SLURM_STEP_NODELIST", "node[02-03]"}};
const variables job{{"JOB_COMPLETION_INDEX", "1"}, {"SINTER_SIZE", "2"}, {"SINTER_MASTER", "train-0.train:2222"}};

} // namespace

BOOST_AUTO_TEST_CASE(nothing_is_a_cluster_of_one) {
    const variables empty{{"TF_CONFIG", "{}"}, {"RANK", ""}};
    for (const variables& v : {variables{}, variables{{"TF_CONFIG", ""}}, empty}) {
        const cluster c = from(v);
        BOOST_TEST(c.size() == 1);
        BOOST_TEST(c.is_chief());
        BOOST_TEST(c.how() == "a cluster of one");
    }
}

BOOST_AUTO_TEST_CASE(each_family) {
    const struct {
        variables set;
        const char* master;
        const char* how;
    } families[]{
        {tf, "a:1", "TF_CONFIG"},
        {torch, "m:29500", "WORLD_SIZE=2"},
        {torch + variables{{"TORCHELASTIC_USE_AGENT_STORE", "True"}}, "m:29501", "RANK=1"},   // torchrun is at 29500
        {torch + variables{{"MASTER_ADDR", "fd00::2"}}, "[fd00::2]:29500", "RANK=1"},
        {torch + variables{{"SINTER_MASTER", "x:5"}}, "x:5", "RANK=1"},
        {pet, "t-node-0-0.t:29400", "PET_NNODES=2"},
        {mpi + variables{{"SINTER_MASTER", "node1:5"}}, "node1:5", "OMPI_COMM_WORLD_RANK=1"},
        {mpi + variables{{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "6"}}, "node1:6", "OMPI_COMM_WORLD_SIZE=2"},
        {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"SINTER_MASTER", "node1:5"}}, "node1:5", "PMI_RANK=1"},
        {{{"PMIX_RANK", "1"}, {"SLURM_NTASKS", "2"}, {"SINTER_MASTER", "node1:5"}}, "node1:5", "PMIX_RANK=1"},
        {slurm + variables{{"SINTER_MASTER", "node02:5"}}, "node02:5", "SLURM_PROCID=1"},
        {job, "train-0.train:2222", "JOB_COMPLETION_INDEX=1"},
    };
    for (const auto& f : families)
        BOOST_TEST_CONTEXT(f.how << " with master " << f.master) {
            const cluster c = from(f.set);
            BOOST_TEST(c.rank() == 1);
            BOOST_TEST(c.size() == 2);
            BOOST_TEST(!c.is_chief());
            BOOST_TEST(text_of(c.master()) == f.master);
            BOOST_TEST(c.how().find(f.how) != std::string::npos);
        }
}

BOOST_AUTO_TEST_CASE(ports_that_all_derive_from_the_jobs_name) {
    const cluster a = from(mpi), b = from(mpi + variables{{"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}});
    BOOST_TEST(a.master().host == "127.0.0.1");
    BOOST_TEST(text_of(a.master()) == text_of(b.master()));
    BOOST_TEST(a.master().port >= 16384);
    BOOST_TEST(a.master().port < 32768);
    BOOST_TEST(from(mpi + variables{{"PMIX_NAMESPACE", "2"}}).master().port != a.master().port);
    const cluster s = from(slurm);
    BOOST_TEST(s.master().host == "node02");   // of the step, not of the job
    BOOST_TEST(s.master().port != from(slurm + variables{{"SLURM_STEP_ID", "1"}}).master().port);
    BOOST_TEST(s.options.job == "slurm-77.0");
    BOOST_TEST(from(slurm + variables{{"SLURM_STEP_NODELIST", "node[02]"}}).master().host == "127.0.0.1");
    // On several hosts, mpirun's variables do not tell where rank 0 is. Programs that talk over MPI need no address.
    const cluster apart = from(mpi + variables{{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}});
    BOOST_TEST(apart.size() == 2);
    BOOST_TEST(says(refused([&] { apart.master(); }), {"address of rank 0", "mpirun -x SINTER_MASTER="}));
    const cluster placed = from(slurm + variables{{"SLURM_DISTRIBUTION", "arbitrary"}});
    BOOST_TEST(says(refused([&] { placed.master(); }), {"SINTER_MASTER", "arbitrarily"}));
    BOOST_TEST(says(refused([&] { from(without(torch, "MASTER_PORT")).master(); }), {"MASTER_ADDR and MASTER_PORT"}));
}

BOOST_AUTO_TEST_CASE(precedence) {
    const variables all = tf + torch + pet + mpi + slurm + job;
    BOOST_TEST(from(all).how() == "TF_CONFIG");
    BOOST_TEST(from(without(all, "TF_CONFIG")).how() == "RANK=1, WORLD_SIZE=2");
    BOOST_TEST(from(pet + mpi + slurm + job).how() == "PET_NODE_RANK=1, PET_NNODES=2");
    BOOST_TEST(from(mpi + slurm + job).how() == "OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=2");
    BOOST_TEST(from(slurm + job).how() == "SLURM_PROCID=1, SLURM_STEP_NUM_TASKS=2");
    cluster_arguments a;
    a.addresses = {"x:1", "y:1", "z:1"};
    a.rank = 2;
    BOOST_TEST(cluster::from_arguments(a, {}, given(without(all, "SINTER_SIZE"))).size() == 3);
    // One that knows no address gives way to one that does.
    BOOST_TEST(from(without(torch, "MASTER_PORT") + slurm).master().host == "node02");
}

BOOST_AUTO_TEST_CASE(half_set_families_are_named_and_ignored) {
    const struct {
        variables set;
        std::initializer_list<const char*> says;
    } halves[]{
        {{{"WORLD_SIZE", "4"}}, {"ignored: WORLD_SIZE=4 (RANK is not set)"}},
        {{{"RANK", "admiral"}}, {"RANK=admiral (WORLD_SIZE is not set)"}},
        {{{"PET_NNODES", "2"}}, {"PET_NNODES=2 (PET_NODE_RANK is not set)"}},
        {{{"PET_NNODES", "1:4"}, {"PET_NODE_RANK", "0"}}, {"PET_NNODES", "1:4", "torchrun"}},
        {{{"OMPI_COMM_WORLD_SIZE", "4"}}, {"OMPI_COMM_WORLD_SIZE=4 (OMPI_COMM_WORLD_RANK is not set)"}},
        {{{"PMIX_RANK", "0"}}, {"PMIX_RANK=0", "how many"}},
        {{{"SLURM_JOB_ID", "7"}}, {"SLURM_JOB_ID=7 (not started by srun)"}},
        {{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}},
         {"SLURM_NTASKS=4", "not started by srun"}},
        {slurm + variables{{"SLURM_STEP_ID", "4294967291"}}, {"not started by srun"}},   // the script of sbatch
        {without(slurm, "SLURM_PROCID"), {"SLURM_STEP_NUM_TASKS=2 (SLURM_PROCID is not set)"}},
    };
    for (const auto& h : halves) {
        const cluster alone = from(h.set);
        BOOST_TEST(alone.size() == 1);
        BOOST_TEST(says(alone.how(), {"a cluster of one; ignored: "}));
        BOOST_TEST(says(alone.how(), h.says));
        const cluster both = from(h.set + tf);
        BOOST_TEST(both.size() == 2);
        BOOST_TEST(says(both.how(), {"TF_CONFIG; ignored: "}));
        BOOST_TEST(says(both.how(), h.says));
    }
}

BOOST_AUTO_TEST_CASE(ignored_variables_are_reported_in_one_line) {
    std::FILE* notes = std::tmpfile();
    wire::environment env = given({{"WORLD_SIZE", "4"}, {"SLURM_JOB_ID", "7"}});
    env.notes = notes;
    cluster::from_environment({}, env);
    std::rewind(notes);
    char line[500]{};
    BOOST_TEST(std::fread(line, 1, sizeof line - 1, notes) > 0u);
    BOOST_TEST(std::string(line) ==
               "sinter: ignored: WORLD_SIZE=4 (RANK is not set); SLURM_JOB_ID=7 (not started by srun)\n");
    std::fclose(notes);
}

BOOST_AUTO_TEST_CASE(contradictions_name_both) {
    const auto tf_and = [](const variables& v) { return refused_from(tf + v); };
    BOOST_TEST(says(tf_and(torch + variables{{"WORLD_SIZE", "4"}}),
                    {"TF_CONFIG and RANK and WORLD_SIZE", "worker/1 of 2", "WORLD_SIZE=4"}));
    BOOST_TEST(says(tf_and(torch + variables{{"RANK", "0"}}), {"contradict", "TF_CONFIG", "RANK=0"}));
    BOOST_TEST(says(tf_and(mpi + variables{{"OMPI_COMM_WORLD_SIZE", "3"}}),
                    {"TF_CONFIG and OMPI_*", "OMPI_COMM_WORLD_SIZE=3"}));
    BOOST_TEST(says(tf_and(slurm + variables{{"SLURM_STEP_NUM_TASKS", "4"}}),
                    {"TF_CONFIG and SLURM_*", "SLURM_STEP_NUM_TASKS=4"}));
    BOOST_TEST(says(refused_from(torch + mpi + variables{{"OMPI_COMM_WORLD_SIZE", "4"}}),
                    {"RANK and WORLD_SIZE and OMPI_*", "WORLD_SIZE=2", "OMPI_COMM_WORLD_SIZE=4"}));
    BOOST_TEST(says(refused_from(torch + slurm + variables{{"SLURM_PROCID", "0"}}), {"RANK=1", "SLURM_PROCID=0"}));
    BOOST_TEST(says(refused_from(mpi + slurm + variables{{"SLURM_STEP_NUM_TASKS", "4"}}),
                    {"OMPI_*", "SLURM_STEP_NUM_TASKS=4"}));
    // srun started two, each of which thinks that it is alone.
    BOOST_TEST(says(refused_from(slurm + torch + variables{{"RANK", "0"}, {"WORLD_SIZE", "1"}}),
                    {"WORLD_SIZE=1", "SLURM_PROCID=1"}));
}

BOOST_AUTO_TEST_CASE(launchers_within_launchers) {
    // torchrun with four processes on each of Slurm's two nodes; mpirun, whose daemons srun started; a launcher
    // in the one task of a step
    const variables eight = torch + variables{{"RANK", "6"}, {"WORLD_SIZE", "8"}, {"LOCAL_WORLD_SIZE", "4"}};
    BOOST_TEST(from(eight + slurm).rank() == 6);
    BOOST_TEST(from(mpi + slurm + variables{{"OMPI_COMM_WORLD_SIZE", "5"}, {"OMPI_COMM_WORLD_RANK", "3"},
                                        {"PMIX_RANK", "3"}}).size() == 5);
    BOOST_TEST(from(tf + slurm + variables{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}).size() == 2);
    // srun starts workers and servers alike.
    const variables three{{"TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"], "ps": ["c:1"]},
                                            "task": {"type": "ps", "index": 0}})"}};
    BOOST_TEST(from(three + slurm + variables{{"SLURM_STEP_NUM_TASKS", "3"}, {"SLURM_PROCID", "2"}}).rank() == -1);
}

BOOST_AUTO_TEST_CASE(malformed_values) {
    BOOST_TEST(says(refused_from(torch + variables{{"RANK", "admiral"}}), {"RANK", "\"admiral\"", "0 to 99999"}));
    BOOST_TEST(says(refused_from(torch + variables{{"RANK", "2"}}), {"RANK=2, WORLD_SIZE=2", "RANK below WORLD_SIZE"}));
    BOOST_TEST(says(refused_from(torch + variables{{"RANK", "-1"}}), {"RANK", "-1"}));
    BOOST_TEST(says(refused_from(torch + variables{{"WORLD_SIZE", "0"}}), {"WORLD_SIZE", "1 to 100000"}));
    BOOST_TEST(says(refused_from(torch + variables{{"MASTER_PORT", "70000"}}), {"MASTER_PORT", "70000"}));
    BOOST_TEST(says(refused_from(torch + variables{{"MASTER_ADDR", "a b"}}), {"MASTER_ADDR", "\"a b\""}));
    BOOST_TEST(says(refused_from(slurm + variables{{"SLURM_STEP_NODELIST", "node["}}), {"SLURM_STEP_NODELIST"}));
    BOOST_TEST(says(refused_from(pet + variables{{"PET_NPROC_PER_NODE", "4"}}),
                    {"PET_NPROC_PER_NODE", "numProcPerNode", "torchrun"}));
    BOOST_TEST(says(refused_from(job + variables{{"SINTER_MASTER", "train-0"}}), {"SINTER_MASTER", "host:port"}));
    BOOST_TEST(says(refused_from({{"SINTER_SIZE", "many"}}), {"SINTER_SIZE", "many"}));
}

BOOST_AUTO_TEST_CASE(launcher_of_four_refuses_a_world_of_one) {
    BOOST_TEST(says(refused_from({{"SINTER_SIZE", "4"}}),
                    {"SINTER_SIZE", "1 that train, by a cluster of one", "needed 4"}));
    BOOST_TEST(says(refused_from(tf + variables{{"SINTER_SIZE", "4"}}), {"2 that train, by TF_CONFIG", "needed 4"}));
    BOOST_TEST(from(tf + variables{{"SINTER_SIZE", "2"}}).size() == 2);
    // All ranks and no address: never a world of one without a word.
    BOOST_TEST(from(without(torch, "MASTER_ADDR")).size() == 2);
    cluster_arguments a;
    a.addresses = {"x:1"};
    a.rank = 0;
    BOOST_TEST(says(refused([&] { cluster::from_arguments(a, {}, given({{"SINTER_SIZE", "4"}})); }), {"needed 4"}));
}

BOOST_AUTO_TEST_CASE(an_indexed_job_without_more_gets_its_yaml) {
    const std::string fault = refused_from({{"JOB_COMPLETION_INDEX", "1"}});
    BOOST_TEST(says(fault, {"JOB_COMPLETION_INDEX=1", "completionMode: Indexed", "subdomain: train", "clusterIP: None",
                           "SINTER_SIZE, value: \"4\"", "SINTER_MASTER, value: \"train-0.train:2222\""}));
    const cluster c = from(without(job, "SINTER_MASTER"));
    BOOST_TEST(says(refused([&] { c.master(); }), {"SINTER_MASTER", "completionMode: Indexed"}));
    BOOST_TEST(from({{"JOB_COMPLETION_INDEX", "3"}, {"SINTER_SIZE", "1"}}).size() == 1);
    BOOST_TEST(text_of(from(without(torch, "RANK") + variables{{"JOB_COMPLETION_INDEX", "1"}}).master()) == "m:29500");
}

BOOST_AUTO_TEST_CASE(arguments) {
    const auto read = [](cluster_arguments a) { return cluster::from_arguments(a, {}, given(torch)); };
    BOOST_TEST(read({}).how() == "RANK=1, WORLD_SIZE=2");
    const cluster all = read({{"a:1", "b:1", "c:1"}, "", 2, 0}), master = read({{}, "m:1", 3, 4});
    BOOST_TEST(all.rank() == 2);
    BOOST_TEST(all.addresses_known());
    BOOST_TEST(master.size() == 4);
    BOOST_TEST(text_of(master.master()) == "m:1");
    BOOST_TEST(says(refused([&] { read({{"a:1"}, "m:1", 0, 1}); }), {"one of them"}));
    BOOST_TEST(says(refused([&] { read({{}, "", 0, 2}); }), {"no addresses"}));
    BOOST_TEST(says(refused([&] { read({{"a:1", "b:1"}, "", -1, 0}); }), {"no rank"}));
    BOOST_TEST(says(refused([&] { read({{}, "m:1", 0, 0}); }), {"no size"}));
    BOOST_TEST(says(refused([&] { read({{"a:1", "b:1"}, "", 0, 3}); }), {"3, and 2 addresses"}));
    BOOST_TEST(says(refused([&] { read({{"a:1", "b:1"}, "", 2, 0}); }), {"worker/2"}));
    BOOST_TEST(says(refused([&] { read({{"a:1", "a"}, "", 0, 0}); }), {"worker/1", "no port"}));
}

// What TensorFlow's RunConfig does with model_dir (run_config_test, RunConfigModelDirTest), of
// which the options' folder stands for what its constructor is given.
BOOST_AUTO_TEST_CASE(folder_of_the_checkpoints) {
    cluster_options same, other;
    same.folder = "/tmp/123", other.folder = "/tmp/456";
    const variables alone{{"TF_CONFIG", R"({"model_dir": "/tmp/123"})"}};
    const variables two{{"TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:2"]}, "model_dir": "/tmp/123",
                                          "task": {"type": "worker", "index": 1}})"}};
    BOOST_TEST(from({}).options.folder == "");
    BOOST_TEST(from(tf).options.folder == "");
    BOOST_TEST(from({}, other).options.folder == "/tmp/456");
    BOOST_TEST(from(tf, other).options.folder == "/tmp/456");
    for (const variables& v : {alone, two, alone + torch}) {
        BOOST_TEST(from(v).options.folder == "/tmp/123");
        BOOST_TEST(from(v, same).options.folder == "/tmp/123");
        BOOST_TEST(says(refused([&] { from(v, other); }),
                        {"two folders", "cluster_options::folder", "model_dir", "/tmp/456", "/tmp/123"}));
    }
    BOOST_TEST(from(alone).size() == 1);
    BOOST_TEST(says(refused_from({{"TF_CONFIG", R"({"model_dir": ""})"}}), {"model_dir"}));
    for (const char* store : {"gs://bucket/run", "s3://bucket", "hdfs://host:9000/run"})
        BOOST_TEST(says(refused_from({{"TF_CONFIG", R"({"model_dir": ")" + std::string(store) + R"("})"}}),
                        {"file system", "model_dir", store, "a path"}));
    cluster_arguments a;   // who says the cluster in arguments has nothing from TF_CONFIG
    a.addresses = {"x:1"}, a.rank = 0;
    BOOST_TEST(cluster::from_arguments(a, other, given(two)).options.folder == "/tmp/456");
}

BOOST_AUTO_TEST_CASE(job_and_key) {
    cluster_options own;
    own.job = "own", own.key = "k";
    const variables set{{"SINTER_JOB", "j"}, {"SINTER_KEY", "secret"}};
    BOOST_TEST(from(set).options.job == "j");
    BOOST_TEST(from(set).options.key == "secret");
    BOOST_TEST(from(set + tf, own).options.job == "own");
    BOOST_TEST(from(set + tf, own).options.key == "k");
    char path[] = "/tmp/sinter-key-XXXXXX";
    ::close(::mkstemp(path));
    std::ofstream(path) << "from a file\n";
    BOOST_TEST(from({{"SINTER_KEY_FILE", path}}).options.key == "from a file");
    BOOST_TEST(says(refused_from({{"SINTER_KEY_FILE", path}, {"SINTER_KEY", "x"}}),
                    {"SINTER_KEY and SINTER_KEY_FILE"}));
    std::ofstream(path) << "\n";
    BOOST_TEST(says(refused_from({{"SINTER_KEY_FILE", path}}), {path, "1 to 4096 bytes"}));
    std::ofstream(path) << "abc\n";
    BOOST_TEST(says(refused_from({{"SINTER_KEY_FILE", path}}), {path, "guessed; got 3 bytes", "head -c 32"}));
    BOOST_TEST(says(refused_from({{"SINTER_KEY", "abc"}}), {"SINTER_KEY: ", "got 3 bytes; needed 6 bytes"}));
    std::ofstream(path) << "a key of some length";
    std::string told;
    const message_function before = on_message(
        [&](message_level l, std::string_view text, std::string_view place) {
            if (l == message_level::warning) (((told += place) += ": ") += text) += '\n';
        });
    from({{"SINTER_KEY_FILE", path}});
    BOOST_TEST(told == "");
    ::chmod(path, 0644);
    from({{"SINTER_KEY_FILE", path}});
    on_message(before);
    BOOST_TEST(says(told, {path, ": SINTER_KEY_FILE: all users of this machine may read the job's key"}));
    ::unlink(path);
    BOOST_CHECK_THROW(from({{"SINTER_KEY_FILE", path}}), io_error);
    cluster_options wrong;
    wrong.dead_after = -1;
    BOOST_CHECK_THROW(from({}, wrong), option_error);
}

BOOST_AUTO_TEST_CASE(the_process_environment) {
    ::setenv("TF_CONFIG", tf.at("TF_CONFIG").c_str(), 1);
    BOOST_TEST(cluster::from_environment().rank() == 1);
    ::unsetenv("TF_CONFIG");
}
