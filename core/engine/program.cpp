#include "engine/program.h"

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

}  // namespace fusescope
