// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/ring_reader.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <random>
#include <thread>
#include <vector>

#include "tests/fakes/ring_writer.h"
#include "wire/blob_assembler.h"

namespace gpuwhy::wire {
namespace {

using fakes::RingWriter;
using fakes::TempFolder;
using Mode = RingReader::Mode;

std::unique_ptr<RingReader> Open(const std::string& path, Mode mode = Mode::kDrain) {
  std::string why;
  auto ring = RingReader::Open(path, mode, &why);
  EXPECT_TRUE(ring != nullptr) << why;
  return ring;
}

std::string Refusal(const std::string& path) {
  std::string why;
  EXPECT_EQ(RingReader::Open(path, Mode::kDrain, &why), nullptr);
  return why;
}

Save SaveAt(uint64_t start) {
  Save save{};
  save.start_ns = start;
  return save;
}

std::vector<uint64_t> DrainStarts(RingReader& ring, bool gone = false) {
  std::vector<uint64_t> out;
  ring.Drain([&](const Common& record) { out.push_back(As<Save>(record).start_ns); }, gone);
  return out;
}

TEST(RingReader, ReadsInOrderOverManyLaps) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kPython, 8);
  const auto ring = Open(writer.path());
  uint64_t next = 0;
  for (int lap = 0; lap < 50; ++lap) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.Write(SaveAt(next + static_cast<uint64_t>(i))));
    for (const uint64_t start : DrainStarts(*ring)) EXPECT_EQ(start, next++);
  }
  EXPECT_EQ(next, 250U);
  EXPECT_TRUE(ring->Empty());
  EXPECT_EQ(ring->dropped(), 0U);
}

TEST(RingReader, FullRingIsACountedDropAndGoesOn) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kCuda, 8);
  const auto ring = Open(writer.path());
  for (uint64_t i = 0; i < 11; ++i) writer.Write(SaveAt(i));
  EXPECT_EQ(DrainStarts(*ring).size(), 8U);
  EXPECT_EQ(ring->dropped(), 3U);
  EXPECT_TRUE(writer.Write(SaveAt(77)));
  EXPECT_EQ(DrainStarts(*ring), std::vector<uint64_t>{77});
}

TEST(RingReader, RefusesWhatIsNoRingAndSaysWhy) {
  const TempFolder folder;
  EXPECT_NE(Refusal(folder.path() + "/none").find("cannot open"), std::string::npos);
  EXPECT_NE(Refusal(folder.path()).find("cannot open"), std::string::npos);
  RingWriter writer(folder.path(), Producer::kPython, 8);
  const auto broken = [&](size_t offset, auto value) {
    decltype(value) old{};
    memcpy(&old, writer.base() + offset, sizeof old);
    memcpy(writer.base() + offset, &value, sizeof value);
    const std::string why = Refusal(writer.path());
    memcpy(writer.base() + offset, &old, sizeof old);
    return why;
  };
  EXPECT_EQ(broken(kOffsetMagic, uint64_t{0}), "not a ring: no magic");
  EXPECT_EQ(broken(kOffsetVersion, uint32_t{9}), "version 9, this gpuwhy reads " + std::to_string(kVersion));
  EXPECT_EQ(broken(kOffsetRecordSize, uint32_t{32}), "records of 32 bytes");
  for (const uint64_t capacity : {uint64_t{0}, uint64_t{7}, uint64_t{1} << 40, ~uint64_t{0}}) {
    EXPECT_EQ(broken(kOffsetCapacity, capacity), "a capacity that no ring has");
  }
  EXPECT_EQ(broken(kOffsetCapacity, uint64_t{16}), "shorter than its capacity says");
  EXPECT_EQ(broken(kOffsetProducer, uint32_t{3}), "unknown producer 3");
  EXPECT_EQ(broken(kOffsetPid, uint32_t{0}), "a process id that no process has");
  ASSERT_EQ(truncate(writer.path().c_str(), 100), 0);
  EXPECT_EQ(Refusal(writer.path()), "shorter than a ring's header");
}

TEST(RingReader, RefusesALinkToElsewhere) {
  const TempFolder folder;
  const RingWriter writer(folder.path(), Producer::kPython, 8);
  const std::string link = folder.path() + "/1-1-py.ring";
  ASSERT_EQ(symlink(writer.path().c_str(), link.c_str()), 0);
  EXPECT_NE(Refusal(link).find("cannot open"), std::string::npos);
}

TEST(RingReader, FileCutWhileOpenIsNoCrash) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kPython, 1024);
  const auto ring = Open(writer.path());
  writer.Write(SaveAt(1));
  ASSERT_EQ(truncate(writer.path().c_str(), 0), 0);
  EXPECT_TRUE(DrainStarts(*ring, true).empty());
  ring->KeepLease(1);
  EXPECT_EQ(ring->Send(Command::kClose, 0, 0), 0U);
  EXPECT_TRUE(ring->closed());
  EXPECT_TRUE(ring->Empty());
}

