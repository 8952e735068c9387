#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Small jobs with one planted cause each, for a machine with a GPU. Each prints one JSON line with its own measures.

usage: jobs.py NAME [--seconds S] [--blocks FILE]    (jobs.py list prints the names)
"""

import argparse
import io
import json
import os
import pathlib
import sys
import time

IMAGES = pathlib.Path(os.environ.get("GPUWHY_IMAGES", "/tmp/gpuwhy-images"))
WARM_UP = 20


def make_images(count=2048):
    """JPEG files of 500x375 pixels with random low-frequency content, about 60 kB each."""
    import multiprocessing

    IMAGES.mkdir(exist_ok=True)
    with multiprocessing.Pool() as pool:
        pool.map(write_image, range(count), chunksize=32)


def write_image(index):
    import numpy
    from PIL import Image

    path = IMAGES / f"{index:05d}.jpg"
    if path.exists():
        return
    random = numpy.random.default_rng(index)
    small = Image.fromarray(random.integers(0, 255, (48, 64, 3), dtype=numpy.uint8))
    out = io.BytesIO()
    small.resize((500, 375), Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
    path.write_bytes(out.getvalue())


class Steps:
    """Times of steps and of the waits for input, by the job's own clock."""

    def __init__(self, seconds, blocks):
        self.seconds, self.blocks = seconds, blocks
        self.count, self.wait, self.start = 0, 0.0, 0.0
        self.begin = time.perf_counter()
        self.marks = []

    def input_wait(self, seconds):
        if self.count >= WARM_UP:
            self.wait += seconds

    def done(self):
        """One step is over; True when the time is up."""
        self.count += 1
        now = time.perf_counter()
        if self.count == WARM_UP:
            self.start = now
        if self.blocks and self.count % 50 == 0:
            self.marks.append((self.count, time.monotonic()))
        return now - self.begin > self.seconds

    def report(self, batch, **more):
        now = time.perf_counter()
        measured = self.count - WARM_UP
        out = {
            "steps": self.count,
            "step_s": (now - self.start) / max(1, measured),
            "wait_ratio": self.wait / (now - self.start),
            "items_per_s": measured * batch / (now - self.start),
        }
        out.update(more)
        print(json.dumps(out), flush=True)
        if self.blocks:
            pathlib.Path(self.blocks).write_text(json.dumps(self.marks))


def resnet_loader(args, workers):
    import torch
    import torchvision

    class Files(torch.utils.data.Dataset):
        def __init__(self):
            self.files = sorted(IMAGES.glob("*.jpg"))
            self.transform = torchvision.transforms.Compose(
                [torchvision.transforms.RandomResizedCrop(224), torchvision.transforms.ToTensor()]
            )

        def __len__(self):
            return len(self.files)

        def __getitem__(self, index):
            from PIL import Image

            with Image.open(self.files[index]) as image:
                return self.transform(image.convert("RGB")), index % 1000

    make_images()
    more = {"num_workers": workers, "pin_memory": True, "persistent_workers": True, "prefetch_factor": 4} if workers else {}
    loader = torch.utils.data.DataLoader(Files(), batch_size=64, shuffle=True, drop_last=True, **more)
    train_resnet(args, loader)


