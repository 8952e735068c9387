// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// Facts about machines that are not this one: folders under tests/fakes/roots, and texts of /proc.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "model/evidence.h"
#include "witness/os/cgroup_linux.h"
#include "witness/os/command_linux.h"
#include "witness/os/driver_linux.h"
#include "witness/os/host_facts.h"
#include "witness/os/interpreter_linux.h"
#include "witness/os/libraries_linux.h"
#include "witness/os/machine_linux.h"
#include "witness/os/proc_linux.h"
#include "witness/os/process_facts_linux.h"
#include "witness/os/toolkit_linux.h"

namespace gpuwhy::os {
namespace {

const std::string kSource = GPUWHY_SOURCE_DIR;

HostRoot Root(const std::string& name) { return HostRoot(kSource + "/tests/fakes/roots/" + name); }

Evidence Machine(const std::string& name) {
  Evidence evidence;
  AddMachineFacts(Root(name), evidence);
  AddDriverFacts(Root(name), evidence);
  return evidence;
}

std::string Show(const Evidence& evidence, const char* name) {
  const Fact* fact = evidence.Find(name);
  if (fact == nullptr) return "absent";
  return fact->value.known() ? fact->value.Show() : std::string(StateName(fact->value.state));
}

TEST(Roots, HealthyH200) {
  const Evidence e = Machine("healthy_h200");
  EXPECT_EQ(Show(e, "host.os.name"), "Ubuntu");
  EXPECT_EQ(Show(e, "host.os.version"), "24.04");
  EXPECT_EQ(Show(e, "host.kernel"), "6.8.0-79-generic");
  EXPECT_EQ(Show(e, "host.cpu.count"), "16");
  EXPECT_EQ(Show(e, "host.cpu.model"), "Intel(R) Xeon(R) Platinum 8480C");
  EXPECT_EQ(e.Int("host.memory.total.bytes"), int64_t{131840000} * 1024);
  EXPECT_EQ(e.Double("host.cgroup.cpu_limit"), 16.0);
  EXPECT_EQ(Show(e, "host.cgroup.memory_limit.bytes"), "not-found");
  EXPECT_EQ(Show(e, "host.container"), "");
  EXPECT_EQ(e.Bool("host.wsl"), false);
  EXPECT_EQ(e.Bool("host.dxg"), false);
  EXPECT_EQ(e.Int("host.gpu.pci.count"), 1);
  EXPECT_EQ(Show(e, "host.gpu.pci.devices"), "0000:00:06.0 10de:2335");
  EXPECT_EQ(Show(e, "host.gpu.other"), "");
  EXPECT_EQ(e.Bool("host.driver.module"), true);
  EXPECT_EQ(Show(e, "host.driver.module_other"), "");
  EXPECT_EQ(e.Bool("host.driver.module_on_disk"), true);
  EXPECT_EQ(Show(e, "host.driver.version"), "580.159.04");
  EXPECT_EQ(e.Bool("host.driver.open_module"), true);
  EXPECT_EQ(Show(e, "host.driver.library_version"), "580.159.04");
  EXPECT_EQ(Show(e, "host.driver.libcuda"), "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  EXPECT_EQ(e.Bool("host.driver.params.profiling_admin_only"), false);
  EXPECT_EQ(Show(e, "host.device_nodes"), "/dev/nvidia-uvm, /dev/nvidia-uvm-tools, /dev/nvidia0, /dev/nvidiactl");
  EXPECT_EQ(Show(e, "host.device_nodes.unreadable"), "");
  EXPECT_EQ(Show(e, "host.secure_boot"), "not-found");
  EXPECT_EQ(e.Bool("host.driver.suspended"), false);
  for (const Fact* fact : e.WithPrefix("host.")) EXPECT_EQ(fact->source, Source::kOs);
}

struct DriverCase {
  const char* root;
  const char* gpus;
  const char* module;
  const char* other;
  const char* on_disk;
  const char* version;
  const char* library;
};

class Drivers : public testing::TestWithParam<DriverCase> {};

TEST_P(Drivers, AreDescribed) {
  const DriverCase& expected = GetParam();
  const Evidence e = Machine(expected.root);
  EXPECT_EQ(Show(e, "host.gpu.pci.count"), expected.gpus);
  EXPECT_EQ(Show(e, "host.driver.module"), expected.module);
  EXPECT_EQ(Show(e, "host.driver.module_other"), expected.other);
  EXPECT_EQ(Show(e, "host.driver.module_on_disk"), expected.on_disk);
  EXPECT_EQ(Show(e, "host.driver.version"), expected.version);
  EXPECT_EQ(Show(e, "host.driver.library_version"), expected.library);
}

INSTANTIATE_TEST_SUITE_P(
    Roots, Drivers,
    testing::Values(DriverCase{"no_gpu", "0", "false", "", "false", "not-found", "not-found"},
                    DriverCase{"no_module", "1", "false", "", "false", "not-found", "not-found"},
                    DriverCase{"not_loaded", "1", "false", "", "true", "not-found", "580.159.04"},
                    DriverCase{"other_kernel", "1", "false", "", "false", "not-found", "580.159.04"},
                    DriverCase{"nouveau", "1", "false", "nouveau", "false", "not-found", "not-found"},
                    DriverCase{"mismatch", "1", "true", "", "true", "580.126.09", "580.159.04"},
                    DriverCase{"container", "1", "true", "", "not-found", "580.159.04", "not-found"},
                    DriverCase{"wsl", "0", "false", "", "not-found", "not-found", "560.94"},
                    DriverCase{"no_bus", "not-found", "not-found", "", "not-found", "not-found", "580.159.04"},
                    DriverCase{"garbage", "0", "true", "", "false", "unknown", "not-found"}),
    [](const auto& test) { return std::string(test.param.root); });

TEST(Roots, ContainerLimitsAndMarks) {
  const Evidence container = Machine("container");
  EXPECT_EQ(Show(container, "host.container"), "docker");
  EXPECT_EQ(container.Double("host.cgroup.cpu_limit"), 2.0);
  EXPECT_EQ(container.Int("host.cgroup.memory_limit.bytes"), int64_t{8} << 30);
  EXPECT_EQ(Show(container, "host.device_nodes"), "");
  EXPECT_EQ(Show(Machine("cgroup_v1"), "host.container"), "kubernetes");
}

TEST(Roots, WslAndOtherKernel) {
  const Evidence wsl = Machine("wsl");
  EXPECT_EQ(wsl.Bool("host.wsl"), true);
  EXPECT_EQ(wsl.Bool("host.dxg"), true);
  EXPECT_EQ(Show(wsl, "host.driver.libcuda"), "/usr/lib/wsl/lib/libcuda.so.1");
  EXPECT_EQ(Show(Machine("other_kernel"), "host.driver.module_other_kernels"), "6.8.0-78-generic");
  EXPECT_EQ(Show(Machine("no_gpu"), "host.gpu.other"), "Intel 0000:00:02.0 8086:9bc5");
}

TEST(Roots, GarbageIsUnknownAndNeverZero) {
  const Evidence e = Machine("garbage");
  EXPECT_EQ(Show(e, "host.os.name"), "not-found");
  EXPECT_EQ(Show(e, "host.cpu.count"), "unknown");
  EXPECT_EQ(Show(e, "host.cpu.model"), "unsupported");
  EXPECT_EQ(Show(e, "host.memory.total.bytes"), "unknown");
  EXPECT_EQ(Show(e, "host.secure_boot"), "unknown");
  EXPECT_EQ(Show(e, "host.driver.params.profiling_admin_only"), "unsupported");
}

TEST(Roots, UnreadableBusIsNoPermission) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  char folder[] = "/tmp/gpuwhy-bus-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string bus = std::string(folder) + "/sys/bus/pci/devices";
  ASSERT_TRUE(MakeFolders(bus));
  ASSERT_EQ(chmod(folder, 0755), 0);
  for (const char* part : {"/sys", "/sys/bus", "/sys/bus/pci"})
    ASSERT_EQ(chmod((std::string(folder) + part).c_str(), 0755), 0);
  EXPECT_EXIT(
      {
        if (setgid(65534) != 0 || setuid(65534) != 0) std::exit(1);
        Evidence evidence;
        AddDriverFacts(HostRoot(folder), evidence);
        std::exit(Show(evidence, "host.gpu.pci.count") == "no-permission" ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
  for (const char* part : {"/sys/bus/pci/devices", "/sys/bus/pci", "/sys/bus", "/sys", ""})
    rmdir((std::string(folder) + part).c_str());
}

TEST(Cgroup, SmallestLimitOnTheWayUpOfBothHierarchies) {
  const HostRoot v1 = Root("cgroup_v1");
  EXPECT_EQ(CgroupCpuLimit(v1, "4:cpu,cpuacct:/a/b\n3:memory:/\n").AsDouble(), 4.0);
  EXPECT_EQ(CgroupMemoryLimit(v1, "3:memory:/kubepods/pod1\n").AsInt(), int64_t{32} << 30);
  EXPECT_EQ(CgroupCpuLimit(Root("container"), "0::/deep/in/host\n").AsDouble(), 2.0);
  EXPECT_EQ(CgroupCpuLimit(Root("no_bus"), "0::/\n").state, State::kNotFound);
  EXPECT_EQ(CgroupCpuLimit(Root("garbage"), "nonsense\n::\n").state, State::kNotFound);
}

TEST(Parsers, CpuListsNamespacesVersionsModules) {
  EXPECT_EQ(CountCpuList("0-3,8\n"), 5);
  EXPECT_EQ(CountCpuList(""), std::nullopt);
  EXPECT_EQ(CountCpuList("3-1"), std::nullopt);
  EXPECT_EQ(OwnPidNamespace("pid:[4026531836]").AsBool(), false);
  EXPECT_EQ(OwnPidNamespace("pid:[4026532201]").AsBool(), true);
  EXPECT_FALSE(OwnPidNamespace("").known());
  EXPECT_EQ(DriverVersion("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue\n"), "580.159.04");
  EXPECT_EQ(DriverVersion("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.86.15  Release Build\n"),
            "570.86.15");
  EXPECT_EQ(DriverVersion("GCC version: 13.3.0\n"), std::nullopt);
  for (const char* name : {"nvidia.ko", "nvidia.ko.zst", "nvidia-current.ko.xz", "nvidia-tesla-470.ko"})
    EXPECT_TRUE(IsDriverModule(name)) << name;
  for (const char* name : {"nvidia-uvm.ko", "nvidia-current-drm.ko", "nvidia-tesla-470-uvm.ko", "nvidiafb.ko",
                           "i2c-nvidia-gpu.ko", "nvidia"}) {
    EXPECT_FALSE(IsDriverModule(name)) << name;
  }
}

TEST(Parsers, StatWithAnyNameAndTornTexts) {
  std::string rest = " S 1 2 3";
  for (int i = 0; i < 46; ++i) rest += " " + std::to_string(i);
  const Result<ProcStat> stat = ParseStat("77 (a) b (c)) " + rest.substr(1));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) b (c)");
  EXPECT_EQ(stat->parent, 1);
  for (const char* text : {"", "1", "1 (", "1 (a", "1 (a)", "1 (a) S", "1 (a) S 1 2 3", ")("})
    EXPECT_FALSE(ParseStat(text)) << text;
}

TEST(Parsers, MapsNameFrameworks) {
  const std::string line = "7f0-7f1 r-xp 00000000 08:01 1 ";
  const auto hint = [&](const std::string& path) { return FrameworkHint(ParseMaps(line + path + "\n")); };
  EXPECT_EQ(hint("/x/torch/lib/libtorch_cpu.so"), "pytorch");
  EXPECT_EQ(hint("/x/tensorflow/libtensorflow_cc.so.2"), "tensorflow");
  EXPECT_EQ(hint("/x/tensorflow/python/_pywrap_tensorflow_internal.so"), "tensorflow");
  EXPECT_EQ(hint("/x/jaxlib/_jax.so"), "jax");
  EXPECT_EQ(hint("/usr/lib/libc.so.6"), "");
  const MappedLibraries libraries = ParseMaps(line + "/a b/libcuda.so.580.159.04 (deleted)\n" + line + "[heap]\n" +
                                              line + "/usr/lib/libcudart.so.13");
  EXPECT_EQ(libraries.libcuda, "/a b/libcuda.so.580.159.04");
  EXPECT_EQ(Join(libraries.names, ","), "libcuda.so.580.159.04,libcudart.so.13");
}

TEST(Parsers, GpuDevices) {
  for (const char* name : {"/dev/nvidia0", "/dev/nvidia12", "/dev/nvidia-uvm", "/dev/dxg"})
    EXPECT_TRUE(IsGpuDevice(name)) << name;
  for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-modeset", "/dev/nvidia", "/dev/null", ""})
    EXPECT_FALSE(IsGpuDevice(name)) << name;
}

TEST(Libraries, NeededByCudaVersion) {
  EXPECT_EQ(Join(NeededCudaLibraries("12.5.1", "9"), " "),
            "libcudart.so.12 libcublas.so.12 libcublasLt.so.12 libcufft.so.11 libcurand.so.10 libcusolver.so.11 "
            "libcusparse.so.12 libcudnn.so.9");
  EXPECT_EQ(NeededCudaLibraries("13.0", "").back(), "libcusparse.so.12");
  EXPECT_TRUE(NeededCudaLibraries("10.1", "7").empty());
  EXPECT_TRUE(NeededCudaLibraries("", "").empty());
}

TEST(Libraries, FoundInWheelsLibraryPathAndLinkerFolders) {
  char folder[] = "/tmp/gpuwhy-lib-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string base = folder;
  const std::vector<std::string> folders = {base + "/site/nvidia/cuda_runtime/lib", base + "/site/torch/lib",
                                            base + "/own"};
  for (const std::string& path : folders) ASSERT_TRUE(MakeFolders(path));
  const std::vector<std::string> files = {folders[0] + "/libcudart.so.12", folders[1] + "/libcublas-1a2b3c4d.so.12",
                                          folders[2] + "/libcudnn.so.9"};
  for (const std::string& path : files) ASSERT_TRUE(WriteFile(path, ""));
  const LibraryPresence presence =
      FindCudaLibraries(Root("no_gpu"), {"libcudart.so.12", "libcublas.so.12", "libcudnn.so.9", "libcufft.so.11"},
                        {base + "/site"}, ":" + folders[2]);
  EXPECT_EQ(presence.missing, std::vector<std::string>{"libcufft.so.11"});
  ASSERT_EQ(presence.found.size(), 3u);
  for (size_t i = 0; i < files.size(); ++i) EXPECT_TRUE(Contains(presence.found[i], files[i])) << presence.found[i];
  for (const std::string& path : files) unlink(path.c_str());
  for (const char* part : {"/site/nvidia/cuda_runtime/lib", "/site/nvidia/cuda_runtime", "/site/nvidia",
                           "/site/torch/lib", "/site/torch", "/site", "/own", ""}) {
    rmdir((base + part).c_str());
  }
}

TEST(Toolkit, InstalledButNotOnPath) {
  UserEnvironment user;
  user.path = "/usr/bin:/bin";
  Evidence e;
  AddToolkitFacts(Root("toolkit_off_path"), user, e);
  EXPECT_EQ(Show(e, "toolkit.installed"), "/usr/local/cuda-10.2, /usr/local/cuda-12.4, /opt/cuda");
  EXPECT_EQ(Show(e, "toolkit.versions"), "10.2.89, 12.4.131, 11.8");
  EXPECT_EQ(Show(e, "toolkit.nvcc.path"), "/usr/local/cuda-12.4/bin/nvcc");
  EXPECT_EQ(e.Bool("toolkit.nvcc.on_path"), false);
  EXPECT_EQ(Show(e, "toolkit.cuda_home"), "not-found");
  EXPECT_EQ(Show(e, "nvidia_smi.path"), "");
  user.path = "/usr/local/cuda-12.4/bin:/usr/bin";
  user.cuda_home = "/nowhere";
  Evidence on;
  AddToolkitFacts(Root("toolkit_off_path"), user, on);
  EXPECT_EQ(on.Bool("toolkit.nvcc.on_path"), true);
  EXPECT_EQ(on.Bool("toolkit.cuda_home.exists"), false);
  Evidence wsl;
  AddToolkitFacts(Root("wsl"), user, wsl);
  EXPECT_EQ(Show(wsl, "nvidia_smi.path"), "/usr/lib/wsl/lib/nvidia-smi");
  EXPECT_EQ(wsl.Bool("nvidia_smi.on_path"), false);
}

TEST(Command, LimitKillsTheWholeGroup) {
  const Result<CommandOutput> slow = RunCommand({"/bin/sh", "-c", "sleep 30 & sleep 30"}, {}, 0.2);
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, ErrorCode::kTimeout);
  const Result<CommandOutput> quick = RunCommand({"/bin/sh", "-c", "echo out $A; echo err >&2; exit 3"}, {"A=1"}, 10);
  ASSERT_TRUE(quick);
  EXPECT_EQ(quick->status, 3);
  EXPECT_EQ(quick->output, "out 1\n");
  EXPECT_EQ(quick->errors, "err\n");
  const Result<CommandOutput> background = RunCommand({"/bin/sh", "-c", "sleep 30 & echo done"}, {}, 10);
  ASSERT_TRUE(background);
  EXPECT_EQ(background->output, "done\n");
  EXPECT_EQ(RunCommand({"/nonexistent"}, {}, 1).error().code, ErrorCode::kNotFound);
}

std::string Script() { return *ReadFile(kSource + "/src/witness/os/interpreter_probe.py"); }

// A package folder as wheels leave it, on PYTHONPATH of the interpreter.
TEST(Interpreter, ReadsBuildFilesWithoutImporting) {
  const std::string site = kSource + "/tests/fakes/site_packages";
  setenv("PYTHONPATH", site.c_str(), 1);
  const Result<Json> answer = AskInterpreter("/usr/bin/python3", Script(), kInterpreterLimitS);
  unsetenv("PYTHONPATH");
  ASSERT_TRUE(answer) << answer.error().Line();
  Evidence e;
  AddInterpreterFacts(Root("no_gpu"), "/usr/bin/python3", answer, "", e);
  EXPECT_EQ(Show(e, "python.torch.version"), "2.4.0+cpu");
  EXPECT_EQ(e.Bool("python.torch.cuda_built"), false);
  EXPECT_EQ(Show(e, "python.torch.cuda_version"), "not-found");
  EXPECT_EQ(Show(e, "python.tensorflow.version"), "2.17.0");
  EXPECT_EQ(e.Bool("python.tensorflow.cuda_built"), true);
  EXPECT_EQ(Show(e, "python.tensorflow.cuda_version"), "12.3");
  EXPECT_TRUE(Contains(Show(e, "python.tensorflow.cuda_libraries.missing"), "libcufft.so.11"));
  EXPECT_TRUE(Contains(Show(e, "python.tensorflow.cuda_libraries.found"), "libcudart.so.12"));
  EXPECT_EQ(e.Bool("python.jax.cuda_built"), true);
  EXPECT_EQ(Show(e, "python.keras.version"), "not-found");
}

TEST(Interpreter, WhatIsNoInterpreterSaysSo) {
  EXPECT_EQ(AskInterpreter("/nonexistent/python", Script(), 5).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(AskInterpreter("/bin/true", Script(), 5).error().code, ErrorCode::kMalformed);
  UserEnvironment user;
  user.path = "/usr/bin:/bin";
  EXPECT_EQ(FindInterpreters(user, {"/usr/bin/python3"}).size(), 1u);
  EXPECT_EQ(FindInterpreters(user, {"/nonexistent/python"})[0], "/nonexistent/python");
  Evidence e;
  AddInterpreterFacts(Root("no_gpu"), "/old", *Json::Parse("{\"version\":\"2.7.18\",\"executable\":\"/old\"}"), "", e);
  EXPECT_EQ(Show(e, "python.packages"), "unsupported");
}

TEST(Variables, OnlyRelevantOnesAreKept) {
  EXPECT_TRUE(IsRelevantVariable("CUDA_VISIBLE_DEVICES"));
  EXPECT_TRUE(IsRelevantVariable("XLA_PYTHON_CLIENT_MEM_FRACTION"));
  EXPECT_FALSE(IsRelevantVariable("AWS_SECRET_ACCESS_KEY"));
  EXPECT_FALSE(IsRelevantVariable(""));
}

}  // namespace
}  // namespace gpuwhy::os
