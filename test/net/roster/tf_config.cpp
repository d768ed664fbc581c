// SPDX-License-Identifier: BSL-1.0
// shows joining: TF_CONFIG as TensorFlow's resolver, RunConfig and Kubeflow write it; model_dir; malformed text
// one thread: functions of text alone
// TF_CONFIG, case by case, after the suites of TensorFlow and Kubeflow: what they accept is read to the same
// values, what they refuse is refused. Which of their cases is which of those below; "differs" is on purpose:
//
// tfconfig_cluster_resolver_test, 13 cases
//   NormalClusterSpecRead, AutomaticMasterRead, SpecifiedTaskTypeAndIndexMasterRead: resolver_jobs_and_task
//   SessionMasterRead, RpcLayerRead, TaskTypeIndexRpcRead: resolver_session_master_and_rpc_layer
//   ParameterOverrides, TaskIndexOverride: resolver_parameters_override
//   TaskTypeCastToString, TaskIndexCastToInteger: resolver_types_and_indices_of_other_json_types
//   ZeroItemsInClusterSpecMasterRead, OneItem...: resolver_nothing_and_one_task_have_no_master
//   NumAcceleratorsFilterTasksByEnvVar: its text is read; Sinter does not count the devices of others
// run_config_test, DistributedSetting 26 cases, DistributedSettingWithMaster 19
//   default_values, (session_master_|eval_session_master_)for_local, invalid_task_type_for_local,
//     invalid_task_index_for_local: run_config_alone
//   chief, master_node, worker, ps, single_chief_node, single_master_node, global_id_in_cluster_for_...:
//     run_config_in_a_cluster. Differs: port 0 (TensorFlow's "host0:0") is no address
//   session_master in a single node, in multiple nodes: run_config_session_master_beats_all
//   multiple_chief_nodes, multiple_master_nodes, missing_task_type, missing_task_index, index_is_too_large,
//     invalid_task_index, invalid_task_type, invalid_task_index_for_evaluator, fail_with_evaluator,
//     fail_with_chief: run_config_refusals
//   missing_chief_node: multi_worker_chiefs. Differs: worker 0 is it, as under MultiWorkerMirrored
//   evaluator, eval_master: run_config_evaluators. Differs: an evaluator is shown the cluster that it follows
//   multiple_worker_types: run_config_jobs_of_other_names_stand_by_name. Differs: such a job is refused
// run_config_test, ServiceKey 3 cases, ModelDir 7, SessionConfig 6
//   ServiceKey: run_config_service_and_model_dir
//   ModelDir: the same, net/from_environment (folder_of_the_checkpoints) and estimator/roles
//   SessionConfig: none. Filters of devices are TensorFlow's; workers dial parameter servers alone
//   (other classes are not about TF_CONFIG: how often is saved, what of a RunConfig may be replaced)
// multi_worker_util_test, 22 cases
//   IsChief, NumWorkers, IdInCluster, CollectiveLeader, ClusterSpecValidation: multi_worker_ranks and
//     multi_worker_chiefs. Differs: an evaluator is no chief; it has no rank
//   NormalizeClusterSpec: none but the list that is refused. They are kinds of Python's objects
// training-operator, pod_test 5 cases of TestClusterSpec, tensorflow_test 1
//   both: kubeflow. Differs: a sparseCluster, in which a worker is told of itself alone, is refused
#define BOOST_TEST_MODULE net_roster_tf_config
#include <boost/test/unit_test.hpp>
#include <sinter/net/roster/tf_config.hpp>
#include <support/refusals.hpp>

using namespace sinter;
using namespace sinter::wire::roster;
using sinter_test::refused, sinter_test::says;

namespace {

const std::string ps2_worker3 = R"("cluster": {"ps": ["ps0:2222", "ps1:2222"],
                                  "worker": ["worker0:2222", "worker1:2222", "worker2:2222"]})";
