// Processes, threads, tasks and memory that programs make themselves.
import type { Programs } from './program.ts'

/** Programs that start other processes, with each of multiprocessing's start methods. */
const multiprocessing: Programs = Object.fromEntries(
  ['fork', 'spawn'].flatMap((way): [string, string][] => [
    [
      `a process by ${way}`,
      String.raw`
import multiprocessing as m, os, sys
def work(queue, value):
    queue.put((value * 2, __name__, sys.argv, os.getppid() > 0, m.current_process().name))
    print('child', flush=True)
    sys.exit(3)
if __name__ == '__main__':
    m.set_start_method('${way}')
    queue = m.Queue()
    process = m.Process(target=work, args=(queue, 21))
    process.start()
    print(queue.get())
    process.join()
    print(process.exitcode, m.active_children())`,
    ],
    [
      `a pool by ${way}`,
      String.raw`
import multiprocessing as m
def square(n): return n * n
def fail(n): raise ValueError(n)
if __name__ == '__main__':
    with m.get_context('${way}').Pool(2) as pool:
        print(pool.map(square, range(20)), pool.apply(square, (7,)))
        try: pool.apply(fail, (1,))
        except ValueError as error: print(error, type(error.__cause__))`,
    ],
  ]),
)

/** Processes, threads, tasks and memory that programs make themselves. */
export const process: Programs = {
  ...multiprocessing,
  'a manager': String.raw`
import multiprocessing as m
def work(shared, n): shared[n] = n * n
if __name__ == '__main__':
    with m.Manager() as manager:
        shared = manager.dict()
        all = [m.Process(target=work, args=(shared, n)) for n in range(3)]
        for p in all: p.start()
        for p in all: p.join()
        print(sorted(shared.items()))`,
  'values, arrays and locks': String.raw`
import multiprocessing as m
def work(value, array, lock):
    for _ in range(100):
        with lock: value.value += 1
    array[0] = 1.5
if __name__ == '__main__':
    value, array, lock = m.Value('i', 0), m.Array('d', 3), m.Lock()
    all = [m.Process(target=work, args=(value, array, lock)) for _ in range(2)]
    for p in all: p.start()
    for p in all: p.join()
    print(value.value, array[:])`,
  'shared memory': String.raw`
from multiprocessing import shared_memory
import os
s = shared_memory.SharedMemory(create=True, size=100)
s.buf[:3] = b'abc'
t = shared_memory.SharedMemory(s.name)
print(bytes(t.buf[:3]), len(os.listdir('/dev/shm')))
t.close(); s.close(); s.unlink()
print(os.listdir('/dev/shm'))`,
  'concurrent.futures of processes': String.raw`
import concurrent.futures as c, math
if __name__ == '__main__':
    with c.ProcessPoolExecutor(2) as e: print(list(e.map(math.factorial, range(8))))`,
  'os.fork': String.raw`
import os, sys
print('before')
child = os.fork()
print('child' if child == 0 else 'parent', os.getpid() - os.getppid() > 0)
if child: print(os.waitpid(child, 0)[1])
else: sys.exit(3)`,
  'hooks at fork':
    'import os\nos.register_at_fork(before=lambda: print("b"), after_in_parent=lambda: print("p"), after_in_child=lambda: print("c", flush=True))\nif os.fork() == 0: os._exit(0)\nos.wait()',
  'a grandchild outlives': 'import os, time\nif os.fork() == 0:\n    time.sleep(60)\nprint("end")',
  pids: 'import os\nprint(os.getpid())\nfor _ in range(3):\n    child = os.fork()\n    if child == 0: os._exit(0)\n    print(child, os.waitpid(child, 0)[0])',
  'os.forkpty': 'import os\ntry: os.forkpty()\nexcept OSError as error: print(error)',
  'os.execv': 'import os\nos.execv("/usr/bin/env", ["env"])',
  'os.execv of itself':
    'import os, sys\nif "again" in sys.argv: print(sys.argv, sys.orig_argv, os.environ)\nelse: os.execv(sys.executable, [sys.executable, "main.py", "again"])',
  'os.posix_spawn':
    'import os\npid = os.posix_spawn("/bin/echo", ["echo", "hello"], os.environ)\nprint(os.waitpid(pid, 0)[1])',
  'os.system':
    'import os\nprint(os.system("exit 3"), os.system("kill -9 $$"), os.system("ulimit -a; id -u; pwd"), flush=True)',
  'os.popen': 'import os\nprint(os.popen("echo hello; cat /proc/self/limits").read())',
  'subprocess.run':
    'import subprocess\nprint(subprocess.run(["sh", "-c", "cat; echo err >&2; exit 4"], input=b"in", capture_output=True))',
  'subprocess with its own variables':
    'import subprocess\nprint(subprocess.check_output(["env"], env={"A": "b"}), subprocess.check_output(["env"]))',
  'subprocess and descriptors':
    'import os, subprocess\nr, w = os.pipe()\nprint(subprocess.check_output("ls /proc/self/fd | wc -l", shell=True, pass_fds=[w]))',
  'subprocess and signals':
    'import subprocess\nprint(subprocess.check_output(["grep", "Sig", "/proc/self/status"]).decode())\nprint(subprocess.check_output(["grep", "Sig", "/proc/self/status"], restore_signals=False).decode())',
  'another Python':
    'import subprocess, sys\nprint(subprocess.check_output([sys.executable, "-c", "import sys; print(sys.argv, sys.flags, sorted(sys.modules)[:5])"]).decode())',
  'another Python, isolated':
    'import subprocess, sys\nprint(subprocess.run([sys.executable, "-I", "-X", "importtime", "-c", "print(1)"], capture_output=True).stdout)',
  'another Python with the same script':
    'import subprocess, sys\nif len(sys.argv) > 1: print(sys.argv, open("/proc/self/cmdline").read(), "LD_PRELOAD" in open("/proc/self/environ").read())\nelse: print(subprocess.run(["python3", "main.py", "x"], capture_output=True))',
  threads: String.raw`
import threading
total, lock = 0, threading.Lock()
def work():
    global total
    for _ in range(1000):
        with lock: total += 1
all = [threading.Thread(target=work) for _ in range(8)]
for thread in all: thread.start()
for thread in all: thread.join()
print(total, [thread.name for thread in all], threading.active_count())`,
  'names of threads': String.raw`
import threading, os
def work(): print(threading.current_thread().name, threading.get_native_id() != os.getpid(), open('/proc/thread-self/comm').read())
thread = threading.Thread(target=work); thread.start(); thread.join()
print(threading.current_thread(), sorted(os.listdir('/proc/self/task'))[0])`,
  'fork with threads':
    'import os, threading, time\nthreading.Thread(target=time.sleep, args=(0.2,)).start()\nif os.fork() == 0:\n    print(threading.active_count(), threading.current_thread(), flush=True); os._exit(0)\nos.wait()',
  asyncio: String.raw`
import asyncio
done = [asyncio.Event() for _ in range(3)]
async def work(n):
    await asyncio.sleep(0.01)
    if n < 2: await done[n + 1].wait()
    print(n); done[n].set(); return n
async def main(): print(await asyncio.gather(*map(work, range(3))))
asyncio.run(main())`,
  'asyncio fails':
    'import asyncio\nasync def main():\n    asyncio.create_task(fail())\n    await asyncio.sleep(0.01)\nasync def fail(): raise ValueError("task")\nasyncio.run(main())',
  'asyncio and a process':
    'import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)\n    print(await p.communicate(b"abc"), p.returncode)\nasyncio.run(main())',
  'asyncio and a socket':
    'import asyncio\nasync def serve(r, w): w.write((await r.readline()).upper()); w.close()\nasync def main():\n    s = await asyncio.start_unix_server(serve, "/tmp/s")\n    r, w = await asyncio.open_unix_connection("/tmp/s")\n    w.write(b"hello\\n"); print(await r.read()); w.close(); s.close()\nasyncio.run(main())',
  'a socket':
    'import socket\na, b = socket.socketpair(); a.send(b"x"); print(b.recv(1), a.family)\ntry: socket.create_connection(("192.0.2.1", 80), 1)\nexcept OSError as error: print(error)\ntry: socket.getaddrinfo("example.org", 80)\nexcept OSError as error: print(error)\nprint(socket.gethostname())',
  garbage:
    'import gc\ngc.set_debug(gc.DEBUG_STATS * 0)\nclass A: pass\nfor _ in range(2000):\n    a = A(); a.a = a\ndel a\nprint(gc.collect() > 0, len(gc.get_stats()))',
  'gc.freeze':
    'import gc\ngc.freeze(); print(gc.get_freeze_count() > 4000); gc.unfreeze(); print(gc.collect())',
  'gc.callbacks':
    'import gc\ngc.callbacks.append(lambda phase, info: print(phase, info))\ngc.collect()\nx = [[] for _ in range(800)]',
  'gc.get_referrers':
    'import gc\nx = []; y = [x]\nprint([type(r).__name__ for r in gc.get_referrers(x)])',
  references:
    'import sys\nprint(sys.getrefcount(None) > 100, sys.getrefcount(object()), sys.getrefcount([]), sys.getrefcount("never seen before"))',
  interned:
    'import sys\na = "some_name"; b = "".join(["some", "_name"])\nprint(a is b, sys.intern(b) is a, 256 is 256, id(257) == id(257))',
  'seeds that differ':
    'import random, secrets, uuid, os\nprint(random.random() != random.Random().random(), secrets.token_hex() != secrets.token_hex(), uuid.uuid4().version, len(os.urandom(8)))',
  'hashes that have no seed':
    'print(hash(1), hash(2**61 - 1), hash(1.5), hash((1, 2)), hash(None) == hash(None), hash(3 + 4j), hash(range(3)))',
  'forbidden places':
    'for place in ("/x", "/usr/x", "/proc/x", "/dev/x", "/usr/lib/python3.11/os.py"):\n    try: open(place, "w")\n    except OSError as error: print(error)',
  'forbidden calls':
    'import os\nfor act in (lambda: os.setuid(0), lambda: os.chroot("/"), lambda: os.mknod("x", 0o60000), lambda: os.kill(-1, 0), lambda: os.sched_setaffinity(0, [0])):\n    try: print(act())\n    except (OSError, PermissionError) as error: print(error)',
  'a library of C':
    'import ctypes, ctypes.util\nlibc = ctypes.CDLL("libc.so.6")\nprint(libc.abs(-5), libc.getpid(), ctypes.sizeof(ctypes.c_long))\nlibc.printf(b"%d\\n", 7); libc.fflush(None)',
  'fopen of C':
    'import ctypes\nlibc = ctypes.CDLL(None)\nlibc.fopen.restype = ctypes.c_void_p\nfor name in (b"main.py", b"/box/main.py", b"/nowhere"): print(libc.fopen(name, b"r") is not None)',
  'C reads and writes':
    'import ctypes\nlibc = ctypes.CDLL(None)\nlibc.system(b"echo one")\nlibc.puts(b"two"); libc.fflush(None); libc.perror(b"three")',
  tracing:
    'import sys\nlog = []\ndef f(x): return x + 1\nsys.settrace(lambda frame, event, arg: log.append((event, frame.f_code.co_name, frame.f_lineno)))\nf(1); sys.settrace(None)\nprint(log)',
  profiling:
    'import cProfile, pstats, io\ndef f(): return sum(range(100))\np = cProfile.Profile(); p.runcall(f)\nprint(sorted(name for _, _, name in pstats.Stats(p, stream=io.StringIO()).stats))',
  'audit hooks':
    'import sys\nseen = []\nsys.addaudithook(lambda name, args: seen.append(name))\nopen("main.py").close(); exec("1"); import colorsys\nprint(seen[:8])',
  subinterpreters:
    'import _xxsubinterpreters as s\ni = s.create(); s.run_string(i, "import sys; print(len(sys.path), __name__, flush=True)"); s.destroy(i); print(s.list_all())',
  'a package of its own':
    'import os, sys\nos.makedirs("pack/sub"); open("pack/__init__.py", "w").write("x = 1"); open("pack/sub/__init__.py", "w").write("from .. import x; y = x + 1")\nimport pack.sub\nprint(pack.sub.y, pack, sorted(os.listdir("pack")), "/box" in sys.path_importer_cache)',
  'a module that hides one of the library':
    'open("colorsys.py", "w").write("x = 1")\nimport colorsys\nprint(colorsys.__file__, colorsys.x)',
  site: 'import site\nprint(site.getsitepackages(), site.getusersitepackages(), site.ENABLE_USER_SITE, exit, quit, copyright.__class__, help)',
  'sysconfig and platform':
    'import sysconfig, platform\nprint(sysconfig.get_paths(), platform.python_implementation(), platform.machine(), platform.libc_ver(), platform.python_build())',
  builtins:
    'import builtins\nprint(sorted(dir(builtins)), len(vars(builtins)), "_" in vars(builtins))',
}
