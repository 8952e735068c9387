// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/nvidia_smi/columns.h"
#include "reader/nvidia_smi/processes.h"
#include "reader/nvidia_smi/table.h"

namespace gpuwhy::nvidia_smi {
namespace {

constexpr size_t kLinesBetween = 5;   // warnings of other programs between two rows of one answer
constexpr double kOneRound_s = 0.04;  // GPUs of one host are printed within milliseconds, rounds 100 ms
                                      // apart at least
constexpr size_t kMostKnown = 1024;

// One line of an answer.
struct Row {
  size_t line = 0;
  std::map<std::string_view, std::string_view> fields;  // by the name of the column
  std::string_view At(std::string_view query) const {
    const auto place = fields.find(query);
    return place == fields.end() ? std::string_view() : place->second;
  }
  std::string_view Either(std::string_view one, std::string_view other) const {
    return At(one).empty() ? At(other) : At(one);
  }
};

// Seconds of the day of "2026/11/30 21:43:31.748".
std::optional<double> TimeOf(std::string_view stamp) {
  const size_t blank = stamp.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> parts = Split(stamp.substr(blank + 1), ':');
  if (parts.size() != 3) return std::nullopt;
  const std::optional<double> hours = ParseDouble(parts[0]), minutes = ParseDouble(parts[1]),
                              seconds = ParseDouble(parts[2]);
  if (!hours || !minutes || !seconds) return std::nullopt;
  return *hours * 3600 + *minutes * 60 + *seconds;
}

// Which GPU a row speaks of. Without an index: what names it; without a name of its own: its place in its round.
class Identities {
 public:
  explicit Identities(GpuNames& names) : names_(names) {}

  void Begin() {  // another answer
    place_ = -1;
    time_.reset();
  }
  void Repeats() { repeats_ = true; }

  // Nothing where the text does not tell: a list of processes holds GPUs in no order.
  std::optional<long long> Known(const Row& row) const {
    const std::string_view uuid = row.Either("uuid", "gpu_uuid"), bus = row.Either("pci.bus_id", "gpu_bus_id");
    std::optional<long long> index = ParseInt(row.At("index"));
    if (!index && !uuid.empty()) index = names_.Find(uuid);
    if (!index && !bus.empty()) index = names_.Find(bus);
    return index;
  }

  long long Of(const Row& row) {
    const std::string_view uuid = row.Either("uuid", "gpu_uuid"), bus = row.Either("pci.bus_id", "gpu_bus_id");
    std::optional<long long> index = Known(row);
    if (!index && (!uuid.empty() || !bus.empty())) index = static_cast<long long>(std::min(count_++, kMostKnown));
    if (!index) return Place(row);
    names_.Learn(uuid, *index);
    names_.Learn(bus, *index);
    count_ = std::max(count_, static_cast<size_t>(std::max(0LL, *index)) + 1);
    return *index;
  }

 private:
  long long Place(const Row& row) {
    const std::optional<double> time = TimeOf(row.At("timestamp"));
    const bool same_round = time && time_ && *time >= *time_ && *time - *time_ < kOneRound_s;
    // Without a time a list of names is a list of GPUs, unless the command repeats itself.
    const bool list = !time && !row.Either("name", "gpu_name").empty() && !repeats_;
    place_ = same_round || list ? std::min(place_ + 1, static_cast<long long>(kMostKnown)) : 0;
    time_ = time;
    return place_;
  }

  GpuNames& names_;
  bool repeats_ = false;
  size_t count_ = 0;
  long long place_ = -1;
  std::optional<double> time_;
};

// What held the clocks in the rows of one GPU. A limit counts when it is there in half of the rows in which the GPU had
// work: a glimpse is none, and the last row of a log is often after the work.
class Throttling {
 public:
  void Add(long long gpu, const Row& row) {
    std::map<std::string, bool> reasons;
    for (const auto& [query, field] : row.fields) {
      const std::string reason = ThrottleReason(query);
      if (reason == "active") {
        for (const auto& [name, on] : ThrottleReasons(field)) reasons.emplace(name, on);
      } else if (!reason.empty() && (field == "Active" || field == "Not Active")) {
        reasons[reason] = field == "Active";
      }
    }
    const bool idle = reasons.count("gpu_idle") > 0 && reasons["gpu_idle"];
    for (const auto& [name, on] : reasons) Count(counts_[{gpu, name}], name != "gpu_idle" && idle, on, row.line);
  }

