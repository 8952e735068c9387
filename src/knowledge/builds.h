// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_KNOWLEDGE_BUILDS_H_
#define GPUWHY_KNOWLEDGE_BUILDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "knowledge/tables.h"

// Released builds of frameworks (framework_builds.tsv) and what compute capabilities their machine code covers.
namespace gpuwhy::knowledge {

// The build of a framework ("pytorch", "tensorflow", "jax") by version. A local version names the variant
// ("2.6.0+cu126"), without one it is the plain package of that operating system ("linux", "windows", "macos"; "" = not
// known, then a row for one operating system only does not count). nullptr: the table does not know it.
const FrameworkBuild* FindBuild(std::string_view framework, std::string_view version, std::string_view os);

// "cuda" of a local version: 2.6.0+cu126 -> "12.6", +cu92 -> "9.2"; +cpu -> ""; nothing when there is none or another
// (+rocm6.2, a git hash).
std::optional<std::string> CudaOfLocalVersion(std::string_view version);

// "sm_86", "sm_120", "compute_90", "8.6" -> "8.6", "12.0", "9.0", "8.6"; "" when it is none of them.
std::string CapabilityOf(std::string_view arch);

// Does machine code for "arch" run on "capability"? Within a major version and upwards (CUDA Programming Guide, binary
// compatibility). Both are numbers such as 8.6; nothing when one is not.
std::optional<bool> RunsOn(std::string_view arch, std::string_view capability);

// Does a list such as "7.5 8.0 9.0+PTX" cover a capability, by machine code or by PTX that can be compiled at run time?
enum class Cover { kUnknown, kNone, kPtxOnly, kMachineCode };
Cover CoverOf(std::string_view archs, std::string_view capability);

}  // namespace gpuwhy::knowledge

#endif  // GPUWHY_KNOWLEDGE_BUILDS_H_
