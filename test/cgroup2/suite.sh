#!/usr/bin/env bash
# Runs the executor's tests inside the v2 machine (see ./run.sh), once for each way in which a worker meets cgroup v2.
# This file is about Runledger; the machine runs any command.
#
# A group is a directory under /sys/fs/cgroup. Its processes are in cgroup.procs; cgroup.controllers lists what its
# parent hands out; cgroup.subtree_control sets which of them its children get. A group other than the real root may hold
# processes or hand out controllers, never both ("no internal processes"). Hence the layouts:
#
#  root       root in the machine's root group, as without systemd. It is the only group without that rule, because it has
#             kernel threads, which cannot be moved. Only root may make user namespaces
#  delegated  an unprivileged worker under systemd with Delegate=yes and DelegateSubgroup=: it owns a subtree (the
#             directory and the three files that systemd hands over, not the limits of the subtree itself) and starts in
#             a leaf of it
#  service    the same without DelegateSubgroup=, as before systemd 254: it starts at the top of its subtree and must
#             move into a leaf before it can hand out controllers
#  container  root in a container: the top of a cgroup namespace looks like a root group, but the rule holds there, the
#             worker's processes are in it, nothing is handed out yet, and the worker is process 1
#
# In these layouts limits are not available, so the executor must refuse to start (./refusal.ts):
#
#  no-memory  delegated, but the parent keeps the memory controller to itself
#  read-only  a container whose /sys/fs/cgroup is mounted read-only, Docker's default
#  foreign    an unprivileged worker in a group that it does not own: a service without Delegate=
#
# Usage, in the machine: test/cgroup2/suite.sh [layout…]      default: all
#   CGROUP2_TESTS, CGROUP2_ROOT_TESTS, CGROUP2_CONTAINER_TESTS, CGROUP2_DELEGATED_TESTS
#                           what to run instead of `tests`, `root_tests`, … below, in the same form
#                           (through run.sh: CGROUP2_ENV='CGROUP2_TESTS CGROUP2_ROOT_TESTS …')
#   CGROUP2_BEGINS_SECONDS  after this time no test file is started (no limit); the output lists those left out
# The tests get TIME_FACTOR, how many times slower than the host the machine is, and CGROUP_LAYOUT.
set -euo pipefail
. "$(dirname "$0")/start-time.sh"