std::string with(const std::string& cluster, const std::string& rest) { return "{" + cluster + ", " + rest + "}"; }
std::string task(const std::string& type, const std::string& index) {
    return R"("task": {"type": )" + type + R"(, "index": )" + index + "}";
}
/// The jobs in `cluster` and this process's task.
std::string config_of(const std::string& cluster, const std::string& type, const std::string& index) {
    return with("\"cluster\": " + cluster, task(type, index));
}
tf_config read(const std::string& text) { return parse_tf_config(text); }
std::string refused_config(const std::string& text, cluster_options o = {}) {
    return refused([&] { to_cluster(parse_tf_config(text), o); });
}

} // namespace

// ---- What the cluster resolver reads.

BOOST_AUTO_TEST_CASE(resolver_jobs_and_task) {
    const auto c = read(with(ps2_worker3, task("\"ps\"", "0")));
    BOOST_TEST(c.jobs.size() == 2u);
    BOOST_TEST(c.jobs.at("ps").size() == 2u);
    BOOST_TEST(c.jobs.at("ps").at(1) == "ps1:2222");
    BOOST_TEST(c.jobs.at("worker").at(2) == "worker2:2222");
    BOOST_TEST(c.type.value() == "ps");
    BOOST_TEST(c.index.value() == 0);
    BOOST_TEST(c.master() == "ps0:2222");                 // its own address
    BOOST_TEST(c.master("worker", 1) == "worker1:2222");  // another's
}

BOOST_AUTO_TEST_CASE(resolver_session_master_and_rpc_layer) {
    const auto session = read(with(ps2_worker3, R"("session_master": "sessionmaster:2222", )" + task("\"ps\"", "0")));
    BOOST_TEST(session.master() == "sessionmaster:2222");
    const auto rpc = read(with(ps2_worker3, R"("rpc_layer": "grpc", )" + task("\"ps\"", "0")));
    BOOST_TEST(rpc.master() == "grpc://ps0:2222");
    BOOST_TEST(rpc.rpc_layer == "grpc");
    BOOST_TEST(rpc.type.value() == "ps");
    BOOST_TEST(rpc.index.value() == 0);
}

BOOST_AUTO_TEST_CASE(resolver_parameters_override) {
    auto c = read(with(ps2_worker3, R"("rpc_layer": "grpc", )" + task("\"ps\"", "1")));
    BOOST_TEST(c.master("ps", 0) == "grpc://ps0:2222");
    c.index = 0;
    BOOST_TEST(c.master() == "grpc://ps0:2222");
    c.type = "worker";
    c.index = 1;
    c.rpc_layer = "test";
    BOOST_TEST(c.master() == "test://worker1:2222");
    auto one_job = read(config_of(R"({"worker": ["worker0:2222", "worker1:2222"]})", "\"worker\"", "\"0\""));
    one_job.index = 1;
    BOOST_TEST(one_job.master() == "worker1:2222");
}

BOOST_AUTO_TEST_CASE(resolver_types_and_indices_of_other_json_types) {
    const auto number = read(R"({"cluster": {"123456": ["ps0:2222", "ps1:2222"], "worker": ["w:1"]},
                                   "rpc_layer": "grpc", )" +
                             task("123456", "0") + "}");
    BOOST_TEST(number.type.value() == "123456");
    BOOST_TEST(read(with(ps2_worker3, task("\"ps\"", "\"1\""))).index.value() == 1);
    const auto jobs = read(R"({"cluster": {"worker1": ["w10:2222"], "worker2": ["w21:2222", "w22:2222", "w23:2222",
        "w24:2222"]}, "rpc_layer": "grpc", )" + task("\"worker1\"", "\"0\"") + "}");
    BOOST_TEST(jobs.jobs.at("worker2").size() == 4u);
    BOOST_TEST(jobs.type.value() == "worker1");
    BOOST_TEST(jobs.index.value() == 0);
}

BOOST_AUTO_TEST_CASE(resolver_nothing_and_one_task_have_no_master) {
    for (const char* nothing :
         {"", " \n", "{}", "\n    {}\n  ", R"({"cluster": {}})", R"({"cluster": null, "task": null})"}) {
        const auto c = read(nothing);
        BOOST_TEST(c.jobs.empty());
        BOOST_TEST(c.master() == "");
        BOOST_TEST(!to_cluster(c, {}).has_value());
    }
    BOOST_TEST(read(R"({"cluster": {"worker": ["worker0:2222"]}})").master() == "");
}

