# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks in TensorFlow and Keras: train_function, tf.data's eager iterator, checkpoints, profiler starts.

Never a Keras batch callback: unless it is marked asynchronous it makes Keras convert the logs, a synchronisation every step.
"""
import functools
import struct
import sys
import weakref

from gpuwhy_agent import core, hooks
from gpuwhy_agent import wire_gen as wire
from gpuwhy_agent.ring import clock

state = core.state
TRAIN_CALL = struct.Struct(wire.FORMAT_TRAIN_CALL)


class _Job(object):
    """What the hooks learnt of the job, for tensorflow_facts."""
    model = None  # weak reference to the model of the latest train function
    input_kind = None
    last_ns = 0
    start_ns = 0
    duration_ns = 0
    steps = 0


job = _Job()


class TrainCall(object):
    """Stands for a train function: calls it, times it, and answers every other question with the function's own answer."""
    __slots__ = ("function", "steps")

    def __init__(self, function, steps):
        self.function = function
        self.steps = steps

    def __call__(self, *args, **kwargs):
        if not state.active:
            return self.function(*args, **kwargs)
        start = clock()
        result = self.function(*args, **kwargs)
        end = clock()
        if core.own_process():
            try:
                _trained(start, end, self.steps)
                hooks.account(end)
            except Exception as error:
                core.fail("train_function hook", error)
        return result

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.function, name)


def _trained(start, end, steps):
    state.steps += steps
    state.ring.set_steps(state.steps)
    if not job.steps:
        job.start_ns = start
    job.steps += steps
    job.duration_ns += end - start
    if end - job.last_ns >= hooks.SPACING_NS:
        job.last_ns = end
        _write_train_call()
    hooks.after_work(end)


def _write_train_call():
    if job.steps:
        state.ring.write(TRAIN_CALL, wire.TYPE_TRAIN_CALL, 0, job.start_ns, job.duration_ns, job.steps, 0)
        job.steps = job.duration_ns = 0


core.imports.finishers.append(_write_train_call)


def _wrap_make_train_function(original):
    @functools.wraps(original)
    def make_train_function(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if not core.own_process():
            return result
        try:
            function = self.train_function
            if not isinstance(function, TrainCall) and callable(function):
                self.train_function = TrainCall(function, _steps_per_call(self))
                job.model = weakref.ref(self)
            return self.train_function if result is function and result is not None else result
        except Exception as error:
            core.fail("make_train_function hook", error)
            return result
    return make_train_function


def _steps_per_call(model):
    steps = getattr(model, "steps_per_execution", None)
    if steps is None:
        steps = getattr(model, "_steps_per_execution", 1)  # Keras 2: a variable
    try:
        return max(int(steps), 1)
    except (TypeError, ValueError):
        return max(int(steps.numpy()), 1)


def _patch_trainer(class_name):
    def patch(module):
        cls = getattr(module, class_name, None)
        if cls is not None:
            hooks.wrap_attribute(cls, "make_train_function", _wrap_make_train_function)
    return patch


def _wrap_dataset_next(original):
    """`for batch in dataset` in a loop of the job's own; inside a tf.function it runs once, at tracing, and is no wait."""
    eager = sys.modules["tensorflow.python.eager.context"].executing_eagerly

    @functools.wraps(original)
    def __next__(self):
        if not state.active or not eager():
            return original(self)
        start = clock()
        data = original(self)
        end = clock()
        if core.own_process():
            try:
                _drawn(self, data, start, end)
                hooks.account(end)
            except Exception as error:
                core.fail("dataset hook", error)
        return data
    return __next__


def _drawn(iterator, data, start, end):
    loader = iterator.__dict__.get("_gpuwhy_loader")
    if loader is None:
        loader = hooks.Loader()
        object.__setattr__(iterator, "_gpuwhy_loader", loader)
        state.facts.set("tensorflow.loader.%d.kind" % loader.number, "tf.data")
    first = data
    while isinstance(first, (tuple, list, dict)) and first:
        first = next(iter(first.values())) if isinstance(first, dict) else first[0]
    shape = getattr(first, "shape", None)
    items = shape[0] if shape is not None and shape.rank else 0
    loader.record(start, end, int(items or 0), False)
    hooks.after_work(end)


def patch_iterator(module):
    hooks.wrap_attribute(module.OwnedIterator, "__next__", _wrap_dataset_next)


def patch_profiler(module):
    from gpuwhy_agent import tensorflow_window
    tensorflow_window.remember(module)
    wrap = lambda action: lambda function: hooks.profiled(function, action, "tf.profiler")  # noqa: E731
    hooks.wrap_attribute(module, "start", wrap(wire.PROFILER_ACTION_START))
    hooks.wrap_attribute(module, "stop", wrap(wire.PROFILER_ACTION_STOP))


def patch_saving(module):
    for name in ("save_model", "save_weights"):
        hooks.wrap_attribute(module, name, hooks.timed_save)


def patch_legacy_training(module):
    """Keras 2: the model class carries both the train function and the two saves."""
    _patch_trainer("Model")(module)
    for name in ("save", "save_weights"):
        hooks.wrap_attribute(module.Model, name, hooks.timed_save)


def patch_package(module):
    """tensorflow or keras is complete: facts."""
    from gpuwhy_agent import tensorflow_facts
    hooks.watch_collections()
    if tensorflow_facts.collect not in state.collectors:
        state.collectors.append(tensorflow_facts.collect)
        hooks.memory_readers.append(tensorflow_facts.look_at_memory)
    core.framework_seen()
    core.collect("import")


PATCHES = {
    "tensorflow": patch_package,
    "keras": patch_package,
    "tensorflow.python.profiler.profiler_v2": patch_profiler,
    "tensorflow.python.data.ops.iterator_ops": patch_iterator,
    "keras.src.backend.tensorflow.trainer": _patch_trainer("TensorFlowTrainer"),
    "keras.src.backend.jax.trainer": _patch_trainer("JAXTrainer"),
    "keras.src.backend.torch.trainer": _patch_trainer("TorchTrainer"),
    "keras.src.saving.saving_api": patch_saving,
    "keras.engine.training": patch_legacy_training,
    "keras.src.engine.training": patch_legacy_training,
    "tf_keras.src.engine.training": patch_legacy_training,
    "tensorflow.python.keras.engine.training": patch_legacy_training,
}
