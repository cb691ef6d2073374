// Compiles main.cpp with g++, which is up before there is one: what GCC does before it opens its source takes a tenth of a small
// program's compilation. Run in the box, it writes the binary to stdout; when GCC has anything to say, plain g++ compiles anew.
//
//   driver VARIABLE LIBRARY HEADERS [WORD …] -- [WORD …] -- SHELL -c SCRIPT NAME [WORD …]
//
// g++ gets the words of the first and the last list, and VARIABLE (NAME=value); where the program uses what is made in its header
// (made-templates.cpp), those of the second and the last. The last list's command stands for plain g++, with messages to stderr.
// LIBRARY is preloaded into GCC (the other sources here) and maps HEADERS while there is no source. The driver opens the source
// when GCC is about to: where a keeper holds it (executor/box/keeper/ahead.c), all is held.
#include "gate.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made-templates.h"
#include "read-again.h"

namespace {

/** Behind what is the driver's own. */
constexpr int firstAddition = 4;

[[noreturn]] void giveUp(const char *what) {
  const char *why = strerror(errno);
  for (const char *part : {what, ": ", why, "\n"})
    if (write(STDERR_FILENO, part, strlen(part)) < 0) break;
  _exit(70);
}

struct Pipe {
  int reader, writer;
};

Pipe makePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) giveUp("pipe");
  // Not where GCC expects the gate.
  for (int &end : ends) {
    int moved = fcntl(end, F_DUPFD_CLOEXEC, goDescriptor + 1);
    if (moved < 0) giveUp("fcntl");
    close(end);
    end = moved;
  }
  return {ends[0], ends[1]};
}

struct Compiler {
  pid_t process;
  int messages, said, go;
};

Compiler startCompiler(char *variable, const char *library, const char *headers, char **words) {
  Pipe messages = makePipe(), said = makePipe(), go = makePipe();
  pid_t process = fork();
  if (process < 0) giveUp("fork");
  if (process > 0) {
    for (int end : {messages.writer, said.writer, go.reader}) close(end);
    return {process, messages.reader, said.reader, go.writer};
  }
  setpgid(0, 0);
  bool isReady = dup2(messages.writer, STDOUT_FILENO) >= 0 && dup2(messages.writer, STDERR_FILENO) >= 0 &&
                 dup2(said.writer, saidDescriptor) >= 0 && dup2(go.reader, goDescriptor) >= 0 &&
                 putenv(variable) == 0 && setenv("LD_PRELOAD", library, 1) == 0 && setenv(gateVariable, headers, 1) == 0;
  if (isReady) execvp("g++", words);
  giveUp("g++");
}

/**
 * A program can make GCC write what it likes, so the first byte ends the attempt.
 * @returns GCC's exit code; -1 when it said something or was killed.
 */
int awaitSilentEnd(const Compiler &compiler) {
  char byte;
  bool isSilent = readAgain(compiler.messages, &byte, 1) == 0;
  if (!isSilent) kill(-compiler.process, SIGKILL);
  int status;
  while (waitpid(compiler.process, &status, 0) < 0 && errno == EINTR) {
  }
  return isSilent && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void send(const char *bytes, ssize_t count) {
  while (count > 0) {
    ssize_t sent = write(STDOUT_FILENO, bytes, static_cast<size_t>(count));
    if (sent < 0 && errno != EINTR) giveUp("stdout");
    if (sent <= 0) continue;
    bytes += sent;
    count -= sent;
  }
}

/** @returns whether there was one. */
bool sendBinary() {
  static char bytes[1 << 16];
  int binary = open("main", O_RDONLY | O_CLOEXEC);
  if (binary < 0) return false;
  for (;;) {
    ssize_t count = readAgain(binary, bytes, sizeof bytes);
    if (count < 0) giveUp("main");
    if (count == 0) return true;
    send(bytes, count);
  }
}

/** What stands between two separators; ends with null. */
struct Words {
  char **all;
  int count;
};

/** @param words moves behind the separator. */
Words takeList(char **&words) {
  char **first = words;
  while (*words != nullptr && strcmp(*words, "--") != 0) words += 1;
  Words list = {first, static_cast<int>(words - first)};
  if (*words != nullptr) words += 1;
  return list;
}

/** What the shell's script gets as its arguments is what g++ gets. */
char **joinCommand(Words own, char **plain) {
  int count = 0;
  while (plain[count] != nullptr) count += 1;
  constexpr int shellWords = 4;
  if (count <= shellWords) _exit(70);
  auto **all = static_cast<char **>(calloc(static_cast<size_t>(1 + count + own.count), sizeof(char *)));
  if (all == nullptr) giveUp("calloc");
  all[0] = const_cast<char *>("g++");
  memcpy(all + 1, plain + shellWords, static_cast<size_t>(count - shellWords) * sizeof(char *));
  memcpy(all + 1 + count - shellWords, own.all, static_cast<size_t>(own.count) * sizeof(char *));
  return all;
}

/** @returns as awaitSilentEnd. */
int compile(char *variable, const char *library, const char *headers, char **words) {
  Compiler compiler = startCompiler(variable, library, headers, words);
  // GCC would open the source now, or has ended.
  char byte;
  readAgain(compiler.said, &byte, 1);
  // What a keeper lowers now is this process's; beyond that it bounds the box as a whole.
  close(open("main.cpp", O_RDONLY | O_CLOEXEC));
  // If it has ended, it has said why.
  signal(SIGPIPE, SIG_IGN);
  if (write(compiler.go, "", 1) != 1 && errno != EPIPE) giveUp("go");
  signal(SIGPIPE, SIG_DFL);
  for (int end : {compiler.go, compiler.said}) close(end);
  int status = awaitSilentEnd(compiler);
  close(compiler.messages);
  return status;
}

} // namespace

int main(int count, char **words) {
  // Asked only whether it can be run.
  if (count == 1) return 0;
  if (count < firstAddition) _exit(70);
  char **rest = words + firstAddition;
  Words quick = takeList(rest), careful = takeList(rest);
  int status = compile(words[1], words[2], words[3], joinCommand(quick, rest));
  if (status == usesMadeTemplate) status = compile(words[1], words[2], "", joinCommand(careful, rest));
  if (status == 0 && sendBinary()) return 0;
  unlink("main");
  execv(rest[0], rest);
  giveUp(rest[0]);
}