TEST(RingReader, UnfinishedRecordWaitsForItsWriterAndIsSkippedWhenItIsGone) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kCuda, 8);
  const auto ring = Open(writer.path());
  writer.Write(SaveAt(1));
  writer.ReserveOnly();
  writer.Write(SaveAt(3));
  EXPECT_EQ(DrainStarts(*ring), std::vector<uint64_t>{1});
  EXPECT_TRUE(DrainStarts(*ring).empty());
  EXPECT_FALSE(ring->Empty());
  EXPECT_EQ(ring->skipped(), 0U);
  EXPECT_EQ(DrainStarts(*ring, true), std::vector<uint64_t>{3});
  EXPECT_EQ(ring->skipped(), 1U);
}

TEST(RingReader, WriterKilledInTheMiddleLosesNothingThatWasComplete) {
  const TempFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    RingWriter writer(folder.path(), Producer::kPython, 64);
    for (uint64_t i = 0; i < 20; ++i) writer.Write(SaveAt(i));
    writer.ReserveOnly();
    (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  RingSpool spool("-py.ring", Mode::kDrain);
  std::vector<RingSpool::Refusal> refused;
  std::vector<OwnedRing> rings = spool.Scan(folder.path(), 0, &refused);
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_EQ(rings[0].pid, child);
  EXPECT_TRUE(rings[0].was_seen);
  EXPECT_FALSE(rings[0].Finished());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(rings[0].Finished());
  EXPECT_EQ(DrainStarts(*rings[0].reader, true).size(), 20U);
  EXPECT_EQ(rings[0].reader->skipped(), 1U);
  EXPECT_TRUE(spool.Scan(folder.path(), 0, &refused).empty()) << "a ring is handed out once";
}

TEST(RingReader, ProcessThatWasNeverSeenIsNotCalledGone) {
  const TempFolder folder;
  const RingWriter writer(folder.path(), Producer::kPython, 8, 4'000'000, 12345);
  RingSpool spool("-py.ring", Mode::kDrain);
  std::vector<RingSpool::Refusal> refused;
  std::vector<OwnedRing> rings = spool.Scan(folder.path(), 0, &refused);
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_FALSE(rings[0].was_seen);
  EXPECT_EQ(rings[0].pid, 4'000'000);
  EXPECT_FALSE(rings[0].Finished());
}

TEST(RingReader, ZombieWritesNoMore) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(StartTicks(child), 0U);
  waitpid(child, nullptr, 0);
  EXPECT_NE(StartTicks(getpid()), 0U);
  EXPECT_EQ(FindProcess(static_cast<uint32_t>(getpid()), StartTicks(getpid())), getpid());
}

TEST(RingReader, CommandsLeaseAndControlWords) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kCuda, 8);
  const auto ring = Open(writer.path());
  const uint32_t first = ring->Send(Command::kTimingWindow, 1000, 5);
  EXPECT_EQ(writer.Get<uint32_t>(kOffsetCommandMs), 1000U);
  EXPECT_EQ(writer.Get<uint32_t>(kOffsetCommandRecords), 5U);
  EXPECT_EQ(writer.TakeCommand(), Command::kTimingWindow);
  EXPECT_EQ(ring->ack_seq(), first);
  EXPECT_EQ(ring->Send(Command::kClose, 0, 0), first + 1);
  ring->KeepLease(42);
  EXPECT_EQ(writer.Get<uint64_t>(kOffsetLeaseNs), 42U);
  writer.SetState(State::kTiming);
  writer.Put<uint64_t>(kOffsetSteps, 99);
  EXPECT_EQ(ring->state(), State::kTiming);
  EXPECT_EQ(ring->steps(), 99U);
}

TEST(RingReader, ObserverReadsAllAndChangesNothing) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kCuda, 8);
  const auto reader = Open(writer.path());
  const auto observer = Open(writer.path(), Mode::kObserve);
  for (uint64_t i = 0; i < 6; ++i) writer.Write(SaveAt(i));
  EXPECT_EQ(DrainStarts(*observer).size(), 6U);
  EXPECT_EQ(writer.Get<uint64_t>(kOffsetTail), 0U);
  EXPECT_EQ(observer->Send(Command::kClose, 0, 0), 0U);
  EXPECT_EQ(DrainStarts(*reader).size(), 6U);
  for (uint64_t lap = 0; lap < 3; ++lap) {
    for (uint64_t i = 0; i < 8; ++i) writer.Write(SaveAt(100 * lap + i));
    DrainStarts(*reader);
  }
  EXPECT_EQ(DrainStarts(*observer).size(), 8U) << "what is still in the ring";
  EXPECT_EQ(observer->lost(), 16U);
}

TEST(RingReader, ConcurrentWriterLosesAndRepeatsNothing) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kCuda, 256);
  const auto ring = Open(writer.path());
  constexpr uint64_t kRecords = 50'000;
  std::thread thread([&] {
    for (uint64_t i = 0; i < kRecords;) i += writer.Write(SaveAt(i)) ? 1 : 0;
  });
  uint64_t next = 0;
  while (next < kRecords) {
    for (const uint64_t start : DrainStarts(*ring)) ASSERT_EQ(start, next++);
  }
  thread.join();
  EXPECT_TRUE(ring->Empty());
}

