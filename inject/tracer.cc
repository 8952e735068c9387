// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/tracer.h"

#include <time.h>

#include <initializer_list>

#include "inject/api_ids.h"
#include "inject/callbacks.h"
#include "inject/old_glibc.h"

namespace gpuwhy::inject {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kProofNs = 200 * kMs;
constexpr uint64_t kProofKernels = 2000;
// A job that copies its model to the GPU first has no kernel for a while.
constexpr uint64_t kProofPatienceNs = 2000 * kMs;
constexpr uint64_t kProofRecords = 10 * kProofKernels;
constexpr uint64_t kDetachPatienceNs = 2000 * kMs;
constexpr uint64_t kSumNs = 1000 * kMs;
constexpr uint64_t kBusyPollNs = 25 * kMs;
constexpr uint64_t kIdlePollNs = 250 * kMs;

struct ModeRow {
  wire::WindowMode mode;
  wire::State state;
};
constexpr ModeRow kModes[] = {{wire::WindowMode::kProof, wire::State::kProof},
                              {wire::WindowMode::kTiming, wire::State::kTiming},
                              {wire::WindowMode::kSync, wire::State::kSync},
                              {wire::WindowMode::kPermanent, wire::State::kPermanent}};

wire::State StateOf(wire::WindowMode mode) {
  for (const ModeRow& row : kModes) {
    if (row.mode == mode) return row.state;
  }
  return wire::State::kIdle;
}

}  // namespace

void Tracer::Start(Ring* ring, Reporter* reporter, const CuptiFound* found) {
  ring_ = ring;
  reporter_ = reporter;
  found_ = found;
  attachment_.Start(found);
  converter_.Start(&found->api, found->version, ring);
  calls_.Start(ring);
  final_state_.store(static_cast<int>(wire::State::kDetached), std::memory_order_relaxed);
}

bool Tracer::Subscribe() {
  switch (attachment_.Subscribe(&CuptiCallback)) {
    case Attachment::Answer::kSubscribed:
      return true;
    case Attachment::Answer::kTaken: {
      const char* other = *attachment_.other() != 0 ? attachment_.other() : "unknown";
      reporter_->Fact("cuda.state", "stepped_aside");
      reporter_->Fact("cuda.other_subscriber", other);
      Text<256> why;
      why.Add("another tool holds CUPTI in this process: ").Add(other);
      reporter_->Gap("GPU work of this process", why.c_str(),
                     "run without that tool, or read its own trace with: gpuwhy explain FILE");
      ring_->SetState(wire::State::kSteppedAside);
      return false;
    }
    case Attachment::Answer::kFailed:
      Fail("cuptiSubscribe", attachment_.error());
      return false;
  }
  return false;
}

void Tracer::Fail(const char* step, cupti::Result result) {
  Text<200> why;
  why.Add(step).Add(" answered ").AddNumber(static_cast<uint64_t>(result));
  const bool privileges =
      result == cupti::kInsufficientPrivileges || result == cupti::kVirtualizedInsufficientPrivileges;
  reporter_->Fact("cuda.state", "failed");
  reporter_->Gap("GPU work of this process", why.c_str(),
                 privileges ? "the driver restricts profiling: load nvidia with NVreg_RestrictProfilingToAdminUsers=0, "
                              "or use a newer CUPTI"
                            : "run gpuwhy doctor; the other witnesses still work");
  ring_->SetState(wire::State::kFailed);
}

bool Tracer::WaitForContext() {
  if (!Subscribe()) return false;
  const cupti::Result result = attachment_.EnableResource(cupti::kResourceContextCreated, true);
  if (result == cupti::kSuccess) return true;
  attachment_.Unsubscribe();
  Fail("cuptiEnableCallback", result);
  return false;
}

// With an older CUPTI a second attach after cuptiFinalize crashes once the process has captured a CUDA graph (pytorch
// #112507, #146604; kineto #1264), and a graph captured while we are away cannot be seen: those are never finalised,
// and after the first graph there is no further window.
//
// With any CUPTI, seen on an H200 with CUPTI 13.0.1 and driver 580 (a PyTorch CUDAGraph and XLA's command buffers): a
// graph that was instantiated or launched while CUPTI was attached ends in "unspecified launch failure" when it is
// replayed after cuptiFinalize. In a process that uses graphs nothing is ever finalised.
bool Tracer::may_finalise() const { return found_->version >= cupti::kVersion126 && !converter_.graph_seen(); }

bool Tracer::more_windows() const { return found_->version >= cupti::kVersion126 || !converter_.graph_seen(); }

// Takes back a detach that no API call has carried out yet, else subscribes anew.
bool Tracer::Reattach() {
  if (attachment_.armed()) attachment_.Disarm();
  const uint64_t limit = MonotonicNs() + 100 * kMs;
  while (attachment_.detaching()) {
    if (MonotonicNs() > limit) return false;
    const timespec nap{0, 1'000'000};
    nanosleep(&nap, nullptr);
  }
  return attachment_.attached() || Subscribe();
}

