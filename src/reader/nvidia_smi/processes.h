// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_PROCESSES_H_
#define GPUWHY_READER_NVIDIA_SMI_PROCESSES_H_

#include <optional>
#include <string>
#include <string_view>

#include "reader/gpu_readings.h"

namespace gpuwhy::nvidia_smi {

// A process on a GPU, of a row of the process box or of --query-compute-apps.
struct ProcessRow {
  std::optional<long long> gpu;  // nothing: a list without a column that names it
  long long pid = 0;
  std::string type, name, instance;  // instance: "3/0" (GI/CI) under MIG
  std::string_view memory;           // with its unit, or the word in its place; "" when it is cut off
};

// "0 N/A N/A 1480 G /usr/lib/xorg/Xorg 301MiB", before driver 450 without GI and CI, before 340 without the type: such
// lists hold compute processes only.
std::optional<ProcessRow> ParseProcess(std::string_view cell, bool typed);
void WriteProcess(const ProcessRow& row, std::optional<double> bytes, size_t line, const PastedText& text,
                  EvidenceSink& sink, GpuReadings& readings);

// The box of processes. Only one that was seen to its end may be called empty: a text that was cut there says nothing.
class ProcessBox {
 public:
  ProcessBox(PastedText& text, EvidenceSink& sink, GpuReadings& readings)
      : text_(text), sink_(sink), readings_(readings) {}

  void Begin(size_t line, bool typed);  // its heading; before driver 340 there
                                        // was no column for the type
  void Border();                        // the rule under the header opens the box, the next one closes it
  bool active() const { return active_; }
  // A cell of the box, or a row of one whose head is cut off. Answers whether it was understood.
  bool Row(std::string_view cell, size_t line);
  void End();

 private:
  void Say(const char* state, size_t line);

  PastedText& text_;
  EvidenceSink& sink_;
  GpuReadings& readings_;
  size_t line_ = 0;
  int rows_ = 0;
  bool active_ = false, typed_ = true, open_ = false, closed_ = false;
};

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_PROCESSES_H_
