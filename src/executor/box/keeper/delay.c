// Measures a run's delay: how long its box could have run, but got no processor. The host causes the delay, so it does
// not count against the program's wall limit.
//
// For each task the kernel adds up the time that it waited for a processor (/proc/<pid>/schedstat), after each wait. A
// task may also wait because other tasks of its box run, or because they have used up the box's quota. The box causes
// these waits, so the other tasks' CPU time is subtracted, all of it even on several cores, because the program may have
// bound its tasks to one of them. A program therefore cannot produce a delay, however many tasks it has. The run's delay
// is the greatest one of all living tasks, measured from the first look at the counters on.
#include "keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { tasks_most = 512, processes_most = 2048, millisecond = 1000000 };

/**
 * If the first look comes later than this, the machine is busy. Waits before that look then count, although some of
 * them may precede the run.
 */
static const int64_t first_look_latest = 60 * millisecond;
/** The pause between two looks at the tasks: at least this long, and this many times the duration of a look. */
static const int64_t shortest_pause = 50 * millisecond;
static const int64_t pause_factor = 50;
/**
 * A box waits when it has a runnable task and has used less than idle_cpu for idle_time, which is longer than the
 * period of its quota.
 */
static const uint64_t idle_cpu = millisecond;
static const int64_t idle_time = 20 * millisecond;

struct task {
  int id;
  bool runnable;
  uint64_t ran, waited;
};

/** What was seen of the present run. Programs must not read it (allocate_unforked). */
static struct {
  struct task before[tasks_most];
  size_t before_count;
  int processes[processes_most];
  size_t process_count;
  char names[4096];
  char text[4096];
  int init;
  /** The clock and the CPU time at the first look. */
  int64_t since;
  uint64_t cpu_before;
  bool looked;
  int64_t next_look;
  /** The clock and the CPU time when the box was last seen running. */
  int64_t idle_since;
  uint64_t idle_at;
  /** Since when the box has been seen waiting; 0 when it does not wait. */
  int64_t waiting_since;
  /** The clock and the CPU time of the last call of forgiven_until. */
  int64_t marked_since;
  uint64_t marked_at;
  uint64_t delay;
  /** The present look at the tasks. */
  struct {
    int64_t at;
    uint64_t cpu, greatest;
    bool runnable;
  } look;
} *seen;

void open_delay(void) { seen = allocate_unforked(sizeof *seen); }

void begin_delay(const struct box *box, int64_t started) {
  seen->init = box->pid;
  seen->since = seen->idle_since = started;
  seen->cpu_before = seen->idle_at = seen->delay = 0;
  seen->before_count = 0;
  seen->waiting_since = seen->next_look = 0;
  seen->marked_since = 0;
  seen->looked = false;
}

uint64_t run_delay(void) { return seen->delay; }

/** Reads a file of a task into `text`. False when the task has ended. */
static bool read_task_file(int directory, const char *name) {
  int descriptor = openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  ssize_t length = read(descriptor, seen->text, sizeof seen->text - 1);
  close(descriptor);
  if (length < 0) return false;
  seen->text[length] = 0;
  return true;
}

static void note_children(void) {
  char *next = seen->text;
  for (long child; seen->process_count < processes_most && (child = strtol(next, &next, 10)) > 0;)
    seen->processes[seen->process_count++] = (int)child;
}

static bool read_task(int directory, int id, struct task *task) {
  char path[64];
  *task = (struct task){.id = id};
  snprintf(path, sizeof path, "%d/schedstat", id);
  if (!read_task_file(directory, path)) return false;
  char *next = seen->text;
  task->ran = strtoull(next, &next, 10);
  task->waited = strtoull(next, &next, 10);
  snprintf(path, sizeof path, "%d/stat", id);
  if (!read_task_file(directory, path)) return false;
  // The task's name, in brackets, may hold brackets itself.
  const char *name_end = strrchr(seen->text, ')');
  task->runnable = name_end != NULL && name_end[1] == ' ' && name_end[2] == 'R';
  return true;
}

