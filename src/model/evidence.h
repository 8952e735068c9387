// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_MODEL_EVIDENCE_H_
#define GPUWHY_MODEL_EVIDENCE_H_

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/entity.h"
#include "model/value.h"

namespace gpuwhy {

// Something that is so: "framework.torch.version" of a process is "2.15.0". A later fact of the same name replaces it.
struct Fact {
  std::string name;
  Entity entity;
  Value value;
  Source source = Source::kOs;
  std::string where;       // place in the source: "line 12", a path; empty for live sources
  double time_s = 0;       // since the session began
  std::string quote = {};  // the line of a text that it was read from; empty for live sources
};

// One reading of a metric (see model/metric.h for names and units).
struct Sample {
  std::string metric;
  Entity entity;
  double time_s = 0;
  double value = 0;
};

enum class SpanKind : uint8_t {
  kKernel,
  kCopy,
  kMemset,
  kSyncCall,
  kCopyCall,
  kInputWait,
  kTrainCall,
  kCheckpoint,
  kCompile,
  kCollection,
  kWindow
};

// A named interval. Meaning of detail: kernel: blocks, threads a block; copy: wire copy_kind, source memory kind,
// target memory kind; memset: memory kind; input wait: items, evaluation; window: mode, dropped records; train call:
// steps; compilation: stage (0 the backend's compiler, 1 tracing, 2 lowering, 3 all of them).
struct Span {
  SpanKind kind = SpanKind::kKernel;
  int64_t pid = 0;
  int64_t start_ns = 0;  // since the session began
  int64_t duration_ns = 0;
  int32_t device = -1;  // CUDA ordinal in the process
  uint32_t lane = 0;    // stream of GPU work, thread of host work
  uint32_t name = 0;    // index into Evidence::Name, 0 = no name
  uint64_t bytes = 0;
  uint32_t detail[3] = {0, 0, 0};
  int64_t end_ns() const { return start_ns + duration_ns; }
};

// An optimizer step with the running totals of its process: differences of two marks are exact over any stretch.
struct StepMark {
  int64_t pid = 0;
  int64_t time_ns = 0;
  uint64_t index = 0;
  uint64_t wait_ns = 0;
  uint64_t save_ns = 0;
  uint64_t items = 0;
  uint64_t hook_ns = 0;  // summed over the steps since the mark before
};

// What a thread of the host did at one instant inside a window.
struct HostSample {
  int64_t pid = 0;
  int64_t time_ns = 0;
  uint32_t category = 0;  // wire host_category
  uint32_t name = 0;
};

// What could not be seen, why, and what would let us see it.
struct Gap {
  std::string what;
  std::string why;
  std::string fix;
  std::map<std::string, std::string> params = {};  // for texts that are keys of locale/
  bool operator==(const Gap&) const = default;
};

// Sources push, and know nothing of who listens: the evidence store, the session file, or both.
class EvidenceSink {
 public:
  virtual ~EvidenceSink() = default;
  virtual void Add(const Fact& fact) = 0;
  virtual void Add(const Sample& sample) = 0;
  virtual void Add(const Span& span) = 0;
  virtual void Add(const StepMark& mark) = 0;
  virtual void Add(const HostSample& sample) = 0;
  virtual void Add(const Gap& gap) = 0;
  // Number of a name for Span::name and HostSample::name; the same text always gets the same number.
  virtual uint32_t Intern(std::string_view name) = 0;

  void AddFact(std::string name, Entity entity, Value value, Source source, std::string where = "", double time_s = 0) {
    Add(Fact{std::move(name), std::move(entity), std::move(value), source, std::move(where), time_s});
  }
};

struct Point {
  double time_s = 0;
  double value = 0;
};
using Series = std::vector<Point>;

// All that is known of one subject. Rules read it and never change it.
class Evidence : public EvidenceSink {
 public:
  void Add(const Fact& fact) override;
  void Add(const Sample& sample) override;
  void Add(const Span& span) override { spans_.push_back(span); }
  void Add(const StepMark& mark) override { steps_.push_back(mark); }
  void Add(const HostSample& sample) override { host_samples_.push_back(sample); }
  void Add(const Gap& gap) override;
  uint32_t Intern(std::string_view name) override;

  // Newest fact of that name, of any entity or of one; nullptr when nobody said anything. A fact may be known to be
  // unknown.
  const Fact* Find(std::string_view name) const;
  const Fact* Find(std::string_view name, const Entity& entity) const;
  std::vector<const Fact*> All(std::string_view name) const;  // newest of each entity, in order of first arrival
  std::vector<const Fact*> WithPrefix(std::string_view prefix) const;  // newest of each (name, entity), sorted by name
  std::optional<bool> Bool(std::string_view name) const;
  std::optional<int64_t> Int(std::string_view name) const;
  std::optional<double> Double(std::string_view name) const;
  std::optional<std::string> Text(std::string_view name) const;

  const Series& Samples(std::string_view metric, const Entity& entity) const;  // empty when there are none
  std::vector<Entity> EntitiesWith(std::string_view metric) const;
  std::vector<Entity> Entities(EntityKind kind) const;  // those that any fact or sample is about

  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<StepMark>& steps() const { return steps_; }
  const std::vector<HostSample>& host_samples() const { return host_samples_; }
  const std::vector<Gap>& gaps() const { return gaps_; }
  const std::string& Name(uint32_t index) const { return names_.at(index); }

 private:
  using FactKey = std::pair<std::string, Entity>;
  std::deque<Fact> facts_;
  std::map<FactKey, size_t> newest_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;  // positions of the first fact of each entity
  std::map<std::string, std::map<Entity, Series>, std::less<>> samples_;
  std::vector<Span> spans_;
  std::vector<StepMark> steps_;
  std::vector<HostSample> host_samples_;
  std::vector<Gap> gaps_;
  std::vector<std::string> names_{""};
  std::map<std::string, uint32_t, std::less<>> name_index_{{"", 0}};
};

}  // namespace gpuwhy

#endif  // GPUWHY_MODEL_EVIDENCE_H_
