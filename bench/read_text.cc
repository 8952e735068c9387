// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// CPU time of reading a text and of judging it: 1 MB of noise (goal: under 100 ms), the same mixed with real lines, and
// each text given on the command line.
//   read_text [FILE]...      prints one line of JSON a text: bytes, lines, median of 9 runs in milliseconds
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "session/diagnose.h"

namespace gpuwhy {
namespace {

constexpr size_t kNoiseBytes = 1 << 20;

// Words of printable characters in lines of up to 120: nothing that a reader knows, everything that it has to look at.
std::string Noise(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> letter(33, 126), length(2, 120);
  std::string text;
  while (text.size() < kNoiseBytes) {
    for (int left = length(random); left > 0; --left)
      text += letter(random) % 7 == 0 ? ' ' : static_cast<char>(letter(random));
    text += '\n';
  }
  return text;
}

// Lines that begin like what readers look for.
std::string NearMisses() {
  const char* const kLines[] = {"| 0 | something | else | 12 |",
                                "GPU 0: is it a fault?",
                                "2024-03-09 19:15:45.018171: I x/y.cc:1] z",
                                "torch.cuda is what I use",
                                "# gpu sm mem",
                                "CUDA error in my own words",
                                "+-----+-----+",
                                "$ python train.py --epochs 10",
                                "Epoch 3/10",
                                "    Total : 12 MiB"};
  std::string text;
  for (size_t i = 0; text.size() < kNoiseBytes; ++i) text += std::string(kLines[i * 7 % std::size(kLines)]) + "\n";
  return text;
}

void Measure(const char* name, const std::string& text) {
  std::vector<double> times;
  for (int run = 0; run < 9; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const Result<Report> report = DiagnoseInput(text, name);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!report) {
      std::printf("{\"text\": \"%s\", \"error\": \"%s\"}\n", name, report.error().message.c_str());
      return;
    }
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"text\": \"%s\", \"bytes\": %zu, \"median_ms\": %.2f, \"least_ms\": %.2f}\n", name, text.size(),
              times[4], times[0]);
}

}  // namespace
}  // namespace gpuwhy

int main(int count, char** arguments) {
  gpuwhy::Measure("1 MB of noise", gpuwhy::Noise(1));
  gpuwhy::Measure("1 MB of near misses", gpuwhy::NearMisses());
  for (int i = 1; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    gpuwhy::Measure(arguments[i], std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return 0;
}
