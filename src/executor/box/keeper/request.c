// Reads a request: the command line into the memory that the keeper shares with the box, the files and the input into the
// box. The worker has checked it (request.ts). The keeper checks only that it has room for the strings.
#include "keeper.h"

#include <unistd.h>

void read_name(char *name, uint64_t bytes) {
  if (bytes > name_bytes_most) die_with("protocol", "a file's name");
  read_exactly(name, bytes);
  name[bytes] = 0;
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

void read_request(const char *line, struct request *request) {
  PARSE_LINE(line, "request", REQUEST_FIELDS, request);
  // A tmpfs of size 0 has no limit.
  if (request->box_bytes == 0 || request->scratch_bytes == 0) die_with("protocol", "the limits");
  if (request->argument_bytes > sizeof shared->block || request->arguments + request->variables > strings_most)
    die_with("protocol", "the command line");
  read_exactly(shared->block, request->argument_bytes);
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
