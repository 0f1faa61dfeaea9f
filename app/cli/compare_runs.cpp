// `compare SESSION RUN…` prints what is known of any number of runs, side by side. Nothing is run.
#include "app/cli/compare_runs.h"

#include <fmt/format.h>

#include <iostream>

#include "app/cli/table.h"
#include "base/text.h"
#include "session/open_model.h"
#include "session/reports/report.h"
#include "session/reports/report_tables.h"
#include "session/reports/run_matrix.h"
#include "session/runs/run_plans.h"
#include "session/session_file.h"

namespace fusescope::cli {
namespace {

Result<const Run*> runOf(const Session& session, const std::string& id) {
  const Run* run = session.run(id);
  if (run != nullptr && run->hasEngine()) return run;
  std::vector<std::string> ids;
  for (const Run& each : session.runs)
    if (each.hasEngine()) ids.push_back(each.id);
  return Diagnostic{.message = fmt::format("the session has no run '{}' that can be compared", id),
                    .help = ids.empty() ? "It has none." : fmt::format("Its runs are {}.", joined(ids))};
}

std::string cellText(const MatrixCell& cell) {
  if (cell.kernels.empty()) return "-";
  std::string text = cell.time.ms ? msText(cell.time.ms) : cell.time.how;
  if (cell.time.ms && cell.time.how != "run" && cell.time.how != "built") text = "~" + text;
  if (!cell.types.empty()) text += " " + joined(cell.types, "+");
  return cell.kernels.size() == 1 ? text : text + fmt::format(", {} kernels", cell.kernels.size());
}

void printMatrix(const RunMatrix& matrix) {
  printTitle("Groups of kernels that cover the same nodes of the file");
  std::vector<Table::Column> columns{{"nodes"}};
  for (const MatrixColumn& column : matrix.columns) columns.push_back({shortened(column.title, 24), true});
  Table table(columns);
  for (const MatrixRow& row : matrix.rows) {
    std::vector<std::string> cells{(row.same ? "" : "≠ ") + shortened(row.name, 48)};
    for (const MatrixCell& cell : row.cells) cells.push_back(cellText(cell));
    table.add(std::move(cells));
  }
  table.print();
  for (const MatrixColumn& column : matrix.columns) {
    std::cout << fmt::format("{}: {}\n", column.title, column.medianMs ? msText(column.medianMs) : "not timed");
    if (!column.unlike.empty())
      std::cout << fmt::format("  not timed under the conditions of the first run ({}); which is faster is unknown\n",
                               joined(column.unlike));
  }
}

}  // namespace

Result<int> compareRuns(const std::string& path, const std::vector<std::string>& ids, bool blocks, bool json) {
  auto session = std::make_shared<const Session>(TRY(readSession(path)));
  std::vector<Artifact> artifacts;
  std::vector<const Run*> runs;
  for (const std::string& id : ids) {
    const Run* run = TRY(runOf(*session, id));
    auto model = run->kind == RunKind::Engine ? nullptr : TRY(openModel(session->model.path, run->extents));
    artifacts.push_back(TRY(artifactOf(PlannedRun(*run), std::move(model))));
    runs.push_back(run);
  }
  std::vector<ReportSide> sides;
  for (std::size_t i = 0; i < runs.size(); ++i) sides.push_back(reportSide(artifacts[i], runs[i]));
  RunMatrix matrix = runMatrix(sides);
  if (blocks) matrix = byModule(matrix);
  if (json) {
    printJson(toJson(matrix));
  } else {
    printMatrix(matrix);
  }
  return kDone;
}

}  // namespace fusescope::cli