// ---- RunConfig: a process by itself.

BOOST_AUTO_TEST_CASE(run_config_alone) {
    const cluster alone;
    BOOST_TEST(alone.self().name() == "worker/0");
    BOOST_TEST(alone.is_chief());
    BOOST_TEST(alone.size() == 1);
    BOOST_TEST(alone.servers().empty());
    BOOST_TEST(read("{}").global_id().value() == 0);
    const auto local = read("{" + task("\"worker\"", "0") + "}");
    BOOST_TEST(!to_cluster(local, {}).has_value());
    BOOST_TEST(local.master() == "");
    BOOST_TEST(local.global_id().value() == 0);
    BOOST_TEST(read(R"({"session_master": "_my_master"})").master() == "_my_master");
    BOOST_TEST(read(R"({"eval_session_master": "_my_eval_master"})").eval_session_master == "_my_eval_master");
    BOOST_TEST(says(refused_config("{" + task("\"chief\"", "0") + "}"),
                    {"TF_CONFIG", "task.type \"chief\"", "worker"}));
    BOOST_TEST(says(refused_config("{" + task("\"master\"", "0") + "}"), {"task.type \"master\"", "worker"}));
    BOOST_TEST(says(refused_config("{" + task("\"worker\"", "1") + "}"), {"task.index 1", "task.index 0"}));
}

// ---- RunConfig: in a cluster. Each row with today's name of the chief and with the older one.

namespace {

struct accepted {
    const char* cluster;   // CHIEF stands for chief or master
    const char* type;
    int index;
    const char* master;      // TensorFlow's, without the RPC layer
    int training, servers;   // num_worker_replicas, num_ps_replicas
    int global_id;           // -1: none
    int rank;
};
constexpr const char* full = R"({"CHIEF": ["host0:1"], "ps": ["host1:1", "host2:2"],
                                 "worker": ["host3:3", "host4:4", "host5:5"]})";
constexpr const char* ids = R"({"CHIEF": ["host0:1"], "worker": ["host3:3", "host4:4", "host5:5"],
                                "ps": ["host6:3", "host7:4", "host8:5"]})";
const accepted rows[]{
    {full, "CHIEF", 0, "host0:1", 4, 2, 0, 0},
    {full, "worker", 1, "host4:4", 4, 2, 2, 2},
    {full, "ps", 0, "host1:1", 4, 2, 4, -1},
    {R"({"CHIEF": ["host0:1"]})", "CHIEF", 0, "", 1, 0, 0, 0},
    {R"({"CHIEF": ["host0:1"], "ps": ["host1:1", "host2:2"]})", "CHIEF", 0, "host0:1", 1, 2, 0, 0},
    {ids, "CHIEF", 0, "host0:1", 4, 3, 0, 0},
    {ids, "worker", 2, "host5:5", 4, 3, 3, 3},
    {ids, "ps", 1, "host7:4", 4, 3, 5, -1},
    // A map by index, with gaps, is a list as well.
    {R"({"CHIEF": {"0": "host0:1"}, "worker": {"5": "host5:5", "2": "host2:2"}})", "worker", 5, "host5:5", 3, 0, 2, 2},
};
std::string named(std::string text, const std::string& chief) {
    for (std::size_t at; (at = text.find("CHIEF")) != text.npos;) text.replace(at, 5, chief);
    return text;
}

} // namespace

