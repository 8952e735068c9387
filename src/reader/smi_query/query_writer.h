// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_SMI_QUERY_QUERY_WRITER_H_
#define GPUWHY_READER_SMI_QUERY_QUERY_WRITER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/gpu_readings.h"
#include "reader/reader.h"

namespace gpuwhy::smi_query {

// A process of the list at the end of a GPU's block; the words as they stand, "" where the block has none.
struct Process {
  long long pid = 0;
  std::string type, name, memory, gpu_instance, compute_instance;
};

// Pushes what a full query of nvidia-smi says. GPUs are numbered in the order of their blocks; a block whose bus id was
// there before is the next reading of that GPU.
class QueryWriter {
 public:
  QueryWriter(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink), readings_(text, sink) {}

  void Driver(std::string_view label, std::string_view version, size_t line);  // "Driver Version" or "CUDA Version"
  void BeginGpu(std::string_view bus_id, size_t line);
  bool in_gpu() const { return gpu_ >= 0; }

  // A row of the text (section and label) or of the XML (element and the element around it); false when we do not read
  // it. Labels are compared without case: drivers spell "Gpu" and "GPU".
  bool TextField(std::string_view section, std::string_view label, std::string_view value, size_t line);
  bool XmlField(std::string_view parent, std::string_view tag, std::string_view value, size_t line);
  // A reason for lower clocks by its name: "sw_power_cap".
  void Reason(std::string_view name, std::string_view value, size_t line);
  // Uncorrectable errors since the last reset: newer drivers list them by kind.
  void EccErrors(std::string_view value, size_t line);

  void MigInstance(std::string_view gpu_instance, std::string_view compute_instance, size_t line);
  void MigInstancesEnd();  // of the GPU; without an instance and with the mode switched on the list is empty
  void AddProcess(const Process& process, size_t line);
  void NoProcesses(size_t line);
  void End();

 private:
  struct Field;
  static const Field kFields[];
  void Put(const Field& field, std::string_view value, size_t line);
  void PutNumber(const Field& field, std::string_view value, size_t line);

  PastedText& text_;
  EvidenceSink& sink_;
  GpuReadings readings_;
  std::vector<std::string> gpus_;
  long long gpu_ = -1;
  std::optional<long long> ecc_errors_;
  std::optional<size_t> mig_line_;  // where the mode of this GPU is switched on
  StringList instances_;
  std::optional<size_t> listed_, empty_;
};

}  // namespace gpuwhy::smi_query

#endif  // GPUWHY_READER_SMI_QUERY_QUERY_WRITER_H_
