// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

Evidence Read(std::string_view text) { return ReadWith("smi_list", text); }

TEST(SmiList, Gpus) {
  const Evidence evidence =
      Read("$ nvidia-smi -L\nGPU 0: TITAN X (Pascal) (UUID: GPU-01)\nGPU 2: Tesla T4 (UUID: GPU-03)\n");
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(0))->value.AsText(), "TITAN X (Pascal)");
  EXPECT_EQ(evidence.Find("gpu.uuid", TextGpu(2))->value.AsText(), "GPU-03");
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(2))->where, "line 3");
  EXPECT_EQ(evidence.Find("gpu.index", TextGpu(2))->value.AsInt(), 2);
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(1)), nullptr);
  EXPECT_EQ(evidence.Find("gpu.mig.mode"), nullptr);
}

TEST(SmiList, Instances) {
  const Evidence evidence = Read(
      "GPU 0: NVIDIA A100 (UUID: GPU-01)\n"
      "  MIG 3g.20gb     Device  0: (UUID: MIG-GPU-01/1/0)\n"
      "  MIG 2g.10gb     Device  1: (UUID: MIG-GPU-01/5/0)\n"
      "GPU 1: NVIDIA A100 (UUID: GPU-02)\n");
  EXPECT_EQ(evidence.Find("gpu.mig.instances", TextGpu(0))->value.AsList(),
            (StringList{"3g.20gb MIG-GPU-01/1/0", "2g.10gb MIG-GPU-01/5/0"}));
  EXPECT_EQ(evidence.Find("gpu.mig.mode", TextGpu(0))->value.AsBool(), true);
  EXPECT_EQ(evidence.Find("gpu.mig.instances", TextGpu(1)), nullptr);
  EXPECT_EQ(evidence.Find("gpu.mig.none_listed", TextGpu(0))->value.AsBool(), false);
  EXPECT_EQ(evidence.Find("gpu.mig.none_listed", TextGpu(1))->value.AsBool(), true);
}

TEST(SmiList, JoinedLines) {
  const Evidence evidence = Read("$ nvidia-smi -L GPU 0: Tesla T4 (UUID: GPU-01) GPU 1: NVIDIA A10 (UUID: GPU-02)\n");
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(0))->value.AsText(), "Tesla T4");
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(1))->value.AsText(), "NVIDIA A10");
}

TEST(SmiList, Topology) {
  const Evidence evidence = Read(
      "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
      "GPU0\t X \tNV18\tPIX\t0-47,96-143\t0\t\tN/A\n"
      "GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A\n"
      "NIC0\tPIX\tSYS\t X \t\t\t\n");
  EXPECT_EQ(evidence.Find("gpu.topology.#1", TextGpu(0))->value.AsText(), "NV18");
  EXPECT_EQ(evidence.Find("gpu.topology.#0", TextGpu(1))->where, "line 3");
  EXPECT_EQ(evidence.Find("gpu.topology.#0", TextGpu(0)), nullptr);
  EXPECT_EQ(evidence.Find("gpu.cpu_affinity", TextGpu(0))->value.AsText(), "0-47,96-143");
  EXPECT_EQ(evidence.Find("gpu.numa_node", TextGpu(1))->value.AsInt(), 1);
  EXPECT_TRUE(evidence.gaps().empty());
}

TEST(SmiList, TopologyOfOldDriversAndEmptyColumns) {
  const Evidence old =
      Read("        GPU0    GPU1    CPU Affinity\nGPU0     X      SOC     0-7\nGPU1    SOC      X      8-15\n");
  EXPECT_EQ(old.Find("gpu.topology.#1", TextGpu(0))->value.AsText(), "SOC");
  EXPECT_EQ(old.Find("gpu.numa_node", TextGpu(0)), nullptr);
  EXPECT_TRUE(Read("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\t\t\tN/A\n").WithPrefix("").empty());
}

TEST(SmiList, ARowOfTheMatrixThatCannotBeReadIsAGap) {
  const Evidence evidence = Read("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPH\n");
  ASSERT_EQ(evidence.gaps().size(), 1U);
  EXPECT_TRUE(evidence.WithPrefix("").empty());
}

TEST(SmiList, StaysSilent) {
  for (const char* text : {"GPU 0: my old card\n", "MIG 3g.20gb Device 0: (UUID: MIG-1)\n", "(UUID: GPU-01)\n",
                           "GPU x: Tesla (UUID: GPU-1)\n", "GPU 0: Tesla T4 (UUID: GPU-0", "GPU 0: (UUID: GPU-1)\n",
                           "GPU0 X NV4\n", "GPU0 and GPU1 have no CPU Affinity\nGPU0 X\n"}) {
    EXPECT_TRUE(Read(text).WithPrefix("").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
