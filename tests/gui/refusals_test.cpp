#include <QComboBox>
#include <QTextBrowser>
#include <QTreeView>
#include <QtTest>

#include "onnxlib/onnx_text.h"
#include "tests/gui/gui_support.h"
#include "tests/support/paths.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/document/qt_text.h"
#include "ui/models/roles.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

/// A float32 initializer "w" of two elements without data, in protobuf's wire format: appended to a model it is merged
/// into its graph.
const std::string kWeightlessW("\x3a\x09\x2a\x07\x08\x02\x10\x01\x42\x01w", 11);

}  // namespace

/// What cannot be done now says why, what is offered can be done, and what was done is said where one looks.
class RefusalsTest : public QObject {
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

  void whatIsGreySaysWhy_data() {
    QTest::addColumn<QString>("state");
    for (const char* state : {"nothing is open", "no weights", "tensorrt-10", "cpu"}) QTest::newRow(state) << state;
  }
  void whatIsGreySaysWhy() {
    QFETCH(QString, state);
    enter(state);
    QStringList silent;
    for (const QString& dock : state == "nothing is open" ? QStringList() : m_window->dockNames()) {
      m_window->showDock(dock);
      QTest::qWait(50);
      QWidget* page = test::dockOf(*m_window, dock)->widget();
      for (auto* button : page->findChildren<QAbstractButton*>())
        if (button->isVisible() && !button->isEnabled() && !button->toolTip().endsWith('.'))
          silent << dock + ": " + button->text() + " (" + button->toolTip() + ")";
      for (auto* chooser : page->findChildren<QComboBox*>())
        if (chooser->isVisible() && !chooser->isEnabled() && !chooser->toolTip().endsWith('.'))
          silent << dock + ": " + chooser->accessibleName();
    }
    for (const QAction* action : m_window->actions().all())
      if (!action->isEnabled() && !action->toolTip().endsWith('.')) silent << action->text();
    QVERIFY2(silent.isEmpty(), qPrintable(silent.join('\n')));
  }

