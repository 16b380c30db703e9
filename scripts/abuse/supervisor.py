"""Runs a program and interferes with one of its system calls. Usage: supervisor.py PROGRAM ...

The kernel notifies this process of every system call that changes files (seccomp user notification, Linux
5.6). The process counts the calls on files below a directory, over all threads, and interferes with the call of
a given number. Environment variables:

  ABUSE_UNDER    the directory, as an absolute path without links
  ABUSE_LOG      a file to which every counted call is written: "name<TAB>path"
  ABUSE_AT       number of the call, from 1
  ABUSE_DO       action at this call:
                   ENOSPC, EIO   the call fails
                   kill          the process is killed before the call
                   torn          a write writes half, then the process is killed
                   hold          the call waits while the file ABUSE_HELD exists, which the supervisor creates
  ABUSE_ON       "on": this call and all later calls fail. With ENOSPC, calls that need no space
                 succeed, as on a full disk.
  ABUSE_HELD     see hold

The supervisor ends with the same exit code or by the same signal as the program. Exit code 126 means that the
kernel does not support notifications here.

A preloaded library would not see system calls made without the C library, and would need a compiler;
`strace -e inject=` counts by thread and needs the right to trace. Neither tool can write half of the bytes of
a write in one of many threads.
"""

import array
import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import socket
import struct
import sys
import time

# Numbers of system calls; architectures without the old calls share one table.
GENERIC = {
    "openat": 56, "write": 64, "writev": 66, "pwrite64": 68, "pwritev": 70, "pwritev2": 287, "sendfile": 71,
    "copy_file_range": 285, "renameat": 38, "renameat2": 276, "unlinkat": 35, "mkdirat": 34, "linkat": 37,
    "symlinkat": 36, "fsync": 82, "fdatasync": 83, "ftruncate": 46, "truncate": 45, "fallocate": 47,
    "openat2": 437, "seccomp": 277,
}  # fmt: skip
NUMBERS = {
    "x86_64": (0xC000003E, {
        "open": 2, "openat": 257, "openat2": 437, "creat": 85, "write": 1, "writev": 20, "pwrite64": 18,
        "pwritev": 296, "pwritev2": 328, "sendfile": 40, "copy_file_range": 326, "rename": 82, "renameat": 264,
        "renameat2": 316, "unlink": 87, "unlinkat": 263, "rmdir": 84, "mkdir": 83, "mkdirat": 258, "link": 86,
        "linkat": 265, "symlink": 88, "symlinkat": 266, "fsync": 74, "fdatasync": 75, "ftruncate": 77,
        "truncate": 76, "fallocate": 285, "seccomp": 317,
    }),
    "aarch64": (0xC00000B7, GENERIC),
    "riscv64": (0xC00000F3, GENERIC),
}  # fmt: skip
PIDFD_GETFD = 438
NO_NEW_PRIVILEGES, SET_FILTER, NEW_LISTENER = 38, 1, 8
ASK, ALLOW = 0x7FC00000, 0x7FFF0000
RECEIVE, ANSWER, GO_ON = 0xC0502100, 0xC0182101, 1
HERE = -100

# Indices of the arguments with the directory and the path, or with the file descriptor.
BY_PATH = {
    "open": (None, 0), "openat": (0, 1), "openat2": (0, 1), "creat": (None, 0), "rename": (None, 1),
    "renameat": (2, 3), "renameat2": (2, 3), "unlink": (None, 0), "unlinkat": (0, 1), "rmdir": (None, 0),
    "mkdir": (None, 0), "mkdirat": (0, 1), "link": (None, 1), "linkat": (2, 3), "symlink": (None, 1),
    "symlinkat": (1, 2), "truncate": (None, 0),
}  # fmt: skip
BY_FILE = {
    "write": 0, "writev": 0, "pwrite64": 0, "pwritev": 0, "pwritev2": 0, "sendfile": 0, "copy_file_range": 2,
    "fsync": 0, "fdatasync": 0, "ftruncate": 0, "fallocate": 0,
}  # fmt: skip
WRITES = {"write", "writev", "pwrite64", "pwritev", "pwritev2"}
OPENS = {"open", "openat", "openat2", "creat"}
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
NEEDS_SPACE = WRITES | {
    "sendfile",
    "copy_file_range",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
}
NEEDS_SPACE |= {"fsync", "fdatasync", "fallocate"}
C = ctypes.CDLL(None, use_errno=True)