  void Write(GpuReadings& readings) const {
    for (const auto& [key, count] : counts_) {
      const std::string fact = "gpu.throttle_reason." + key.second;
      const bool newest = key.second == "gpu_idle" || count.rows == 0;
      const bool on = newest ? count.last : count.on * 2 >= count.rows && count.on > 0;
      readings.Put(key.first, fact.c_str(), Value::Of(on), on && !newest ? count.on_line : count.line);
    }
  }

 private:
  struct Counts {
    size_t rows = 0, on = 0, line = 0, on_line = 0;
    bool last = false;
  };
  static void Count(Counts& count, bool idle, bool on, size_t line) {
    count.line = line;
    count.last = on;
    if (idle) return;
    ++count.rows;
    if (!on) return;
    ++count.on;
    count.on_line = line;
  }
  std::map<std::pair<long long, std::string>, Counts> counts_;
};

class Queries {
 public:
  Queries(PastedText& text, EvidenceSink& sink, GpuReadings& readings, GpuNames& names)
      : text_(text), sink_(sink), readings_(readings), identities_(names) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      if (!Begins(i) && !headings_.empty()) Body(i);
    }
    throttling_.Write(readings_);
    for (const Row& row : processes_) Process(row);  // a later answer may have told which GPU a UUID is
  }

 private:
  // A header row, or a command line whose answer has none.
  bool Begins(size_t i) {
    const std::string_view line = text_[i];
    if (line.find_first_of("._") == std::string_view::npos) return false;
    const bool command = Contains(line, "--query-");
    if (!command && line.find(',') == std::string_view::npos && line.find(" [") == std::string_view::npos) return false;
    if (command) headings_.clear();  // the next command of the session, with as many commas as a row perhaps
    if (command && RepeatsQuery(line)) identities_.Repeats();
    std::vector<Heading> headings = command ? ParseCsvCommand(line) : ParseCsvHeader(line);
    if (headings.empty()) return false;
    headings_ = std::move(headings);
    others_ = 0;
    identities_.Begin();
    text_.Claim(i);
    return true;
  }

  void Body(size_t i) {
    if (Trim(text_[i]).empty()) {
      if (headings_.size() == 1) headings_.clear();  // a lone number elsewhere is no answer
      return;
    }
    std::vector<std::string_view> fields = CsvFields(text_[i]);
    Rejoin(fields);
    if (fields.size() == headings_.size() && Fits(fields) && !CutOff(fields)) return Take(fields, i);
    if (fields.size() * 2 > headings_.size() && fields.size() <= headings_.size() && Fits(fields)) {
      AddRowGap(sink_, "nvidia-smi --query",
                text_.lines()[i]);  // the end of the row is cut off
      text_.Claim(i);
      return;
    }
    if (headings_.size() < 3 || ++others_ > kLinesBetween) headings_.clear();
  }

  // Only the name of a process may have commas in it.
  void Rejoin(std::vector<std::string_view>& fields) const {
    if (fields.size() <= headings_.size()) return;
    for (size_t k = 0; k < headings_.size(); ++k) {
      if (headings_[k].query != "process_name") continue;
      const size_t more = fields.size() - headings_.size();
      const std::string_view last = fields[k + more];
      fields[k] = {fields[k].data(), static_cast<size_t>(last.data() + last.size() - fields[k].data())};
      const auto first = fields.begin() + static_cast<std::ptrdiff_t>(k) + 1;
      fields.erase(first, first + static_cast<std::ptrdiff_t>(more));
      return;
    }
  }

