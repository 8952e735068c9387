// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// Sync windows: every call once, with its duration, whatever it makes inside and wherever the window's borders fall.
#include <gtest/gtest.h>
#include <unistd.h>

#include "job_runner.h"

namespace gpuwhy::inject_test {
namespace {

constexpr uint64_t kMs = 1'000'000;

// A job whose proof window is over; then it waits for the file "go" and does `after`.
class SyncWindow : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& after) {
    std::vector<std::string> words{"init",  "context",          "pace",     "600",
                                   "touch", job_.Path("there"), "waitfile", job_.Path("go")};
    words.insert(words.end(), after.begin(), after.end());
    job_.Start(words);
    ASSERT_TRUE(job_.UntilState(wire::State::kDetached)) << job_.Log();
    ASSERT_TRUE(job_.Until([this] { return access(job_.Path("there").c_str(), F_OK) == 0; }));
  }
  void Open(uint32_t ms) {
    job_.Command(wire::Command::kSyncWindow, ms);
    ASSERT_TRUE(job_.UntilState(wire::State::kSync)) << job_.Log();
  }
  std::vector<wire::Api> Calls(bool sync) const {
    std::vector<wire::Api> found;
    for (const wire::Api& call : job_.All<wire::Api>()) {
      if (call.is_sync == (sync ? 1u : 0u)) found.push_back(call);
    }
    return found;
  }
  void ExpectCleanEnd() {
    EXPECT_EQ(job_.Finish(), 0);
    EXPECT_EQ(job_.Log().find("violation"), std::string::npos) << job_.Log();
    EXPECT_EQ(job_.Windows(), "proof:begin proof:end sync:begin sync:end");
    const auto windows = job_.All<wire::Window>();
    ASSERT_EQ(windows.size(), 4u);
    EXPECT_EQ(windows[3].records, job_.All<wire::Api>().size());
    EXPECT_EQ(windows[3].status, 0);
    for (const wire::Api& call : job_.All<wire::Api>()) {
      EXPECT_EQ(call.domain, static_cast<uint16_t>(wire::ApiDomain::kRuntime)) << "the outermost call alone";
      EXPECT_EQ(call.thread, call.tid);
      EXPECT_GE(call.start_ns, windows[2].time_ns);
      EXPECT_LE(call.start_ns + call.duration_ns, call.time_ns);
    }
  }

  JobRunner job_;
};

TEST_F(SyncWindow, CountsEachCallOnceWithItsDuration) {
  Start({"sync", "7", "wait", "20", "bigcopy", "3", "copy", "2", "launch", "50", "waitfile", job_.Path("on"), "pace",
         "300"});
  job_.Command(wire::Command::kSyncWindow, 60000);
  ASSERT_TRUE(job_.UntilState(wire::State::kSync));
  job_.Touch("go");
  ASSERT_TRUE(job_.Until([&] { return Calls(false).size() >= 3; }));
  job_.Command(wire::Command::kNone);
  ASSERT_TRUE(job_.UntilState(wire::State::kDetaching));
  job_.Touch("on");
  ASSERT_TRUE(job_.UntilState(wire::State::kDetached)) << job_.Log();
  ExpectCleanEnd();
  const auto syncs = Calls(true);
  ASSERT_EQ(syncs.size(), 8u);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(syncs[i].cbid, 131u);
    EXPECT_LT(syncs[i].duration_ns, 20 * kMs);
  }
  EXPECT_EQ(syncs[7].cbid, 165u);
  EXPECT_GE(syncs[7].duration_ns, 20 * kMs);
  const auto copies = Calls(false);
  EXPECT_LE(copies.size(), 5u);
  for (size_t i = 0; i < 3; ++i) EXPECT_GE(copies[i].duration_ns, 100'000u);
  for (const wire::Api& copy : copies) EXPECT_GE(copy.duration_ns, 2000u) << "a copy that only queues is left out";
  EXPECT_GT(job_.All<wire::Window>()[3].cost_ns, 0u);
}

TEST_F(SyncWindow, CallBegunBeforeTheWindowIsIgnored) {
  Start({"wait", "1000", "sync", "3", "waitfile", job_.Path("on"), "pace", "300"});
  job_.Touch("go");
  usleep(100'000);
  Open(60000);
  ASSERT_EQ(Calls(true).size(), 0u);
  ASSERT_TRUE(job_.Until([&] { return Calls(true).size() >= 3; })) << Calls(true).size();
  job_.Command(wire::Command::kNone);
  ASSERT_TRUE(job_.UntilState(wire::State::kDetaching));
  job_.Touch("on");
  ASSERT_TRUE(job_.UntilState(wire::State::kDetached)) << job_.Log();
  ExpectCleanEnd();
  EXPECT_EQ(Calls(true).size(), 3u);
}

TEST_F(SyncWindow, CallThatOutlastsTheWindowIsRecordedByTheDetach) {
  Start({"wait", "1200", "sync", "5", "waitfile", job_.Path("on")});
  job_.Command(wire::Command::kSyncWindow, 300);
  ASSERT_TRUE(job_.UntilState(wire::State::kSync));
  job_.Touch("go");
  ASSERT_TRUE(job_.UntilState(wire::State::kDetaching));
  ASSERT_EQ(Calls(true).size(), 0u);
  ASSERT_TRUE(job_.UntilState(wire::State::kDetached)) << job_.Log();
  ASSERT_TRUE(job_.Until([&] { return job_.All<wire::Window>().size() == 4; }));
  job_.Touch("on");
  ExpectCleanEnd();
  const auto syncs = Calls(true);
  ASSERT_EQ(syncs.size(), 1u) << "and none of those after it";
  EXPECT_GE(syncs[0].duration_ns, 1200 * kMs);
}

TEST_F(SyncWindow, DetachInACallBegunBeforeTheWindowReadsNothing) {
  Start({"wait", "1500", "waitfile", job_.Path("on")});
  job_.Touch("go");
  usleep(100'000);
  Open(200);
  ASSERT_TRUE(job_.UntilState(wire::State::kDetaching));
  ASSERT_TRUE(job_.UntilState(wire::State::kDetached)) << job_.Log();
  ASSERT_TRUE(job_.Until([&] { return job_.All<wire::Window>().size() == 4; }));
  job_.Touch("on");
  ExpectCleanEnd();
  EXPECT_EQ(job_.All<wire::Api>().size(), 0u);
}

TEST_F(SyncWindow, ThreadsAreRecordedEachForItself) {
  Start({"syncers", "4", "waitfile", job_.Path("on"), "pace", "300"});
  job_.Command(wire::Command::kSyncWindow, 60000);
  ASSERT_TRUE(job_.UntilState(wire::State::kSync));
  job_.Touch("go");
  ASSERT_TRUE(job_.Until([&] { return Calls(true).size() >= 4 * 500; })) << Calls(true).size();
  job_.Command(wire::Command::kNone);
  ASSERT_TRUE(job_.UntilState(wire::State::kDetaching));
  job_.Touch("on");
  ASSERT_TRUE(job_.UntilState(wire::State::kDetached)) << job_.Log();
  ExpectCleanEnd();
  std::map<uint32_t, size_t> per_thread;
  for (const wire::Api& call : Calls(true)) ++per_thread[call.thread];
  ASSERT_EQ(per_thread.size(), 4u);
  for (const auto& [thread, count] : per_thread) EXPECT_EQ(count, 500u) << thread;
}

}  // namespace
}  // namespace gpuwhy::inject_test
