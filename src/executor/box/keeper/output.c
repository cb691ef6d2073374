// Sends the files that the request names and the program has left in /box. They are read when every process of the run
// is dead, through the mount that the keeper has held since before the program began.
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { output_files_most = 16, chunk_bytes = 64 * 1024 };

static struct {
  uint64_t count;
  char names[output_files_most][name_bytes_most + 1];
  char chunk[chunk_bytes];
} *asked;

void open_output_files(void) { asked = allocate_unforked(sizeof *asked); }

void read_output_names(uint64_t count) {
  if (count > output_files_most) die_with("protocol", "too many output files");
  for (asked->count = 0; asked->count < count; asked->count += 1) {
    struct output_file file;
    PARSE_LINE(read_line(), "output_file", OUTPUT_FILE_FIELDS, &file);
    read_name(asked->names[asked->count], file.name_bytes);
  }
}

/**
 * True when there is no such file, or it cannot be read as one: a link, a directory instead of a file, or the reverse.
 */
static bool is_absence(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV || error == ENXIO ||
         error == EACCES || error == ENAMETOOLONG;
}

/** Opens a regular file. Follows no link, and waits for no pipe. Returns -1 when there is no such file. */
static int open_regular(int directory, const char *name, uint64_t *size) {
  struct open_how how = {
      .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
  };
  int file = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
  if (file < 0) {
    if (!is_absence(errno)) die("output_file.open");
    return -1;
  }
  struct stat status;
  if (fstat(file, &status) != 0) die("output_file.open");
  if (S_ISREG(status.st_mode)) {
    *size = (uint64_t)status.st_size;
    return file;
  }
  close(file);
  return -1;
}

static void read_chunk(int file, size_t length) {
  size_t taken = 0;
  while (taken < length) {
    ssize_t more = read(file, asked->chunk + taken, length - taken);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) die("output_file.read");
    taken += (size_t)more;
  }
}

void pass_output_files(int directory, uint64_t bytes_most) {
  for (uint64_t index = 0; index < asked->count; index += 1) {
    uint64_t size;
    int file = open_regular(directory, asked->names[index], &size);
    if (file < 0) continue;
    // A file that does not fit is reported without its content.
    uint64_t left = size <= bytes_most ? size : 0;
    bytes_most -= left;
    char line[line_bytes_most];
    snprintf(line, sizeof line, "file index=%" PRIu64 " size=%" PRIu64 " bytes=%" PRIu64, index, size, left);
    append_line(line);
    for (size_t length; left > 0; left -= length) {
      length = left < chunk_bytes ? (size_t)left : chunk_bytes;
      read_chunk(file, length);
      append(asked->chunk, length);
    }
    close(file);
  }
}
