// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/analysis.h"

namespace gpuwhy {
namespace {

// Below this rate a synchronising call is part of a log line now and then, not of the loop.
constexpr double kSyncsEachStep = 0.5;
constexpr double kSyncsEachSecond = 10;

bool SyncsInLoop(const SyncView& sync) {
  if (sync.steps >= 1) return static_cast<double>(sync.syncs + sync.copies) / sync.steps >= kSyncsEachStep;
  return sync.seconds > 0 && static_cast<double>(sync.syncs + sync.copies) / sync.seconds >= kSyncsEachSecond;
}

// Divides the idle share of time in which the host neither waited nor wrote. A host that needs longer for a step than
// the GPU leaves the GPU idle whatever else it does: that difference is `launch`, but in long gaps, in which it cannot
// have been dispatching, `host_work`. What is idle beyond it, the host could have hidden by running ahead, if it had
// not blocked in synchronising calls: `sync`.
void SplitIdle(const Analysis& analysis, const GpuSplit& rest, double share, Breakdown& out) {
  const double idle = rest.idle / rest.total();
  const double busy = 1 - idle;
  double launch = idle;
  double sync = 0;
  if (analysis.sync && analysis.sync->outside_wait_s > 0 && SyncsInLoop(*analysis.sync)) {
    const double blocked = std::min(1.0, analysis.sync->blocked_s / analysis.sync->outside_wait_s);
    const double short_gaps = std::min(idle, analysis.window->short_gap_s / rest.total());
    launch = std::clamp(std::max(1 - blocked - busy, short_gaps), 0.0, idle);
    sync = idle - launch;
  }
  // Hardly any kernel: the host did not dispatch at all.
  const double long_gaps = analysis.window->kernels >= 20 ? analysis.window->long_gap_s / rest.total() : 1;
  const double own = std::min(launch, long_gaps);
  out.host_work += share * own;
  out.launch += share * (launch - own);
  out.sync += share * sync;
}

void AddBusy(const GpuSplit& split, double share, Breakdown& out) {
  if (split.total() <= 0) return;
  out.gpu_compute += share * split.compute / split.total();
  out.communication += share * split.communication / split.total();
  out.copy += share * split.copy / split.total();
}

double IdleShare(const GpuSplit& split) { return split.total() > 0 ? split.idle / split.total() : 1; }

}  // namespace

std::optional<Breakdown> BreakDown(const Analysis& analysis) {
  if (!analysis.window || analysis.window->seconds <= 0 || analysis.window->rest.total() <= 0) return std::nullopt;
  const WindowView& window = *analysis.window;
  // Shares of the run come from the marks of the whole run: one second says nothing of a bursty loader. Without marks
  // the window is all there is.
  double wait = window.in_wait.total() / window.seconds;
  double save = window.in_save.total() / window.seconds;
  const double other = window.in_other.total() / window.seconds;
  if (analysis.steady && analysis.steady->seconds() > 0) {
    wait = std::min(1.0, analysis.steady->wait_s / analysis.steady->seconds());
    save = std::min(1 - wait, analysis.steady->save_s / analysis.steady->seconds());
  }
  const double rest = std::max(0.0, 1 - wait - save - other);
  Breakdown out;
  AddBusy(window.in_wait, wait, out);
  AddBusy(window.in_save, save, out);
  AddBusy(window.in_other, other, out);
  AddBusy(window.rest, rest, out);
  out.input_wait = wait * IdleShare(window.in_wait);
  out.checkpoint = save * IdleShare(window.in_save);
  out.compiling = other * IdleShare(window.in_other);
  SplitIdle(analysis, window.rest, rest, out);
  out.other = out.compiling + out.host_work;
  const double sum = out.input_wait + out.copy + out.gpu_compute + out.communication + out.launch + out.sync +
                     out.checkpoint + out.other;
  if (sum <= 0) return std::nullopt;
  for (double* part : {&out.input_wait, &out.copy, &out.gpu_compute, &out.communication, &out.launch, &out.sync,
                       &out.checkpoint, &out.other, &out.host_work, &out.compiling})
    *part /= sum;
  return out;
}

}  // namespace gpuwhy
