// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "job_runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpuwhy::inject_test {
namespace {

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000U + static_cast<uint64_t>(now.tv_nsec);
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

JobRunner::JobRunner(const std::string& fake_cupti) {
  char name[] = "/tmp/gpuwhy-inject-XXXXXX";
  folder_ = mkdtemp(name);
  mkdir(Path("spool").c_str(), 0700);
  const std::string cupti = std::string(FAKES_DIR) + "/" + fake_cupti;
  environment_ = {{"CUDA_INJECTION64_PATH", INJECT_LIBRARY},
                  {"GPUWHY_SPOOL", Path("spool")},
                  {"GPUWHY_CUPTI_DIRS", cupti},
                  {"FAKE_CUPTI_LOG", Path("log")},
                  {"FAKE_CUPTI_PATH", cupti + "/libcupti.so.13"}};
  for (const char* keep : {"PATH", "HOME", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* value = getenv(keep)) environment_[keep] = value;
  }
}

JobRunner::~JobRunner() {
  if (pid_ > 0 && status_ < 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  if (base_ != nullptr) munmap(base_, size_);
  std::filesystem::remove_all(folder_);
}

void JobRunner::Start(const std::vector<std::string>& words) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment_) variables.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::vector<std::string> arguments{FAKE_JOB};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int out = open(Path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(out, 1);
    dup2(out, 2);
    execve(FAKE_JOB, argv.data(), environment.data());
    _exit(126);
  }
  close(out);
}

void JobRunner::FindRing() {
  for (const auto& entry : std::filesystem::directory_iterator(Path("spool"))) {
    if (entry.path().extension() != ".ring") continue;
    size_ = entry.file_size();
    const int fd = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    void* map = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    ASSERT_NE(map, MAP_FAILED);
    base_ = static_cast<char*>(map);
    ASSERT_EQ(memcmp(base_, wire::kMagic, 8), 0);
    return;
  }
}

void JobRunner::Pump() {
  if (base_ == nullptr) FindRing();
  if (base_ == nullptr) return;
  if (keep_lease_)
    __atomic_store_n(reinterpret_cast<uint64_t*>(base_ + wire::kOffsetLeaseNs), NowNs(), __ATOMIC_RELEASE);
  const auto capacity = Header<uint64_t>(wire::kOffsetCapacity);
  auto tail = Header<uint64_t>(wire::kOffsetTail);
  while (drain_) {
    const char* slot = base_ + wire::kHeaderSize + (tail & (capacity - 1)) * wire::kRecordSize;
    if (__atomic_load_n(reinterpret_cast<const uint64_t*>(slot), __ATOMIC_ACQUIRE) != tail + 1) break;
    wire::Common record;
    memcpy(&record, slot, sizeof(record));
    records_.push_back(record);
    ++tail;
  }
  __atomic_store_n(reinterpret_cast<uint64_t*>(base_ + wire::kOffsetTail), tail, __ATOMIC_RELEASE);
}

bool JobRunner::ChildEnded() { return status_ >= 0 || (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_); }

bool JobRunner::Until(const std::function<bool()>& done) {
  const uint64_t limit = NowNs() + 20'000'000'000U;
  while (NowNs() < limit) {
    Pump();
    if (done()) return true;
    if (ChildEnded()) {
      Pump();
      return done();
    }
    usleep(1000);
  }
  return false;
}

wire::State JobRunner::State() {
  return base_ != nullptr ? static_cast<wire::State>(Header<uint32_t>(wire::kOffsetState)) : wire::State::kIdle;
}

void JobRunner::Command(wire::Command command, uint32_t ms, uint32_t records) {
  auto put = [this](size_t offset, uint32_t value) {
    __atomic_store_n(reinterpret_cast<uint32_t*>(base_ + offset), value, __ATOMIC_RELAXED);
  };
  put(wire::kOffsetCommand, static_cast<uint32_t>(command));
  put(wire::kOffsetCommandMs, ms);
  put(wire::kOffsetCommandRecords, records);
  auto* seq = reinterpret_cast<uint32_t*>(base_ + wire::kOffsetCommandSeq);
  __atomic_fetch_add(seq, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, seq, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void JobRunner::Touch(const std::string& name) { std::ofstream file(Path(name)); }

int JobRunner::Finish() {
  EXPECT_TRUE(Until([this] { return ChildEnded(); })) << "the job hangs";
  drain_ = true;
  Pump();
  return status_;
}

std::string JobRunner::Run(const std::vector<std::string>& words) {
  Start(words);
  EXPECT_EQ(Finish(), 0) << Output();
  return Output();
}

std::string JobRunner::Blobs(wire::BlobKind kind) const {
  std::string texts;
  for (const wire::Blob& blob : All<wire::Blob>()) {
    if (blob.kind != static_cast<uint16_t>(kind)) continue;
    texts.append(blob.data, blob.length);
    if (blob.offset + blob.length == blob.total) texts += "\n";
  }
  return texts;
}

std::string JobRunner::Log() const { return ReadAll(Path("log")); }
std::string JobRunner::Output() const { return ReadAll(Path("out")); }

size_t JobRunner::RingFiles() const {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path("spool"))) count += entry.is_regular_file() ? 1 : 0;
  return count;
}

std::string JobRunner::Windows() const {
  static const char* const kModes[] = {"?", "proof", "timing", "sync", "permanent"};
  std::string text;
  for (const wire::Window& window : All<wire::Window>()) {
    text += (text.empty() ? "" : " ") + std::string(kModes[window.mode < 5 ? window.mode : 0]) +
            (window.action == 1 ? ":begin" : ":end");
  }
  return text;
}

}  // namespace gpuwhy::inject_test
