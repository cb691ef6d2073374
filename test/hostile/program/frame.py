import ctypes, errno, os, signal, socket, struct, sys, time
if socket.gethostname() != "box":
    print("ESCAPED there is no box", flush=True)
    os._exit(1)
libc = ctypes.CDLL(None, use_errno=True)
policy = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS, errno.ENOENT, errno.ESRCH, errno.ENXIO, errno.ENODEV,
    errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.EOPNOTSUPP, errno.ENOPROTOOPT,
    errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED, errno.EADDRNOTAVAIL, errno.EXDEV}
bad = 0
def escape(what):
    global bad
    bad += 1
    print("ESCAPED", what, flush=True)
def refused(what, attempt, *also):
    global bad
    try:
        result = attempt()
    except OSError as error:
        if error.errno in policy or error.errno in also:
            print("refused", what, error.strerror)
        else:
            bad += 1
            print("UNSURE", what, error, flush=True)
        return
    escape(f"{what}: {result!r:.300}")
def call(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
def look(path, flags=os.O_RDONLY):
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    os.close(descriptor)
    return "opened"
#BODY
if not bad: print("held", flush=True)
