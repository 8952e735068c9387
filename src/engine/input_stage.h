// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_INPUT_STAGE_H_
#define GPUWHY_ENGINE_INPUT_STAGE_H_

#include "engine/rule.h"

namespace gpuwhy {

// Processes that the main process started and that work beside it in the steady state: loader workers, as far as the
// operating system shows them.
struct LoaderProcesses {
  size_t count = 0;
  double cores = 0;  // CPU time of all of them a second
};

// Nothing when the operating system's figures do not reach over five seconds of the steady state.
std::optional<LoaderProcesses> FindLoaderProcesses(const RuleContext& context);

// Names what the wait for input was made of, where that was seen: sets the parameter `stage` ("@input.stage.*" with its
// own parameters) and adds the evidence. Seen are the loader's own code under the looks of the agent, the CPU use of
// its workers against the cores allowed, and the iterator on which tf.data spent most time.
void DescribeInputStage(const RuleContext& context, Finding& finding);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_INPUT_STAGE_H_
