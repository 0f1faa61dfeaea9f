// What stands in an engine's arena, step by step.
#include "engine/program/memory_timeline.h"

#include <algorithm>

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

TEST(MemoryTimeline, TakesEveryPieceFromItsFirstToItsLastStep) {
  const MemoryTimeline memory{.steps = {{"a", ""}, {"b", ""}, {"c", ""}},
                              .pieces = {{"x", 10, 0, 1, false}, {"y", 30, 1, 2, false}, {"b", 5, 1, 1, true}}};
  EXPECT_EQ(memory.usedBytes(), (std::vector<std::int64_t>{10, 45, 30}));
  EXPECT_EQ(peakOf(memory.usedBytes()), 1U);
  const auto there = memory.at(1);
  ASSERT_EQ(there.size(), 3U);
  EXPECT_EQ(there[0]->name, "y") << "the largest comes first";
  EXPECT_EQ(there[2]->name, "b");
  EXPECT_EQ(memory.at(2).size(), 1U);
  EXPECT_EQ(peakOf({}), 0U);
}

TEST(MemoryTimeline, OfAnEngineIsWhatItsArenaHolds) {
  BuildOptions options{.backend = "native", .threads = 1, .measureTactics = false};
  const auto engine = engineOf(planOf(sampleModel("bert_tiny")), options);
  ASSERT_NE(engine, nullptr);
  const auto memory = engine->memory();
  ASSERT_NE(memory, nullptr);
  ASSERT_FALSE(memory->steps.empty());
  const std::vector<std::int64_t> taken = memory->usedBytes();
  const std::int64_t peak = taken[peakOf(taken)];
  EXPECT_GT(peak, 0);
  EXPECT_LE(peak, memory->arenaBytes);
  EXPECT_EQ(memory->arenaBytes, engine->report().arenaBytes);
  MemoryTimeline tensors = *memory;
  std::erase_if(tensors.pieces, [](const MemoryTimeline::Piece& piece) { return piece.isScratch; });
  const std::vector<std::int64_t> live = tensors.usedBytes();
  EXPECT_EQ(live[peakOf(live)] + memory->callerBytes, engine->report().liveBytes);
  for (const MemoryTimeline::Piece& piece : memory->pieces) {
    EXPECT_LE(piece.first, piece.last);
    EXPECT_LT(piece.last, memory->steps.size());
    EXPECT_TRUE(piece.isScratch || engine->plan().graph().findValue(piece.name).has_value()) << piece.name;
  }
  const auto ofKernel = [](const MemoryTimeline::Step& step) { return !step.identity.empty(); };
  EXPECT_TRUE(std::ranges::any_of(memory->steps, ofKernel));
}

}  // namespace
}  // namespace fusescope::testing
