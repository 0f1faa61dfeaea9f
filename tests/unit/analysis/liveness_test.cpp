#include "analysis/liveness.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace fusescope {
namespace {

bool overlap(std::size_t beginA, std::size_t bytesA, std::size_t beginB, std::size_t bytesB) {
  return beginA < beginB + bytesB && beginB < beginA + bytesA;
}

TEST(PlanArena, SharesBytesBetweenLivesThatDoNotMeet) {
  const std::vector<BufferLife> buffers{{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  const ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.bytes, 256U);
}

TEST(PlanArena, TakesTheTightestGap) {
  // Three long-lived walls leave gaps of 128 and 64 bytes once the two short ones are gone.
  const std::vector<BufferLife> buffers{{640, 0, 9}, {128, 0, 1}, {576, 0, 9}, {64, 0, 1}, {512, 0, 9}, {64, 5, 6}};
  const ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.bytes, 640U + 576U + 512U + 128U + 64U);
}

TEST(PlanArena, NeverOverlapsLiveBuffers) {
  std::uint32_t state = 7;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % below;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLife> buffers(1 + random(40));
    for (BufferLife& buffer : buffers) {
      buffer.bytes = random(2000);
      buffer.first = random(30);
      buffer.last = buffer.first + random(10);
    }
    const ArenaPlan plan = planArena(buffers);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0U);
      EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
      sum += (buffers[i].bytes + 63) / 64 * 64;
      for (std::size_t k = 0; k < i; ++k) {
        if (buffers[i].last < buffers[k].first || buffers[k].last < buffers[i].first) continue;
        EXPECT_FALSE(overlap(plan.offsets[i], buffers[i].bytes, plan.offsets[k], buffers[k].bytes))
            << "round " << round << " buffers " << i << " and " << k;
      }
    }
    EXPECT_LE(plan.bytes, sum);
  }
}

TEST(PlanArena, NothingNeedsNothing) {
  EXPECT_EQ(planArena({}).bytes, 0U);
  const std::vector<BufferLife> empty{{0, 0, 3}};
  EXPECT_EQ(planArena(empty).bytes, 0U);
}

}  // namespace
}  // namespace fusescope
