// Processes, threads, tasks and memory that programs make themselves.
import type { Programs } from './program.ts'

/** A program that starts another process by one of multiprocessing's start methods. */
const startBy = (way: string): string => String.raw`
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
    print(process.exitcode, m.active_children())`

/** Processes, threads, tasks and memory that programs make themselves. */
export const process: Programs = {
  'a process by fork': startBy('fork'),
  'a process by spawn': startBy('spawn'),
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
  'subprocess.run':
    'import subprocess\nprint(subprocess.run(["sh", "-c", "cat; echo err >&2; exit 4"], input=b"in", capture_output=True))',
  'subprocess with its own variables':
    'import subprocess\nprint(subprocess.check_output(["env"], env={"A": "b"}), subprocess.check_output(["env"]))',
  'subprocess and signals':
    'import subprocess\nprint(subprocess.check_output(["grep", "Sig", "/proc/self/status"]).decode())\nprint(subprocess.check_output(["grep", "Sig", "/proc/self/status"], restore_signals=False).decode())',
  'another Python':
    'import subprocess, sys\nprint(subprocess.check_output([sys.executable, "-c", "import sys; print(sys.argv, sys.flags, sorted(sys.modules)[:5])"]).decode())',
  'another Python with the same script':
    'import subprocess, sys\nif len(sys.argv) > 1: print(sys.argv, open("/proc/self/cmdline").read(), "LD_PRELOAD" in open("/proc/self/environ").read())\nelse: print(subprocess.run(["python3", "main.py", "x"], capture_output=True))',
  'names of threads': String.raw`
import threading, os
def work(): print(threading.current_thread().name, threading.get_native_id() != os.getpid(), open('/proc/thread-self/comm').read())
thread = threading.Thread(target=work); thread.start(); thread.join()
print(threading.current_thread(), sorted(os.listdir('/proc/self/task'))[0])`,
  'fork with threads':
    'import os, threading, time\nthreading.Thread(target=time.sleep, args=(0.2,)).start()\nif os.fork() == 0:\n    print(threading.active_count(), threading.current_thread(), flush=True); os._exit(0)\nos.wait()',
  'asyncio fails':
    'import asyncio\nasync def main():\n    asyncio.create_task(fail())\n    await asyncio.sleep(0.01)\nasync def fail(): raise ValueError("task")\nasyncio.run(main())',
  'gc.freeze':
    'import gc\ngc.freeze(); print(gc.get_freeze_count() > 4000); gc.unfreeze(); print(gc.collect())',
  'gc.callbacks':
    'import gc\ngc.callbacks.append(lambda phase, info: print(phase, info))\ngc.collect()\nx = [[] for _ in range(800)]',
  references:
    'import sys\nprint(sys.getrefcount(None) > 100, sys.getrefcount(object()), sys.getrefcount([]), sys.getrefcount("never seen before"))',
  interned:
    'import sys\na = "some_name"; b = "".join(["some", "_name"])\nprint(a is b, sys.intern(b) is a, 256 is 256, id(257) == id(257))',
  'seeds that differ':
    'import random, secrets, uuid, os\nprint(random.random() != random.Random().random(), secrets.token_hex() != secrets.token_hex(), uuid.uuid4().version, len(os.urandom(8)))',
  'forbidden calls':
    'import os\nfor act in (lambda: os.setuid(0), lambda: os.chroot("/"), lambda: os.mknod("x", 0o60000), lambda: os.kill(-1, 0), lambda: os.sched_setaffinity(0, [0])):\n    try: print(act())\n    except (OSError, PermissionError) as error: print(error)',
  'fopen of C':
    'import ctypes\nlibc = ctypes.CDLL(None)\nlibc.fopen.restype = ctypes.c_void_p\nfor name in (b"main.py", b"/box/main.py", b"/nowhere"): print(libc.fopen(name, b"r") is not None)',
  tracing:
    'import sys\nlog = []\ndef f(x): return x + 1\nsys.settrace(lambda frame, event, arg: log.append((event, frame.f_code.co_name, frame.f_lineno)))\nf(1); sys.settrace(None)\nprint(log)',
  profiling:
    'import cProfile, pstats, io\ndef f(): return sum(range(100))\np = cProfile.Profile(); p.runcall(f)\nprint(sorted(name for _, _, name in pstats.Stats(p, stream=io.StringIO()).stats))',
  'audit hooks':
    'import sys\nseen = []\nsys.addaudithook(lambda name, args: seen.append(name))\nopen("main.py").close(); exec("1"); import colorsys\nprint(seen[:8])',
  subinterpreters:
    'import _xxsubinterpreters as s\ni = s.create(); s.run_string(i, "import sys; print(len(sys.path), __name__, flush=True)"); s.destroy(i); print(s.list_all())',
  site: 'import site\nprint(site.getsitepackages(), site.getusersitepackages(), site.ENABLE_USER_SITE, exit, quit, copyright.__class__, help)',
  'sysconfig and platform':
    'import sysconfig, platform\nprint(sysconfig.get_paths(), platform.python_implementation(), platform.machine(), platform.libc_ver(), platform.python_build())',
  builtins:
    'import builtins\nprint(sorted(dir(builtins)), len(vars(builtins)), "_" in vars(builtins))',
}
