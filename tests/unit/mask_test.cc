// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/mask.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "session/share.h"

namespace gpuwhy {
namespace {

const std::string kUuid = "7f3c1a2b-90de-4a11-8c55-0123456789ab";

Identity Anna() { return {{"annalena"}, {"box7.example.org", "box7"}, {"/home/annalena"}, {"/data/my project/env"}}; }

std::string Mask(std::string_view text) { return Masker(Anna()).Mask(text); }

TEST(Mask, PeopleMachinesAndPlaces) {
  EXPECT_EQ(Mask("user annalena on box7"), "user [user] on [host]");
  EXPECT_EQ(Mask("AnnaLena@box7.example.org"), "[user]@[host]");
  EXPECT_EQ(Mask("box77 is another"), "box77 is another");
  EXPECT_EQ(Mask("cannot open /home/annalena/x: no such file"), "cannot open [path-1]: no such file");
  EXPECT_EQ(Mask("/data/my project/env/bin/python3.11"), "[path-1]/bin/python3.11");
  EXPECT_EQ(Mask("GPU-" + kUuid), "GPU-[uuid-1]");
  EXPECT_EQ(Mask("Serial Number : 1652123456789"), "Serial Number : [serial]");
}

TEST(Mask, WhatEveryMachineHasStays) {
  for (const char* text : {"/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/dev/nvidia0", "0000:04:00.0 10de:2335",
                           "580.159.04", "and/or", "https://pytorch.org/get-started", "serial port", "NVIDIA H200"}) {
    EXPECT_EQ(Mask(text), text);
  }
}

TEST(Mask, EqualThingsKeepEqualNames) {
  Masker masker(Anna());
  const Entity gpu = masker.Mask(Entity::Gpu("GPU-" + kUuid));
  EXPECT_EQ(masker.Mask(Entity::ProcessOnGpu(42, "GPU-" + kUuid)).gpu(), gpu.id);
  EXPECT_NE(masker.Mask(Entity::Interpreter("/scratch/a/bin/python")).id,
            masker.Mask(Entity::Interpreter("/scratch/b/bin/python")).id);
}

// Whatever surrounds them, no name, place or number of ours is left.
TEST(Mask, NothingPrivateIsLeftInAnyText) {
  const std::vector<std::string> pieces = {
      "annalena", "box7",         "box7.example.org",  "/home/annalena/a b", "/data/my project/env/lib",
      kUuid,      "GPU-" + kUuid, "serial: 0123456789"};
  const std::vector<std::string> glue = {" ", ":", "/", "=", "\"", "@", "[", "\n", ", ", "(", ")", "-", "\xC3\xA9"};
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 6; ++i) text += pieces[random() % pieces.size()] + glue[random() % glue.size()];
    const std::string masked = Lower(Mask(text));
    for (const char* word : {"annalena", "box7", "example.org", "/home", "my project", "7f3c1a2b", "0123456789"}) {
      ASSERT_FALSE(Contains(masked, word)) << word << " in " << masked << " from " << text;
    }
  }
}

TEST(Share, AMaskedSessionIsFoundAgainInAPost) {
  Evidence evidence;
  evidence.AddFact("driver.version", Entity::Host(), Value::Of(std::string("580 <&> \"x\"")), Source::kDriver);
  evidence.AddFact("job.command", Entity::Host(), Value::Of(std::string("secret")), Source::kOs);
  Masker masker(Anna());
  const Result<std::string> session = SessionText(Masked(evidence, masker));
  ASSERT_TRUE(session);
  EXPECT_FALSE(Contains(*session, "secret"));
  EXPECT_EQ(FindQuotedSession("Hello\n\n```json\n" + *session + "```\nBye\n"), *session);
  EXPECT_FALSE(FindQuotedSession("Hello\n{\"k\":\"fact\"}\n").has_value());
}

}  // namespace
}  // namespace gpuwhy
