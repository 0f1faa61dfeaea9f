#include "engine/program/program.h"

#include <numeric>

namespace fusescope {

std::size_t Program::arenaBytes() const {
  return std::accumulate(arenas.begin(), arenas.end(), std::size_t{0},
                         [](std::size_t bytes, const Arena& arena) { return bytes + arena.bytes; });
}

void addWeights(const Step& step, PackedSet& weights) {
  if (step.kernel != nullptr) step.kernel->addWeights(weights);
  if (step.body != nullptr) step.body->addWeights(weights);
  if (const auto* bodies = dynamic_cast<const BodyStep*>(step.dynamic.get())) bodies->addWeights(weights);
}

void placeViews(Program& program) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    Buffer& buffer = program.buffers[i];
    buffer.root = i;
    buffer.begin = 0;
    while (program.buffers[buffer.root].within != buffer.root) {
      buffer.begin += program.buffers[buffer.root].shift;
      buffer.root = program.buffers[buffer.root].within;
    }
    buffer.place = program.buffers[buffer.root].place;
    buffer.index = program.buffers[buffer.root].index;
  }
}

}  // namespace fusescope