def signed(value):
    """Returns the C int in a register."""
    return ctypes.c_int(value & 0xFFFFFFFF).value


def listener(calls):
    """Makes the kernel notify about these calls of this process; returns the file descriptor for
    notifications."""
    machine, numbers = NUMBERS[platform.machine()]
    wanted = [numbers[name] for name in calls if name in numbers]
    # Load the architecture and allow all calls if it differs; load the number and notify if it is
    # listed.
    lines = [(0x20, 0, 0, 4), (0x15, 1, 0, machine), (0x06, 0, 0, ALLOW), (0x20, 0, 0, 0)]
    for number in wanted:
        lines += [(0x15, 0, 1, number), (0x06, 0, 0, ASK)]
    lines.append((0x06, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = struct.pack("@HP", len(lines), ctypes.addressof(code))
    if C.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return -1
    return C.syscall(numbers["seccomp"], SET_FILTER, NEW_LISTENER, program)


def start(words, calls):
    """Starts the program; returns its process id and the file descriptor for notifications."""
    here, there = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            asked = listener(calls)
            # The descriptor is sent before exec; the filter does not contain the system calls with which the C library
            # sends the descriptor.
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                # Python ignores these signals; the program must not inherit this setting.
                signal.signal(number, signal.SIG_DFL)
            there.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [asked]))])
            os.execv(words[0], words)
        finally:
            os._exit(126)
    there.close()
    _, parts, _, _ = here.recvmsg(1, socket.CMSG_SPACE(4))
    if not parts:
        os._exit(126)
    return child, array.array("i", parts[0][2])[0]


