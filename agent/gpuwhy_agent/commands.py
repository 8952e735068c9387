# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Wishes of gpuwhy, written into the control area of the ring and taken by the hooks."""
import sys

from gpuwhy_agent import core
from gpuwhy_agent import wire_gen as wire

state = core.state
LONGEST_MS = 5000


def take():
    """Takes the latest command once and acknowledges it; commands of the CUDA library are none of ours."""
    sequence, command, milliseconds = state.ring.command()
    state.command_seq = sequence
    milliseconds = min(milliseconds or 1000, LONGEST_MS)
    if command == wire.COMMAND_HOST_SAMPLES:
        from gpuwhy_agent import host_samples
        host_samples.start(milliseconds)
    elif command == wire.COMMAND_TF_PROFILE:
        window = sys.modules.get("gpuwhy_agent.tensorflow_window")
        if window is not None:
            window.begin(milliseconds)
        else:
            core.gap("time in tf.data inside a tf.function", "the job has not imported TensorFlow's profiler", "")
    state.ring.acknowledge(sequence)


def user_profiler():
    window = sys.modules.get("gpuwhy_agent.tensorflow_window")
    if window is not None:
        window.user_profiler()
