// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/format.h"
#include "engine/pace.h"

namespace gpuwhy {
namespace {

constexpr uint32_t kModeTiming = 2;  // wire window_mode
constexpr size_t kFewestTurns = 8;
constexpr size_t kMostKernels = 20'000;  // of a window: more only cost time
// Two launches in a hundred may differ: autotuning, a metric now and then.
constexpr double kAlike = 0.98;

std::vector<const Span*> KernelsOf(const Evidence& evidence, int64_t pid) {
  const Span* longest = nullptr;
  for (const Span& span : evidence.spans()) {
    if (span.kind != SpanKind::kWindow || span.pid != pid || span.detail[0] != kModeTiming) continue;
    if (longest == nullptr || span.duration_ns > longest->duration_ns) longest = &span;
  }
  std::vector<const Span*> out;
  for (const Span& span : evidence.spans()) {
    const bool inside = longest != nullptr && span.kind == SpanKind::kKernel && span.pid == pid &&
                        span.start_ns >= longest->start_ns && span.start_ns < longest->end_ns();
    if (inside && (out.empty() || span.device == out.front()->device)) out.push_back(&span);
  }
  std::sort(out.begin(), out.end(), [](const Span* a, const Span* b) { return a->start_ns < b->start_ns; });
  if (out.size() > kMostKernels) out.resize(kMostKernels);
  return out;
}

bool Alike(const Span* a, const Span* b) {
  return a->name == b->name && a->detail[0] == b->detail[0] && a->detail[1] == b->detail[1];
}

bool Repeats(const std::vector<const Span*>& kernels, size_t period) {
  const size_t pairs = kernels.size() - period;
  const auto allowed = static_cast<size_t>(static_cast<double>(pairs) * (1 - kAlike));
  size_t different = 0;
  for (size_t i = 0; i < pairs && different <= allowed; ++i)
    different += Alike(kernels[i], kernels[i + period]) ? 0U : 1U;
  return different <= allowed;
}

// The sequence as a text, begun where it sorts first, so that the moment at which a window opened does not matter.
std::string SequenceText(const Evidence& evidence, const std::vector<const Span*>& kernels, size_t period) {
  std::vector<std::string> words;
  for (size_t i = 0; i < period; ++i) {
    const Span* kernel = kernels[i];
    words.push_back(Format("{} {}x{}", evidence.Name(kernel->name), kernel->detail[0], kernel->detail[1]));
  }
  size_t best = 0;
  for (size_t start = 1; start < period; ++start) {
    for (size_t i = 0; i < period; ++i) {
      const std::string &mine = words[(start + i) % period], &kept = words[(best + i) % period];
      if (mine == kept) continue;
      if (mine < kept) best = start;
      break;
    }
  }
  std::string text;
  for (size_t i = 0; i < period; ++i) text += words[(best + i) % period] + "\n";
  return text;
}

}  // namespace

std::optional<Pace> FindKernelPace(const Evidence& evidence, int64_t pid) {
  const std::vector<const Span*> kernels = KernelsOf(evidence, pid);
  size_t period = 0;
  for (size_t p = 1; period == 0 && p * kFewestTurns <= kernels.size(); ++p) {
    if (Repeats(kernels, p)) period = p;
  }
  if (period == 0) return std::nullopt;
  Pace pace;
  pace.seen = Pace::Seen::kKernels;
  for (size_t i = period; i < kernels.size(); i += period) {
    const int64_t took = kernels[i]->start_ns - kernels[i - period]->start_ns;
    if (took <= 0) continue;
    pace.by_step.push_back({static_cast<double>(took) * 1e-9, 1});
    pace.seconds += pace.by_step.back().seconds;
    pace.steps += 1;
  }
  pace.sequence = SequenceText(evidence, kernels, period);
  return pace.by_step.size() >= 2 ? std::optional<Pace>(std::move(pace)) : std::nullopt;
}

}  // namespace gpuwhy
