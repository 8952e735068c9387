// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

using testing::ElementsAre;

Evidence Read(std::string_view text) { return ReadWith("python_session", text); }

std::string Shown(const Evidence& evidence, std::string_view name) {
  const Fact* fact = evidence.Find(name);
  return fact != nullptr ? fact->value.Show() : "(nothing)";
}

TEST(PythonSession, AnInteractiveSession) {
  const Evidence evidence = Read(
      "Python 3.9.16 (main, Mar  8 2023, 10:39:24) [MSC v.1916 64 bit (AMD64)] :: Anaconda, Inc. on win32\n"
      ">>> import torch\n"
      ">>> torch.__version__\n"
      "'2.6.0+cu126'\n"
      ">>> torch.cuda.is_available()\n"
      "C:\\venv\\torch\\cuda\\__init__.py:235: UserWarning: \n"
      "  return torch._C._cuda_getDeviceCount() > 0\n"
      "True\n"
      ">>> torch.cuda.get_device_name(0)\n"
      "'NVIDIA TITAN X (Pascal)'\n"
      ">>> torch.cuda.get_device_capability()\n"
      "(6, 1)\n"
      ">>> torch.cuda.get_arch_list()\n"
      "['sm_50', 'sm_60',\n"
      " 'sm_70']\n");
  EXPECT_EQ(Shown(evidence, "host.os.name"), "windows");
  EXPECT_EQ(Shown(evidence, "framework.torch.version"), "2.6.0+cu126");
  EXPECT_EQ(Shown(evidence, "framework.torch.cuda_built"), "12.6");
  EXPECT_EQ(Shown(evidence, "framework.torch.cuda_available"), "true");
  EXPECT_EQ(evidence.Find("framework.torch.cuda_available")->where, "line 8");
  EXPECT_EQ(Shown(evidence, "framework.torch.device.0.name"), "NVIDIA TITAN X (Pascal)");
  EXPECT_EQ(Shown(evidence, "framework.torch.device.0.compute_capability"), "6.1");
  EXPECT_THAT(*evidence.Find("framework.torch.arch_list")->value.AsList(), ElementsAre("sm_50", "sm_60", "sm_70"));
}

TEST(PythonSession, NoneIsShownAsNothing) {
  EXPECT_EQ(Shown(Read(">>> torch.version.cuda\n>>> exit()\n"), "framework.torch.cuda_built"), "");
  EXPECT_EQ(Shown(Read(">>> print(torch.version.cuda)\nNone\n"), "framework.torch.cuda_built"), "");
  EXPECT_EQ(Shown(Read(">>> torch.version.cuda\n"), "framework.torch.cuda_built"), "(nothing)") << "cut off";
}

TEST(PythonSession, ACommandPrintsOnlyWhatItPrints) {
  const Evidence evidence = Read(
      "$ python3 -c \"import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())\"\n"
      "1.13.0+cpu None False\n");
  EXPECT_EQ(Shown(evidence, "framework.torch.version"), "1.13.0+cpu");
  EXPECT_EQ(Shown(evidence, "framework.torch.cuda_built"), "");
  EXPECT_EQ(Shown(evidence, "framework.torch.cuda_available"), "false");
  EXPECT_EQ(
      Shown(Read("$ python -c 'import torch; torch.cuda.is_available()'\nTrue\n"), "framework.torch.cuda_available"),
      "(nothing)");
  const Evidence two = Read(
      "root@a:/# python -c 'import torch; print(\"v\", torch.__version__); print(torch.cuda.device_count())'\n"
      "v 2.1.0\n2\n");
  EXPECT_EQ(Shown(two, "framework.torch.version"), "2.1.0");
  EXPECT_EQ(Shown(two, "framework.torch.device_count"), "2");
}

TEST(PythonSession, TensorFlowSeesDevices) {
  EXPECT_EQ(Shown(Read(">>> tf.config.list_physical_devices('GPU')\n"
                       "2024-03-09 19:16:04.190632: I external/local_xla/xla/cuda_executor.cc:998] NUMA\n"
                       "Skipping registering GPU devices...\n[]\n"),
                  "framework.tensorflow.gpu_count"),
            "0");
  EXPECT_EQ(Shown(Read("In [3]: tf.config.list_physical_devices()\n"
                       "Out[3]: \n[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU'),\n"
                       " PhysicalDevice(name='/physical_device:XLA_GPU:0', device_type='XLA_GPU'),\n"
                       " PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\n"),
                  "framework.tensorflow.gpu_count"),
            "1");
  EXPECT_EQ(Shown(Read(">>> tf.config.list_physical_devices('TPU')\n[]\n"), "framework.tensorflow.gpu_count"),
            "(nothing)");
  EXPECT_EQ(Shown(Read(">>> tf.test.is_built_with_cuda()\nFalse\n"), "framework.tensorflow.cuda_built"), "false");
  EXPECT_EQ(Shown(Read("print(tf.test.is_gpu_available())\nFalse\n"), "framework.tensorflow.gpu_count"), "0");
  EXPECT_EQ(Shown(Read(">>> tensorflow.__version__\n'2.17.0'\n"), "framework.tensorflow.version"), "2.17.0");
}

