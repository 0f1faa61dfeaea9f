// Our own compiler builds and times each plan while the user edits, if the user switched that on.
#include <QAction>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QtTest>

#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/docks/layers_dock.h"
#include "ui/document/background_builds.h"
#include "ui/document/qt_text.h"
#include "ui/window/actions.h"
#include "ui/window/fact_line.h"
#include "ui/window/main_window.h"

using namespace fusescope;
using State = BackgroundBuilds::State;

class BackgroundTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.seconds = 0.2});
    QVERIFY(test::openSample(*m_window, QStringLiteral("fp16_overflow")));
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void itIsOffUntilTheUserSwitchesItOn() {
    QVERIFY(toggle().isEnabled() && !toggle().isChecked());
    QCOMPARE(builds().state(), State::Off);
    QVERIFY(line().isHidden());
    document().pin({anyNode()}, DataType::BF16, Strictness::Prefer);
    QTRY_VERIFY(!document().planning());
    QTest::qWait(2 * BackgroundBuilds::kSettleMs);
    QCOMPARE(builds().state(), State::Off);
    QVERIFY(builds().ownBuild() == nullptr);
  }

  void predictedBecomesMeasured() {
    switchOn();
    waitUntilMeasured();
    QVERIFY(m_window->runs().all().empty());  // it is no run
    const ShownTimes times = m_window->runs().layerTimes();
    QVERIFY(!times.empty());
    for (const auto& [handle, time] : times) QVERIFY(time.kind == TimeKind::Measured);
    QVERIFY2(times.made.startsWith("the background build of "), qPrintable(times.made));
    QVERIFY2(line().words().startsWith("predicted ") && line().words().contains(" measured ") &&
                 line().words().contains(builds().ownBuild()->when),
             qPrintable(line().words()));
    QVERIFY2(line().toolTip().contains("were taken over"), qPrintable(line().toolTip()));
    QTest::mouseClick(&line(), Qt::LeftButton);
    QTRY_VERIFY(m_window->dock<LayersDock>().isVisible());
  }

  void anEditIsPredictedAtOnceAndThenMeasured() {
    switchOn();
    waitUntilMeasured();
    const std::int64_t regions = builds().ownBuild()->regions;
    document().pin({anyNode()}, DataType::BF16, Strictness::Prefer);
    QVERIFY(m_window->runs().backgroundTime() == nullptr);  // those were of another plan
    QTRY_VERIFY(!document().planning());
    QVERIFY(builds().state() != State::Made);
    QVERIFY2(line().words().startsWith("predicted ") && !line().words().contains("measured"),
             qPrintable(line().words()));
    waitUntilMeasured();
    const BackgroundBuilds::OwnBuild& built = *builds().ownBuild();
    QVERIFY2(built.takenOver > 0 && built.compiled < regions, qPrintable(line().toolTip()));
    // What is known already is not built again.
    const QString when = built.when;
    document().undoStack().undo();
    document().undoStack().redo();
    QTRY_VERIFY(!document().planning());
    QTRY_COMPARE(builds().state(), State::Made);
    QCOMPARE(builds().ownBuild()->when, when);
  }

  void anEditEndsTheBuildBefore() {
    switchOn();
    QTRY_VERIFY(builds().state() == State::Building || builds().state() == State::Timing);
    document().pin({anyNode()}, DataType::BF16, Strictness::Prefer);
    QTRY_VERIFY(!document().planning());
    QVERIFY(builds().ownBuild() == nullptr);
    waitUntilMeasured();
    QCOMPARE(m_window->runs().backgroundTime()->of.options, document().options());
  }

  void nothingIsTimedWhileARunIsTimed() {
    switchOn();
    QTRY_VERIFY(builds().state() == State::Building || builds().state() == State::Timing);
    RunController& controller = m_window->controller();
    m_window->actions().find(QStringLiteral("build"))->trigger();
    QVERIFY(controller.busy());
    bool overlapped = false;
    connect(&controller, &RunController::activityChanged, this, [&] {
      const bool isTiming = builds().state() == State::Building || builds().state() == State::Timing;
      overlapped = overlapped || (controller.busy() && isTiming);
    });
    QTRY_VERIFY(!controller.busy());
    QVERIFY(!overlapped);
    QCOMPARE(m_window->runs().all().size(), std::size_t(1));
    // The run has times of this plan: nothing is left to find out.
    QTRY_COMPARE(builds().state(), State::None);
    QVERIFY(line().isHidden());
    QVERIFY(m_window->runs().layerTimes().made.startsWith("run 1"));
    controller.disconnect(this);
  }

  void switchedOffItsTimesAreNotShown() {
    switchOn();
    waitUntilMeasured();
    toggle().trigger();
    QVERIFY(!toggle().isChecked());
    QCOMPARE(builds().state(), State::Off);
    QVERIFY(line().isHidden());
    QVERIFY(m_window->runs().layerTimes().empty());
    toggle().trigger();
    QTRY_COMPARE(builds().state(), State::Made);  // they were kept
  }

  void aTargetThatIsOnlyPlannedForOffersNothing() {
    document().setTarget("tensorrt-10");
    QTRY_VERIFY(!document().planning());
    QVERIFY(!toggle().isEnabled());
    QVERIFY2(builds().refusal().contains("planned for"), qPrintable(builds().refusal()));
    QCOMPARE(builds().state(), State::None);
  }

 private:
  BackgroundBuilds& builds() { return m_window->builds(); }
  PlanDocument& document() { return m_window->document(); }
  FactLine& line() { return *m_window->findChild<FactLine*>(QStringLiteral("factLine")); }
  QAction& toggle() { return *m_window->actions().find(QStringLiteral("build_while_editing")); }
  std::string anyNode() {
    const Graph& graph = document().snapshot()->graph();
    return graph.node(graph.order().back()).name;
  }
  void switchOn() {
    toggle().trigger();
    QVERIFY(toggle().isChecked());
  }
  void waitUntilMeasured() {
    QTRY_VERIFY2(builds().state() == State::Made, qPrintable(line().words()));
    QVERIFY2(builds().ownBuild() != nullptr && builds().ownBuild()->time->medianMs, qPrintable(line().words()));
    QVERIFY(m_window->runs().backgroundTime() != nullptr);
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(BackgroundTest, 7)
#include "background_test.moc"
