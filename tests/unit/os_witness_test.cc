// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// Live part of the os witness: real processes of chosen kinds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "model/evidence.h"
#include "witness/os/process_tree_linux.h"
#include "witness/witness.h"

namespace gpuwhy {
extern const WitnessInfo kWitness_os;
namespace {

// A child that runs `body` and then sleeps until it is killed; killed and reaped at the end of the test.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      body();
      const ssize_t put = write(ready[1], "x", 1);
      if (put == 1) close(ready[1]);
      while (true) pause();
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int64_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

// PID of /bin/sleep with exactly this environment.
pid_t ExecSleep(std::vector<std::string> environment) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  std::vector<char*> pointers;
  for (std::string& text : environment) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  char name[] = "/bin/sleep", time[] = "60";
  char* arguments[] = {name, time, nullptr};
  execve(name, arguments, pointers.data());
  _exit(127);
}

void WaitForName(pid_t pid, const std::string& name) {
  for (int i = 0; i < 500; ++i) {
    const Result<os::ProcStat> stat = os::ReadStat(pid);
    if (stat && stat->name == name) return;
    usleep(10000);
  }
  FAIL() << "process " << pid << " never became " << name;
}

class OsWitnessTest : public testing::Test {
 protected:
  void Watch(int64_t pid, const std::string& root = "") {
    WitnessContext context;
    context.root = HostRoot(root);
    context.job_pid = pid;
    witness_ = kWitness_os.create();
    witness_->Start(context, evidence_);
  }
  std::optional<bool> Flag(const char* name, int64_t pid) {
    const Fact* fact = evidence_.Find(name, Entity::Process(pid));
    return fact == nullptr ? std::nullopt : fact->value.AsBool();
  }
  std::string Text(const std::string& name, int64_t pid) {
    const Fact* fact = evidence_.Find(name, Entity::Process(pid));
    return fact == nullptr ? "absent" : fact->value.Show();
  }
  bool Knows(int64_t pid) {
    const std::vector<int64_t> known = witness_->KnownProcesses();
    return std::find(known.begin(), known.end(), pid) != known.end();
  }

