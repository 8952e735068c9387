# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small model with PyTorch on the CPU for at least so many seconds (first argument) and 50 steps."""
import sys
import time

import torch
from torch import nn

data = torch.utils.data.TensorDataset(torch.randn(2048, 64), torch.randint(0, 8, (2048,)))
loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
end = time.monotonic() + float(sys.argv[1])
steps = 0
while time.monotonic() < end or steps < 50:
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        steps += 1
        if steps == 1:
            print("first step", flush=True)
print("trained", flush=True)
