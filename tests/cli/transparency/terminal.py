# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own, driven by what it prints."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

PROMPT = b"<prompt>"


class Terminal:
    """`with Terminal(command) as t`: t.type(keys), t.expect(text); everything in its session dies at the end."""

    def __init__(self, command, env, size=(33, 99)):
        self.text = b""
        self.position = 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                os.execvpe(command[0], command, env)
            finally:
                os._exit(125)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            for group in {self.pid, os.tcgetpgrp(self.master)} - {0}:
                try:
                    os.killpg(group, signal.SIGKILL)
                except OSError:
                    pass
            os.waitpid(self.pid, 0)
        os.close(self.master)

    def type(self, keys):
        os.write(self.master, keys)

    def expect(self, wanted, seconds=20):
        """Waits for a text behind the last one found; returns what stood before it."""
        end = time.monotonic() + seconds
        while wanted not in self.text[self.position:]:
            left = end - time.monotonic()
            assert left > 0, f"{wanted!r} did not come; the terminal shows {self.text!r}"
            if select.select([self.master], [], [], min(left, 0.2))[0]:
                try:
                    self.text += os.read(self.master, 65536)
                except OSError:  # all descriptors of the other side are closed
                    assert wanted in self.text[self.position:], f"ended without {wanted!r}: {self.text!r}"
        at = self.text.index(wanted, self.position)
        before = self.text[self.position:at]
        self.position = at + len(wanted)
        return before

    def status(self):
        """Wait status of the program, which has to end by itself."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return status
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.master, 65536)
                except OSError:
                    pass
        raise AssertionError(f"the program does not end; the terminal shows {self.text!r}")

    def attributes(self):
        return termios.tcgetattr(self.master)


class Shell(Terminal):
    """bash -i with job control."""

    def __init__(self, env):
        super().__init__(["bash", "--norc", "--noprofile", "--noediting", "-i"],
                         dict(env, PS1=PROMPT.decode(), PS2="", TERM="dumb", HISTFILE=""))
        self.expect(PROMPT)
        self.command(b"stty -echo")

    def start(self, line):
        self.type(line + b"\n")

    def command(self, line):
        """Types a line and returns what it prints up to the next prompt."""
        self.start(line)
        return self.expect(PROMPT)
