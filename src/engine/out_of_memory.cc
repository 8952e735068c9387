// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/out_of_memory.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "knowledge/gpus.h"

namespace gpuwhy {
namespace {

constexpr double kMebibyte = 1048576, kGibibyte = 1024 * kMebibyte;

// A CUDA context with the kernels of a framework takes 0.3 to 1 GiB that its allocator does not count; a desktop takes
// as much.
constexpr double kForeignBytes = 1.5 * kGibibyte, kForeignShare = 0.25;
// The driver gives memory away in pages of 2 MiB, so that a request just below what is free can fail.
constexpr double kFreeEnough = 2, kFreeMargin = 256 * kMebibyte;
constexpr double kJaxDefault = 0.75;
constexpr double kPiecesBytes = 512 * kMebibyte, kPiecesShare = 0.10;

std::optional<MemorySize> Stated(const Evidence& evidence, const char* id, const char* name) {
  const std::string text = FirstCaptured(evidence, id, name);
  const std::optional<double> bytes = ParseBytes(text);
  return bytes ? std::optional<MemorySize>({*bytes, text}) : std::nullopt;
}

std::optional<MemorySize> Sum(const std::optional<MemorySize>& a, const std::optional<MemorySize>& b) {
  if (!a || !b) return std::nullopt;
  return MemorySize{a->bytes + b->bytes, ShowBytes(a->bytes + b->bytes)};
}

std::string NamedOthers(const Evidence& evidence) {
  const StringList pids = Captured(evidence, "torch_oom_other_process", "pid");
  const StringList sizes = Captured(evidence, "torch_oom_other_process", "theirs");
  StringList named;
  for (size_t i = 0; i < std::min(pids.size(), sizes.size()); ++i)
    named.push_back(Format("{} ({})", pids[i], sizes[i]));
  return Join(named, ", ");
}

std::optional<OutOfMemory> FromMessage(const Evidence& evidence) {
  const char* id = Said(evidence, "torch_oom") != nullptr ? "torch_oom" : "hip_oom";
  OutOfMemory failure;
  const char* first = Said(evidence, id) != nullptr ? id : "torch_oom_any";
  for (const char* part :
       {first, "torch_oom_unallocated", "torch_oom_reserved", "torch_oom_allowed", "torch_oom_other_process"}) {
    const Fact* said = Said(evidence, part);
    const auto same = [&](const Fact* fact) { return fact->where == said->where && fact->quote == said->quote; };
    if (said != nullptr && std::none_of(failure.facts.begin(), failure.facts.end(), same))
      failure.facts.push_back(said);
  }
  if (Said(evidence, id) == nullptr && Said(evidence, "torch_oom_any") == nullptr) return std::nullopt;
  failure.tried = Stated(evidence, id, "tried");
  if (!failure.tried) failure.tried = Stated(evidence, "torch_oom_any", "tried");
  failure.total = Stated(evidence, id, "total");
  failure.free = Stated(evidence, id, "free");
  failure.allocated = Stated(evidence, "torch_oom_allocated", "allocated");
  if (!failure.allocated) failure.allocated = Stated(evidence, id, "allocated");
  failure.reserved = Stated(evidence, "torch_oom_reserved", "reserved");
  // From 2.1 the message tells the difference, up to 1.3 it did as well and called it "cached".
  for (const char* name : {"unallocated", "cached"}) {
    const char* from = name[0] == 'u' ? "torch_oom_unallocated" : "torch_oom_reserved";
    if (!failure.reserved) failure.reserved = Sum(failure.allocated, Stated(evidence, from, name));
  }
  failure.allowed = Stated(evidence, "torch_oom_allowed", "allowed");
  failure.mine = Stated(evidence, "torch_oom_this_process", "mine");
  // WDDM answers with 2^64 less one: PyTorch prints that as 17179869184.00 GiB.
  if (failure.mine && failure.total && failure.mine->bytes > 2 * failure.total->bytes) failure.mine.reset();
  failure.others = NamedOthers(evidence);
  return failure;
}

std::optional<MemorySize> Highest(const Evidence& evidence, const char* metric, const Entity& entity) {
  const std::optional<double> bytes = MaxOf(evidence.Samples(metric, entity), 0, 1e18);
  return bytes ? std::optional<MemorySize>({*bytes, ShowBytes(*bytes)}) : std::nullopt;
}

std::optional<MemorySize> Told(const RuleContext& context, const std::string& name) {
  const Fact* fact = MainFact(context, name);
  const std::optional<double> bytes = fact != nullptr ? fact->value.AsDouble() : std::nullopt;
  return bytes ? std::optional<MemorySize>({*bytes, ShowBytes(*bytes)}) : std::nullopt;
}

// The allocator of a live job counted a refusal. What it asked for is not told, and the sums are those of the highest
// readings.
std::optional<OutOfMemory> FromLive(const RuleContext& context) {
  const Fact* refused = MainFact(context, "framework.torch.memory.0.ooms");
  if (refused == nullptr || refused->value.AsInt().value_or(0) <= 0) return std::nullopt;
  OutOfMemory failure;
  failure.facts.push_back(refused);
  failure.total = Told(context, "framework.torch.device.0.total_bytes");
  failure.allocated = Told(context, "framework.torch.memory.0.max_allocated_bytes");
  const std::optional<MemorySize> limit = Told(context, "framework.torch.memory.0.limit_bytes");
  if (limit && failure.total && limit->bytes < 0.99 * failure.total->bytes) failure.allowed = limit;
  const std::optional<MemorySize> used =
      Highest(context.evidence, "gpu.memory.used.bytes", Entity::Gpu(context.analysis.gpu));
  if (used && failure.total) {
    const double rest = std::max(0.0, failure.total->bytes - used->bytes);
    failure.free = MemorySize{rest, ShowBytes(rest)};
  }
  double mine = 0;
  for (const int64_t pid : context.analysis.processes) {
    const Entity entity = Entity::ProcessOnGpu(pid, context.analysis.gpu);
    mine += Highest(context.evidence, "process.gpu.memory.bytes", entity).value_or(MemorySize{}).bytes;
  }
  if (mine > 0) failure.mine = MemorySize{mine, ShowBytes(mine)};
  return failure;
}

bool OverLimit(const OutOfMemory& failure) {
  if (!failure.allowed || !failure.free) return false;
  const double tried = failure.tried ? failure.tried->bytes : 0;
  const double held = failure.reserved ? failure.reserved->bytes : failure.allocated ? failure.allocated->bytes : 0;
  return failure.free->bytes >= tried && held + std::max(tried, 0.1 * failure.allowed->bytes) > failure.allowed->bytes;
}

bool EnoughFree(const OutOfMemory& failure) {
  return failure.tried && failure.free && failure.free->bytes >= kFreeEnough * failure.tried->bytes &&
         failure.free->bytes - failure.tried->bytes >= kFreeMargin;
}

bool InPieces(const OutOfMemory& failure) {
  const double pieces = failure.unallocated();
  return failure.tried && failure.reserved && pieces >= failure.tried->bytes && pieces >= kPiecesBytes &&
         pieces >= kPiecesShare * failure.reserved->bytes;
}

}  // namespace

double OutOfMemory::own() const {
  if (mine) return mine->bytes;
  if (reserved) return reserved->bytes;
  return allocated ? allocated->bytes : 0;
}

double OutOfMemory::foreign() const {
  if (!total || !free || (!mine && !reserved && !allocated)) return 0;
  return std::max(0.0, total->bytes - free->bytes - own());
}

double OutOfMemory::unallocated() const {
  return reserved && allocated ? std::max(0.0, reserved->bytes - allocated->bytes) : 0;
}

std::optional<OutOfMemory> FindOutOfMemory(const RuleContext& context) {
  return FromText(context.evidence) ? FromMessage(context.evidence) : FromLive(context);
}

MemoryCause CauseOf(const OutOfMemory& failure) {
  if (!failure.total || !failure.free) return MemoryCause::kUnknown;
  if (OverLimit(failure)) return MemoryCause::kLimit;
  if (EnoughFree(failure)) return MemoryCause::kContradicts;
  const double foreign = failure.foreign();
  // A request that would not fit even without the others is too big whoever holds what.
  const bool fits = !failure.tried || failure.tried->bytes <= foreign + failure.free->bytes;
  const bool held = fits && foreign >= kForeignBytes && foreign >= kForeignShare * failure.total->bytes;
  if (InPieces(failure) && (!held || failure.unallocated() >= foreign)) return MemoryCause::kFragmented;
  if (held) return MemoryCause::kForeign;
  return failure.own() > 0 || failure.tried ? MemoryCause::kTooBig : MemoryCause::kUnknown;
}

std::optional<double> TensorFlowShareOfCard(const Evidence& evidence) {
  const std::optional<double> given = ParseDouble(FirstCaptured(evidence, "tf_created_device", "memory"));
  const std::optional<knowledge::GpuFacts> card =
      knowledge::FindGpu(FirstCaptured(evidence, "tf_created_device", "gpu"));
  if (!given || !card || card->gib <= 0) return std::nullopt;
  return *given * kMebibyte / (card->gib * kGibibyte);  // printed as MB, counted in MiB
}

const Fact* ProcessMemoryLimit(const RuleContext& context) {
  for (const char* name : {"process.env.XLA_PYTHON_CLIENT_MEM_FRACTION", "process.env.XLA_CLIENT_MEM_FRACTION"}) {
    const Fact* fact = MainFact(context, name);
    // JAX takes three quarters by default (docs.jax.dev, GPU memory allocation): less is a limit.
    if (fact != nullptr && ParseDouble(fact->value.Show()).value_or(1) < kJaxDefault) return fact;
  }
  return Said(context.evidence, "code_memory_limit");
}

std::optional<double> ParseBytes(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789.");
  const std::optional<double> number = ParseDouble(text.substr(0, end));
  if (!number || *number < 0) return std::nullopt;
  const std::string unit = Lower(end == std::string_view::npos ? "" : Trim(text.substr(end)));
  if (unit.empty() || unit == "bytes" || unit == "byte" || unit == "b") return number;
  const size_t power = std::string_view("kmgt").find(unit[0]);
  if (power == std::string_view::npos) return std::nullopt;
  double scale = 1024;
  for (size_t i = 0; i < power; ++i) scale *= 1024;
  return *number * scale;
}

std::string ShowBytes(double bytes) {
  if (bytes >= kGibibyte) return Format("{:.1f} GiB", bytes / kGibibyte);
  return Format("{:.0f} MiB", bytes / kMebibyte);
}

void Describe(const OutOfMemory& failure, Finding& finding) {
  const auto text = [](const std::optional<MemorySize>& size) { return size ? size->text : std::string("?"); };
  finding.Param("tried", text(failure.tried)).Param("total", text(failure.total)).Param("free", text(failure.free));
  finding.Param("allocated", text(failure.allocated)).Param("allowed", text(failure.allowed));
  finding.Param("own", failure.mine ? failure.mine->text : ShowBytes(failure.own()));
  finding.Param("foreign", ShowBytes(failure.foreign())).Param("unallocated", ShowBytes(failure.unallocated()));
  for (const Fact* fact : failure.facts) AddItem(finding, fact);
}

}  // namespace gpuwhy
