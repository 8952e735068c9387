// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_AGENT_JSON_H_
#define GPUWHY_WITNESS_AGENT_JSON_H_

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "model/evidence.h"

namespace gpuwhy {

// What code inside the job says in JSON. Facts: {"facts": {name: value}, "states": {name: why there is none}}; gaps:
// {"what": .., "why": .., "fix": ..}. The text comes from the job's process and is believed in nothing but its content:
// bad texts and names are counted, numbers of facts and lengths are bounded.
class AgentJson {
 public:
  static constexpr size_t kMaxFacts = 4000;
  static constexpr size_t kMaxName = 200;
  static constexpr size_t kMaxGaps = 100;

  // Facts are named `domain`.NAME ("framework", "cuda") and are about `pid`.
  AgentJson(std::string domain, Source source, int64_t pid) : domain_(std::move(domain)), source_(source), pid_(pid) {}

  // Pushes what is new or changed since the last text, for agents send all they know each time.
  void AddFacts(std::string_view text, double time_s, EvidenceSink& sink) {
    const Result<Json> json = Json::Parse(text);
    if (!json || !json->is_object()) return CountBad(sink);
    for (const auto& [name, value] : (*json)["facts"].AsObject()) Push(name, ToValue(value), time_s, sink);
    for (const auto& [name, why] : (*json)["states"].AsObject()) Push(name, ToMissing(why), time_s, sink);
  }

  void AddGap(std::string_view text, EvidenceSink& sink) {
    const Result<Json> json = Json::Parse(text);
    if (!json || !(*json)["what"].is_string()) return CountBad(sink);
    if (++gaps_ > kMaxGaps) return;
    sink.Add(Gap{(*json)["what"].AsString(), (*json)["why"].AsString(), (*json)["fix"].AsString()});
  }

  // A fact of the witness itself about the same process.
  void Say(std::string_view name, Value value, double time_s, EvidenceSink& sink) {
    Push(std::string(name), std::move(value), time_s, sink);
  }

  // The newest known text of a fact of this process; empty when there is none.
  std::string Known(const std::string& name) const {
    const auto place = shown_.find(FullName(name));
    return place == shown_.end() || place->second.first != State::kValue ? "" : place->second.second;
  }
  uint64_t bad_texts() const { return bad_; }

  static Value ToValue(const Json& json) {
    if (json.is_bool()) return Value::Of(json.AsBool());
    if (json.is_int()) return Value::Of(json.AsInt());
    if (json.is_double() && std::isfinite(json.AsDouble())) return Value::Of(json.AsDouble());
    if (json.is_string()) return Value::Of(json.AsString());
    if (json.is_object()) return Value::Of(json.Dump());
    if (!json.is_array()) return Value::Missing(State::kUnknown, "the job gave no value");
    StringList list;
    for (const Json& item : json.AsArray()) list.push_back(item.is_string() ? item.AsString() : item.Dump());
    return Value::Of(std::move(list));
  }

 private:
  // "why", or "state: why" where the agent knows the kind of absence.
  static Value ToMissing(const Json& json) {
    const std::string& why = json.AsString();
    const size_t colon = why.find(": ");
    const std::optional<State> state = colon == std::string::npos ? std::nullopt : ParseState(why.substr(0, colon));
    if (state && *state != State::kValue) return Value::Missing(*state, why.substr(colon + 2));
    return Value::Missing(State::kUnknown, why.empty() ? "the job gave no reason" : why);
  }

  std::string FullName(const std::string& name) const {
    return name.compare(0, domain_.size() + 1, domain_ + ".") == 0 ? name : domain_ + "." + name;
  }

  void Push(const std::string& name, Value value, double time_s, EvidenceSink& sink) {
    if (name.empty() || name.size() > kMaxName) return CountBad(sink);
    const std::string full = FullName(name);
    std::pair<State, std::string> shown{value.state, value.known() ? value.Show() : value.why};
    const auto place = shown_.find(full);
    if (place == shown_.end() && shown_.size() >= kMaxFacts) return CountBad(sink);
    if (place != shown_.end() && place->second == shown) return;
    shown_[full] = std::move(shown);
    sink.AddFact(full, Entity::Process(pid_), std::move(value), source_, "", time_s);
  }

  void CountBad(EvidenceSink& sink) {
    if (++bad_ > 1) return;
    sink.Add(Gap{Format("{} facts of process {}", domain_, pid_),
                 "a text from the process could not be read and was left out", ""});
  }

  std::string domain_;
  Source source_;
  int64_t pid_;
  std::map<std::string, std::pair<State, std::string>> shown_;
  uint64_t bad_ = 0;
  size_t gaps_ = 0;
};

}  // namespace gpuwhy

#endif  // GPUWHY_WITNESS_AGENT_JSON_H_