/** Calls `visit` for each task of a process, and notes the process's children. */
static void visit_process(int process, void (*visit)(const struct task *)) {
  char path[64];
  snprintf(path, sizeof path, "%d/task", process);
  int directory = openat(host_proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  long length;
  while ((length = syscall(SYS_getdents64, directory, seen->names, sizeof seen->names)) > 0) {
    for (long at = 0; at < length;) {
      const struct dirent64 *entry = (const struct dirent64 *)(seen->names + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      int id = atoi(entry->d_name);
      snprintf(path, sizeof path, "%d/children", id);
      if (read_task_file(directory, path)) note_children();
      struct task task;
      // Init does not belong to the program.
      if (process != seen->init && read_task(directory, id, &task)) visit(&task);
    }
  }
  close(directory);
}

static void visit_tasks(void (*visit)(const struct task *)) {
  seen->processes[0] = seen->init;
  seen->process_count = 1;
  for (size_t index = 0; index < seen->process_count; index += 1) visit_process(seen->processes[index], visit);
}

static void note_before(const struct task *task) {
  if (seen->before_count < tasks_most) seen->before[seen->before_count++] = *task;
}

static uint64_t over(uint64_t value, uint64_t less) { return value > less ? value - less : 0; }

static void weigh(const struct task *task) {
  uint64_t ran = task->ran, waited = task->waited;
  for (size_t index = 0; index < seen->before_count; index += 1) {
    const struct task *before = &seen->before[index];
    if (before->id != task->id) continue;
    ran = over(ran, before->ran);
    waited = over(waited, before->waited);
    break;
  }
  if (task->runnable && seen->waiting_since > 0) waited += (uint64_t)(seen->look.at - seen->waiting_since);
  uint64_t delay = over(waited, over(seen->look.cpu, ran));
  if (delay > seen->look.greatest) seen->look.greatest = delay;
  seen->look.runnable |= task->runnable;
}

static void look_at_tasks(uint64_t used) {
  seen->look.at = now();
  seen->look.cpu = over(used, seen->cpu_before);
  seen->look.greatest = 0;
  seen->look.runnable = false;
  visit_tasks(weigh);
  uint64_t most = over((uint64_t)(seen->look.at - seen->since), seen->look.cpu);
  if (seen->look.greatest > most) seen->look.greatest = most;
  if (seen->look.greatest > seen->delay) seen->delay = seen->look.greatest;
  bool waits = seen->look.runnable && seen->look.at - seen->idle_since >= idle_time;
  if (!waits) seen->waiting_since = 0;
  else if (seen->waiting_since == 0) seen->waiting_since = seen->look.at;
  int64_t pause = (now() - seen->look.at) * pause_factor;
  seen->next_look = seen->look.at + (pause > shortest_pause ? pause : shortest_pause);
}

void note_delay(uint64_t used) {
  // The kernel charges its memory for a look to the cgroup. In a full one the keeper would wait for the box that it
  // must end.
  if (!cgroup->has_room()) return;
  int64_t at = now();
  if (over(used, seen->idle_at) >= idle_cpu) {
    seen->idle_since = at;
    seen->idle_at = used;
    seen->waiting_since = 0;
  }
  if (!seen->looked && at - seen->since <= first_look_latest) {
    visit_tasks(note_before);
    seen->since = at;
    seen->cpu_before = used;
    seen->next_look = at + shortest_pause;
  } else if (at >= seen->next_look) {
    look_at_tasks(used);
  }
  seen->looked = true;
}

int64_t forgiven_until(int64_t ends, uint64_t used) {
  seen->looked = true;
  seen->next_look = 0;
  note_delay(used);
  int64_t until = ends + (int64_t)seen->delay;
  int64_t marked = seen->marked_since;
  uint64_t ran = over(used, seen->marked_at);
  seen->marked_since = seen->look.at;
  seen->marked_at = used;
  if (until > seen->look.at || !seen->look.runnable) return until;
  // The length of a wait is known only when it is over, and the keeper itself may have waited, too. So a box that could
  // run may go on for another moment, and again while it runs for less than half of that moment.
  bool runs_freely = marked > 0 && ran >= (uint64_t)(seen->look.at - marked) / 2;
  return runs_freely ? until : seen->look.at + idle_time;
}
