#include "planning/read_back/predicted_compiler.h"

namespace fusescope {

std::string predictedCompiler(const Plan& plan) {
  if (plan.options.compiler != kOwnCompiler) return plan.options.compiler;
  // Planning is told what a compiler accepted although the plan names none: its engine is there already.
  const bool isBuilt = plan.target.predictedFusions && plan.options.support != nullptr;
  return isBuilt ? plan.target.name : std::string();
}

}  // namespace fusescope
