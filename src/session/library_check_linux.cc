// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/library_check.h"
#include "witness/os/libraries_linux.h"

namespace gpuwhy {

void LibraryCheck::Look(EvidenceSink& sink, const Evidence& evidence, double time_s) {
  for (const Fact* path : evidence.All("framework.python.path")) {
    const int64_t pid = path->entity.pid();
    const Fact* cuda = evidence.Find("framework.tensorflow.cuda_version", path->entity);
    // PyTorch wheels pin their libraries themselves and fail at import without them: only TensorFlow goes on without.
    if (cuda == nullptr || !cuda->value.AsText() || done_.count(pid) != 0) continue;
    const Fact* cudnn = evidence.Find("framework.tensorflow.cudnn_version", path->entity);
    const Fact* library_path = evidence.Find("process.env.LD_LIBRARY_PATH", path->entity);
    const std::vector<std::string> needed =
        os::NeededCudaLibraries(*cuda->value.AsText(), cudnn != nullptr ? cudnn->value.AsText().value_or("") : "");
    done_.insert(pid);
    if (needed.empty()) continue;
    const std::string search = library_path != nullptr ? library_path->value.AsText().value_or("") : "";
    os::AddCudaLibraryFacts(
        pid, os::FindCudaLibraries(root_, needed, path->value.AsList().value_or(StringList{}), search), time_s, sink);
  }
}

}  // namespace gpuwhy