bool Tracer::Open(wire::WindowMode mode, WindowLimits limits) {
  if (open_ || !more_windows() || !buffers_.Reserve()) return false;
  if (!Reattach()) return false;
  WriteEnd();
  mode_ = mode;
  limits_ = limits;
  begin_ns_ = last_sum_ns_ = MonotonicNs();
  first_record_ns_ = first_kernel_ns_ = 0;
  dropped_ = 0;
  status_ = cupti::kSuccess;
  cost_ns_.store(0, std::memory_order_relaxed);
  SetClock();
  converter_.BeginWindow(mode == wire::WindowMode::kPermanent, clock_offset_ns_);
  attachment_.EnableResource(cupti::kResourceGraphCreated, true);
  attachment_.EnableResource(cupti::kResourceGraphExecCreated, true);
  attachment_.EnableGraphCalls();
  open_ = true;
  ++window_id_;
  WriteBegin();
  status_ = found_->api.RegisterCallbacks(&CuptiBufferRequested, &CuptiBufferCompleted);
  if (status_ != cupti::kSuccess || !EnableActivities(mode)) {
    FailOpen(mode);
    return false;
  }
  ring_->SetState(StateOf(mode));
  return true;
}

void Tracer::FailOpen(wire::WindowMode mode) {
  const cupti::Result failed = status_;
  Close();
  if (mode == wire::WindowMode::kSync) {  // kernels and copies are still to be had
    reporter_->Gap("synchronising calls of this process",
                   "this CUPTI cannot record single API calls, and recording all of them costs too much",
                   "use the CUPTI of a newer CUDA release");
    return;
  }
  final_state_.store(static_cast<int>(wire::State::kFailed), std::memory_order_relaxed);
  Fail("CUPTI activity tracing", failed);
}

void Tracer::WriteBegin() {
  wire::Window record{};
  record.id = window_id_;
  record.action = static_cast<uint16_t>(wire::WindowAction::kBegin);
  record.mode = static_cast<uint16_t>(mode_);
  ring_->Write(&record);
}

bool Tracer::EnableActivities(wire::WindowMode mode) {
  if (mode == wire::WindowMode::kSync) {
    // Callbacks, not cuptiActivityEnableRuntimeApi: with CUPTI 13.0.1 on driver 580 that one answers success and then
    // delivers no record.
    calls_.Begin(window_id_);
    status_ = attachment_.EnableCalls(true);
    return status_ == cupti::kSuccess;
  }
  // CONCURRENT_KERNEL, never KERNEL: that one serialises the GPU.
  for (const uint32_t kind : {cupti::kKindConcurrentKernel, cupti::kKindMemcpy, cupti::kKindMemset}) {
    status_ = found_->api.Enable(kind);
    if (status_ != cupti::kSuccess) return false;
  }
  found_->api.Enable(cupti::kKindMemcpyPeer);  // peer copies are a kind of their own; a refusal costs only these
  return true;
}

void Tracer::DisableActivities() {
  if (mode_ == wire::WindowMode::kSync) {
    calls_.End();
    attachment_.EnableCalls(false);
    return;
  }
  for (const uint32_t kind :
       {cupti::kKindConcurrentKernel, cupti::kKindMemcpy, cupti::kKindMemset, cupti::kKindMemcpyPeer}) {
    found_->api.Disable(kind);
  }
}

uint64_t Tracer::Dropped() {
  size_t dropped = 0;
  if (found_->api.GetNumDropped == nullptr || found_->api.GetNumDropped(nullptr, 0, &dropped) != cupti::kSuccess)
    return 0;
  return dropped;
}

void Tracer::Close() {
  if (!open_) return;
  CloseAtExit();
  BeginDetach();
}

void Tracer::CloseAtExit() {
  if (!open_) return;
  open_ = false;
  DisableActivities();
  found_->api.FlushAll(cupti::kFlushForced);
  dropped_ = Dropped();
  closed_ns_ = MonotonicNs();
  if (mode_ == wire::WindowMode::kPermanent) converter_.FlushSums(closed_ns_ - last_sum_ns_);
  CheckClock();
  if (converter_.malformed() != 0) reporter_->Fact("cuda.malformed_records", converter_.malformed());
  end_due_ = true;
}

void Tracer::Leave() {
  if (open_) {
    Close();
  } else if (attachment_.attached() && !attachment_.armed()) {
    BeginDetach();
  }
}

void Tracer::BeginDetach() {
  if (may_finalise()) {
    ring_->SetState(wire::State::kDetaching);
    attachment_.Arm();
    return;
  }
  attachment_.Unsubscribe();
  converter_.ForgetPointers();
  SayLeftBehind();
  ring_->SetState(static_cast<wire::State>(final_state_.load(std::memory_order_relaxed)));
}

void Tracer::SayLeftBehind() {
  Text<200> left;
  left.Add("CUPTI of CUDA ").AddNumber(static_cast<uint64_t>(found_->cuda_version));
  left.Add(" stays loaded, disabled and unsubscribed: finalising can crash a job that uses CUDA graphs");
  reporter_->Fact("cuda.left_behind", left.c_str());
  if (!converter_.graph_seen()) return;
  reporter_->Fact("cuda.graphs", uint64_t{1});
  if (found_->version < cupti::kVersion126) reporter_->Fact("cuda.graph_with_old_cupti", uint64_t{1});
}

