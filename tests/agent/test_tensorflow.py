# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Real TensorFlow and Keras on the CPU."""
import importlib.util

from agent_support import ROOT, need_framework

FIT = """
import copy, pickle
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
x = np.random.rand(1600, 16).astype("float32")
y = np.random.rand(1600, 1).astype("float32")
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("adam", "mse")
history = model.fit(x, y, batch_size=32, epochs=2, verbose=0, validation_data=(x, y))
model.train_on_batch(x[:32], y[:32])
model.save_weights("w.weights.h5")
model.save("w.keras")
copy.deepcopy(model)
pickle.loads(pickle.dumps(model))
for batch in tf.data.Dataset.from_tensor_slices(x).batch(64):
    pass
print("loss %.5f" % history.history["loss"][-1])
"""

WINDOW = """
import struct, sys, glob, os, mmap
import numpy as np
import tensorflow as tf
import keras
sys.path.insert(0, {tests!r})
SCHEMA_SEQ, COMMAND, MS = 144, 148, 152

def wish(command, milliseconds):
    with open(glob.glob(os.environ["GPUWHY_SPOOL"] + "/*.ring")[0], "r+b") as ring:
        view = mmap.mmap(ring.fileno(), 4096)
        struct.pack_into("<II", view, COMMAND, command, milliseconds)
        struct.pack_into("<I", view, SCHEMA_SEQ, struct.unpack_from("<I", view, SCHEMA_SEQ)[0] + 1)

def slow(x):
    def work(value):
        import time
        time.sleep(0.02)
        return value
    return tf.numpy_function(work, [x], tf.float32)

data = tf.data.Dataset.from_tensor_slices(np.random.rand(64, 8).astype("float32")).repeat()
data = data.map(slow).map(lambda v: (tf.ensure_shape(v, [8]), tf.constant([1.0]))).batch(4).prefetch(2)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, steps_per_epoch=5, verbose=0)
wish(6, 1000)
if {own!r}:
    model.fit(data, steps_per_epoch=2, verbose=0)
    tf.profiler.experimental.start("logs")
model.fit(data, steps_per_epoch=60, verbose=0)
if {own!r}:
    tf.profiler.experimental.stop()
    assert glob.glob("logs/plugins/profile/*/*.xplane.pb")
    wish(6, 1000)
    model.fit(data, steps_per_epoch=2, verbose=0)
"""


def test_keras_fit(job):
    python = need_framework("tensorflow")
    done = job.run(python, job.script(FIT))
    assert done.stdout.startswith("loss ")
    assert done.stdout == job.run(python, job.script(FIT), watched=False).stdout
    ring = job.ring()
    assert sum(record["steps"] for record in ring.of("train_call")) == ring.header["steps"] == 101
    assert len(ring.of("save")) == 2
    waits = ring.of("wait")
    assert sum(record["items"] for record in waits) == 1600, "only the eager loop draws batches in Python"
    facts = ring.facts()
    assert facts["keras.input"] == "ArrayDataAdapter" and facts["keras.batch_size"] == 32
    assert facts["keras.optimizer"] == "Adam" and facts["keras.backend"] == "tensorflow"
    assert facts["tensorflow.initialized"] is True and facts["tensorflow.gpu_count"] == 0
    assert facts["tensorflow.variables.cpu_bytes"] > 16 * 8 * 4 and facts["tensorflow.variables.gpu_bytes"] == 0
    assert facts["tensorflow.cuda_built"] is True and facts["tensorflow.cuda_version"]
    assert "agent.error" not in facts and "agent.disabled_reason" not in facts


def test_functions_that_are_traced_again_are_named(job):
    code = """
import tensorflow as tf
@tf.function
def grows(x):
    return x * 2
@tf.function
def steady(x):
    return x + 1
for size in range(1, 9):
    grows(tf.zeros([size]))
    steady(tf.zeros([4]))
"""
    job.run(need_framework("tensorflow"), job.script(code))
    assert job.ring().facts()["tensorflow.retraced_functions"] == ["grows"]


def test_import_starts_no_runtime(job):
    python = need_framework("tensorflow")
    job.run(python, "-c", "import tensorflow")
    ring = job.ring()
    assert ring.facts()["tensorflow.initialized"] is False
    assert "tensorflow.gpu_count" in ring.states() and "tensorflow.gpu_count" not in ring.facts()


def test_window_sees_the_input_pipeline(job):
    python = need_framework("tensorflow")
    job.run(python, job.script(WINDOW.format(tests=str(ROOT / "tests" / "agent"), own=False)))
    ring = job.ring()
    facts = ring.facts()
    assert ring.gaps() == [], ring.gaps()
    assert ring.header["ack_seq"] == 1
    assert 0.9 < facts["tensorflow.input.window_seconds"] < 3
    share = facts["tensorflow.input.get_next_seconds"] / facts["tensorflow.input.window_seconds"]
    assert share > 0.7, "four samples of 20 ms each make a step wait for nearly all of its time"
    assert facts["tensorflow.input.get_next_count"] >= 8
    assert "Map" in facts["tensorflow.input.slowest_iterator"]
    assert [path.suffix for path in job.spool.iterdir()] == [".ring"], "nothing is left in the spool"


def test_the_jobs_own_profiler_wins(job):
    python = need_framework("tensorflow")
    job.run(python, job.script(WINDOW.format(tests=str(ROOT / "tests" / "agent"), own=True)))
    ring = job.ring()
    names = dict(ring.blobs("frame_name"))
    assert [(record["action"], names[record["id"]]) for record in ring.of("profiler")] == [(1, "tf.profiler"), (2, "tf.profiler")]
    assert [gap["why"] for gap in ring.gaps()] == ["the job started its own profiler", "the job uses its own profiler"]
    assert "tensorflow.input.window_seconds" not in ring.facts()


def encode(number, value):
    """One protobuf field, written independently of the reader."""
    def varint(value):
        out = b""
        while value > 127:
            out += bytes([value & 127 | 128])
            value >>= 7
        return out + bytes([value])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def load_xplane(agent):
    spec = importlib.util.spec_from_file_location("xplane_under_test", agent / "gpuwhy_agent" / "xplane.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_xplane_reader(agent):
    xplane = load_xplane(agent)

    def metadata(identity, name):
        return encode(4, encode(1, identity) + encode(2, encode(1, identity) + encode(2, name)))

    def event(identity, picoseconds):
        return encode(4, encode(1, identity) + encode(2, 5) + encode(3, picoseconds))

    late_id = encode(4, encode(3, 10**12) + encode(1, 300))
    plane = encode(2, b"/host:CPU") + encode(3, encode(2, b"t") + event(300, 2 * 10**12) + event(7, 10**12) +
                                              event(9, 5 * 10**11) + late_id)
    plane += metadata(300, b"IteratorGetNextAsOptionalOp::DoCompute") + metadata(7, b"MatMul") + metadata(9, b"Iterator::Root::Map#id=1#")
    totals = {}
    for _ in xplane.read(encode(1, plane) + encode(4, b"host"), totals):
        pass
    assert totals == {"IteratorGetNextAsOptionalOp::DoCompute": [3.0, 2], "Iterator::Root::Map": [0.5, 1]}
    for cut in range(1, len(plane), 7):
        try:
            list(xplane.read(encode(1, plane)[:cut], {}))
        except (ValueError, IndexError):
            pass  # the two errors that the caller turns into a gap


