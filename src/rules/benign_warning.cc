// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_benign_warning;

namespace {

constexpr std::string_view kNeeds[] = {"log.note_numa", "toolkit.nvcc.version", "driver.cuda_version",
                                       "framework.torch.hip_built"};

constexpr size_t kMostLines = 4;  // more of them say nothing more

// The toolkit that compiles and the newest CUDA that the driver can run are two numbers.
const Fact* OlderToolkit(const Evidence& evidence) {
  const Fact* toolkit = evidence.Find("toolkit.nvcc.version");
  const Fact* driver = evidence.Find("driver.cuda_version");
  if (toolkit == nullptr || driver == nullptr) return nullptr;
  const std::optional<Version> compiles = ParseVersion(toolkit->value.Show()),
                               runs = ParseVersion(driver->value.Show());
  return compiles && runs && Compare(*compiles, *runs) < 0 ? toolkit : nullptr;
}

void Take(Finding& finding, const char* what, const Fact* fact) {
  if (fact == nullptr || finding.evidence.size() >= kMostLines) return;
  if (finding.params.count("what") == 0) finding.Param("what", what);
  AddItem(finding, fact);
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const bool doctor = evidence.Text("session.kind") == "doctor";
  if (!FromText(evidence) && !doctor) return RuleOutcome::CannotTell({"toolkit.nvcc.version", "log.note_numa"});
  Finding finding = MakeFinding(kRule_benign_warning, Severity::kInfo, kTwoWitnesses);
  if (const Fact* toolkit = OlderToolkit(evidence)) {
    const Fact* driver = evidence.Find("driver.cuda_version");
    finding.Param("toolkit", toolkit->value.Show()).Param("driver", driver->value.Show());
    Take(finding, "@benign.nvcc", toolkit);
    Take(finding, "@benign.nvcc", driver);
  }
  if (const Fact* hip = MainFact(context, "framework.torch.hip_built");
      hip != nullptr && hip->value.known() && hip->value.Show() != "") {
    Take(finding, "@benign.rocm", hip);
    Take(finding, "@benign.rocm", MainFact(context, "framework.torch.cuda_available"));
  }
  Take(finding, "@benign.jax", Said(evidence, "jax_cpu_jaxlib"));
  for (const char* id : {"torch_dataloader_workers", "torch_dataloader_no_suggestion"}) {
    finding.Param("workers", FirstCaptured(evidence, id, "workers"))
        .Param("suggested", FirstCaptured(evidence, id, "suggested"));
    Take(finding, "@benign.workers", Said(evidence, id));
    if (Said(evidence, id) != nullptr) break;
  }
  for (const Fact* fact : evidence.WithPrefix("log.note_")) {
    if (!fact->quote.empty() && fact->value.AsInt()) Take(finding, "@benign.line", fact);
  }
  if (finding.params.count("what") == 0) return RuleOutcome::Clear();
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_benign_warning{
    .id = "GW005", .name = "benign-warning", .since = "0.1", .stage = Stage::kNote, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