BOOST_AUTO_TEST_CASE(run_config_in_a_cluster) {
    for (const char* chief : {"chief", "master"})
        for (const accepted& row : rows) {
            const std::string type = named(row.type, chief);
            const std::string text = with("\"cluster\": " + named(row.cluster, chief),
                                          task('"' + type + '"', std::to_string(row.index)));
            BOOST_TEST_CONTEXT(text) {
                const auto config = read(text);
                BOOST_TEST(config.master() == row.master);
                BOOST_TEST(config.global_id().value_or(-1) == row.global_id);
                const cluster c = to_cluster(config, {}).value();
                BOOST_TEST(c.size() == row.training);
                BOOST_TEST(static_cast<int>(c.servers().size()) == row.servers);
                BOOST_TEST(c.rank() == row.rank);
                BOOST_TEST(c.is_chief() == (std::string(row.type) == "CHIEF"));
                BOOST_TEST(c.self().index == row.index);
                BOOST_TEST(c.member(0).name() == "chief/0");
            }
        }
}

BOOST_AUTO_TEST_CASE(run_config_session_master_beats_all) {
    for (const char* chief : {"chief", "master"})
        for (const char* jobs : {R"({"CHIEF": ["host0:1"]})",
                                 R"({"CHIEF": ["host0:1"], "ps": ["host1:1", "host2:2"]})"}) {
            const std::string own = R"("session_master": "_my_master", )" + task('"' + std::string(chief) + '"', "0");
            const auto c = read(with("\"cluster\": " + named(jobs, chief), own));
            BOOST_TEST(c.master() == "_my_master");
            BOOST_TEST(to_cluster(c, {})->is_chief());
        }
}

BOOST_AUTO_TEST_CASE(run_config_jobs_of_other_names_stand_by_name) {
    for (const char* chief : {"chief", "master"}) {
        const std::string text = named(R"({"cluster": {"CHIEF": ["host0:1"],
            "worker": ["host3:3", "host4:4", "host5:5"],
            "other_type": ["host3:1", "host4:2"], "ps": ["host6:3"]}, )", chief) + task("\"other_type\"", "1") + "}";
        BOOST_TEST(read(text).global_id().value() == 2);
        // TensorFlow leaves such jobs to the program; Sinter has nothing for them to do.
        BOOST_TEST(says(refused_config(text), {"no such role", "other_type", "chief, worker, ps or evaluator"}));
    }
}

