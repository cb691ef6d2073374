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
    .map((name) => [
      `${name} by default`,
      `import os, signal\nprint('before', flush=True)\nprint('kept')\nos.kill(os.getpid(), signal.${name})\nprint('after')`,
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
  'atexit after an error': 'import atexit\natexit.register(print, "bye")\n1 / 0',
  'atexit after sys.exit': 'import atexit, sys\natexit.register(print, "bye")\nsys.exit(4)',
  'atexit and os._exit': 'import atexit, os\natexit.register(print, "bye")\nprint("lost")\nos._exit(6)',
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
  'faulthandler after a time': 'import faulthandler, time\nfaulthandler.dump_traceback_later(0.1, exit=True)\ntime.sleep(5)',
  'faulthandler.register':
    'import faulthandler, os, signal\nfaulthandler.register(signal.SIGUSR1)\nos.kill(os.getpid(), signal.SIGUSR1)',
  'a fatal error': 'import ctypes\nctypes.pythonapi.Py_FatalError(b"on purpose")',
  'C exit': 'import ctypes\nprint("lost")\nctypes.CDLL(None).exit(11)',
  Py_Exit: 'import ctypes\nprint("kept")\nctypes.pythonapi.Py_Exit(12)',
  'alarm with a handler': String.raw`
import signal
def handle(number, frame):
    print(number, frame.f_code.co_name); raise TimeoutError('time')
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.05)
while True: pass`,
  'stdout is lost in os._exit': 'import os, sys\nprint("lost")\nprint("kept", file=sys.stderr)\nos._exit(0)',
  'stdout is written past its buffer': 'import os\nprint("x" * 8191)\nprint("y" * 100)\nos._exit(0)',
  'stdout closed': 'import sys\nsys.stdout.close()\nprint("x")',
  'stdout closed below': 'import os\nos.close(1)\nprint("x")',
  'stderr closed': 'import sys\nsys.stderr.close()\n1 / 0',
  'stderr closed below': 'import os\nos.close(2)\nprint("x")\n1 / 0',
  'stdout none': 'import sys\nsys.stdout = None\nprint("x")\nsys.stderr.write("y")',
  'stdout replaced': 'import io, sys\nsys.stdout = io.StringIO()\nprint("x")\nsys.__stdout__.write(sys.stdout.getvalue().upper())',
  'stdout detached': 'import sys\nraw = sys.stdout.detach()\nraw.write(b"raw\\n")\nprint("x")',
  'stdout full': 'import sys\nsys.stdout = open("/dev/full", "w")\nprint("x")',
  'an address space of its own': String.raw`
import resource
resource.setrlimit(resource.RLIMIT_AS, (100 << 20, 100 << 20))
try: bytearray(200 << 20)
except MemoryError as error: print('refused', error)
bytearray(300 << 20)`,
} // prettier-ignore