# On each line a file and a pattern for the names of its tests. In emulation there is no time for all tests, and tests without
# cgroups run on the host. Each layout has `tests`: its groups are made, and limit what they should. Root's has those of the
# kernel, too. What a box shows depends on the worker's user, and what the doctor finds on the container. A file is started once
# in a layout, because its start takes seconds.
tests=${CGROUP2_TESTS-'
test/executor/cgroup/cgroup.test.ts /^a (group of|keeper has|group that is)|counters|dead worker/
test/executor/box/phase.test.ts /computing in python|child|leaves behind|any moment/
'}
root_tests=${CGROUP2_ROOT_TESTS-'
test/executor/box/phase.test.ts /megabytes touched in cpp|memory limit or|passes the limit/
test/executor/box/keeper/prestarted-java.test.ts /more memory|charged|left behind/
test/executor/box/keeper/memory.test.ts /limit|blamed|sampled/
test/executor/box/keeper/settled.test.ts /holds names/
test/executor/box/loopback.test.ts /only loopback|no run had before|refused|leave nothing/
test/interactor/residue.test.ts /an interactor that leaves processes that hold/
'}
container_tests=${CGROUP2_CONTAINER_TESTS-'
test/doctor/doctor.test.ts /lacks nothing/
'}
delegated_tests=${CGROUP2_DELEGATED_TESTS-'
test/executor/box/keeper/prestarted-java.test.ts /its rights|left behind/
test/executor/box/loopback.test.ts /only loopback/
test/doctor/doctor.test.ts /lacks nothing/
'}
# The layouts of most hosts come first, because a slow machine has no time for the last ones.
layouts='root container no-memory read-only foreign delegated service'
file_timeout_seconds=400
begins_seconds=${CGROUP2_BEGINS_SECONDS:-100000}

top=/sys/fs/cgroup
ours=$top/runledger-test
worker_uid=970
worker_home=/tmp/worker

# Gives the controllers that the executor needs to every child of the given group, except the named one.
hand_out() {
  local controller
  for controller in cpu cpuset memory pids; do
    if [ "$controller" != "${2:-}" ]; then echo "+$controller" >"$1/cgroup.subtree_control"; fi
  done
}

# Makes a group that the worker owns, as systemd does (systemd.resource-control(5), Delegate=).
delegate() {
  mkdir -p "$1"
  chown "$worker_uid:$worker_uid" "$1" "$1"/cgroup.{procs,threads,subtree_control}
}

# Becomes the worker in a group; `0` is the writing process. It does not return.
become_worker() {
  echo 0 >"$1/cgroup.procs"
  exec setpriv --reuid "$worker_uid" --regid "$worker_uid" --clear-groups --inh-caps=-all --bounding-set=-all \
    env "HOME=$worker_home" "${@:2}"
}

# Becomes process 1 of a container whose cgroup tree is mounted `rw` or `ro`. The process joins the group from inside the new
# pid namespace, so that unshare's waiting parent, which the container could not move, stays outside.
become_container() {
  exec unshare --pid --fork --kill-child --mount --mount-proc bash -c '
    echo 0 >"$0/cgroup.procs"
    exec unshare --cgroup bash -c "$@"' "$ours/container" '
      umount /sys/fs/cgroup
      mount -t cgroup2 -o "$0,nosuid,nodev,noexec" cgroup2 /sys/fs/cgroup
      exec "$@"' "$@"
}

# Lets every process (1), or only root's, make user namespaces. A setting of Debian's kernels.
allow_user_namespaces() {
  local setting=/proc/sys/kernel/unprivileged_userns_clone
  if [ -e "$setting" ]; then echo "$1" >"$setting"; fi
}

# Sets up a layout and replaces this process by the command in it.
enter() {
  local layout=$1 service=$ours/worker.service
  shift
  if [ "$layout" = root ]; then
    allow_user_namespaces 0
    exec "$@"
  fi
  mkdir -p "$service" "$ours/container"
  hand_out "$top"
  case $layout in no-memory) hand_out "$ours" memory ;; *) hand_out "$ours" ;; esac
  case $layout in
    delegated | no-memory)
      delegate "$service"
      delegate "$service/supervisor"
      become_worker "$service/supervisor" "$@"
      ;;
    service)
      delegate "$service"
      become_worker "$service" "$@"
      ;;
    foreign) become_worker "$service" "$@" ;;
    container) become_container rw "$@" ;;
    read-only) become_container ro "$@" ;;
    *) echo "no such layout: $layout" >&2 && exit 64 ;;
  esac
}

