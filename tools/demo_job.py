#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""A small real training job for `make demo`: PyTorch on the CPU where there is one, else plain Python arithmetic."""
import time

SECONDS = 6


def train_torch(torch):
    """Steps of a small network on whatever device this PyTorch can use."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    end, steps = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        inputs, targets = torch.randn(64, 256, device=device), torch.randint(10, (64,), device=device)
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
    print(f"demo job: {steps} steps of PyTorch {torch.__version__} on {device}")


def fit_plain():
    """Least squares by gradient descent without any library."""
    points = [(x / 100, 3 * x / 100 + 1) for x in range(100)]
    slope = offset = 0.0
    end, steps = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        errors = [(slope * x + offset - y, x) for x, y in points]
        slope -= 0.1 * sum(error * x for error, x in errors) / len(points)
        offset -= 0.1 * sum(error for error, _ in errors) / len(points)
        steps += 1
    print(f"demo job: {steps} steps of plain Python, y = {slope:.2f} x + {offset:.2f}")


if __name__ == "__main__":
    try:
        import torch as found
    except ImportError:
        fit_plain()
    else:
        train_torch(found)
