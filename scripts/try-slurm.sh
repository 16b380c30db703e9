#!/usr/bin/env bash
# Tests scripts/slurm-array.sbatch on this machine: starts munged, slurmctld and slurmd on 127.0.0.1 with all files in a
# temporary directory, runs a sweep of four shards as an array job, merges it in a second job, and compares the result
# with the result of a single process.
#
# Usage: scripts/try-slurm.sh [PROGRAM]     (default: replay on the path)
#
# Needs root and Debian's packages slurm-wlm and munge (no running service). Exit codes: 0 the results are equal, 1 they
# differ or a job failed, 2 usage, 77 Slurm is not installed or the user is not root.
set -euo pipefail

die() { echo "try-slurm: $2" >&2; exit "$1"; }

here=$(cd "$(dirname "$0")" && pwd)
program=$(command -v "${1:-replay}") || die 2 "no program ${1:-replay}; usage: try-slurm.sh [PROGRAM]"
program=$(realpath "$program")
# The daemons of Slurm are in sbin, which may not be on the path.
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd sbatch sinfo srun; do
    command -v "$tool" > /dev/null || die 77 "$tool is not installed (Debian: slurm-wlm, munge)"
done
[ "$(id -u)" = 0 ] || die 77 "the daemons must be started as root"

dir=$(mktemp -d)
started=()
stop() {
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do
        kill "${started[i]}" 2> /dev/null || true
        wait "${started[i]}" 2> /dev/null || true
    done
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

# free_port: prints a port on which no process listens.
free_port() {
    local port
    for port in $(shuf -i 20000-29999 -n 50); do
        (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || { echo "$port"; return; }
    done
    return 1
}

daemon() {
    local name=$1
    shift
    "$@" > "$dir/$name.out" 2>&1 &
    started+=($!)
}

awaited() {
    local what=$1
    shift
    for _ in $(seq 100); do
        "$@" > /dev/null 2>&1 && return
        sleep 0.1
    done
    tail -n 5 "$dir"/*.log "$dir"/*.out >&2 || true
    die 1 "$what does not start"
}

mkdir -m 755 "$dir/munge" "$dir/state" "$dir/spool" "$dir/work"
chmod 755 "$dir"
(umask 077 && head -c 1024 /dev/urandom > "$dir/munge/key")
daemon munged munged --foreground --force --key-file "$dir/munge/key" --num-threads 2 \
    --socket "$dir/munge/socket" --pid-file "$dir/munge/pid" \
    --log-file "$dir/munge.log" --seed-file "$dir/munge/seed"
awaited munged test -S "$dir/munge/socket"

host=$(hostname -s)
cat > "$dir/slurm.conf" << CONF
ClusterName=try
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$dir/slurm.conf
daemon slurmctld slurmctld -D -i
daemon slurmd slurmd -D
idle() { [ "$(sinfo --noheader --format=%t)" = idle ]; }
awaited "the node" idle
echo "slurm $(sinfo --version | cut -d' ' -f2) on 127.0.0.1: $(sinfo --noheader --format='%D node, %c processors')"

cd "$dir/work"
cat > grid.toml << 'GRID'
schedulers = ["fcfs", "easy"]
window = { jobs = 1000 }

[[allocator]]
name = "mc1x1"
tie = { sr = "1..2", af = "0..2", wf = "0..2", bf = "0..2" }

[[allocator]]
name = "random"
GRID
# Copy the shipped trace, so that jobs find it in any directory.
cp "$here/../traces/lublin-10x10.swf" .
sed -i '1i traces = ["lublin-10x10.swf"]' grid.toml
export REPLAY=$program
array=$(sbatch --parsable --array=1-4 "$here/slurm-array.sbatch" grid.toml sweep)
echo "array job $array: four shards"
sbatch --wait --parsable --array=1 --dependency="afterany:$array" --output=merge.log \
    "$here/slurm-array.sbatch" --merge sweep > /dev/null \
    || { cat ./*.log >&2; die 1 "a job failed"; }
"$program" sweep grid.toml --quiet --out whole > /dev/null
for table in runs.csv runs.parquet by_size.csv by_size.parquet; do
    cmp "sweep/$table" "whole/$table" || die 1 "$table differs"
    echo "$table: $(wc -c < "whole/$table") bytes, equal to the result of one process"
done
