#include <QTextBrowser>
#include <QtTest>
#include <cmath>

#include "session/inputs/sample_source.h"
#include "session/layer_types.h"
#include "tests/gui/gui_support.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

TensorError errorOf(double overRms) {
  return {.elements = 8, .maxAbs = overRms, .maxOverRms = overRms, .relL2 = overRms};
}

TensorComparison comparison(const std::string& name, double overRms) {
  return {.name = name, .ok = overRms <= 0.01, .maxAbs = overRms, .maxOverRms = overRms, .ofBound = 100 * overRms};
}

}  // namespace

/// Where a run first goes wrong is one place, wherever it is said; and what was measured of a plan is said of that
/// plan, whichever of its runs is shown.
class VerdictTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void errorsOfLayersAreTheOneVerdict() {
    const std::string id = runs().add(evaluatedRun("node_relu", 0.05));
    QCOMPARE(runs().failure()->name, std::string("node_relu"));
    QVERIFY(marked("node_relu"));
    runs().addErrors(id, errors({}));
    QCOMPARE(runs().failure()->name, std::string("node_relu_1"));
    QCOMPARE(runs().verdict(*runs().shown()).firstWrong, valueOf("node_relu_1"));
    QVERIFY(marked("node_relu_1") && !marked("node_relu"));
    QCOMPARE(m_window->firstWrong(), QStringLiteral("node_relu_1"));
    for (const QString& said : {panelOf({}), m_window->dock<RunsDock>().details()}) {
      QVERIFY2(said.contains(qs(valueOf("node_relu_1"))), qPrintable(said));
      QVERIFY2(!said.contains(qs(valueOf("node_relu") + "<")) && !said.contains(qs(valueOf("node_relu") + "\n")),
               qPrintable(said));
    }
    QVERIFY2(!panelOf("node_relu").contains("goes wrong here"), qPrintable(panelOf("node_relu")));
    const QString there = panelOf("node_relu_1");
    QVERIFY2(there.contains("goes wrong here first") && there.contains("its inputs are exact"), qPrintable(there));
    QVERIFY(runs().whyVerdictsDiffer(*runs().shown()).isEmpty());
  }

  void whatLeadsToNoOutputIsNotWhereItGoesWrong() {
    const std::string id = runs().add(evaluatedRun("node_relu_1", 0.05));
    RunErrors harmless = errors({});
    for (TensorErrors& tensor : harmless.tensors)
      if (tensor.name != valueOf("node_relu_1")) tensor.errors.carried = errorOf(0.001);
    runs().addErrors(id, harmless);
    QVERIFY(!runs().firstWrong());
    // Then they say that nothing is wrong where the evaluation says that something is: it is said why.
    const QString why = runs().whyVerdictsDiffer(*runs().shown());
    QVERIFY2(why.contains("no layer is wrong") && why.contains("backend native") && why.contains("the reference"),
             qPrintable(why));
    QVERIFY2(panelOf("node_relu_1").contains(why), qPrintable(panelOf("node_relu_1")));
  }

  void thoseOnOtherInputsAreSaidInASentence() {
    const std::string id = runs().add(evaluatedRun("node_relu", 0.05));
    runs().addErrors(id, errors({.paths = {"others.npz"}}));
    QCOMPARE(runs().failure()->name, std::string("node_relu"));  // on the inputs that are chosen
    const QString why = runs().whyVerdictsDiffer(*runs().shown());
    QVERIFY2(why.contains(qs(valueOf("node_relu_1"))) && why.contains("others.npz") && why.contains("random inputs"),
             qPrintable(why));
    QVERIFY2(panelOf("node_relu").contains(why), qPrintable(panelOf("node_relu")));
    QVERIFY2(m_window->dock<RunsDock>().details().contains(why.toHtmlEscaped()),
             qPrintable(m_window->dock<RunsDock>().details()));
    // Once they are on those that are chosen, they are what tells.
    m_window->setInputs({.paths = {"others.npz"}});
    QCOMPARE(runs().failure()->name, std::string("node_relu_1"));
  }

  void errorsStayWhenTheSamePlanIsBuiltAgain() {
    Run run = evaluatedRun("node_relu", 0.05);
    run.evaluations.clear();
    const std::string first = runs().add(run);
    runs().addErrors(first, errors({}));
    runs().add(run);
    QVERIFY(runs().shown()->errors.empty());
    const ShownErrors shown = runs().layerErrors();
    QVERIFY2(shown.made.startsWith("run " + qs(first)), qPrintable(shown.made));
    QVERIFY(!shown.of.empty());
    for (const auto& [handle, error] : shown.of) QVERIFY(error.kind == ErrorKind::Measured);
    QVERIFY(marked("node_relu_1"));
    const QString panel = panelOf("node_relu_1");
    QVERIFY2(panel.contains("is a culprit") && panel.contains("run " + qs(first)), qPrintable(panel));
    // Its own take their place.
    runs().addErrors(runs().shown()->id, errors({}));
    QVERIFY(runs().layerErrors().made.startsWith("run " + qs(runs().shown()->id)));
  }

  void theRunOfThePlanOnScreenIsOffered() {
    const std::string first = runs().add(evaluatedRun("node_relu", 0.05));
    m_window->document().pin({"node_relu_1"}, DataType::F32, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY2(panelOf({}).contains("Build this plan and time it"), qPrintable(panelOf({})));
    runs().add(evaluatedRun("node_relu", 0.001));
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    const QString panel = panelOf({});
    QVERIFY2(panel.contains("Show run " + qs(first) + ", which is of this plan"), qPrintable(panel));
    QVERIFY2(!panel.contains("Build this plan"), qPrintable(panel));
    emit m_window->dock<InspectorDock>().findChild<QTextBrowser*>()->anchorClicked(QUrl("do:show:" + qs(first)));
    QCOMPARE(runs().shown()->id, first);
  }

  void whatHelpsIsSaidWhereItGoesWrong() {
    const std::string id = runs().add(evaluatedRun("node_relu_1", INFINITY));
    runs().addErrors(id, errors({}));
    const QString help = helpFor("node_relu_1");
    QVERIFY2(help.contains("Pin ") || help.contains("Tune"), qPrintable(help));
    QVERIFY2(!help.contains("Everything that was requested"), qPrintable(help));
    const QString victim = helpFor("node_layer_norm");
    QVERIFY2(victim.contains("Its input is wrong: see " + qs(valueOf("node_relu_1"))), qPrintable(victim));
    const QString other = helpFor("node_linear");  // nothing is wrong there
    QVERIFY2(!other.contains("Tune") && !other.contains("Its input is wrong"), qPrintable(other));
  }

 private:
  Runs& runs() { return m_window->runs(); }
  const Graph& graph() { return m_window->document().snapshot()->graph(); }
  std::string valueOf(const std::string& node) {
    return graph().value(graph().node(*graph().findNode(node)).outputs.front()).name;
  }
  /// A run of the plan on screen, evaluated on random inputs: the value of `wrong` is off by `by`, and the output is
  /// too.
  Run evaluatedRun(const std::string& wrong, double by) {
    Run run{.name = "f16", .state = RunState::Ready, .model = m_window->document().modelFile().identity()};
    run.options = m_window->document().options();
    Evaluation evaluation;
    evaluation.tolerance = Tolerance::ofLoweredTypes();
    evaluation.values = {comparison(valueOf(wrong), by)};
    evaluation.outputs = {comparison(graph().value(graph().outputs().front()).name, by)};
    run.evaluations.emplace_back(evaluation);
    return run;
  }
  /// Of a network that the second activation makes wrong, and all that comes behind it.
  RunErrors errors(const SampleSource& inputs) {
    RunErrors errors{.inputs = inputs, .samples = 1, .against = "f32", .backend = "native"};
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    bool wrong = false;
    for (const FusedNode& fused : snapshot.plan->fusedNodes) {
      const Value& left = graph().value(fused.outputs.front().value);
      const bool culprit = left.name == valueOf("node_relu_1");
      wrong |= culprit;
      const LocalAndCarried both{errorOf(culprit ? 0.2 : 0.001), errorOf(wrong ? 0.2 : 0.001)};
      errors.nodes.push_back({fused.name, fused.identity.hex(), layerTypes(*snapshot.plan, fused), both});
      errors.tensors.push_back({left.name, fused.name, DataType::F16, left.consumers.empty(), both});
    }
    return errors;
  }
  /// What the Inspector says of a node, or of nothing.
  QString panelOf(const std::string& node) {
    if (node.empty())
      m_window->selection().clear(this);
    else
      m_window->selection().set({*graph().findNode(node)});
    return m_window->dock<InspectorDock>().text();
  }
  QString helpFor(const std::string& node) {
    panelOf(node);
    const auto worked = [&] { return !m_window->dock<InspectorDock>().text().contains("working it out"); };
    if (!QTest::qWaitFor(worked, test::kPatienceMs)) return {};
    return m_window->dock<InspectorDock>().text().section("What would help", 1).section("Inputs", 0, 0);
  }
  bool marked(const QString& node) {
    m_window->canvas().waitForLayout(test::kPatienceMs);
    m_window->canvas().select({node});
    return m_window->canvas().accessibleDescription().contains("goes wrong here");
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(VerdictTest, 6)
#include "verdict_test.moc"
