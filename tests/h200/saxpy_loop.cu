// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// A plain CUDA C++ job: saxpy_loop SECONDS [graph|once]
// Writes the CLOCK_MONOTONIC nanoseconds at the end of each step to the file in STEP_LOG. Prints steps and
// milliseconds.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vector>

__global__ void Saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

static uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

static void Must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

static cudaGraphExec_t MakeGraph(cudaStream_t stream, int n, float* x, float* y) {
  cudaGraph_t graph;
  cudaGraphExec_t exec = nullptr;
  Must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int i = 0; i < 20; ++i) Saxpy<<<n / 256, 256, 0, stream>>>(n, 2.0f, x, y);
  Must(cudaStreamEndCapture(stream, &graph), "capture");
  Must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  return exec;
}

static void WriteLog(const std::vector<uint64_t>& ends) {
  const char* path = getenv("STEP_LOG");
  FILE* file = path != nullptr ? fopen(path, "wb") : nullptr;
  if (file == nullptr) return;
  fwrite(ends.data(), sizeof(uint64_t), ends.size(), file);
  fclose(file);
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  const bool use_graph = argc > 2 && strcmp(argv[2], "graph") == 0;
  const bool once = argc > 2 && strcmp(argv[2], "once") == 0;
  const int n = 1 << 20;
  const size_t bytes = n * sizeof(float);
  std::vector<float> pageable(n, 1.0f);
  float *x = nullptr, *y = nullptr, *pinned = nullptr;
  Must(cudaMalloc(&x, bytes), "cudaMalloc");
  Must(cudaMalloc(&y, bytes), "cudaMalloc");
  Must(cudaMallocHost(&pinned, bytes), "cudaMallocHost");
  Must(cudaMemset(y, 0, bytes), "cudaMemset");
  cudaStream_t stream;
  Must(cudaStreamCreate(&stream), "cudaStreamCreate");
  if (once) {
    Saxpy<<<n / 256, 256, 0, stream>>>(n, 2.0f, x, y);
    Must(cudaStreamSynchronize(stream), "one launch");
    puts("once");
    return 0;
  }
  const cudaGraphExec_t exec = use_graph ? MakeGraph(stream, n, x, y) : nullptr;
  std::vector<uint64_t> ends;
  const uint64_t begin = NowNs();
  while (NowNs() - begin < static_cast<uint64_t>(seconds * 1e9)) {
    if (use_graph) {
      Must(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
    } else {
      Must(cudaMemcpyAsync(x, pageable.data(), bytes, cudaMemcpyHostToDevice, stream), "copy");
      for (int i = 0; i < 20; ++i) Saxpy<<<n / 256, 256, 0, stream>>>(n, 2.0f, x, y);
      Must(cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, stream), "copy");
    }
    Must(cudaStreamSynchronize(stream), "step");
    ends.push_back(NowNs());
  }
  WriteLog(ends);
  printf("steps %zu, %.3f ms a step\n", ends.size(),
         static_cast<double>(NowNs() - begin) / 1e6 / static_cast<double>(ends.size()));
  return 0;
}
