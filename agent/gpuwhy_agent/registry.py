# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Which hook module answers for which imported module; loaded at the first framework import only."""
import importlib

_OWNERS = (
    ("torch", "torch_hooks"), ("tensorflow", "tensorflow_hooks"), ("keras", "tensorflow_hooks"), ("tf_keras", "tensorflow_hooks"),
    ("jax", "jax_hooks"),
)


def patch(name, module):
    """Hands a freshly executed module to its hook module."""
    root = name.partition(".")[0]
    for framework, owner in _OWNERS:
        if framework == root:
            hooks = importlib.import_module("gpuwhy_agent." + owner)
            action = hooks.PATCHES.get(name)
            if action is not None:
                action(module)
