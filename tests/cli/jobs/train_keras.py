# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small model with Keras' fit for at least so many seconds (first argument) and one epoch of 64 steps."""
import sys
import time

import numpy
import tensorflow as tf

generator = numpy.random.default_rng(0)
inputs = generator.random((2048, 64), dtype="float32")
labels = generator.integers(0, 8, 2048)
model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(8)])
model.compile(optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
end = time.monotonic() + float(sys.argv[1])
model.fit(inputs, labels, batch_size=32, epochs=1, verbose=0)
while time.monotonic() < end:
    model.fit(inputs, labels, batch_size=32, epochs=1, verbose=0)
print("trained", flush=True)
