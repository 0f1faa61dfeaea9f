#include "engine/program/memory_timeline.h"

#include <algorithm>

#include "engine/program/memory_lives.h"
#include "ir/graph.h"
#include "planning/plan.h"

namespace fusescope {

std::vector<std::int64_t> MemoryTimeline::usedBytes() const {
  std::vector<std::int64_t> change(steps.size() + 1, 0);
  for (const Piece& piece : pieces) {
    change[piece.first] += piece.bytes;
    change[piece.last + 1] -= piece.bytes;
  }
  std::vector<std::int64_t> used(steps.size(), 0);
  std::int64_t now = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) used[step] = now += change[step];
  return used;
}

std::vector<const MemoryTimeline::Piece*> MemoryTimeline::at(std::size_t step) const {
  std::vector<const Piece*> there;
  for (const Piece& piece : pieces)
    if (piece.first <= step && step <= piece.last) there.push_back(&piece);
  std::ranges::stable_sort(there, std::ranges::greater(), [](const Piece* piece) { return piece->bytes; });
  return there;
}

std::size_t peakOf(const std::vector<std::int64_t>& used) {
  return static_cast<std::size_t>(std::ranges::max_element(used) - used.begin());
}

MemoryTimeline memoryTimeline(const Program& program, const Plan& plan) {
  MemoryTimeline timeline{.arenaBytes = static_cast<std::int64_t>(program.arenaBytes()),
                          .callerBytes = static_cast<std::int64_t>(bytesOfCaller(program)),
                          .boxed = static_cast<std::int64_t>(program.boxCount)};
  for (const Step& step : program.steps) {
    timeline.steps.push_back(
        {step.name, step.fused.valid() ? plan.fusedNodes[step.fused.index].identity.hex() : std::string()});
    timeline.holders += step.body != nullptr ? 1 : 0;
  }
  const std::vector<BufferLife> lives = arenaLives(program);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].bytes == 0) continue;
    MemoryTimeline::Piece piece{.bytes = static_cast<std::int64_t>(lives[i].bytes),
                                .first = lives[i].first,
                                .last = lives[i].last,
                                .isScratch = i >= program.buffers.size()};
    const ValueId value = piece.isScratch ? ValueId() : program.buffers[i].value;
    piece.name = value.valid() ? plan.graph().value(value).name : program.steps[piece.first].name;
    timeline.pieces.push_back(std::move(piece));
  }
  return timeline;
}

}  // namespace fusescope
