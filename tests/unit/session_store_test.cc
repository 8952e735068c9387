// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/session_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "session/diagnose.h"

namespace gpuwhy {
namespace {

namespace fs = std::filesystem;

class SessionStore : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() /
            ("gpuwhy-store-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    setenv("XDG_STATE_HOME", root_.c_str(), 1);
    folder_ = *SessionFolder();
  }
  void TearDown() override {
    unsetenv("XDG_STATE_HOME");
    fs::remove_all(root_);
  }
  // A session of `bytes` bytes written `age` seconds ago.
  void Put(const std::string& name, int age, size_t bytes = 10) {
    fs::create_directories(folder_);
    std::ofstream(folder_ + "/" + name) << std::string(bytes, 'x');
    fs::last_write_time(folder_ + "/" + name, fs::file_time_type::clock::now() - std::chrono::seconds(age));
  }
  size_t Count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path root_;
  std::string folder_;
};

TEST_F(SessionStore, FollowsTheEnvironment) {
  EXPECT_EQ(folder_, root_.string() + "/gpuwhy/sessions");
  const std::string home = getenv("HOME") == nullptr ? "" : getenv("HOME");
  setenv("HOME", "/home/someone", 1);
  setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(*SessionFolder(), "/home/someone/.local/state/gpuwhy/sessions");
  unsetenv("HOME");
  EXPECT_EQ(SessionFolder().error().code, ErrorCode::kNotFound);
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
}

TEST_F(SessionStore, MakesTheFolderAndNamesByTime) {
  const Result<std::string> path = NewSessionPath(1'700'000'000'000'000'000, 42);
  ASSERT_TRUE(path);
  EXPECT_EQ(*path, folder_ + "/20231114T221320-42.gpuwhy");
  EXPECT_TRUE(fs::is_directory(folder_));
}

TEST_F(SessionStore, NewestIsTheLastWritten) {
  EXPECT_EQ(NewestSession().error().code, ErrorCode::kNotFound);
  Put("z.gpuwhy", 100);
  Put("a.gpuwhy", 5);
  Put("other.txt", 0);
  EXPECT_EQ(*NewestSession(), folder_ + "/a.gpuwhy");
}

TEST_F(SessionStore, PruneKeepsTheNewestFilesAndBytes) {
  for (int i = 0; i < 6; ++i) Put("s" + std::to_string(i) + ".gpuwhy", i);
  Put("foreign.txt", 1000);
  PruneSessions(folder_, 4, 1000);
  EXPECT_EQ(Count(), 5U);
  PruneSessions(folder_, 4, 25);
  EXPECT_EQ(Count(), 3U);
  PruneSessions(folder_, 0, 0);
  EXPECT_EQ(Count(), 2U);
  EXPECT_EQ(*NewestSession(), folder_ + "/s0.gpuwhy");
}

TEST_F(SessionStore, WhatIsNoSessionIsNamed) {
  EXPECT_EQ(DiagnoseInput("", "x").error().message, "cannot read x: it is empty");
  EXPECT_EQ(DiagnoseInput(std::string("\x7f"
                                      "ELF\0\1",
                                      6),
                          "x")
                .error()
                .message,
            "cannot read x: binary data, not a text");
  EXPECT_EQ(DiagnoseInput("{\"schema\":\"gpuwhy.session/99\"}\n", "x").error().code, ErrorCode::kMalformed);
  EXPECT_EQ(DiagnoseFile("last").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(DiagnoseFile("/no/such").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace gpuwhy
