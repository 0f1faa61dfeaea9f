#include "ui/docks/run_source.h"

namespace fusescope {

Result<Artifact> RunSource::artifact(const StopToken& stop) const {
  if (cover != nullptr) {
    Artifact artifact{.path = file.path};
    const ReadBackPlan* made = asReadBack(*cover);
    if (made != nullptr) artifact.made = {cover, made};
    artifact.plan = made != nullptr ? made->asked : std::shared_ptr<const Plan>(cover, asPlan(*cover));
    return artifact;
  }
  if (run->kind == RunKind::Engine) return artifactOf(*run, nullptr, stop);
  if (run->model != file.identity())
    return Diagnostic{.message = "run " + run->id + " was made of another model than the one that is open",
                      .help = "Open that model."};
  auto of = run->extents == inputs ? model : TRY(openModel(file.path, run->extents, stop));
  return artifactOf(*run, std::move(of), stop);
}

ReportSide RunSource::side(const Artifact& artifact) const {
  ReportSide side = reportSide(artifact, run ? &*run : nullptr);
  side.model = file.path;
  side.settings = settings;
  return side;
}

RunSource runSource(const DockContext& context, const Run* run) {
  const PlanDocument& document = context.document;
  RunSource source{.run = {},
                   .cover = {},
                   .model = document.model(),
                   .file = document.modelFile(),
                   .inputs = document.inputs(),
                   .settings = context.runs.settings()};
  if (run != nullptr) source.run = *run;
  if (run == nullptr || context.runs.ofThisPlan(*run)) source.cover = document.snapshot()->cover;
  return source;
}

}  // namespace fusescope
