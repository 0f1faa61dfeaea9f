#include "analysis/repeated_stretches.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

using Keys = std::vector<std::uint32_t>;
using Stretches = std::vector<RepeatedStretch>;

TEST(RepeatedStretches, AreTheShortestPartsThatCoverMost) {
  const Keys keys{9, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 8};
  EXPECT_EQ(repeatedStretches(keys, 3, 100), (Stretches{{.begin = 1, .length = 4, .times = 3}}));
  EXPECT_TRUE(repeatedStretches(keys, 5, 100).empty()) << "two parts of eight do not fit";
  EXPECT_TRUE(repeatedStretches(keys, 1, 3).empty());
}

TEST(RepeatedStretches, DoNotOverlapAndStandInOrder) {
  const Keys keys{1, 2, 1, 2, 7, 3, 4, 3, 4, 3, 4, 7};
  EXPECT_EQ(repeatedStretches(keys, 2, 100), (Stretches{{0, 2, 2}, {5, 2, 3}}));
}

TEST(RepeatedStretches, AFractionOfAPartAtTheEndIsLeftOut) {
  EXPECT_EQ(repeatedStretches(Keys{1, 2, 3, 1, 2, 3, 1, 2}, 2, 100), (Stretches{{0, 3, 2}}));
  EXPECT_TRUE(repeatedStretches(Keys{}, 1, 100).empty());
  EXPECT_TRUE(repeatedStretches(Keys{5}, 1, 100).empty());
}

}  // namespace
}  // namespace fusescope
