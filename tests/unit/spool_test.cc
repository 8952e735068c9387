// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/spool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/format.h"
#include "session/spool_place_linux.h"

namespace gpuwhy {
namespace {

constexpr EmbeddedFile kAgent[] = {{"sitecustomize.py", "import gpuwhy_agent\n"}, {"gpuwhy_agent/__init__.py", ""}};
constexpr EmbeddedFile kInject[] = {{"libgpuwhy_inject.so", std::string_view("\x7f"
                                                                             "ELF\0\1",
                                                                             6)}};

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() {
    char name[] = "/tmp/spool_testXXXXXX";
    base_ = mkdtemp(name);
  }
  ~SpoolTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }
  SpoolPlaces Places() const { return {{base_}, {}}; }
  std::vector<std::string> Folders() const { return *ListFolder(base_); }

  std::string base_;
};

mode_t Mode(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST_F(SpoolTest, IsPrivateWhateverTheUmaskAndHoldsTheFiles) {
  const mode_t before = umask(0777);
  Result<Spool> spool = Spool::Create(Places(), kAgent, kInject);
  umask(before);
  ASSERT_TRUE(spool) << spool.error().Line();
  EXPECT_EQ(spool->folder().rfind(Format("{}/gpuwhy-{}-", base_, geteuid()), 0), 0u);
  EXPECT_EQ(Mode(spool->folder()), 0700u);
  EXPECT_EQ(*ReadFile(spool->agent_folder() + "/sitecustomize.py"), "import gpuwhy_agent\n");
  EXPECT_EQ(*ReadFile(spool->agent_folder() + "/gpuwhy_agent/__init__.py"), "");
  EXPECT_EQ(ReadFile(spool->library())->size(), 6u);
  EXPECT_EQ(Mode(spool->library()), 0700u);
  EXPECT_TRUE(spool->gaps().empty());
  EXPECT_TRUE(spool->RemoveIfUnused());
  EXPECT_TRUE(Folders().empty());
}

TEST_F(SpoolTest, StaysWhileAProcessUsesIt) {
  Result<Spool> spool = Spool::Create(Places(), {}, {});
  ASSERT_TRUE(spool);
  const std::string ring = Format("{}/{}-{}-py.ring", spool->folder(), getpid(), *StartTicks(getpid()));
  ASSERT_TRUE(WriteFile(ring, "x"));
  EXPECT_FALSE(spool->RemoveIfUnused());
  ASSERT_EQ(unlink(ring.c_str()), 0);
  // Same pid, other start: that process is gone.
  ASSERT_TRUE(WriteFile(Format("{}/{}-{}-py.ring", spool->folder(), getpid(), *StartTicks(getpid()) + 1), "x"));
  EXPECT_TRUE(spool->RemoveIfUnused());
}

TEST_F(SpoolTest, StaysWhileAProcessWasStartedWithIt) {
  Result<Spool> spool = Spool::Create(Places(), {}, {});
  ASSERT_TRUE(spool);
  const std::string variable = "GPUWHY_SPOOL=" + spool->folder();
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    char* const argv[] = {const_cast<char*>("sleep"), const_cast<char*>("60"), nullptr};
    char* const envp[] = {const_cast<char*>(variable.c_str()), nullptr};
    execve("/bin/sleep", argv, envp);
    _exit(1);
  }
  close(ready[1]);
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 0);  // closed by the exec
  close(ready[0]);
  EXPECT_FALSE(spool->RemoveIfUnused());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(spool->RemoveIfUnused());
}

TEST_F(SpoolTest, AnOrphanIsFoundOnceAndALivingOneNever) {
  std::string folder;
  {
    Result<Spool> spool = Spool::Create(Places(), {}, {});
    ASSERT_TRUE(spool);
    folder = spool->folder();
    ASSERT_TRUE(WriteFile(folder + "/1-1-cu.ring", "x"));
    EXPECT_TRUE(CollectOrphans(Places()).empty());
  }
  {
    std::vector<OrphanedSpool> orphans = CollectOrphans(Places());
    ASSERT_EQ(orphans.size(), 1u);
    EXPECT_EQ(orphans[0].folder(), folder);
    EXPECT_TRUE(orphans[0].has_rings());
    EXPECT_TRUE(CollectOrphans(Places()).empty());  // taken
    orphans[0].Remove();
  }
  EXPECT_TRUE(Folders().empty());
}

TEST_F(SpoolTest, TakesNoFolderOfOthersForAnOrphan) {
  const std::string outside = base_ + "/outside";
  ASSERT_TRUE(MakeFolders(outside));
  ASSERT_TRUE(WriteFile(outside + "/owner", ""));
  const std::string link = Format("{}/gpuwhy-{}-link", base_, geteuid()),
                    open = Format("{}/gpuwhy-{}-open", base_, geteuid());
  ASSERT_EQ(symlink(outside.c_str(), link.c_str()), 0);
  ASSERT_TRUE(MakeFolders(open));
  ASSERT_TRUE(WriteFile(open + "/owner", ""));
  ASSERT_EQ(chmod(open.c_str(), 0755), 0);
  EXPECT_TRUE(CollectOrphans(Places()).empty());
}

TEST_F(SpoolTest, RefusesUnfitPlacesAndTakesTheNext) {
  const std::string open = base_ + "/open";
  ASSERT_TRUE(MakeFolders(open));
  ASSERT_EQ(chmod(open.c_str(), 0777), 0);
  ASSERT_TRUE(WriteFile(base_ + "/file", ""));
  EXPECT_NE(SpoolPlaceRefusal(open, 1).find("sticky"), std::string::npos);
  EXPECT_NE(SpoolPlaceRefusal(base_ + "/file", 1).find("not a folder"), std::string::npos);
  EXPECT_NE(SpoolPlaceRefusal("tmp", 1).find("absolute"), std::string::npos);
  EXPECT_NE(SpoolPlaceRefusal("/dev/shm", 1), "");
  EXPECT_NE(SpoolPlaceRefusal(base_, uint64_t{1} << 60).find("MB free"), std::string::npos);
  EXPECT_EQ(SpoolPlaceRefusal(base_, 1), "");
  Result<Spool> spool = Spool::Create({{open, base_ + "/missing", "/dev/shm", base_}, {}}, {}, {});
  ASSERT_TRUE(spool) << spool.error().Line();
  EXPECT_EQ(std::filesystem::path(spool->folder()).parent_path(), base_);
  EXPECT_TRUE(spool->RemoveIfUnused());
  const Result<Spool> none = Spool::Create({{open, base_ + "/missing"}, {}}, {}, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().Line().find("No such file"), std::string::npos) << none.error().Line();
}

TEST_F(SpoolTest, AFileSizeLimitBelowARingMeansNoSpool) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit low{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &low);
  const Result<Spool> spool = Spool::Create(Places(), {}, {});
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(spool);
  EXPECT_NE(spool.error().hint.find("ulimit -f"), std::string::npos);
}

}  // namespace
}  // namespace gpuwhy
