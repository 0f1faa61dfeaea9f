#include "base/sole_owner.h"

#include <gtest/gtest.h>

#include <thread>

namespace fusescope {
namespace {

TEST(SoleOwner, IsWhoHasTheOnlyCopy) {
  const auto pointer = std::make_shared<int>(1);
  EXPECT_TRUE(isSoleOwner(pointer));
  {
    const auto copy = pointer;
    EXPECT_FALSE(isSoleOwner(pointer));
    EXPECT_FALSE(isSoleOwner(copy));
  }
  EXPECT_TRUE(isSoleOwner(pointer));
}

/// Under ThreadSanitizer, what was read by the thread that drops the last copy.
TEST(SoleOwner, MayChangeWhatAnotherThreadHasRead) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    auto pointer = std::make_shared<int>(round);
    int read = -1;
    std::thread reader([&read, copy = pointer]() mutable {
      read = *copy;
      copy.reset();
    });
    while (!isSoleOwner(pointer)) std::this_thread::yield();
    *pointer = -1;
    reader.join();
    EXPECT_EQ(read, round);
  }
}

}  // namespace
}  // namespace fusescope
