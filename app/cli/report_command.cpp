
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/side_arguments.h"
#include "base/files.h"
#include "base/text.h"
#include "diff/diff_plans.h"
#include "session/engine_prices.h"
#include "session/import_engine.h"
#include "session/open_model.h"
#include "session/operations/report_operation.h"
#include "session/reports/report.h"
#include "session/reports/report_html.h"
#include "session/runs/run_plans.h"
#include "session/session_file.h"

namespace fusescope::cli {
namespace {

using ReportArguments = ArgumentsOf<ReportSettings>;

/// The data from which one side of a report is made; it must live as long as the ReportSide that refers to it.
struct Opened {
  Artifact artifact;
  const Run* run = nullptr;
  std::shared_ptr<const Run> ofFiles{};  ///< the run of an engine that was built and measured elsewhere
  ReportSide side() const {
    ReportSide side = reportSide(artifact, run);
    if (ofFiles != nullptr) side.title = side.known.label = artifact.path;
    return side;
  }
};

Result<const Run*> runNamed(const Session& session, const std::string& id) {
  if (const Run* run = session.run(id)) return run;
  std::vector<std::string> ids;
  for (const Run& run : session.runs) ids.push_back(run.id);
  return Diagnostic{.message = fmt::format("the session has no run '{}'", id),
                    .help = ids.empty() ? "It has no runs." : fmt::format("Its runs are {}.", joined(ids))};
}

/// Opens a run of the session. If `id` is empty, opens the run that the session shows, or the session's own plan if it
/// shows none.
Result<Opened> openRun(const Artifact& ofSession, const std::string& id) {
  const Session& session = *ofSession.session;
  const std::string wanted = id.empty() ? session.shown : id;
  if (wanted.empty()) return Opened{.artifact = ofSession};
  const Run& run = *TRY(runNamed(session, wanted));
  if (run.kind == RunKind::Comparison)
    return Diagnostic{
        .message = fmt::format("run {} is a comparison", run.id),
        .help = fmt::format("Name the two runs that it compares: {} {}.", run.comparison->a, run.comparison->b)};
  const bool own = run.kind == RunKind::Engine;
  auto model = own ? nullptr : TRY(openModel(session.model.path, run.extents));
  Opened opened{.artifact = TRY(artifactOf(PlannedRun(run), std::move(model))), .run = &run};
  opened.artifact.session = ofSession.session;
  return opened;
}

/// Sets `isUnobeyed` if a pin marked obey is not obeyed, which is printed.
Result<Opened> openSide(const std::string& path, const PlanArguments& plan, bool& isUnobeyed) {
  Opened opened{.artifact = TRY(open(path, plan))};
  TRY(readBack(opened.artifact));
  if (reportUnobeyedPins(opened.artifact.cover())) isUnobeyed = true;
  if (opened.artifact.made != nullptr && opened.artifact.made->placement) {
    opened.ofFiles = std::make_shared<const Run>(engineRun(opened.artifact));
    opened.run = opened.ofFiles.get();
  }
  return opened;
}

Result<Json> reportOf(const ReportArguments& arguments, bool& isUnobeyed) {
  Opened first =
      TRY(openSide(arguments.path, TRY(planArguments(arguments.plan, arguments.planOfA, "--plan-a")), isUnobeyed));
  if (!arguments.output.empty()) TRY(checkOutput(arguments.output, "--output", first.artifact));
  const bool ofSession = first.artifact.session != nullptr;
  if (!ofSession && !arguments.b.empty())
    return Diagnostic{.message = "a report can be about two files at most", .where = {.attribute = arguments.b}};
  Opened a = ofSession ? TRY(openRun(first.artifact, arguments.a)) : std::move(first);
  const std::string& other = ofSession ? arguments.b : arguments.a;
  if (other.empty()) return reportJson(a.side(), timestamp());
  const Opened b =
      ofSession ? TRY(openRun(first.artifact, other))
                : TRY(openSide(other, TRY(planArguments(arguments.plan, arguments.planOfB, "--plan-b")), isUnobeyed));
  const auto prices = pricesOf(*a.artifact.plan, a.artifact.backend);
  const ReportSide sideOfA = a.side(), sideOfB = b.side();
  const PlanDiff diff = TRY(diffPlans(sideOfA.known, sideOfB.known, prices.get()));
  return reportJson(sideOfA, sideOfB, diff, timestamp());
}

Result<int> report(const ReportArguments& arguments) {
  if (arguments.output.empty() && !arguments.json)
    return Diagnostic{.message = "the file for the report is missing",
                      .where = {.attribute = "--output"},
                      .help = "Give -o REPORT.html, or --json."};
  bool isUnobeyed = false;
  const Json json = TRY(reportOf(arguments, isUnobeyed));
  clearProgressLine();
  if (!arguments.output.empty()) TRY(writeFileAtomically(arguments.output, reportHtml(json)));
  if (arguments.json) {
    printJson(json);
  } else {
    std::cout << fmt::format("{}: {}\n", arguments.output,
                             json["kind"] == "run" ? "a report of " + json["run"].value("title", std::string())
                                                   : "a report of the difference");
  }
  return isUnobeyed ? kDoesNotHold : kDone;
}

}  // namespace

Command reportCommand(CLI::App& app) {
  return commandOf<ReportSettings>(app, reportOperation(), report);
}

}  // namespace fusescope::cli
