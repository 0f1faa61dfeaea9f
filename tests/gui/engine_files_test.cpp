// Files of a TensorRT engine in the window: dropped on the network that they are of, and alone.
#include <QtTest>

#include "base/files.h"
#include "session/import_engine.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/models/run_contents.h"
#include "ui/models/trade_off.h"
#include "ui/window/extract_action.h"
#include "ui/window/fact_line.h"
#include "ui/window/main_window.h"
#include "ui/window/message_keys.h"

namespace fusescope {
namespace {

const char* const kNetwork = R"(<ir_version: 8, opset_import: ["" : 17]>
two (float[1, 4] x) => (float[1, 4] y) {
  [Relu_0] a = Relu(x)
  [Sigmoid_1] y = Sigmoid(a)
})";

QByteArray layersText() {
  return R"({"Layers": [
    {"Name": "Relu_0 + Sigmoid_1", "LayerType": "PointWise",
     "Inputs": [{"Name": "x", "Location": "Device", "Dimensions": [1, 4], "Format/Datatype": "Row major linear FP32"}],
     "Outputs": [{"Name": "half", "Location": "Device", "Dimensions": [1, 4], "Format/Datatype": "Row major linear FP16 format"}]},
    {"Name": "Reformatting CopyNode for Output Tensor 0 to Relu_0 + Sigmoid_1", "LayerType": "Reformat",
     "Inputs": [{"Name": "half", "Location": "Device", "Dimensions": [1, 4], "Format/Datatype": "Row major linear FP16 format"}],
     "Outputs": [{"Name": "y", "Location": "Device", "Dimensions": [1, 4], "Format/Datatype": "Row major linear FP32"}],
     "Origin": "REFORMAT"}],
    "Bindings": ["x", "y"]})";
}

QByteArray profileText() {
  return R"([{"count": 10}, {"name": "Relu_0 + Sigmoid_1", "timeMs": 5, "averageMs": 0.5, "medianMs": 0.25, "percentage": 80},
    {"name": "Reformatting CopyNode for Output Tensor 0 to Relu_0 + Sigmoid_1", "timeMs": 1, "averageMs": 0.1,
     "medianMs": 0.125, "percentage": 20}])";
}

}  // namespace

class EngineFilesTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_network = m_folder->filePath(QStringLiteral("two.onnx"));
    m_layers = m_folder->filePath(QStringLiteral("layers.json"));
    m_profile = m_folder->filePath(QStringLiteral("profile.json"));
    test::writeModel(m_network, kNetwork);
    QVERIFY(writeFileAtomically(m_layers.toStdString(), layersText().toStdString()).ok());
    QVERIFY(writeFileAtomically(m_profile.toStdString(), profileText().toStdString()).ok());
    m_window = test::shownWindow();
  }
  void cleanup() { m_window.reset(); }

  void filesAreARunOverTheOpenNetwork() {
    QVERIFY(test::dropOn(*m_window, {m_network}));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    QVERIFY(test::dropOn(*m_window, {m_layers, m_profile}));
    expectMade(1);
    const Run& run = m_window->runs().all().front();
    QCOMPARE(run.state, RunState::Ready);
    QVERIFY(run.time);
    QCOMPARE(run.time->layers.size(), std::size_t{2});
    QCOMPARE(*run.time->layers.front().medianMs, 0.25);
    QVERIFY2(qs(run.time->remark).contains(QStringLiteral("not measured here")), run.time->remark.c_str());
    QCOMPARE(m_window->document().options().target, std::string("tensorrt-8"));
  }

  void layersAloneAreANetwork() {
    QVERIFY(test::dropOn(*m_window, {m_profile, m_layers}));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    QCOMPARE(m_window->document().model()->format, std::string("tensorrt-layers"));
    expectMade(2);
  }

  void layersThatAreOpenedAloneAreAnEngineToo() {
    QVERIFY(m_window->openFile(m_layers));
    expectMade(2);
    QCOMPARE(m_window->document().options().target, std::string("tensorrt-8"));
    const Run& run = m_window->runs().all().front();
    QVERIFY(isReadFromFiles(run));
    // Nothing of it can be run here, and nothing was: nobody is told to try, nor that inputs were random.
    const QString refusal = m_window->controller().evaluateRefusal();
    QVERIFY2(refusal.contains("read from files of an engine"), qPrintable(refusal));
    QCOMPARE(runsContent(m_window->runs()).rows.front().cells[4].text.contains("random"), false);
    const QString words = m_window->findChild<FactLine*>()->words();
    QVERIFY2(!words.contains("predicted 0"), qPrintable(words));
  }

  /// What import-engine writes is the engine, not our prediction of it.
  void aPlanThatWasReadBackOpensAsTheRunThatItTells() {
    const EngineImport request{
        .model = m_network.toStdString(),
        .files = {.layers = m_layers.toStdString(), .profile = m_profile.toStdString(), .times = {}, .log = {}}};
    const auto artifact = importEngine(request);
    QVERIFY(artifact.ok());
    const QString plan = m_folder->filePath(QStringLiteral("engine.json"));
    QVERIFY(writeFileAtomically(plan.toStdString(), toJson(*artifact.value().made).dump()).ok());
    QVERIFY(m_window->openFile(plan));
    expectMade(1);
    const Run& run = m_window->runs().all().front();
    QVERIFY(isReadFromFiles(run));
    QCOMPARE(run.name, std::string("engine.json"));
    QCOMPARE(run.time->layers.size(), std::size_t{2});
  }

  void filesOfAnotherNetworkChangeNothing() {
    const QString other = m_folder->filePath(QStringLiteral("other.onnx"));
    test::writeModel(other, R"(<ir_version: 8, opset_import: ["" : 17]>
other (float[1, 8] p) => (float[1, 8] q) {
  [Exp_7] m = Exp(p)
  [Neg_8] q = Neg(m)
})");
    QVERIFY(test::dropOn(*m_window, {other}));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    const PlanOptions before = m_window->document().options();
    QVERIFY(m_window->openFile(m_layers));
    QTRY_VERIFY(!m_window->controller().problem().isEmpty());
    const QString problem = m_window->controller().problem();
    QVERIFY2(problem.contains("None of the 2 layers in layers.json could be placed"), qPrintable(problem));
    QCOMPARE(m_window->messages().textOf(kFilesKey), QStringLiteral("✗ ") + problem);
    QVERIFY(m_window->runs().all().empty());
    QVERIFY(m_window->document().options() == before);
  }

  void layersOfAnotherEngineAreAnotherNetwork() {
    QVERIFY(m_window->openFile(m_layers));
    expectMade(2);
    const QString other = m_folder->filePath(QStringLiteral("other.json"));
    QVERIFY(writeFileAtomically(other.toStdString(), layersText().replace("Relu_0", "Exp_7").toStdString()).ok());
    QVERIFY(m_window->openFile(other));
    QTRY_COMPARE(m_window->document().path(), other);
    expectMade(2);
    QCOMPARE(m_window->runs().all().size(), std::size_t{1});
    QVERIFY(m_window->document().snapshot()->made()->fusedNodes.front().name.find("Exp_7") != std::string::npos);
    // Handed to the engine that is open they are an error, not silence.
    m_window->controller().importEngine({m_layers});
    QTRY_VERIFY(m_window->controller().problem().contains("the layers of another engine"));
    QCOMPARE(m_window->runs().all().size(), std::size_t{1});
  }

  void whatCannotBeDoneWithItSaysSo() {
    QVERIFY(m_window->openFile(m_layers));
    expectMade(2);
    m_window->selection().set({m_window->document().snapshot()->graph().order()[0]});
    QVERIFY2(extractRefusal(*m_window).contains("ONNX file"), qPrintable(extractRefusal(*m_window)));
    QVERIFY(!m_window->actions().find("bisect")->isEnabled());
  }

  void errorsOfItsPlanAreNoneOfTheRunThatWasRead() {
    QVERIFY(test::dropOn(*m_window, {m_network}));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    m_window->document().pin({"Relu_0"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(test::dropOn(*m_window, {m_layers, m_profile}));
    expectMade(1);
    const QString& notice = m_window->controller().notice();
    QVERIFY2(notice.contains("Your directive is not of the engine: Undo"), qPrintable(notice));
    // Nothing can be built for this target here, and so nothing be searched for.
    QVERIFY(!m_window->controller().bisectRefusal().isEmpty());
    const auto groups = tradeOffGroups(m_window->runs());
    QCOMPARE(groups.size(), std::size_t{1});
    QVERIFY2(groups.front().words.endsWith("read from files of an engine"), qPrintable(groups.front().words));
    m_window->controller().evaluateErrors();
    QTRY_VERIFY(!m_window->controller().busy());
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    QCOMPARE(m_window->runs().all().size(), std::size_t{2});
    QVERIFY(m_window->runs().all().front().errors.empty());
    QVERIFY(!m_window->runs().all().back().errors.empty());
  }

  void theyAreOpenedByTheMenu() {
    QVERIFY(test::dropOn(*m_window, {m_network}));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    test::answerFileDialog(m_layers);
    m_window->openEngineFiles();
    expectMade(1);
  }

  void damagedFilesAreSaid() {
    QVERIFY(test::dropOn(*m_window, {m_network}));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    m_window->controller().importEngine({m_network});
    QTRY_VERIFY(!m_window->controller().problem().isEmpty());
    QVERIFY(m_window->runs().all().empty());
  }

 private:
  /// What the files tell is on screen, with so many nodes in kernels.
  void expectMade(std::size_t kernelsWithNodes) {
    QTRY_VERIFY(!m_window->runs().all().empty());
    QTRY_VERIFY(m_window->document().snapshot()->made() != nullptr);
    const ReadBackPlan& made = *m_window->document().snapshot()->made();
    std::size_t count = 0;
    for (const FusedNode& fused : made.fusedNodes) count += fused.nodes.empty() ? 0 : 1;
    QCOMPARE(count, kernelsWithNodes);
    QVERIFY(made.placement);
    QCOMPARE(made.placement->layers, 2);
    QVERIFY(made.placement->unplaced.empty());
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  QString m_network, m_layers, m_profile;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::EngineFilesTest, 10)
#include "engine_files_test.moc"
