// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/cuda/cuda_process.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/format.h"
#include "witness/cuda/cuda_names.h"

namespace gpuwhy::cuda {
namespace {

constexpr uint64_t kMaxTime = uint64_t{1} << 61;   // longer than any job: a time beyond it is garbage
constexpr uint64_t kLongest = 86'400'000'000'000;  // a day: no kernel, copy or call takes longer
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint32_t kPageable = static_cast<uint32_t>(wire::MemoryKind::kPageable);
constexpr uint32_t kPinned = static_cast<uint32_t>(wire::MemoryKind::kPinned);

Value Count(uint64_t value) { return Value::Of(static_cast<int64_t>(std::min(value, kMaxTime))); }
Value Seconds(uint64_t ns) { return Value::Of(static_cast<double>(ns) / 1e9); }

}  // namespace

CudaProcess::CudaProcess(int64_t pid, int64_t session_start_ns)
    : pid_(pid), session_start_ns_(session_start_ns), json_("cuda", Source::kCuda, pid) {}

uint64_t CudaProcess::ended(wire::WindowMode mode) const {
  const auto place = ended_.find(static_cast<uint16_t>(mode));
  return place == ended_.end() ? 0 : place->second;
}

uint32_t CudaProcess::Name(uint32_t blob) const {
  const auto place = names_.find(blob);
  return place == names_.end() ? 0 : place->second;
}

void CudaProcess::Expect(wire::WindowMode mode, uint32_t milliseconds) {
  expected_ms_[static_cast<uint16_t>(mode)] = milliseconds;
}

void CudaProcess::Take(const wire::Common& record, EvidenceSink& sink) {
  if (record.time_ns > kMaxTime) {
    ++malformed_;
    return;
  }
  ++records_;
  const double time_s = static_cast<double>(static_cast<int64_t>(record.time_ns) - session_start_ns_) / 1e9;
  switch (static_cast<wire::Type>(record.type)) {
    case wire::Type::kBlob:
      return TakeBlob(wire::As<wire::Blob>(record), time_s, sink);
    case wire::Type::kKernel:
      return TakeKernel(record, sink);
    case wire::Type::kMemcpy:
      return TakeCopy(record, sink);
    case wire::Type::kMemset:
      return TakeMemset(record, sink);
    case wire::Type::kApi:
      return TakeApi(record, sink);
    case wire::Type::kWindow:
      return TakeWindow(wire::As<wire::Window>(record), time_s, sink);
    case wire::Type::kKernelSum:
      return TakeKernelSum(wire::As<wire::KernelSum>(record), time_s, sink);
    case wire::Type::kMemcpySum:
      return TakeCopySum(wire::As<wire::MemcpySum>(record), time_s, sink);
    default:
      if (record.type != 0) ++unknown_;
  }
}

void CudaProcess::TakeBlob(const wire::Blob& piece, double time_s, EvidenceSink& sink) {
  wire::BlobAssembler::Text text;
  if (!blobs_.Add(piece, &text)) return;
  if (text.kind == wire::BlobKind::kFactsJson) return json_.AddFacts(text.text, time_s, sink);
  if (text.kind == wire::BlobKind::kGapJson) return json_.AddGap(text.text, sink);
  if (text.kind != wire::BlobKind::kKernelName || names_.size() >= kMaxNames) return;
  std::string name = KernelName(text.text);
  names_[text.id] = sink.Intern(name);
  texts_[text.id] = std::move(name);
}

bool CudaProcess::MakeSpan(SpanKind kind, uint64_t start_ns, uint64_t duration_ns, Span* out) {
  if (start_ns > kMaxTime || duration_ns > kLongest) {
    ++malformed_;
    return false;
  }
  out->kind = kind;
  out->pid = pid_;
  out->start_ns = static_cast<int64_t>(start_ns) - session_start_ns_;
  out->duration_ns = static_cast<int64_t>(duration_ns);
  if (open_) open_->last_end_ns = std::max(open_->last_end_ns, start_ns + duration_ns);
  return true;
}

void CudaProcess::AddGpu(const Span& span, EvidenceSink& sink) {
  if (first_work_ns_ == 0) first_work_ns_ = std::max<int64_t>(span.start_ns + session_start_ns_, 1);
  if (gpu_spans_ >= kMaxGpuSpans) {
    ++left_out_;
    if (open_) ++open_->left_out;
    return;
  }
  ++gpu_spans_;
  sink.Add(span);
}

void CudaProcess::TakeKernel(const wire::Common& record, EvidenceSink& sink) {
  const auto kernel = wire::As<wire::Kernel>(record);
  Span span;
  if (!MakeSpan(SpanKind::kKernel, kernel.start_ns, kernel.duration_ns, &span)) return;
  span.device = kernel.device;
  span.lane = kernel.stream;
  span.name = Name(kernel.name);
  span.detail[0] = kernel.blocks;
  span.detail[1] = kernel.threads;
  span.detail[2] = kernel.graph;
  AddGpu(span, sink);
}

void CudaProcess::TakeCopy(const wire::Common& record, EvidenceSink& sink) {
  const auto copy = wire::As<wire::Memcpy>(record);
  Span span;
  if (!MakeSpan(SpanKind::kCopy, copy.start_ns, copy.duration_ns, &span)) return;
  span.device = copy.device;
  span.lane = copy.stream;
  span.bytes = std::min(copy.bytes, kMaxTime);
  span.detail[0] = copy.kind;
  span.detail[1] = copy.source;
  span.detail[2] = copy.target;
  AddGpu(span, sink);
}

void CudaProcess::TakeMemset(const wire::Common& record, EvidenceSink& sink) {
  const auto memset = wire::As<wire::Memset>(record);
  Span span;
  if (!MakeSpan(SpanKind::kMemset, memset.start_ns, memset.duration_ns, &span)) return;
  span.device = memset.device;
  span.lane = memset.stream;
  span.bytes = std::min(memset.bytes, kMaxTime);
  span.detail[0] = memset.target;
  AddGpu(span, sink);
}

void CudaProcess::TakeApi(const wire::Common& record, EvidenceSink& sink) {
  const auto api = wire::As<wire::Api>(record);
  Span span;
  if (!MakeSpan(api.is_sync != 0 ? SpanKind::kSyncCall : SpanKind::kCopyCall, api.start_ns, api.duration_ns, &span))
    return;
  if (call_spans_ >= kMaxCallSpans) {
    ++left_out_;
    if (open_) ++open_->left_out;
    return;
  }
  ++call_spans_;
  span.lane = api.thread;
  span.name = sink.Intern(ApiName(api.domain, api.cbid));
  span.detail[0] = api.cbid;
  span.detail[1] = api.domain;
  sink.Add(span);
}

void CudaProcess::TakeWindow(const wire::Window& record, double time_s, EvidenceSink& sink) {
  if (record.action == static_cast<uint16_t>(wire::WindowAction::kBegin)) {
    if (open_) {  // its end was lost in a full ring
      ++unfinished_windows_;
      EndWindow(0, 0, sink);
    }
    open_ = OpenWindow{record.id, record.mode, record.time_ns, 0, 0};
    return;
  }
  if (record.action != static_cast<uint16_t>(wire::WindowAction::kEnd) || !open_ || open_->id != record.id) {
    ++malformed_;
    return;
  }
  last_cost_ns_ = static_cast<int64_t>(std::min(record.cost_ns, kLongest));
  cost_ns_ += static_cast<uint64_t>(last_cost_ns_);
  cupti_dropped_ += std::min(record.dropped, kMaxTime);
  ++ended_[record.mode];
  EndWindow(record.time_ns, record.dropped, sink);
  if (record.status != 0) json_.Say("window.status", Value::Of(int64_t{record.status}), time_s, sink);
  json_.Say("window_cost.seconds", Seconds(cost_ns_), time_s, sink);
}

// Where recording stopped; `end_ns` is when the library had left CUPTI (later), 0 when that is not known.
uint64_t CudaProcess::RecordingEnd(const OpenWindow& window, uint64_t end_ns) const {
  const uint64_t last = std::max(window.last_end_ns, window.start_ns);
  if (end_ns == 0) return last;
  const auto mode = static_cast<wire::WindowMode>(window.mode);
  const auto expected = expected_ms_.find(window.mode);
  uint64_t end = end_ns;
  if (mode == wire::WindowMode::kProof && window.last_end_ns != 0) {
    end = last;
  } else if (mode != wire::WindowMode::kPermanent && expected != expected_ms_.end()) {
    end = std::max(last, window.start_ns + expected->second * kMillisecond);
  }
  return std::min(end, std::max(end_ns, window.start_ns));
}

void CudaProcess::EndWindow(uint64_t end_ns, uint64_t dropped, EvidenceSink& sink) {
  const OpenWindow window = *open_;
  open_.reset();
  const uint64_t end = RecordingEnd(window, end_ns);
  Span span;
  if (windows_ >= kMaxWindows || !MakeSpan(SpanKind::kWindow, window.start_ns, end - window.start_ns, &span)) return;
  ++windows_;
  span.detail[0] = window.mode;
  span.detail[1] = static_cast<uint32_t>(std::min<uint64_t>(std::min(dropped, kMaxTime) + window.left_out, UINT32_MAX));
  sink.Add(span);
}

void CudaProcess::FlushSums(double time_s, EvidenceSink& sink) {
  if (!has_sums_) return;
  const Entity process = Entity::Process(pid_);
  sink.Add(Sample{"cuda.kernels.count", process, time_s, static_cast<double>(sum_kernels_)});
  sink.Add(Sample{"cuda.busy.seconds", process, time_s, static_cast<double>(sum_busy_ns_) / 1e9});
  sink.Add(Sample{"cuda.copy.bytes", process, time_s, static_cast<double>(sum_copy_bytes_)});
  sum_kernels_ = sum_busy_ns_ = sum_copy_bytes_ = 0;
  has_sums_ = false;
}

void CudaProcess::TakeKernelSum(const wire::KernelSum& record, double time_s, EvidenceSink& sink) {
  if (record.count > kMaxTime || record.total_ns > kMaxTime || record.busy_ns > kLongest) {
    ++malformed_;
    return;
  }
  // The sums of one interval are written at once: a tenth of a second apart means the next interval.
  if (has_sums_ && time_s > sum_time_s_ + 0.1) FlushSums(sum_time_s_, sink);
  has_sums_ = true;
  sum_time_s_ = time_s;
  sum_kernels_ += record.count;
  sum_busy_ns_ += record.busy_ns;
  if (first_work_ns_ == 0 && record.count > 0)
    first_work_ns_ = static_cast<int64_t>(std::max<uint64_t>(record.time_ns, 1));
  if (kernel_totals_.size() >= kMaxNames && kernel_totals_.count(record.name) == 0) return;
  KernelTotal& total = kernel_totals_[record.name];
  total.count += record.count;
  total.seconds += static_cast<double>(record.total_ns) / 1e9;
}

void CudaProcess::TakeCopySum(const wire::MemcpySum& record, double time_s, EvidenceSink& sink) {
  if (record.bytes > kMaxTime || record.count > kMaxTime) {
    ++malformed_;
    return;
  }
  if (has_sums_ && time_s > sum_time_s_ + 0.1) FlushSums(sum_time_s_, sink);
  has_sums_ = true;
  sum_time_s_ = time_s;
  sum_copy_bytes_ += record.bytes;
  const bool pageable = record.source == kPageable || record.target == kPageable;
  const bool pinned = record.source == kPinned || record.target == kPinned;
  if (pageable) pageable_bytes_ += record.bytes;
  if (pinned && !pageable) pinned_bytes_ += record.bytes;
}

void CudaProcess::SayState(wire::State state, double time_s, EvidenceSink& sink) {
  json_.Say("library.state", Value::Of(std::string(StateText(state))), time_s, sink);
  const bool watches_no_more =
      state == wire::State::kSteppedAside || state == wire::State::kFailed || state == wire::State::kLeaseLost;
  // The library's own word ("no_cupti") is more exact than the control page's.
  if (watches_no_more && json_.Known("state").empty())
    json_.Say("state", Value::Of(std::string(StateText(state))), time_s, sink);
}

void CudaProcess::SayTotals(double time_s, EvidenceSink& sink) {
  if (kernel_totals_.empty()) return;
  std::vector<std::pair<KernelTotal, uint32_t>> order;
  for (const auto& [name, total] : kernel_totals_) order.emplace_back(total, name);
  const auto longer = [](const auto& a, const auto& b) {
    return a.first.seconds != b.first.seconds ? a.first.seconds > b.first.seconds : a.second < b.second;
  };
  std::sort(order.begin(), order.end(), longer);
  if (order.size() > kTopKernels) order.resize(kTopKernels);
  StringList list;
  for (const auto& [total, name] : order) {
    const auto text = texts_.find(name);
    list.push_back(Format("{:.6f} s, {} times: {}", total.seconds, total.count,
                          text == texts_.end() ? "name lost" : text->second));
  }
  json_.Say("permanent.kernels", Value::Of(std::move(list)), time_s, sink);
  json_.Say("permanent.copy.pageable.bytes", Count(pageable_bytes_), time_s, sink);
  json_.Say("permanent.copy.pinned.bytes", Count(pinned_bytes_), time_s, sink);
}

void CudaProcess::Finish(uint64_t dropped, uint64_t skipped, int64_t lost_ns, double time_s, EvidenceSink& sink) {
  FlushSums(sum_time_s_, sink);
  if (open_) {
    ++unfinished_windows_;
    EndWindow(0, 0, sink);
  }
  SayTotals(time_s, sink);
  json_.Say("windows.count", Count(windows_), time_s, sink);
  json_.Say("windows.unfinished", Count(unfinished_windows_), time_s, sink);
  if (windows_ > 0) {
    json_.Say("window_cost.seconds", Seconds(cost_ns_), time_s, sink);
    json_.Say("window_lost.seconds", Seconds(static_cast<uint64_t>(std::max<int64_t>(lost_ns, 0))), time_s, sink);
    json_.Say("window.dropped", Count(cupti_dropped_), time_s, sink);
  }
  json_.Say("spans.dropped", Count(left_out_), time_s, sink);
  json_.Say("ring.dropped", Count(dropped), time_s, sink);
  json_.Say("ring.unfinished", Count(skipped), time_s, sink);
  json_.Say("ring.malformed", Count(malformed_ + unknown_ + blobs_.broken() + blobs_.pending() + json_.bad_texts()),
            time_s, sink);
}

}  // namespace gpuwhy::cuda
