# Makes the system calls that it reads from standard input, one in each line: number and six arguments. Prints the call's
# errno (0 for success) or "signal N", one line for each call. Each call has its own process, so that a call that succeeds by
# mistake does not harm later ones.
import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

for line in sys.stdin:
    words = [ctypes.c_long(int(word, 0)) for word in line.split()]
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        ctypes.set_errno(0)
        result = libc.syscall(*words)
        os.write(writer, str(ctypes.get_errno() if result == -1 else 0).encode())
        os._exit(0)
    os.close(writer)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        print('signal', os.WTERMSIG(status))
    else:
        print(os.read(reader, 16).decode())
    os.close(reader)
