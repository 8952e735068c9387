// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_CONVERT_H_
#define GPUWHY_INJECT_CONVERT_H_

#include <pthread.h>

#include "inject/cupti_api.h"
#include "inject/names.h"
#include "inject/ring.h"
#include "inject/sums.h"

namespace gpuwhy::inject {

// Turns CUPTI's activity records into ring records. Called on CUPTI's worker thread and on ours: one lock inside.
class Converter {
 public:
  void Start(const CuptiApi* api, uint32_t version, Ring* ring);
  // aggregate: permanent tracing. offset_ns is added to every timestamp (0 when CUPTI uses our clock).
  void BeginWindow(bool aggregate, int64_t offset_ns);
  void Convert(uint8_t* buffer, size_t valid_bytes);
  void FlushSums(uint64_t interval_ns);
  void ForgetPointers();

  uint64_t records() const { return __atomic_load_n(&records_, __ATOMIC_RELAXED); }
  uint64_t kernels() const {
    return __atomic_load_n(&kernels_, __ATOMIC_RELAXED);
  }  // those of records() that are kernels
  uint64_t malformed() const { return __atomic_load_n(&malformed_, __ATOMIC_RELAXED); }
  bool graph_seen() const { return __atomic_load_n(&graph_seen_, __ATOMIC_RELAXED); }
  void SawGraph() { __atomic_store_n(&graph_seen_, true, __ATOMIC_RELAXED); }

 private:
  bool One(const cupti::Activity* activity);
  bool OneKernel(const cupti::Kernel* kernel);
  bool OneMemset(const cupti::Memset* memset);
  template <class Copy>
  bool OneCopy(const Copy* copy);
  bool FillTimes(uint64_t start, uint64_t end, uint64_t* start_ns, uint64_t* duration_ns) const;
  bool InGraph(uint64_t node, uint32_t graph);

  const CuptiApi* api_ = nullptr;
  uint32_t version_ = 0;
  Ring* ring_ = nullptr;
  bool aggregate_ = false;
  int64_t offset_ns_ = 0;
  uint64_t records_ = 0;
  uint64_t kernels_ = 0;
  uint64_t malformed_ = 0;
  bool graph_seen_ = false;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  Names names_;
  Sums sums_;
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_CONVERT_H_
