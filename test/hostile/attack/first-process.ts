// Attacks on the scheduling of the box's first process. A first process that never gets a processor would outlive SIGKILL.
import { bomb, probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

/** Many processes that compete for one processor, which the first process has to share with them. */
const crowd = {
  python: raw`
for _ in range(24):
    if os.fork() == 0:
        try: os.sched_setaffinity(0, [0])
        except OSError: pass
        while True: pass
while True: time.sleep(1)`,
  cpp: raw`
cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one);
for (int i = 0; i < 24; i++) if (fork() == 0) { sched_setaffinity(0, sizeof one, &one); for (;;) ; }
for (;;) pause();`,
}

/** Makes an attack that first tries to slow down the first process and then starts the crowd. */
function starve(name: string, python: string, cpp: string): Attack {
  return bomb(`${name} and a crowd do not hold up the end`, ['cpu_limit', 'wall_limit'], {
    python: `${python}\n${crowd.python}`,
    cpp: `${cpp}\n${crowd.cpp}`,
  })
}

const tryAll = (...attempts: readonly string[]): string => `
for attempt in (${attempts.map((attempt) => `lambda: ${attempt}`).join(', ')},):
    try: attempt()
    except OSError: pass`

export const firstProcessAttacks: readonly Attack[] = [
  probe('the first process cannot be made idle', {
    python: raw`
for way in (os.SCHED_IDLE, os.SCHED_BATCH, os.SCHED_OTHER):
    refused(f"policy {way}", lambda: os.sched_setscheduler(1, way, os.sched_param(0)))
refused("parameters", lambda: os.sched_setparam(1, os.sched_param(0)))`,
    cpp: raw`
sched_param none{};
for (int policy : {SCHED_IDLE, SCHED_BATCH, SCHED_OTHER, SCHED_IDLE | SCHED_RESET_ON_FORK}) refused("policy", sched_setscheduler(1, policy, &none));
refused("parameters", sched_setparam(1, &none));`,
  }),
  probe('a process keeps its scheduling class when it asks for the usual one', {
    python: raw`
before = os.sched_getscheduler(0)
for flags in (0, 0x40000000):
    try: os.sched_setscheduler(0, os.SCHED_OTHER | flags, os.sched_param(0))
    except OSError: pass
    if os.sched_getscheduler(0) & 0xff != before: escape(f"scheduled otherwise by {flags}")`,
    cpp: raw`
sched_param none{}; int before = sched_getscheduler(0);
for (int flags : {0, SCHED_RESET_ON_FORK}) {
  sched_setscheduler(0, SCHED_OTHER | flags, &none);
  if ((sched_getscheduler(0) & 0xff) != before) escape("scheduled otherwise");
}`,
  }),
  probe('the first process cannot be given attributes of a schedule', {
    cpp: raw`
struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority; unsigned long times[3]; unsigned least, most; } wanted{};
wanted.size = sizeof wanted; wanted.policy = 5; refused("idle", call(SYS_sched_setattr, 1, &wanted, 0));
wanted.policy = 0; wanted.nice = 19; refused("nice", call(SYS_sched_setattr, 1, &wanted, 0));
wanted.flags = 0x60; wanted.most = 1; refused("clamp", call(SYS_sched_setattr, 1, &wanted, 0));
refused("high bits", call(SYS_sched_setattr, 1l << 32 | 1, &wanted, 0));`,
  }),
  probe('the first process cannot be bound to a processor', {
    python: raw`refused("affinity", lambda: os.sched_setaffinity(1, [0]))`,
    cpp: raw`
cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one); refused("affinity", sched_setaffinity(1, sizeof one, &one));
refused("high bits", call(SYS_sched_setaffinity, 1l << 32 | 1, sizeof one, &one));`,
  }),
  probe("the first process's priority cannot be lowered, whatever names it", {
    python: raw`
for who in (0, 1, os.getpgrp(), os.getpgid(1) if hasattr(os, "getpgid") else 1): refused(f"group {who}", lambda: os.setpriority(os.PRIO_PGRP, who, 19))
for who in (0, 1, os.getuid()): refused(f"user {who}", lambda: os.setpriority(os.PRIO_USER, who, 19))
refused("process", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))`,
    cpp: raw`
for (int who : {0, 1, (int)getpgrp()}) refused("group", setpriority(PRIO_PGRP, who, 19));
for (int who : {0, 1, (int)getuid()}) refused("user", setpriority(PRIO_USER, who, 19));
refused("process", setpriority(PRIO_PROCESS, 1, 19)); refused("high bits", call(SYS_setpriority, 0, 1l << 32 | 1, 19));`,
    java: raw`
for (String way : List.of("-p 1", "-g 1", "-g 0", "-u 1000")) refused(way, () -> { if (start("/bin/sh", "-c", "renice -n 19 " + way + " >&2") != 0) throw new IOException("refused"); return "lowered"; });`,
  }),
  probe("the first process's turn at the disk cannot be set, whatever names it", {
    cpp: raw`
for (int which : {1, 2, 3}) for (int kind : {1, 2, 3}) refused("by 1", call(SYS_ioprio_set, which, 1, kind << 13 | 7));
for (int which : {2, 3}) for (int who : {0, (int)getpgrp(), (int)getuid()}) refused("by set", call(SYS_ioprio_set, which, who, 3 << 13));`,
  }),
  probe("the first process's files of its schedule cannot be written", {
    python: raw`
for name in ("oom_score_adj", "oom_adj", "timerslack_ns", "autogroup", "sched", "latency", "make-it-fail", "coredump_filter", "clear_refs", "comm"):
    for path in (f"/proc/1/{name}", f"/proc/1/task/1/{name}"): refused(path, lambda: look(path, os.O_WRONLY))`,
    cpp: raw`
for (const char *path : {"/proc/1/oom_score_adj", "/proc/1/timerslack_ns", "/proc/1/autogroup", "/proc/1/sched", "/proc/1/comm", "/proc/1/task/1/comm"}) refused(path, open(path, O_WRONLY));`,
    java: raw`
for (String name : List.of("oom_score_adj", "timerslack_ns", "autogroup", "sched", "comm")) refused(name, () -> look("/proc/1/" + name, StandardOpenOption.WRITE));`,
  }),
  starve(
    'an idle first process on one processor',
    tryAll('os.sched_setscheduler(1, 5, os.sched_param(0))', 'os.sched_setaffinity(1, [0])'),
    raw`sched_param none{}; cpu_set_t zero; CPU_ZERO(&zero); CPU_SET(0, &zero); sched_setscheduler(1, SCHED_IDLE, &none); sched_setaffinity(1, sizeof zero, &zero);`,
  ),
  starve(
    'a first process of the lowest priority',
    tryAll(
      'os.setpriority(os.PRIO_PROCESS, 1, 19)',
      'os.setpriority(os.PRIO_USER, 0, 19)',
      'os.setpriority(os.PRIO_PGRP, 1, 19)',
      'os.setpriority(os.PRIO_PROCESS, 0, 0)',
    ),
    raw`setpriority(PRIO_PROCESS, 1, 19); setpriority(PRIO_USER, 0, 19); setpriority(PRIO_PGRP, 1, 19);`,
  ),
]
