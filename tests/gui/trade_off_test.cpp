#include <QHelpEvent>
#include <QTableView>
#include <QToolTip>
#include <QtTest>
#include <cmath>

#include "tests/gui/gui_support.h"
#include "ui/docks/trade_off_dock.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

TensorComparison output(double overRms) {
  TensorComparison comparison{.name = "y", .maxAbs = overRms, .maxRel = overRms, .maxOverRms = overRms};
  comparison.ofBound = overRms / 0.01;
  comparison.ok = comparison.ofBound <= 1;
  return comparison;
}

}  // namespace

/// Error against latency of runs: which are compared, which are best, and what is done from a point.
class TradeOffTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->showDock("Trade-off");
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void theFrontIsWhatNothingElseIsBetterThan() {
    const std::vector<PlotPoint> points{{.across = 2, .error = 0.1},        {.across = 1, .error = 0.5},
                                        {.across = 3, .error = 0.2},        {.across = 4, .error = 0},
                                        {.across = 0.5, .error = INFINITY}, {.across = 2, .error = 0.1}};
    QCOMPARE(frontOf(points), (std::vector<int>{1, 0, 3}));
    QVERIFY(frontOf({}).empty());
  }

  void runsThatWereMadeAlikeArePlottedTogether() {
    add("f32", 2, 1e-6);
    add("f16", 1, 0.5);
    add("slow", 3, 0.6);
    const std::string alone = add("other threads", 0.5, 0.1, 7);
    QTRY_COMPARE(dock().groups().count(), 2);
    QVERIFY2(dock().groups().currentText().contains("7 threads"), "the group of the shown run is shown");
    QCOMPARE(dock().plot().points().size(), std::size_t{1});
    QCOMPARE(dock().plot().current(), 0);
    m_window->runs().show(m_window->runs().all().front().id);
    QTRY_COMPARE(dock().plot().points().size(), std::size_t{3});
    QVERIFY(dock().plot().points()[1].words.contains("f16"));
    QVERIFY2(said(0).contains("no other run") && said(1).contains("no other run") && said(2).isEmpty(),
             qPrintable(said(2)));
  }

  void aPointSaysWhatItIsAndShowsItsRun() {
    const std::string first = add("f32", 2, 1e-6);
    add("f16", 1, 0.5);
    QTRY_COMPARE(dock().plot().points().size(), std::size_t{2});
    ErrorPlot& plot = dock().plot();
    const QPoint at = plot.placeOf(plot.points()[0]).toPoint();
    QHelpEvent asked(QEvent::ToolTip, at, plot.mapToGlobal(at));
    QCoreApplication::sendEvent(&plot, &asked);
    for (const char* words : {"f32", "2.00 ms", "error 1e-06", "0 pins"})
      QVERIFY2(QToolTip::text().contains(words), qPrintable(QToolTip::text()));
    QTest::mouseClick(&plot, Qt::LeftButton, {}, at);
    QCOMPARE(m_window->runs().shown()->id, first);
    QTRY_COMPARE(plot.current(), 0);
    plot.setFocus();
    QTest::keyClick(&plot, Qt::Key_Home);
    QVERIFY2(m_window->runs().shown()->id != first, "the fastest run is the leftmost");
    QTRY_VERIFY(plot.accessibleDescription().contains("(chosen)"));
  }

  void whatHasNoNumbersIsListedWithWhy() {
    const std::string known = add("f32", 2, 1e-6);
    Run run = made("not evaluated", 1);
    m_window->runs().add(run);
    run.time.reset();
    run.name = "not timed";
    m_window->runs().add(run);
    m_window->runs().show(known);
    QStringList reasons;
    QTRY_COMPARE(dock().model().rowCount(), 3);
    QCOMPARE(dock().groups().count(), 1);
    for (int group = 0; group < dock().groups().count(); ++group) {
      dock().groups().setCurrentIndex(group);
      emit dock().groups().activated(group);
      for (int row = 0; row < dock().model().rowCount(); ++row) reasons << said(row);
    }
    QVERIFY2(reasons.join("; ").contains("was not evaluated"), qPrintable(reasons.join("; ")));
    QVERIFY2(reasons.join("; ").contains("was not timed"), qPrintable(reasons.join("; ")));
  }

 private:
  TradeOffDock& dock() { return m_window->dock<TradeOffDock>(); }
  QString said(int row) { return dock().model().content().rows[static_cast<std::size_t>(row)].cells[4].text; }
  static Run made(const std::string& name, double ms, int threads = 2) {
    Run run;
    run.name = name;
    run.state = RunState::Ready;
    run.time = RunTime{.medianMs = ms, .minMs = ms * 0.9, .p95Ms = ms * 1.2, .samples = 10, .threads = threads};
    return run;
  }
  std::string add(const std::string& name, double ms, double error, int threads = 2) {
    Run run = made(name, ms, threads);
    run.evaluations.emplace_back(Evaluation{.tolerance = Tolerance::ofLoweredTypes(), .outputs = {output(error)}});
    return m_window->runs().add(run);
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(TradeOffTest, 4)
#include "trade_off_test.moc"
