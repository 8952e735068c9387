// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

Evidence Read(std::string_view text) { return ReadWith("task_manager", text); }

double Engine(const Evidence& evidence, std::string_view engine, int gpu = 0) {
  const Fact* fact = evidence.Find("gpu.engine." + std::string(engine) + ".ratio", TextGpu(gpu));
  return fact == nullptr ? -1 : fact->value.AsDouble().value_or(-2);
}

double Duty(const Evidence& evidence, int gpu = 0) {
  const Fact* fact = evidence.Find("gpu.utilization.ratio", TextGpu(gpu));
  return fact == nullptr ? -1 : fact->value.AsDouble().value_or(-2);
}

TEST(TaskManager, EnginesByTheirNames) {
  const Evidence evidence = Read("Task Manager\nGPU 1\n3D 2%\nCopy 1 %\nCuda 97%\nVideo Decode 0%\n");
  EXPECT_DOUBLE_EQ(Engine(evidence, "3d", 1), 0.02);
  EXPECT_DOUBLE_EQ(Engine(evidence, "copy", 1), 0.01);
  EXPECT_DOUBLE_EQ(Engine(evidence, "cuda", 1), 0.97);
  EXPECT_DOUBLE_EQ(Engine(evidence, "video_decode", 1), 0);
  EXPECT_EQ(evidence.Text("host.os.name"), "windows");
  EXPECT_EQ(evidence.Find("gpu.engine.cuda.ratio")->source, Source::kOs);
  EXPECT_EQ(evidence.Find("gpu.engine.cuda.ratio")->where, "line 5");
  EXPECT_EQ(Duty(evidence, 1), -1);
}

TEST(TaskManager, OneLine) {
  EXPECT_DOUBLE_EQ(Engine(Read("Task Manager > Performance > GPU 0 (3D): 18 %\n"), "3d"), 0.18);
  EXPECT_DOUBLE_EQ(Engine(Read("GPU 1 (Cuda): 95 %\n"), "cuda", 1), 0.95);
  EXPECT_DOUBLE_EQ(Engine(Read("My GPU sits at 5% in Task Manager\n"), "3d"), 0.05);
  const Evidence two = Read("In Task Manager GPU 1 has 3D 4 % and Cuda 88 %\n");
  EXPECT_DOUBLE_EQ(Engine(two, "3d", 1), 0.04);
  EXPECT_DOUBLE_EQ(Engine(two, "cuda", 1), 0.88);
}

TEST(TaskManager, Chinese) {
  EXPECT_DOUBLE_EQ(Engine(Read("任务管理器 GPU 20%\n"), "3d"), 0.2);
  EXPECT_DOUBLE_EQ(Engine(Read("任务管理器里 Cuda 占用 95%\n"), "cuda"), 0.95);
  EXPECT_DOUBLE_EQ(Engine(Read("任务管理器显示GPU占用只有 5％，CPU占用 100％\n"), "3d"), 0.05);
  const Evidence both = Read("nvidia-smi 显示 97%，任务管理器 3D 只有 2%\n");
  EXPECT_DOUBLE_EQ(Duty(both), 0.97);
  EXPECT_DOUBLE_EQ(Engine(both, "3d"), 0.02);
}

TEST(TaskManager, OtherSharesAreNotTheGpus) {
  const Evidence evidence = Read("Task Manager: GPU 2%, CPU 100%\n");
  EXPECT_DOUBLE_EQ(Engine(evidence, "3d"), 0.02);
  EXPECT_EQ(Engine(evidence, "3d", 2), -1);
  EXPECT_DOUBLE_EQ(Engine(Read("Task Manager CPU 98%, GPU0 4%\n"), "3d"), 0.04);
  EXPECT_DOUBLE_EQ(Duty(Read("GPU-Z: GPU Load 98%, Memory Controller Load 45%\n")), 0.98);
}

TEST(TaskManager, TheBusiestComputeEngine) {
  EXPECT_DOUBLE_EQ(Engine(Read("Task Manager\nCompute_0: 92%\nCompute_1: 0%\n"), "compute"), 0.92);
  EXPECT_DOUBLE_EQ(Engine(Read("Task Manager\nCompute_0: 0%\nCompute_1: 92%\n"), "compute"), 0.92);
}

TEST(TaskManager, MonitorsShowTheDevice) {
  const Evidence evidence = Read("HWMonitor: NVIDIA GeForce RTX 2070  Utilization GPU 97 %\n");
  EXPECT_DOUBLE_EQ(Duty(evidence), 0.97);
  EXPECT_EQ(evidence.Find("gpu.utilization.ratio")->source, Source::kDevice);
  EXPECT_EQ(evidence.Samples("gpu.utilization.ratio", TextGpu(0)).size(), 1U);
  EXPECT_DOUBLE_EQ(Duty(Read("HWMonitor\nUtilization\n  GPU  97 %\n  Memory 40 %\n")), 0.97);
  EXPECT_DOUBLE_EQ(Duty(Read("HWMonitor: GPU 1 usage 80 %\n"), 1), 0.8);
}

TEST(TaskManager, TwoToolsInOneLine) {
  for (const char* text : {"Task Manager says GPU usage is 1% but nvidia-smi shows 98%\n",
                           "nvidia-smi says 98% while Task Manager says 1%\n",
                           "The GPU stays at 1 % in Task Manager, in nvidia-smi it is 98 %\n"}) {
    const Evidence evidence = Read(text);
    EXPECT_DOUBLE_EQ(Engine(evidence, "3d"), 0.01) << text;
    EXPECT_DOUBLE_EQ(Duty(evidence), 0.98) << text;
  }
}

TEST(TaskManager, StaysSilent) {
  for (const char* text :
       {"In Task Manager GPU memory is at 90%\n", "Task Manager: dedicated GPU memory 7.2/8.0 GB (90%)\n",
        "my code took 30% of the CPU in task manager\n", "GPU-Z Memory Used 90%\n", "MSI Afterburner fan 60%\n",
        "Epoch 1/10 GPU 45%\n", "I have 3D printing at 50% progress\n", "Cuda 95%\n", "任务管理器 显存 90%\n",
        "Task Manager GPU 250%\n", "Task Manager GPU %\n", "Task Manager:\n 50%|█████     | 3/6 [00:01<00:01, gpu]\n",
        "$ nvidia-smi\n|  0%   40C    P8    20W / 215W |    300MiB /  8192MiB |      1%      Default |\n",
        "Task Manager\na\nb\nc\nd\ne\nf\nGPU 30%\n"}) {
    EXPECT_TRUE(Read(text).WithPrefix("").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
