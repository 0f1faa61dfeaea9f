// What the window says is so, and is legible: names, totals, counts, and titles that have little room.
#include <QCheckBox>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QStatusBar>
#include <QToolButton>
#include <QtTest>
#include <cmath>

#include "session/runs/run_comparison.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/dialogs/goto_dialog.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/prediction_check.h"
#include "ui/document/qt_text.h"
#include "ui/ribbon/ribbon_words.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/error_plot.h"
#include "ui/widgets/menu_title.h"

namespace fusescope::test {

namespace {

/// Of a node that nothing can run, between two that run.
const char* const kCustom = R"(<ir_version: 8, opset_import: ["" : 17, "my.domain" : 1]>
custom (float[1, 4] x) => (float[1, 4] y) {
  [first] a = Relu(x)
  [odd] b = my.domain.Odd(a)
  [last] y = Relu(b)
})";

RibbonPicture pictureOf(const std::shared_ptr<const PlanSnapshot>& snapshot) {
  LaneRequest request;
  return makePicture({makeLane(request, snapshot, CanvasFonts())}, RibbonWidth::Time);
}

/// Gives the kernels of a lane these times; the others have none.
void setTimes(RibbonLane& lane, const std::vector<double>& ms) {
  lane.kernelMs = 0;
  lane.untimed = lane.size() - ms.size();
  for (std::size_t i = 0; i < lane.size(); ++i) {
    lane.times[i] = i < ms.size() ? ShownTime{TimeKind::Predicted, ms[i]} : ShownTime();
    if (i < ms.size()) lane.kernelMs += ms[i];
  }
}

Run comparisonOf(const std::string& a, const std::string& b, double ratio, const Range& range) {
  Run run{.name = "in turns", .kind = RunKind::Comparison, .state = RunState::Ready};
  RunComparison compared{.a = a, .b = b, .aMs = 1.0, .bMs = ratio, .turns = 5, .ratioRange = range};
  run.comparison = SharedOptional<RunComparison>(std::move(compared));
  return run;
}

}  // namespace

class PlainWordsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { catchWarnings(); }
  void cleanup() {
    m_window.reset();
    QCOMPARE(takeWarnings(), QStringList());
  }

  void namesAreShownAsTheyAre() {
    const QString name = QStringLiteral("a & b <b>bold</b>");
    QCOMPARE(captionText(name), QStringLiteral("a && b <b>bold</b>"));
    QCOMPARE(tipText(QStringLiteral("plain & simple")), QStringLiteral("plain & simple"));
    QVERIFY(tipText(name).contains("a &amp; b &lt;b&gt;bold"));
    QMenu menu;
    addMenuTitle(menu, name);
    const auto* title = menu.findChild<QLabel*>();
    QVERIFY(title != nullptr);
    QCOMPARE(title->textFormat(), Qt::PlainText);
    QCOMPARE(title->text(), name);
    QVERIFY(title->toolTip().contains("&lt;b&gt;"));
    QVERIFY(open("fp16_overflow"));
    const std::string id = addRun(1.0);
    m_window->runs().rename(id, name);
    m_window->showDock("Compare");
    QTRY_VERIFY(m_window->dock<CompareDock>().findChild<CompareMatrix*>()->boxOf(qs(id)) != nullptr);
    QTRY_COMPARE(m_window->dock<CompareDock>().findChild<CompareMatrix*>()->boxOf(qs(id))->text(),
                 QStringLiteral("run 1, ") + captionText(name));
  }

  void aTotalOfSomeKernelsIsABound() {
    const auto planned = planSample("squeezenet1_1");
    RibbonPicture picture = pictureOf(planned);
    RibbonLane& lane = picture.lanes.front();
    setTimes(lane, {1, 2});
    LaneTotal total = laneTotal(picture, 0);
    QCOMPARE(total.time, QStringLiteral("≈ 3.00 ms or more"));
    QCOMPARE(total.whose, QStringLiteral("predicted, not measured"));
    QVERIFY2(total.tooltip.contains("or more"), qPrintable(total.tooltip));
    setTimes(lane, {0});  // a view takes none
    total = laneTotal(picture, 0);
    QCOMPARE(total.time, QStringLiteral("no time"));
    QCOMPARE(total.whose, QStringLiteral("not measured"));
    setTimes(lane, std::vector<double>(lane.size(), 0.5));
    QVERIFY(laneTotal(picture, 0).time.startsWith(QStringLiteral("≈ ")));
  }

  void kernelsWithoutAWidthAreCounted() {
    const std::vector<KernelCost> kernels{{{}, {}, {}}, {{}, 100, 1}, {{}, {}, 8}, {{}, 0, 0}};
    QCOMPARE(kernelWidths(kernels, WidthBasis::Work).atMinimumWidth, std::size_t(2));
    QCOMPARE(kernelWidths({{2.0, 100, 1}, {{}, 50, 1}, {{}, {}, {}}}, WidthBasis::Time).atMinimumWidth, std::size_t(1));
    QCOMPARE(kernelWidths(kernels, WidthBasis::Even).atMinimumWidth, std::size_t(0));
    RibbonPicture picture = pictureOf(planSample("squeezenet1_1"));
    QVERIFY(laneTotal(picture, 0).unseen.isEmpty());
    picture.unseen = {8};
    QCOMPARE(laneTotal(picture, 0).unseen, QStringLiteral("8 of %1 have no width").arg(picture.lanes[0].size()));
  }

  void whatTurnsSayIsTheDifferenceOfTwoRuns() {
    QVERIFY(open("fp16_overflow"));
    const std::string a = addRun(0.576), b = addRun(0.456);
    QVERIFY(!m_window->runs().inTurns(a, b));
    RibbonPicture picture = pictureOf(m_window->document().snapshot());
    picture.lanes.push_back(picture.lanes.front());
    picture.lanes[0].latencyMs = 0.576;
    picture.lanes[1].latencyMs = 0.456;
    // Each by itself: the number is told, without a verdict.
    TotalDelta delta = totalDelta(picture, 0, std::nullopt);
    QCOMPARE(delta.text, QStringLiteral("−20.8 %, not in turns"));
    QVERIFY(!delta.isSlower);
    QVERIFY2(delta.tooltip.contains("not timed in turns"), qPrintable(delta.tooltip));
    m_window->runs().add(comparisonOf(a, b, 1.195, {1.09, 1.253}));
    delta = totalDelta(picture, 0, m_window->runs().inTurns(a, b));
    QCOMPARE(delta.text, QStringLiteral("+19.5 % in turns"));
    QVERIFY(delta.isSlower && *delta.isSlower);
    QVERIFY2(delta.tooltip.contains("+9.0 % to +25.3 % over 5 turns"), qPrintable(delta.tooltip));
    // The other way round it is the inverse.
    const auto inverse = m_window->runs().inTurns(b, a);
    QVERIFY(inverse && std::abs(inverse->ratio * 1.195 - 1) < 1e-9 && inverse->range.least < inverse->range.most);
    m_window->runs().add(comparisonOf(a, b, 1.01, {0.97, 1.04}));
    delta = totalDelta(picture, 0, m_window->runs().inTurns(a, b));
    QCOMPARE(delta.text, QStringLiteral("no measurable difference when timed in turns"));
    QVERIFY(!delta.isSlower);
  }

  void whatNothingCanRunSaysSoFirst() {
    QTemporaryDir folder;
    const QString path = folder.filePath("custom.onnx");
    writeModel(path, kCustom);
    m_window = shownWindow();
    QVERIFY(m_window->openFile(path));
    QTRY_VERIFY(m_window->document().snapshot() != nullptr && !m_window->document().planning());
    const auto snapshot = m_window->document().snapshot();
    const auto said = [&](const char* name) {
      const SelectionAnswers answers;
      return nodeText(*snapshot, *snapshot->graph().findNode(name), {}, &answers, Theme::dark());
    };
    const QString odd = said("odd");
    QVERIFY2(odd.contains("Nothing here can run it") && odd.contains("custom domain my.domain"), qPrintable(odd));
    QVERIFY2(!odd.contains("Everything that was requested") && !odd.contains("✓"), qPrintable(odd));
    const QString first = said("first");
    QVERIFY2(first.contains("Everything that was requested") && !first.contains("Nothing here"), qPrintable(first));
  }

  void theSearchOfTheCanvasFindsBlocks() {
    QVERIFY(open("bert_tiny"));
    const auto snapshot = m_window->document().snapshot();
    const auto& blocks = snapshot->blocks->all();
    const auto found = std::ranges::find_if(blocks, [&](const CoverBlock& block) {
      const QString path = qs(snapshot->blocks->moduleOf(block).path);
      return std::ranges::none_of(snapshot->graph().order(), [&](NodeId id) {
        return qs(snapshot->graph().node(id).name).contains(path, Qt::CaseInsensitive);
      });
    });
    QVERIFY(found != blocks.end());
    const Module& module = snapshot->blocks->moduleOf(*found);
    QVERIFY2(m_window->canvas().search(qs(module.path)) > 0, module.path.c_str());
    m_window->canvas().nextMatch();
    QCOMPARE(m_window->canvas().selection(), QStringList(qs(snapshot->blocks->handleOf(*snapshot->cover, *found))));
  }

  void nothingFoundIsSaid() {
    QVERIFY(open("fp16_overflow"));
    m_window->goToAnything();
    auto* dialog = m_window->findChild<GotoDialog*>();
    QVERIFY(dialog != nullptr);
    dialog->setText("no such thing");
    auto* list = dialog->findChild<QListWidget*>();
    QCOMPARE(list->count(), 1);
    QVERIFY2(list->item(0)->text().contains("no such thing"), qPrintable(list->item(0)->text()));
    QVERIFY((list->item(0)->flags() & Qt::ItemIsEnabled) == 0);
    QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    QVERIFY(dialog->isVisible());
    dialog->close();
  }

  void aClickLeavesTheStatusBarAsHighAsItWas() {
    QVERIFY(open("fp16_overflow"));
    const int before = m_window->statusBar()->height();
    m_window->selection().set({*m_window->document().snapshot()->graph().findNode("node_linear")});
    QTRY_VERIFY(!m_window->statusBar()->findChildren<QToolButton*>().isEmpty());
    QTest::qWait(50);
    QCOMPARE(m_window->statusBar()->height(), before);
  }

  void whatHasNoRoomEndsWithAnEllipsis() {
    ElidedLabel label;
    label.setText("A long reason why a build failed, <b>with</b> a name");
    label.resize(2000, 20);
    QCOMPARE(label.shownText(), label.text());
    label.resize(100, 20);
    QVERIFY2(label.shownText().endsWith(QStringLiteral("…")) && label.shownText().startsWith("A long"),
             qPrintable(label.shownText()));
    QVERIFY(label.minimumSizeHint().width() < 50);
    QCOMPARE(label.textFormat(), Qt::PlainText);
  }

  void oneSlowRunDoesNotPressPointsTogether() {
    ErrorPlot plot([]() -> const Theme& { return Theme::dark(); });
    plot.resize(400, 300);
    const std::vector<PlotPoint> points{{.across = 0.45, .error = 1e-3, .spread = std::pair(0.44, 20.6)},
                                        {.across = 0.58, .error = 1e-5, .spread = std::pair(0.55, 0.7)}};
    plot.setContent({.points = points});
    QVERIFY(plot.placeOf(points[1]).x() - plot.placeOf(points[0]).x() > 80);
    plot.grab();  // the spread that goes on beyond the axis is drawn, too
  }

  void theMenuOfTheViewIsNoLongerThanAScreen() {
    QVERIFY(open("fp16_overflow"));
    QMenu* view = nullptr;
    for (QAction* entry : m_window->menuBar()->actions())
      if (entry->text() == "&View") view = entry->menu();
    QVERIFY(view != nullptr);
    QVERIFY2(view->sizeHint().height() < 640, qPrintable(QString::number(view->sizeHint().height())));
    QStringList docks;
    for (QAction* entry : view->actions())
      if (entry->text() == "&Docks")
        for (const QAction* dock : entry->menu()->actions()) docks << dock->text();
    QCOMPARE(docks, m_window->dockNames());
  }

  void whatIsNotPredictedIsNotCompared() {
    const CompilerIdentity compiler{.name = "tensorrt", .version = "8"};
    const PredictionCheck none{.predicted = 0, .made = 36, .differing = 36};
    QCOMPARE(madeWords(none, compiler), QStringLiteral("tensorrt 8 made 36 with nodes"));
    QVERIFY(countsText(none, compiler).contains("nothing to compare"));
    const PredictionCheck some{.predicted = 30, .made = 36, .differing = 4};
    QVERIFY(madeWords(some, compiler).contains("4 differ"));
  }

  void aNarrowStatusBarKeepsBothCounts() {
    const PredictionCheck check{.predicted = 20,
                                .made = 17,
                                .differing = 3,
                                .agreement = {.edges = 30, .predicted = 20, .made = 18, .both = 15}};
    const QStringList lines = predictedAndMade(check, {.name = "openvino", .version = "2026.4.1-22100-a1b2c3"});
    QCOMPARE(lines.front(), predictedWords(20) + " · " + madeWords(check, {"openvino", "2026.4.1-22100-a1b2c3"}));
    for (int i = 0; i < lines.size(); ++i) {
      QVERIFY2(lines[i].contains("predicted 20") && lines[i].contains("made 17"), qPrintable(lines[i]));
      QVERIFY2(i == 0 || lines[i].size() < lines[i - 1].size(), qPrintable(lines[i]));
    }
    QCOMPARE(fitting(lines, QFontMetrics(QApplication::font()), 100'000), lines.front());
    for (const QString& line : lines) {
      const QFontMetrics metrics(QApplication::font());
      QCOMPARE(fitting(lines, metrics, metrics.horizontalAdvance(line)), line);
    }
    // Where not even the last one fits, it is elided.
    QVERIFY(fitting(lines, QFontMetrics(QApplication::font()), 20).size() < lines.back().size());
  }

 private:
  bool open(const QString& sample) {
    m_window = shownWindow();
    return openSample(*m_window, sample);
  }
  std::string addRun(double ms) {
    Run run{.name = "timed", .state = RunState::Ready, .model = m_window->document().modelFile().identity()};
    run.options = m_window->document().options();
    run.extents = m_window->document().inputs();
    RunTime time;
    time.medianMs = ms;
    run.time = time;
    return m_window->runs().add(std::move(run));
  }

  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope::test

FUSESCOPE_GUI_TEST(fusescope::test::PlainWordsTest, 13)
#include "plain_words_test.moc"