  bool Fits(const std::vector<std::string_view>& fields) const {
    size_t right = 0, wrong = 0;
    for (size_t k = 0; k < fields.size(); ++k) {
      const std::optional<bool> fits = FieldFits(headings_[k].query, fields[k]);
      if (fits) ++(*fits ? right : wrong);
    }
    return right > wrong;
  }

  // The last number lacks its unit although others of the row have theirs: "9" may be left of "99 %".
  bool CutOff(const std::vector<std::string_view>& fields) const {
    const size_t last = fields.size() - 1;
    if (!headings_[last].unit || NoValue(fields[last]) || HasUnit(headings_[last].query, fields[last])) return false;
    for (size_t k = 0; k < last; ++k) {
      if (HasUnit(headings_[k].query, fields[k])) return true;
    }
    return false;
  }

  void Take(const std::vector<std::string_view>& fields, size_t i) {
    others_ = 0;
    text_.Claim(i);
    Row row{i, {}};
    // A second column of the same name adds nothing; names point into the list of names, which outlives the rows.
    for (size_t k = 0; k < fields.size(); ++k) row.fields.emplace(*names_.insert(headings_[k].query).first, fields[k]);
    for (const char* name : {"gpu_uuid", "gpu_bus_id", "uuid", "pci.bus_id", "index"}) {
      const std::string_view field = row.At(name);  // half a name is the name of another GPU
      if (!field.empty() && FieldFits(name, field) == false) return AddRowGap(sink_, "nvidia-smi --query", Line(row));
    }
    if (ParseInt(row.At("pid")))
      processes_.push_back(std::move(row));
    else if (row.At("pid").empty())
      Gpu(row);
  }

  void Gpu(const Row& row) {
    const long long gpu = identities_.Of(row);
    if (gpu < 0 || gpu > static_cast<long long>(kMostKnown)) return AddRowGap(sink_, "nvidia-smi --query", Line(row));
    readings_.Next(gpu);
    readings_.Put(gpu, "gpu.index", Value::Of(static_cast<int64_t>(gpu)), row.line);
    const std::string_view driver = row.At("driver_version");
    if (FieldFits("driver_version", driver) == true && !NoValue(driver))
      AddQuoted(sink_, "driver.version", Entity::Host(), Value::Of(std::string(driver)), Source::kDriver, Line(row));
    if (const std::string_view model = row.At("driver_model.current");
        model == "WDDM" || model == "TCC" || model == "MCDM")
      AddQuoted(sink_, "host.os.name", Entity::Host(), Value::Of(std::string("windows")), Source::kOs, Line(row));
    bool whole = true;
    for (const auto& [query, field] : row.fields) whole &= WriteField(readings_, gpu, query, field, row.line);
    if (!whole) AddRowGap(sink_, "nvidia-smi --query", Line(row));
    throttling_.Add(gpu, row);
  }

  void Process(const Row& row) {
    const std::string_view name = row.At("process_name"), memory = row.Either("used_gpu_memory", "used_memory");
    ProcessRow process{std::nullopt, *ParseInt(row.At("pid")), "C", std::string(name), "", memory};
    process.gpu = identities_.Known(row);
    if (!process.gpu) process.gpu = readings_.Only();
    std::optional<double> bytes = MemoryBytes(memory);
    if (const std::optional<double> number = bytes ? std::nullopt : ParseDouble(memory))
      bytes = *number * kBytesPerMebibyte;
    WriteProcess(process, bytes, row.line, text_, sink_, readings_);
  }

  const TextLine& Line(const Row& row) const { return text_.lines()[row.line]; }

  PastedText& text_;
  EvidenceSink& sink_;
  GpuReadings& readings_;
  Identities identities_;
  Throttling throttling_;
  std::vector<Heading> headings_;
  size_t others_ = 0;  // lines since the last row
  std::set<std::string> names_;
  std::vector<Row> processes_;
};

}  // namespace

void ReadQueries(PastedText& text, EvidenceSink& sink, GpuReadings& readings, GpuNames& names) {
  Queries(text, sink, readings, names).Read();
}

}  // namespace gpuwhy::nvidia_smi