BOOST_AUTO_TEST_CASE(run_config_evaluators) {
    const auto config = read(with("\"cluster\": " + named(full, "chief"),
                                  R"("eval_session_master": "grpc://123", )" + task("\"evaluator\"", "12")));
    BOOST_TEST(!config.global_id().has_value());
    BOOST_TEST(config.master() == "");
    BOOST_TEST(config.eval_session_master == "grpc://123");
    const cluster c = to_cluster(config, {}).value();
    BOOST_TEST(c.self().name() == "evaluator/12");
    BOOST_TEST(!c.is_chief());
    BOOST_TEST(c.rank() == -1);
    BOOST_TEST(c.size() == 4);   // RunConfig shows an evaluator no cluster; here it must know whom it follows
    const auto beside = config_of(R"({"worker": ["a:1"], "evaluator": ["e:1"]})", "\"evaluator\"", "0");
    const auto listed = to_cluster(read(beside), {});
    BOOST_TEST(listed->self().host == "e");
}

BOOST_AUTO_TEST_CASE(run_config_refusals) {
    struct row {
        const char* cluster;
        const char* rest;
        std::initializer_list<const char*> says;
    };
    const row refusals[]{
        {R"({"CHIEF": ["host0:1", "host6:6"], "worker": ["host3:3"]})", R"("task": {"type": "CHIEF", "index": 0})",
         {"two chiefs"}},
        {R"({"CHIEF": ["host0:1", "host:6:6"], "worker": ["host3:3"]})", "", {"chief/1", "host:6:6"}},
        {R"({"CHIEF": ["host3:3"]})", "", {"no task.type"}},
        {R"({"worker": ["host3:3", "host4:4"]})", "", {"no task.type"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": "CHIEF"})", {"no task.index"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"index": 0})", {"no task.type"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": "CHIEF", "index": 1})", {"chief/1", "1 tasks"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": "CHIEF", "index": -1})",
         {"task.index", "not negative", "-1"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": "worker", "index": 0})", {"worker/0"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": "evaluator", "index": -1})", {"task.index", "not negative"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": "CHIEF", "index": 1.5})", {"task.index", "1.5"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": "CHIEF", "index": "one"})", {"task.index", "one"}},
        {R"({"CHIEF": ["host3:3"]})", R"("task": {"type": ["CHIEF"], "index": 0})", {"task.type", "plain value"}},
    };
    for (const char* chief : {"chief", "master"})
        for (const row& r : refusals) {
            const std::string rest = named(r.rest, chief);
            const std::string cluster = "\"cluster\": " + named(r.cluster, chief);
            const std::string text = "{" + cluster + (rest.empty() ? "" : ", ") + rest + "}";
            BOOST_TEST(says(refused_config(text), r.says), text);
        }
    const std::string master = named(full, "master");
    BOOST_TEST(says(refused_config(with("\"cluster\": " + master, task("\"evaluator\"", "1"))),
                    {"evaluator", "\"master\""}));
    BOOST_TEST(says(refused_config(config_of(R"({"master": ["a:1"], "chief": ["b:1"], "ps": ["c:1"]})", "\"ps\"", "0")),
                    {"\"master\"", "\"chief\""}));
}

BOOST_AUTO_TEST_CASE(run_config_service_and_model_dir) {
    for (const char* none : {R"({"model_dir": "/tmp/123"})", "{}"})   // without a key of that name
        BOOST_TEST(!to_cluster(read(none), {}).has_value());
    BOOST_TEST(read(R"({"service": {"key1": [1, 2], "key2": {"a": 3, "b": 4}, "key3": 789}})").jobs.empty());
    BOOST_TEST(read(R"({"model_dir": "/tmp/123"})").model_dir == "/tmp/123");
    BOOST_TEST(read(R"({"model_dir": null, "service": null})").model_dir == "");
    BOOST_TEST(says(refused_config(R"({"service": 789})"), {"service", "object", "789"}));
    BOOST_TEST(says(refused_config(R"({"model_dir": ""})"), {"model_dir"}));
    BOOST_TEST(says(refused_config(R"({"model_dir": 3})"), {"a string"}));
}

// ---- Rules of MultiWorkerMirrored: the chief is optional, and worker 0 is it then.

BOOST_AUTO_TEST_CASE(multi_worker_chiefs) {
    const std::string workers = R"("cluster": {"worker": ["a:1", "b:1"], "ps": ["c:1"]})";
    BOOST_TEST(to_cluster(read(with(workers, task("\"worker\"", "0"))), {})->is_chief());
    BOOST_TEST(!to_cluster(read(with(workers, task("\"worker\"", "1"))), {})->is_chief());
    BOOST_TEST(!to_cluster(read(with(workers, task("\"ps\"", "0"))), {})->is_chief());
    BOOST_TEST(says(refused_config(with(workers, task("\"worker\"", "2"))), {"worker/2", "2 tasks"}));
    BOOST_TEST(says(refused_config(with(workers, task("\"tpu\"", "0"))), {"no such role", "\"tpu\""}));
    BOOST_TEST(says(refused_config(config_of(R"({"worker": ["a:1"], "evaluator": ["b:1", "c:1"]})", "\"worker\"", "0")),
                    {"two evaluators"}));
    BOOST_TEST(says(refused_config(config_of(R"({"ps": ["a:1"]})", "\"ps\"", "0")), {"nobody", "trains"}));
}

// Ranks are TensorFlow's id_in_cluster, size() its worker_count, rank 0 its collective_leader.
BOOST_AUTO_TEST_CASE(multi_worker_ranks) {
    const struct {
        const char* cluster;
        const char* type;
        int index, rank;   // -1: "There is no id for task_type"
        const char* leader;
        bool chief;
    } rows_of_ranks[]{
        {R"({"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]})", "chief", 0, 0, "chief/0", true},
        {R"({"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]})", "worker", 0, 1, "chief/0", false},
        {R"({"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]})", "worker", 1, 2, "chief/0", false},
        {R"({"worker": ["b:1", "c:1", "f:1"], "ps": ["d:1", "e:1"]})", "worker", 1, 1, "worker/0", false},
        {R"({"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]})", "ps", 0, -1, "chief/0", false},
        {R"({"chief": ["a:1"], "worker": ["b:1", "c:1"], "evaluator": ["d:1"]})", "evaluator", 0, -1, "chief/0", false},
        {R"({"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]})", "evaluator", 0, -1, "chief/0", false},
    };
    for (const auto& row : rows_of_ranks)
        BOOST_TEST_CONTEXT(row.cluster << ' ' << row.type << ' ' << row.index) {
            const std::string type = '"' + std::string(row.type) + '"';
            const auto c = to_cluster(read(config_of(row.cluster, type, std::to_string(row.index))), {}).value();
            BOOST_TEST(c.rank() == row.rank);
            BOOST_TEST(c.size() == 3);
            BOOST_TEST(c.member(0).name() == row.leader);
            BOOST_TEST(c.is_chief() == row.chief);
        }
    BOOST_TEST(says(refused_config(config_of(R"({"chief": ["a:1"], "ps": ["b:1"]})", "\"worker\"", "0")),
                    {"worker/0"}));
    BOOST_TEST(says(refused_config(config_of(R"({"worker": ["a:1", "b:1"]})", "\"chief\"", "0")), {"chief/0"}));
    BOOST_TEST(says(refused_config(config_of(R"({"chief": ["a:1", "b:1"]})", "\"chief\"", "0")), {"two chiefs"}));
    BOOST_TEST(says(refused_config(R"({"cluster": ["127.0.0.1:8964", "127.0.0.1:2333"]})"), {"an object of jobs"}));
}

