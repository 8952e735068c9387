// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "cli/machine_text.h"
#include "cli/subject_view.h"
#include "model/metric.h"
#include "report/layout.h"
#include "report/text.h"

namespace gpuwhy::cli {
namespace {

using report::Paint;
using report::Writer;

constexpr double kWorks = 0.01;

class Snapshot {
 public:
  Snapshot(const Report& report, Writer& writer)
      : report_(report), facts_(report), writer_(writer), gpus_(facts_.With("gpu.name", EntityKind::kGpu)) {}

  void Write() {
    Driver();
    for (const Entity& gpu : gpus_) Gpu(gpu);
    Processes();
    writer_.Blank();
    writer_.Item(writer_.Text("snapshot.advice") + " ", Advice(), Paint::kBold);
  }

 private:
  std::string Show(std::string_view name, const Entity& entity) const {
    const Fact* fact = facts_.Find(name, entity);
    if (fact == nullptr) return writer_.Text("state.unknown");
    return report::ShowValue(fact->value, UnitOf(name), writer_.options().language);
  }

  // For the table, where a reason has no room: a value or the bare state.
  std::string Cell(std::string_view name, const Entity& entity) const {
    const Fact* fact = facts_.Find(name, entity);
    if (fact == nullptr) return writer_.Text("state.unknown");
    return fact->value.known() ? Show(name, entity) : writer_.Text(Format("state.{}", StateName(fact->value.state)));
  }

  std::string Index(const std::string& gpu) const {
    const std::optional<double> index = facts_.Number("gpu.index", Entity::Gpu(gpu));
    return index ? Format("{:.0f}", *index) : "?";
  }

  void Driver() {
    if (facts_.Find("driver.nvml.skipped") != nullptr)
      return writer_.Paragraph(0, writer_.Text("doctor.nvml.skipped"), Paint::kYellow);
    if (facts_.Bool("driver.nvml.ok") != true) {
      return writer_.Paragraph(
          0, writer_.Text("snapshot.no_driver", {{"why", Show("driver.nvml.error_text", Entity::Host())}}),
          Paint::kYellow);
    }
    writer_.Paragraph(0,
                      writer_.Text("snapshot.driver", {{"count", std::to_string(gpus_.size())},
                                                       {"version", Show("driver.version", Entity::Host())},
                                                       {"cuda", Show("driver.cuda_version", Entity::Host())}}),
                      Paint::kBold);
  }

  void Gpu(const Entity& gpu) {
    writer_.Blank();
    writer_.Item(Format("GPU {}  ", Index(gpu.id)), Show("gpu.name", gpu), Paint::kBold, Paint::kBold);
    writer_.Paragraph(7, Duty(gpu));
    const auto of = [&](const char* name, const char* limit) {
      const bool both = facts_.Number(name, gpu) && facts_.Number(limit, gpu);
      return both ? writer_.Text("snapshot.of", {{"value", Show(name, gpu)}, {"limit", Show(limit, gpu)}})
                  : Show(name, gpu);
    };
    writer_.Paragraph(
        7, writer_.Text("snapshot.memory", {{"memory", of("gpu.memory.used.bytes", "gpu.memory.total.bytes")}}));
    const std::optional<double> state = facts_.Number("gpu.pstate", gpu);
    writer_.Paragraph(
        7, writer_.Text("snapshot.power", {{"power", of("gpu.power.watts", "gpu.power.limit.watts")},
                                           {"temperature", Show("gpu.temperature.celsius", gpu)},
                                           {"pstate", state ? Format("P{:.0f}", *state) : Show("gpu.pstate", gpu)}}));
    writer_.Paragraph(7, writer_.Text("snapshot.clocks", {{"sm", of("gpu.clock.sm.hertz", "gpu.clock.sm.max.hertz")},
                                                          {"memory", Show("gpu.clock.memory.hertz", gpu)}}));
  }

