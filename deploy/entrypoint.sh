#!/bin/bash
# The container's first process: web, worker, migrate, `all` of them, or a command of src/cli/cli.ts. The command lines
# are the Procfile's. Beside a worker it stays process 1, to reap what killed boxes leave, which Node does not.
#
# A worker is root, for its slots have uids and cgroups of their own; it keeps the capabilities below and no other.
# Everything else runs as the user runledger, without any. CAP_SYS_ADMIN, if the container has it, serves to make the
# container's own cgroups writable where the engine cannot be asked for that, and is gone before a worker starts.
set -euo pipefail
cd "$(dirname "$0")/.."

worker_capabilities='chown dac_override kill setgid setpcap setuid sys_ptrace'
drop=(setpriv --inh-caps=-all --ambient-caps=-all)

command_of() { sed -n "s/^$1: //p" Procfile; }

# These two do not return.
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
      # What the container was not given cannot be kept; whether it is enough the worker finds out.
      case ",$bounds," in *",$name,"*) kept+=",+$name" ;; esac
    done
    set -- "${drop[@]}" --bounding-set="$kept" -- "$@"
  fi
  exec "$@"
}

# Engines mount a container's cgroups read-only. Of v1 these are what the executor uses, v2 is one tree. A refusal is not
# told here: the worker and the doctor say what is missing, in words of their own.
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

# Waits for what was started; when one ends, or we are told to stop, all do. The status is that of the first that failed.
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
  # A process's command line has no word with a blank in it.
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