constexpr char kCpuOnly[] =
    "In [4]: print(device_lib.list_local_devices())\n"
    "[name: \"/device:CPU:0\"\ndevice_type: \"CPU\"\nmemory_limit: 268435456\nlocality {\n}\n"
    "incarnation: 17504734730771000338\nxla_global_id: -1\n";

TEST(PythonSession, LocalDevices) {
  EXPECT_EQ(Shown(Read(std::string(kCpuOnly) + "]\n"), "framework.tensorflow.gpu_count"), "0");
  EXPECT_EQ(Shown(Read(kCpuOnly), "framework.tensorflow.gpu_count"), "(nothing)") << "the end of the list is missing";
  const Evidence one = Read(std::string(kCpuOnly) +
                            ", name: \"/device:GPU:0\"\ndevice_type: \"GPU\"\nphysical_device_desc: \"device: 0, name: "
                            "GeForce GTX 1080, pci bus id: 0000:07:00.0, compute capability: 6.1\"\n]\n");
  EXPECT_EQ(Shown(one, "framework.tensorflow.gpu_count"), "1");
  EXPECT_EQ(Shown(one, "framework.tensorflow.device.0.name"), "GeForce GTX 1080");
  EXPECT_EQ(Shown(Read("[name: \"/device:CPU:0\" device_type: \"CPU\" , name: \"/device:XLA_GPU:0\" device_type: "
                       "\"XLA_GPU\" ]\n"),
                  "framework.tensorflow.gpu_count"),
            "0");
}

TEST(PythonSession, JaxAndOnnxruntime) {
  EXPECT_EQ(
      Shown(Read("$ python -c \"import jax; print(jax.devices())\"\n[CpuDevice(id=0)]\n"), "framework.jax.backend"),
      "cpu");
  EXPECT_EQ(Shown(Read(">>> jax.devices()\n[CudaDevice(id=0), CudaDevice(id=1)]\n"), "framework.jax.device_count"),
            "2");
  EXPECT_EQ(Shown(Read(">>> jax.default_backend()\n'gpu'\n"), "framework.jax.backend"), "gpu");
  EXPECT_EQ(Shown(Read(">>> session.get_providers()\n['CPUExecutionProvider']\n"), "framework.on_cpu"), "true");
  EXPECT_EQ(Shown(Read(">>> next(model.parameters()).device\ndevice(type='cuda', index=0)\n"), "framework.on_gpu"),
            "true");
  EXPECT_EQ(Shown(Read("tensor([1., 2.], device='cuda:0')\n"), "framework.on_gpu"), "true");
}

TEST(PythonSession, LabelledPrints) {
  const Evidence evidence = Read(
      "torch.cuda.is_available(): False\ntorch.cuda.device_count(): 0\nos.environ['CUDA_VISIBLE_DEVICES']: 0\n"
      "- PyTorch version: 2.1.0+cpu, Python 3.10\n");
  EXPECT_EQ(Shown(evidence, "framework.torch.cuda_available"), "false");
  EXPECT_EQ(Shown(evidence, "framework.torch.device_count"), "0");
  EXPECT_EQ(Shown(evidence, "process.env.CUDA_VISIBLE_DEVICES"), "0");
  EXPECT_EQ(Shown(evidence, "framework.torch.version"), "2.1.0+cpu");
  EXPECT_EQ(Shown(Read("Is CUDA available? True\n"), "framework.torch.cuda_available"), "true");
}

TEST(PythonSession, Assignments) {
  EXPECT_EQ(Shown(Read("os.environ[\"CUDA_VISIBLE_DEVICES\"] = \"-1\"\n"), "process.env.CUDA_VISIBLE_DEVICES"), "-1");
  EXPECT_EQ(Shown(Read("import os; os.environ['CUDA_VISIBLE_DEVICES']='0,1'\n"), "process.env.CUDA_VISIBLE_DEVICES"),
            "0,1");
  EXPECT_EQ(Shown(Read("# os.environ['CUDA_VISIBLE_DEVICES']='-1'\n"), "process.env.CUDA_VISIBLE_DEVICES"),
            "(nothing)");
}

TEST(PythonSession, StaysSilentOnSourceAndProse) {
  for (const char* text :
       {"if torch.cuda.is_available():\n    model.cuda()\nTrue\n", "device = torch.cuda.is_available()\nTrue\n",
        "x = tf.config.list_physical_devices('GPU')\n[]\n", "I ran torch.cuda.is_available() and it said so\n",
        "print(torch.cuda.is_available())\nprint(torch.version.cuda)\n", "CUDA available: maybe\n",
        ">>> torch.cuda.is_available()\n>>> 1\nTrue\n", "torch version: unknown\n"}) {
    EXPECT_TRUE(Read(text).WithPrefix("framework.").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
