#include "base/shared_optional.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace fusescope {
namespace {

using Numbers = SharedOptional<std::vector<int>>;

TEST(SharedOptional, IsAValueOrNone) {
  Numbers none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none, Numbers());
  Numbers some = std::vector{1, 2};
  EXPECT_TRUE(some);
  EXPECT_EQ(some->size(), 2U);
  EXPECT_NE(some, none);
  EXPECT_EQ(some, Numbers(std::vector{1, 2}));
  EXPECT_EQ(std::as_const(none).value_or({7}), std::vector{7});
  some.reset();
  EXPECT_EQ(some, none);
  none.emplace().push_back(3);
  EXPECT_EQ(*std::as_const(none), std::vector{3});
}

TEST(SharedOptional, CopiesShareUntilOneIsChanged) {
  const Numbers first = std::vector{1, 2};
  Numbers second = first;
  EXPECT_TRUE(second.isSameObject(first));
  EXPECT_EQ(&*std::as_const(second), &*first);
  second->push_back(3);
  EXPECT_FALSE(second.isSameObject(first));
  EXPECT_EQ(*first, (std::vector{1, 2}));
  EXPECT_EQ(*std::as_const(second), (std::vector{1, 2, 3}));
  const int* place = std::as_const(second)->data();
  second->front() = 0;  // nobody shares it: changed where it is
  EXPECT_EQ(std::as_const(second)->data(), place);
}

}  // namespace
}  // namespace fusescope
