// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "reader/messages/catalogue.h"
#include "reader/messages/matcher.h"
#include "reader/reader.h"
#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

using messages::CaptureKind;
using messages::Captures;
using messages::Match;
using messages::Piece;
using testing::ElementsAre;
using testing::Pair;

constexpr Piece kVersions[] = {{"library: ", "runtime", CaptureKind::kVersion},
                               {" but source was compiled with: ", "built", CaptureKind::kVersion}};
constexpr Piece kQuoted[] = {{"library '", "name", CaptureKind::kText}, {"'; dlerror: ", "why", CaptureKind::kText}};
constexpr Piece kLeading[] = {{"", "count", CaptureKind::kVersion}, {" MiB free", "", CaptureKind::kNone}};
constexpr Piece kWords[] = {{"cuInit: ", "error", CaptureKind::kWord}};
constexpr Piece kCount[] = {{"offloaded ", "layers", CaptureKind::kCount}, {"/", "", CaptureKind::kNone}};
constexpr Piece kSizes[] = {{"", "total", CaptureKind::kSize},
                            {" total; ", "allocated", CaptureKind::kSize},
                            {" already; ", "free", CaptureKind::kSize}};

messages::Message Of(std::span<const Piece> pieces, bool anchored = false) {
  return {"id", Source::kOs, anchored, pieces, {}, "", ""};
}

Captures Found(std::span<const Piece> pieces, std::string_view line) {
  const std::vector<Captures> all = Match(Of(pieces), line);
  return all.empty() ? Captures{{"no", "match"}} : all.front();
}

bool Holds(std::span<const Piece> pieces, std::string_view line) { return !Match(Of(pieces), line).empty(); }

TEST(MessageMatch, CapturesAreLazyAndOfTheirKind) {
  EXPECT_THAT(Found(kVersions, "x library: 8.0.5 but source was compiled with: 8.1.0. Upgrade"),
              ElementsAre(Pair("runtime", "8.0.5"), Pair("built", "8.1.0")));
  EXPECT_THAT(Found(kQuoted, "library 'a.so'; dlerror: b.so: cannot open"),
              ElementsAre(Pair("name", "a.so"), Pair("why", "b.so: cannot open")));
  EXPECT_THAT(Found(kLeading, "total 12 GiB, 43.44 MiB free now"), ElementsAre(Pair("count", "43.44")));
  EXPECT_THAT(Found(kWords, "failed call to cuInit: CUDA_ERROR_NO_DEVICE: none"),
              ElementsAre(Pair("error", "CUDA_ERROR_NO_DEVICE:")));
}

TEST(MessageMatch, AWrongCaptureIsNoMatch) {
  EXPECT_FALSE(Holds(kVersions, "library: two words but source was compiled with: 8.1"));
  EXPECT_FALSE(Holds(kVersions, "library: 8.0.5 but source was compiled with: "));
  EXPECT_FALSE(Holds(kLeading, " MiB free"));
  EXPECT_FALSE(Holds(kWords, "failed call to cuInit: "));
}

TEST(MessageMatch, ALaterStartIsTried) {
  EXPECT_THAT(Found(kVersions, "library: none, library: 8.0 but source was compiled with: 8"),
              ElementsAre(Pair("runtime", "8.0"), Pair("built", "8")));
}

TEST(MessageMatch, SizesHoldABlank) {
  EXPECT_THAT(Found(kSizes, "11.17 GiB total; 505.96 MiB already; 0 bytes free"),
              ElementsAre(Pair("total", "11.17 GiB"), Pair("allocated", "505.96 MiB"), Pair("free", "0 bytes")));
  EXPECT_THAT(Found(kSizes, "(GPU 0; 2G total; 1 GiB already; 3.5MB"),
              ElementsAre(Pair("total", "2G"), Pair("allocated", "1 GiB"), Pair("free", "3.5MB")));
  EXPECT_FALSE(Holds(kSizes, "all total; 505.96 MiB already; 0 bytes"));
  EXPECT_FALSE(Holds(kSizes, "2G total; a lot of MiB already; 0 bytes"));
}

TEST(MessageMatch, ACountIsAboveZero) {
  EXPECT_TRUE(Holds(kCount, "offloaded 12/33 layers"));
  EXPECT_FALSE(Holds(kCount, "offloaded 0/33 layers"));
  EXPECT_FALSE(Holds(kCount, "offloaded x/33 layers"));
}

TEST(MessageMatch, AnAnchorMeansTheBeginOfTheLine) {
  EXPECT_EQ(Match(Of(kWords, true), "cuInit: X").size(), 1U);
  EXPECT_EQ(Match(Of(kWords, true), "call to cuInit: X").size(), 0U);
}

TEST(MessageMatch, SeveralInOneLine) {
  const auto all = Match(Of(kCount), "offloaded 1/2, offloaded 0/2, offloaded 2/2");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[1], ElementsAre(Pair("layers", "2")));
}

TEST(MessageMatch, BlanksAreOne) {
  EXPECT_EQ(messages::SingleBlanks("  a \t b\tc  "), "a b c");
  EXPECT_EQ(messages::SingleBlanks(" \t "), "");
}

TEST(MessageMatch, ALineMadeToBacktrackEnds) {
  std::string line;
  for (int i = 0; i < 200000; ++i) line += "library 'x";
  EXPECT_FALSE(Holds(kQuoted, line));
  EXPECT_TRUE(Holds(kQuoted, line + "'; dlerror: gone"));
  EXPECT_FALSE(Holds(kVersions, line + "library: , but source was compiled with: 1"));
}

