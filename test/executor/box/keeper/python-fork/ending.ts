// How programs end: exit codes, exit functions, signals, and the order of their output.
import type { Programs } from './program.ts'

const exitValues = String.raw`
None|0|1|2|255|256|-1|-9|3.5|True|False|2**31|2**70|""|"words"|[1]|(1,)|()|{}|b"x"|ValueError("v")|"\ud800"|"ü"|object
`
  .trim()
  .split('|')
  .concat('')

const signalNames =
  'SIGINT SIGTERM SIGHUP SIGQUIT SIGKILL SIGPIPE SIGALRM SIGUSR1 SIGUSR2 SIGSEGV SIGABRT SIGFPE SIGILL SIGBUS SIGTRAP SIGSYS SIGCHLD SIGCONT SIGWINCH SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGIO SIGPWR SIGSTKFLT'

const bySignal: Programs = Object.fromEntries(
  signalNames
    .split(' ')
    .flatMap((name) => [
      [
        `${name} by default`,
        `import os, signal\nprint('before', flush=True)\nprint('kept')\nos.kill(os.getpid(), signal.${name})\nprint('after')`,
      ],
    ]),
)

/** How programs end. */
export const ending: Programs = {
  ...Object.fromEntries(
    exitValues.map((value) => [
      `sys.exit(${value})`,
      `import sys\nprint('out')\nsys.exit(${value})`,
    ]),
  ),
  ...bySignal,
  'exit(3)': 'exit(3)',
  'raise SystemExit': 'raise SystemExit',
  'SystemExit of two': 'raise SystemExit(1, 2)',
  'SystemExit in a function of atexit': 'import atexit, sys\natexit.register(sys.exit, 5)\nprint("x")',
  'an exception in a function of atexit': String.raw`
import atexit
@atexit.register
def first(): print('runs last')
@atexit.register
def second(): raise ValueError('in atexit')
@atexit.register
def third(): print('runs first')
atexit.register(print, 'with', 'words', sep='-')`,
  'atexit after an error': 'import atexit\natexit.register(print, "bye")\n1 / 0',
  'atexit after sys.exit': 'import atexit, sys\natexit.register(print, "bye")\nsys.exit(4)',
  'atexit and os._exit': 'import atexit, os\natexit.register(print, "bye")\nprint("lost")\nos._exit(6)',
  'atexit unregistered': 'import atexit\natexit.register(print, "no")\natexit.unregister(print)',
  'a function of atexit that registers': 'import atexit\natexit.register(lambda: atexit.register(print, "late"))',
  'SystemExit in a thread': String.raw`
import sys, threading
thread = threading.Thread(target=sys.exit, args=(9,))
thread.start(); thread.join(); print('goes on')`,
  'a thread that outlives the main one': String.raw`
import threading, time
said = threading.Event()
def work():
    said.wait(); time.sleep(0.1); print('late')
threading.Thread(target=work).start()
print('main ends')
said.set()`,
  'a daemon that is left behind': String.raw`
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print('main ends')`,
  'os._exit in a thread': 'import os, threading\nthreading.Thread(target=os._exit, args=(8,)).start()\nimport time; time.sleep(5)',
  'os.abort': 'import os\nprint("lost")\nos.abort()',
  'KeyboardInterrupt raised': 'raise KeyboardInterrupt',
  'what is deleted at the end': String.raw`
class A:
    def __init__(self, name): self.name = name
    def __del__(self): print('del', self.name)
a, b = A('a'), A('b')
c = [A('c')]; c.append(c)
import sys
sys.kept = A('sys')
A('at once')`,
  'weakref.finalize': 'import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, "finalised")\nprint("end")',
  'a hook that sees the end': String.raw`
import os, sys
def hook(event, arguments, write=os.write): write(1, event.encode() + b'\n')
sys.addaudithook(hook)
print('end')`,
  'modules at the end': String.raw`
import sys
class A:
    def __del__(self): print(sys is None, 'math' in globals(), print)
import math
a = A()`,
  segfault: 'import ctypes\nprint("before", flush=True)\nctypes.string_at(0)',
  'segfault with faulthandler': String.raw`
import ctypes, faulthandler
faulthandler.enable()
def f(): ctypes.string_at(0)
f()`,
  'abort with faulthandler': 'import faulthandler, os\nfaulthandler.enable()\nos.abort()',
  'faulthandler._sigsegv': 'import faulthandler\nfaulthandler.enable()\nfaulthandler._sigsegv()',
  'faulthandler.dump_traceback': 'import faulthandler\ndef f(): faulthandler.dump_traceback()\nf()',
  'faulthandler after a time': 'import faulthandler, time\nfaulthandler.dump_traceback_later(0.1, exit=True)\ntime.sleep(5)',
  'faulthandler.register':
    'import faulthandler, os, signal\nfaulthandler.register(signal.SIGUSR1)\nos.kill(os.getpid(), signal.SIGUSR1)',
  'a fatal error': 'import ctypes\nctypes.pythonapi.Py_FatalError(b"on purpose")',
  'a division in C': 'import ctypes\nprint("x")\nctypes.CDLL(None).raise_ = 1\nctypes.CDLL(None)["raise"](8)',
  'C exit': 'import ctypes\nprint("lost")\nctypes.CDLL(None).exit(11)',
  Py_Exit: 'import ctypes\nprint("kept")\nctypes.pythonapi.Py_Exit(12)',
  'Py_AtExit order': 'import ctypes, atexit\nlibc = ctypes.CDLL(None)\nlibc.puts(b"from C")\nprint("from Python")',
  alarm: 'import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\nsignal.pause()',
  'alarm with a handler': String.raw`
import signal
def handle(number, frame):
    print(number, frame.f_code.co_name); raise TimeoutError('time')
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.05)
while True: pass`,
  'a handler and pause': String.raw`
import os, signal
signal.signal(signal.SIGUSR1, lambda *a: print('handled', a[0]))
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigtimedwait([signal.SIGUSR2], 0.01))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
os.kill(os.getpid(), signal.SIGUSR2)
print(signal.sigpending(), signal.sigwait([signal.SIGUSR2]))`,
  'the wakeup descriptor': String.raw`
import os, signal
reader, writer = os.pipe2(os.O_NONBLOCK)
signal.set_wakeup_fd(writer)
signal.signal(signal.SIGUSR1, lambda *a: None)
signal.raise_signal(signal.SIGUSR1)
print(os.read(reader, 10))`,
  'stdout is written when it ends': 'import sys\nsys.stdout.write("a")\nsys.stderr.write("b")\nsys.stdout.write("c")',
  'stdout is lost in os._exit': 'import os, sys\nprint("lost")\nprint("kept", file=sys.stderr)\nos._exit(0)',
  'stdout is written past its buffer': 'import os\nprint("x" * 8191)\nprint("y" * 100)\nos._exit(0)',
  'stdout closed': 'import sys\nsys.stdout.close()\nprint("x")',
  'stdout closed below': 'import os\nos.close(1)\nprint("x")',
  'stdout closed below and flushed': 'import os, sys\nos.close(1)\nprint("x")\nsys.stdout.flush()',
  'stderr closed': 'import sys\nsys.stderr.close()\n1 / 0',
  'stderr closed below': 'import os\nos.close(2)\nprint("x")\n1 / 0',
  'stdout none': 'import sys\nsys.stdout = None\nprint("x")\nsys.stderr.write("y")',
  'stderr none': 'import sys\nsys.stderr = None\n1 / 0',
  'stdout replaced': 'import io, sys\nsys.stdout = io.StringIO()\nprint("x")\nsys.__stdout__.write(sys.stdout.getvalue().upper())',
  'stdout detached': 'import sys\nraw = sys.stdout.detach()\nraw.write(b"raw\\n")\nprint("x")',
  'stdout full': 'import sys\nsys.stdout = open("/dev/full", "w")\nprint("x")',
  'stdout is /dev/full below': 'import os\nos.dup2(os.open("/dev/full", os.O_WRONLY), 1)\nprint("x")',
  'a broken pipe': String.raw`
import os
reader, writer = os.pipe()
os.close(reader)
try: os.write(writer, b'x')
except BrokenPipeError as error: print(error)
os.dup2(writer, 1)
print('x')`,
  'writes from two levels': String.raw`
import os, sys
print('1'); sys.stdout.buffer.write(b'2\n'); os.write(1, b'3\n'); sys.stdout.flush(); os.write(1, b'4\n')`,
  'a file too large': String.raw`
import os
try:
    with open('big', 'wb') as file: file.truncate(1 << 40)
except OSError as error: print(error)`,
  'a full disk': String.raw`
try:
    with open('big', 'wb') as file:
        while True: file.write(bytes(1 << 20))
except OSError as error: print(error)`,
  'too many open files': String.raw`
import os
opened = []
try:
    while True: opened.append(os.dup(0))
except OSError as error: print(len(opened), error)`,
  'too many threads': String.raw`
import threading
started, stop = 0, threading.Event()
try:
    while True:
        threading.Thread(target=stop.wait).start(); started += 1
except RuntimeError as error: print(started, error)
stop.set()`,
  'too many processes': String.raw`
import os, signal
children = []
try:
    while True:
        child = os.fork()
        if child == 0: signal.pause()
        children.append(child)
except OSError as error: print(len(children), error)
for child in children: os.kill(child, signal.SIGKILL)`,
  'an address space of its own': String.raw`
import resource
resource.setrlimit(resource.RLIMIT_AS, (100 << 20, 100 << 20))
try: bytearray(200 << 20)
except MemoryError as error: print('refused', error)
bytearray(300 << 20)`,
} // prettier-ignore
