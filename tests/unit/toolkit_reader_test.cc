// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

Evidence Read(std::string_view text) { return ReadWith("toolkit", text); }

TEST(Toolkit, Nvcc) {
  const Evidence evidence = Read(
      "nvcc: NVIDIA (R) Cuda compiler driver\nCopyright (c) 2005-2023 NVIDIA Corporation\n"
      "Cuda compilation tools, release 12.1, V12.1.105\nBuild cuda_12.1.r12.1/compiler.32688072_0\n");
  EXPECT_EQ(evidence.Text("toolkit.nvcc.version"), "12.1");
  EXPECT_EQ(evidence.Find("toolkit.nvcc.version")->where, "line 3");
}

TEST(Toolkit, VersionsOfTheModule) {
  const Evidence closed = Read("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC\n");
  EXPECT_EQ(closed.Text("host.driver.version"), "535.183.01");
  EXPECT_EQ(closed.Bool("host.driver.module"), true);
  const Evidence open = Read("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n");
  EXPECT_EQ(open.Text("host.driver.version"), "570.86.15");
  const Evidence both = Read(
      "NVRM: API mismatch: the client has the version 535.183.01, but\n"
      "NVRM: this kernel module has the version 535.171.04.  Please\n");
  EXPECT_EQ(both.Text("host.driver.library_version"), "535.183.01");
  EXPECT_EQ(both.Text("host.driver.version"), "535.171.04");
}

TEST(Toolkit, Packages) {
  const Evidence evidence = Read(
      "ii  libnvidia-compute-535:amd64  535.183.01-0ubuntu0.22.04.1  amd64  NVIDIA libcompute package\n"
      "rc  nvidia-driver-470  470.256.02-0ubuntu0.22.04.1  amd64\n");
  EXPECT_EQ(evidence.Text("host.driver.library_version"), "535.183.01");
  EXPECT_EQ(Read("ii  libcuda1:amd64  525.147.05-4  amd64\n").Text("host.driver.library_version"), "525.147.05");
  EXPECT_EQ(Read("ii  nvidia-utils-550-server 550.90.07-0ubuntu1\n").Text("host.driver.library_version"), "550.90.07");
}

TEST(Toolkit, LoadedModules) {
  EXPECT_EQ(Read("$ lsmod | grep nvidia\n\nnvidia_uvm  1523712  2\n").Bool("host.driver.module"), true);
  EXPECT_EQ(Read("nvidia              56623104  80 nvidia_uvm\n").Bool("host.driver.module"), true);
  EXPECT_EQ(Read("root@host:~# lsmod | grep nvidia\nroot@host:~# ls\n").Bool("host.driver.module"), false);
  EXPECT_EQ(Read("$ lsmod | grep -i nvidia\n$ sudo modprobe nvidia\n").Bool("host.driver.module"), false);
}

TEST(Toolkit, ModulesOnDisk) {
  for (const char* text :
       {"$ modinfo -F version nvidia\n550.107.02\n", "$ modinfo nvidia | grep ^version\nversion:        550.107.02\n",
        "filename:       /lib/modules/6.8.0/updates/dkms/nvidia.ko.zst\nalias:  x\nversion:        550.107.02\n",
        "nvidia/550.107.02, 6.8.0-40-generic, x86_64: installed\n",
        "nvidia, 550.107.02, 6.8.0-40-generic, x86_64: installed\n"}) {
    const Evidence evidence = Read(text);
    EXPECT_EQ(evidence.Bool("host.driver.module_on_disk"), true) << text;
    EXPECT_EQ(evidence.Text("host.driver.version_on_disk"), "550.107.02") << text;
    EXPECT_EQ(evidence.Find("host.driver.module"), nullptr) << text;
  }
  EXPECT_EQ(Read("modinfo: ERROR: Module nvidia not found.\n").Bool("host.driver.module_on_disk"), false);
}

TEST(Toolkit, SecureBoot) {
  EXPECT_EQ(Read("$ mokutil --sb-state\nSecureBoot enabled\n").Bool("host.secure_boot"), true);
  EXPECT_EQ(Read("Secure Boot: disabled\n").Bool("host.secure_boot"), false);
  EXPECT_EQ(Read("modprobe: ERROR: could not insert 'nvidia': Required key not available\n")
                .Bool("host.driver.module_rejected"),
            true);
}

TEST(Toolkit, StaysSilent) {
  for (const char* text : {
           "$ lsmod | grep nvidia\n",                                   // cut off behind the command
           "$ lsmod | grep nvidia\nnvidiafb               53248  0\n",  // a frame buffer of the kernel
           "$ lsmod | grep nvidia\ni2c_nvidia_gpu         16384  0\n$ ls\n",
           "I ran lsmod and nvidia was missing # strange\n$ ls\n",  // a sentence
           "nvidia is 5 years old\n",
           "ii  nvidia-driver-assistant  0.22.82.01-1  all\n",  // has a version of its own
           "ii  nvidia-driver-local-repo-ubuntu2204-535.104.05  1.0-1  amd64\n",
           "rc  nvidia-driver-470  470.256.02-0ubuntu0.22.04.1  amd64\n",  // removed
           "nvidia/550.107.02: added\n",                                   // for no kernel yet
           "I think that SecureBoot enabled is bad\n",
           "version:        550.107.02\n",  // of what?
           "filename:       /lib/modules/6.8.0/kernel/nvidiafb.ko\nversion:        1.0.5\n",
           "EFI variables are not supported on this system\n",
           "Cuda compilation tools, release soon\n",
       }) {
    EXPECT_TRUE(Read(text).WithPrefix("").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