TEST(MessagesReader, CountsQuotesAndListsDistinctCaptures) {
  const Evidence evidence =
      ReadWith("messages",
               "prose\n"
               "W dso_loader.cc:55] Could not load dynamic library 'a.so'; dlerror: a.so: gone\n"
               "W dso_loader.cc:55] Could not  load dynamic library 'b.so'; dlerror: b.so: gone\n"
               "W dso_loader.cc:55] Could not load dynamic library 'a.so'; dlerror: a.so: gone\n");
  const Fact* fact = evidence.Find("log.tf_library_not_loaded");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->value.AsInt(), 3);
  EXPECT_EQ(fact->where, "line 2");
  EXPECT_THAT(fact->quote, testing::HasSubstr("'a.so'"));
  EXPECT_EQ(fact->source, Source::kFramework);
  EXPECT_THAT(*evidence.Find("log.tf_library_not_loaded.library")->value.AsList(), ElementsAre("a.so", "b.so"));
}

TEST(MessagesReader, StatesFactsOfTheJob) {
  const Evidence evidence = ReadWith("messages", "AssertionError: Torch not compiled with CUDA enabled\n");
  const Fact* built = evidence.Find("framework.torch.cuda_built", Entity::Process(0));
  ASSERT_NE(built, nullptr);
  EXPECT_EQ(built->value.AsText(), "");
  EXPECT_EQ(built->where, "line 1");
}

TEST(MessagesReader, StatesListsAndBuilds) {
  const Evidence evidence = ReadWith("messages",
                                     "The current PyTorch install supports CUDA capabilities sm_50  sm_60 "
                                     "sm_90.\nYOLOv5 Python-3.10.11 torch-2.1.0+cu118\n");
  EXPECT_THAT(*evidence.Find("framework.torch.arch_list")->value.AsList(), ElementsAre("sm_50", "sm_60", "sm_90"));
  EXPECT_EQ(evidence.Find("framework.torch.cuda_built")->value.AsText(), "11.8");
}

TEST(MessagesReader, MemoryFiguresOfBothWordings) {
  const Evidence old =
      ReadWith("messages",
               "CUDA out of memory. Tried to allocate 60.00 MiB (GPU 0; 11.17 GiB total capacity; 505.96 MiB "
               "already allocated; 12.50 MiB free; 530.00 MiB reserved in total by PyTorch)\n");
  const auto first = [](const Evidence& evidence, const char* name) {
    const Fact* fact = evidence.Find(name);
    return fact != nullptr ? fact->value.Show() : "(nothing)";
  };
  EXPECT_EQ(first(old, "log.torch_oom.total"), "11.17 GiB");
  EXPECT_EQ(first(old, "log.torch_oom.free"), "12.50 MiB");
  EXPECT_EQ(first(old, "log.torch_oom_allocated.allocated"), "505.96 MiB");
  EXPECT_EQ(first(old, "log.torch_oom_reserved.reserved"), "530.00 MiB");
  const Evidence now = ReadWith(
      "messages",
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 23.69 GiB "
      "of "
      "which 1.20 GiB is free. Process 11 has 4.00 GiB memory in use. Process 12 has 5.00 GiB memory in use. Including "
      "non-PyTorch memory, this process has 13.00 GiB memory in use. Of the allocated memory 12.00 GiB is allocated by "
      "PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n");
  EXPECT_EQ(first(now, "log.torch_oom.gpu"), "1");
  EXPECT_EQ(first(now, "log.torch_oom.total"), "23.69 GiB");
  EXPECT_EQ(first(now, "log.torch_oom_other_process.theirs"), "4.00 GiB, 5.00 GiB");
  EXPECT_EQ(first(now, "log.torch_oom_this_process.mine"), "13.00 GiB");
  EXPECT_EQ(first(now, "log.torch_oom_allocated.allocated"), "12.00 GiB");
  EXPECT_EQ(first(now, "log.torch_oom_unallocated.unallocated"), "100.00 MiB");
}

TEST(MessagesReader, ClaimsOnlyWhatItUnderstood) {
  PastedText text = CleanText("hello\nAssertionError: Torch not compiled with CUDA enabled\n  warnings.warn(\n");
  Evidence evidence;
  ReaderOf("messages").read(text, evidence);
  EXPECT_FALSE(text.claimed(0));
  EXPECT_TRUE(text.claimed(1));
  EXPECT_TRUE(text.claimed(2)) << "a line that belongs to a warning is understood, and says nothing";
  EXPECT_EQ(evidence.WithPrefix("log.").size(), 1U);
}

TEST(MessagesReader, EveryTemplateMatchesItself) {
  for (const messages::Message& message : messages::AllMessages()) {
    std::string line;
    for (const Piece& piece : message.pieces) {
      line += piece.literal;
      if (!piece.capture.empty()) line += piece.kind == CaptureKind::kSize ? "7 MiB" : "7";
    }
    EXPECT_FALSE(Match(message, messages::SingleBlanks(line)).empty()) << message.id << ": " << line;
    EXPECT_THAT(line, testing::HasSubstr(std::string(message.gram)));
  }
}

TEST(MessagesReader, NoiseIsSilent) {
  std::mt19937 random(7);
  std::string noise;
  for (int i = 0; i < 1000000; ++i) noise += random() % 60 == 0 ? '\n' : static_cast<char>(' ' + random() % 94);
  PastedText text = CleanText(noise);
  Evidence evidence;
  ReaderOf("messages").read(text, evidence);
  EXPECT_TRUE(evidence.WithPrefix("log.").empty());
}

}  // namespace
}  // namespace gpuwhy
