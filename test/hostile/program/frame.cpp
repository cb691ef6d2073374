#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <initializer_list>
#include <mqueue.h>
#include <grp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fsuid.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int bad = 0;
static bool is_policy(int number) {
  for (int known : {EPERM, EACCES, ENOSYS, EROFS, ENOENT, ESRCH, ENXIO, ENODEV, EAFNOSUPPORT, EPROTONOSUPPORT,
                    ESOCKTNOSUPPORT, EOPNOTSUPP, ENOPROTOOPT, ENETUNREACH, EHOSTUNREACH, ECONNREFUSED, EADDRNOTAVAIL, EXDEV})
    if (number == known) return true;
  return false;
}
static void escape(const char *what) { bad++; printf("ESCAPED %s\n", what); }
static void refused(const char *what, long result, int also = 0) {
  int number = errno;
  if (result != -1) { bad++; printf("ESCAPED %s: %ld\n", what, result); }
  else if (is_policy(number) || number == also) printf("refused %s: %s\n", what, strerror(number));
  else { bad++; printf("UNSURE %s: %s\n", what, strerror(number)); }
}
template <class... A> static long call(long number, A... a) { errno = 0; return syscall(number, a...); }
static void in_child(const char *what, void (*body)(), int expected_signal) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) { body(); _exit(0); }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == expected_signal) printf("refused %s: signal %d\n", what, expected_signal);
  else { bad++; printf("UNSURE %s: status %x\n", what, status); }
}
// Memory that is really touched: a compiler drops a memset that nobody reads.
static char *hold(size_t size) {
  char *held = (char *)malloc(size);
  for (size_t i = 0; held && i < size; i += 4096) *(volatile char *)(held + i) = 1;
  return held;
}
//DECLARATIONS
int main(int count, char **words) {
  (void)count, (void)words;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  char host[64] = "";
  gethostname(host, sizeof host);
  if (strcmp(host, "box") != 0) { puts("ESCAPED there is no box"); return 1; }
  {
//BODY
  }
  if (bad == 0) puts("held");
}
