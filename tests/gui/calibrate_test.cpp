#include <QLabel>
#include <QMenu>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <numeric>

#include "base/files.h"
#include "planning/directive.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/dialogs/calibrate_dialog.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/range_html.h"
#include "ui/docks/validation_dock.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/histogram_picture.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

using namespace fusescope;

namespace {

constexpr int kCalibrateMs = 180'000;

}  // namespace

/// Ranges in the window: measured or read, seen edge by edge, taken in one step, kept with the session.
class CalibrateTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::shownWindow({.size = QSize(1440, 900), .sessions = m_folder->filePath("kept")});
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void columnsHoldAllThatIsInTheBins() {
    Histogram histogram;
    std::vector<float> numbers;
    for (int i = -100; i <= 300; ++i) numbers.push_back(static_cast<float>(i) / 100);
    histogram.add(numbers);
    for (const int columns : {1, 7, 100, 5000}) {
      const auto heights = histogramColumns(histogram, -1, 3, columns);
      QCOMPARE(heights.size(), std::size_t(columns));
      const double all = std::accumulate(heights.begin(), heights.end(), 0.0);
      QVERIFY2(std::abs(all - 401) < 1e-6, qPrintable(QString::number(all)));
    }
    const EdgeRange edge{{-0.5, 2}, histogram};
    QVERIFY2(rangeWords(edge).startsWith("-0.5 … 2 of -1 … 3 seen, 3"), qPrintable(rangeWords(edge)));
    QCOMPARE(rangeWords({{-0.5, 2}, {}}), QStringLiteral("-0.5 … 2"));
    Histogram zeros;
    zeros.add(std::vector<float>{0, 0, 0});
    QCOMPARE(histogramColumns(zeros, 0, 0, 5)[2], 3.0);
  }

  void rangesAreOneStepWithInt8AndKeptWithTheSession() {
    openDigits();
    const PlanOptions before = options();
    CalibrateDialog& dialog = open();
    QVERIFY(!dialog.takeButton().isEnabled() && !dialog.saveButton().isEnabled() && !dialog.dropButton().isEnabled());
    calibrate(dialog);
    QVERIFY2(dialog.said().startsWith("✓") && dialog.said().contains("by mse, of "), qPrintable(dialog.said()));
    QVERIFY(!dialog.said().contains("random"));
    const int edges = dialog.edges().model()->rowCount();
    QVERIFY(edges > 4);
    QCOMPARE(dialog.plot().value(), dialog.edges().model()->index(0, 0).data(Qt::DisplayRole).toString());
    const QModelIndex third = dialog.edges().model()->index(2, 0);
    QTest::mouseClick(dialog.edges().viewport(), Qt::LeftButton, {}, dialog.edges().visualRect(third).center());
    QCOMPARE(dialog.plot().value(), third.data(Qt::DisplayRole).toString());
    QVERIFY(options() == before);  // nothing changes by itself
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    waitForPlan();
    QCOMPARE(m_window->document().undoStack().count(), 1);
    QCOMPARE(options().precisions, std::vector{DataType::I8});
    QVERIFY(options().ranges != nullptr && options().ranges->edges.size() == std::size_t(edges));
    QVERIFY2(integerKernels() > 0, "kernels calculate in integers");

    const Session saved = m_window->session().session();
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    m_window->document().undoStack().undo();
    waitForPlan();
    QVERIFY(options() == before);
    QVERIFY2(m_window->document().ranges() != nullptr, "int8 can be chosen again");
    QVERIFY(m_window->session().save(m_folder->filePath("undone.fsession")).ok());

    m_window = test::shownWindow();
    m_window->session().open(file);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, kCalibrateMs);
    QVERIFY(options() == saved.options);
    const auto& kept = options().ranges->edges.begin()->second;
    QVERIFY2(kept.histogram && kept.histogram->count() > 0, "histograms are kept");
    QVERIFY(m_window->session().session().calibrated == saved.calibrated);
    m_window->session().open(m_folder->filePath("undone.fsession"));
    QTRY_VERIFY_WITH_TIMEOUT(options().ranges == nullptr, kCalibrateMs);
    m_window->document().setPrecisions({DataType::I8, DataType::F16});
    waitForPlan();
    QVERIFY2(m_window->document().planProblem().isEmpty(), qPrintable(m_window->document().planProblem()));
    QVERIFY(options().ranges != nullptr);
    m_window->document().setPrecisions({DataType::F16});
    waitForPlan();
    QVERIFY(options().ranges == nullptr && m_window->document().planProblem().isEmpty());
  }

  /// With a pin that keeps codes out, the plan is of another network.
  void aPinOfAnInt8PlanSaysWhatItDid() {
    openDigits();
    takeRanges();
    const auto before = m_window->document().snapshot();
    const std::string product = before->graph().node(nodeOf("Conv")).name;
    m_window->document().pin({product}, DataType::F32, Strictness::Obey);
    waitForPlan();
    const auto after = m_window->document().snapshot();
    QVERIFY2(after->plan->model != before->plan->model, "else this tests nothing");
    QVERIFY(after->delta.comparable && !after->delta.nothing());
    QVERIFY(!after->newDecisions().empty());
    auto& validation = m_window->dock<ValidationDock>();
    QVERIFY2(validation.summary().contains("Last edit: ") && validation.summary().contains(" move "),
             qPrintable(validation.summary()));
    QVERIFY2(!validation.summary().contains("Pin a node to see"), qPrintable(validation.summary()));
  }

  void theInspectorShowsWhatWasSeenAndTheVerdictIsOfTheInt8Plan() {
    openDigits();
    takeRanges();
    const Plan& plan = *m_window->document().snapshot()->plan;
    const auto product = std::ranges::find(plan.fusedNodes, DataType::I8, &FusedNode::compute);
    QVERIFY(product != plan.fusedNodes.end());
    const std::string root = plan.graph().node(product->root).name;
    m_window->selection().set(m_window->document().snapshot()->nodesNamed(root), this);
    auto& inspector = m_window->dock<InspectorDock>();
    QTRY_VERIFY2(inspector.text().contains("Ranges of the codes"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("% clamped") && inspector.text().contains("by mse, of "),
             qPrintable(inspector.text()));
    const KnownRange known = rangeOf(plan, plan.graph().node(product->root).inputs.front());
    QVERIFY2(known.edge != nullptr, "what it reads was quantised from an edge with a range");
    const QUrl link(QStringLiteral("histogram:") + qs(known.value));
    for (const Theme* theme : {&Theme::dark(), &Theme::light()}) {
      const auto picture = histogramPicture(plan, link, 2, *theme).value<QImage>();
      QCOMPARE(picture.devicePixelRatio(), 2.0);
      QVERIFY2(holds(picture, theme->chart), "bars are drawn");
    }
    QVERIFY(!histogramPicture(plan, QUrl("histogram:nothing"), 1, Theme::dark()).isValid());

    m_window->controller().build();
    waitForWork();
    m_window->controller().evaluate();
    waitForWork();
    judge(0.25);
    QCOMPARE(verdict(), Verdict::Kind::Pass);
    judge(1e-6);
    QCOMPARE(verdict(), Verdict::Kind::Fail);
  }

  void theyAreSavedTakenAwayAndOpenedAgain() {
    openDigits();
    CalibrateDialog& dialog = open();
    dialog.method().setCurrentIndex(dialog.method().findData(static_cast<int>(RangeMethod::MinMax)));
    dialog.symmetric().setChecked(true);
    calibrate(dialog);
    const QString file = m_folder->filePath("ranges.json");
    choose(file, dialog.saveButton());
    QTRY_VERIFY2(dialog.said().contains("Saved as"), qPrintable(dialog.said()));
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    waitForPlan();
    const PlanOptions with = options();

    CalibrateDialog& second = open();
    QTRY_VERIFY(second.edges().model()->rowCount() > 0);  // those of the session
    QCOMPARE(second.method().currentData().toInt(), static_cast<int>(RangeMethod::MinMax));
    QVERIFY(second.symmetric().isChecked() && second.dropButton().isEnabled());
    QTest::mouseClick(&second.dropButton(), Qt::LeftButton);
    waitForPlan();
    QVERIFY(options().ranges == nullptr && options().precisions.empty());
    QVERIFY(m_window->document().ranges() == nullptr && second.edges().model()->rowCount() == 0);
    choose(m_folder->filePath("missing.json"), second.openButton());
    QTRY_VERIFY2(second.said().contains("missing.json"), qPrintable(second.said()));
    choose(file, second.openButton());
    QTRY_VERIFY2(second.said().contains("(ranges.json)"), qPrintable(second.said()));
    QTest::mouseClick(&second.takeButton(), Qt::LeftButton);
    waitForPlan();
    QVERIFY(options() == with);
    m_window->document().undoStack().undo();
    m_window->document().undoStack().undo();
    waitForPlan();
    QVERIFY2(options() == with, "taking them away was one step");
  }

  void aProductIsPinnedToInt8FromItsMenu() {
    openDigits();
    const NodeId conv = nodeOf("Conv"), relu = nodeOf("Relu");
    QVERIFY2(int8Refusal(conv).contains("Calibrate"), "without ranges");
    CalibrateDialog& dialog = open();
    calibrate(dialog);
    dialog.everywhere().setChecked(false);
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    QVERIFY(options().ranges == nullptr && m_window->document().ranges() != nullptr);
    QVERIFY2(int8Refusal(relu).contains("does not multiply"), qPrintable(int8Refusal(relu)));
    QCOMPARE(int8Refusal(conv), QString());
    QMenu menu;
    fillNodeMenu(menu, test::contextOf(*m_window), {conv});
    int8Entry(menu)->trigger();
    waitForPlan();
    QVERIFY2(m_window->document().planProblem().isEmpty(), qPrintable(m_window->document().planProblem()));
    QCOMPARE(integerKernels(), 1);
    m_window->document().clearDirectives({options().directives.front().pattern});
    waitForPlan();
    QVERIFY(integerKernels() == 0 && options().ranges == nullptr && m_window->document().ranges() != nullptr);
    PlanOptions read = options();  // as a file of directives is opened
    read.directives = {parsePin("op:Gemm=int8").value()};
    m_window->document().edit("Open directives", read);
    waitForPlan();
    QVERIFY2(m_window->document().planProblem().isEmpty(), qPrintable(m_window->document().planProblem()));
    QCOMPARE(integerKernels(), 1);
  }

  void aDroppedFileIsShownForUse() {
    openDigits();
    CalibrateDialog& dialog = open();
    calibrate(dialog);
    const QString file = m_folder->filePath("ranges.json");
    choose(file, dialog.saveButton());
    QTRY_VERIFY2(dialog.said().contains("Saved as"), qPrintable(dialog.said()));
    dialog.reject();
    QTRY_VERIFY(m_window->findChildren<CalibrateDialog*>().isEmpty());
    QVERIFY(test::dropOn(*m_window, {file}));
    QTRY_VERIFY(!m_window->findChildren<CalibrateDialog*>().isEmpty());
    CalibrateDialog& dropped = *m_window->findChildren<CalibrateDialog*>().front();
    QTRY_VERIFY2(dropped.said().contains("(ranges.json)"), qPrintable(dropped.said()));
    QVERIFY(dropped.takeButton().isEnabled() && m_window->document().ranges() == nullptr);
  }

  void tensorRtsCacheIsRead() {
    openDigits();
    const std::string value =
        m_window->document().snapshot()->graph().value(m_window->document().snapshot()->graph().inputs().front()).name;
    const QString file = m_folder->filePath("digits.cache");
    QVERIFY(writeFileAtomically(file.toStdString(), "TRT-8204-EntropyCalibration2\n" + value + ": 3c010204\n").ok());
    CalibrateDialog& dialog = open();
    choose(file, dialog.openButton());
    QTRY_VERIFY2(dialog.said().contains("TensorRT's calibration cache"), qPrintable(dialog.said()));
    QCOMPARE(dialog.edges().model()->rowCount(), 1);
    QVERIFY(dialog.edges().model()->index(0, 1).data(Qt::DisplayRole).toString().contains("not kept"));
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    waitForPlan();
    QVERIFY2(m_window->document().planProblem().isEmpty(), qPrintable(m_window->document().planProblem()));
    QCOMPARE(integerKernels(), 1);
  }

  void nodesAreExcludedAndWeightsHeldByThemselves() {
    openDigits();
    CalibrateDialog& dialog = open();
    dialog.exclude().setPlainText("op:Nothing");
    QTRY_VERIFY2(!dialog.startButton().isEnabled() && excludedText(dialog).contains("op:Nothing"),
                 qPrintable(excludedText(dialog)));
    dialog.exclude().setPlainText("op:Conv");
    QTRY_VERIFY2(dialog.startButton().isEnabled() && excludedText(dialog).contains("node"),
                 qPrintable(excludedText(dialog)));
    dialog.weightOnly().setCurrentIndex(dialog.weightOnly().findData(static_cast<int>(DataType::I4)));
    dialog.block().setValue(16);
    QVERIFY(dialog.takeButton().isEnabled());  // weights need no ranges
    dialog.everywhere().setChecked(false);
    calibrate(dialog);
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    waitForPlan();
    QCOMPARE(options().weightOnly, (WeightOnly{DataType::I4, 16}));
    QVERIFY(options().ranges == nullptr && options().precisions.empty());  // int8 was not asked for
    QCOMPARE(m_window->document().ranges()->settings.exclude, std::vector<std::string>{"op:Conv"});
    QVERIFY2(m_window->document().planProblem().isEmpty(), qPrintable(m_window->document().planProblem()));
  }

  void itIsCancelled() {
    QVERIFY(m_window->openFile(test::writeResidualChain(m_folder->path(), 400)));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, kCalibrateMs);
    CalibrateDialog& dialog = open();
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QVERIFY(dialog.working() && dialog.stopButton().isEnabled() && !dialog.startButton().isEnabled());
    QTest::mouseClick(&dialog.stopButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kCalibrateMs);
    QVERIFY2(dialog.said().contains("Cancelled"), qPrintable(dialog.said()));
    QVERIFY(dialog.startButton().isEnabled() && !dialog.takeButton().isEnabled());
  }

 private:
  const PlanOptions& options() { return m_window->document().options(); }
  void openDigits() {
    QVERIFY(test::openSample(*m_window, "digits"));
    m_window->setInputs({.paths = {FUSESCOPE_SOURCE_DIR "/resources/samples/digits/io.npz"}, .batchAxis = 0});
  }
  CalibrateDialog& open() {
    m_window->actions().find("calibrate")->trigger();
    for (auto* dialog : m_window->findChildren<CalibrateDialog*>())
      if (dialog->isVisible()) return *dialog;
    qFatal("the dialog does not open");
  }
  void calibrate(CalibrateDialog& dialog) {
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QVERIFY(dialog.working() && dialog.stopButton().isEnabled() && !dialog.startButton().isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kCalibrateMs);
    QVERIFY2(dialog.edges().model()->rowCount() > 0, qPrintable(dialog.said()));
  }
  void takeRanges() {
    CalibrateDialog& dialog = open();
    calibrate(dialog);
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    waitForPlan();
  }
  /// Answers the chooser of files that the button opens.
  void choose(const QString& path, QPushButton& button) {
    test::answerFileDialog(path);
    QTest::mouseClick(&button, Qt::LeftButton);
  }
  static QString excludedText(CalibrateDialog& dialog) {
    QStringList texts;
    for (const QLabel* label : dialog.findChildren<QLabel*>()) texts << label->text();
    return texts.join('\n');
  }
  static bool holds(const QImage& picture, const QColor& color) {
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x)
        if (picture.pixelColor(x, y) == color) return true;
    return false;
  }
  int integerKernels() {
    return static_cast<int>(
        std::ranges::count(m_window->document().snapshot()->plan->fusedNodes, DataType::I8, &FusedNode::compute));
  }
  NodeId nodeOf(const std::string& op) {
    const Graph& graph = m_window->document().snapshot()->graph();
    return *std::ranges::find_if(graph.order(), [&](NodeId node) { return graph.node(node).is(op); });
  }
  /// "int8" of "Pin to (obey)".
  static QAction* int8Entry(QMenu& menu) {
    for (QAction* submenu : menu.actions()) {
      if (submenu->menu() == nullptr || !submenu->text().contains("obey")) continue;
      for (QAction* entry : submenu->menu()->actions())
        if (entry->text() == "int8") return entry;
    }
    qFatal("there is no int8 among the pins");
  }
  QString int8Refusal(NodeId node) {
    QMenu menu;
    fillNodeMenu(menu, test::contextOf(*m_window), {node});
    const QAction* entry = int8Entry(menu);
    return entry->isEnabled() ? QString() : entry->toolTip();
  }
  void judge(double rms) {
    RunSettings settings = m_window->runs().settings();
    settings.tolerance = {.rms = rms};
    m_window->runs().setSettings(settings);
  }
  Verdict::Kind verdict() { return m_window->runs().verdict(*m_window->runs().shown()).kind; }
  void waitForPlan() { QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().planning(), kCalibrateMs); }
  void waitForWork() {
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kCalibrateMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(CalibrateTest, 10)
#include "calibrate_test.moc"
