# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The producer side of a wire ring: a mapped file in the spool that gpuwhy drains (layout: wire/schema.json)."""
import itertools
import mmap
import os
import struct
import threading
import time

from gpuwhy_agent import wire_gen as wire

# Threads that pass the check for room at the same moment; each may take one slot beyond the limit.
SLACK = 64
CHUNK = 24
# A record that no reader knows: it fills a slot that was reserved but never written.
TYPE_FILLER = 0

_WORD_HEAD = wire.OFFSET_HEAD // 8
_WORD_DROPPED = wire.OFFSET_DROPPED // 8
_WORD_TAIL = wire.OFFSET_TAIL // 8
_WORD_STEPS = wire.OFFSET_STEPS // 8
_HALF_COMMAND_SEQ = wire.OFFSET_COMMAND_SEQ // 4

_BLOB = struct.Struct(wire.FORMAT_BLOB)
_COMMON = struct.Struct("<QHHI")

if hasattr(time, "monotonic_ns"):
    clock = time.monotonic_ns
else:  # Python 3.6
    def clock():
        return int(time.monotonic() * 1e9)


class _Thread(threading.local):
    """Kernel id of the calling thread, asked once a thread; 0 = unknown (before Python 3.8 there is no call for it)."""

    def __init__(self):
        self.id = threading.get_native_id() if hasattr(threading, "get_native_id") else 0


_thread = _Thread()


def start_ticks():
    """Field 22 of /proc/self/stat (proc(5)): with the pid it names this process for ever."""
    with open("/proc/self/stat", "rb") as stat:
        return int(stat.read().rpartition(b")")[2].split()[19])


class Ring(object):
    """One ring file. Writers take a slot through itertools.count, which the GIL makes atomic: no lock, no wait."""

    def __init__(self, spool, capacity):
        """Creates the file; OSError where the spool cannot hold all of it (the ring must never be sparse)."""
        ticks = start_ticks()
        stem = "%d-%d" % (os.getpid(), ticks)
        path = os.path.join(spool, stem + "-py.ring")
        attempt = 1
        while os.path.exists(path):  # the same process before an exec
            attempt += 1
            path = os.path.join(spool, "%s-%d-py.ring" % (stem, attempt))
        self.path = path
        self.capacity = capacity
        self.size = wire.HEADER_SIZE + capacity * wire.RECORD_SIZE
        self.alive = False
        self.map = self._create(path + ".new")
        self.words = memoryview(self.map).cast("Q")
        self.halves = memoryview(self.map).cast("I")
        self.counter = itertools.count()
        self.head = 0
        self.limit = capacity - SLACK
        self.blob_ids = itertools.count(1)
        self._fill_header(ticks)
        os.rename(path + ".new", path)
        self.alive = True

    def _create(self, name):
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, self.size)
            return mmap.mmap(descriptor, self.size)
        except (OSError, ValueError):
            os.unlink(name)
            raise OSError("the spool has no room for a ring of %d bytes" % self.size)
        finally:
            os.close(descriptor)

    def _fill_header(self, ticks):
        put = struct.pack_into
        put("<IIQIIQQQ", self.map, wire.OFFSET_VERSION, wire.VERSION, wire.RECORD_SIZE, self.capacity, os.getpid(),
            wire.PRODUCER_PYTHON, ticks, clock(), int(time.time() * 1e9))
        self.map[0:8] = wire.MAGIC

    def write(self, packer, kind, flags, *fields):
        """Writes one record; a full ring counts it as dropped. False if it was not written."""
        if not self.alive:
            return False
        if self.head - self.words[_WORD_TAIL] >= self.limit:
            self.words[_WORD_DROPPED] += 1
            return False
        try:
            index = next(self.counter)
            offset = wire.HEADER_SIZE + (index & (self.capacity - 1)) * wire.RECORD_SIZE
            packer.pack_into(self.map, offset + 8, clock(), kind, flags, _thread.id, *fields)
            self.words[offset >> 3] = index + 1
            if index >= self.head:
                self.head = self.words[_WORD_HEAD] = index + 1
            return True
        except BaseException:
            # A signal handler of the job (Ctrl-C) may raise between taking a slot and filling it.
            self.repair()
            raise

    def repair(self):
        """Fills slots that were taken but never written, so that a reader does not wait there for ever."""
        if not self.alive:
            return
        taken = int(repr(self.counter)[len("count("):-1])
        for index in range(max(self.words[_WORD_TAIL], taken - self.capacity), taken):
            offset = wire.HEADER_SIZE + (index & (self.capacity - 1)) * wire.RECORD_SIZE
            if self.words[offset >> 3] != index + 1:
                _COMMON.pack_into(self.map, offset + 8, clock(), TYPE_FILLER, 0, 0)
                self.words[offset >> 3] = index + 1
        self.head = self.words[_WORD_HEAD] = taken

    def blob(self, kind, data, blob_id=None):
        """Writes a text as consecutive pieces and returns its id."""
        if blob_id is None:
            blob_id = next(self.blob_ids)
        for offset in range(0, len(data) or 1, CHUNK):
            piece = data[offset:offset + CHUNK]
            self.write(_BLOB, wire.TYPE_BLOB, 0, blob_id, kind, len(piece), len(data), offset, piece)
        return blob_id

    def set_steps(self, steps):
        self.words[_WORD_STEPS] = steps

    def command(self):
        """(sequence, command, milliseconds) of gpuwhy's latest wish."""
        return self.halves[_HALF_COMMAND_SEQ], self.halves[wire.OFFSET_COMMAND // 4], self.halves[wire.OFFSET_COMMAND_MS // 4]

    def acknowledge(self, sequence):
        self.halves[wire.OFFSET_ACK_SEQ // 4] = sequence

    def close(self):
        """Last act of the process in this ring."""
        if self.alive:
            self.repair()
            self.halves[wire.OFFSET_CLOSED // 4] = 1
            self.alive = False

    def forsake(self):
        """In a forked child: the map belongs to the parent."""
        self.alive = False
