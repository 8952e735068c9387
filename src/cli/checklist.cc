// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// The checklist of doctor: one row a check, in the order in which one thing needs the other.
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "cli/machine_text.h"
#include "cli/subject_view.h"
#include "report/layout.h"
#include "report/text.h"

namespace gpuwhy::cli {
namespace {

using report::Language;
using report::Paint;
using report::Writer;

enum class Mark { kGood, kNote, kBad, kUnknown };

using Params = std::map<std::string, std::string>;

class Checklist {
 public:
  Checklist(const Report& report, Writer& writer) : facts_(report), writer_(writer) {}

  void Write() {
    writer_.Heading(writer_.Text("doctor.section.driver"));
    Gpu();
    Module();
    Nodes();
    DriverLibrary();
    Nvml();
    NvidiaSmi();
    Hidden();
    writer_.Heading(writer_.Text("doctor.section.toolkit"));
    Toolkit();
    CudaHome();
    const std::vector<Entity> pythons = facts_.With("python.version", EntityKind::kInterpreter);
    if (pythons.empty()) {
      writer_.Heading(writer_.Text("doctor.section.python"));
      Row(Mark::kNote, "python", "doctor.python.none");
    }
    for (const Entity& python : pythons) Interpreter(python);
  }

 private:
  void Row(Mark mark, const std::string& label, const std::string& key, const Params& params = {}) {
    constexpr std::array<const char*, 4> kNames = {"good", "note", "bad", "unknown"};
    constexpr std::array<Paint, 4> kPaints = {Paint::kGreen, Paint::kYellow, Paint::kRed, Paint::kYellow};
    const auto index = static_cast<size_t>(mark);
    const std::string word = "[" + writer_.Text(std::string("doctor.mark.") + kNames[index]) + "]";
    const std::string name =
        report::HasLocaleText("doctor.label." + label) ? writer_.Text("doctor.label." + label) : label;
    writer_.Item(Format("  {} {} ", report::Pad(word, 7), report::Pad(name, 16)), writer_.Text(key, params),
                 kPaints[index]);
  }

  // A row for a fact without a value: what is missing and why.
  void Missing(const std::string& label, const Fact* fact) {
    const std::string why = fact != nullptr
                                ? report::MissingText(fact->value.state, fact->value.why, writer_.options().language)
                                : writer_.Text("state.unknown");
    Row(Mark::kUnknown, label, "doctor.unknown", {{"why", why}});
  }

  void Tried(const StringList& paths) {
    writer_.Paragraph(27, writer_.Text("doctor.tried"), Paint::kDim);
    for (const std::string& path : paths) writer_.Item(std::string(29, ' ') + "- ", path);
  }

  bool Wsl() const { return facts_.Bool("host.dxg") == true; }

  void Gpu() {
    std::vector<std::string> names;
    for (const Entity& gpu : facts_.With("gpu.name", EntityKind::kGpu)) {
      std::string name = facts_.Text("gpu.name", gpu);
      if (const std::optional<double> bytes = facts_.Number("gpu.memory.total.bytes", gpu))
        name += ", " + report::ShowQuantity(*bytes, "bytes");
      const std::string capability = facts_.Text("gpu.compute_capability", gpu);
      if (!capability.empty()) name += ", " + writer_.Text("doctor.capability", {{"version", capability}});
      names.push_back(name);
    }
    if (!names.empty()) return Row(Mark::kGood, "gpu", "doctor.gpu.found", {{"names", Join(names, "; ")}});
    if (Wsl()) return Row(Mark::kGood, "gpu", "doctor.gpu.wsl");
    const std::optional<double> count = facts_.Number("host.gpu.pci.count");
    if (!count) return Missing("gpu", facts_.Find("host.gpu.pci.count"));
    if (*count > 0)
      return Row(Mark::kGood, "gpu", "doctor.gpu.pci",
                 {{"names", Join(facts_.List("host.gpu.pci.devices").value_or(StringList{}), "; ")}});
    const StringList others = facts_.List("host.gpu.other").value_or(StringList{});
    Row(Mark::kBad, "gpu", others.empty() ? "doctor.gpu.none" : "doctor.gpu.other", {{"names", Join(others, "; ")}});
  }

  void Module() {
    if (Wsl()) return Row(Mark::kGood, "module", "doctor.module.wsl");
    const std::optional<bool> loaded = facts_.Bool("host.driver.module");
    if (!loaded) return Missing("module", facts_.Find("host.driver.module"));
    if (*loaded) {
      const Fact* version = facts_.Find("host.driver.version");
      return Row(
          Mark::kGood, "module", "doctor.module.loaded",
          {{"version", version != nullptr ? report::ShowValue(version->value, "", writer_.options().language) : "?"}});
    }
    const std::string other = facts_.Text("host.driver.module_other");
    if (!other.empty()) return Row(Mark::kBad, "module", "doctor.module.other", {{"other", other}});
    const bool on_disk = facts_.Bool("host.driver.module_on_disk") == true;
    Row(Mark::kBad, "module", on_disk ? "doctor.module.not_loaded" : "doctor.module.absent");
  }

