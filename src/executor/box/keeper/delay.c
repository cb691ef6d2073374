// Measures for how long a box could have run and was not let: its run delay, which is ours and not its program's.
//
// The kernel adds up what each task has waited for a processor (/proc/<pid>/schedstat), once a wait is over. What a task
// waits while others of its box run is the box's own doing, and so is what its quota makes it wait, as others have run
// then: as much as they ran, on the cores that the box may use, is taken off. So a program cannot make a delay, however
// many tasks it has. Of all tasks that live the greatest counts, since the first look at the counters.
#include "keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { tasks_most = 512, processes_most = 2048, millisecond = 1000000 };

/** A later first look finds a busy machine: what was waited before it counts, though some of it may precede the run. */
static const int64_t first_look_latest = 60 * millisecond;
/** Between two looks at the tasks: so long, and so many times what one takes. */
static const int64_t shortest_pause = 50 * millisecond;
static const int64_t pause_factor = 50;
/** A box that has used less than this for so long, and has a task that could run, waits: longer than its quota's period. */
static const uint64_t quiet_cpu = millisecond;
static const int64_t quiet_time = 20 * millisecond;

struct task {
  int id;
  bool runnable;
  uint64_t ran, waited;
};

/** Programs may not read it (allocate_unforked). */
static struct {
  struct task before[tasks_most];
  size_t before_count;
  int processes[processes_most];
  size_t process_count;
  char names[4096];
  char text[4096];
  int init;
  uint64_t cores_per_mille;
  /** The clock and the CPU time at the first look. */
  int64_t since;
  uint64_t cpu_before;
  bool looked;
  int64_t next_look;
  /** When the box last was seen to run, and what it had used. */
  int64_t quiet_since;
  uint64_t quiet_at;
  /** It waits now, and was seen to since then; 0: it does not. */
  int64_t waiting_since;
  /** The clock and the CPU time when it last was asked whether the run must end. */
  int64_t marked_since;
  uint64_t marked_at;
  uint64_t delay;
} *seen;

void open_delay(void) { seen = allocate_unforked(sizeof *seen); }

void begin_delay(const struct box *box, const struct request *request, int64_t started) {
  seen->init = box->pid;
  seen->cores_per_mille = request->cores_per_mille;
  seen->since = seen->quiet_since = started;
  seen->cpu_before = seen->quiet_at = seen->delay = 0;
  seen->before_count = 0;
  seen->waiting_since = seen->next_look = 0;
  seen->marked_since = 0;
  seen->looked = false;
}

uint64_t run_delay(void) { return seen->delay; }

/** False when the task has gone. */
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
  // Its name, in brackets, may hold brackets itself.
  const char *name_end = strrchr(seen->text, ')');
  task->runnable = name_end != NULL && name_end[1] == ' ' && name_end[2] == 'R';
  return true;
}

/** Calls for each task of one process, and notes the process's children. */
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
      // Init is no program's.
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

/** Of one look. */
static struct {
  int64_t at;
  uint64_t cpu, greatest;
  bool runnable;
} look;

static uint64_t over(uint64_t value, uint64_t less) { return value > less ? value - less : 0; }

/** What the cores of the box take for so much CPU time. */
static uint64_t on_its_cores(uint64_t cpu) { return cpu * 1000 / seen->cores_per_mille; }

static void weigh(const struct task *task) {
  uint64_t ran = task->ran, waited = task->waited;
  for (size_t index = 0; index < seen->before_count; index += 1) {
    const struct task *before = &seen->before[index];
    if (before->id != task->id) continue;
    ran = over(ran, before->ran);
    waited = over(waited, before->waited);
    break;
  }
  if (task->runnable && seen->waiting_since > 0) waited += (uint64_t)(look.at - seen->waiting_since);
  uint64_t delay = over(waited, on_its_cores(over(look.cpu, ran)));
  if (delay > look.greatest) look.greatest = delay;
  look.runnable |= task->runnable;
}

static void look_at_tasks(uint64_t used) {
  look.at = now();
  look.cpu = over(used, seen->cpu_before);
  look.greatest = 0;
  look.runnable = false;
  visit_tasks(weigh);
  uint64_t most = over((uint64_t)(look.at - seen->since), on_its_cores(look.cpu));
  if (look.greatest > most) look.greatest = most;
  if (look.greatest > seen->delay) seen->delay = look.greatest;
  bool waits = look.runnable && look.at - seen->quiet_since >= quiet_time;
  if (!waits) seen->waiting_since = 0;
  else if (seen->waiting_since == 0) seen->waiting_since = look.at;
  int64_t pause = (now() - look.at) * pause_factor;
  seen->next_look = look.at + (pause > shortest_pause ? pause : shortest_pause);
}

void note_delay(uint64_t used) {
  // The kernel's memory for a look is charged to the group. In a full one the keeper would wait for what it is to end.
  if (!group_has_room()) return;
  int64_t at = now();
  if (over(used, seen->quiet_at) >= quiet_cpu) {
    seen->quiet_since = at;
    seen->quiet_at = used;
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
  seen->marked_since = look.at;
  seen->marked_at = used;
  if (until > look.at || !look.runnable) return until;
  // What a task waits for now is known only when it is over, and the keeper may have been kept from looking, too. So a box
  // that could run is let go on for a moment, and for as long as it runs for less than half of it.
  bool runs_freely = marked > 0 && ran >= (uint64_t)(look.at - marked) / 2;
  return runs_freely ? until : look.at + quiet_time;
}