  void theInspectorOffersWhatCanBeDone_data() {
    QTest::addColumn<QString>("state");
    for (const char* state : {"no weights", "tensorrt-10", "cpu"}) QTest::newRow(state) << state;
  }
  void theInspectorOffersWhatCanBeDone() {
    QFETCH(QString, state);
    enter(state);
    const QString refusal = m_window->controller().buildRefusal();
    QCOMPARE(refusal.isEmpty(), state == "cpu");
    const auto text = [this] { return m_window->dock<InspectorDock>().text(); };
    QCOMPARE(html().contains("do:build"), refusal.isEmpty());
    QVERIFY2(text().contains(refusal), qPrintable(text()));
    QCOMPARE(html().contains("do:cpu"), state == "tensorrt-10");
    if (state != "tensorrt-10") return;
    follow("do:cpu");
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().options().target, std::string("cpu"));
    QTRY_VERIFY(html().contains("do:build"));
  }

  void aPinOnAFusedNodeIsSaidThere() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    const auto before = m_window->document().snapshot();
    const FusedNode* fused = nullptr;
    for (const FusedNode& one : before->plan->fusedNodes)
      if (one.nodes.size() == 2 && one.kind == "conv") fused = &one;
    QVERIFY(fused != nullptr);
    m_window->selection().set(fused->nodes);
    const auto text = [this] { return m_window->dock<InspectorDock>().text(); };
    QVERIFY(!text().contains("Directives") && !text().contains("Answers to pins"));
    m_window->document().pin(m_window->document().namesOf(fused->nodes), DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(m_window->document().snapshot() != before);
    QVERIFY2(text().contains("Directives") && text().contains("Answers to pins"), qPrintable(text()));
    for (const std::string& name : m_window->document().namesOf(fused->nodes))
      QVERIFY2(text().contains(qs("pin " + name)), qPrintable(text()));
    follow("do:clear");
    QTRY_VERIFY(m_window->document().directives().empty());
  }

  void aSegmentIsSelectedAsOne() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    const auto snapshot = m_window->document().snapshot();
    for (const Segment& segment : snapshot->plan->segments) {
      if (segment.nodes.size() < 2 || snapshot->fusedOf(segment.nodes.front())->nodes == segment.nodes) continue;
      m_window->selection().set(segment.nodes);
      QCOMPARE(m_window->canvas().selection(), QStringList(qs(segment.name)));
      QCOMPARE(m_window->dock<OutlineDock>().view().currentIndex().data(kNameRole).toString(), qs(segment.name));
      return;
    }
    QFAIL("no segment has several fused nodes");
  }

  void aSampleComesWithItsInputs() {
    m_window->openSample(test::samplePath("digits"));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr);
    QTRY_COMPARE(m_window->runs().settings().inputs.paths.size(), std::size_t(1));
    QVERIFY(qs(m_window->runs().settings().inputs.paths.front()).endsWith("digits/io.npz"));
    // A file that is opened as such comes alone.
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    QTRY_VERIFY(m_window->runs().settings().inputs.empty());
  }

  void whatIsForAModelNeedsOne() {
    QVERIFY(test::dropOn(*m_window, {test::samplePath("digits").replace("model.onnx", "io.npz")}));
    QTRY_VERIFY(m_window->lastProblem().contains("io.npz says something of a model"));
    for (QMessageBox* box : m_window->findChildren<QMessageBox*>()) box->close();
  }

  void int8IsOfferedAndSaysWhatItNeeds() {
    QVERIFY(test::openSample(*m_window, "digits"));
    QComboBox* precision = nullptr;
    for (QComboBox* box : m_window->findChildren<QComboBox*>())
      if (box->findText("int8, f32") >= 0) precision = box;
    QVERIFY(precision != nullptr);
    const int row = precision->findText("int8, f32");
    QVERIFY(!(precision->model()->flags(precision->model()->index(row, 0)) & Qt::ItemIsEnabled));
    QVERIFY(precision->itemData(row, Qt::ToolTipRole).toString().contains("Calibrate"));
  }

  void theOverviewIsShownWhereThereIsMore() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    QWidget* overview = nullptr;
    for (QWidget* widget : m_window->canvas().findChildren<QWidget*>())
      if (widget->accessibleName() == "Overview of the graph") overview = widget;
    QVERIFY(overview != nullptr);
    m_window->canvas().fit();
    QVERIFY(!overview->isVisible());
    m_window->canvas().setZoom(4);
    QVERIFY(overview->isVisible());
  }

  void theFindFieldStaysInTheWindow() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    for (const int width : {1440, 1024, 640}) {
      m_window->resize(width, 700);
      QLineEdit* field = test::searchBoxOf(*m_window);
      field->setText("node_");
      QTRY_VERIFY2(field->mapTo(m_window.get(), QPoint(field->width(), 0)).x() <= m_window->width(),
                   qPrintable(QString::number(width)));
      QVERIFY(field->width() >= 80);
    }
  }

  void theFooterCountsWhatKernelsMove() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    std::int64_t moved = 0;
    for (const FusedNode& fused : m_window->document().snapshot()->plan->fusedNodes) moved += fused.bytes.value_or(0);
    const QString total = m_window->dock<LayersDock>().model().totalsText();
    QVERIFY2(total.contains(bytesText(moved) + " moved by kernels"), qPrintable(total));
  }

 private:
  void enter(const QString& state) {
    if (state == "nothing is open") return;
    if (state == "no weights") {
      const auto bytes = onnxlib::onnxTextToBytes(
          "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[2] x) => (float[2] y) { y = Add (x, w) }");
      QVERIFY(bytes.ok());
      const auto file = m_folder.write("model.onnx", bytes.value() + kWeightlessW);
      m_window->openFile(QString::fromStdString(file.string()));
      QTRY_VERIFY(m_window->document().snapshot() != nullptr);
      QVERIFY(m_window->document().model()->weightless);
      return;
    }
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setTarget(state.toStdString());
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().planProblem().isEmpty());
  }
  QTextBrowser* inspector() { return m_window->dock<InspectorDock>().findChild<QTextBrowser*>(); }
  QString html() {
    m_window->dock<InspectorDock>().catchUp();
    return inspector()->toHtml();
  }
  void follow(const char* link) {
    QVERIFY(html().contains(link));
    emit inspector()->anchorClicked(QUrl(link));
  }

  test::TemporaryFolder m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(RefusalsTest, 12)
#include "refusals_test.moc"
