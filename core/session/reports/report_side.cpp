#include "session/reports/report_side.h"

#include <fmt/format.h>

#include <utility>

#include "session/diff_input.h"
#include "session/session_file.h"

namespace fusescope {

ReportSide reportSide(const Artifact& artifact, const Run* run) {
  ReportSide side{.title = artifact.path,
                  .model = artifact.plan->model->path,
                  .known = diffInput(artifact),
                  .run = run,
                  .settings = {},
                  .backend = artifact.backend};
  if (artifact.session != nullptr) side.settings = artifact.session->settings;
  if (run != nullptr) {
    side.title = fmt::format("run {}, {}", run->id, run->name);
    if (run->time) addTimes(*std::as_const(run->time), side.known);
    side.known.label = side.title;
  }
  return side;
}

}  // namespace fusescope
