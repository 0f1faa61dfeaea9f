#include "compilers/compile_network.h"

#include "compilers/segmented_engine.h"

namespace fusescope {

Result<std::shared_ptr<const Plan>> planSupported(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                                  const StopToken& stop) {
  if (compiler.takesWholeNetworks() || plan->options.support != nullptr) return plan;
  if (!compiler.whyNot(Ability::Support).empty()) return plan;
  auto support = std::make_shared<const CompilerSupport>(TRY(compiler.support(*plan, stop)));
  PlanOptions options = plan->options;
  options.support = std::move(support);
  return makePlan(unquantized(plan->model), options, nullptr, stop);
}

Result<std::unique_ptr<Engine>> compileNetwork(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                               const BuildOptions& options) {
  TRY(checkAble(compiler, Ability::Compile, "compile a network"));
  if (compiler.takesWholeNetworks()) return compiler.compile(TRY(compiler.lower(std::move(plan))), options);
  plan = TRY(planSupported(compiler, std::move(plan), options.stop));
  return std::unique_ptr<Engine>(TRY(SegmentedEngine::build(compiler, std::move(plan), options)));
}

}  // namespace fusescope
