// Sequences that are short as a rule, in place up to a bound and elsewhere behind it.
#include "base/small_vector.h"

#include <gtest/gtest.h>

#include <numeric>

namespace fusescope {
namespace {

using Three = SmallVector<int, 3>;

Three counted(int count) {
  Three numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

bool holdsItsOwn(const Three& numbers) {
  const auto* begin = reinterpret_cast<const std::byte*>(&numbers);
  const auto* data = reinterpret_cast<const std::byte*>(numbers.data());
  return data >= begin && data < begin + sizeof numbers;
}

TEST(SmallVector, HoldsFewElementsInPlaceAndAnyNumber) {
  for (const int count : {0, 1, 3, 4, 100}) {
    const Three numbers = counted(count);
    ASSERT_EQ(numbers.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(numbers.empty(), count == 0);
    EXPECT_EQ(holdsItsOwn(numbers), count <= 3) << count;
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), count * (count - 1) / 2);
    EXPECT_EQ(static_cast<std::vector<int>>(numbers), std::vector<int>(numbers.begin(), numbers.end()));
  }
}

TEST(SmallVector, IsCopiedAndMovedWhereverItsElementsAre) {
  for (const int from : {0, 2, 5}) {
    for (const int to : {0, 3, 9}) {
      const Three original = counted(from);
      Three copy = counted(to);
      copy = original;
      EXPECT_EQ(copy, original);
      copy.push_back(7);
      EXPECT_EQ(original.size(), static_cast<std::size_t>(from)) << "a copy is its own";
      Three moved = counted(to), source = original;
      moved = std::move(source);
      EXPECT_EQ(moved, original);
      source = counted(4);  // what was moved from is of use again
      EXPECT_EQ(source, counted(4));
      const Three constructed(std::move(moved));
      EXPECT_EQ(constructed, original);
    }
  }
  Three same = counted(5);
  const Three& itself = same;
  same = itself;
  EXPECT_EQ(same, counted(5));
}

TEST(SmallVector, GrowsShrinksAndTakesOthersIn) {
  Three numbers{4, 5};
  numbers.resize(5);
  EXPECT_EQ(numbers, (Three{4, 5, 0, 0, 0}));
  numbers.resize(1);
  numbers.append(counted(3).data(), 3);
  EXPECT_EQ(numbers, (Three{4, 0, 1, 2}));
  numbers.pop_back();
  EXPECT_EQ(numbers.back(), 1);
  EXPECT_EQ(numbers.front(), 4);
  numbers.clear();
  EXPECT_TRUE(numbers.empty());
  EXPECT_EQ(Three(4, 9), (Three{9, 9, 9, 9}));
  EXPECT_EQ(Three(std::vector{1, 2}), (Three{1, 2}));
  EXPECT_NE((Three{1, 2}), (Three{1, 3}));
}

}  // namespace
}  // namespace fusescope
