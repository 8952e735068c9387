// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

Evidence Read(std::string_view text) { return ReadWith("collect_env", text); }

constexpr char kCudaBuilt[] = "framework.torch.cuda_built";

TEST(CollectEnv, OldReportOfACpuBuild) {
  const Evidence evidence = Read(
      "Collecting environment information...\n"
      "PyTorch version: 1.4.0\n"
      "Is debug build: No\n"
      "CUDA used to build PyTorch: None\n"
      "\n"
      "OS: Ubuntu 16.04.6 LTS\n"
      "Is CUDA available: No\n"
      "CUDA runtime version: No CUDA\n"
      "GPU models and configuration: No CUDA\n"
      "Nvidia driver version: No CUDA\n"
      "\n"
      "Versions of relevant libraries:\n"
      "[pip3] numpy==1.18.1\n"
      "[conda] pytorch                   1.4.0               py3.7_cpu_0  [cpuonly]  pytorch\n");
  EXPECT_EQ(evidence.Text("framework.torch.version"), "1.4.0");
  EXPECT_EQ(evidence.Text(kCudaBuilt), "");
  EXPECT_EQ(evidence.Bool("framework.torch.cuda_available"), false);
  EXPECT_EQ(evidence.Text("host.os.name"), "linux");
  for (const char* name : {"driver.version", "gpu.name", "toolkit.versions"}) EXPECT_EQ(evidence.Find(name), nullptr);
}

TEST(CollectEnv, NewReportWithGpus) {
  const Evidence evidence = Read(
      "PyTorch version: 2.1.0+cu118\n"
      "CUDA used to build PyTorch: 11.8\n"
      "ROCM used to build PyTorch: N/A\n"
      "\n"
      "OS: Microsoft Windows 11 Pro\n"
      "Is CUDA available: True\n"
      "CUDA runtime version: 11.8.89\n"
      "GPU models and configuration: \n"
      "GPU 0: NVIDIA A10\n"
      "GPU 1: Tesla T4\n"
      "\n"
      "Nvidia driver version: 515.65.01\n"
      "[pip3] torch==2.1.0\n");
  EXPECT_EQ(evidence.Text("framework.torch.version"), "2.1.0+cu118");
  EXPECT_EQ(evidence.Text(kCudaBuilt), "11.8");
  EXPECT_EQ(evidence.Bool("framework.torch.cuda_available"), true);
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(1))->value.AsText(), "Tesla T4");
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(0))->where, "line 9");
  EXPECT_EQ(evidence.Text("driver.version"), "515.65.01");
  EXPECT_EQ(evidence.Find("toolkit.versions")->value.AsList(), StringList{"11.8.89"});
  EXPECT_EQ(evidence.Text("host.os.name"), "windows");
  EXPECT_EQ(evidence.Find("framework.torch.hip_built"), nullptr);
}

TEST(CollectEnv, RocmIsNoCpuBuild) {
  const Evidence evidence = Read(
      "PyTorch version: 1.7.0a0+9ddd3df\nCUDA used to build PyTorch: N/A\n"
      "ROCM used to build PyTorch: 3.7.20315-077bcfa0\nIs CUDA available: True\n"
      "GPU models and configuration: Device 66a1\nNvidia driver version: Could not collect\n");
  EXPECT_EQ(evidence.Find(kCudaBuilt), nullptr);
  EXPECT_EQ(evidence.Text("framework.torch.hip_built"), "3.7.20315-077bcfa0");
  EXPECT_EQ(evidence.Text("gpu.name"), "Device 66a1");
  EXPECT_EQ(evidence.Find("driver.version"), nullptr);
}

TEST(CollectEnv, ReportOfTransformers) {
  const Evidence evidence = Read(
      "- `transformers` version: 4.30.0\n- PyTorch version (GPU?): 2.0.1+cpu (False)\n"
      "- Tensorflow version (GPU?): 2.12.0 (False)\n");
  EXPECT_EQ(evidence.Text(kCudaBuilt), "");
  EXPECT_EQ(evidence.Bool("framework.torch.cuda_available"), false);
  EXPECT_EQ(evidence.Int("framework.tensorflow.gpu_count"), 0);
  EXPECT_TRUE(Read("- PyTorch version (GPU?): not installed (NA)\n").WithPrefix("").empty());
}

TEST(CollectEnv, ReportOfLightning) {
  const Evidence evidence = Read(
      "* CUDA:\n\t- GPU:\n\t\t- NVIDIA A10\n\t\t- Tesla T4\n\t- available:         False\n"
      "\t- version:           None\n* Lightning:\n\t- torch:             1.13.1\n* System:\n\t- OS: Windows\n");
  EXPECT_EQ(evidence.Text(kCudaBuilt), "");
  EXPECT_EQ(evidence.Bool("framework.torch.cuda_available"), false);
  EXPECT_EQ(evidence.Text("framework.torch.version"), "1.13.1");
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(1))->value.AsText(), "Tesla T4");
  EXPECT_EQ(evidence.Text("host.os.name"), "windows");
  EXPECT_EQ(Read("* CUDA:\n\t- version: 11.7\n").Text(kCudaBuilt), "11.7");
  EXPECT_EQ(Read("* CUDA:\n\t- available: True\n\t- version: None\n").Find(kCudaBuilt), nullptr);
  EXPECT_TRUE(Read("* System:\n- OS: Windows\n- version: None\n").WithPrefix("").empty());
  EXPECT_TRUE(Read("* CUDA:\nsome words\n- version: None\n").WithPrefix("").empty());
}

