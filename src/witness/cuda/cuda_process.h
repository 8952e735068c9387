// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_CUDA_CUDA_PROCESS_H_
#define GPUWHY_WITNESS_CUDA_CUDA_PROCESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/evidence.h"
#include "wire/blob_assembler.h"
#include "wire/ring_reader.h"
#include "witness/agent_json.h"

namespace gpuwhy::cuda {

// Turns the records of the CUDA library in one process into evidence. Spans are bounded, GPU work and host calls apart,
// so that a flood of kernels cannot push out the synchronisation window behind it; what is left out is counted, and the
// window that it belonged to says so.
class CudaProcess {
 public:
  static constexpr uint64_t kMaxGpuSpans = 50'000;
  static constexpr uint64_t kMaxCallSpans = 10'000;
  static constexpr uint64_t kMaxWindows = 1000;
  static constexpr size_t kMaxNames = 20'000;
  static constexpr size_t kTopKernels = 20;

  CudaProcess(int64_t pid, int64_t session_start_ns);

  void Take(const wire::Common& record, EvidenceSink& sink);
  // How long the window of a mode was asked to last. Its end record comes only when the library has left CUPTI, which
  // may take until the job's next CUDA call: nothing was recorded in between, so that time is no part of the window.
  void Expect(wire::WindowMode mode, uint32_t milliseconds);
  void SayState(wire::State state, double time_s, EvidenceSink& sink);
  // Once, when nothing more will be read. An open window ends with its last record.
  void Finish(uint64_t dropped, uint64_t skipped, int64_t lost_ns, double time_s, EvidenceSink& sink);

  AgentJson& json() { return json_; }
  uint64_t ended(wire::WindowMode mode) const;
  int64_t first_work_ns() const { return first_work_ns_; }  // first kernel, copy or memset; CLOCK_MONOTONIC, 0 = none
  int64_t last_cost_ns() const { return last_cost_ns_; }    // of the window that ended last

 private:
  struct OpenWindow {
    uint32_t id = 0;
    uint16_t mode = 0;
    uint64_t start_ns = 0;
    uint64_t last_end_ns = 0;  // of the records in it
    uint64_t left_out = 0;     // spans over our own limits
  };
  struct KernelTotal {
    uint64_t count = 0;
    double seconds = 0;
  };

  void TakeBlob(const wire::Blob& piece, double time_s, EvidenceSink& sink);
  void TakeKernel(const wire::Common& record, EvidenceSink& sink);
  void TakeCopy(const wire::Common& record, EvidenceSink& sink);
  void TakeMemset(const wire::Common& record, EvidenceSink& sink);
  void TakeApi(const wire::Common& record, EvidenceSink& sink);
  void TakeWindow(const wire::Window& record, double time_s, EvidenceSink& sink);
  void TakeKernelSum(const wire::KernelSum& record, double time_s, EvidenceSink& sink);
  void TakeCopySum(const wire::MemcpySum& record, double time_s, EvidenceSink& sink);
  bool MakeSpan(SpanKind kind, uint64_t start_ns, uint64_t duration_ns, Span* out);
  void AddGpu(const Span& span, EvidenceSink& sink);
  uint64_t RecordingEnd(const OpenWindow& window, uint64_t end_ns) const;
  void EndWindow(uint64_t end_ns, uint64_t dropped, EvidenceSink& sink);
  void FlushSums(double time_s, EvidenceSink& sink);
  void SayTotals(double time_s, EvidenceSink& sink);
  uint32_t Name(uint32_t blob) const;

  int64_t pid_;
  int64_t session_start_ns_;
  AgentJson json_;
  wire::BlobAssembler blobs_;
  std::map<uint32_t, uint32_t> names_;  // blob id -> interned name
  std::map<uint32_t, std::string> texts_;
  std::map<uint16_t, uint32_t> expected_ms_;  // by window mode
  std::map<uint16_t, uint64_t> ended_;        // by window mode
  std::optional<OpenWindow> open_;
  int64_t first_work_ns_ = 0, last_cost_ns_ = 0;
  uint64_t gpu_spans_ = 0, call_spans_ = 0, windows_ = 0, unfinished_windows_ = 0;
  uint64_t left_out_ = 0, malformed_ = 0, unknown_ = 0, cupti_dropped_ = 0, cost_ns_ = 0, records_ = 0;
  bool has_sums_ = false;
  double sum_time_s_ = 0;
  uint64_t sum_kernels_ = 0, sum_busy_ns_ = 0, sum_copy_bytes_ = 0;  // of the interval that is being read
  std::map<uint32_t, KernelTotal> kernel_totals_;                    // by blob id
  uint64_t pageable_bytes_ = 0, pinned_bytes_ = 0;
};

}  // namespace gpuwhy::cuda

#endif  // GPUWHY_WITNESS_CUDA_CUDA_PROCESS_H_
