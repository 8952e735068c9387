// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "engine/compare.h"
#include "engine/lookup.h"

namespace gpuwhy {
namespace {

using Params = std::map<std::string, std::string>;

const Fact* MainFact(const Measured& m, const std::string& name) {
  return m.session->evidence.Find(name, Entity::Process(m.analysis.main_pid));
}

std::string ShowFact(const Fact* fact) { return fact != nullptr && fact->value.known() ? fact->value.Show() : ""; }

std::string Frameworks(const Measured& m) {
  const RuleContext context{m.session->evidence, m.analysis, Ladder{}};
  std::set<std::string> names;
  for (const FrameworkSeen& seen : FrameworksSeen(context)) {
    if (seen.in_job) names.insert(seen.name);
  }
  return Join({names.begin(), names.end()}, "+");
}

// Number and bytes of the parameters: of one number with other bytes the kind of number may have changed (bfloat16).
std::string Model(const Measured& m) {
  const std::string count = ShowFact(MainFact(m, "framework.torch.parameters.count"));
  const std::string dtypes = ShowFact(MainFact(m, "framework.torch.parameters.dtypes"));
  double bytes = 0;
  for (const char* place : {"cuda_bytes", "cpu_bytes", "other_bytes"}) {
    const Fact* fact = MainFact(m, std::string("framework.torch.parameters.") + place);
    bytes += fact != nullptr ? fact->value.AsDouble().value_or(0) : 0;
  }
  if (count.empty() || bytes <= 0) return ShowFact(MainFact(m, "framework.tensorflow.variables.count"));
  return Format("{} / {:.3g} MB {}", count, bytes / 1e6, dtypes);
}

std::string ModelSize(const Measured& m) {
  const std::string count = ShowFact(MainFact(m, "framework.torch.parameters.count"));
  return count.empty() ? ShowFact(MainFact(m, "framework.tensorflow.variables.count")) : count;
}

bool SameTypes(const Measured& a, const Measured& b) {
  const char* name = "framework.torch.parameters.dtypes";
  return ShowFact(MainFact(a, name)) == ShowFact(MainFact(b, name));
}

std::string Script(const Measured& m) {
  std::string script = ShowFact(MainFact(m, "framework.python.argv0"));
  if (!script.empty()) return script;
  const std::string command = m.session->evidence.Text("job.command").value_or("");
  return command.substr(0, command.find(' '));
}

std::string GpuName(const Measured& m) {
  return ShowFact(m.session->evidence.Find("gpu.name", Entity::Gpu(m.analysis.gpu)));
}

size_t TrainingProcesses(const Measured& m) {
  std::set<int64_t> pids;
  for (const StepMark& mark : m.session->evidence.steps()) pids.insert(mark.pid);
  for (const Entity& process : m.session->evidence.EntitiesWith("process.steps.count")) {
    if (m.session->evidence.Samples("process.steps.count", process).back().value > 0) pids.insert(process.pid());
  }
  return pids.size();
}

void AddDifference(const char* id, const std::string& a, const std::string& b, Comparison& out) {
  if (!a.empty() && !b.empty() && a != b) out.caveats.push_back({id, {{"before", a}, {"after", b}}});
}

void AddJobs(const Measured& a, const Measured& b, Comparison& out) {
  AddDifference("framework", Frameworks(a), Frameworks(b), out);
  AddDifference("script", Script(a), Script(b), out);
  if (ModelSize(a) != ModelSize(b) || SameTypes(a, b)) AddDifference("model", Model(a), Model(b), out);
  AddDifference("gpu", GpuName(a), GpuName(b), out);
  const size_t left = TrainingProcesses(a), right = TrainingProcesses(b);
  if (left > 0 && right > 0) AddDifference("processes", std::to_string(left), std::to_string(right), out);
}

// An epoch's last batch is often smaller, so a mean that differs a little is no other batch size.
bool OtherBatch(double a, double b) { return std::max(a, b) > 1.05 * std::min(a, b); }

void AddUnit(const Measured& a, const Measured& b, Comparison& out) {
  if (!out.ratio) return;
  const auto batch = [](const Measured& m) { return *m.pace->samples / m.pace->steps; };
  if (out.ratio->unit == "kernel-sequence") {
    out.caveats.push_back({"window_only", {}});
  } else if (out.ratio->unit == "sample") {
    if (OtherBatch(batch(a), batch(b)))
      out.caveats.push_back({"batch", {{"before", Format("{:.4g}", batch(a))}, {"after", Format("{:.4g}", batch(b))}}});
  } else if (!a.pace->samples || !b.pace->samples) {
    const char* side = a.pace->samples ? "B" : b.pace->samples ? "A" : "A, B";
    out.caveats.push_back({"batch_unknown", {{"side", side}}});
  }
}

void AddState(const std::vector<Measured>& side, const char* name, Comparison& out) {
  for (const Measured& m : side) {
    const std::optional<int64_t> status = m.session->evidence.Int("job.exit_status");
    const Params params = {{"side", name}, {"name", m.session->name}};
    if (m.session->damaged_lines > 0) {
      Params with = params;
      with["count"] = std::to_string(m.session->damaged_lines);
      out.caveats.push_back({"damaged", with});
    }
    if (status && *status != 0) {
      Params with = params;
      with["status"] = std::to_string(*status);
      out.caveats.push_back({"failed", with});
    }
  }
}

// "Faster" needs equal work: a step of another model is other work, one of an unseen batch size may be.
std::string SameWork(const std::vector<Note>& caveats) {
  const auto has = [&](std::string_view id) {
    return std::any_of(caveats.begin(), caveats.end(), [&](const Note& note) { return note.id == id; });
  };
  if (has("same_recording")) return "yes";
  if (has("model")) return "no";
  return has("framework") || has("batch_unknown") ? "unknown" : "yes";
}

bool SharesRecording(const std::vector<Measured>& before, const std::vector<Measured>& after) {
  return std::any_of(before.begin(), before.end(), [&](const Measured& a) {
    return std::any_of(after.begin(), after.end(),
                       [&](const Measured& b) { return a.session->fingerprint == b.session->fingerprint; });
  });
}

}  // namespace

void AddCaveats(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out) {
  if (SharesRecording(before, after)) out.caveats.push_back({"same_recording", {}});
  AddJobs(before.front(), after.front(), out);
  AddUnit(before.front(), after.front(), out);
  if (out.ratio) out.ratio->same_work = SameWork(out.caveats);
  AddState(before, "A", out);
  AddState(after, "B", out);
  if (out.ratio && out.ratio->low && !out.ratio->between_runs)
    out.caveats.push_back({"one_run", {{"drift", Format("{:.0f}", kProcessDrift * 100)}}});
}

}  // namespace gpuwhy
