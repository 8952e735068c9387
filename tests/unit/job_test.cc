// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/job.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/format.h"

namespace gpuwhy {
namespace {

constexpr int64_t kLongNs = 20'000'000'000;

const InheritedState& Inherited() {
  static const InheritedState state = CaptureInheritedState();
  return state;
}

Result<Job> Start(const std::vector<std::string>& command, const EnvironmentChanges& changes = {}) {
  JobOptions options;
  options.keep_all = true;  // the test goes on using its descriptors
  return Job::Start(Inherited(), command, changes, options);
}

Result<Job> Shell(const std::string& script, const EnvironmentChanges& changes = {}) {
  return Start({"sh", "-c", script}, changes);
}

TEST(JobTest, TellsHowTheJobEnded) {
  Result<Job> job = Shell("exit 7");
  ASSERT_TRUE(job) << job.error().Line();
  EXPECT_EQ(job->Wait(kLongNs), JobEvent::kEnded);
  EXPECT_EQ(job->exit_code(), 7);
  EXPECT_EQ(job->term_signal(), std::nullopt);
  Result<Job> killed = Shell("kill -KILL $$");
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->exit_code(), std::nullopt);
  EXPECT_EQ(killed->Wait(kLongNs), JobEvent::kEnded);
  EXPECT_EQ(killed->term_signal(), SIGKILL);
  EXPECT_EQ(killed->exit_code(), std::nullopt);
}

TEST(JobTest, TellsAMissingCommandFromOneThatCannotRun) {
  const std::pair<const char*, int> cases[] = {
      {"/nonexistent/x", 127}, {"no-such-command-anywhere", 127}, {"", 127}, {"/etc/passwd", 126}, {"/", 126},
      {"/etc/passwd/x", 126}};
  for (const auto& [command, status] : cases) {
    const Result<Job> job = Start({command});
    ASSERT_FALSE(job) << command;
    EXPECT_EQ(JobStartExitStatus(job.error()), status) << command;
    EXPECT_EQ(job.error().Line().find('\n'), std::string::npos);
  }
  EXPECT_EQ(JobStartExitStatus(Start({}).error()), 125);
}

TEST(JobTest, TimesOutWithoutTouchingTheJob) {
  Result<Job> job = Shell("sleep 0.3; exit 4");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->Wait(0), JobEvent::kTimeout);
  const int64_t start_ns = MonotonicNs();
  EXPECT_EQ(job->Wait(50'000'000), JobEvent::kTimeout);
  EXPECT_GE(MonotonicNs() - start_ns, 50'000'000);
  EXPECT_EQ(job->Wait(kLongNs), JobEvent::kEnded);
  EXPECT_EQ(job->exit_code(), 4);
}

TEST(JobTest, ChangesOnlyTheNamedVariables) {
  setenv("JOB_TEST_KEPT", "a=b", 1);
  setenv("JOB_TEST_CHANGED", "old", 1);
  setenv("JOB_TEST_GONE", "x", 1);
  const std::string test =
      "[ \"$JOB_TEST_KEPT\" = a=b ] && [ \"$JOB_TEST_CHANGED\" = new ] && [ -z \"${JOB_TEST_GONE+x}\" ] && "
      "[ \"$JOB_TEST_ADDED\" = '1 2' ]";
  Result<Job> job =
      Shell(test, {{"JOB_TEST_CHANGED", "new"}, {"JOB_TEST_GONE", std::nullopt}, {"JOB_TEST_ADDED", "1 2"}});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->Wait(kLongNs), JobEvent::kEnded);
  EXPECT_EQ(job->exit_code(), 0);
  EXPECT_STREQ(getenv("JOB_TEST_CHANGED"), "old");
}

TEST(JobTest, HidesDescriptorsThatALibraryLeftOpen) {
  Inherited();
  const int leaked = dup(STDERR_FILENO);  // without O_CLOEXEC, as a vendor library may do
  ASSERT_GT(leaked, 2);
  Result<Job> job = Shell(Format("[ ! -e /proc/self/fd/{} ]", leaked));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->Wait(kLongNs), JobEvent::kEnded);
  EXPECT_EQ(job->exit_code(), 0);
  close(leaked);
}

TEST(JobTest, StaysInTheSameGroupAndSession) {
  Result<Job> job = Start({"sleep", "60"});
  ASSERT_TRUE(job);
  EXPECT_EQ(getpgid(static_cast<pid_t>(job->pid())), getpgrp());
  EXPECT_EQ(getsid(static_cast<pid_t>(job->pid())), getsid(0));
  kill(static_cast<pid_t>(job->pid()), SIGKILL);
  EXPECT_EQ(job->Wait(kLongNs), JobEvent::kEnded);
}

TEST(JobTest, ASignalToUsAloneReachesTheJobAndOneOfOursDoesNotEndUs) {
  Result<Job> job = Shell("trap 'exit 9' USR1; kill -USR2 $PPID; while :; do sleep 0.05; done");
  ASSERT_TRUE(job);
  // The job's own signal to its parent must not come back as one that ends it.
  EXPECT_EQ(job->Wait(400'000'000), JobEvent::kTimeout);
  const pid_t sender = fork();
  if (sender == 0) _exit(kill(getppid(), SIGUSR1));
  EXPECT_EQ(job->Wait(kLongNs), JobEvent::kEnded);
  EXPECT_EQ(job->exit_code(), 9);
  waitpid(sender, nullptr, 0);
}

TEST(JobTest, TerminateEndsIt) {
  Result<Job> job = Start({"sleep", "60"});
  ASSERT_TRUE(job);
  job->Terminate();
  EXPECT_EQ(job->Wait(kLongNs), JobEvent::kEnded);
  EXPECT_EQ(job->term_signal(), SIGTERM);
  job->Terminate();  // after the end: nothing, the pid may belong to somebody else
}

TEST(JobDeathTest, ExitsLikeTheJob) {
  GTEST_FLAG_SET(death_test_style, "fast");
  const auto run = [](const char* script) {
    Result<Job> job = Shell(script);
    if (!job) _exit(99);
    job->Wait(kLongNs);
    job->ExitLikeJob();
  };
  EXPECT_EXIT(run("exit 255"), testing::ExitedWithCode(255), "");
  EXPECT_EXIT(run("exit 0"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(run("kill -TERM $$"), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(run("kill -KILL $$"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(run("kill -SEGV $$"), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(run("kill -PIPE $$"), testing::KilledBySignal(SIGPIPE), "");
}

}  // namespace
}  // namespace gpuwhy