# Resets the machine to its state after the boot, so that one run does not affect the next.
reset() {
  local group controller
  for group in "$top"/*/; do
    if [ ! -d "$group" ]; then continue; fi
    echo 1 >"$group/cgroup.kill"
    until grep -q 'populated 0' "$group/cgroup.events"; do sleep 0.1; done
    find "$group" -depth -type d -exec rmdir {} +
  done
  allow_user_namespaces 1
  for controller in $(<"$top/cgroup.subtree_control"); do echo "-$controller" >"$top/cgroup.subtree_control"; done
}

# Lists the tests of a layout. A file that both lists name is started once, with both patterns.
list_tests() {
  {
    echo "$tests"
    case $1 in
      root) echo "$root_tests" ;;
      container) echo "$container_tests" ;;
      delegated) echo "$delegated_tests" ;;
    esac
  } | awk '
    NF == 0 { next }
    { file = $1; sub(/^[^ ]+ ?/, ""); gsub(/^\/|\/$/, "") }
    file in patterns { patterns[file] = patterns[file] "|" $0; next }
    { files[++count] = file; patterns[file] = $0 }
    END { for (n = 1; n <= count; n += 1) print files[n] (patterns[files[n]] == "" ? "" : " /" patterns[files[n]] "/") }'
}

output=/tmp/suite-output
summary=
failed=0
# Runs one file, or its tests with a matching name, under one layout and notes the result. On the emulated processor Node
# sometimes crashes (a check in V8, SIGSEGV), in a test or in a process that a test starts. A failed file is run again, twice
# at most, only if the kernel's log shows such a crash.
run() {
  local begin=$SECONDS attempt=1 fallen
  if ((SECONDS > begins_seconds)); then
    summary+="# left out, as $begins_seconds s are over: $1 $2"$'\n'
    return
  fi
  until run_once "$@"; do
    fallen=$(list_fallen)
    if [ -z "$fallen" ] || [ "$attempt" -eq 3 ]; then
      summary+="not ok $1 $2 (run $attempt, $((SECONDS - begin)) s)"$'\n'
      failed=1
      return
    fi
    attempt=$((attempt + 1))
    echo "# once more, as a Node fell in the emulator ($fallen): $1: $2"
    summary+="# a Node fell in the emulator: $1 $2 ($fallen)"$'\n'
  done
  summary+="ok $1 $2 (run $attempt, $((SECONDS - begin)) s)"$'\n'
}

# Lists Node's threads that have crashed by a signal with a core dump since the log was cleared. The kernel logs the signal,
# then the thread.
list_fallen() {
  dmesg | awk '
    match($0, /potentially unexpected fatal signal [0-9]+/) { signal = substr($0, RSTART + 36, RLENGTH - 36) }
    match($0, /Comm: [^ ]+/) && signal != "" {
      name = substr($0, RSTART + 6, RLENGTH - 6)
      if (name ~ /^(node|MainThread|V8Worker|libuv-worker|DelayedTaskSche|WorkerThread)$/)
        found = found (found == "" ? "" : ", ") name " by signal " signal
      signal = ""
    }
    END { print found }'
}

# `timeout` runs outside the layout, so that it is no process of the worker's group. After a timeout, reset ends the remaining
# processes.
run_once() {
  local status=0
  echo "# $1: $2"
  dmesg --clear
  if [ -n "${3:-}" ]; then export TAP_GREP=$3; else unset TAP_GREP; fi
  CGROUP_LAYOUT=$1 timeout --kill-after=5 "$file_timeout_seconds" "$0" --enter "$1" node "$2" | tee "$output" || status=$?
  reset
  # A pattern that no longer fits any name must not count as a success.
  if ! grep -q '^    ok ' "$output"; then
    echo "# no test of $2 ran under $1"
    status=${status/#0/1}
  fi
  if [ "$status" -ne 0 ]; then echo "# $2 under $1 ended with $status"; fi
  return "$status"
}

if [ "$(hostname)" != cgroup2 ] || [ "$(stat -f -c %T "$top")" != cgroup2fs ]; then
  echo 'this runs inside the machine: test/cgroup2/run.sh' >&2
  exit 64
fi
if [ "${1:-}" = --enter ]; then enter "${@:2}"; fi

# The factor, rounded up.
TIME_FACTOR=$((($(measure_start_us) + HOST_START_US - 1) / HOST_START_US))
# By default tap ends a single file after 30 s.
export TIME_FACTOR TAP_TIMEOUT=$file_timeout_seconds TAP_FILTER_QUIETLY=1
# Without the cache, a file that only loads tap takes 2.9 s, with it 1.8 s.
export NODE_COMPILE_CACHE=/tmp/node-compile-cache
mkdir -m 1777 "$NODE_COMPILE_CACHE"
mkdir "$worker_home"
chown "$worker_uid:$worker_uid" "$worker_home"
# tap writes its fixtures to .tap, which belongs to root, so a tmpfs for all users is mounted there.
mkdir -p .tap
# Makes the kernel log what list_fallen reads.
echo 1 >/proc/sys/kernel/print-fatal-signals
mount -t tmpfs -o mode=1777 tap .tap
echo "# $(uname -r), $TIME_FACTOR times slower than the host"

if [ $# -eq 0 ]; then set -- $layouts; fi
for layout in "$@"; do
  case $layout in
    no-memory | read-only | foreign) run "$layout" test/cgroup2/refusal.ts ;;
    *)
      while read -r file names; do
        if [ -n "$file" ]; then run "$layout" "$file" "$names" </dev/null; fi
      done <<<"$(list_tests "$layout")"
      ;;
  esac
done
printf '# summary\n%s' "$summary"
exit "$failed"
