// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_PROC_LINUX_H_
#define GPUWHY_WITNESS_OS_PROC_LINUX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_root.h"
#include "base/result.h"

// Files of live processes below /proc/PID. These are never taken from a root folder of tests.
namespace gpuwhy::os {

// Fields of /proc/PID/stat (proc(5)); times in clock ticks, rss in pages.
struct ProcStat {
  std::string name;
  char state = '?';
  int64_t parent = 0;
  uint64_t user = 0, system = 0, children_user = 0, children_system = 0;
  int64_t threads = 0;
  uint64_t start = 0;
  int64_t rss = 0;
  uint64_t block_io_delay = 0;  // 0 for ever when delay accounting is off
  uint64_t program = 0;         // changes with exec: addresses of arguments and environment

  uint64_t own_ticks() const { return user + system; }
  uint64_t total_ticks() const { return user + system + children_user + children_system; }
};

// kMalformed for a text that is no stat line; the name may hold blanks and brackets.
Result<ProcStat> ParseStat(std::string_view text);
Result<ProcStat> ReadStat(int64_t pid);
// Of one thread.
Result<ProcStat> ReadThreadStat(int64_t pid, int64_t tid);

// A small /proc file in two system calls; at most 16 KiB.
Result<std::string> ReadSmall(const std::string& path);

// PIDs in /proc, sorted.
std::vector<int64_t> AllPids();
std::vector<int64_t> Threads(int64_t pid);
// Children of one thread (needs a kernel with CONFIG_PROC_CHILDREN); nothing when the kernel or the rights lack.
std::optional<std::vector<int64_t>> ThreadChildren(int64_t pid, int64_t tid);

// read_bytes of /proc/PID/io: bytes that came from storage.
Result<uint64_t> ReadBytes(int64_t pid);

// Seconds that the main thread was ready to run and waited for a core (second number of /proc/PID/schedstat,
// Documentation/scheduler/sched-stats.rst); nothing where the kernel keeps no such count.
std::optional<double> RunDelay(int64_t pid);

// Splits the blocks of /proc/PID/cmdline and environ.
std::vector<std::string> SplitZero(std::string_view text);

struct MappedLibraries {
  std::vector<std::string> names;  // file names that matter for a GPU job, sorted, each once
  std::string libcuda;             // path of the mapped libcuda, "" = none
  bool jaxlib = false;             // some library of the jaxlib package
};
MappedLibraries ParseMaps(std::string_view maps);
// Frameworks that these libraries stand for: "pytorch", "tensorflow", "jax", "onnxruntime", joined by ","; "" = none.
std::string FrameworkHint(const MappedLibraries& libraries);

// /dev/nvidia* and /dev/dxg that a process holds open (sorted, each once; at most 4096 descriptors are looked at).
// Paths below the root folder count as those of the machine.
Result<std::vector<std::string>> OpenDevices(const HostRoot& root, int64_t pid);
// True for a node of a GPU or of CUDA's memory manager; nvidiactl alone is what a monitor opens too.
bool IsGpuDevice(std::string_view device);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_PROC_LINUX_H_
