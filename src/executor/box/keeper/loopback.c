// The network of one box: 127.0.0.1 and ::1, and nothing else. It lives in a namespace of its own, which dies with the box.
//
// A connection that nobody has accepted is charged to no cgroup, and takes some 8 KiB; what is charged has a few KiB that no limit
// refuses. So a network has a number of sockets, and buffers that begin small: 30 MiB at the most are nobody's.
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/** Both ends of a connection are counted, before it is accepted, too. */
enum { sockets_most = 8192 };

static const struct {
  const char *path, *value;
} settings[] = {
    // A connection begins small, and its buffers grow only while its program reads.
    {"sys/net/ipv4/tcp_rmem", "4096 16384 1048576"},
    {"sys/net/ipv4/tcp_wmem", "4096 16384 1048576"},
    // Waiting to be forgotten. What waits to be accepted is counted below: older kernels (6.1) show somaxconn to the host alone.
    {"sys/net/ipv4/tcp_max_tw_buckets", "4096"},
    // Measurements of a connection, kept in a table of the host's.
    {"sys/net/ipv4/tcp_no_metrics_save", "1"},
    {"sys/net/ipv4/tcp_fastopen", "0"},
    // No port is anybody's here.
    {"sys/net/ipv4/ip_unprivileged_port_start", "0"},
};

const char *raise_loopback(void) {
  for (size_t index = 0; index < sizeof settings / sizeof *settings; index += 1) {
    int file = openat(host_proc, settings[index].path, O_WRONLY | O_CLOEXEC);
    size_t length = strlen(settings[index].value);
    if (file < 0 || write(file, settings[index].value, length) != (ssize_t)length) return "box.network";
    close(file);
  }
  // A Unix socket will do; the keeper's filter leaves no other.
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
  // It has just ended.
  if (file < 0) return false;
  static const char heading[] = "sockets: used ";
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return strncmp(text, heading, sizeof heading - 1) == 0 && atoi(text + sizeof heading - 1) > sockets_most;
}