// Whatever stands in the file, reading ends, stays in bounds (ASan, UBSan) and never yields more than a ring full.
TEST(RingReader, RandomBytesDoNoHarm) {
  const TempFolder folder;
  RingWriter writer(folder.path(), Producer::kCuda, 16);
  std::mt19937_64 random(20260101);
  for (int round = 0; round < 3000; ++round) {
    const size_t first = round % 2 == 0 ? kOffsetHead : kHeaderSize;
    for (size_t at = first; at < writer.size(); at += 8) {
      if (random() % 3 == 0)
        *reinterpret_cast<uint64_t*>(writer.base() + at) = random() % 2 == 0 ? random() : random() % 40;
    }
    if (round % 5 == 0) *reinterpret_cast<uint64_t*>(writer.base() + 8 * (random() % 6)) = random();
    std::string why;
    const Mode mode = round % 3 == 0 ? Mode::kObserve : Mode::kDrain;
    if (const auto ring = RingReader::Open(writer.path(), mode, &why)) {
      BlobAssembler blobs;
      BlobAssembler::Text text;
      for (int drain = 0; drain < 3; ++drain) {
        const size_t visited =
            ring->Drain([&](const Common& record) { blobs.Add(As<Blob>(record), &text); }, round % 2 == 0);
        EXPECT_LE(visited, 16U);
      }
      EXPECT_LE(blobs.pending(), BlobAssembler::kMaxPending);
    } else {
      EXPECT_FALSE(why.empty());
      memcpy(writer.base(), kMagic, 8);
      writer.Put<uint32_t>(kOffsetVersion, kVersion);
      writer.Put<uint32_t>(kOffsetRecordSize, kRecordSize);
      writer.Put<uint64_t>(kOffsetCapacity, 16);
      writer.Put<uint32_t>(kOffsetPid, 1);
      writer.Put<uint32_t>(kOffsetProducer, 1);
    }
  }
}

Blob Piece(uint32_t id, const std::string& data, uint32_t offset, uint32_t total) {
  Blob piece{};
  piece.id = id;
  piece.kind = static_cast<uint16_t>(BlobKind::kKernelName);
  piece.length = static_cast<uint16_t>(data.size());
  piece.offset = offset;
  piece.total = total;
  memcpy(piece.data, data.data(), std::min(data.size(), sizeof piece.data));
  return piece;
}

TEST(BlobAssembler, PutsMixedPiecesTogether) {
  BlobAssembler blobs;
  BlobAssembler::Text text;
  EXPECT_FALSE(blobs.Add(Piece(1, "ab", 0, 4), &text));
  EXPECT_FALSE(blobs.Add(Piece(2, "xy", 0, 3), &text));
  ASSERT_TRUE(blobs.Add(Piece(1, "cd", 2, 4), &text));
  EXPECT_EQ(text.text, "abcd");
  EXPECT_EQ(text.id, 1U);
  ASSERT_TRUE(blobs.Add(Piece(2, "z", 2, 3), &text));
  EXPECT_EQ(text.text, "xyz");
  ASSERT_TRUE(blobs.Add(Piece(3, "", 0, 0), &text));
  EXPECT_EQ(text.text, "");
  EXPECT_EQ(blobs.broken(), 0U);
}

TEST(BlobAssembler, ForgetsAndCountsWhatIsBroken) {
  BlobAssembler blobs;
  BlobAssembler::Text text;
  EXPECT_FALSE(blobs.Add(Piece(1, "ab", 0, (1 << 20) + 1), &text));  // too long
  EXPECT_FALSE(blobs.Add(Piece(2, "ab", 0, 1), &text));              // longer than it says
  EXPECT_FALSE(blobs.Add(Piece(3, "ab", 0xFFFFFFFF, 6), &text));     // offset outside
  EXPECT_EQ(blobs.broken(), 3U);
  EXPECT_FALSE(blobs.Add(Piece(4, "ab", 0, 6), &text));
  EXPECT_FALSE(blobs.Add(Piece(4, "ef", 4, 6), &text));  // a hole
  EXPECT_FALSE(blobs.Add(Piece(4, "cd", 2, 6), &text));  // the rest of it: no second count
  EXPECT_EQ(blobs.broken(), 4U);
  Blob liar = Piece(5, "ab", 0, 2);
  liar.length = 60000;
  EXPECT_FALSE(blobs.Add(liar, &text));
  EXPECT_EQ(blobs.broken(), 5U);
  for (uint32_t id = 100; id < 300; ++id) EXPECT_FALSE(blobs.Add(Piece(id, "ab", 0, 6), &text));
  EXPECT_EQ(blobs.pending(), BlobAssembler::kMaxPending);
}

}  // namespace
}  // namespace gpuwhy::wire
