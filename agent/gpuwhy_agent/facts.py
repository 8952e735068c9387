# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The flat dictionary of facts (names, units, meaning: docs/witnesses/framework.md), sent whole whenever it changed."""
import json
import os
import sys

from gpuwhy_agent import VERSION
from gpuwhy_agent import wire_gen as wire


class Facts(object):
    """Values and, for what is not known, the reason. A name is in one of the two, never in both."""

    def __init__(self, ring):
        self.ring = ring
        self.values = {}
        self.states = {}
        self.changed = False

    def set(self, name, value):
        if name not in self.values or self.values[name] != value:
            self.values[name] = value
            self.states.pop(name, None)
            self.changed = True

    def unknown(self, name, why):
        """Notes why a fact is missing; a value that was known before stays."""
        if name not in self.values and self.states.get(name) != why:
            self.states[name] = why
            self.changed = True

    def attempt(self, name, function):
        """Sets a fact from a call, or notes the exception as the reason that it is unknown."""
        try:
            self.set(name, function())
        except Exception as error:
            self.unknown(name, "%s: %s" % (type(error).__name__, error))

    def flush(self):
        """Sends everything known, in one text, if anything changed since the last time."""
        if not self.changed:
            return
        self.changed = False
        text = json.dumps({"facts": self.values, "states": self.states}, default=str)
        self.ring.blob(wire.BLOB_KIND_FACTS_JSON, text.encode("ascii", "replace"))


def python_facts(facts):
    """What is known of the interpreter; paths are masked, where needed, by whoever prints them."""
    facts.set("agent.version", VERSION)
    facts.set("python.version", "%d.%d.%d" % sys.version_info[:3])
    facts.set("python.executable", sys.executable or "")
    facts.set("python.prefix", sys.prefix)
    facts.set("python.base_prefix", sys.base_prefix)
    facts.set("python.path", [str(entry) for entry in sys.path])
    arguments = getattr(sys, "argv", None) or [""]  # not set yet while site runs
    facts.set("python.argv0", os.path.basename(arguments[0]))
