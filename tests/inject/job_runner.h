// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_INJECT_JOB_RUNNER_H_
#define GPUWHY_TESTS_INJECT_JOB_RUNNER_H_

#include <stdint.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wire/wire.gen.h"

namespace gpuwhy::inject_test {

// Plays gpuwhy for one job: spool, environment, lease, commands, draining. One thread: time passes in Until() alone.
class JobRunner {
 public:
  explicit JobRunner(const std::string& fake_cupti = "13");
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  void Set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void KeepLease(bool on) { keep_lease_ = on; }
  void Drain(bool on) { drain_ = on; }
  void Start(const std::vector<std::string>& words);
  // Keeps the lease alive and drains until `done` or 10 s passed; false on the latter.
  bool Until(const std::function<bool()>& done);
  bool UntilState(wire::State state) {
    return Until([this, state] { return State() == state; });
  }
  void Command(wire::Command command, uint32_t ms = 0, uint32_t records = 0);
  void Touch(const std::string& name);
  // Waits for the end of the job and reads what is left; its wait status.
  int Finish();
  std::string Run(const std::vector<std::string>& words);  // Start and Finish; the job's standard output

  bool HasRing() const { return base_ != nullptr; }
  wire::State State();
  template <class T>
  T Header(size_t offset) const {
    return __atomic_load_n(reinterpret_cast<const T*>(base_ + offset), __ATOMIC_ACQUIRE);
  }
  template <class Record>
  std::vector<Record> All() const {
    std::vector<Record> found;
    for (const wire::Common& common : records_) {
      if (common.type != static_cast<uint16_t>(Record::kType)) continue;
      Record record;
      __builtin_memcpy(&record, &common, sizeof(record));
      found.push_back(record);
    }
    return found;
  }
  std::string Blobs(wire::BlobKind kind) const;  // texts of one kind, a line each
  std::string Log() const;                       // what the fake CUPTI saw
  std::string Output() const;
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  size_t RingFiles() const;
  std::string Windows() const;  // "proof:begin proof:end ..."

 private:
  void FindRing();
  void Pump();
  bool ChildEnded();

  std::string folder_;
  std::map<std::string, std::string> environment_;
  bool keep_lease_ = true;
  bool drain_ = true;
  pid_t pid_ = -1;
  int status_ = -1;
  char* base_ = nullptr;
  size_t size_ = 0;
  std::vector<wire::Common> records_;
};

}  // namespace gpuwhy::inject_test
#endif  // GPUWHY_TESTS_INJECT_JOB_RUNNER_H_
