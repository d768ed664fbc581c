#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""TensorFlow's ParameterServerStrategy on this machine: one JSON line with the asynchronous steps a
second of all workers.

One process each for the coordinator, the workers and the servers, one thread of computation in
each; every worker has a batch of its own in memory. The coordinator hands out steps as fast as they
are done, several of them ahead."""
import argparse
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import time

import common

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=["mlp"], default="mlp")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--servers", type=int, default=1)
parser.add_argument("--batch", type=int, default=32, help="of each worker (default 32)")
parser.add_argument("--optimizer", choices=["sgd", "adam"], default="adam")
parser.add_argument("--seconds", type=float, default=4)
parser.add_argument("--task", help="kind/index, for the processes that this one starts")
args = parser.parse_args()
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["GRPC_FAIL_FAST"] = "use_caller"
common.prepare(1)

import tensorflow as tf  # noqa: E402  (reads the environment)

tf.config.threading.set_intra_op_parallelism_threads(1)


def serve():
    kind, index = args.task.split("/")
    server = tf.distribute.Server(json.loads(os.environ["CLUSTER"]), job_name=kind, task_index=int(index),
                                  protocol="grpc", start=True)
    server.join()   # it never returns: the coordinator ends this process


def coordinate(cluster):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), rpc_layer="grpc",
                                                                    task_type="chief", task_id=0)
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    rate = common.LEARNING_RATE[args.optimizer]
    with strategy.scope():
        weights = [tf.Variable(v) for pair in common.weights(args.model) for v in pair]
        optimizer = tf.keras.optimizers.SGD(rate) if args.optimizer == "sgd" else tf.keras.optimizers.Adam(rate)
        optimizer.build(weights)
    images, labels = common.batch(args.model)
    images, labels = images[:args.batch].reshape(args.batch, -1), labels[:args.batch].reshape(-1)

    def dataset():
        return tf.data.Dataset.from_tensors((images, labels)).repeat().prefetch(4)

    batches = iter(coordinator.create_per_worker_dataset(dataset))

    @tf.function
    def step(iterator):
        def replica(x, y):
            with tf.GradientTape() as tape:
                hidden = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
                z = tf.matmul(hidden, weights[2]) + weights[3]
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, z))
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss
        return strategy.run(replica, args=next(iterator))

    def run(steps):
        began = time.perf_counter()
        results = [coordinator.schedule(step, args=(batches,)) for _ in range(steps)]
        coordinator.join()
        return steps / (time.perf_counter() - began), results

    _, losses = run(20)
    first = float(losses[0].fetch())
    rate, _ = run(100)
    steps = max(50, int(rate * args.seconds / 5))
    rates = []
    for _ in range(5):
        rate, losses = run(steps)
        rates.append(rate)
    last = float(losses[-1].fetch())
    if not (math.isfinite(last) and last < first):
        sys.exit(f"tensorflow: loss went from {first} to {last}: this is not training")
    print(json.dumps({"system": "tensorflow", "what": "step", "model": args.model, "strategy": "parameter_server:async",
                      "servers": args.servers,
                      "workers": args.workers, "batch": args.batch, "optimizer": args.optimizer,
                      "steps_per_s": round(statistics.median(rates), 1), "version": tf.__version__}), flush=True)


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [f"127.0.0.1:{s.getsockname()[1]}" for s in held]
    for s in held:
        s.close()
    return ports


if args.task:
    serve()
else:
    ports = free_ports(1 + args.workers + args.servers)
    cluster = {"chief": ports[:1], "worker": ports[1:1 + args.workers], "ps": ports[1 + args.workers:]}
    environment = dict(os.environ, CLUSTER=json.dumps(cluster))
    tasks = [f"worker/{i}" for i in range(args.workers)] + [f"ps/{i}" for i in range(args.servers)]
    started = [subprocess.Popen([sys.executable, __file__, "--task", task], env=environment) for task in tasks]
    try:
        coordinate(cluster)
        sys.stdout.flush()
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()
    os._exit(0)   # the coordinator's threads would wait for workers that are gone
