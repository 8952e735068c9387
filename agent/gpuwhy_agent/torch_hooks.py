# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks in PyTorch: loader __next__, the global optimizer-step hook, torch.save, profiler starts, first autocast.

Never patched: Tensor methods and module hooks (torch.compile warns about them, runs them twice or breaks its graph there).
"""
import functools
import sys
import weakref

from gpuwhy_agent import core, dynamo, hooks
from gpuwhy_agent import wire_gen as wire
from gpuwhy_agent.ring import clock

state = core.state
# An inference job has no step: its facts are read after this many batches.
BATCHES_WITHOUT_STEP = 20


class _Job(object):
    """What the hooks learnt of the job, for torch_facts."""
    loaders = {}  # id of a DataLoader -> (weak reference, Loader)
    optimizers = {}  # id of an optimizer -> its number, from 1
    first_optimizer = None  # weak reference
    autocast = None  # (device type, dtype) of the first enabled autocast
    inputs = None  # {"device":, "pinned":, "batch":}
    input_looks = 0
    batches = 0


job = _Job()


def _torch():
    return sys.modules["torch"]


def _first_tensor(data, depth=0):
    """The first tensor-like leaf of a batch, or None."""
    if hasattr(data, "shape") and hasattr(data, "device"):
        return data
    if depth < 3 and data:
        if isinstance(data, (list, tuple)):
            return _first_tensor(data[0], depth + 1)
        if isinstance(data, dict):
            return _first_tensor(next(iter(data.values())), depth + 1)
    return None


def _look_at_batch(tensor):
    """Where inputs live. is_pinned() asks the CUDA runtime, so only where the job itself has initialised it."""
    torch = _torch()
    pinned = bool(tensor.is_pinned()) if tensor.device.type == "cpu" and torch.cuda.is_initialized() else None
    job.inputs = {"device": tensor.device.type, "pinned": pinned, "batch": int(tensor.shape[0]) if tensor.dim() else 1}


def _count_items(data):
    first = data[0] if type(data) in (list, tuple) and data else data
    try:
        return first.shape[0]
    except (AttributeError, IndexError, TypeError):
        tensor = _first_tensor(data)
        return int(tensor.shape[0]) if tensor is not None and len(tensor.shape) else 0


def _drawn(iterator, data, start, end):
    """After a batch was drawn."""
    loader = getattr(iterator, "_gpuwhy_loader", None)
    if loader is None:
        loader = iterator._gpuwhy_loader = hooks.Loader()
    training = _torch().is_grad_enabled()
    loader.record(start, end, _count_items(data), not training)
    if getattr(iterator, "_gpuwhy_fresh", False):
        iterator._gpuwhy_fresh = False
        loader.first_wait_ns += end - start
    if job.input_looks < 3 and (training or job.inputs is None):
        job.input_looks += 1
        tensor = _first_tensor(data)
        if tensor is not None:
            _look_at_batch(tensor)
    job.batches += 1
    if state.steps == 0 and job.batches == BATCHES_WITHOUT_STEP:
        hooks.collect_once("step")
    hooks.poll_command()


def _wrap_next(original):
    @functools.wraps(original)
    def __next__(self):
        if not state.active:
            return original(self)
        start = clock()
        data = original(self)
        end = clock()
        if core.own_process():
            try:
                _drawn(self, data, start, end)
                hooks.account(end)
            except Exception as error:
                core.fail("loader hook", error)
        return data
    return __next__


def _wrap_get_iterator(original):
    """Ties an iterator to its DataLoader, whose settings are facts; counts the iterators made (workers start here)."""
    @functools.wraps(original)
    def _get_iterator(self):
        start = clock()
        iterator = original(self)
        if core.own_process():
            try:
                _iterator_made(self, iterator, clock() - start)
            except Exception as error:
                core.fail("loader hook", error)
        return iterator
    return _get_iterator


def _iterator_made(data_loader, iterator, duration):
    key = id(data_loader)
    known = job.loaders.get(key)
    if known is None or known[0]() is not data_loader:
        known = job.loaders[key] = (weakref.ref(data_loader), hooks.Loader())
        known[1].iterators = 0
        known[1].start_seconds = 0.0
        from gpuwhy_agent import torch_facts
        torch_facts.loader(known[1].number, data_loader)
    known[1].iterators += 1
    known[1].start_seconds += duration / 1e9
    iterator._gpuwhy_loader = known[1]
    iterator._gpuwhy_fresh = True


def patch_dataloader(module):
    base = module._BaseDataLoaderIter
    for name in ("_BaseDataLoaderIter", "_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        hooks.wrap_attribute(getattr(module, name, base), "__next__", _wrap_next)
    hooks.wrap_attribute(module.DataLoader, "_get_iterator", _wrap_get_iterator)


def _stepped(optimizer):
    now = clock()
    number = job.optimizers.get(id(optimizer))
    if number is None:
        number = job.optimizers[id(optimizer)] = len(job.optimizers) + 1
        if job.first_optimizer is None:
            job.first_optimizer = weakref.ref(optimizer)
    hooks.step_done(now, min(number, 255) << 8)
    hooks.account(now)


def _make_step_hook():
    # Inside torch.compile the hook must vanish: a traced clock or ring would break the graph.
    compiling = getattr(getattr(_torch(), "compiler", None), "is_compiling", None) or (lambda: False)

    def optimizer_step(optimizer, _args, _kwargs):
        if compiling():
            return
        if core.own_process():
            try:
                _stepped(optimizer)
            except Exception as error:
                core.fail("step hook", error)
    return optimizer_step


def patch_optimizer(module):
    """torch >= 2.0: the global hook, registered when torch is complete. Older: around the wrapper that torch itself puts on step()."""
    if not hasattr(module, "register_optimizer_step_post_hook"):
        hooks.wrap_attribute(module.Optimizer, "_hook_for_profile", _wrap_hook_for_profile)


def _wrap_hook_for_profile(original):
    @functools.wraps(original)
    def _hook_for_profile(self):
        original(self)
        step = type(self).step
        if not getattr(step, "gpuwhy", False):
            type(self).step = _wrap_step(step)
    return _hook_for_profile


def _wrap_step(original):
    @functools.wraps(original)  # keeps torch's own mark `hooked`
    def step(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if core.own_process():
            try:
                _stepped(self)
            except Exception as error:
                core.fail("step hook", error)
        return result
    step.gpuwhy = True
    return step


def patch_torch(module):
    """torch is complete: facts, step hook, garbage collections."""
    from gpuwhy_agent import torch_facts
    optimizer = sys.modules.get("torch.optim.optimizer")
    if hasattr(optimizer, "register_optimizer_step_post_hook"):
        optimizer.register_optimizer_step_post_hook(_make_step_hook())
    hooks.watch_collections()
    state.collectors.append(torch_facts.collect)
    hooks.memory_readers.append(torch_facts.look_at_memory)
    core.framework_seen()
    core.collect("import")


def patch_serialization(module):
    hooks.wrap_attribute(module, "save", hooks.timed_save)


def _started(name):
    return lambda function: hooks.profiled(function, wire.PROFILER_ACTION_START, name)


def _stopped(name):
    return lambda function: hooks.profiled(function, wire.PROFILER_ACTION_STOP, name)


def patch_profiler(module):
    """torch.profiler: start() of both classes; with a schedule the tracer itself starts later, we leave at once."""
    for owner in ("_KinetoProfile", "profile"):
        cls = getattr(module, owner, None)
        if cls is not None:
            hooks.wrap_attribute(cls, "start", _started("torch.profiler"))
            hooks.wrap_attribute(cls, "stop", _stopped("torch.profiler"))


def patch_autograd_profiler(module):
    hooks.wrap_attribute(module.profile, "__enter__", _started("torch.autograd.profiler"))
    hooks.wrap_attribute(module.profile, "__exit__", _stopped("torch.autograd.profiler"))


def patch_autocast(module):
    """Learns once whether mixed precision is used: the first enabled autocast puts the original back."""
    cls = getattr(module, "autocast", None)
    original = vars(cls).get("__enter__") if cls is not None else None
    if original is None:
        return

    @functools.wraps(original)
    def __enter__(self):
        if getattr(self, "_enabled", False):
            cls.__enter__ = original
            if core.own_process():
                job.autocast = (getattr(self, "device", "unknown"), str(getattr(self, "fast_dtype", "unknown")))
        return original(self)
    cls.__enter__ = __enter__


PATCHES = {
    "torch": patch_torch,
    "torch.utils.data.dataloader": patch_dataloader,
    "torch.optim.optimizer": patch_optimizer,
    "torch.serialization": patch_serialization,
    "torch.profiler.profiler": patch_profiler,
    "torch.autograd.profiler": patch_autograd_profiler,
    "torch.amp.autocast_mode": patch_autocast,
    "torch._dynamo.callback": dynamo.patch_callback,
}
