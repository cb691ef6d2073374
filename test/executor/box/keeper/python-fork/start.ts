// What a program finds when it starts: its interpreter, its process, its box.
import { printEach } from './program.ts'
import type { Programs } from './program.ts'

/** Prints the lines of two status files, without what is counted or placed anew in every run. */
const statusLines = String.raw`
import re
for process in ('self', '1'):
    for line in open('/proc/%s/status' % process):
        if not re.match('Vm|Rss|HugetlbPages|SigQ|Cpus|.*ctxt', line):
            print(line, end='')
`

/** Prints PR_GET_… options by number: kernel state of the process that /proc does not show. */
const kernelState = String.raw`
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for option in (2, 3, 7, 11, 16, 21, 23, 25, 27, 30, 34, 37, 39, 42):
    found = ctypes.c_long(-1)
    result = libc.prctl(option, ctypes.byref(found) if option in (2, 11, 25, 37) else 0, 0, 0, 0)
    print(option, result, ctypes.get_errno() if result < 0 else found.value)
for number in (252, 145, 140):
    print(number, libc.syscall(number, 1 if number == 252 else 0, 0))
print(libc.getpgid(0), libc.getsid(0), libc.sched_getscheduler(0), libc.umask(0o22), libc.alarm(0))
print(os.sched_getparam(0), os.sched_rr_get_interval(0) > 0, libc.getpagesize(), libc.getdtablesize())
`

/**
 * Prints the fields of /proc/self/stat that are no time, count or address. The flags are left out because one of them says
 * "forked".
 */
const statFields = String.raw`
fields = open('/proc/self/stat').read().split()
for number in [1, 2, 3, 4, 5, 6, 7, 8, 18, 19, 20, 21, 25, 26, 31, 32, 33, 34, 35, 36, 37, 38, 40, 41, 43, 44, 52]:
    print(number, fields[number - 1])
`

const mounts = String.raw`
import re
for line in open('/proc/self/mountinfo'):
    fields = line.split()
    print(fields[3:6], re.sub('[ug]id=[0-9]+', '', ' '.join(fields[6:])))
`

const descriptors = String.raw`
import os, re, stat, fcntl
for descriptor in range(64):
    try:
        found = os.fstat(descriptor)
    except OSError:
        continue
    name = re.sub('[0-9]+', 'N', os.readlink('/proc/self/fd/%d' % descriptor))
    print(descriptor, name, oct(found.st_mode), found.st_uid, found.st_gid, found.st_size, found.st_blksize)
    print(fcntl.fcntl(descriptor, fcntl.F_GETFL), fcntl.fcntl(descriptor, fcntl.F_GETFD))
    print(fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) if stat.S_ISFIFO(found.st_mode) else None)
`

const everythingOfSys = String.raw`
import sys
left_out = {'modules', 'path_importer_cache'}
for name in sorted(dir(sys)):
    value = getattr(sys, name)
    if name not in left_out and not callable(value):
        print(name, sorted(value) if isinstance(value, frozenset) else value)
`

const systemConfiguration = String.raw`
import os
for name in sorted(os.sysconf_names):
    if 'PAGES' in name: continue
    try:
        print(name, os.sysconf(name))
    except OSError as error:
        print(name, error)
`

const everyLimit = String.raw`
import resource
for name in sorted(dir(resource)):
    if name.startswith('RLIMIT_'): print(name, resource.getrlimit(getattr(resource, name)))
`

const everySignal = String.raw`
import signal
for number in sorted(signal.valid_signals()):
    print(number, signal.getsignal(number))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending(), signal.set_wakeup_fd(-1))
for timer in [signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF]: print(signal.getitimer(timer))
`

const everyNamespaceName = String.raw`
print(sorted(globals()), __name__, __doc__, __file__, __package__, __spec__, __builtins__, __annotations__)
print(__loader__.__class__, __loader__.name, __loader__.path)
`

const ownSource = String.raw`
import inspect, os, sys
# a comment
print(open(__file__).read() == open('/box/main.py').read(), inspect.getsource(sys.modules['__main__']))
print(oct(os.stat(__file__).st_mode), os.stat(__file__).st_size, os.listdir('/box'))
`

const usageAtStart = String.raw`
import resource, time
own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
print(own.ru_utime + own.ru_stime < 1, time.process_time() < 1, own.ru_maxrss > 4000, children)
print(own.ru_majflt, own.ru_nsignals, own.ru_nswap, time.thread_time() < 1)
`

const variablesByAddress = String.raw`
import ctypes
libc = ctypes.CDLL(None)
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, 'environ')
index = 0
while environ[index]:
    print(environ[index])
    index += 1
print(libc.getenv(b'LD_PRELOAD'))
`

const writtenVariables = String.raw`
import os
os.environ['A'] = 'b'
os.putenv('C', 'd')
os.unsetenv('HOME')
print(os.popen('env | sort').read(), open('/proc/self/environ').read().rstrip('\0'))
`

