#!/bin/bash
# The container's first process. It starts web, worker, migrate, `all` of them, or a command of src/cli/cli.ts, with the
# command lines of the Procfile. With a worker it stays process 1 and reaps the zombies of killed boxes, which Node does not.
#
# A worker runs as root, because its slots have uids and cgroups of their own. It keeps only the capabilities below. All other
# processes run as the user runledger, without capabilities. If the container has CAP_SYS_ADMIN, it is used to make the
# container's cgroups writable, because some engines have no option for that. It is dropped before a worker starts.
set -euo pipefail
cd "$(dirname "$0")/.."

worker_capabilities='chown dac_override kill setgid setpcap setuid sys_ptrace'
drop=(setpriv --inh-caps=-all --ambient-caps=-all)

command_of() { sed -n "s/^$1: //p" Procfile; }

# The next two functions do not return.
become_user() {
  if [ "$(id -u)" = 0 ]; then
    set -- "${drop[@]}" --reuid=runledger --regid=runledger --init-groups --bounding-set=-all --no-new-privs -- "$@"
  fi
  exec "$@"
}
become_worker() {
  local kept=-all name bounds
  if [ "$(id -u)" = 0 ]; then
    bounds=$(setpriv --dump | sed -n 's/^Capability bounding set: //p')
    for name in $worker_capabilities; do
      # Only capabilities that the container has can be kept. The worker itself finds out whether they are enough.
      case ",$bounds," in *",$name,"*) kept+=",+$name" ;; esac
    done
    set -- "${drop[@]}" --bounding-set="$kept" -- "$@"
  fi
  exec "$@"
}

# Makes cgroups writable, because engines mount them read-only. The names are the v1 hierarchies that the executor uses; v2 is
# one tree. Failures are ignored here, because the worker and the doctor report what is missing.
open_cgroups() {
  local place options
  if [ "$(id -u)" != 0 ]; then return; fi
  while read -r _ _ _ _ place options _; do
    case ${place##*/} in
      cgroup | memory | pids | cpu | cpuacct | cpu,cpuacct) ;;
      *) continue ;;
    esac
    if [[ ,$options, == *,ro,* ]]; then mount -o remount,bind,rw "$place" 2>/dev/null || true; fi
  done < <(grep -E ' - cgroup2? ' /proc/self/mountinfo)
}

# Waits for the given processes. When one of them ends, or a signal arrives, ends them all. Returns the status of the first
# that failed.
supervise() {
  local ended='' status=0 child code
  wait -n -p ended "$@" || status=$?
  if [ -z "${ended:-}" ]; then status=0; fi # a signal ended the wait
  kill -TERM "$@" 2>/dev/null || true
  for child in "$@"; do
    if [ "$child" = "${ended:-}" ]; then continue; fi
    code=0
    wait "$child" || code=$?
    while kill -0 "$child" 2>/dev/null; do
      code=0
      wait "$child" || code=$?
    done
    if [ "$status" = 0 ]; then status=$code; fi
  done
  return "$status"
}

told=0
trap 'told=1' TERM INT
role=${1:-all}
case $role in
  # The command lines are not quoted, because none of their words has a blank.
  web) become_user $(command_of web) ;;
  migrate) become_user $(command_of release) ;;
  worker)
    open_cgroups
    become_worker $(command_of worker) &
    supervise $!
    ;;
  all)
    open_cgroups
    become_user $(command_of release) &
    supervise $!
    if [ "$told" = 1 ]; then exit; fi
    become_user $(command_of web) &
    web=$!
    become_worker $(command_of worker) &
    supervise "$web" $!
    ;;
  doctor)
    open_cgroups
    become_worker node src/cli/cli.ts doctor &
    supervise $!
    ;;
  *) become_user node src/cli/cli.ts "$@" ;;
esac
