#include "ui/window/report_action.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QUrl>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "diff/diff_plans.h"
#include "session/engine_prices.h"
#include "session/reports/report_html.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/docks/run_source.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

const QString kReportMessage = QStringLiteral("report");

/// Returns the canvas as SVG; empty if it cannot be made, because a report without a picture is useful, too.
std::string pictureOf(MainWindow& window) {
  const auto folder = TemporaryFolder::in(QDir::tempPath().toStdString(), "fusescope-picture");
  if (!folder.ok()) return {};
  const QString file = qs((folder.value() / "plan.svg").string());
  if (!window.canvas().exportSvg(file).ok()) return {};
  auto text = readTextFile(file.toStdString());
  return text.ok() ? std::move(text).value() : std::string();
}

Status writeReportOf(const RunSource& a, const std::optional<RunSource>& b, const std::string& picture,
                     const std::string& path, const StopToken& stop) {
  const auto ofA = TRY(a.artifact(stop));
  const ReportSide sideOfA = a.side(*ofA);
  if (!b) return writeFileAtomically(path, reportHtml(reportJson(sideOfA, timestamp()), picture));
  const auto ofB = TRY(b->artifact(stop));
  const ReportSide sideOfB = b->side(*ofB);
  const auto prices = pricesOf(*ofA->plan, ofA->backend);
  const PlanDiff diff = TRY(diffPlans(sideOfA.known, sideOfB.known, prices.get(), stop));
  return writeFileAtomically(path, reportHtml(reportJson(sideOfA, sideOfB, diff, timestamp()), picture));
}

}  // namespace

void saveReport(MainWindow& window) {
  const QString name = QFileInfo(window.document().path()).completeBaseName() + QStringLiteral("_report.html");
  const QString path =
      QFileDialog::getSaveFileName(&window, QStringLiteral("Save the report"), besideModel(window.document(), name),
                                   QStringLiteral("Reports (*.html)"));
  if (!path.isEmpty()) writeReport(window, path);
}

void writeReport(MainWindow& window, const QString& path) {
  const Run *shown = window.runs().shown(), *before = window.runs().comparedWith();
  const RunSource source = runSource(window.context(), shown);
  const bool ofTwo = shown != nullptr && before != nullptr && before != shown;
  const RunSource a = ofTwo ? runSource(window.context(), before) : source;
  const std::optional<RunSource> b = ofTwo ? std::optional(source) : std::nullopt;
  const std::string picture = source.cover != nullptr ? pictureOf(window) : std::string();
  const auto work = [=, file = path.toStdString()](const StopToken& stop) {
    return writeReportOf(a, b, picture, file, stop);
  };
  window.jobs().run(QStringLiteral("report"), &window, work, [&window, path](const Status& written) {
    if (!written.ok())
      return window.messages().show(
          kReportMessage, QStringLiteral("✗ The report was not written: %1").arg(problemInWords(written.error())), {});
    window.messages().show(
        kReportMessage, QStringLiteral("The report is in %1.").arg(path),
        {{QStringLiteral("Open it"), [path] { QDesktopServices::openUrl(QUrl::fromLocalFile(path)); }}});
  });
}

}  // namespace fusescope
