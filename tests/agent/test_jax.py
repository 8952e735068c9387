# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Real JAX on the CPU."""
from agent_support import need_framework

JOB = """
import jax, jax.numpy as jnp
step = jax.jit(lambda x: (x @ x).sum())
print(type(step).__name__, float(step(jnp.ones((64, 64)))))
jax.profiler.start_trace("trace")
step(jnp.ones((8, 8)))
jax.profiler.stop_trace()
"""


def test_compilations_and_backend(job):
    python = need_framework("jax")
    done = job.run(python, job.script(JOB))
    assert done.stdout == job.run(python, job.script(JOB), watched=False).stdout
    ring = job.ring()
    backend = [record for record in ring.of("compile") if record["flags"] == 0]
    assert len(backend) >= 2 and all(record["duration_ns"] > 0 for record in backend)
    assert [record["action"] for record in ring.of("profiler")] == [1, 2]
    facts = ring.facts()
    assert facts["jax.compilations"] == len(backend)
    assert facts["jax.backend"] == "cpu" and facts["jax.devices"] == ["cpu:0 cpu"]
    assert "agent.error" not in facts and "agent.disabled_reason" not in facts


def test_import_starts_no_backend(job):
    job.run(need_framework("jax"), "-c", "import jax")
    ring = job.ring()
    assert ring.facts()["jax.version"] and "jax.backend" in ring.states()
