#include "base/part_hashes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/reread_file.h"
#include "base/running_hash.h"
#include "tests/support/paths.h"

namespace fusescope {
namespace {

std::string differingBytes(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i * i % 251));
  return bytes;
}

std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(RunningHash, PiecesHaveTheHashOfTheWhole) {
  const std::string text = differingBytes(100'000);
  EXPECT_EQ(RunningHash().hash(), hashBytes({}));
  for (const std::size_t piece : {1UL, 240UL, 4096UL, 99'999UL, 100'000UL}) {
    RunningHash hash;
    for (std::size_t at = 0; at < text.size(); at += piece) hash.add(bytesOf(text.substr(at, piece)));
    EXPECT_EQ(hash.hash(), hashBytes(bytesOf(text))) << piece;
  }
}

TEST(PartHashes, AreKeptAsLongAsTheyAreWantedAndForThatPartAlone) {
  const test::TemporaryFolder folder;
  const auto file = MappedFile::open(folder.write("f", differingBytes(5000))).value();
  const std::vector files{file};
  const auto part = file->bytes().subspan(100, 1000);
  keepPartHash(*file, part, hashBytes(part));
  EXPECT_FALSE(partHash(files, part)) << "nobody wants it";
  {
    const PartHashesWanted first;
    {
      const PartHashesWanted second;
      EXPECT_TRUE(arePartHashesWanted());
      keepPartHash(*file, part, hashBytes(part));
    }
    EXPECT_EQ(partHash(files, part), hashBytes(part));
    EXPECT_FALSE(partHash(files, file->bytes().subspan(100, 999)));
    EXPECT_FALSE(partHash(files, file->bytes().subspan(101, 1000)));
    EXPECT_FALSE(partHash({}, part));
    folder.write("f", differingBytes(4999));
    const std::vector changed{MappedFile::open(file->identity().path).value()};
    EXPECT_FALSE(partHash(changed, changed[0]->bytes().subspan(100, 1000))) << "it is another content";
  }
  EXPECT_FALSE(arePartHashesWanted());
  EXPECT_FALSE(partHash(files, part));
}

TEST(RereadFile, ReadsWhatIsMappedAndNothingOfAnotherFile) {
  const test::TemporaryFolder folder;
  const std::string text = differingBytes(5000);
  const std::vector mapped{MappedFile::open(folder.write("f", text)).value()};
  const std::vector<RereadFile> files = reread(mapped);
  const auto part = mapped[0]->bytes().subspan(1000, 3000);
  ASSERT_EQ(holderOf(part, files), files.data());
  EXPECT_EQ(holderOf(bytesOf(text), files), nullptr);
  std::vector<std::byte> buffer(2000);
  ASSERT_EQ(files[0].read(part, buffer), 2000U);
  EXPECT_TRUE(std::ranges::equal(buffer, part.first(2000)));
  EXPECT_EQ(files[0].read(part.subspan(2500), buffer), 500U);
  std::filesystem::resize_file(mapped[0]->identity().path, 1000);
  EXPECT_EQ(files[0].read(part, buffer), 0U) << "the file became shorter";
  std::filesystem::remove(mapped[0]->identity().path);
  folder.write("f", text);
  EXPECT_EQ(holderOf(part, reread(mapped)), nullptr) << "there is another file at that path";
}

}  // namespace
}  // namespace fusescope