// ---- What Kubeflow's TFJob sets.

BOOST_AUTO_TEST_CASE(kubeflow) {
    const std::string with_evaluator = R"({"cluster":{"evaluator":["t-evaluator-0.ns3.svc.tf.training.io:2222"],
        "ps":["t-ps-0.ns3.svc.tf.training.io:2222"],"worker":["t-worker-0.ns3.svc.tf.training.io:2222"]},
        "task":{"type":"worker","index":0},"environment":"cloud"})";
    const auto c = to_cluster(read(with_evaluator), {}).value();
    BOOST_TEST(c.size() == 1);
    BOOST_TEST(c.self().host == "t-worker-0.ns3.svc.tf.training.io");
    BOOST_TEST(c.servers().size() == 1u);
    BOOST_TEST((c.evaluator() != nullptr));
    // Newer operators leave the evaluator out of the list, and give its pod index 0.
    const std::string jobs = R"("cluster":{"ps":["t-ps-0.ns2.svc:2222"],"worker":["t-worker-0.ns2.svc:2222"]})";
    for (const char* type : {"worker", "ps", "evaluator"}) {
        const std::string rest = R"("environment":"cloud", )" + task('"' + std::string(type) + '"', "0");
        const auto own = to_cluster(read(with(jobs, rest)), {});
        BOOST_TEST(own->self().name() == std::string(type) + "/0");
        BOOST_TEST((own->evaluator() != nullptr) == (std::string(type) == "evaluator"));
    }
    // enableDynamicWorker: worker 0 would else think that it is alone.
    for (const char* sparse :
         {R"({"sparseCluster":{"worker":{"0":"t-worker-0.default.svc:2222"},
              "ps":["t-ps-0.default.svc:2222","t-ps-1.default.svc:2222"]},"task":{"type":"worker","index":0}})",
          R"({"sparseCluster":{"worker":{},"ps":["t-ps-0.default.svc:2222"]},"task":{"type":"ps","index":0}})"})
        BOOST_TEST(says(refused_config(sparse), {"TF_CONFIG", "sparseCluster", "enableDynamicWorker"}));
}

// ---- Text that is malformed, or written for another reader.

BOOST_AUTO_TEST_CASE(unknown_keys_are_ignored) {
    const auto c = read(R"({"environment": "cloud", "cluster": {"worker": ["a:1", "b:1"]},
        "sparse": [[], {}, -1.5e3, true], "task": {"type": "worker", "index": 0, "trial": "3", "cloud": {"x": null}},
        "job": {"scale_tier": "BASIC"}})");
    BOOST_TEST(to_cluster(c, {})->size() == 2);
}

