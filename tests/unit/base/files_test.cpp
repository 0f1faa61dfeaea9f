#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>
#include <vector>

#include "base/mapped_file.h"
#include "tests/support/paths.h"
#include "tests/unit/base/killed_process.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

std::int64_t entriesIn(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

mode_t rightsOf(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

TEST(Files, AtomicWriteReplacesWholeFilesAndReportsWhatFails) {
  const test::TemporaryFolder folder;
  const auto path = folder / "file";
  ASSERT_TRUE(writeFileAtomically(path, "first").ok());
  ASSERT_TRUE(writeFileAtomically(path, "second").ok());
  EXPECT_EQ(readTextFile(path).value(), "second");
  EXPECT_EQ(entriesIn(folder.path()), 1);
  const Status failed = writeFileAtomically(folder / "missing" / "file", "text");
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().text().find("missing/file: cannot create"), std::string::npos) << failed.error().text();
}

/// More than is written by one thread, in pieces that begin and end anywhere in pages.
TEST(Files, LargeFilesAreTheirPiecesOneAfterAnother) {
  const test::TemporaryFolder folder;
  std::vector<std::byte> bytes(std::size_t{37} << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  ASSERT_TRUE(writeFileAtomically(folder / "source", bytes).ok());
  const auto source = MappedFile::open(folder / "source").value();
  std::vector<std::span<const std::byte>> pieces;
  std::size_t at = 0;
  for (std::size_t size = 1; at < bytes.size(); size = 3 * size + 7) {  // by turns from memory and from the file
    const std::size_t end = std::min(bytes.size(), at + size);
    pieces.push_back(pieces.size() % 2 == 0 ? std::span(bytes).subspan(at, end - at)
                                            : source->bytes().subspan(at, end - at));
    at = end;
  }
  const std::vector<std::shared_ptr<const MappedFile>> sources{source};
  ASSERT_TRUE(writePiecesAtomically(
                  folder / "copy", pieces, [] { return Status(Done{}); }, sources)
                  .ok());
  const auto copy = MappedFile::open(folder / "copy").value();
  EXPECT_TRUE(std::ranges::equal(copy->bytes(), bytes));
}

TEST(Files, WhatAKilledWriterLeftGoesWithTheNextWrite) {
  const test::TemporaryFolder folder;
  const auto path = folder / "file";
  for (const char* users : {"file.bak", "file.12-b", "file.1-2.old", "files.1-2"})
    std::ofstream(folder / users) << "own";
  ASSERT_TRUE(writeFileAtomically(path, "first").ok());
  test::KilledProcess process([&] {
    const Status written = writeFileAtomically(path, [&](const fs::path& temporary) -> Status {
      std::ofstream(temporary) << "half";
      test::KilledProcess::waitToBeKilled();
    });
  });
  ASSERT_TRUE(process.isWaiting());
  EXPECT_EQ(entriesIn(folder.path()), 6);
  ASSERT_TRUE(writeFileAtomically(path, "second").ok());
  EXPECT_EQ(entriesIn(folder.path()), 6) << "one that still writes is left alone";
  process.kill();
  EXPECT_EQ(readTextFile(path).value(), "second");
  ASSERT_TRUE(writeFileAtomically(folder / "other", "text").ok());
  EXPECT_EQ(entriesIn(folder.path()), 7);
  ASSERT_TRUE(writeFileAtomically(path, "third").ok());
  EXPECT_EQ(entriesIn(folder.path()), 6) << "what was killed is gone, and what the user has is there";
  EXPECT_EQ(readTextFile(path).value(), "third");
}

TEST(Files, FoldersAndMissingFilesAreErrorsNotCrashes) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(MappedFile::open(folder.path()).ok());
  EXPECT_FALSE(MappedFile::open(folder / "none").ok());
  std::ofstream(folder / "empty").close();
  ASSERT_TRUE(MappedFile::open(folder / "empty").ok());
  EXPECT_TRUE(MappedFile::open(folder / "empty").value()->bytes().empty());
}

TEST(Files, ALinkStaysOneAndLeadsToWhatWasWritten) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "inside");
  fs::create_symlink("inside/file", folder / "link");
  fs::create_symlink("link", folder / "second");
  ASSERT_TRUE(writeFileAtomically(folder / "second", "made behind a link").ok());
  ASSERT_TRUE(writeFileAtomically(folder / "link", "replaced behind one").ok());
  EXPECT_TRUE(fs::is_symlink(folder / "link") && fs::is_symlink(folder / "second"));
  EXPECT_EQ(readTextFile(folder / "inside" / "file").value(), "replaced behind one");
  EXPECT_EQ(entriesIn(folder / "inside"), 1);
}

TEST(Files, AFileKeepsItsRightsAndANewOneHasThoseOfTheUser) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(writeFileAtomically(folder / "file", "first").ok());
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(rightsOf(folder / "file"), 0666 & ~mask);
  ASSERT_EQ(::chmod((folder / "file").c_str(), 0640), 0);
  ASSERT_TRUE(writeFileAtomically(folder / "file", "second").ok());
  EXPECT_EQ(rightsOf(folder / "file"), 0640U);
  const auto fill = [](const fs::path& temporary) -> Status {
    fs::remove(temporary);
    std::ofstream(temporary) << "a file in place of the one that was given";
    return Done{};
  };
  ASSERT_TRUE(writeFileAtomically(folder / "file", fill).ok());
  EXPECT_EQ(rightsOf(folder / "file"), 0640U);
}

TEST(Files, APipeIsWrittenToAndStaysOne) {
  const test::TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { std::getline(std::ifstream(pipe), read); });
  ASSERT_TRUE(writeFileAtomically(pipe, "through the pipe\n").ok());
  reader.join();
  EXPECT_EQ(read, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(writeFileAtomically("/dev/null", "nowhere").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Files, WhatCannotBeWrittenIsToldBeforehand) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(checkWritable(folder / "new").ok());
  ASSERT_TRUE(writeFileAtomically(folder / "file", "text").ok());
  EXPECT_TRUE(checkWritable(folder / "file").ok());
  EXPECT_TRUE(checkWritable("/dev/null").ok());
  EXPECT_TRUE(checkWritable("name_without_a_folder").ok());
  for (const fs::path& path : {folder.path(), folder / "missing" / "file", folder / "file" / "file", fs::path()}) {
    const Status status = checkWritable(path);
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_EQ(status.error().where.file, path.string());
    EXPECT_NE(status.error().message.find("cannot be written"), std::string::npos);
  }
}

}  // namespace
}  // namespace fusescope
