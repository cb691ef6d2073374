// The network of a keeper's boxes: a namespace with a loopback interface and nothing else.
//
// To make one and to clear it away is a third of what a box costs, and most programs never open a socket. So the keeper
// itself stands in one, its boxes are born in it, and the next box has it again if nothing ever happened there: every
// counter that anything a program may do with IPv4 or IPv6 moves reads as when it was new, and no socket is left, which
// one that is on its way through another can be when its box is dead. Else the next box gets a new one.
#define _GNU_SOURCE
#include "keeper.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { records = 3, record_bytes = 8 * 1024 };

/** The last lists the sockets of family UNIX: a heading, when there are none. A kernel without IPv6 has two of them. */
static const char *const paths[records] = {"/proc/self/net/snmp", "/proc/self/net/snmp6", "/proc/self/net/unix"};

/** What is read of other runs is nothing that a fork may have (allocate_unforked). */
static struct {
  int descriptors[records];
  size_t lengths[records];
  char untouched[records][record_bytes];
  char present[record_bytes];
  bool exists;
} *network;

static size_t read_record(int index, char *text) {
  if (network->descriptors[index] < 0) return 0;
  size_t length = 0;
  for (;;) {
    ssize_t part = pread(network->descriptors[index], text + length, record_bytes - length, (off_t)length);
    if (part < 0) fail("network.read");
    if (part == 0) return length;
    length += (size_t)part;
    // What does not fit is nothing that stood there when it was new.
    if (length == record_bytes) return length;
  }
}

static void start_loopback(void) {
  struct ifreq interface = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int endpoint = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // A kernel without IPv4 has no such sockets, and then no program needs the interface.
  if (endpoint < 0) return;
  if (ioctl(endpoint, SIOCSIFFLAGS, &interface) != 0) fail("network.loopback");
  close(endpoint);
}

static bool is_untouched(void) {
  for (int index = 0; index < records; index += 1) {
    size_t length = read_record(index, network->present);
    if (length != network->lengths[index] || memcmp(network->present, network->untouched[index], length) != 0) return false;
  }
  return true;
}

void open_network(void) {
  if (network == NULL) network = allocate_unforked(sizeof *network);
  if (network->exists) {
    if (is_untouched()) return;
    for (int index = 0; index < records; index += 1)
      if (network->descriptors[index] >= 0) close(network->descriptors[index]);
  }
  if (unshare(CLONE_NEWNET) != 0) fail("network.unshare");
  start_loopback();
  for (int index = 0; index < records; index += 1) {
    network->descriptors[index] = open(paths[index], O_RDONLY | O_CLOEXEC);
    network->lengths[index] = read_record(index, network->untouched[index]);
  }
  network->exists = true;
}