TEST(CollectEnv, BuildsOfConda) {
  const auto built = [](std::string_view line) { return Read(line).Text(kCudaBuilt); };
  EXPECT_EQ(built("pytorch    1.12.1    py3.9_cuda11.3_cudnn8.3.2_0    pytorch\n"), "11.3");
  EXPECT_EQ(built("pytorch    1.0.1   py3.6_cuda10.0.130_cudnn7.4.2_2  pytorch\n"), "10.0");
  EXPECT_EQ(built("pytorch    2.1.2   cuda118_py310h1  conda-forge\n"), "11.8");
  EXPECT_EQ(built("pytorch    2.1.2   cpu_mkl_py310h1  conda-forge\n"), "");
  EXPECT_EQ(built("  - pytorch=1.4.0=py3.7_cpu_0\n"), "");
  EXPECT_EQ(built("cpuonly   2.0   0   pytorch\n"), "");
  EXPECT_EQ(built("[conda] torch   2.1.0+cpu   pypi_0   pypi\n"), "");
  EXPECT_TRUE(Read("pytorch   2.1.2   py3.10_0   pytorch\n").WithPrefix("").empty());
}

TEST(CollectEnv, ListsOfPip) {
  const Evidence list = Read(
      "Package      Version\n------------ -------\njax          0.4.30\njaxlib       0.4.30\n"
      "jax-cuda12-plugin 0.4.30\ntensorflow-cpu 2.15.0\ntorch        2.3.0+cu121\n");
  EXPECT_EQ(list.Text("framework.jax.version"), "0.4.30");
  EXPECT_EQ(list.Text("framework.jax.cuda_plugin_version"), "0.4.30");
  EXPECT_EQ(list.Bool("framework.tensorflow.cuda_built"), false);
  EXPECT_EQ(list.Text(kCudaBuilt), "12.1");
  EXPECT_EQ(Read("tensorflow-gpu==2.10.0\n").Bool("framework.tensorflow.cuda_built"), true);
  EXPECT_EQ(Read("tensorflow-gpu==2.12.0\n").Find("framework.tensorflow.cuda_built"), nullptr);
  EXPECT_EQ(Read("Name: torch\nVersion: 2.1.0+cpu\nSummary: Tensors\n").Text(kCudaBuilt), "");
}

TEST(CollectEnv, PackagesFromFiles) {
  const auto built = [](std::string_view line) { return Read(line).Text(kCudaBuilt); };
  EXPECT_EQ(built("torch @ https://example.org/whl/cpu/torch-2.1.0%2Bcpu-cp311-cp311-linux_x86_64.whl\n"), "");
  EXPECT_EQ(built("torch @ file:///tmp/torch-2.3.0+cu121-cp310-cp310-linux_x86_64.whl#sha256=0a\n"), "12.1");
  EXPECT_TRUE(Read("torch @ file:///tmp/checkout\n").WithPrefix("").empty());
}

TEST(CollectEnv, ReportOfUltralytics) {
  const Evidence gpu = Read(
      "Environment            Linux\nInstall                pip\nGPU                    Tesla T4, 15102MiB\n"
      "GPU count              2\nCUDA                   12.1\n\ntorch                  ✅ 2.1.0>=1.8.0\n");
  EXPECT_EQ(gpu.Bool("framework.torch.cuda_available"), true);
  EXPECT_EQ(gpu.Text(kCudaBuilt), "12.1");
  EXPECT_EQ(gpu.Int("framework.torch.device_count"), 2);
  EXPECT_EQ(gpu.Text("framework.torch.device.0.name"), "Tesla T4");
  EXPECT_EQ(gpu.Text("framework.torch.version"), "2.1.0");
  // None is printed whenever no GPU is seen: it says nothing of the build.
  const Evidence none = Read("Environment   Windows\nInstall   pip\nCUDA    None\n\ntorch   ✅ 2.1.0>=1.8.0\n");
  EXPECT_EQ(none.Bool("framework.torch.cuda_available"), false);
  EXPECT_EQ(none.Find(kCudaBuilt), nullptr);
  EXPECT_EQ(Read("torch    ❌ 1.7.0+cpu>=1.8.0\n").Text(kCudaBuilt), "");
  const Evidence rocm = Read("Install   pip\nGPU      AMD Radeon RX 7900 XTX, 24560MiB\nCUDA    None\n");
  EXPECT_EQ(rocm.Find("framework.torch.cuda_available"), nullptr);
}

TEST(CollectEnv, StaysSilent) {
  for (const char* text :
       {"OS: Ubuntu 22.04\nGPU 0: my old card\n", "torch>=2.0\n", "torch 2 is what I have\n", "torchvision 0.16.0\n",
        "Name: torch\nfoo\n", "CUDA used: 11.7\n", "jax was fine\n", "pip install torch==2.1.0 now\n",
        "tensorflow-estimator 2.10.0\n", "jax 0.4 is nice\n", "tensorflow 2.10 gpu\n", "CUDA 12.1\n", "CUDA None\n",
        "GPU count 2\n", "torch ❌ (not installed)>=1.8.0\n"}) {
    EXPECT_TRUE(Read(text).WithPrefix("").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