  // A duty cycle without the way it was measured is a number that people misread.
  std::string Duty(const Entity& gpu) const {
    const std::optional<double> count = facts_.Number("gpu.utilization.samples.count", gpu);
    const std::string duty = Show("gpu.utilization.ratio", gpu);
    if (!count) return writer_.Text("snapshot.duty.missing", {{"why", duty}});
    if (*count < 2) return writer_.Text("snapshot.duty.one", {{"duty", duty}});
    return writer_.Text("snapshot.duty.many", {{"duty", duty},
                                               {"count", Format("{:.0f}", *count)},
                                               {"span", Show("gpu.utilization.span.seconds", gpu)},
                                               {"min", Show("gpu.utilization.min.ratio", gpu)},
                                               {"max", Show("gpu.utilization.max.ratio", gpu)}});
  }

  void Processes() {
    if (facts_.Bool("driver.nvml.ok") != true) return;
    std::vector<std::vector<std::string>> rows = {{"GPU", "PID"}};
    for (const char* column : {"user", "sm", "memory", "command"})
      rows.front().push_back(writer_.Text(std::string("snapshot.column.") + column));
    for (const Entity& process : facts_.With("process.gpu.listed", EntityKind::kProcessOnGpu)) {
      if (facts_.Bool("process.gpu.listed", process) != true) continue;
      rows.push_back({Index(process.gpu()), std::to_string(process.pid()), Cell("process.user", process),
                      Cell("process.gpu.sm.ratio", process), Cell("process.gpu.memory.bytes", process),
                      Cell("process.name", process)});
    }
    writer_.Heading(writer_.Text("snapshot.processes"));
    if (rows.size() == 1) return NoProcess();
    std::vector<int> widths(rows.front().size(), 0);
    for (const auto& row : rows) {
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], report::DisplayWidth(report::Printable(row[i])));
    }
    for (const auto& row : rows) {
      std::string line = " ";
      for (size_t i = 0; i < row.size(); ++i)
        line += " " + report::Pad(report::Printable(row[i]), i + 1 < row.size() ? widths[i] + 1 : 0);
      writer_.Code(0, line);
    }
  }

  // An empty list is "nobody" only where the driver answered and shows us everybody.
  void NoProcess() {
    bool answered = !gpus_.empty();
    for (const Entity& gpu : gpus_) {
      const Fact* refused = facts_.Find("gpu.processes.count", gpu);
      answered = answered && (refused == nullptr || refused->value.known());
    }
    const bool hidden = facts_.Bool("host.pid_namespace") != false;
    writer_.Paragraph(2, writer_.Text(!answered ? "snapshot.processes.unknown"
                                      : hidden  ? "snapshot.processes.hidden"
                                                : "snapshot.processes.none"));
  }

  std::string Advice() const {
    const report::Language language = writer_.options().language;
    for (const Finding& finding : report_.findings) {
      if (finding.severity != Severity::kInfo)
        return writer_.Text("snapshot.advice.finding", {{"title", report::FindingTitle(finding, language)}});
    }
    if (facts_.Bool("driver.nvml.ok") != true) return writer_.Text("snapshot.advice.unknown");
    for (const Finding& finding : report_.findings) {
      if (finding.cause == "gpu-allocated-but-idle")
        return writer_.Text("snapshot.advice.held", {finding.params.begin(), finding.params.end()});
    }
    const Entity* busiest = nullptr;
    double highest = 0;
    for (const Entity& gpu : gpus_) {
      const double duty = facts_.Number("gpu.utilization.ratio", gpu).value_or(0);
      if (duty < kWorks || duty <= highest) continue;
      highest = duty;
      busiest = &gpu;
    }
    if (busiest != nullptr)
      return writer_.Text("snapshot.advice.busy",
                          {{"gpu", Index(busiest->id)}, {"duty", report::ShowQuantity(highest, "ratio")}});
    for (const Entity& gpu : gpus_) {
      if (!facts_.Number("gpu.utilization.ratio", gpu)) return writer_.Text("snapshot.advice.unmeasured");
    }
    return writer_.Text("snapshot.advice.free");
  }

  const Report& report_;
  SubjectView facts_;
  Writer& writer_;
  std::vector<Entity> gpus_;
};

}  // namespace

void WriteSnapshot(const Report& report, Writer& writer) { Snapshot(report, writer).Write(); }

}  // namespace gpuwhy::cli
