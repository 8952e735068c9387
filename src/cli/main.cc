// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/deliver.h"

int main(int argc, char** argv) {
  gpuwhy::cli::GuardStandardStreams();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const gpuwhy::Result<gpuwhy::cli::Invocation> invocation =
      gpuwhy::cli::ParseArguments(words, gpuwhy::cli::RealCommandLine());
  if (!invocation) return gpuwhy::cli::Fail(invocation.error());
  if (invocation->text.empty()) return invocation->subcommand->run(invocation->arguments);
  const gpuwhy::Result<void> done = gpuwhy::cli::WriteResult(invocation->text, gpuwhy::cli::Arguments{});
  return done ? 0 : gpuwhy::cli::Fail(done.error());
}
