// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

double Number(std::string_view text, std::string_view name) {
  return ReadWith("progress", text).Double(name).value_or(-1);
}

bool Flag(std::string_view text, std::string_view name) {
  return ReadWith("progress", text).Bool(name).value_or(false);
}

void ExpectTimes(std::string_view text, double data, double batch) {
  EXPECT_NEAR(Number(text, "progress.data.seconds"), data, 1e-9) << text;
  EXPECT_NEAR(Number(text, "progress.batch.seconds"), batch, 1e-9) << text;
}

// Batch 0 holds the start of the workers: 21 batches at 5.893 s less the one of 48.842 s are 20 at 3.7456 s.
TEST(Progress, RunningMeansWithoutTheFirstBatch) {
  ExpectTimes(
      "Epoch: [0][0/5005]\tTime 48.842 (48.842)\tData 45.054 (45.054)\tLoss 6.9073 (6.9073)\n"
      "Epoch: [0][20/5005]\tTime 10.452 (5.893)\tData 10.404 (5.632)\tLoss 6.9075 (6.9076)\n",
      (21 * 5.632 - 45.054) / 20, (21 * 5.893 - 48.842) / 20);
  EXPECT_EQ(ReadWith("progress", "Epoch: [0][0/5005]\tTime 48.842 (48.842)\tData 45.054 (45.054)\n")
                .Find("progress.data.seconds"),
            nullptr);
  EXPECT_EQ(
      ReadWith("progress", "Test: [10/196]\tTime 4.842 (4.842)\tData 4.054 (4.054)\n").Find("progress.data.seconds"),
      nullptr);
  ExpectTimes("Epoch: [1][  10/1251]\tTime  0.412 ( 0.571)\tData  0.001 ( 0.140)\tLoss 1.0e+00\n", 0.140, 0.571);
  ExpectTimes(
      "Train: 0 [  50/1251 (  4%)]  Loss: 6.95 (6.94)  Time: 0.345s,  741.63/s  (0.512s,  500.12/s)  LR: 1.0e-06  "
      "Data: 0.010 (0.153)\n",
      0.153, 0.512);
  ExpectTimes("Batch Time 350 ms (400 ms), Data Time 20 ms (30 ms)\n", 0.030, 0.400);
}

TEST(Progress, IntervalsAreAveragedWithoutTheFirst) {
  ExpectTimes(
      "Epoch [1][50/7330] lr: 1e-03, eta: 10:30:10, time: 2.000, data_time: 1.900, memory: 3800, loss: 1.2\n"
      "Epoch [1][100/7330] lr: 1e-03, eta: 10:20:10, time: 0.500, data_time: 0.100, memory: 3800, loss: 1.1\n"
      "Epoch [1][150/7330] lr: 1e-03, eta: 10:20:00, time: 0.700, data_time: 0.300, memory: 3800, loss: 1.0\n",
      0.2, 0.6);
  ExpectTimes(
      "eta: 0:10:05  iter: 19  total_loss: 2.5  time: 0.3012  last_time: 0.9  data_time: 0.0123  last_data_time: 1\n",
      0.0123, 0.3012);
}

TEST(Progress, SharesOfProfilerTables) {
  EXPECT_DOUBLE_EQ(Number("Category            Time Duration (us)   Percentage (%)\n"
                          "Kernel              291,104              26.5\n"
                          "DataLoader          659,820              60.0\n",
                          "progress.input.ratio"),
                   0.6);
  EXPECT_DOUBLE_EQ(Number("|  [_TrainingEpochLoop].train_dataloader_next  |  0.012  |  100  |  1.23  |  45.5  |\n",
                          "progress.input.ratio"),
                   0.455);
  EXPECT_DOUBLE_EQ(
      Number("Your program is HIGHLY input-bound because 85.0% of the total step time sampled is waiting for input\n",
             "progress.input.ratio"),
      0.85);
  EXPECT_DOUBLE_EQ(
      Number("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__  1.50%  1.2ms  62.00%  500.1ms  5ms  100\n",
             "progress.input.ratio"),
      0.62);
  EXPECT_DOUBLE_EQ(Number("Data loading: 42 %\n", "progress.input.ratio"), 0.42);
}

TEST(Progress, StepsAreSeen) {
  constexpr char kSteps[] = "progress.steps_seen";
  EXPECT_TRUE(Flag(" 14%|█▍        | 11/79 [00:41<04:18,  3.80s/it]\n", kSteps));
  EXPECT_DOUBLE_EQ(Number(" 14%|█▍        | 11/79 [00:41<04:18,  3.80s/it]\n", "progress.step.seconds"), 3.8);
  EXPECT_DOUBLE_EQ(Number("100%|████| 79/79 [00:41<00:00,  4.00it/s]\n", "progress.step.seconds"), 0.25);
  EXPECT_TRUE(Flag("196/196 [==============================] - ETA: 0s - loss: 0.5868 - accuracy: 0.6819\n", kSteps));
  EXPECT_DOUBLE_EQ(Number("196/196 ━━━━━━━━━━━━ 5s 20ms/step - loss: 0.5\n", "progress.step.seconds"), 0.02);
  EXPECT_TRUE(Flag("iter 100: loss 2.31, time 150.20ms\n", kSteps));
  EXPECT_FALSE(Flag("the loss of 3 files\n", kSteps));
}

TEST(Progress, TheColumnOfGpuMemory) {
  EXPECT_TRUE(Flag("       1/25         0G      1.182      2.914\n", "framework.on_cpu"));
  EXPECT_TRUE(Flag("       1/25      2.61G      1.182      2.914\n", "framework.on_gpu"));
  EXPECT_FALSE(Flag("       1/25      2.61G      1.182      2.914\n", "framework.on_cpu"));
}

TEST(Progress, StaysSilent) {
  for (const char* text : {"Time Duration (us) data 3\n", "date: 2020-01-01 time: 12:30:01 data: 5\n",
                           "it took some time, data 12 is lost\n", "Input 3 files, 40 left\n", "DataLoader 8\n",
                           "Data 1.2 (1.1)\n", "DATA 2024-01-01 10:00:00\n",
                           "training: batch_size: 64  num_workers: 6  prefetch_factor: 64  pin_memory: true\n",
                           "| N/A   44C    P8    2W /  80W |       0MiB /   6141MiB |      0%  Default |\n"}) {
    EXPECT_TRUE(ReadWith("progress", text).WithPrefix("progress.").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
