// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

std::string Shown(std::string_view text, std::string_view name) {
  const Evidence evidence = ReadWith("shell", text);
  const Fact* fact = evidence.Find(name);
  return fact != nullptr ? fact->value.Show() : "(nothing)";
}

constexpr char kVisible[] = "process.env.CUDA_VISIBLE_DEVICES";

TEST(Shell, VariablesInFrontOfACommand) {
  EXPECT_EQ(Shown("$ CUDA_VISIBLE_DEVICES=$0 ./tools/demo.py\n", kVisible), "$0");
  EXPECT_EQ(Shown("user@host:~/x$ sudo CUDA_VISIBLE_DEVICES=\"\" python a.py\n", kVisible), "");
  EXPECT_EQ(Shown("CUDA_VISIBLE_DEVICES=1,2 nohup python3 train.py\n", kVisible), "1,2");
  EXPECT_EQ(Shown("$ cd x && CUDA_VISIBLE_DEVICES=3 python a.py\n", kVisible), "3");
  EXPECT_EQ(Shown("$ python a.py CUDA_VISIBLE_DEVICES=3\n", kVisible), "(nothing)") << "an argument of the program";
}

TEST(Shell, VariablesThatAreSet) {
  EXPECT_EQ(Shown("$ export CUDA_VISIBLE_DEVICES=-1\n", kVisible), "-1");
  EXPECT_EQ(Shown("C:\\Users\\me> set CUDA_VISIBLE_DEVICES=0\n", kVisible), "0");
  EXPECT_EQ(Shown("PS D:\\work> $env:CUDA_VISIBLE_DEVICES = \"1\"\n", kVisible), "1");
  EXPECT_EQ(Shown("> setx CUDA_VISIBLE_DEVICES 1\n", kVisible), "(nothing)");
  EXPECT_EQ(Shown("C:\\> setx CUDA_VISIBLE_DEVICES 1\n", kVisible), "1");
  EXPECT_EQ(Shown("$ docker run --gpus all -e CUDA_VISIBLE_DEVICES=5 image\n", kVisible), "5");
  EXPECT_EQ(Shown("$ env | grep CUDA\nCUDA_VISIBLE_DEVICES=7\n", kVisible), "7");
  EXPECT_EQ(Shown("$ echo $CUDA_VISIBLE_DEVICES\n0,1\n", kVisible), "0,1");
  EXPECT_EQ(Shown("$ echo $CUDA_VISIBLE_DEVICES\n$ ls\n", kVisible), "(nothing)");
  EXPECT_EQ(Shown("export PATH=/usr/bin\n", "process.env.PATH"), "(nothing)");
}

TEST(Shell, Commands) {
  EXPECT_EQ(Shown("$ python main.py -a alexnet --workers=10\n", "process.command"),
            "python main.py -a alexnet --workers=10");
  EXPECT_EQ(Shown("(base) [me@node01 run]$ ./gpu_burn 60\n", "process.command"), "./gpu_burn 60");
  EXPECT_EQ(Shown("$ python train.py\n$ nvidia-smi\n$ pip list | grep -i jax\n", "process.command"), "python train.py");
  EXPECT_EQ(Shown("$ python -c \"import torch\"\n$ python --version\n", "process.command"), "(nothing)");
  EXPECT_EQ(Shown("yolo train data=data.yaml model=yolov8n.pt epochs=25\n", "process.command"),
            "yolo train data=data.yaml model=yolov8n.pt epochs=25");
  EXPECT_EQ(Shown("$ docker run -it myimage bash\n", "process.container.command"), "docker run -it myimage bash");
  EXPECT_EQ(Shown("(base) C:\\> nvidia-smi\n", "host.os.name"), "windows");
}

TEST(Shell, DevicesThatAreAskedFor) {
  constexpr char kDevice[] = "framework.device_requested";
  EXPECT_EQ(Shown("$ whispering --language fr --model tiny --device cpu\n", kDevice), "cpu");
  EXPECT_EQ(Shown("$ python a.py --device=cuda:1\n", kDevice), "cuda:1");
  EXPECT_EQ(Shown("$ python detect.py --device 0\n", kDevice), "cuda:0");
  EXPECT_EQ(Shown("$ yolo train device=cpu\n", kDevice), "cpu");
  EXPECT_EQ(Shown("$ python a.py --no-cuda\n", kDevice), "cpu");
  EXPECT_EQ(Shown("$ ./llama-cli -m x.gguf -ngl 0\n", kDevice), "cpu");
  EXPECT_EQ(Shown("model = WhisperModel('small', device=\"cpu\")\n", kDevice), "cpu");
  EXPECT_EQ(Shown("torch.device(\"cuda:0\")\n", kDevice), "cuda:0");
  EXPECT_EQ(Shown("x.to(torch.device('cuda',\n", kDevice), "cuda") << "a line that was cut";
  EXPECT_EQ(Shown("x = torch.zeros(2).to(torch.device(\"cuda\", 1))\n", kDevice), "cuda:1");
  EXPECT_EQ(Shown("$ python a.py -d data\n", kDevice), "(nothing)");
  EXPECT_EQ(Shown("device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n", kDevice), "(nothing)");
  EXPECT_EQ(Shown("torch.load('x', map_location=torch.device('cpu'))\n", kDevice), "(nothing)");
  EXPECT_EQ(Shown("tensor([1.], device='cuda:0')\n", kDevice), "(nothing)");
  EXPECT_EQ(Shown("Use 'device=cpu' or pass valid CUDA device(s), i.e. 'device=0'\n", kDevice), "(nothing)");
}

TEST(Shell, ProseAndTablesAreNoCommands) {
  for (const char* text :
       {"# gpu   pwr  temp    sm   mem\n", "# Idx     W     C     %     %\n", "I set CUDA_VISIBLE_DEVICES=1 before\n",
        "CUDA_VISIBLE_DEVICES=0 is not the problem\n", "python is slow here\n", "mail me@example.com for $ 5\n",
        "# python train.py\n", "epoch=3\n", "docker\n", "| 0  Tesla T4 |\n", ">>> import torch\n"}) {
    const Evidence evidence = ReadWith("shell", text);
    EXPECT_TRUE(evidence.WithPrefix("process.").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