const files: Programs = Object.fromEntries(
  ['cmdline', 'comm', 'limits', 'cgroup', 'oom_score_adj', 'personality', 'timerslack_ns']
    .concat(['loginuid', 'sessionid', 'cpuset', 'coredump_filter', 'setgroups', 'attr/current'])
    .concat(['../2/cmdline', 'task/2/comm', '../1/environ', '../1/comm', 'mem'])
    .map((name) => [
      `/proc/self/${name}`,
      `try: print(open('/proc/self/${name}', 'rb').read())\nexcept OSError as error: print(error)`,
    ]),
)

/** What a program finds when it starts. */
export const start: Programs = {
  ...files,
  'lines of /proc/self/status': statusLines,
  'fields of /proc/self/stat': statFields,
  mounts,
  descriptors: descriptors,
  'everything of sys': everythingOfSys,
  sysconf: systemConfiguration,
  'what the kernel keeps of the process': kernelState,
  'every limit': everyLimit,
  'every signal': everySignal,
  'names of __main__': everyNamespaceName,
  'its own source': ownSource,
  'usage at start': usageAtStart,
  'variables in memory': variablesByAddress,
  'variables that are changed': writtenVariables,
  ...printEach('sys, os, gc, signal, time, locale, threading, warnings', [
    'sys.argv',
    'sys.orig_argv',
    'list(sys.modules)',
    'sys.path',
    'sys.flags',
    'sys.meta_path',
    'sys.path_hooks',
    '[place for place in sys.path if place in sys.path_importer_cache]',
    'sys.warnoptions',
    'sys._xoptions',
    'sys.getrecursionlimit(), sys.getswitchinterval(), sys.getdlopenflags()',
    'sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), sys.getdefaultencoding()',
    'sys.stdin, sys.stdout, sys.stderr',
    '[(s.buffer, s.buffer.raw) for s in (sys.stdin, sys.stdout, sys.stderr)]',
    '[(s.line_buffering, s.write_through, s.newlines, s.errors) for s in (sys.stdin, sys.stdout, sys.stderr)]',
    'sys.stdin.buffer.raw._blksize, sys.stdout.buffer.raw._blksize, sys.stdin.seekable(), sys.stdout.seekable()',
    'sys.gettrace(), sys.getprofile()',
    'sys.exc_info(), sys._getframe().f_code.co_name, sys._getframe().f_back',
    'sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.platlibdir',
    'sys.unraisablehook, sys.excepthook, sys.displayhook, sys.breakpointhook',
    'sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__',
    'sys.dont_write_bytecode, sys.pycache_prefix, sys.flags.hash_randomization',
    'sys.int_info, sys.thread_info, sys.hash_info, sys.float_info',
    'sorted(os.environ.items())',
    'list(os.environ)',
    'os.environb',
    'os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0), os.getpgid(1)',
    'os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups(), os.getresuid(), os.getresgid()',
    'os.getcwd(), os.listdir(), os.path.realpath("."), os.path.abspath("x")',
    'os.umask(0)',
    'os.uname().sysname, os.uname().nodename, os.uname().machine',
    'os.nice(0), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)',
    'len(os.sched_getaffinity(0)), os.cpu_count()',
    'os.isatty(0), os.isatty(1), os.isatty(2)',
    'os.ttyname(0) if os.isatty(0) else None',
    "sorted(os.listdir('/')), sorted(os.listdir('/dev')), sorted(os.listdir('/tmp'))",
    "sorted(os.listdir('/proc/self')), sorted(os.listdir('/proc/self/task'))",
    "sorted(n for n in os.listdir('/proc') if n.isdigit())",
    "os.readlink('/proc/self/exe'), os.readlink('/proc/self/cwd'), os.readlink('/proc/self/root')",
    "os.stat('/box').st_mode, os.stat('/box').st_uid, os.access('/box', os.W_OK)",
    "os.statvfs('/box').f_blocks, os.statvfs('/tmp').f_blocks, os.statvfs('/dev/shm').f_blocks",
    'os.times().children_user, os.times().children_system',
    'os.get_inheritable(0), os.get_inheritable(1), os.get_blocking(0), os.get_blocking(1)',
    'os.get_terminal_size.__name__, os.ctermid(), os.getlogin.__name__',
    'gc.get_threshold(), gc.isenabled(), gc.get_freeze_count(), gc.get_debug()',
    'gc.collect(), gc.garbage, gc.callbacks',
    'signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE), signal.getsignal(signal.SIGTERM)',
    'time.tzname, time.timezone, time.altzone, time.daylight, time.localtime(0)',
    'time.monotonic() > 0, time.perf_counter() > 0, abs(time.time() - time.clock_gettime(0)) < 1',
    'time.get_clock_info("monotonic"), time.get_clock_info("process_time")',
    'locale.getlocale(), locale.getpreferredencoding(), locale.setlocale(locale.LC_ALL), locale.localeconv()',
    'threading.enumerate(), threading.active_count(), threading.main_thread().native_id, threading.stack_size()',
    'threading.get_native_id() == os.getpid(), threading.main_thread().daemon',
    'warnings.filters',
    'warnings.showwarning, warnings._defaultaction, warnings._onceregistry',
  ]),
}
