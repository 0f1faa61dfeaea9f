#include "ui/docks/run_source.h"

namespace fusescope {

Result<std::shared_ptr<const Artifact>> RunSource::artifact(const StopToken& stop) const {
  if (cover == nullptr) return plans->find(PlannedRun(*run), network, stop);
  auto artifact = std::make_shared<Artifact>(Artifact{.path = network.file.path});
  const ReadBackPlan* made = asReadBack(*cover);
  if (made != nullptr) artifact->made = {cover, made};
  artifact->plan = made != nullptr ? made->requested : std::shared_ptr<const Plan>(cover, asPlan(*cover));
  return std::shared_ptr<const Artifact>(std::move(artifact));
}

ReportSide RunSource::side(const Artifact& artifact) const {
  ReportSide side = reportSide(artifact, run ? &*run : nullptr);
  side.model = network.file.path;
  side.settings = settings;
  return side;
}

RunSource runSource(const DockContext& context, const Run* run) {
  const PlanDocument& document = context.document;
  RunSource source{.run = {},
                   .cover = {},
                   .plans = context.runs.plans(),
                   .network = context.runs.network(),
                   .settings = context.runs.settings()};
  if (run != nullptr) source.run = *run;
  if (run == nullptr || context.runs.ofThisPlan(*run)) source.cover = document.snapshot()->cover;
  return source;
}

}  // namespace fusescope
