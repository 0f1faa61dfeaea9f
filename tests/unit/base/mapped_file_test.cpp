#include "base/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/files.h"
#include "tests/support/paths.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

const std::size_t kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

std::string pagesOf(char content, std::size_t pages) {
  return std::string(pages * kPage, content);
}

/// Times of files advance in steps of some milliseconds.
void waitForTheClockOfFiles() {
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
}

void setModified(const fs::path& path, const timespec& time) {
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

void expectSays(const Status& status, const std::string& says, const fs::path& path) {
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find(says), std::string::npos) << status.error().text();
  EXPECT_EQ(status.error().where.file, path.string());
  EXPECT_FALSE(status.error().help.empty());
}

TEST(MappedFile, WhatAShorterFileLostReadsAsZerosAndIsKnown) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", pagesOf('x', 5));
  const auto file = MappedFile::open(path).value();
  ASSERT_TRUE(file->checkIntact().ok());
  fs::resize_file(path, kPage);
  EXPECT_EQ(file->bytes()[0], std::byte{'x'});
  EXPECT_FALSE(file->damaged());
  EXPECT_TRUE(std::ranges::all_of(file->bytes().subspan(kPage), [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_TRUE(file->damaged());
  expectSays(file->checkIntact(), "became shorter while it was read", path);
  fs::remove(path);  // then only the pages tell
  expectSays(file->checkIntact(), "became shorter while it was read", path);
}

TEST(MappedFile, LosingPartOfAPageRaisesNoSignalAndIsKnownAllTheSame) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", std::string(100, 'x'));
  const auto file = MappedFile::open(path).value();
  fs::resize_file(path, 10);
  EXPECT_EQ(file->bytes()[99], std::byte{0});
  EXPECT_FALSE(file->damaged());
  expectSays(file->checkIntact(), "became shorter", path);
}

TEST(MappedFile, OnlyTheFileThatWasCutIsDamaged) {
  const test::TemporaryFolder folder;
  const auto cut = folder.write("cut", pagesOf('x', 2)), whole = folder.write("whole", pagesOf('y', 2));
  const auto first = MappedFile::open(whole).value(), second = MappedFile::open(cut).value(),
             third = MappedFile::open(whole).value();
  fs::resize_file(cut, 0);
  EXPECT_EQ(second->bytes()[kPage], std::byte{0});
  EXPECT_TRUE(second->damaged());
  EXPECT_FALSE(first->damaged());
  EXPECT_FALSE(third->damaged());
  EXPECT_EQ(third->bytes()[kPage], std::byte{'y'});
  expectSays(checkIntact(MappedFiles{first, second, third}), "became shorter", cut);
}

TEST(MappedFile, TheSameBytesAreMappedOnce) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", pagesOf('x', 2));
  const auto first = MappedFile::open(path).value();
  EXPECT_EQ(first, MappedFile::open(path).value());
  ASSERT_TRUE(writeFileAtomically(path, pagesOf('y', 2)).ok());
  const auto other = MappedFile::open(path).value();
  EXPECT_NE(first, other);
  EXPECT_EQ(first->bytes()[0], std::byte{'x'});
  EXPECT_EQ(other->bytes()[0], std::byte{'y'});
}

TEST(MappedFile, AnotherFileInTheSameMemoryIsNotDamaged) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", pagesOf('x', 2));
  {
    const auto file = MappedFile::open(path).value();
    fs::resize_file(path, 0);
    EXPECT_EQ(file->bytes()[kPage], std::byte{0});
    EXPECT_TRUE(file->damaged());
  }
  folder.write("f", pagesOf('y', 2));
  const auto file = MappedFile::open(path).value();
  EXPECT_EQ(file->bytes()[kPage], std::byte{'y'});
  EXPECT_FALSE(file->damaged());
}

/// Opens, reads and closes files, every second of which is cut meanwhile; the number of wrong findings.
int wrongFindings(const fs::path& folder, int thread) {
  int wrong = 0;
  for (int i = 0; i < 50; ++i) {
    const fs::path path = folder / (std::to_string(thread) + "-" + std::to_string(i));
    if (!writeFileAtomically(path, pagesOf('x', 2)).ok()) return -1;
    const auto file = MappedFile::open(path);
    if (!file.ok()) return -1;
    const bool cut = i % 2 == 0;
    if (cut) fs::resize_file(path, 1);
    const bool lost = file.value()->bytes()[kPage] == std::byte{0};
    wrong += static_cast<int>(lost != cut || file.value()->damaged() != cut || file.value()->checkIntact().ok() == cut);
  }
  return wrong;
}

