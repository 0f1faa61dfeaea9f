// Pieces of work that threads claim: each index once, whichever thread comes, and when.
#include "backends/native/kernels/claims.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace fusescope::native {
namespace {

struct Work {
  std::int64_t count;
  int threads;
  std::int64_t leastPiece;
};

/// Claims as `thread` until nothing is left, at most `most` pieces.
void claimAll(Claims& claims, int thread, std::vector<int>& done, int most = 1 << 20) {
  for (int i = 0; i < most; ++i) {
    const Claims::Piece piece = claims.claim(thread);
    if (piece.isEmpty()) return;
    for (std::int64_t k = piece.begin; k < piece.end; ++k) ++done[static_cast<std::size_t>(k)];
  }
}

const std::vector<Work> kWorks{{0, 2, 1},  {1, 2, 1},   {7, 2, 1},     {16, 2, 4},     {17, 3, 4},   {1000, 2, 1},
                               {5, 64, 1}, {100, 7, 1}, {1000, 65, 1}, {1000, 200, 1}, {999, 4, 300}};

TEST(Claims, EveryIndexIsDoneOnceWhicheverThreadStops) {
  for (const auto& [count, threads, least] : kWorks) {
    for (int stopped = 0; stopped < std::min(threads, 4); ++stopped) {
      for (const int piecesBefore : {0, 1, 3}) {
        Claims claims(count, threads, least);
        std::vector<int> done(static_cast<std::size_t>(count), 0);
        claimAll(claims, stopped, done, piecesBefore);
        for (int thread = 0; thread < threads; ++thread)
          if (thread != stopped) claimAll(claims, thread, done);
        if (threads == 1) claimAll(claims, 0, done);
        EXPECT_EQ(done, std::vector<int>(done.size(), 1)) << count << " by " << threads << " but " << stopped;
      }
    }
  }
}

TEST(Claims, AThreadBeginsWithItsOwnStretch) {
  Claims claims(100, 2);
  EXPECT_EQ(claims.claim(1).begin, 50);
  EXPECT_EQ(claims.claim(0).begin, 0);
  EXPECT_EQ(claims.claim(1).begin, 56);
}

TEST(Claims, ThreadsThatRunAtOnceShareNoIndex) {
  constexpr std::int64_t kCount = 20000;
  Claims claims(kCount, 4);
  std::vector<std::vector<int>> done(4, std::vector<int>(kCount, 0));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] { claimAll(claims, thread, done[static_cast<std::size_t>(thread)]); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(done[0][i] + done[1][i] + done[2][i] + done[3][i], 1) << i;
}

}  // namespace
}  // namespace fusescope::native
