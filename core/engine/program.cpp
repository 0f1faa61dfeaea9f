#include "engine/program.h"

namespace fusescope {

std::size_t weightBytesOf(const Step& step) {
  if (step.kernel != nullptr) return step.kernel->weightBytes();
  if (step.body != nullptr) return step.body->weightBytes();
  const auto* bodies = dynamic_cast<const BodyStep*>(step.dynamic.get());
  return bodies == nullptr ? 0 : bodies->weightBytes();
}

}  // namespace fusescope