class Call:
    """A pending system call."""

    def __init__(self, notice, names):
        self.id, self.thread = struct.unpack_from("=QI", notice)
        number, _, _, *self.arguments = struct.unpack_from("=iIQ6Q", notice, 16)
        self.name = names[number]

    def memory(self, at, size):
        with open(f"/proc/{self.thread}/mem", "rb", buffering=0) as memory:
            return os.pread(memory.fileno(), size, at)

    def text(self, at):
        """Reads a NUL-terminated string, page by page."""
        text = b""
        while b"\0" not in text and len(text) < 8192:
            text += self.memory(at + len(text), 4096 - (at + len(text)) % 4096)
        return text.split(b"\0")[0]

    def place(self):
        """Returns the path of the file that the call refers to."""
        file = BY_FILE.get(self.name)
        try:
            if file is not None:
                return os.readlink(f"/proc/{self.thread}/fd/{signed(self.arguments[file])}")
            folder, path = BY_PATH[self.name]
            text = os.fsdecode(self.text(self.arguments[path]))
            if text.startswith("/"):
                return text
            folder = HERE if folder is None else signed(self.arguments[folder])
            base = "cwd" if folder == HERE else f"fd/{folder}"
            return os.path.join(os.readlink(f"/proc/{self.thread}/{base}"), text)
        except OSError:
            return ""

    def flags(self):
        if self.name == "creat":
            return CHANGES
        if self.name == "openat2":
            return struct.unpack("=Q", self.memory(self.arguments[2], 8))[0]
        return self.arguments[1 if self.name == "open" else 2]

    def write_half(self, process):
        """Writes half of the data in place of the call."""
        file, at, size = self.arguments[:3]
        if "v" in self.name[-3:]:
            parts = struct.iter_unpack("=QQ", self.memory(at, 16 * size))
            data = b"".join(self.memory(*part) for part in parts if part[1])
        else:
            data = self.memory(at, size)
        handle = C.syscall(PIDFD_GETFD, os.pidfd_open(process), signed(file), 0)
        if handle < 0 or len(data) < 2:
            return
        some = data[: len(data) // 2]
        if self.name.startswith("pwrite"):
            os.pwrite(handle, some, self.arguments[3])
        else:
            os.write(handle, some)


class Spoiler:
    """Counts calls and interferes with the configured one."""

    def __init__(self, child, asked, names, environment):
        self.child, self.asked, self.names = child, asked, names
        self.under = environment.get("ABUSE_UNDER", "")
        self.log = open(environment["ABUSE_LOG"], "w") if "ABUSE_LOG" in environment else None
        self.at, self.deed = int(environment.get("ABUSE_AT", 0)), environment.get("ABUSE_DO", "")
        self.on = environment.get("ABUSE_ON") == "on"
        self.held = environment.get("ABUSE_HELD", "")
        self.count = 0

    def verdict(self, call):
        """Returns a negative errno, or None to let the call proceed."""
        flags = call.flags() if call.name in OPENS else 0
        if call.name in OPENS and not flags & CHANGES:
            return None
        place = call.place()
        if place != self.under and not place.startswith(self.under + "/"):
            return None
        self.count += 1
        if self.log:
            name = "open" if call.name in OPENS else call.name
            print(name, place[len(self.under) :].replace("\n", " "), sep="\t", file=self.log, flush=True)
        if not self.at or self.count < self.at or (self.count > self.at and not self.on):
            return None
        return self.spoil(call, self.needs_space(call, flags, place))

    @staticmethod
    def needs_space(call, flags, place):
        """Returns whether the call fails on a full disk. Calls on existing files need no more space."""
        if call.name in OPENS or call.name.startswith("mkdir"):
            return (flags & os.O_CREAT or call.name not in OPENS) and not os.path.lexists(place)
        # Directory entries are allocated immediately, contents later.
        return call.name in NEEDS_SPACE and not (call.name == "fsync" and os.path.isdir(place))

    def spoil(self, call, space):
        if self.deed == "hold":
            open(self.held, "w").close()
            while os.path.exists(self.held):
                time.sleep(0.01)
            return None
        if self.deed in ("torn", "kill"):
            if self.deed == "torn" and call.name in WRITES:
                call.write_half(self.child)
            os.kill(self.child, signal.SIGKILL)
            return None
        if self.deed == "ENOSPC" and not space:
            return None
        return -getattr(errno, self.deed)

    def serve(self):
        """Answers notifications until the program has ended; returns its status."""
        poll = select.poll()
        poll.register(self.asked, select.POLLIN)
        while True:
            for _, event in poll.poll(100):
                if event & select.POLLIN:
                    self.answer()
                elif event & select.POLLHUP:
                    return os.waitpid(self.child, 0)[1]
            # Child processes of the program may still be running.
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid:
                return status

    def answer(self):
        notice = bytearray(80)
        try:
            fcntl.ioctl(self.asked, RECEIVE, notice)
            call = Call(notice, self.names)
            try:
                verdict = self.verdict(call)
            except (OSError, struct.error):
                # The process has ended in the meantime.
                verdict = None
            error, flags = (0, GO_ON) if verdict is None else (verdict, 0)
            fcntl.ioctl(self.asked, ANSWER, struct.pack("=QqiI", call.id, 0, error, flags))
        except OSError as gone:
            if gone.errno not in (errno.ENOENT, errno.EINTR, errno.EINPROGRESS):
                raise


def main():
    if platform.machine() not in NUMBERS:
        os._exit(126)
    names = {number: name for name, number in NUMBERS[platform.machine()][1].items() if name != "seccomp"}
    child, asked = start(sys.argv[1:], set(names.values()))
    status = Spoiler(child, asked, names, os.environ).serve()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


main()