TEST(MappedFile, ThreadsDoNotDisturbEachOther) {
  const test::TemporaryFolder folder;
  // More than a block of watches, so that blocks are added while others fault.
  std::vector<std::shared_ptr<const MappedFile>> held;
  for (int i = 0; i < 100; ++i)
    held.push_back(MappedFile::open(folder.write("kept-" + std::to_string(i), "k")).value());
  std::vector<int> wrong(6, -1);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] { wrong[t] = wrongFindings(folder.path(), static_cast<int>(t)); });
  }
  EXPECT_EQ(wrong, std::vector<int>(wrong.size(), 0));
  EXPECT_TRUE(checkIntact(held).ok());
}

/// Reads beyond the end of a file that nobody watches.
void faultElsewhere(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  const auto* bytes = static_cast<const volatile char*>(::mmap(nullptr, 2 * kPage, PROT_READ, MAP_PRIVATE, fd, 0));
  ::_exit(bytes[kPage]);
}

TEST(MappedFileDeathTest, OtherBusErrorsStillEndTheProcess) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", "x");
  const auto file = MappedFile::open(path).value();  // installs the handler
  EXPECT_DEATH(faultElsewhere(path), "");
  EXPECT_DEATH(
      {
        std::raise(SIGBUS);
        ::_exit(0);
      },
      "");
}

TEST(FileIdentity, SeesAFileWrittenAgainAtTheSameSize) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", "one");
  const auto file = MappedFile::open(path).value();
  const auto before = identityOf(path).value();
  EXPECT_EQ(before, file->identity());
  EXPECT_TRUE(checkUnchanged(std::span(&before, 1)).ok());
  waitForTheClockOfFiles();
  folder.write("f", "two");
  expectSays(checkUnchanged(std::span(&before, 1)), "changed while it was open", path);
  expectSays(file->checkIntact(), "changed while it was open", path);
}

TEST(FileIdentity, SeesAFileWhoseTimeWasPutBack) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", "one");
  const auto before = identityOf(path).value();
  waitForTheClockOfFiles();
  folder.write("f", "two");
  setModified(path, {.tv_sec = before.modifiedNs / 1'000'000'000, .tv_nsec = before.modifiedNs % 1'000'000'000});
  EXPECT_EQ(identityOf(path).value().modifiedNs, before.modifiedNs);
  expectSays(checkUnchanged(std::span(&before, 1)), "changed while it was open", path);
}

TEST(FileIdentity, SeesAnotherFileOfTheSameSizeAndTimeInItsPlace) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", "one"), other = folder.write("other", "two");
  const timespec time{.tv_sec = 1'000'000'000, .tv_nsec = 5};
  setModified(path, time);
  setModified(other, time);
  const auto file = MappedFile::open(path).value();
  fs::rename(other, path);
  const auto before = file->identity(), after = identityOf(path).value();
  EXPECT_EQ(after.modifiedNs, before.modifiedNs);
  EXPECT_EQ(after.bytes, before.bytes);
  expectSays(checkUnchanged(std::span(&before, 1)), "changed while it was open", path);
  expectSays(checkCurrent({file}), "changed while it was open", path);
  EXPECT_TRUE(file->checkIntact().ok()) << "the mapping still is the first file";
  EXPECT_EQ(file->bytes()[0], std::byte{'o'});
}

TEST(FileIdentity, SeesThatAFileIsGone) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", "one");
  const auto file = MappedFile::open(path).value();
  fs::remove(path);
  expectSays(checkCurrent({file}), "changed while it was open", path);
  EXPECT_TRUE(file->checkIntact().ok());
  EXPECT_FALSE(identityOf(path).ok());
}

