// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA job on the fake driver. Its arguments are its life, one word after the other:
//   init  context  launch N  graph N  capture  copy N  bigcopy N (100 us each)  memset N  sync N  wait MS (one
//   synchronise) sleep MS  pace N (one launch each millisecond) threads N (N threads launch 2000 each)  syncers N (N
//   threads synchronise 500 times each) fork (a child launches, then exits)  close MS  profiler (subscribes to CUPTI)
//   waitfile PATH (until it exists)  touch PATH quit (ends without exit handlers)
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "../fakes/fake_cuda.h"

namespace {

void SleepMs(long ms) { usleep(static_cast<useconds_t>(ms) * 1000); }

const char* KernelName(long i) {
  static const char* const kNames[] = {"_Z4gemmPfS_S_", "_Z4reluPf", "_Z4normPf"};
  return kNames[i % 3];
}

void Launch(long count) {
  for (long i = 0; i < count; ++i) fakeLaunch(KernelName(i));
}

void Pace(long count) {
  for (long i = 0; i < count; ++i) {
    fakeLaunch(KernelName(i));
    fakeSynchronize();
    SleepMs(1);
  }
}

void Threads(long count) {
  std::vector<std::thread> threads;
  for (long i = 0; i < count; ++i) threads.emplace_back([] { Launch(2000); });
  for (std::thread& thread : threads) thread.join();
}

void Syncers(long count) {
  std::vector<std::thread> threads;
  for (long i = 0; i < count; ++i) {
    threads.emplace_back([] {
      for (int turn = 0; turn < 500; ++turn) fakeSynchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void Fork() {
  const pid_t child = fork();
  if (child == 0) {
    Launch(100);
    fakeSynchronize();
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
}

void Close(int ms) {
  void* library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  auto* close = library != nullptr ? reinterpret_cast<int (*)(int)>(dlsym(library, "gpuwhy_inject_close")) : nullptr;
  printf("close %d\n", close != nullptr ? close(ms) : -2);
}

void Ignore(void*, uint32_t, uint32_t, const void*) {}

void Profiler() {
  void* library = dlopen(getenv("FAKE_CUPTI_PATH"), RTLD_NOW);
  using Subscribe = int (*)(void**, void (*)(void*, uint32_t, uint32_t, const void*), void*);
  auto* subscribe = library != nullptr ? reinterpret_cast<Subscribe>(dlsym(library, "cuptiSubscribe")) : nullptr;
  void* handle = nullptr;
  printf("profiler %d\n", subscribe != nullptr ? subscribe(&handle, &Ignore, nullptr) : -2);
}

void WaitFile(const char* path) {
  for (int i = 0; i < 10000 && access(path, F_OK) != 0; ++i) SleepMs(1);
}

bool Simple(const std::string& word) {
  if (word == "init") return cuInit(0) == 0;
  if (word == "context") return fakeContextCreate() == 0;
  if (word == "capture") return fakeGraphCreate() == 0;
  if (word == "fork") return Fork(), true;
  if (word == "profiler") return Profiler(), true;
  if (word == "quit") _exit(0);
  return false;
}

void WithNumber(const std::string& word, long number) {
  if (word == "launch") Launch(number);
  if (word == "pace") Pace(number);
  if (word == "threads") Threads(number);
  if (word == "syncers") Syncers(number);
  if (word == "sleep") SleepMs(number);
  if (word == "wait") fakeSynchronizeFor(static_cast<unsigned>(number));
  if (word == "close") Close(static_cast<int>(number));
  for (long i = 0; i < number; ++i) {
    if (word == "graph") fakeGraphLaunch(KernelName(i));
    if (word == "copy") fakeCopy(4096);
    if (word == "bigcopy") fakeCopy(1 << 20);
    if (word == "memset") fakeMemset(512);
    if (word == "sync") fakeSynchronize();
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (Simple(word)) continue;
    if (++i >= argc) return 2;
    if (word == "touch") {
      fclose(fopen(argv[i], "w"));
    } else if (word == "waitfile") {
      WaitFile(argv[i]);
    } else {
      WithNumber(word, atol(argv[i]));
    }
  }
  fflush(stdout);
  return 0;
}
