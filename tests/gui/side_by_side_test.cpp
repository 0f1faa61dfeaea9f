#include <QClipboard>
#include <QHeaderView>
#include <QScrollBar>
#include <QTextBrowser>
#include <QTextDocument>
#include <QtTest>

#include "tests/gui/gui_support.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/log_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

/// The log in a dock of its own, and any number of runs beside each other.
class SideBySideTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void theLogHasADockAndTheRunsHaveNone() {
    QVERIFY(m_window->dock<RunsDock>().findChild<QTextBrowser*>() == nullptr);
    add(1, {"tactics", "built: 3 regions"});
    m_window->showDock("Log");
    QTRY_VERIFY(log().isVisible());
    QCOMPARE(log().text(), QString("tactics\nbuilt: 3 regions"));
    log().filter().setText("BUILT");
    QCOMPARE(log().text(), QString("built: 3 regions"));
    QTest::mouseClick(&log().copyButton(), Qt::LeftButton);
    QCOMPARE(QApplication::clipboard()->text(), QString("built: 3 regions"));
    log().filter().clear();
    // Another run is chosen, and its log is there whatever is shown.
    const QString second = add(1, {"of the second"});
    QCOMPARE(log().text(), QString("of the second"));
    log().chooser().setCurrentIndex(log().chooser().findData("1"));
    emit log().chooser().activated(log().chooser().currentIndex());
    QCOMPARE(log().text(), QString("tactics\nbuilt: 3 regions"));
    Q_UNUSED(second)
  }

  void everyNameOfANodeIsALinkToIt() {
    const std::string node = nodeName();
    add(1, {"first wrong: " + node + " : it overflows", "no layer <that> can be judged is wrong",
            "at '" + node + "', too"});
    m_window->showDock("Log");
    QTRY_VERIFY(log().isVisible());
    QCOMPARE(log().text().count(qs(node)), 2);
    QVERIFY(log().text().contains("<that>"));
    QTextBrowser& browser = log().log();
    QTextCursor found = browser.document()->find(qs(node));
    QVERIFY(!found.isNull());
    found.setPosition(found.position() - 1);
    browser.setTextCursor(found);
    m_window->selection().clear();
    QTest::mouseClick(browser.viewport(), Qt::LeftButton, {}, browser.cursorRect(found).center());
    QCOMPARE(m_window->selection().nodes(), std::vector{plan().graph().findNode(node).value()});
  }

  void theNewestLineStaysInViewWhileItIsFollowed() {
    std::vector<std::string> lines(200, "a line");
    const QString id = add(1, lines);
    m_window->showDock("Log");
    QTRY_VERIFY(log().isVisible());
    log().text();
    QScrollBar& bar = *log().log().verticalScrollBar();
    QTRY_COMPARE(bar.value(), bar.maximum());
    log().follow().setChecked(false);
    bar.setValue(0);
    m_window->runs().change(id.toStdString(), [](Run& run) { run.log.push_back("one more"); });
    QVERIFY(log().text().endsWith("one more"));
    QCOMPARE(bar.value(), 0);
    log().follow().setChecked(true);
    log().text();
    QTRY_COMPARE(bar.value(), bar.maximum());
  }

  void phasesStandBesideThoseOfLastTime() {
    add(1, {}, {{"import", 10}, {"tactics", 100}});
    QCOMPARE(log().phases().index(0, 2).data().toString(), QString("–"));
    add(1, {}, {{"import", 12}, {"tactics", 50}});
    const TableContent& phases = log().phases().content();
    QCOMPARE(phases.rows.size(), std::size_t(3));  // and all of it
    QCOMPARE(phases.rows[1].cells[1].text, msText(50));
    QCOMPARE(phases.rows[1].cells[2].text, msText(100));
    QCOMPARE(phases.rows[1].cells[3].text, signedMsText(-50));
    QCOMPARE(phases.rows[2].cells[3].text, signedMsText(-48));
  }

  void runsStandSideBySide() {
    const QString first = add(1), second = add(2), third = add(3);
    m_window->showDock("Compare");
    QTRY_VERIFY(matrix().isVisible());
    QCOMPARE(headers(), (QStringList{"Nodes", "run 2, baseline", "run 3, baseline"}));
    // The two that are compared are always there; another is chosen by its box.
    QVERIFY(matrix().boxOf(third)->isChecked() && !matrix().boxOf(third)->isEnabled());
    QVERIFY(!matrix().boxOf(first)->isChecked());
    QTest::mouseClick(matrix().boxOf(first), Qt::LeftButton, {}, QPoint(8, matrix().boxOf(first)->height() / 2));
    QCOMPARE(headers(), (QStringList{"Nodes", "run 2, baseline", "run 3, baseline", "run 1, baseline"}));
    const TableContent& content = matrix().model().content();
    QCOMPARE(content.rows.size(), plan().fusedNodes.size());
    for (const TableRow& row : content.rows) {
      QVERIFY2(!row.cells[1].bar && row.cells[2].bar && row.cells[3].bar, qPrintable(row.name));
      QVERIFY(row.cells[2].tone == Tone::Bad && row.cells[3].tone == Tone::Good);
      QVERIFY2(row.cells[2].tip.contains("timed"), qPrintable(row.cells[2].tip));
    }
    QVERIFY2(matrix().summary().contains("run 1, baseline: "), qPrintable(matrix().summary()));
    Q_UNUSED(second)
  }

  void aColumnSortsAndARowSelectsItsNodes() {
    add(1);
    add(2);
    m_window->showDock("Compare");
    QTRY_VERIFY(matrix().isVisible());
    QTRY_VERIFY(matrix().model().rowCount() > 0);
    QTableView& view = matrix().view();
    view.sortByColumn(1, Qt::DescendingOrder);
    const QString slowest = view.model()->index(0, 0).data().toString();
    view.sortByColumn(1, Qt::AscendingOrder);
    QCOMPARE(view.model()->index(view.model()->rowCount() - 1, 0).data().toString(), slowest);
    const int row = rowOf(test::firstOfTwoNodes(plan()));
    QVERIFY(row >= 0);
    const QModelIndex index = view.model()->index(row, 0);
    view.scrollTo(index);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index).center());
    QCOMPARE(m_window->selection().nodes().size(), std::size_t(2));
  }

  void timesOfOtherConditionsAreMarkedAndNotRanked() {
    add(1);
    const QString other = add(2);
    m_window->runs().change(other.toStdString(), [](Run& run) {
      RunTime time = *std::as_const(run.time);
      time.threads += 1;
      run.time = SharedOptional<RunTime>(std::move(time));
    });
    m_window->showDock("Compare");
    QTRY_VERIFY(matrix().isVisible());
    QVERIFY2(headers()[2].startsWith("⚠"), qPrintable(headers()[2]));
    QVERIFY2(matrix().summary().contains("which is faster is unknown"), qPrintable(matrix().summary()));
    for (const TableRow& row : matrix().model().content().rows) {
      QVERIFY(!row.cells[2].bar);
      QVERIFY(row.cells[2].tone == Tone::Plain);
    }
  }

  void aRunHasTheRoomThatItsTextsNeed() {
    add(1);
    add(123.456);
    m_window->runs().change(m_window->runs().all().back().id,
                            [](Run& run) { run.name = "split after features.Conv_7"; });
    m_window->showDock("Compare");
    QTRY_VERIFY(matrix().isVisible());
    QTRY_VERIFY(headers().back().contains("features.Conv_7"));
    QTRY_VERIFY(matrix().model().rowCount() > 0);
    QTableView& view = matrix().view();
    for (int column = 1; column < matrix().model().columnCount(); ++column) {
      QVERIFY2(view.columnWidth(column) >= view.horizontalHeader()->sectionSizeHint(column),
               qPrintable(headers()[column]));
      for (int row = 0; row < view.model()->rowCount(); ++row) {
        const QModelIndex index = view.model()->index(row, column);
        QVERIFY2(view.columnWidth(column) >= view.sizeHintForIndex(index).width(), qPrintable(index.data().toString()));
      }
    }
  }

  void otherPlansHaveTheirOwnKernels() {
    add(1);
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    add(2);
    m_window->showDock("Compare");
    QTRY_VERIFY(matrix().isVisible());
    bool f32 = false, f16 = false;
    for (const TableRow& row : matrix().model().content().rows) {
      f32 = f32 || row.cells[1].text.contains("f32");
      f16 = f16 || row.cells[2].text.contains("f16");
    }
    QVERIFY(f32 && f16);
    matrix().blocks().setChecked(true);
    QVERIFY(matrix().model().rowCount() <= static_cast<int>(plan().fusedNodes.size()));
  }

 private:
  const Plan& plan() { return *m_window->document().snapshot()->plan; }
  std::string nodeName() { return plan().graph().node(plan().fusedNodes.front().root).name; }
  LogDock& log() { return m_window->dock<LogDock>(); }
  CompareMatrix& matrix() { return m_window->dock<CompareDock>().matrix(); }
  QStringList headers() { return matrix().model().content().headers; }
  int rowOf(const QString& name) {
    const QAbstractItemModel& model = *matrix().view().model();
    for (int row = 0; row < model.rowCount(); ++row)
      if (model.index(row, 0).data().toString().contains(name)) return row;
    return -1;
  }
  /// A run of the plan on screen whose kernels took `factor` ms and more; its id.
  QString add(double factor, std::vector<std::string> lines = {}, std::vector<BuildPhase> phases = {}) {
    Run run{.name = "baseline", .state = RunState::Ready};
    run.model = m_window->document().modelFile().identity();
    run.options = m_window->document().options();
    run.log = std::move(lines);
    run.machine = "a machine";
    if (!phases.empty()) run.build = RunBuild{.phases = std::move(phases)};
    RunTime time{
        .medianMs = 10 * factor, .minMs = factor, .p95Ms = factor, .p99Ms = factor, .samples = 10, .threads = 2};
    for (const FusedNode& fused : plan().fusedNodes)
      time.layers.push_back({.name = fused.name,
                             .identity = fused.identity.hex(),
                             .types = layerTypes(plan(), fused),
                             .medianMs = factor * static_cast<double>(1 + fused.id.index)});
    run.time = SharedOptional<RunTime>(std::move(time));
    return qs(m_window->runs().add(std::move(run)));
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(SideBySideTest, 9)

#include "side_by_side_test.moc"
