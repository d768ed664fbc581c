// SPDX-License-Identifier: BSL-1.0
// shows joining: mpirun, torchrun and Slurm start members that meet
// labels: slow
// needs: distributed
// alone: it starts itself as the members of a job
//
// The roster under Slurm itself: a controller, a node and munge of the test's own, on free ports, in a folder that is
// removed.
#define BOOST_TEST_MODULE launch_slurm
#include <boost/test/unit_test.hpp>
#include "launched.hpp"
#include <cstdio>

BOOST_AUTO_TEST_CASE(one_node) {
    if (!launched::all_found({"srun", "sbatch", "scontrol", "slurmctld", "slurmd", "munged", "python3"})) return;
    const auto o = launched::run(R"sh(
trap 'kill $(jobs -p); wait' EXIT
PATH=$PATH:/usr/sbin D=$PWD N=$(hostname -s) U=$(id -un)
read C S < <(python3 -c 'import socket
s = [socket.socket(), socket.socket()]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])')
dd if=/dev/urandom of=munge.key bs=1024 count=1 status=none; chmod 600 munge.key; mkdir -m 700 m; mkdir state spool
munged -F -f --key-file=$D/munge.key --socket=$D/m/s --pid-file=$D/m/pid --log-file=$D/m/log --seed-file=$D/m/seed \
    >daemons 2>&1 &
cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=$N(127.0.0.1)
SlurmUser=$U
SlurmdUser=$U
AuthType=auth/munge
AuthInfo=socket=$D/m/s
SlurmctldPort=$C
SlurmdPort=$S
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool
SlurmctldPidFile=$D/ctld.pid
SlurmdPidFile=$D/slurmd.pid
SlurmctldLogFile=$D/ctld.log
SlurmdLogFile=$D/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
MpiDefault=none
NodeName=$N NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
export SLURM_CONF=$D/slurm.conf
slurmctld -D >>daemons 2>&1 & slurmd -D >>daemons 2>&1 &
for i in $(seq 150); do [ "$(timeout 5 sinfo -h -o %t 2>/dev/null)" = idle ] && break; sleep 0.1; done
[ "$(timeout 5 sinfo -h -o %t)" = idle ] || { echo "skipped: Slurm does not start here"; tail -n 3 daemons ctld.log; }

MEMBER=master timeout 20 srun -n 3 --overcommit $M
MEMBER=meet timeout 20 srun -n 3 --overcommit $M
printf '#!/bin/bash\nMEMBER=show %s\n' $M >job
timeout 20 sbatch -W -n 2 --overcommit -o $D/batch job >/dev/null; cat batch
for list in 'node[01-03,7],login' 'r[1-2]n[1-2]' 'n[8-11]' 'n[08-11]' '[1-2]'; do
    [ "$(scontrol show hostnames $list | tr '\n' ' ')" = "$(LIST=$list MEMBER=hosts $M)" ] && echo same hosts
done
kill $(jobs -p); wait; trap - EXIT
)sh");
    if (o.has("skipped: ")) {
        std::printf("%s", o.out.c_str());
        return;
    }
    for (const char* rank : {"rank 0 of 3 at 127.0.0.1:", "rank 1 of 3 at 127.0.0.1:", "rank 2 of 3 at 127.0.0.1:"})
        BOOST_TEST(o.has(rank), o.out << o.err);
    for (const char* rank : {"0", "1", "2"})
        BOOST_TEST(o.has("rank " + std::string(rank) + " met worker/0 worker/1 worker/2\n"), o.out << o.err);
    BOOST_TEST(o.has("by SLURM_PROCID=2, SLURM_STEP_NUM_TASKS=3\n"));
    // The script of sbatch is no step: it is alone, and says what it ignores.
    BOOST_TEST(o.has("worker/0 rank 0 of 1\n"));
    BOOST_TEST(o.has("sinter: ignored: SLURM_JOB_ID=3, SLURM_PROCID=0, SLURM_NTASKS=2 (not started by srun)\n"));
    std::size_t same = 0;
    for (std::size_t at = o.out.find("same hosts"); at != o.out.npos; at = o.out.find("same hosts", at + 1)) ++same;
    BOOST_TEST(same == 5u);
}
