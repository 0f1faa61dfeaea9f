#include <QTextBlock>
#include <QTextBrowser>
#include <QtTest>
#include <algorithm>

#include "tests/gui/gui_support.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kRunMs = 180'000;

struct Link {
  QString text, target;
};

}  // namespace

/// What the window offers to do about what goes wrong does something about it.
class FixesTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->setInputs({.paths = {FUSESCOPE_SOURCE_DIR "/resources/samples/fp16_overflow/io.npz"}});
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    m_window->showDock("Runs");
    m_window->showDock("Inspector");
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void theLinkAtAFailureMendsIt() {
    buildAndEvaluate();
    const auto failure = m_window->runs().failure();
    QVERIFY(failure && failure->value == "relu_1");
    m_window->selection().set({failure->node});
    follow("Pin ");
    QVERIFY2(storedType("relu_1") == DataType::F32, "the value that overflows is kept wide");
    buildAndEvaluate();
    QVERIFY(m_window->runs().verdict(*m_window->runs().shown()).kind == Verdict::Kind::Pass);
    QVERIFY(!m_window->runs().failure());
  }

  void theLinkSaysWhatItWillDo() {
    buildAndEvaluate();
    m_window->selection().set({m_window->runs().failure()->node});
    QTRY_VERIFY(!linkNamed("Pin ").target.isEmpty());
    QVERIFY2(panel().contains("relu_1 is stored in f32 instead of f16"), qPrintable(panel()));
    QVERIFY2(panel().contains("tried: relu_1 is right"), qPrintable(panel()));
    QVERIFY2(linkNamed("Pin ").text.contains("node_layer_norm"), qPrintable(linkNamed("Pin ").text));
  }

  void theLinkAtACulpritMendsIt() {
    QTest::mouseClick(&m_window->dock<RunsDock>().errorsButton(), Qt::LeftButton);
    waitForWork();
    m_window->actions().find("go_to_wrong")->trigger();
    QVERIFY(panel().contains("is a culprit"));
    follow("Pin ");
    QVERIFY(storedType("relu_1") == DataType::F32);
    QTest::mouseClick(&m_window->dock<RunsDock>().errorsButton(), Qt::LeftButton);
    waitForWork();
    QVERIFY(!m_window->runs().firstWrong());
  }

  void whatThePlanCannotDoIsNoLink() {
    // Where the author's Cast decides, what would help is an edit of the network: nothing here to press.
    QTemporaryDir folder;
    test::writeModel(folder.filePath("m.onnx"), R"(<ir_version: 8, opset_import: ["" : 18]>
        g (float16[4, 8] x) => (float16[4, 8] y) {
          [up] w = Cast <to = 1> (x)
          [exp] e = Exp (w)
          [tanh] t = Tanh (e)
          [down] y = Cast <to = 10> (t) })");
    m_window->openFile(folder.filePath("m.onnx"));
    QTRY_VERIFY(m_window->document().snapshot()->graph().findNode("exp").has_value());
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    for (const char* name : {"exp", "tanh"}) {
      m_window->selection().set(m_window->document().snapshot()->nodesNamed(name));
      QTRY_VERIFY2(!panel().contains("working it out"), qPrintable(panel()));
      for (const Link& link : links()) {
        if (link.target.startsWith("node:")) continue;
        const PlanOptions before = m_window->document().options();
        press(link);
        QVERIFY2(m_window->document().planProblem().isEmpty(), qPrintable(m_window->document().planProblem()));
        QVERIFY2(!(m_window->document().options() == before), qPrintable(link.target));
        m_window->document().undoStack().undo();
        QTRY_VERIFY(!m_window->document().planning());
      }
    }
  }

 private:
  void waitForWork() {
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kRunMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
  }
  void buildAndEvaluate() {
    QTest::mouseClick(&m_window->dock<RunsDock>().buildButton(), Qt::LeftButton);
    waitForWork();
    QTest::mouseClick(&m_window->dock<RunsDock>().evaluateButton(), Qt::LeftButton);
    waitForWork();
  }
  DataType storedType(const std::string& value) {
    const Plan& plan = *m_window->document().snapshot()->plan;
    return plan.storedType(*plan.graph().findValue(value));
  }
  InspectorDock& inspector() { return m_window->dock<InspectorDock>(); }
  QString panel() { return inspector().text(); }
  QTextBrowser& browser() {
    panel();
    return *inspector().findChild<QTextBrowser*>();
  }
  std::vector<Link> links() {
    std::vector<Link> found;
    const QTextDocument& document = *browser().document();
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
      for (auto part = block.begin(); !part.atEnd(); ++part)
        if (part.fragment().charFormat().isAnchor())
          found.push_back({part.fragment().text(), part.fragment().charFormat().anchorHref()});
    return found;
  }
  Link linkNamed(const QString& words) {
    for (const Link& link : links())
      if (link.text.contains(words)) return link;
    return {};
  }
  void press(const Link& link) {
    emit browser().anchorClicked(QUrl(link.target));
    QTRY_VERIFY(!m_window->document().planning());
  }
  void follow(const QString& words) {
    QTRY_VERIFY2(!linkNamed(words).target.isEmpty(), qPrintable(panel()));
    press(linkNamed(words));
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(FixesTest, 4)
#include "fixes_test.moc"
