// The network of one box: 127.0.0.1 and ::1, and nothing else. It has a namespace of its own, which ends with the box.
//
// A connection that nobody has accepted takes some 8 KiB that are charged to no cgroup. A charged socket gets a few KiB
// that no limit refuses. So the number of sockets is limited, and their buffers begin small: at most 30 MiB remain
// uncounted.
#include "keeper.h"

#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/** Both ends of a connection count, also before it is accepted. */
enum { sockets_most = 8192 };

static const struct {
  const char *path, *value;
} sysctls[] = {
    // The buffers of a connection begin small, and grow only while its program reads.
    {"sys/net/ipv4/tcp_rmem", "4096 16384 1048576"},
    {"sys/net/ipv4/tcp_wmem", "4096 16384 1048576"},
    // Connections in TIME_WAIT. Those that wait to be accepted are counted below, because older kernels (6.1) show
    // somaxconn only to the host.
    {"sys/net/ipv4/tcp_max_tw_buckets", "4096"},
    // The kernel would keep measurements of each connection in a table of the host.
    {"sys/net/ipv4/tcp_no_metrics_save", "1"},
    {"sys/net/ipv4/tcp_fastopen", "0"},
    // No port is privileged here.
    {"sys/net/ipv4/ip_unprivileged_port_start", "0"},
};

const char *raise_loopback(void) {
  for (size_t index = 0; index < sizeof sysctls / sizeof *sysctls; index += 1) {
    int file = openat(host_proc, sysctls[index].path, O_WRONLY | O_CLOEXEC);
    size_t length = strlen(sysctls[index].value);
    if (file < 0 || write(file, sysctls[index].value, length) != (ssize_t)length) return "box.network";
    close(file);
  }
  // A Unix socket suffices. The keeper's filter allows no other.
  int handle = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  if (handle < 0 || ioctl(handle, SIOCSIFFLAGS, &loopback) != 0) return "box.loopback";
  close(handle);
  return NULL;
}

bool holds_too_many_sockets(const struct box *box) {
  char path[64], text[64];
  snprintf(path, sizeof path, "%d/net/sockstat", box->pid);
  int file = openat(host_proc, path, O_RDONLY | O_CLOEXEC);
  // The box has just ended.
  if (file < 0) return false;
  static const char heading[] = "sockets: used ";
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return strncmp(text, heading, sizeof heading - 1) == 0 && atoi(text + sizeof heading - 1) > sockets_most;
}
