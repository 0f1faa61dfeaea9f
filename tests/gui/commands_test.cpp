#include <QAction>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFile>
#include <QMenu>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

#include "planning/plan.h"
#include "tests/gui/gui_support.h"
#include "ui/dialogs/bisect_dialog.h"
#include "ui/dialogs/calibrate_dialog.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/tune_dialog.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/models/roles.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kRunMs = 180'000, kMenuMs = 20;
const QString kNothing = QStringLiteral("nothing was copied");

}  // namespace

/// What the window does leaves it: as a command that does the same, and as a report.
class CommandsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    const Plan& plan = *m_window->document().snapshot()->plan;
    m_window->document().pin({plan.graph().node(plan.fusedNodes.front().root).name}, DataType::F32, Strictness::Obey);
    QTRY_VERIFY(!m_window->document().planning());
  }
  void init() {
    test::catchWarnings();
    QApplication::clipboard()->setText(kNothing);
  }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }
  void cleanupTestCase() { m_window.reset(); }

  void withoutARunThereIsNothingToEvaluate() {
    action("copy:evaluate")->trigger();
    QTest::qWait(50);
    QCOMPARE(QApplication::clipboard()->text(), kNothing);
  }

  void thePlanIsTheSameInAShell() {
    QTest::keyClick(m_window.get(), Qt::Key_C, Qt::ControlModifier | Qt::AltModifier);
    const QString line = copied();
    QVERIFY2(line.contains("--precision f16") && line.contains("=f32:obey"), qPrintable(line));
    const Json planned = saidInShell(line + " --json");
    QVERIFY(!planned.is_discarded());
    const Json here = toJson(*m_window->document().snapshot()->plan);
    for (const char* part : {"segments", "fused_nodes", "precision_map", "casts"})
      QVERIFY2(here.contains(part) && planned.value(part, Json()) == here[part], part);
  }

  void goToAnythingHasThem() {
    QStringList texts;
    for (const QAction* each : m_window->actions().all()) texts << each->text();
    for (const char* text : {"Copy as command: Build this plan", "Copy as command: Evaluate the shown run"})
      QVERIFY2(texts.contains(text), text);
  }

  void theMenuOfARunCopiesWhatMadeIt() {
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kRunMs);
    QVERIFY2(m_window->runs().shown() != nullptr, qPrintable(m_window->controller().problem()));
    m_window->showDock("Runs");
    QTableView& table = m_window->dock<RunsDock>().table();
    const QPoint place = table.visualRect(table.model()->index(0, 1)).center();
    QTimer::singleShot(kMenuMs, this, [] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (menu == nullptr) return;
      for (QAction* entry : menu->actions())
        if (entry->text() == "Copy as command") entry->trigger();
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, place, table.viewport()->mapToGlobal(place));
    QApplication::sendEvent(table.viewport(), &event);
    const QString line = copied();
    QVERIFY2(
        line.startsWith("fusescope build ") && line.contains(" && fusescope time ") && line.contains("--per-layer"),
        qPrintable(line));
  }

  void theActionsCopyTheirs() {
    for (const auto& [name, begins] :
         {std::pair("copy:build", "fusescope build "), std::pair("copy:evaluate", "fusescope errors "),
          std::pair("copy:errors", "fusescope errors "), std::pair("copy:build_both", "fusescope errors ")}) {
      QApplication::clipboard()->setText(kNothing);
      action(name)->trigger();
      const QString line = copied();
      QVERIFY2(line.startsWith(begins), qPrintable(line));
    }
  }

  void theDialogsCopyTheirs() {
    m_window->exportPlan();
    copiesFrom(m_window->findChild<ExportDialog*>(), "fusescope export ");
    m_window->tune();
    copiesFrom(m_window->findChild<TuneDialog*>(), "fusescope tune ");
    m_window->bisect();
    copiesFrom(m_window->findChild<BisectDialog*>(), "fusescope errors ");
    QVERIFY2(copied().contains("--bisect --budget 120"), qPrintable(copied()));
    m_window->calibrate();
    copiesFrom(m_window->findChild<CalibrateDialog*>(), "fusescope calibrate ");
  }

  void aReportOfTheRunIsOneFile() {
    const QString html = report("run.html");
    QVERIFY(html.contains("<!doctype html>") && html.contains("data:image/svg+xml"));
    const Plan& plan = *m_window->document().snapshot()->plan;
    for (const FusedNode& fused : plan.fusedNodes)
      QVERIFY2(html.contains(qs(fused.name).toHtmlEscaped()), fused.name.c_str());
    QVERIFY(html.contains("run " + qs(m_window->runs().shown()->id)));
    QVERIFY(!html.contains("What changed, and why"));
  }

  void theCompareDockCopiesAndTheReportIsOfTheDifference() {
    m_window->document().setPrecisions({});
    QTRY_VERIFY(!m_window->document().planning());
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kRunMs);
    QVERIFY(m_window->runs().comparedWith() != nullptr);
    m_window->showDock("Compare");
    QTest::mouseClick(m_window->dock<CompareDock>().findChild<QPushButton*>("copyCommand"), Qt::LeftButton);
    const QString line = copied();
    QVERIFY2(line.startsWith("fusescope compare ") && line.count(".fse") == 2, qPrintable(line));
    const QString html = report("difference.html");
    QVERIFY(html.contains("What changed, and why"));
    QVERIFY2(html.contains("--precision") || html.contains("precision"), "what they differ by is there");
  }

  void aSavedSessionSaysTheSameInAShell() {
    const QString session = m_folder.filePath("work.fsession");
    test::answerFileDialog(session);
    m_window->actions().find("save_session")->trigger();
    QVERIFY(QFile::exists(session));
    const Run &a = *m_window->runs().comparedWith(), &b = *m_window->runs().shown();
    const QString runs = QStringLiteral("'%1' %2 %3").arg(session, qs(a.id), qs(b.id));
    // The kernels of both, as the dock has them.
    m_window->showDock("Compare");
    CompareDock& dock = m_window->dock<CompareDock>();
    const Json matrix = saidInShell("fusescope compare " + runs + " --json");
    QVERIFY(!matrix.is_discarded());
    const TableModel& shown = dock.matrix().model();
    QCOMPARE(shown.rowCount(), int(matrix["rows"].size()));
    QVERIFY(shown.rowCount() > 1);
    for (int row = 0; row < shown.rowCount(); ++row)
      QVERIFY2(shown.index(row, 0).data().toString().contains(textOf(matrix["rows"][std::size_t(row)]["name"])),
               qPrintable(shown.index(row, 0).data().toString()));
    for (std::size_t side = 0; side < 2; ++side) {
      const Run& run = side == 0 ? a : b;
      QCOMPARE(textOf(matrix["columns"][side]["run"]), qs(run.id));
      QCOMPARE(matrix["columns"][side]["median_ms"].get<double>(), *run.time->medianMs);
    }
    // What is written of the difference, and of the shown run.
    const Json difference = saidInShell("fusescope report " + runs + " --json");
    QVERIFY(!difference.is_discarded());
    QCOMPARE(textOf(difference["kind"]), QStringLiteral("difference"));
    QCOMPARE(difference["b"]["time"]["median_ms"].get<double>(), *b.time->medianMs);
    QVERIFY(!difference["difference"]["changes"].empty());
    const QString file = m_folder.filePath("of_shell.html");
    saidInShell(QStringLiteral("fusescope report '%1' -o '%2'").arg(session, file));
    QFile html(file);
    QVERIFY(html.open(QIODevice::ReadOnly));
    QVERIFY(html.readAll().contains(QStringLiteral("run %1").arg(qs(b.id)).toUtf8()));
  }

 private:
  static QString textOf(const Json& json) { return qs(json.get<std::string>()); }
  /// What a command line prints, which is JSON; discarded where it is none.
  static Json saidInShell(const QString& line) {
    QProcess shell;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("PATH", QStringLiteral(FUSESCOPE_BIN_DIR) + ":" + environment.value("PATH"));
    shell.setProcessEnvironment(environment);
    shell.start("/bin/sh", {"-c", line});
    const bool ended = shell.waitForFinished(kRunMs);
    Json json = Json::parse(shell.readAllStandardOutput().toStdString(), nullptr, false);
    if (!ended || shell.exitCode() != 0) qWarning("%s: %s", qPrintable(line), shell.readAllStandardError().constData());
    return json;
  }
  QAction* action(const QString& name) {
    for (QAction* each : m_window->actions().all())
      if (each->objectName() == name) return each;
    return nullptr;
  }
  /// What is on the clipboard once something is.
  static QString copied() {
    const bool came = QTest::qWaitFor([] { return QApplication::clipboard()->text() != kNothing; }, test::kPatienceMs);
    return came ? QApplication::clipboard()->text() : kNothing;
  }
  void copiesFrom(QDialog* dialog, const char* begins) {
    QVERIFY(dialog != nullptr);
    QApplication::clipboard()->setText(kNothing);
    QTest::mouseClick(dialog->findChild<QPushButton*>("copyCommand"), Qt::LeftButton);
    const QString line = copied();
    dialog->close();
    QVERIFY2(line.startsWith(begins), qPrintable(line));
  }
  QString report(const QString& name) {
    const QString path = m_folder.filePath(name);
    test::answerFileDialog(path);
    m_window->actions().find("save_report")->trigger();
    const bool came = QTest::qWaitFor([&] { return QFile::exists(path); }, test::kPatienceMs);
    if (!came) qWarning("%s", qPrintable(m_window->messages().textOf("report")));
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
  }

  std::unique_ptr<MainWindow> m_window;
  QTemporaryDir m_folder;
};

FUSESCOPE_GUI_TEST(CommandsTest, 9)

#include "commands_test.moc"
