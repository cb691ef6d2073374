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

const everyLimit = String.raw`
import resource
for name in sorted(dir(resource)):
    if name.startswith('RLIMIT_'): print(name, resource.getrlimit(getattr(resource, name)))
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
  'what the kernel keeps of the process': kernelState,
  'every limit': everyLimit,
  'names of __main__': everyNamespaceName,
  'its own source': ownSource,
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
    'sys.exc_info(), sys._getframe().f_code.co_name, sys._getframe().f_back',
    'sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.platlibdir',
    'sys.unraisablehook, sys.excepthook, sys.displayhook, sys.breakpointhook',
    'sorted(os.environ.items())',
    'os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0), os.getpgid(1)',
    'os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups(), os.getresuid(), os.getresgid()',
    'os.getcwd(), os.listdir(), os.path.realpath("."), os.path.abspath("x")',
    'os.uname().sysname, os.uname().nodename, os.uname().machine',
    'os.nice(0), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)',
    "sorted(os.listdir('/')), sorted(os.listdir('/dev')), sorted(os.listdir('/tmp'))",
    "sorted(os.listdir('/proc/self')), sorted(os.listdir('/proc/self/task'))",
    "sorted(n for n in os.listdir('/proc') if n.isdigit())",
    "os.readlink('/proc/self/exe'), os.readlink('/proc/self/cwd'), os.readlink('/proc/self/root')",
    "os.stat('/box').st_mode, os.stat('/box').st_uid, os.access('/box', os.W_OK)",
    "os.statvfs('/box').f_blocks, os.statvfs('/tmp').f_blocks, os.statvfs('/dev/shm').f_blocks",
    'os.get_inheritable(0), os.get_inheritable(1), os.get_blocking(0), os.get_blocking(1)',
    'gc.get_threshold(), gc.isenabled(), gc.get_freeze_count(), gc.get_debug()',
    'gc.collect(), gc.garbage, gc.callbacks',
    'signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE), signal.getsignal(signal.SIGTERM)',
    'time.tzname, time.timezone, time.altzone, time.daylight, time.localtime(0)',
    'locale.getlocale(), locale.getpreferredencoding(), locale.setlocale(locale.LC_ALL), locale.localeconv()',
    'threading.enumerate(), threading.active_count(), threading.main_thread().native_id, threading.stack_size()',
    'warnings.filters',
    'warnings.showwarning, warnings._defaultaction, warnings._onceregistry',
  ]),
}
