// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_EMBEDDED_H_
#define GPUWHY_SESSION_EMBEDDED_H_

#include "base/embed.h"

// Files inside the program, written by the build (cmake/generated.cmake).
namespace gpuwhy {

std::span<const EmbeddedFile> EmbeddedAgent();             // the Python agent
std::span<const EmbeddedFile> EmbeddedInject();            // the CUDA library
std::span<const EmbeddedFile> EmbeddedInterpreterProbe();  // the script that asks an interpreter for its frameworks
std::span<const EmbeddedFile> EmbeddedDemo();              // recorded sessions of `gpuwhy demo`

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_EMBEDDED_H_
