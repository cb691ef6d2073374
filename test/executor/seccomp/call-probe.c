// Makes the system calls that it reads from standard input, one in each line: number and six arguments, in decimal or
// 0x hex. Prints the call's errno (0 for success) or "signal N", one line for each call. Each call has its own process,
// so that a call that succeeds by mistake does not harm later ones. "int80 NUMBER" makes an i386 call.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long call_i386(long number) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
  return result;
#else
  return number - number;
#endif
}

int main(void) {
  char line[512];
  while (fgets(line, sizeof line, stdin) != NULL) {
    fflush(stdout);
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) return 1;
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      int answer = 0;
      if (strncmp(line, "int80 ", 6) == 0) {
        long result = call_i386(strtol(line + 6, NULL, 0));
        answer = result < 0 ? (int)-result : 0;
      } else {
        unsigned long word[7] = {0};
        char *at = line;
        for (int i = 0; i < 7; i++) word[i] = strtoul(at, &at, 0);
        errno = 0;
        long result = syscall((long)word[0], word[1], word[2], word[3], word[4], word[5], word[6]);
        answer = result == -1 ? errno : 0;
      }
      if (write(pipe_ends[1], &answer, sizeof answer) < 0) _exit(2);
      _exit(0);
    }
    int status = 0, answer = -1;
    close(pipe_ends[1]);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
    else if (read(pipe_ends[0], &answer, sizeof answer) == sizeof answer) printf("%d\n", answer);
    else printf("no answer\n");
    close(pipe_ends[0]);
  }
  return 0;
}
