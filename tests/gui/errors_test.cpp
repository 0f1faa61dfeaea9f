#include <QLabel>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QtTest>
#include <cmath>

#include "planning/fused_node_facts.h"
#include "tests/gui/gui_support.h"
#include "ui/canvas/color_mode.h"
#include "ui/dialogs/run_settings_dialog.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/log_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/models/run_contents.h"
#include "ui/models/validation_contents.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000;

/// Its output is NaN for all inputs.
constexpr const char* kLost = R"(<ir_version: 8, opset_import: ["" : 18]>
net (float[4, 4] x) => (float[4, 4] y) <float[4, 4] w = {0.5,0,0,0, 0,0.5,0,0, 0,0,0.5,0, 0,0,0,0.5}> {
  [product] p = MatMul (x, w)
  [rows] s = Softmax <axis = 1> (p)
  [negative] n = Neg (s)
  [lost] y = Log (n)
})";

TensorError errorOf(double overRms) {
  return {.elements = 8, .maxAbs = overRms, .maxOverRms = overRms, .relL2 = overRms / 2, .ulp = 3};
}

}  // namespace

/// Errors of each layer, from the button to where they are shown, and never as those of another plan.
class ErrorsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void levelsAreSaidInWordsAndAgainstTheBound() {
    const auto level = [](const std::optional<TensorError>& error) {
      return levelOf({ErrorKind::Measured, {error, {}}}, &LocalAndCarried::local, 0.01);
    };
    QVERIFY(level(std::nullopt) == ErrorLevel::Unknown);
    QVERIFY(level(TensorError{.elements = 4}) == ErrorLevel::Exact);
    QVERIFY(level(errorOf(0.001)) == ErrorLevel::FarWithin);
    QVERIFY(level(errorOf(0.01)) == ErrorLevel::Within);
    QVERIFY(level(errorOf(0.011)) == ErrorLevel::Beyond);
    QVERIFY(level(errorOf(0.2)) == ErrorLevel::FarBeyond);
    TensorError ofCodes = errorOf(0.2);
    ofCodes.codes = true;
    ofCodes.relL2 = 0.005;
    QVERIFY(level(ofCodes) == ErrorLevel::Within);
    QVERIFY(errorFactsText(ofCodes).contains("3 steps"));
    QCOMPARE(shortErrorText(ofCodes, 0.01), QStringLiteral("0.005"));
    TensorError infinite = errorOf(0.001);
    infinite.nonFinite = 0.25;
    QVERIFY(level(infinite) == ErrorLevel::NotFinite);
    QCOMPARE(shortErrorText(errorOf(0.00034), 0.01), QStringLiteral("0.0003"));
    QCOMPARE(shortErrorText(errorOf(0.00000034), 0.01), QStringLiteral("3e-7"));
    QCOMPARE(shortErrorText(infinite, 0.01), QStringLiteral("∞"));
    const ShownError culprit{ErrorKind::Measured, {errorOf(0.2), errorOf(0.3)}};
    const ShownError victim{ErrorKind::Measured, {errorOf(0.001), errorOf(0.3)}};
    const ShownError right{ErrorKind::Measured, {errorOf(0.001), errorOf(0.002)}};
    QVERIFY(roleText(culprit, 0.01).contains("culprit"));
    QVERIFY(roleText(victim, 0.01).contains("victim"));
    QVERIFY(roleText(right, 0.01).startsWith("It is not wrong"));
    const ShownError harmless{ErrorKind::Measured, {infinite, errorOf(0.002)}, false};
    QVERIFY(levelOf(harmless, &LocalAndCarried::local, 0.01) == ErrorLevel::Harmless);
    QVERIFY(levelOf(harmless, &LocalAndCarried::carried, 0.01) == ErrorLevel::Within);
    QVERIFY(!isWrong(ErrorLevel::Harmless));
    QVERIFY(roleText(harmless, 0.01).contains("no output of the network goes wrong by it"));
    QCOMPARE(errorPairText(victim, &LocalAndCarried::carried, 0.01), QStringLiteral("0.3 / 0.15"));
    QCOMPARE(errorPairText({ErrorKind::OfOtherPlan, {errorOf(0.3), {}}}, &LocalAndCarried::local, 0.01),
             QStringLiteral("[0.3 / 0.15]"));
  }

  void anErrorIsShownOnItsSideOfTheBound() {
    QCOMPARE(shortErrorText(errorOf(0.0116), 0.01), QStringLiteral("0.012"));
    QCOMPARE(shortErrorText(errorOf(0.010043), 0.01), QStringLiteral("0.01004"));
    QCOMPARE(shortErrorText(errorOf(0.00996), 0.01), QStringLiteral("0.00996"));
    QCOMPARE(shortErrorText(errorOf(0.01), 0.01), QStringLiteral("0.01"));
    QCOMPARE(shortErrorText(errorOf(0.0058), 0.01), QStringLiteral("0.006"));
    QVERIFY(errorPairText({ErrorKind::Measured, {errorOf(0.01002), {}}}, &LocalAndCarried::local, 0.01)
                .startsWith("0.01002 / "));
    TensorError lost = errorOf(0.5);
    lost.ulp = 1.57e7;
    QVERIFY2(errorFactsText(lost).contains("15.7 M ulp"), qPrintable(errorFactsText(lost)));
    // Of another plan it is longer, and seen whole in the table.
    const auto* layers = m_window->dock<LayersDock>().findChild<QTableView*>();
    const int room = layers->columnWidth(LayersModel::kLocal);
    QVERIFY(room >= layers->fontMetrics().horizontalAdvance("[0.0012 / 0.00034]") + 12);
  }

  void whatCannotBeToldIsNoNumber() {
    const TensorError lost{.elements = 8, .cosine = NAN, .expectedNonFinite = 1};
    const ShownError shown{ErrorKind::Measured, {lost, lost}};
    const QString why = "cannot be determined: all of it is infinite or NaN in the reference, too";
    QVERIFY(levelOf(shown, &LocalAndCarried::local, 0.01) == ErrorLevel::CannotBeDetermined);
    QVERIFY(!isWrong(ErrorLevel::CannotBeDetermined));
    QCOMPARE(levelText(ErrorLevel::CannotBeDetermined),
             QStringLiteral("cannot be determined: no finite number is expected"));
    QCOMPARE(shortErrorText(lost, 0.01), QStringLiteral("?"));
    QCOMPARE(errorPairText(shown, &LocalAndCarried::local, 0.01), QStringLiteral("cannot be determined"));
    QCOMPARE(errorPairText({ErrorKind::OfOtherPlan, {lost, {}}}, &LocalAndCarried::local, 0.01),
             QStringLiteral("[cannot be determined]"));
    QCOMPARE(errorFactsText(lost), why);
    QCOMPARE(roleText(shown, 0.01), QString("Whether it is wrong %1.").arg(why));
    // What became a number, or is one in part, can be told.
    TensorError became = lost, part = errorOf(0.001);
    became.nonFinite = 0.5;
    part.expectedNonFinite = 0.5;
    QVERIFY(levelOf({ErrorKind::Measured, {became, {}}}, &LocalAndCarried::local, 0.01) == ErrorLevel::NotFinite);
    QVERIFY(levelOf({ErrorKind::Measured, {part, {}}}, &LocalAndCarried::local, 0.01) == ErrorLevel::FarWithin);
  }

  void whatCannotBeToldIsSaidWhereverErrorsStand() {
    QTemporaryDir folder;
    test::writeModel(folder.filePath("lost.onnx"), kLost);
    m_window->openFile(folder.filePath("lost.onnx"));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    evaluateErrors();
    const FusedNode* lost = m_window->document().snapshot()->fusedOf(plan().graph().findNode("lost").value());
    QVERIFY(lost != nullptr && lost != m_window->document().snapshot()->fusedOf(*plan().graph().findNode("product")));
    const QString log = m_window->dock<LogDock>().text();
    QVERIFY2(log.contains("no layer that can be judged is wrong; for 1 tensor it cannot be determined"),
             qPrintable(log));
    LayersModel& layers = m_window->dock<LayersDock>().model();
    m_window->showDock("Layers");
    const int row = layers.rowOf(qs(plan().graph().node(lost->root).name));
    for (const int column : {LayersModel::kLocal, LayersModel::kCarried}) {
      const QModelIndex cell = layers.index(row, column);
      QCOMPARE(cell.data().toString(), QStringLiteral("cannot be determined"));
      QVERIFY2(cell.data(Qt::ToolTipRole).toString().contains("cannot be determined: all of it is infinite or NaN"),
               qPrintable(cell.data(Qt::ToolTipRole).toString()));
      QCOMPARE(cell.data(kToneRole).toInt(), static_cast<int>(Tone::Dim));
      // Behind all that have a number.
      layers.sort(column, Qt::DescendingOrder);
      int last = -1;
      for (int i = 0; i < layers.rowCount(); ++i)
        if (layers.index(i, column).data().toString().contains(" / ")) last = i;
      QVERIFY(last >= 0 && last < layers.rowOf(qs(plan().graph().node(lost->root).name)));
      layers.sort(-1, Qt::AscendingOrder);
    }
    m_window->dock<LayersDock>().filterBox().setText("error<1");
    QVERIFY(layers.rowCount() > 0);
    QCOMPARE(layers.rowOf(qs(plan().graph().node(lost->root).name)), -1);
    m_window->dock<LayersDock>().filterBox().clear();
    const QString line = layers.csv().split('\n').filter(qs(plan().graph().node(lost->root).name) + ',').first();
    QVERIFY2(line.endsWith(",,,,"), qPrintable(line));
    m_window->selection().set(lost->nodes);
    QTRY_VERIFY2(panel().contains("Whether it is wrong cannot be determined"), qPrintable(panel()));
    QVERIFY2(!panel().contains("of rms ·"), qPrintable(panel()));
    const QString described = m_window->canvas().accessibleDescription();
    QVERIFY2(described.contains("local error cannot be determined: no finite number is expected"),
             qPrintable(described));
    QVERIFY2(legendText().contains("cannot be determined"), qPrintable(legendText()));
    // Of the run as a whole nothing can be told either, and that is not the same as not to have been evaluated.
    for (const char* action : {"build", "evaluate"}) {
      m_window->actions().find(action)->trigger();
      QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    }
    const Cell verdict = runsContent(runs()).rows.front().cells[3];
    QCOMPARE(verdict.text, QStringLiteral("no verdict"));
    QVERIFY2(verdict.tip.contains("neither side contains a finite number"), qPrintable(verdict.tip));
    const Evaluation* evaluation = runs().evaluation(*runs().shown());
    QVERIFY(evaluation != nullptr);
    const TableContent samples = verdictsContent(evaluation, runs().settings().tolerance);
    QCOMPARE(samples.rows.front().cells[1].text, QStringLiteral("unknown"));
    QVERIFY2(samples.rows.front().cells[2].text.contains("neither side contains a finite number"),
             qPrintable(samples.rows.front().cells[2].text));
  }

  void theButtonTellsCulpritFromVictimEverywhere() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(!m_window->actions().find("go_to_wrong")->isEnabled());
    evaluateErrors();
    // One run, which was not built for it, and is of this plan.
    QCOMPARE(runs().all().size(), std::size_t(1));
    QVERIFY(!runs().shown()->build && !runs().shown()->time);
    QCOMPARE(runs().shown()->errors.size(), std::size_t(1));
    QCOMPARE(std::string(m_window->canvas().colorMode().name), std::string("error"));
    const auto first = runs().firstWrong();
    QVERIFY(first && first->isLocal);
    const ShownErrors errors = runs().layerErrors();
    QVERIFY2(errors.random && errors.made.contains("1 random sample"), qPrintable(errors.made));
    // The table has both, and the culprit's are red.
    m_window->showDock("Layers");
    LayersModel& layers = m_window->dock<LayersDock>().model();
    QTableView& view = m_window->dock<LayersDock>().view();
    QVERIFY(!view.isColumnHidden(LayersModel::kLocal) && !view.isColumnHidden(LayersModel::kCarried));
    const QString culprit = rootOf(first->tensor);
    const QModelIndex local = layers.index(layers.rowOf(culprit), LayersModel::kLocal);
    QVERIFY2(local.data().toString().startsWith("∞ / "), qPrintable(local.data().toString()));
    QCOMPARE(local.data(kToneRole).toInt(), static_cast<int>(Tone::Bad));
    QVERIFY(local.data(Qt::ToolTipRole).toString().contains("is a culprit"));
    m_window->dock<LayersDock>().filterBox().setText("error>1");
    QVERIFY(layers.rowCount() >= 1 && layers.rowCount() < layers.totalCount() && layers.rowOf(culprit) >= 0);
    m_window->dock<LayersDock>().filterBox().clear();
    view.sortByColumn(LayersModel::kLocal, Qt::DescendingOrder);
    QVERIFY(layers.index(0, LayersModel::kLocal).data().toString().startsWith("∞ / "));
    QVERIFY(layers.csv().split('\n').first().endsWith("carried_rel_l2"));
    // The command goes there, and the panel says what it is; behind it stands a victim.
    QVERIFY(m_window->actions().find("go_to_wrong")->isEnabled());
    m_window->actions().find("go_to_wrong")->trigger();
    QVERIFY2(panel().contains("is a culprit"), qPrintable(panel()));
    QVERIFY(panel().contains("1 random sample"));
    QTRY_VERIFY2(panel().contains("Pin node_relu_1"), qPrintable(panel()));
    const ShownError last = errors.find(handleOf(lastNode()));
    QVERIFY(isWrong(levelOf(last, &LocalAndCarried::carried, errors.bound)));
    QVERIFY(!isWrong(levelOf(last, &LocalAndCarried::local, errors.bound)));
    m_window->selection().set(lastNode().nodes);
    QVERIFY2(panel().contains("A victim"), qPrintable(panel()));
    // The legend says in words what colours mean, and what they were made with.
    const QString legend = legendText();
    QVERIFY2(legend.startsWith("infinite or NaN") && legend.contains("1 random sample"), qPrintable(legend));
  }

  void weightsThatDoNotFitAreSaidWithoutARun() {
    QVERIFY(test::openSample(*m_window, "bert_tiny"));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    const std::vector<NodeId> node = snapshot.nodesNamed("node_Where_98");
    m_window->selection().set(node);
    const QString said = "Its weight val_99 becomes infinite in f16, because its largest number is 3.4e+38.";
    QTRY_VERIFY2(panel().contains(said), qPrintable(panel()));
    m_window->selection().set(snapshot.fusedOf(node.front())->nodes);
    QTRY_VERIFY2(panel().contains("fused node of") && panel().contains(said), qPrintable(panel()));
    // It is infinite where it was very large, and hides what it hid before.
    evaluateErrors();
    m_window->selection().set(node);
    QVERIFY2(panel().contains("It is wrong, but no output of the network goes wrong by it"), qPrintable(panel()));
    QVERIFY2(legendText().contains("beyond, but it makes no output wrong"), qPrintable(legendText()));
    QVERIFY2(!legendText().contains("infinite or NaN"), qPrintable(legendText()));
    QVERIFY2(!panel().contains("Pin node_Where_98"), qPrintable(panel()));
    m_window->selection().set(snapshot.nodesNamed("node_layer_norm"));
    QTRY_VERIFY2(panel().contains("granted") && !panel().contains(said), qPrintable(panel()));
  }

  void theCulpritIsPinnedByItsLink() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    evaluateErrors();
    m_window->actions().find("go_to_wrong")->trigger();
    QVERIFY(panel().contains("is a culprit"));
    QTRY_VERIFY2(panel().contains("Pin node_relu_1"), qPrintable(panel()));
    emit m_window->dock<InspectorDock>().findChild<QTextBrowser*>()->anchorClicked(QUrl("do:fix"));
    QTRY_VERIFY(!m_window->document().planning());
    const Directives& pins = m_window->document().directives();
    QCOMPARE(pins.size(), std::size_t(2));  // what makes it, and what reads it
    for (const Directive& pin : pins) QVERIFY(pin.type == DataType::F32);
    // Of a kernel that is not lowered there is nothing to pin.
    QVERIFY2(!panel().contains("Pin "), qPrintable(panel()));
  }

  void thoseOfAnotherPlanAreNeverThisOnes() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    evaluateErrors();
    const std::string id = runs().shown()->id;
    m_window->document().pin({"node_linear_1", "node_relu_1", "node_layer_norm"}, DataType::F32, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    const ShownErrors other = runs().layerErrors();
    int same = 0;
    for (const auto& [handle, error] : other.of) {
      QVERIFY(error.kind == ErrorKind::OfOtherPlan);
      QVERIFY(!error.errors.carried.has_value());
      ++same;
    }
    QVERIFY2(same > 0 && same < int(runs().shown()->errors.front()->nodes.size()), qPrintable(QString::number(same)));
    QVERIFY(!runs().firstWrong().has_value());
    QVERIFY(!m_window->actions().find("go_to_wrong")->isEnabled());
    QVERIFY2(legendText().contains("from a run of another plan"), qPrintable(legendText()));
    // Evaluated again it is another run, and the first is as it was.
    evaluateErrors();
    QCOMPARE(runs().all().size(), std::size_t(2));
    QVERIFY(runs().shown()->id != id);
    QCOMPARE(runs().find(id)->errors.size(), std::size_t(1));
    for (const auto& [handle, error] : runs().layerErrors().of) QVERIFY(error.kind == ErrorKind::Measured);
    QVERIFY(!runs().firstWrong().has_value());
  }

  void itIsCancelledAndNothingIsLost() {
    QTemporaryDir folder;
    m_window->openFile(test::writeResidualChain(folder.path(), 1200));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, kBuildMs);
    m_window->document().setPrecisions({DataType::BF16});
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().planning(), kBuildMs);
    m_window->showDock("Runs");
    QTest::mouseClick(&m_window->dock<RunsDock>().errorsButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->controller().activity().contains("errors"), kBuildMs);
    QTest::mouseClick(&m_window->dock<RunsDock>().cancelButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QCOMPARE(runs().all().size(), std::size_t(1));
    QCOMPARE(runs().all().back().state, RunState::Cancelled);
    QVERIFY(runs().shown() == nullptr);  // there is no number of it
    QVERIFY(runs().all().back().errors.empty() && m_window->controller().problem().isEmpty());
  }

  void theyAreAgainstDoublesWhereTheSettingsSay() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setPrecisions({DataType::BF16});
    QTRY_VERIFY(!m_window->document().planning());
    evaluateErrors();
    QVERIFY(!runs().layerErrors().made.contains("against"));
    m_window->actions().find("run_settings")->trigger();
    auto* dialog = m_window->findChild<RunSettingsDialog*>();
    QVERIFY(dialog != nullptr);
    QCOMPARE(dialog->against().currentIndex(), static_cast<int>(ErrorsAgainst::F32));
    dialog->against().setCurrentIndex(static_cast<int>(ErrorsAgainst::F64));
    dialog->accept();
    evaluateErrors();
    QCOMPARE(runs().shown()->errors.size(), std::size_t(2));  // none takes the place of another
    QCOMPARE(runs().shown()->errors.back()->against, std::string("f64"));
    QVERIFY2(runs().layerErrors().made.endsWith("against f64"), qPrintable(runs().layerErrors().made));
    m_window->selection().set(lastNode().nodes);
    m_window->showDock("Inspector");
    QTRY_VERIFY2(panel().contains("Error of its kernel against f64"), qPrintable(panel()));
    RunSettings settings = runs().settings();
    settings.errorsAgainst = ErrorsAgainst::F32;
    runs().setSettings(settings);
    QTRY_VERIFY2(panel().contains("Error of its kernel against f32"), qPrintable(panel()));
  }

 private:
  Runs& runs() { return m_window->runs(); }
  void evaluateErrors() {
    m_window->showDock("Runs");
    QVERIFY(m_window->dock<RunsDock>().errorsButton().isEnabled());
    QTest::mouseClick(&m_window->dock<RunsDock>().errorsButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
  }
  const Plan& plan() { return *m_window->document().snapshot()->plan; }
  const FusedNode& lastNode() { return plan().fusedNodes.back(); }
  QString rootOf(const std::string& value) {
    const auto& snapshot = *m_window->document().snapshot();
    const FusedNode* fused = snapshot.fusedOf(snapshot.nodesNamed(value).front());
    return qs(snapshot.graph().node(fused->root.valid() ? fused->root : fused->nodes.front()).name);
  }
  QString panel() { return m_window->dock<InspectorDock>().text(); }
  QString legendText() {
    for (const QWidget* widget : m_window->canvas().findChildren<QWidget*>())
      if (widget->accessibleName().startsWith("Legend")) return widget->accessibleDescription();
    return {};
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(ErrorsTest, 10)
#include "errors_test.moc"