BOOST_AUTO_TEST_CASE(the_talks_config) {
    const std::string cluster = R"("cluster": {"chief": ["host1:2222"],
        "worker": ["host1:2222", "host2:2222", "host3:2222"], "ps": ["host4:2222", "host5:2222"]})";
    const std::string commented = with(cluster, "\n  # this process\n  " + task("\"worker\"", "1"));
    BOOST_TEST(says(refused_config(commented), {"'# this process", "JSON has no comments"}));
    BOOST_TEST(says(refused_config("{} // done"), {"JSON has no comments"}));
    const std::string plain = with(cluster, task("\"worker\"", "1"));
    BOOST_TEST(says(refused_config(plain), {"host1:2222", "chief/0", "worker/0", "chief_is_worker0"}));
    cluster_options merge;
    merge.chief_is_worker0 = true;
    const auto c = to_cluster(read(plain), merge);
    BOOST_TEST(c->size() == 3);   // as in the talk's picture: host1 is "chief and worker 1"
    BOOST_TEST(c->rank() == 1);
}

BOOST_AUTO_TEST_CASE(malformed_text) {
    for (const char* bad :
         {"{", "[]", "{}}", "{'cluster': {}}", R"({"cluster": {"worker": ["a:1",]}})", R"({"cluster": [1]})",
          R"({"cluster": {"worker": "a:1"}})", R"({"cluster": {"worker": [1]}})",
          R"({"cluster": {"worker": {"x": "a:1"}}})",
          R"({"cluster": {"worker": {"1": "a:1", "01": "b:1"}}})",
          R"({"cluster": {"worker": ["a:1"], "worker": ["b:1"]}})",
          R"({"task": {}, "task": {}})", R"({"task": 3})", R"({"task": {"index": 99999999999}})", R"({"rpc_layer": 3})",
          R"({"x": tru})", R"({"x": 01})", R"({"x": 1.})", R"({"x": -})", R"({"x": "\ud800"})",
          "{\"x\": \"\n\"}", "nul"})
        BOOST_TEST(says(refused_config(bad), {"TF_CONFIG, byte ", "needed "}), bad);
    BOOST_TEST(says(refused_config("{\"x\": \"\xff\"}"), {"UTF-8"}));
    const auto v6 = read(config_of(R"({"worker": ["[::1]:2222"]})", "\"worker\"", "0"));
    BOOST_TEST(to_cluster(v6, {})->self().host == "::1");
    BOOST_TEST(says(refused_config(config_of(R"({"worker": ["a"]})", "\"worker\"", "0")), {"worker/0", "no port"}));
    BOOST_TEST(says(refused_config(config_of(R"({"worker": ["a:0"]})", "\"worker\"", "0")), {"worker/0", "port"}));
    BOOST_TEST(says(refused_config(config_of(R"({"worker": ["a:1"], "ps": ["a:1"]})", "\"worker\"", "0")),
                    {"a:1", "worker/0", "ps/0"}));
}

BOOST_AUTO_TEST_CASE(size_and_nesting_are_bounded) {
    std::string nested(1000000, '['), objects;
    BOOST_TEST(says(refused_config(nested), {"byte 0"}));
    BOOST_TEST(says(refused_config("{\"x\": " + nested), {"nested"}));
    for (int i = 0; i < 200000; ++i) objects += "{\"x\":";
    BOOST_TEST(says(refused_config(objects), {"nested"}));
    BOOST_TEST(says(refused_config("{\"task\": {\"x\": " + nested), {"nested"}));
    BOOST_TEST(says(refused_config(std::string(longest_tf_config + 1, ' ')), {"too long"}));
    const std::string deep = std::string(32, '[') + std::string(32, ']');
    BOOST_TEST(refused_config("{\"x\": " + deep + "}") == "");
    BOOST_TEST(says(refused_config("{\"x\": [" + deep + "]}"), {"nested"}));
}