TEST(Files, PiecesOfMappedFilesAreCopiedAsTheyLie) {
  const test::TemporaryFolder folder;
  std::string content;
  for (std::size_t i = 0; content.size() < 100 * kPage; ++i) content += std::to_string(i) + " ";
  const auto path = folder.write("f", content), target = folder.path() / "target";
  const auto file = MappedFile::open(path).value();
  const std::string own = "of no file";
  const std::span<const std::byte> all = file->bytes(), other = std::as_bytes(std::span(own));
  const std::vector<std::span<const std::byte>> pieces{all.subspan(7, 60 * kPage), other, all.subspan(3, 5),
                                                       all.subspan(50 * kPage)};
  const std::string expected = content.substr(7, 60 * kPage) + own + content.substr(3, 5) + content.substr(50 * kPage);
  const std::vector files{file};
  ASSERT_TRUE(writePiecesAtomically(target, pieces, {}, files).ok());
  EXPECT_EQ(readTextFile(target).value(), expected);
  fs::rename(folder.write("g", std::string(content.size(), 'x')), path);
  ASSERT_TRUE(writePiecesAtomically(target, pieces, {}, files).ok());
  EXPECT_EQ(readTextFile(target).value(), expected) << "another file in its place is not what was mapped";
}

/// So much that two threads write it, in parts.
std::string muchText() {
  std::string text;
  for (std::size_t i = 0; text.size() < std::size_t{40} << 20; ++i) text += std::to_string(i * i) + " ";
  return text;
}

TEST(Files, ManyMegabytesComeInOrder) {
  const test::TemporaryFolder folder;
  const std::string content = muchText(), own = muchText().substr(11);
  const auto target = folder.write("target", "as it was");
  const auto file = MappedFile::open(folder.write("f", content)).value();
  const std::span<const std::byte> all = file->bytes(), other = std::as_bytes(std::span(own));
  const std::vector<std::span<const std::byte>> pieces{other.first(3), all.subspan(1), other, all.first(70000),
                                                       other.subspan(5)};
  const std::vector files{file};
  ASSERT_TRUE(writePiecesAtomically(target, pieces, {}, files).ok());
  EXPECT_TRUE(readTextFile(target).value() ==
              own.substr(0, 3) + content.substr(1) + own + content.substr(0, 70000) + own.substr(5));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2) << "nothing is left";
}

/// The system refuses to make a file larger than this while it exists.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &m_before);
    m_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit less{bytes, m_before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &less);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_handler);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit m_before{};
  void (*m_handler)(int) = SIG_DFL;
};

TEST(Files, PiecesThatDoNotFitAreAnErrorAndLeaveNothing) {
  const test::TemporaryFolder folder;
  const std::string content = muchText();
  const auto target = folder.write("target", "as it was");
  const std::span<const std::byte> bytes = std::as_bytes(std::span(content));
  Status written = Done{};
  {
    const FullDisk full(rlim_t{30} << 20);
    written = writePiecesAtomically(target, std::span(&bytes, 1));
  }
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().text().find("target: cannot write"), std::string::npos) << written.error().text();
  EXPECT_EQ(readTextFile(target).value(), "as it was");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1) << "nothing is left";
}

TEST(Files, PiecesReplaceAFileAndKeepItsRightsAndLinks) {
  const test::TemporaryFolder folder;
  const auto target = folder.write("target", "as it was"), other = folder.path() / "link";
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", other);
  const std::string text = "as it is";
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  ASSERT_TRUE(writePiecesAtomically(other, std::span(&bytes, 1)).ok());
  EXPECT_EQ(readTextFile(target).value(), text);
  EXPECT_TRUE(fs::is_symlink(other));
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2) << "nothing is left";
  fs::create_directory(folder.path() / "folder");
  EXPECT_FALSE(writePiecesAtomically(folder.path() / "folder", std::span(&bytes, 1)).ok());
  EXPECT_TRUE(fs::is_directory(folder.path() / "folder")) << "a folder is not replaced by a file";
}

TEST(Files, PiecesOfAFileThatChangedAreNotWritten) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("f", pagesOf('x', 3)), target = folder.write("target", "as it was");
  const auto file = MappedFile::open(path).value();
  fs::resize_file(path, 1);
  const std::span<const std::byte> bytes = file->bytes();
  const std::vector files{file};
  const Status written = writePiecesAtomically(
      target, std::span(&bytes, 1), [&] { return file->checkIntact(); }, files);
  expectSays(written, "became shorter", path);
  EXPECT_EQ(readTextFile(target).value(), "as it was");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2) << "nothing is left";
}

}  // namespace
}  // namespace fusescope
