// Attacks in C, and through gcc and clang.
import { aims, exhausts, shows, showsNone } from './language.ts'
import type { HostileLanguage, SourceAttack } from './language.ts'

const raw = String.raw

const program = raw`
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static const char *host[] = {${aims.hostFiles}}, *own[] = {${aims.boxFiles}};
static const long rows[] = {${aims.calls}}, policy[] = {${aims.errors}};
static char block[1 << 20];
static void *rest(void *none) { pause(); return none; }
int main(void) {
  char way[32] = "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (access("/etc/debian_version", F_OK) == 0) { puts("ESCAPED there is no box"); return 1; }
  scanf("%31s", way);
  if (!strcmp(way, "files")) {
    for (unsigned i = 0; i < sizeof host / sizeof *host; i++) if (open(host[i], O_RDONLY) >= 0) printf("ESCAPED %s\n", host[i]);
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
      int file = open(own[i], O_RDONLY); long n;
      while (file >= 0 && (n = read(file, block, sizeof block)) > 0) { fflush(stdout); write(1, block, n); }
      puts("");
    }
  } else if (!strcmp(way, "calls")) {
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i += 7) {
      errno = 0;
      long result = syscall(rows[i], rows[i + 1], rows[i + 2], rows[i + 3], rows[i + 4], rows[i + 5], rows[i + 6]);
      int known = 0;
      for (unsigned k = 0; k < sizeof policy / sizeof *policy; k++) known |= policy[k] == errno;
      if (result != -1) printf("ESCAPED call %ld: %ld\n", rows[i], result);
      else if (!known) printf("UNSURE call %ld: %s\n", rows[i], strerror(errno));
    }
  } else if (!strcmp(way, "daemon")) {
    if (fork() == 0) { setsid(); if (fork() > 0) _exit(0); for (;;) sleep(600); }
    usleep(50000);
  } else if (!strcmp(way, "disk")) {
    int file = open("/tmp/fill", O_WRONLY | O_CREAT, 0600); long written = 0;
    for (long n; (n = write(file, block, sizeof block)) > 0 && written < 64 << 20;) written += n;
    if (written > 32 << 20) puts("ESCAPED the disk");
  } else if (!strcmp(way, "output")) for (;;) fwrite(block, 1, sizeof block, stdout);
  else if (!strcmp(way, "memory")) for (;;) { char *held = malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) *(volatile char *)(held + i) = 1; }
  else if (!strcmp(way, "processes")) for (;;) fork();
  else if (!strcmp(way, "threads")) for (;;) { pthread_t one; pthread_create(&one, NULL, rest, NULL); }
  else return 9;
  puts("held");
}`

const main = '\n#include <stdio.h>\nint main(void) { puts("held"); }'

const sources: readonly SourceAttack[] = [
  shows('an include shows no file', (path) => `#include "${path}"${main}`),
  shows(
    'an include that the assembler makes shows no file',
    (path) => raw`
#include <stdio.h>
__asm__(".section .rodata\nstart_: .incbin \"${path}\"\nend_: .byte 0\n.text\n");
extern const char start_[], end_[];
int main(void) { fwrite(start_, 1, end_ - start_, stdout); puts("\nheld"); }`,
  ),
  showsNone(
    'an included source of the assembler shows no file',
    (path) => raw`__asm__(".include \"${path}\"");${main}`,
  ),
  showsNone(
    'a pragma for dependencies shows no file',
    (path) => `#pragma GCC dependency "${path}"${main}`,
  ),
  showsNone(
    'a line marker shows no file',
    (path) => `#line 1 "${path}"\nint main(void) { return undeclared; }`,
  ),
  exhausts('including an endless file ends', `#include "/dev/zero"${main}`, ['exited']),
  exhausts(
    'macros that double end',
    `${Array.from({ length: 40 }, (_, i) => `#define M${i + 1} M${i} M${i}`).join('\n')}\n#define M0 int x;\nM40${main}`,
  ),
  exhausts(
    'an assembler that repeats without end ends',
    raw`__asm__(".data\n.rept 1000000000\n.quad 1\n.endr");${main}`,
  ),
]

const ways = {
  files: [],
  calls: [],
  daemon: [],
  disk: [],
  output: [],
  memory: [],
  processes: [],
  threads: [],
} as const

export const c: HostileLanguage = { language: 'c', program, ways, sources }

/** Compiles the same sources with clang. Their run phase is covered by gcc. */
export const clang: HostileLanguage = {
  language: 'clang',
  program,
  ways: { files: [], calls: [] },
  sources,
}
