#include "compilers/probed/optimiser_steps.h"

#include <algorithm>

#include "compilers/network_parts.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {

std::optional<OptimiserSwitches> optimiserSwitchesOf(const Compiler& compiler) {
  const auto* probed = dynamic_cast<const ProbedCompiler*>(&compiler);
  if (probed == nullptr || recordedJobOf(compiler)) return {};
  return probed->kind().optimiserSwitches();
}

Result<std::vector<OptimiserStep>> optimiserSteps(const Compiler& compiler, const std::shared_ptr<const Plan>& plan,
                                                  const std::map<std::string, Dims>& extents,
                                                  const BuildOptions& options) {
  const auto* probed = dynamic_cast<const ProbedCompiler*>(&compiler);
  std::vector<OptimiserStep> all;
  if (probed == nullptr) return all;
  const ProbedKind& kind = probed->kind();
  for (const Segment& segment : plan->segments) {
    if (segment.kind == SegmentKind::Fallback) continue;
    const Part part = TRY(segmentPart(plan, segment, extents, options.stop));
    CompilerInput network = TRY(makeCompilerInput(part.plan, kind.inputTypesFor(*part.plan), options.stop));
    BuildOptions withThreads = options;
    withThreads.threads = probed->threads(options);
    const Json asked = TRY(kind.requestOptions(network, withThreads));
    auto job = TRY(probed->takeJob(options.stop));
    const auto answer =
        job->ask({.json = {{"op", "optimisers"}, {"options", asked}}, .files = filesOf(network)}, options.stop);
    auto steps = answer.ok() ? kind.optimiserSteps(answer.value()) : Result<std::vector<OptimiserStep>>(answer.error());
    if (job->isThere()) probed->giveBack(std::move(job));
    for (OptimiserStep& step : TRY(std::move(steps))) {
      const auto known = std::ranges::find(all, step.name, &OptimiserStep::name);
      if (known == all.end()) {
        all.push_back(std::move(step));
      } else {
        known->changed = known->changed || step.changed;
      }
    }
  }
  return all;
}

}  // namespace fusescope
