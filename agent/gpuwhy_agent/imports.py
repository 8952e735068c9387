# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Tells when the job has imported a module of interest. Imports nothing itself."""
import sys

# Modules after whose execution something is patched or read. The leaf modules matter, not the packages: what is patched
# before the package re-exports it reaches every name under which the job may know it.
WATCHED = frozenset((
    "torch", "torch.utils.data.dataloader", "torch.optim.optimizer", "torch.serialization", "torch.profiler.profiler",
    "torch.autograd.profiler", "torch.amp.autocast_mode",
    "torch._dynamo.callback",
    "tensorflow", "tensorflow.python.profiler.profiler_v2", "tensorflow.python.data.ops.iterator_ops",
    "tensorflow.python.keras.engine.training",
    "keras", "keras.src.backend.tensorflow.trainer", "keras.src.backend.jax.trainer", "keras.src.backend.torch.trainer",
    "keras.src.saving.saving_api", "keras.engine.training", "keras.src.engine.training", "tf_keras.src.engine.training",
    "jax", "jax._src.profiler",
))

finishers = []  # called once at exit, before the last facts


class _Finder(object):
    """First entry of sys.meta_path: lets the others find the module and marks its loader for one execution."""

    def __init__(self, callback):
        self.callback = callback
        self.busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in WATCHED or name in self.busy:
            return None
        self.busy.add(name)
        try:
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                spec = None if finder is self or find is None else find(name, path, target)
                if spec is not None:
                    self._arm(name, spec)
                    return spec
            return None
        finally:
            self.busy.discard(name)

    def _arm(self, name, spec):
        """Shadows exec_module on this one loader object; the shadow removes itself before it runs the module."""
        loader = spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return
        callback = self.callback

        def exec_module(module):
            try:
                del loader.exec_module
            except AttributeError:
                pass
            execute(module)
            callback(name, module)

        try:
            loader.exec_module = exec_module
        except (AttributeError, TypeError):
            pass  # a loader without attributes: this module stays unobserved


def install(callback):
    """callback(name, module) runs after a watched module has been executed by the job's own import."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(callback))