  Evidence evidence_;
  std::unique_ptr<Witness> witness_;
};

TEST_F(OsWitnessTest, EmptyAndUnsetVariablesDiffer) {
  const pid_t pid = ExecSleep({"CUDA_VISIBLE_DEVICES=", "XLA_PYTHON_CLIENT_PREALLOCATE=false", "SECRET_TOKEN=1"});
  WaitForName(pid, "sleep");
  Watch(pid);
  witness_->Poll(0, evidence_);
  const Fact* empty = evidence_.Find("process.env.CUDA_VISIBLE_DEVICES", Entity::Process(pid));
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(empty->value.AsText(), "");
  EXPECT_EQ(Text("process.env.XLA_PYTHON_CLIENT_PREALLOCATE", pid), "false");
  EXPECT_EQ(Text("process.env.CUDA_HOME", pid), "absent");
  EXPECT_EQ(Text("process.env.SECRET_TOKEN", pid), "absent");
  EXPECT_EQ(Text("process.env", pid), "CUDA_VISIBLE_DEVICES, XLA_PYTHON_CLIENT_PREALLOCATE");
  EXPECT_EQ(Text("process.command", pid), "/bin/sleep 60");
  EXPECT_EQ(Text("process.name", pid), "sleep");
  EXPECT_EQ(Flag("process.libcuda", pid), false);
  EXPECT_EQ(Flag("process.gpu_device_open", pid), false);
  EXPECT_EQ(Text("process.framework_hint", pid), "");
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  witness_->Stop(1, evidence_);
  EXPECT_EQ(Text("process.state", pid), "ended");
  EXPECT_EQ(Text("process.command", pid), "/bin/sleep 60");  // the last words stay
}

TEST_F(OsWitnessTest, SeesMappedLibrariesAndDevices) {
  char folder[] = "/tmp/gpuwhy-os-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string base = folder;
  ASSERT_TRUE(MakeFolders(base + "/dev"));
  const std::string cuda = base + "/libcuda.so.1", torch = base + "/libtorch_cuda.so";
  for (const std::string& path : {cuda, torch, base + "/dev/nvidia0", base + "/dev/nvidiactl"})
    ASSERT_TRUE(WriteFile(path, std::string(4096, 'x')));
  const Child child([&] {
    for (const std::string& path : {cuda, torch}) {
      const int fd = open(path.c_str(), O_RDONLY);
      if (mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) _exit(1);
      close(fd);
    }
    if (open((base + "/dev/nvidia0").c_str(), O_RDONLY) < 0 || open((base + "/dev/nvidiactl").c_str(), O_RDONLY) < 0)
      _exit(1);
  });
  Watch(child.pid(), base);
  witness_->Poll(0, evidence_);
  EXPECT_EQ(Flag("process.libcuda", child.pid()), true);
  EXPECT_EQ(Text("process.libcuda.path", child.pid()), cuda);
  EXPECT_EQ(Text("process.libraries", child.pid()), "libcuda.so.1, libtorch_cuda.so");
  EXPECT_EQ(Text("process.framework_hint", child.pid()), "pytorch");
  EXPECT_EQ(Text("process.devices", child.pid()), "/dev/nvidia0, /dev/nvidiactl");
  EXPECT_EQ(Flag("process.gpu_device_open", child.pid()), true);
  for (const std::string& path : {cuda, torch, base + "/dev/nvidia0", base + "/dev/nvidiactl"}) unlink(path.c_str());
  rmdir((base + "/dev").c_str());
  rmdir(folder);
}

TEST_F(OsWitnessTest, CountsCpuTimeOfEndedChildrenAndNeverFalls) {
  int go[2], done[2];
  ASSERT_EQ(pipe(go), 0);
  ASSERT_EQ(pipe(done), 0);
  const Child child([&] {
    if (fork() == 0) {
      char byte = 0;
      while (clock() < CLOCKS_PER_SEC / 5)
        byte = static_cast<char>(byte + 1);  // 0.2 s of CPU time, however busy the machine is
      if (write(done[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1) _exit(1);
      _exit(0);
    }
    signal(SIGCHLD, [](int) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    });
  });
  char byte = 0;
  ASSERT_EQ(read(done[0], &byte, 1), 1);
  Watch(child.pid());
  witness_->Poll(1, evidence_);
  EXPECT_EQ(witness_->KnownProcesses().size(), 2u);
  ASSERT_EQ(write(go[1], "x", 1), 1);
  for (int i = 2; i < 100 && witness_->KnownProcesses().size() > 1; ++i) {
    usleep(50'000);
    witness_->Poll(i, evidence_);
  }
  EXPECT_EQ(witness_->KnownProcesses().size(), 1u);
  const Series& cpu = evidence_.Samples("job.cpu.seconds", Entity::Process(child.pid()));
  EXPECT_GE(cpu.front().value, 0.15);
  EXPECT_GE(cpu.back().value, cpu.front().value);
  EXPECT_LT(cpu.back().value, cpu.front().value + 0.1);  // not counted twice
  for (const int fd : {go[0], go[1], done[0], done[1]}) close(fd);
}

TEST_F(OsWitnessTest, RemembersWhatWasOrphaned) {
  int ids[2];
  ASSERT_EQ(pipe(ids), 0);
  const Child child([&] {
    const pid_t middle = fork();
    if (middle == 0) {
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        while (true) pause();
      }
      if (write(ids[1], &grandchild, sizeof grandchild) < 0) _exit(1);
      while (true) pause();
    }
    signal(SIGUSR1, [](int) {});
    const ssize_t put = write(ids[1], &middle, sizeof middle);
    if (put < 0) _exit(1);
  });
  pid_t a = 0, b = 0;
  ASSERT_EQ(read(ids[0], &a, sizeof a), static_cast<ssize_t>(sizeof a));
  ASSERT_EQ(read(ids[0], &b, sizeof b), static_cast<ssize_t>(sizeof b));
  Watch(child.pid());
  witness_->Poll(0, evidence_);
  EXPECT_TRUE(Knows(a));
  EXPECT_TRUE(Knows(b));
  const Result<os::ProcStat> first = os::ReadStat(a);
  ASSERT_TRUE(first);
  const pid_t middle = first->parent == child.pid() ? a : b, grandchild = middle == a ? b : a;
  kill(middle, SIGKILL);
  usleep(100'000);
  witness_->Poll(1, evidence_);
  EXPECT_TRUE(Knows(grandchild));
  EXPECT_EQ(Text("process.state", middle), "zombie");
  EXPECT_NE(Text("process.parent", grandchild), std::to_string(middle));
  kill(grandchild, SIGKILL);
  close(ids[0]);
  close(ids[1]);
}

TEST_F(OsWitnessTest, TwoHundredChildrenAreCountedAndFortyDescribed) {
  const Child child([] {
    for (int i = 0; i < 200; ++i) {
      if (fork() == 0) {
        const int64_t parent = getppid();
        while (getppid() == parent) usleep(50'000);
        _exit(0);
      }
    }
  });
  Watch(child.pid());
  for (int i = 0; i < 3; ++i) witness_->Poll(i, evidence_);
  EXPECT_EQ(witness_->KnownProcesses().size(), 201u);
  EXPECT_EQ(evidence_.All("process.name").size(), 40u);
  EXPECT_EQ(evidence_.Samples("job.processes", Entity::Process(child.pid())).back().value, 201);
  witness_->Stop(4, evidence_);
  EXPECT_EQ(evidence_.gaps().size(), 1u);
}

TEST_F(OsWitnessTest, ForbiddenFilesAreSaidToBeForbidden) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const Child owner([] {});  // belongs to root
  // The watcher runs as nobody and hands back what it saw through a pipe.
  int results[2];
  ASSERT_EQ(pipe(results), 0);
  const pid_t watcher = fork();
  if (watcher == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    Watch(owner.pid());
    witness_->Poll(0, evidence_);
    std::string seen;
    for (const char* name :
         {"process.libcuda", "process.gpu_device_open", "process.env", "process.read.bytes", "process.executable"}) {
      const Fact* fact = evidence_.Find(name, Entity::Process(owner.pid()));
      seen += fact == nullptr ? "absent;" : std::string(StateName(fact->value.state)) + ";";
    }
    _exit(write(results[1], seen.data(), seen.size()) > 0 ? 0 : 1);
  }
  close(results[1]);
  char buffer[512] = {};
  const ssize_t got = read(results[0], buffer, sizeof buffer - 1);
  waitpid(watcher, nullptr, 0);
  close(results[0]);
  ASSERT_GT(got, 0);
  EXPECT_STREQ(buffer, "no-permission;no-permission;no-permission;no-permission;no-permission;");
}

TEST_F(OsWitnessTest, JobThatWasNeverSeenIsAGap) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  Watch(pid);
  witness_->Poll(0, evidence_);
  witness_->Stop(1, evidence_);
  ASSERT_EQ(evidence_.gaps().size(), 1u);
  EXPECT_EQ(evidence_.gaps()[0].what, "processes of the job");
  EXPECT_TRUE(evidence_.Samples("job.cpu.seconds", Entity::Process(pid)).empty());
}

TEST_F(OsWitnessTest, ToldProcessesJoinTheJob) {
  const Child job([] {}), other([] {});
  Watch(job.pid());
  witness_->JobProcesses({other.pid()});
  witness_->Poll(0, evidence_);
  EXPECT_TRUE(Knows(other.pid()));
  EXPECT_FALSE(Knows(getpid()));
}

TEST(ProcessTree, BothWaysOfFindingChildrenAgree) {
  const Child child([] {
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) {
        const int64_t parent = getppid();
        while (getppid() == parent) usleep(50'000);
        _exit(0);
      }
    }
  });
  os::ProcessTree by_files(child.pid(), true), by_parents(child.pid(), false);
  by_files.Update({});
  by_parents.Update({});
  EXPECT_EQ(by_files.alive(), 4u);
  EXPECT_EQ(by_parents.alive(), 4u);
}

TEST(ProcessTree, FollowsChildrenOfOtherThreads) {
  const Child child([] {
    // clone of a thread that forks: its child stands in the list of that thread, not of the main one.
    static pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          if (fork() == 0) {
            const int64_t parent = getppid();
            while (getppid() == parent) usleep(50'000);
            _exit(0);
          }
          while (true) pause();
        },
        nullptr);
    usleep(200'000);
  });
  os::ProcessTree tree(child.pid());
  tree.Update({});
  EXPECT_EQ(tree.alive(), 2u);
}

}  // namespace
}  // namespace gpuwhy