void Tracer::AbandonSubscription() {
  attachment_.Unsubscribe();
  if (!attachment_.attached()) ring_->SetState(static_cast<wire::State>(final_state_.load(std::memory_order_relaxed)));
}

void Tracer::SetFinalState(wire::State state) {
  final_state_.store(static_cast<int>(state), std::memory_order_relaxed);
  if (!attachment_.attached()) ring_->SetState(state);
}

bool Tracer::SettleEnd(uint64_t now_ns) {
  if (!end_due_) return false;
  if (attachment_.attached() && now_ns < closed_ns_ + kDetachPatienceNs) return true;
  WriteEnd();
  return false;
}

void Tracer::WriteEnd() {
  if (!end_due_) return;
  end_due_ = false;
  if (!attachment_.attached()) {
    converter_.ForgetPointers();
    buffers_.ReleasePages();
    if (status_ == cupti::kSuccess) status_ = attachment_.finalize_result();
  }
  wire::Window record{};
  record.id = window_id_;
  record.action = static_cast<uint16_t>(wire::WindowAction::kEnd);
  record.mode = static_cast<uint16_t>(mode_);
  record.records = Records();
  record.dropped = dropped_;
  record.cost_ns = cost_ns_.load(std::memory_order_relaxed);
  record.status = status_;
  ring_->Write(&record);
  reporter_->Fact("cuda.window_cost_ns", record.cost_ns);
  reporter_->Fact("cuda.state", attachment_.attached() ? "detaching" : "detached");
}

uint64_t Tracer::PollIntervalNs() const {
  if (!open_) return end_due_ ? kBusyPollNs : 0;
  if (mode_ == wire::WindowMode::kPermanent) return kIdlePollNs;
  const bool waits_for_first = mode_ == wire::WindowMode::kProof && first_record_ns_ == 0;
  return waits_for_first && MonotonicNs() > begin_ns_ + 20 * kIdlePollNs ? kIdlePollNs : kBusyPollNs;
}

void Tracer::Poll(uint64_t now_ns) {
  if (!open_) return;
  bool over = limits_.ms != 0 && now_ns >= begin_ns_ + limits_.ms * kMs;
  if (mode_ == wire::WindowMode::kProof) {
    found_->api.FlushAll(0);
    over = over || ProofIsOver(now_ns);
  }
  if (mode_ == wire::WindowMode::kPermanent && now_ns >= last_sum_ns_ + kSumNs) {
    found_->api.FlushAll(0);
    converter_.FlushSums(now_ns - last_sum_ns_);
    last_sum_ns_ = now_ns;
  }
  over = over || (limits_.records != 0 && Records() >= limits_.records);
  if (over) Close();
}

// The time starts with the first kernel, or without one some patience after the first copy.
bool Tracer::ProofIsOver(uint64_t now_ns) {
  if (first_record_ns_ == 0 && converter_.records() != 0) first_record_ns_ = now_ns;
  if (first_kernel_ns_ == 0 && converter_.kernels() != 0) first_kernel_ns_ = now_ns;
  if (first_record_ns_ == 0) return false;
  const uint64_t latest = first_record_ns_ + kProofPatienceNs;
  const uint64_t from = first_kernel_ns_ != 0 && first_kernel_ns_ < latest ? first_kernel_ns_ : latest;
  return now_ns >= from + kProofNs || converter_.kernels() >= kProofKernels || converter_.records() >= kProofRecords;
}

void Tracer::OnContextCreated() { attachment_.EnableResource(cupti::kResourceContextCreated, false); }

// Two uses of one callback: a sync window asks for enter and exit of some calls, a detach for the exit of any.
void Tracer::OnApi(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data) {
  const bool graph = domain == cupti::kDomainRuntime ? Contains(kRuntimeGraph, cbid) : Contains(kDriverGraph, cbid);
  if (graph) converter_.SawGraph();
  const uint64_t spent = calls_.OnCall(domain, cbid, data);
  if (spent != 0) AddCost(spent);
  if (data.site == cupti::kSiteExit && attachment_.armed() && !calls_.AwaitsExit()) DetachAtExit();
}

void Tracer::DetachAtExit() {
  const uint64_t begin = MonotonicNs();
  // A graph may have come up after the detach was armed.
  if (!attachment_.OnApiExit(may_finalise())) return;
  AddCost(MonotonicNs() - begin);
  ring_->SetState(static_cast<wire::State>(final_state_.load(std::memory_order_relaxed)));
}

uint8_t* Tracer::OnBufferRequested() {
  const uint64_t begin = MonotonicNs();
  uint8_t* buffer = buffers_.Lend();
  AddCost(MonotonicNs() - begin);
  return buffer;
}

void Tracer::OnBufferCompleted(uint8_t* buffer, size_t valid) {
  if (valid > Buffers::kBytes) valid = 0;
  if (valid > 0) converter_.Convert(buffer, valid);
  buffers_.Return(buffer);
}

}  // namespace gpuwhy::inject
