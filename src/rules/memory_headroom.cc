// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/format.h"
#include "engine/device_memory.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_memory_headroom;

namespace {

constexpr std::string_view kNeeds[] = {
    "framework.torch.memory.0.max_allocated_bytes", "framework.torch.device.0.total_bytes",
    "framework.torch.memory.0.limit_bytes",         "framework.tensorflow.gpu.0.max_allocated_bytes",
    "framework.jax.memory.0.max_allocated_bytes",   "gpu.memory.used.bytes"};

constexpr double kNearlyFull = 0.92;  // profiling facts 2.6: pressure from 0.92
constexpr double kRoom = 0.5;         // Gao et al., ICSE 2024: low use goes with at most half of the memory
constexpr double kBusy = 0.70;        // AWS: below, a GPU is under-used (profiling facts 2.5)
constexpr double kCeiling = 1.05;     // a peak above the memory itself is a mistake of somebody
constexpr int kDevices = 16;

// How full one device was at the peak of one framework.
struct Peak {
  double bytes = 0;
  double device = 0;     // bytes of the device, its limit where these are not known
  double others = 0;     // that others hold there
  double most = 0;       // that the job may take: its limit, else the device less what others hold
  bool limited = false;  // by a limit below the device
  const Fact* fact = nullptr;
  double ratio() const { return bytes / most; }
};

std::optional<double> Bytes(const Fact* fact) {
  const std::optional<double> bytes = fact != nullptr ? fact->value.AsDouble() : std::nullopt;
  return bytes && *bytes > 0 ? bytes : std::nullopt;
}

// `prefix` is "framework.torch.memory.0.", `total` the bytes of the same device.
std::optional<Peak> PeakOf(const RuleContext& context, const std::string& prefix, std::optional<double> total,
                           double others) {
  const Fact* fact = MainFact(context, prefix + "max_allocated_bytes");
  const std::optional<double> bytes = Bytes(fact);
  const std::optional<double> limit = Bytes(MainFact(context, prefix + "limit_bytes"));
  if (!bytes || (!total && !limit)) return std::nullopt;
  Peak peak{*bytes, total ? *total : *limit, others, 0, !total, fact};
  peak.most = peak.device - others;
  if (limit && *limit < peak.most) {
    peak.most = *limit;
    peak.limited = true;
  }
  if (peak.most <= 0 || peak.ratio() > kCeiling) return std::nullopt;
  return peak;
}

// What others hold of the torch device: NVML was asked about the one that the job works on, of others it says nothing.
double OthersOf(const RuleContext& context, int device) {
  const Fact* uuid = MainFact(context, Format("framework.torch.device.{}.uuid", device));
  if (uuid != nullptr && uuid->value.known() && uuid->value.Show() != context.analysis.gpu) return 0;
  return HeldByOthers(context).value_or(0);
}

// The fullest device of the main process, by whichever framework tells its peak.
std::optional<Peak> Fullest(const RuleContext& context) {
  std::optional<Peak> fullest;
  const auto take = [&](std::optional<Peak> peak) {
    if (peak && (!fullest || peak->ratio() > fullest->ratio())) fullest = peak;
  };
  for (int device = 0; device < kDevices; ++device) {
    const std::optional<double> total =
        Bytes(MainFact(context, Format("framework.torch.device.{}.total_bytes", device)));
    take(PeakOf(context, Format("framework.torch.memory.{}.", device), total, OthersOf(context, device)));
    take(PeakOf(context, Format("framework.tensorflow.gpu.{}.", device), DeviceBytes(context), 0));
    take(PeakOf(context, Format("framework.jax.memory.{}.", device), DeviceBytes(context), 0));
  }
  return fullest;
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (context.ladder.gpu_used != GpuUsed::kYes) return RuleOutcome::Clear();
  const std::optional<Peak> peak = Fullest(context);
  if (!peak) return RuleOutcome::CannotTell({"framework.torch.memory.0.max_allocated_bytes"});
  const bool full = peak->ratio() >= kNearlyFull;
  // Room is worth a word only where the GPU has time left and the launches, not the input, are what it waits for. A
  // limit that the job sets itself is no want of memory.
  const double in_use = (peak->bytes + peak->others) / peak->device;
  const bool room = in_use <= kRoom && analysis.breakdown && analysis.breakdown->gpu_compute < kBusy &&
                    analysis.breakdown->launch >= kShareWarning;
  if (!full && !room) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_memory_headroom, Severity::kInfo, full ? kStated : kOneWitness);
  const double ratio = full ? peak->ratio() : in_use;
  finding.Param("peak", ShowPercent(ratio));
  finding.Param("how", !full ? "@headroom.free" : peak->limited ? "@headroom.full_limit" : "@headroom.full");
  AddItem(finding, Item("memory.peak.ratio", ratio, Source::kFramework));
  AddItem(finding, peak->fact);
  if (peak->limited) AddItem(finding, Item("memory.limit.bytes", peak->most, Source::kFramework));
  if (!peak->limited) AddItem(finding, Item("memory.device.bytes", peak->device, Source::kFramework));
  if (peak->others > 0) AddItem(finding, Item("memory.others.bytes", peak->others, Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_memory_headroom{
    .id = "GW808", .name = "memory-headroom", .since = "0.2", .stage = Stage::kNote, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
