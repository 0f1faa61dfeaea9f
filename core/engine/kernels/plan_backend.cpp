#include "engine/kernels/plan_backend.h"

namespace fusescope {

const Backend& backendOf(const Plan& plan, const FusedNode& fused) {
  return *findBackend(plan.segments[fused.segment.index].backend);
}

const Backend& acceleratedBackendOf(const Plan& plan) {
  return *findBackend(plan.target.acceleratedBackend);
}

std::shared_ptr<const Plan> planRunBy(std::shared_ptr<const Plan> plan, std::string_view backend) {
  const std::string by(backend.empty() ? plan->target.acceleratedBackend : backend);
  if (plan->options.compiler == kOwnCompiler && plan->target.acceleratedBackend == by) return plan;
  auto changed = std::make_shared<Plan>(*plan);
  changed->target.acceleratedBackend = by;
  for (Segment& segment : changed->segments)
    segment.backend = segment.kind == SegmentKind::Accelerated ? by : "reference";
  for (CoverBody& body : changed->bodies)
    body.cover = planRunBy(std::static_pointer_cast<const Plan>(body.cover), backend);
  return changed;
}

}  // namespace fusescope
