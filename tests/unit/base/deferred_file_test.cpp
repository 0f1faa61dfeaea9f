#include "base/deferred_file.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/paths.h"

namespace fusescope {
namespace {

TEST(DeferredFiles, AreWrittenOnceAndOnlyWhenTheyAreWanted) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "late", other = folder.path() / "other";
  int written = 0;
  std::optional<DeferredFile> file;
  file.emplace(path, [&] {
    ++written;
    return Status(Done{});
  });
  EXPECT_TRUE(writeDeferred(other).ok());
  EXPECT_EQ(written, 0);
  EXPECT_TRUE(writeDeferred({{"a", other}, {"b", path}}).ok());
  EXPECT_TRUE(writeDeferred(path).ok());
  EXPECT_EQ(written, 1);
  file.reset();
  EXPECT_TRUE(writeDeferred(path).ok());
  EXPECT_EQ(written, 1) << "the object is gone";
}

TEST(DeferredFiles, KeepTheirError) {
  const test::TemporaryFolder folder;
  DeferredFile file(folder.path() / "late", [] { return Status(Diagnostic{.message = "the disk is full"}); });
  for (int i = 0; i < 2; ++i) {
    const Status written = writeDeferred(file.path());
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().message, "the disk is full");
  }
}

}  // namespace
}  // namespace fusescope
