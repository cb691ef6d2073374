// The network of a keeper's boxes: a namespace with a loopback interface and nothing else.
//
// To make one and to clear it away is a third of what a box costs, and most programs never open a socket. So the keeper
// itself stands in one, its boxes are born in it, and the next box has it again if nothing ever happened there: what the
// kernel tells of it reads as when it was new, from the counters that every packet and every failure moves to the number of
// sockets, of which one on its way through another can be left when its box is dead. Else the next box gets a new one.
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { record_count = 6, record_bytes = 8 * 1024 };

static const struct {
  const char *path;
  /** The rest tells of the whole host. */
  bool first_line_only;
} records[record_count] = {
    {"/proc/self/net/snmp", false},
    {"/proc/self/net/snmp6", false},
    {"/proc/self/net/sockstat", true},
    {"/proc/self/net/unix", false},
    // What a connect moves that sends nothing.
    {"/proc/self/net/ipv6_route", false},
    {"/proc/self/net/rt6_stats", false},
};

/** What is read of other runs is nothing that a fork may have (allocate_unforked). */
static struct {
  /** -1: there is none, as without IPv6. */
  int descriptors[record_count];
  size_t lengths[record_count];
  char untouched[record_count][record_bytes];
  char present[record_bytes];
  bool exists;
} *network;

static int open_record(int index) {
  int descriptor = open(records[index].path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno != ENOENT) fail_saying("network.open", records[index].path);
  return descriptor;
}

static size_t read_record(int index, char *text) {
  size_t length = 0;
  for (ssize_t part = 1; part > 0 && length < record_bytes; length += (size_t)part) {
    part = pread(network->descriptors[index], text + length, record_bytes - length, (off_t)length);
    if (part < 0) fail_saying("network.read", records[index].path);
  }
  char *end = records[index].first_line_only ? memchr(text, '\n', length) : NULL;
  return end == NULL ? length : (size_t)(end - text);
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
  for (int index = 0; index < record_count; index += 1) {
    if (network->descriptors[index] < 0) {
      // A kernel learns IPv6 when somebody asks for it.
      int descriptor = open_record(index);
      if (descriptor < 0) continue;
      close(descriptor);
      return false;
    }
    size_t length = read_record(index, network->present);
    if (length != network->lengths[index] || memcmp(network->present, network->untouched[index], length) != 0) return false;
  }
  return true;
}

void open_network(void) {
  if (network == NULL) network = allocate_unforked(sizeof *network);
  if (network->exists) {
    if (is_untouched()) return;
    for (int index = 0; index < record_count; index += 1)
      if (network->descriptors[index] >= 0) close(network->descriptors[index]);
  }
  if (unshare(CLONE_NEWNET) != 0) fail("network.unshare");
  start_loopback();
  for (int index = 0; index < record_count; index += 1) {
    network->descriptors[index] = open_record(index);
    if (network->descriptors[index] < 0) continue;
    network->lengths[index] = read_record(index, network->untouched[index]);
    if (network->lengths[index] == record_bytes) fail_saying("network.read", "more than there is room for");
  }
  network->exists = true;
}
