// Reads a request: the command line into the memory that the keeper shares with the box, the files and the input into the
// box. Nothing of it is believed before it was checked.
#include "keeper.h"

#include <string.h>
#include <unistd.h>

/** About thirty years. */
static const uint64_t longest_nanoseconds = UINT64_C(1000000000000000000);

/** True for a relative path without empty parts, `.` and `..`. */
static bool is_inside(const char *name) {
  for (;;) {
    size_t length = strcspn(name, "/");
    if (length == 0 || (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')))) return false;
    if (name[length] == 0) return true;
    name += length + 1;
  }
}

void read_name(char *name, uint64_t bytes) {
  if (bytes == 0 || bytes > name_bytes_most) die_with("protocol", "a file's name");
  read_exactly(name, bytes);
  name[bytes] = 0;
  if (strlen(name) != bytes || !is_inside(name)) die_with("protocol", "a file's name");
}

static void read_files(const struct box *box, uint64_t count) {
  for (uint64_t index = 0; index < count; index += 1) {
    struct file file;
    char name[name_bytes_most + 1];
    PARSE_LINE(read_line(), "file", FILE_FIELDS, &file);
    read_name(name, file.name_bytes);
    int descriptor = create_file(box, name, file.executable != 0);
    copy_to_file(descriptor, file.size, "box.file");
    close(descriptor);
  }
}

/** Strings must fill their block, because the box finds each string by the end of the last. */
static void read_strings(const struct request *request) {
  if (request->arguments == 0 || request->argument_bytes > sizeof shared->block || request->arguments > strings_most ||
      request->variables > strings_most - request->arguments)
    die_with("protocol", "the command line");
  read_exactly(shared->block, request->argument_bytes);
  uint64_t ends = 0;
  for (uint64_t index = 0; index < request->argument_bytes; index += 1) ends += shared->block[index] == 0;
  bool whole = request->argument_bytes > 0 && shared->block[request->argument_bytes - 1] == 0;
  if (!whole || ends != request->arguments + request->variables) die_with("protocol", "the command line");
}

void read_request(const char *line, struct request *request) {
  PARSE_LINE(line, "request", REQUEST_FIELDS, request);
  // A tmpfs of size 0 has no limit.
  if (request->wall_nanoseconds > longest_nanoseconds || request->cpu_nanoseconds > longest_nanoseconds ||
      request->memory_bytes > INT64_MAX || request->processes > INT32_MAX || request->box_bytes == 0 ||
      request->scratch_bytes == 0 || request->cores_per_mille == 0 || request->cores_per_mille > INT32_MAX)
    die_with("protocol", "the limits");
  read_strings(request);
}

void fill_box(const struct box *box, const struct request *request) {
  if (has_runtime())
    note_start();
  else
    cgroup->reclaim(false);
  // Room for the input and the files. box_bytes is scratch space plus files.
  uint64_t file_bytes = request->box_bytes > request->scratch_bytes ? request->box_bytes - request->scratch_bytes : 0;
  cgroup->raise_limit(request->stdin_bytes + file_bytes);
  resize_box(box, request->box_bytes, request->scratch_bytes);
  read_files(box, request->files);
  read_output_names(request->output_files);
  copy_to_file(box->input, request->stdin_bytes, "box.stdin");
  shared->request = *request;
}
