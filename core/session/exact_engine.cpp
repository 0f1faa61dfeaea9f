#include "session/exact_engine.h"

#include "planning/types/without_lowered_types.h"

namespace fusescope {

Result<std::unique_ptr<Engine>> exactEngine(const Plan& plan, const BuildOptions& options) {
  return exactEngineWith(plan, options, {});
}

Result<std::unique_ptr<Engine>> exactEngineWith(const Plan& plan, const BuildOptions& options, const Directives& more) {
  PlanOptions exact = forOwnCompiler(withoutLoweredTypes(plan.options));
  exact.directives.insert(exact.directives.end(), more.begin(), more.end());
  assignIds(exact.directives);
  if (plan.target.planningOnly) exact.target = "cpu";  // our own compiler runs it here, whatever its target is
  BuildOptions build = options;
  build.backend = "native";
  build.measureTactics = false;
  return buildEngine(TRY(makePlan(unquantized(plan.model), exact, nullptr, options.stop)), build);
}

}  // namespace fusescope
