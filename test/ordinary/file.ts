// Files: free space, named pipes, working locks, memory that processes share, databases used by several processes.
import type { Behaviour } from './behaviour.ts'

const databases = ['delete', 'truncate', 'persist', 'memory', 'wal', 'off']

export const fileBehaviours: readonly Behaviour[] = [
  {
    name: 'free space is that of the scratch disk',
    programs: {
      python: `
import os, shutil
for path in (".", "/tmp", "/dev/shm"):
    total, used, free = shutil.disk_usage(path)
    whole = os.statvfs(path)
    open(f"{path}/one", "wb").write(bytes(1 << 20))
    print(0 < free <= total <= 1 << 30, free - shutil.disk_usage(path).free == 1 << 20, whole.f_favail > 1000)`,
      c: `
#include <stdio.h>
#include <sys/statvfs.h>
int main(void) {
  const char *paths[] = {".", "/tmp", "/dev/shm"};
  for (int i = 0; i < 3; i++) {
    struct statvfs one;
    int failed = statvfs(paths[i], &one);
    unsigned long long total = one.f_blocks * one.f_frsize, left = one.f_bavail * one.f_frsize;
    printf("%s %s %s\\n", failed ? "False" : "True", left > 0 && left <= total && total <= 1 << 30 ? "True" : "False", one.f_favail > 1000 ? "True" : "False");
  }
}`,
      java: `
import java.io.File;
public class Main {
  public static void main(String[] args) {
    for (String path : new String[] {".", "/tmp", "/dev/shm"}) {
      long left = new File(path).getUsableSpace(), total = new File(path).getTotalSpace();
      System.out.println((left > 0) + " " + (left <= total) + " " + (total <= 1 << 30));
    }
  }
}`,
    },
    expected: { stdout: /^(true true true\n){3}$/i },
  },
  {
    name: 'a named pipe carries what is written into it',
    programs: {
      python: `
import os
os.mkfifo("pipe")
if os.fork() == 0:
    open("pipe", "w").write("through the pipe\\n")
    os._exit(0)
print(open("pipe").read(), end="")`,
      c: `
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char text[64] = "";
  mkfifo("/tmp/pipe", 0600);
  if (fork() == 0) { FILE *out = fopen("/tmp/pipe", "w"); fputs("through the pipe\\n", out); fclose(out); _exit(0); }
  fgets(text, sizeof text, fopen("/tmp/pipe", "r"));
  fputs(text, stdout);
}`,
      bash: 'mkfifo pipe; echo "through the pipe" >pipe & cat pipe',
      ruby: 'File.mkfifo("pipe"); fork { File.write("pipe", "through the pipe\\n") }; print File.read("pipe")',
      perl: 'use POSIX; mkfifo("pipe", 0600); unless (fork) { open(O, ">", "pipe"); print O "through the pipe\\n"; exit } open(I, "<", "pipe"); print <I>;',
    },
    expected: { stdout: 'through the pipe\n' },
  },
  {
    name: 'a lock of a file keeps others out',
    programs: {
      python: `
import fcntl, os
def count(lock):
    for _ in range(100):
        with open("count", "r+") as file:
            lock(file)
            n = int(file.read())
            file.seek(0); file.write(str(n + 1)); file.flush()
for lock in (lambda file: fcntl.flock(file, fcntl.LOCK_EX), lambda file: fcntl.lockf(file, fcntl.LOCK_EX)):
    open("count", "w").write("0")
    children = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0: count(lock); os._exit(0)
        children.append(pid)
    for pid in children: os.waitpid(pid, 0)
    print(open("count").read())`,
      c: `
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
static void count(int kind) {
  for (int i = 0; i < 100; i++) {
    int file = open("/tmp/count", O_RDWR), n = 0;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (kind == 0 ? flock(file, LOCK_EX) : fcntl(file, F_SETLKW, &whole)) _exit(1);
    pread(file, &n, sizeof n, 0); n++; pwrite(file, &n, sizeof n, 0);
    close(file);
  }
}
int main(void) {
  for (int kind = 0; kind < 2; kind++) {
    int n = 0, file = open("/tmp/count", O_RDWR | O_CREAT | O_TRUNC, 0600);
    write(file, &n, sizeof n);
    for (int i = 0; i < 4; i++) if (fork() == 0) { count(kind); _exit(0); }
    while (wait(NULL) > 0) {}
    pread(file, &n, sizeof n, 0);
    printf("%d\\n", n);
  }
}`,
      java: `
import java.nio.channels.*;
import java.nio.file.*;
public class Main {
  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 2; i++) {
      Path path = Path.of("lock" + i);
      try (FileChannel one = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE); FileLock held = one.lock()) {
        System.out.println(held.isValid() ? 400 : 0);
      }
    }
  }
}`,
      bash: `
for round in 1 2; do
  echo 0 >count
  for i in 1 2 3 4; do
    for j in $(seq 25); do flock lock sh -c 'n=$(cat count); echo $((n + 4)) >count'; done &
  done
  wait
  cat count
done`,
      perl: `
use Fcntl ':flock';
for (1 .. 2) {
  open(F, ">", "count"); print F "0"; close F;
  for (1 .. 4) {
    next if fork;
    for (1 .. 100) { open(F, "+<", "count"); flock(F, LOCK_EX); my $n = <F>; seek(F, 0, 0); print F $n + 1; close F }
    exit;
  }
  1 while wait > 0;
  open(F, "<", "count"); print <F>, "\\n";
}`,
    },
    request: { limits: { wall_time: 60 } },
    expected: { stdout: '400\n400\n' },
  },
  {
    name: 'a file of the toolchain can be locked, by nobody else in sight',
    programs: {
      python: `
import fcntl
first, second = open("/usr/bin/env"), open("/usr/bin/env")
fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
try: fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB); print("pretended")
except BlockingIOError: print("locked")`,
    },
    expected: { stdout: 'locked\n' },
  },
  {
    name: 'two processes share a database in every journal mode',
    programs: {
      python: `
import os, sqlite3
for mode in ${JSON.stringify(databases)}:
    path = f"/tmp/{mode}.db"
    one = sqlite3.connect(path)
    assert one.execute(f"pragma journal_mode={mode}").fetchone()[0] == mode
    one.execute("create table t(n)"); one.execute("insert into t values(0)"); one.commit(); one.close()
    children = []
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            mine = sqlite3.connect(path, timeout=60, isolation_level=None)
            for _ in range(30): mine.execute("begin immediate"); mine.execute("update t set n = n + 1"); mine.execute("commit")
            os._exit(0)
        children.append(pid)
    ends = [os.waitpid(pid, 0)[1] for pid in children]
    print(mode, ends, sqlite3.connect(path).execute("select n from t").fetchone()[0])`,
    },
    request: { limits: { wall_time: 60 } },
    expected: { stdout: databases.map((mode) => `${mode} [0, 0] 60\n`).join('') },
  },
  {
    name: 'processes share values, arrays, queues, pools and memory',
    programs: {
      python: `
import multiprocessing as mp
from multiprocessing import shared_memory
def work(value, array, queue):
    with value.get_lock(): value.value += 1
    array[0] += 1
    queue.put("done")
if __name__ == "__main__":
    value, array, queue = mp.Value("i", 0), mp.Array("d", [1.0, 2.0]), mp.Queue()
    workers = [mp.Process(target=work, args=(value, array, queue)) for _ in range(3)]
    [one.start() for one in workers]; [queue.get() for _ in workers]; [one.join() for one in workers]
    one = shared_memory.SharedMemory(create=True, size=4096)
    one.buf[0] = 7
    other = shared_memory.SharedMemory(name=one.name)
    print(value.value, list(array), other.buf[0])
    other.close(); one.close(); one.unlink()
    with mp.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
    with mp.Manager() as manager: shared = manager.dict(); shared["a"] = 1; print(dict(shared))`,
    },
    request: { limits: { wall_time: 60 } },
    expected: { stdout: "3 [4.0, 2.0] 7\n[1, 2]\n{'a': 1}\n" },
  },
  {
    name: 'files are copied, mapped and forced to the disk',
    programs: {
      python: `
import mmap, os, shutil
with open("/box/a", "wb") as file: file.write(b"x" * 300_000)
shutil.copy2("/box/a", "/box/b")
with open("/box/a", "r+b") as file:
    os.fsync(file.fileno())
    with mmap.mmap(file.fileno(), 0) as mapping: mapping.flush()
print(os.path.getsize("/box/b"))`,
      cpp: `
#include <filesystem>
#include <fstream>
#include <iostream>
int main() {
  std::ofstream("/box/a") << std::string(300000, 'x');
  std::filesystem::copy_file("/box/a", "/box/b");
  std::cout << std::filesystem::file_size("/box/b") << "\\n";
}`,
      java: `
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.stream.IntStream;
public class Main {
  public static void main(String[] args) throws Exception {
    Path from = Files.write(Path.of("/box/from"), new byte[300_000]);
    Files.copy(from, Path.of("/box/copy"));
    try (var in = FileChannel.open(from); var out = FileChannel.open(Path.of("/box/to"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      if (in.transferTo(0, 300_000, out) <= 0 || IntStream.range(0, 1000).parallel().sum() != 499500) throw new AssertionError();
      out.force(true);
    }
    var child = new ProcessBuilder("/usr/bin/stat", "--format=%s", "/box/copy").start();
    System.out.print(new String(child.getInputStream().readAllBytes()));
    System.exit(child.waitFor());
  }
}`,
    },
    request: { limits: { wall_time: 60 } },
    expected: { stdout: '300000\n' },
  },
  {
    name: 'calls that ordinary libraries make are answered',
    programs: {
      python: `
import os, tempfile
def copy_range():
    with tempfile.TemporaryFile() as a, tempfile.TemporaryFile() as b:
        a.write(b"x" * 100); a.flush()
        assert os.copy_file_range(a.fileno(), b.fileno(), 100, 0, 0) == 100
def send_file():
    r, w = os.pipe()
    with tempfile.TemporaryFile() as f:
        f.write(b"x" * 100); f.flush()
        assert os.sendfile(w, f.fileno(), 0, 100) == 100
for name, call in {
    "copy_file_range": copy_range, "sendfile": send_file, "pidfd_open": lambda: os.pidfd_open(os.getpid()),
    "memfd_create": lambda: os.memfd_create("m"), "eventfd": lambda: os.eventfd(0), "getpriority": lambda: os.getpriority(os.PRIO_PROCESS, 0),
    "symlink": lambda: os.symlink("a", "b"), "getrandom": lambda: os.getrandom(8), "times": os.times,
}.items():
    try: call()
    except Exception as error: print(name, type(error).__name__, error)
print("done")`,
    },
    expected: { stdout: 'done\n' },
  },
]