def train_resnet(args, loader):
    import torch
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    steps = Steps(args.seconds, args.blocks)
    while True:
        batches = iter(loader)
        while True:
            before = time.perf_counter()
            batch = next(batches, None)
            steps.input_wait(time.perf_counter() - before)
            if batch is None:
                break
            loss = loss_of(model(batch[0].cuda(non_blocking=True)), batch[1].cuda(non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if steps.done():
                torch.cuda.synchronize()
                steps.report(64)
                return


def resnet_resident(args, batch=256, amp=True, item=False):
    import torch
    import torchvision

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    images = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    steps = Steps(args.seconds, args.blocks)
    total = 0.0
    while True:
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=amp):
            loss = loss_of(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if item:
            total += loss.item()
        if steps.count % 50 == 49 and args.blocks:
            torch.cuda.synchronize()
        if steps.done():
            break
    torch.cuda.synchronize()
    steps.report(batch, loss=total / steps.count)


def mlp(args, batch=64, width=256, layers=20, device="cuda"):
    import torch

    torch.manual_seed(0)
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.LayerNorm(width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*parts).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    inputs = torch.randn(batch, width, device=device)
    steps = Steps(args.seconds, args.blocks)
    while True:
        loss = model(inputs).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if args.blocks and steps.count % 50 == 49 and device == "cuda":
            torch.cuda.synchronize()
        if steps.done():
            break
    steps.report(batch, loss=float(loss.detach()))


def item(args, batch=3072, width=4096):
    """Reads the loss back after every step of a model that the host could keep the GPU busy with."""
    import torch

    torch.manual_seed(0)
    options = {"device": "cuda", "dtype": torch.bfloat16}
    model = torch.nn.Sequential(
        torch.nn.Linear(width, width, **options), torch.nn.ReLU(), torch.nn.Linear(width, width, **options)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = torch.randn(batch, width, **options)
    steps = Steps(args.seconds, args.blocks)
    total = 0.0
    while not steps.done():
        loss = model(inputs).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
    steps.report(batch, loss=total / steps.count)


def cpu_model(args):
    import torch

    print("cuda available:", torch.cuda.is_available(), flush=True)
    mlp(args, device="cpu")


def pageable(args):
    """Each step takes a fresh 256 MiB batch from ordinary memory to the GPU and does little with it."""
    import torch

    weights = torch.randn(1024, 1024, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=1e-6)
    host = torch.randn(64 * 1024, 1024)
    steps = Steps(args.seconds, args.blocks)
    while True:
        batch = host.cuda()
        loss = (batch @ weights).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if steps.done():
            break
    steps.report(64 * 1024)


def allocate_and_sleep(args):
    import torch

    held = [torch.zeros(1 << 28, device="cuda") for _ in range(8)]
    torch.cuda.synchronize()
    time.sleep(args.seconds)
    print(json.dumps({"held_bytes": sum(t.numel() * 4 for t in held)}), flush=True)


def profiled(args):
    """Starts the framework's own profiler in the middle and says what it saw."""
    import torch

    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(20)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = torch.randn(512, 1024, device="cuda")

    def step():
        loss = model(inputs).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    steps = Steps(args.seconds, args.blocks)
    while not steps.done():
        step()
        if steps.count == 400:
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            ) as profile:
                for _ in range(20):
                    step()
                torch.cuda.synchronize()
            events = profile.events()
            kernels = sum(1 for event in events if event.device_type == torch.autograd.DeviceType.CUDA)
    steps.report(512, profiler_kernels=kernels)


def graph(args):
    import torch

    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(20)]).cuda()
    inputs = torch.randn(64, 256, device="cuda")
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                model(inputs)
        torch.cuda.current_stream().wait_stream(side)
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            model(inputs)
    steps = Steps(args.seconds, args.blocks)
    while not steps.done():
        recorded.replay()
        if steps.count % 50 == 49:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    steps.report(64)


def jax_mlp(args):
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    weights = [jax.random.normal(key, (2048, 2048)) * 0.02 for key in keys]
    inputs = jax.random.normal(keys[0], (4096, 2048))

    @jax.jit
    def update(params):
        def loss(values):
            out = inputs
            for matrix in values:
                out = jnp.tanh(out @ matrix)
            return (out * out).mean()

        grads = jax.grad(loss)(params)
        return [p - 1e-3 * g for p, g in zip(params, grads)]

    steps = Steps(args.seconds, args.blocks)
    while not steps.done():
        weights = update(weights)
        if steps.count % 10 == 0:
            weights[0].block_until_ready()
    steps.report(4096)


def burn(args):
    import torch

    left = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    end = time.time() + args.seconds
    while time.time() < end:
        for _ in range(20):
            left @ left
        torch.cuda.synchronize()


JOBS = {
    "resnet-workers-0": lambda a: resnet_loader(a, 0),
    "resnet-workers-16": lambda a: resnet_loader(a, 16),
    "resnet-resident": resnet_resident,
    "resnet-resident-32": lambda a: resnet_resident(a, batch=32),
    "mlp": mlp,
    "item": item,
    "pageable": pageable,
    "cpu-model": cpu_model,
    "sleep": allocate_and_sleep,
    "profiled": profiled,
    "graph": graph,
    "jax": jax_mlp,
    "contention": lambda a: resnet_resident(a, batch=64),
    "burn": burn,
}


def under_profiler(args):
    import torch

    torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]).start()
    JOBS[args.name](args)
    os._exit(0)  # what it recorded is not wanted, and putting it together takes longer than the run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=[*JOBS, "list", "images"])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--blocks", help="file for the times of every 50th step")
    parser.add_argument("--profiler", action="store_true", help="under PyTorch's profiler from the first step to the last")
    args = parser.parse_args()
    if args.name == "list":
        print("\n".join(JOBS))
    elif args.name == "images":
        make_images()
    elif args.profiler:
        under_profiler(args)
    else:
        JOBS[args.name](args)


if __name__ == "__main__":
    main()