  void Nodes() {
    if (Wsl()) return Row(Mark::kGood, "nodes", "doctor.nodes.wsl");
    const std::optional<StringList> nodes = facts_.List("host.device_nodes");
    if (!nodes) return Missing("nodes", facts_.Find("host.device_nodes"));
    const StringList refused = facts_.List("host.device_nodes.unreadable").value_or(StringList{});
    if (!refused.empty()) return Row(Mark::kBad, "nodes", "doctor.nodes.refused", {{"nodes", Join(refused, ", ")}});
    if (nodes->empty()) return Row(Mark::kBad, "nodes", "doctor.nodes.none");
    Row(Mark::kGood, "nodes", "doctor.nodes.found", {{"nodes", Join(*nodes, ", ")}});
  }

  void DriverLibrary() {
    const std::optional<StringList> found = facts_.List("host.driver.libcuda");
    if (!found) return Missing("libcuda", facts_.Find("host.driver.libcuda"));
    if (!found->empty()) return Row(Mark::kGood, "libcuda", "doctor.libcuda.found", {{"paths", Join(*found, ", ")}});
    Row(Mark::kBad, "libcuda", "doctor.libcuda.none");
    Tried(facts_.List("host.driver.libcuda.tried").value_or(StringList{}));
  }

  void Nvml() {
    if (facts_.Find("driver.nvml.skipped") != nullptr) return Row(Mark::kNote, "nvml", "doctor.nvml.skipped");
    const std::optional<bool> works = facts_.Bool("driver.nvml.ok");
    if (!works) return Missing("nvml", facts_.Find("driver.nvml.ok"));
    const std::string path = facts_.Text("driver.nvml.path");
    if (*works) {
      Row(Mark::kGood, "nvml", "doctor.nvml.works",
          {{"path", path}, {"version", Known("driver.version")}, {"cuda", Known("driver.cuda_version")}});
      if (!writer_.options().verbose) return;
    } else {
      Row(Mark::kBad, "nvml", path.empty() ? "doctor.nvml.none" : "doctor.nvml.fails",
          {{"path", path}, {"error", facts_.Text("driver.nvml.error_text")}});
    }
    Tried(facts_.List("driver.nvml.tried").value_or(StringList{}));
  }

  void NvidiaSmi() {
    const std::optional<StringList> found = facts_.List("nvidia_smi.path");
    if (!found) return Missing("smi", facts_.Find("nvidia_smi.path"));
    if (found->empty()) {
      Row(Mark::kNote, "smi", "doctor.smi.none");
    } else {
      const bool on_path = facts_.Bool("nvidia_smi.on_path") == true;
      const std::string folder = found->front().substr(0, found->front().rfind('/'));
      Row(on_path ? Mark::kGood : Mark::kNote, "smi", on_path ? "doctor.smi.found" : "doctor.smi.off_path",
          {{"path", found->front()}, {"folder", folder}});
      if (!writer_.options().verbose) return;
    }
    Tried(facts_.List("nvidia_smi.tried").value_or(StringList{}));
  }

  void Hidden() {
    if (const Fact* visible = facts_.Find("host.env.CUDA_VISIBLE_DEVICES")) {
      const std::string value = visible->value.AsText().value_or("");
      const bool hides = Trim(value).empty() || Trim(value).front() == '-';
      Row(hides ? Mark::kBad : Mark::kNote, "CUDA_VISIBLE_..", hides ? "doctor.hidden.all" : "doctor.hidden.some",
          {{"value", value}});
    }
  }

  void Toolkit() {
    const std::optional<StringList> folders = facts_.List("toolkit.installed");
    if (!folders) return Missing("toolkit", facts_.Find("toolkit.installed"));
    if (folders->empty()) return Row(Mark::kGood, "toolkit", "doctor.toolkit.none");
    const StringList versions = facts_.List("toolkit.versions").value_or(StringList{});
    for (size_t i = 0; i < folders->size(); ++i) {
      const std::string version = i < versions.size() ? versions[i] : "?";
      Row(Mark::kGood, "toolkit", "doctor.toolkit.found", {{"folder", (*folders)[i]}, {"version", version}});
      Compare("doctor.toolkit.", "toolkit", version);
    }
    const std::string nvcc = facts_.Text("toolkit.nvcc.path");
    if (nvcc.empty()) return Row(Mark::kNote, "nvcc", "doctor.nvcc.none");
    const bool on_path = facts_.Bool("toolkit.nvcc.on_path") == true;
    Row(on_path ? Mark::kGood : Mark::kNote, "nvcc", on_path ? "doctor.nvcc.found" : "doctor.nvcc.off_path",
        {{"path", nvcc}, {"folder", nvcc.substr(0, nvcc.rfind('/'))}});
  }

