# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch job for the probe: torch_job.py SECONDS [threads] [workers] [graph] [profile] [close]

threads: prints the number of threads after cuInit and after the first tensor.  workers: batches come from a DataLoader
with 4 forked workers.  graph: the step is a CUDA graph.  profile: half-way, torch.profiler records 5 steps and the number
of kernels in it is printed.  close: calls gpuwhy_inject_close just before, as the Python agent does.
"""
import array
import ctypes
import os
import sys
import time
import warnings

import torch


def threads():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("Threads:")).split()[1])


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        return torch.full((256,), float(index % 7))


def make_step(words):
    layers = []
    for _ in range(20):
        layers += [torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    fixed = torch.randn(64, 256, device="cuda")

    def step(batch=None):
        loss = model(fixed if batch is None else batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    if "graph" not in words:
        return step
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return lambda batch=None: graph.replay()


def batches(words):
    if "workers" not in words:
        while True:
            yield None
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=64, num_workers=4, pin_memory=True)
    while True:
        for batch in loader:
            yield batch.cuda(non_blocking=True)


def close_window():
    library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    begin = time.monotonic()
    result = library.gpuwhy_inject_close(2000)
    return f"close={result} in {(time.monotonic() - begin) * 1e3:.1f} ms, state {library.gpuwhy_inject_state()}"


def profile(step, words):
    said = close_window() if "close" in words else "no close"
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(5):
            step()
        torch.cuda.synchronize()
    kernels = sum(1 for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA)
    profiler.export_chrome_trace(os.environ.get("TRACE_OUT", "/tmp/gpuwhy_probe_trace.json"))
    print(f"  profiler: {kernels} GPU events in 5 steps ({said})")


def main():
    seconds, words = float(sys.argv[1]), sys.argv[2:]
    if "threads" in words:
        before = threads()
        torch.cuda.is_available()
        with_init = threads()
        torch.zeros(1, device="cuda")
        print(f"  threads: {before} after import, {with_init} after is_available, {threads()} after the first tensor")
    caught = []
    warnings.showwarning = lambda message, *rest, **more: caught.append(str(message)[:80])
    step, source = make_step(words), batches(words)
    ends = array.array("Q")
    begin = time.monotonic()
    profiled = "profile" not in words
    while time.monotonic() - begin < seconds:
        if not profiled and time.monotonic() - begin > seconds / 2:
            profile(step, words)
            profiled = True
        step(next(source))
        if len(ends) % 10 == 0:
            torch.cuda.synchronize()
        ends.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
    torch.cuda.synchronize()
    if os.environ.get("STEP_LOG"):
        with open(os.environ["STEP_LOG"], "wb") as log:
            ends.tofile(log)
    print(f"  job: {len(ends)} steps, warnings {sorted(set(caught))}")


if __name__ == "__main__":
    main()
