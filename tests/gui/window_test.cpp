#include <signal.h>

#include <QAction>
#include <QMenu>
#include <QPushButton>
#include <QTemporaryDir>
#include <QtTest>

#include "planning/fused_node_facts.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/docks/profile_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/docks/validation_dock.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000, kOpenMs = 60'000;

}  // namespace

/// The story of the window, from the start page to two engines compared, and a worker that dies on the way.
class WindowTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }
  void initTestCase() {
    m_window = test::shownWindow({.seconds = 0.2});
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
  }
  void cleanupTestCase() { m_window.reset(); }

  void opensASampleFromTheStartPage() {
    QPushButton* card = nullptr;
    for (QPushButton* button : m_window->findChildren<QPushButton*>()) {
      if (button->accessibleName() == "squeezenet1_1") card = button;
    }
    QVERIFY(card);
    QTest::mouseClick(card, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot(), kOpenMs);
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    QVERIFY(m_window->canvas().boxCount() > 5);
    QCOMPARE(m_window->dock<OutlineDock>().model().rowCount(), static_cast<int>(plan().segments.size()));
    for (const FusedNode& fused : plan().fusedNodes) {
      if (fused.nodes.size() > 1 && fused.kind == "conv") m_fused = fused;
    }
    QVERIFY(m_fused.nodes.size() > 1);
  }

  void opensAFusedNodeInPlace() {
    GraphView& canvas = m_window->canvas();
    const QString name = qs(m_fused.name);
    m_window->selection().set(m_fused.nodes);
    canvas.centreSelection();
    QVERIFY(canvas.waitForLayout(kOpenMs));
    const QRect box = canvas.itemRect(name);
    QVERIFY(!box.isEmpty());
    QTest::mouseDClick(&canvas, Qt::LeftButton, {}, box.center());
    QTRY_VERIFY(canvas.isOpen(name));
    QVERIFY(canvas.waitForLayout(kOpenMs));
    const QString inner = qs(plan().graph().node(m_fused.nodes.front()).name);
    QVERIFY(!canvas.itemRect(inner).isEmpty());
    canvas.select({inner});
    QTRY_VERIFY(canvas.rect().intersects(canvas.itemRect(inner)));
    m_window->selection().clear();
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, canvas.itemRect(inner).center());
    QTRY_COMPARE(m_window->selection().current(), m_fused.nodes.front());
    QVERIFY(m_window->dock<InspectorDock>().text().contains(inner));
  }

  void pinsItAndSeesValidationChange() {
    m_window->showDock("Validation");
    const QString before = m_window->dock<ValidationDock>().summary();
    QMenu menu;
    fillNodeMenu(menu, context(), m_window->selection().nodes());
    QAction* pin = nullptr;
    for (QAction* entry : menu.findChildren<QAction*>()) {
      if (entry->text() == "f16" && !pin) pin = entry;
    }
    QVERIFY(pin && pin->isEnabled());
    pin->trigger();
    QVERIFY(m_window->document().planning());
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->dock<ValidationDock>().summary() != before);
    // The kernel stays whole and mixes types: it writes f32 from its f32 sums, and reads what is now stored as f16.
    QVERIFY2(m_window->dock<ValidationDock>().summary().contains("retyped"),
             qPrintable(m_window->dock<ValidationDock>().summary()));
    QVERIFY2(!m_window->dock<ValidationDock>().summary().contains("fusion lost"),
             qPrintable(m_window->dock<ValidationDock>().summary()));
    const FusedNode& kept = *plan().fusedNodeOf(m_fused.nodes.front());
    QCOMPARE(kept.identity.hex(), m_fused.identity.hex());
    QCOMPARE(calculatedTypes(plan(), kept).size(), std::size_t(2));
    const Decision& first = m_window->dock<ValidationDock>().model().decisionAt(0);
    QVERIFY2(first.code == "precision.pin_free" || first.code == "precision.pin_price", first.code.c_str());
    QVERIFY(m_window->dock<InspectorDock>().text().contains("Answers to pins"));
    QVERIFY(m_window->dock<InspectorDock>().text().contains("calculates in"));
    QCOMPARE(m_window->dock<LayersDock>()
                 .model()
                 .pinOf(m_window->document().snapshot()->graph().node(m_fused.nodes.front()).name.c_str())
                 ->type,
             DataType::F16);
  }

  void undoes() {
    QAction* undo = nullptr;
    for (QAction* action : m_window->findChildren<QAction*>()) {
      if (action->shortcut() == QKeySequence::Undo) undo = action;
    }
    QVERIFY(undo && undo->isEnabled());
    undo->trigger();
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().directives().empty());
    QVERIFY2(m_window->dock<ValidationDock>().summary().contains("retyped"),
             qPrintable(m_window->dock<ValidationDock>().summary()));
  }

  void buildsChangesFusionAndCompares() {
    RunController& controller = m_window->controller();
    Runs& runs = m_window->runs();
    m_window->showDock("Runs");
    QTest::mouseClick(&m_window->dock<RunsDock>().buildButton(), Qt::LeftButton);
    QVERIFY(controller.busy());
    QTRY_VERIFY_WITH_TIMEOUT(!controller.busy(), kBuildMs);
    const std::string first = runs.shown()->id;
    QVERIFY2(runs.shown()->state == RunState::Ready, runs.shown()->problem.c_str());
    QVERIFY(!runs.layerTimes().empty());
    QVERIFY(m_window->dock<ProfileDock>().model().rowCount() > 0);
    QVERIFY(controller.compareRefusal() == "There must be two runs to compare.");
    QVERIFY(!runs.shown()->build->phases.empty());
    QVERIFY2(m_window->dock<RunsDock>().details().contains("kernels"),
             qPrintable(m_window->dock<RunsDock>().details()));

    m_window->document().direct(fusedName(), DirectiveKind::Split);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(!m_window->document().snapshot()->delta.fusionsLost.empty());
    QVERIFY2(m_window->dock<ValidationDock>().summary().contains("fusion lost"),
             qPrintable(m_window->dock<ValidationDock>().summary()));
    controller.build();
    QTRY_VERIFY_WITH_TIMEOUT(!controller.busy(), kBuildMs);
    QCOMPARE(runs.all().size(), std::size_t(2));
    QVERIFY2(runs.shown()->state == RunState::Ready, runs.shown()->problem.c_str());
    QCOMPARE(runs.comparedWith()->id, first);

    m_window->showDock("Compare");
    QTest::mouseClick(&m_window->dock<CompareDock>().compareButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!controller.busy(), kBuildMs);
    QVERIFY2(controller.problem().isEmpty(), qPrintable(controller.problem()));
    QVERIFY(runs.comparison() != nullptr);
    const Run compared = *runs.comparison();
    QCOMPARE(compared.kind, RunKind::Comparison);
    QCOMPARE(runs.all().size(), std::size_t(3));
    QVERIFY(compared.comparison->aMs.value_or(0) > 0);
    QVERIFY(compared.comparison->bMs.value_or(0) > 0);
    const TableContent& groups = m_window->dock<CompareDock>().groups().content();
    QVERIFY(groups.rows.size() > 10);
    QVERIFY(groups.rows[0].cells[0].text.startsWith(QString::fromUtf8("≠")));  // the split comes first
    const TableContent errors = errorsContent(&*compared.comparison);
    QVERIFY(!errors.rows.empty());
    QVERIFY(errors.rows[0].cells[3].sort.toDouble() < 1e-3);
  }

  void aTimeSaysWhereItWasMeasuredWhereverItStands() {
    Runs& runs = m_window->runs();
    const QString run = QString("run %1").arg(qs(runs.shown()->id));
    const FusedNode& alone = *plan().fusedNodeOf(m_fused.nodes.front());
    const std::string handle = handleOf(alone);
    const auto layer = std::ranges::find(runs.shown()->time->layers, alone.identity.hex(), &RunLayer::identity);
    QVERIFY(layer != runs.shown()->time->layers.end() && layer->medianMs && !layer->tactic.empty());
    // The inspector: what was measured, in which run, by which tactic.
    m_window->showDock("Inspector");
    m_window->selection().set(alone.nodes);
    const QString panel = m_window->dock<InspectorDock>().text();
    QVERIFY2(panel.contains(msText(*layer->medianMs)) && panel.contains("measured in " + run), qPrintable(panel));
    QVERIFY2(panel.contains(qs(layer->tactic)), qPrintable(panel));
    // The canvas, and the table of layers.
    m_window->canvas().select({qs(handle)});
    QVERIFY2(m_window->canvas().accessibleDescription().contains("measured in " + run),
             qPrintable(m_window->canvas().accessibleDescription()));
    m_window->canvas().select({});
    LayersModel& layers = m_window->dock<LayersDock>().model();
    const QModelIndex time =
        layers.index(layers.rowOf(qs(plan().graph().node(alone.nodes.front()).name)), LayersModel::kTime);
    QVERIFY2(time.data(Qt::ToolTipRole).toString().contains("measured in " + run),
             qPrintable(time.data(Qt::ToolTipRole).toString()));
    // A comparison times both in turns: its times are others, and it says so.
    CompareDock& compare = m_window->dock<CompareDock>();
    const QString source = QString("in turns in run %1").arg(qs(runs.comparison()->id));
    QVERIFY2(compare.summary().contains(source), qPrintable(compare.summary()));
    const auto& cells = m_window->dock<CompareDock>().groups().content().rows[0].cells;
    QVERIFY2(cells[2].tip.contains("in turns"), qPrintable(cells[2].tip));
  }

  void aNumberOfAnotherPlanSaysSo() {
    Runs& runs = m_window->runs();
    const std::string alone = handleOf(*plan().fusedNodeOf(m_fused.nodes.front()));
    const auto kindOf = [&](const std::string& handle) {
      const auto times = runs.layerTimes();
      const auto found = times.find(handle);
      return found == times.end() ? TimeKind::Unknown : found->second.kind;
    };
    QCOMPARE(kindOf(alone), TimeKind::Measured);
    QVERIFY(!m_window->dock<ProfileDock>().total().contains("another plan"));
    m_window->document().pin(fusedName(), DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    // The same kernel in another type: what was measured is not its time. That of its like is, and says of which run.
    QVERIFY(m_window->document().snapshot()->fusedWith(alone) != nullptr);
    QCOMPARE(kindOf(alone), TimeKind::Unknown);
    int ofOther = 0;
    for (const auto& [handle, time] : runs.layerTimes()) ofOther += time.kind == TimeKind::OfOtherPlan;
    QVERIFY(ofOther > 10);
    QVERIFY2(m_window->dock<ProfileDock>().total().contains("another plan"),
             qPrintable(m_window->dock<ProfileDock>().total()));
    QVERIFY(m_window->dock<ProfileDock>().model().content().rows[0].cells[1].text.startsWith("["));
    QVERIFY(m_window->dock<RunsDock>().details().contains("The plan on screen is another"));
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(kindOf(alone), TimeKind::Measured);
  }

  void goesBackToTheDirectivesOfARunAsOneUndoStep() {
    Runs& runs = m_window->runs();
    const PlanOptions now = m_window->document().options();
    runs.show(runs.all().front().id);
    QVERIFY(!(runs.shown()->options == now));
    QTest::mouseClick(&m_window->dock<RunsDock>().restoreButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().options() == runs.all().front().options);
    QVERIFY(runs.ofThisPlan(*runs.shown()));
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().options() == now);
  }

  void goesOnAfterTheWorkerIsKilled() {
    RunController& controller = m_window->controller();
    Runs& runs = m_window->runs();
    const auto plan = m_window->document().snapshot();
    const auto before = runs.all();
    const std::string shown = runs.shown()->id;
    controller.build();
    QTRY_VERIFY(m_window->worker().processId() > 0);
    QVERIFY(controller.busy());
    QCOMPARE(::kill(static_cast<pid_t>(m_window->worker().processId()), SIGKILL), 0);
    QTRY_VERIFY(!controller.busy());
    QVERIFY(runs.all().back().state == RunState::Failed);
    QCOMPARE(runs.shown()->id, shown);
    QVERIFY2(controller.problem().contains("killed or crashed"), qPrintable(controller.problem()));
    for (const Run& kept : before) QCOMPARE(toJson(*runs.find(kept.id)).dump(), toJson(kept).dump());
    QCOMPARE(m_window->document().snapshot(), plan);
    controller.build();
    QTRY_VERIFY_WITH_TIMEOUT(!controller.busy(), kBuildMs);
    QVERIFY2(runs.shown()->state == RunState::Ready, runs.shown()->problem.c_str());
  }

  void aBadFileLeavesItAll() {
    QTemporaryDir folder;
    const auto before = m_window->document().snapshot();
    m_window->openFile(folder.filePath("missing.onnx"));
    QTRY_VERIFY(!m_window->lastProblem().isEmpty());
    QVERIFY(m_window->lastProblem().contains("missing.onnx"));
    QCOMPARE(m_window->document().snapshot(), before);
    for (QMessageBox* box : m_window->findChildren<QMessageBox*>()) box->close();
  }

  void searchThemeAndFilterKeepUp() {
    int matches = 0;
    matches = m_window->canvas().search("conv");
    QVERIFY(matches > 0);
    m_window->canvas().search(QString());
    m_window->setTheme(ThemeKind::Light);
    m_window->dock<LayersDock>().filterBox().setText("op:Conv");
    QCOMPARE(m_window->dock<LayersDock>().model().rowCount(), 26);
    m_window->dock<LayersDock>().filterBox().clear();
  }

 private:
  const Plan& plan() { return *m_window->document().snapshot()->plan; }
  DockContext context() { return test::contextOf(*m_window); }
  std::vector<std::string> fusedName() { return m_window->document().namesOf({m_fused.nodes.front()}); }
  std::unique_ptr<MainWindow> m_window;
  FusedNode m_fused;
};

FUSESCOPE_GUI_TEST(WindowTest, 11)
#include "window_test.moc"