  void CudaHome() {
    const std::string home = facts_.Text("toolkit.cuda_home");
    if (home.empty()) return Row(Mark::kGood, "CUDA_HOME", "doctor.cuda_home.unset");
    const bool exists = facts_.Bool("toolkit.cuda_home.exists") == true;
    Row(exists ? Mark::kGood : Mark::kNote, "CUDA_HOME", exists ? "doctor.cuda_home.set" : "doctor.cuda_home.stale",
        {{"folder", home}});
  }

  // Driver against a CUDA version that something was built for. From CUDA 11 on a driver runs all minor versions of its
  // major one and everything older (CUDA Compatibility guide, minor version compatibility); before, it must be as new.
  void Compare(const std::string& prefix, const std::string& label, const std::string& built_text) {
    const std::optional<Version> driver = ParseVersion(facts_.Text("driver.cuda_version"));
    const std::optional<Version> built = ParseVersion(built_text);
    if (!driver || !built) return;
    const Params params = {{"built", built_text}, {"offered", facts_.Text("driver.cuda_version")}};
    const bool minor_rule = built->major() >= 11;
    if (gpuwhy::Compare(Version{{driver->major(), driver->minor()}}, Version{{built->major(), built->minor()}}) >= 0) {
      if (writer_.options().verbose) Row(Mark::kGood, label, "doctor.fits", params);
    } else if (minor_rule && driver->major() == built->major()) {
      Row(Mark::kNote, label, "doctor.fits_minor", params);
    } else {
      Row(Mark::kBad, label, prefix + "too_new", params);
    }
  }

  void Interpreter(const Entity& python) {
    writer_.Heading(writer_.Text("doctor.python.heading", {{"path", python.id}}));
    const Fact* version = facts_.Find("python.version", python);
    if (!version->value.known()) return Missing("python", version);
    Row(Mark::kGood, "python", "doctor.python.version", {{"version", version->value.Show()}});
    const Fact* packages = facts_.Find("python.packages", python);
    if (packages != nullptr && !packages->value.known()) return Missing("packages", packages);
    bool any = Framework(python, "torch", "PyTorch");
    any = Framework(python, "tensorflow", "TensorFlow") || any;
    any = Framework(python, "jax", "JAX") || any;
    any = Framework(python, "onnxruntime", "ONNX Runtime") || any;
    if (!any) Row(Mark::kNote, "frameworks", "doctor.frameworks.none");
  }

  bool Framework(const Entity& python, const std::string& name, const std::string& title) {
    const std::string version = facts_.Text("python." + name + ".version", python);
    if (version.empty()) return false;
    const std::optional<bool> built = facts_.Bool("python." + name + ".cuda_built", python);
    const std::string cuda = facts_.Text("python." + name + ".cuda_version", python);
    const std::string hip = facts_.Text("python." + name + ".hip_version", python);
    const Params params = {{"version", version}, {"cuda", cuda}, {"hip", hip}};
    if (!hip.empty()) {
      Row(Mark::kNote, title, "doctor.framework.rocm", params);
    } else if (!built) {
      Row(Mark::kUnknown, title, "doctor.framework.unknown", params);
    } else if (!*built) {
      Row(Mark::kBad, title, "doctor.framework.cpu", params);
    } else {
      Row(Mark::kGood, title, cuda.empty() ? "doctor.framework.cuda_unversioned" : "doctor.framework.cuda", params);
      Compare("doctor.framework.", title, cuda);
    }
    const Fact* missing = facts_.Find("python." + name + ".cuda_libraries.missing", python);
    const StringList names = missing != nullptr ? missing->value.AsList().value_or(StringList{}) : StringList{};
    if (!names.empty()) Row(Mark::kBad, title, "doctor.framework.libraries", {{"libraries", Join(names, ", ")}});
    return true;
  }

  std::string Known(std::string_view name) const {
    const Fact* fact = facts_.Find(name);
    return fact != nullptr ? report::ShowValue(fact->value, "", writer_.options().language)
                           : writer_.Text("state.unknown");
  }

  SubjectView facts_;
  Writer& writer_;
};

}  // namespace

void WriteChecklist(const Report& report, Writer& writer) { Checklist(report, writer).Write(); }

}  // namespace gpuwhy::cli
