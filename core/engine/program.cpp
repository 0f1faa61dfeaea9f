#include "engine/program.h"

namespace fusescope {

void addWeights(const Step& step, PackedSet& weights) {
  if (step.kernel != nullptr) step.kernel->addWeights(weights);
  if (step.body != nullptr) step.body->addWeights(weights);
  if (const auto* bodies = dynamic_cast<const BodyStep*>(step.dynamic.get())) bodies->addWeights(weights);
}

}  // namespace fusescope
