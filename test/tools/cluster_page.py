#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Looks at doc/cluster.md: its shell snippets parse, the manifests of examples/kubernetes are YAML (where PyYAML is
there) with what the roster reads.

usage: cluster_page.py REPOSITORY
"""
import json
import pathlib
import re
import subprocess
import sys

top = pathlib.Path(sys.argv[1])
page = (top / "doc/cluster.md").read_text()
blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)
faults = []


def check(holds, what):
    if not holds:
        faults.append(what)


for kind, text in blocks:
    if kind == "bash":
        said = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
        check(said.returncode == 0, f"a snippet of shell does not parse: {said.stderr}")
    check("\t" not in text, "a snippet has tabs")
check(sum(kind == "bash" for kind, _ in blocks) == 5, "five snippets of shell were expected")

yaml_texts = [(top / "examples/kubernetes" / name).read_text() for name in ("tfjob.yaml", "trainjob.yaml", "job.yaml")]
# What JOB_COMPLETION_INDEX's error prints is what the manifest has.
printed = re.search(r'R"\((.*?)\)"', (top / "include/sinter/net/roster/indexed_job.hpp").read_text(), re.S)[1]
for line in ("completionMode: Indexed", "completions: 4", "subdomain: train", "clusterIP: None",
             "publishNotReadyAddresses: true", "{name: SINTER_SIZE, value: \"4\"}",
             "{name: SINTER_MASTER, value: \"train-0.train:2222\"}"):
    check(line in printed and line in yaml_texts[2], f"job.yaml and the error differ about {line!r}")

try:
    import yaml
except ImportError:
    print("left out: whether the manifests are YAML, which needs PyYAML")
else:
    tf_job, train_job, (service, job) = [list(yaml.safe_load_all(text)) for text in yaml_texts]
    replicas = tf_job[0]["spec"]["tfReplicaSpecs"]
    check(tf_job[0]["kind"] == "TFJob" and set(replicas) == {"Chief", "Worker", "Evaluator"}, "the TFJob's roles")
    for spec in replicas.values():
        container = spec["template"]["spec"]["containers"][0]
        check(container["name"] == "tensorflow", "the operator sets TF_CONFIG in containers named tensorflow alone")
        check(container["env"][0]["valueFrom"]["secretKeyRef"]["name"] == "sinter-key", "the TFJob's key")
    trainer = train_job[0]["spec"]["trainer"]
    check(train_job[0]["apiVersion"].startswith("trainer.kubeflow.org/"), "the TrainJob's API")
    check(trainer["numProcPerNode"] == 1 and trainer["numNodes"] == 4, "the TrainJob's size")
    spec = job["spec"]
    pod = spec["template"]["spec"]
    env = {e["name"]: e["value"] for e in pod["containers"][0]["env"]}
    check(spec["completions"] == spec["parallelism"] == int(env["SINTER_SIZE"]), "all pods run at once")
    name = job["metadata"]["name"]
    check(pod["subdomain"] == service["metadata"]["name"], "the pods' names are the Service's")
    check(env["SINTER_MASTER"] == f"{name}-0.{pod['subdomain']}:2222", "the first pod's name")
    check(service["spec"]["clusterIP"] == "None" and service["spec"]["selector"]["job-name"] == name, "the Service")
    check(env["SINTER_KEY_FILE"].startswith(pod["containers"][0]["volumeMounts"][0]["mountPath"]), "the Job's key")
    printed_documents = list(yaml.safe_load_all(printed.split("\n", 1)[1].rsplit("\n", 1)[0]))
    check([d["kind"] for d in printed_documents] == ["Service", "Job"], "what the error prints is two documents")

    def volumes_fit(spec, where):
        names = {v["name"] for v in spec["volumes"]}
        for container in spec["containers"]:
            check({m["name"] for m in container["volumeMounts"]} <= names, f"{where}: volumes that are mounted")
            check(any(m["mountPath"] == "/run" for m in container["volumeMounts"]), f"{where}: /run is no volume")

    for replica in replicas.values():
        volumes_fit(replica["template"]["spec"], "the TFJob")
    volumes_fit(train_job[0]["spec"]["podTemplateOverrides"][0]["spec"], "the TrainJob")
    volumes_fit(pod, "the Job")
    folder = top / "examples/kubernetes"
    files = {path.stem: list(yaml.safe_load_all(path.read_text())) for path in folder.glob("*.yaml")}
    check(set(files) == {"volume", "servers", "elastic", "gpus", "tfjob", "trainjob", "job"},
          "the manifests of examples/kubernetes")
    claim = files["volume"][0]
    check(claim["metadata"]["name"] == "train-run" and claim["spec"]["accessModes"] == ["ReadWriteMany"], "the claim")
    roles = files["servers"][0]["spec"]["tfReplicaSpecs"]
    check(set(roles) == {"Chief", "Worker", "PS", "Evaluator"}, "the roles of servers.yaml")
    for replica in roles.values():
        volumes_fit(replica["template"]["spec"], "servers.yaml")
    for name in ("elastic", "gpus"):
        service, job = files[name]
        spec = job["spec"]
        pod = spec["template"]["spec"]
        volumes_fit(pod, name)
        env = {e["name"]: e["value"] for e in pod["containers"][0]["env"]}
        check(spec["completions"] == spec["parallelism"] == int(env["SINTER_SIZE"]), f"{name}: all pods run at once")
        check(pod["subdomain"] == service["metadata"]["name"], f"{name}: the pods' names are the Service's")
    check("nvidia.com/gpu" in pod["containers"][0]["resources"]["limits"], "gpus.yaml asks for none")
    # What elastic.yaml's shell makes of an index is JSON that the roster reads.
    script = files["elastic"][1]["spec"]["template"]["spec"]["containers"][0]["command"][2]
    said = subprocess.run(["sh", "-c", script.replace("exec train", 'printf %s "$TF_CONFIG" #')], text=True,
                          capture_output=True, env={"JOB_COMPLETION_INDEX": "2", "PATH": "/usr/bin:/bin"})
    roster = json.loads(said.stdout)
    check(roster["task"] == {"type": "worker", "index": 2} and len(roster["cluster"]["worker"]) == 3, "elastic.yaml")

for fault in faults:
    print("doc/cluster.md:", fault)
sys.exit(bool(faults))
