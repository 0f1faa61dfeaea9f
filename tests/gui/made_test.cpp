// What another compiler made of a plan, on screen by the same means as the plan.
#include <QAbstractItemModelTester>
#include <QLabel>
#include <QSignalSpy>
#include <QStatusBar>
#include <QtTest>
#include <algorithm>

#include "planning/fused_node_facts.h"
#include "tests/gui/gui_support.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/canvas_painter.h"
#include "ui/canvas/legend.h"
#include "ui/docks/inspector_text.h"
#include "ui/docks/outline_dock.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/selection.h"
#include "ui/document/shown_made.h"
#include "ui/document/target_words.h"
#include "ui/jobs/job_runner.h"
#include "ui/models/decisions_model.h"
#include "ui/models/layers_model.h"
#include "ui/models/outline_model.h"
#include "ui/models/run_contents.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

const QString kSample = QStringLiteral("squeezenet1_1");
const char* const kWords = "kernels as othercompiler 1.2 made them";

/// The second node is in two kernels, the fourth in none, and a kernel has no nodes; of some types nothing is told.
ReadBack toldOf(const Plan& plan) {
  const std::vector<NodeId>& order = plan.graph().order();
  ReadBack told{.compiler = {.name = "othercompiler", .version = "1.2", .environment = "python3"}};
  told.kernels.push_back({.name = "reorder_0", .kind = "reorder", .region = "region_7", .once = true, .ms = 0.25});
  told.kernels.push_back({.name = "first_0",
                          .kind = "conv",
                          .nodes = {{order[0], Certainty::Named}, {order[1], Certainty::Derived}},
                          .compute = DataType::F32,
                          .ms = 1.5});
  told.kernels.push_back(
      {.name = "second_0", .kind = "pool", .nodes = {{order[1], Certainty::Guessed}, {order[2], Certainty::Named}}});
  for (std::size_t i = 4; i < order.size(); ++i)
    told.kernels.push_back({.name = "k" + std::to_string(i), .kind = "conv", .nodes = {{order[i], Certainty::Named}}});
  told.fates[order[3]] = Fate::Folded;
  return told;
}

std::shared_ptr<const ReadBackPlan> madeOf(const std::shared_ptr<const Plan>& plan) {
  auto made = readBackPlan(plan, toldOf(*plan));
  if (!made.ok()) qFatal("%s", made.error().text().c_str());
  return made.value();
}

const FusedNode& kernelNamed(const Cover& cover, const char* name) {
  const FusedNode* found = cover.findFusedNode(name);
  if (found == nullptr) qFatal("there is no kernel %s", name);
  return *found;
}

/// How many strokes the lower edge of a box consists of in 1,000 pixels.
int strokesOfFrame(const CanvasScene& scene, const CanvasColors& colors, int item) {
  const QRectF rect = scene.rects[std::size_t(item)];
  QImage image(int(rect.width()), 9, QImage::Format_RGB32);
  image.fill(colors.theme().canvas);
  QPainter painter(&image);
  painter.translate(-rect.left(), 4 - std::round(rect.bottom()));
  paintCanvas(painter, scene, {.theme = &colors.theme(), .colors = &colors}, rect.adjusted(0, 0, 0, 5), 1);
  painter.end();
  const auto isDrawn = [&](int x) {  // darker or lighter than the inside of the box and than what is around it
    const int inside = qGray(image.pixel(x, 1)),
              outside = qGray(image.pixel(x, 8));  // below the mark of a box that opens
    int farthest = 0;
    for (int y = 3; y <= 5; ++y) {
      const int gray = qGray(image.pixel(x, y));
      farthest = std::max(farthest, std::min(std::abs(gray - inside), std::abs(gray - outside)));
    }
    return farthest > 6;
  };
  int strokes = 0;
  for (int x = 12; x + 12 < image.width(); ++x) strokes += isDrawn(x) && !isDrawn(x - 1);
  return strokes * 1000 / (image.width() - 24);
}

/// A row of a tree whose first column says so, wherever it is; invalid: there is none.
QModelIndex rowSaying(const QAbstractItemModel& model, const QString& text, const QModelIndex& parent = {}) {
  for (int i = 0; i < model.rowCount(parent); ++i) {
    const QModelIndex row = model.index(i, 0, parent);
    if (row.data().toString() == text) return row;
    if (const QModelIndex below = rowSaying(model, text, row); below.isValid()) return below;
  }
  return {};
}

}  // namespace

class MadeTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_planned = test::planSample(kSample);
    m_made = madeOf(m_planned->plan);
    m_snapshot = makeSnapshot(m_planned->plan, m_planned.get(), m_made);
    const auto& order = m_snapshot->graph().order();
    m_shared = order[1];
    m_folded = order[3];
  }
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void factsAreOfWhatIsShown() {
    QCOMPARE(m_snapshot->made(), m_made.get());
    QCOMPARE(m_snapshot->plan.get(), m_planned->plan.get());
    QCOMPARE(m_snapshot->fusedOf(m_shared)->name, std::string("first_0"));
    QCOMPARE(m_snapshot->kernelsOf(m_shared).size(), std::size_t(2));
    QVERIFY(m_snapshot->fusedOf(m_folded) == nullptr);
    QVERIFY(m_snapshot->segmentOf(m_folded) != nullptr);
    QVERIFY(!m_snapshot->isDrawn(kernelNamed(*m_made, "reorder_0")));
    QVERIFY(m_snapshot->isDrawn(kernelNamed(*m_made, "second_0")));
    QVERIFY(!m_snapshot->isIdentifiedByNodes(kernelNamed(*m_made, "reorder_0")));
    QCOMPARE(m_planned->made(), static_cast<const ReadBackPlan*>(nullptr));
    QCOMPARE(coverWords(*m_made), QString::fromLatin1(kWords));
    QVERIFY(coverWords(*m_planned->plan).isEmpty());
  }

  void sharedNodeIsDrawnOnce() {
    const CanvasFonts fonts;
    OpenState open;
    for (const char* kernel : {"first_0", "second_0"})
      open.set(fusedContainers(), test::handle(kernelNamed(*m_made, kernel)), true);
    const CanvasScene scene = buildCanvas(*m_made, open, fonts);
    const QString key = "n:" + qs(m_snapshot->graph().node(m_shared).name);
    int drawn = 0;
    for (const CanvasItem& item : scene.items) drawn += item.key == key;
    QCOMPARE(drawn, 1);
    QCOMPARE(scene.items[std::size_t(scene.items[std::size_t(scene.itemOfKey(key))].parent)].key,
             test::handle(kernelNamed(*m_made, "first_0")));
    QCOMPARE(scene.itemOfKey(test::handle(kernelNamed(*m_made, "reorder_0"))), -1);
    QCOMPARE(scene.parts->entryCount(), buildCanvas(*m_planned->plan, open, fonts).parts->entryCount());
  }

  void whatIsUncertainAndWhatHasNoKernelLooksSo() {
    const auto scene = std::make_shared<const CanvasScene>(buildCanvas(*m_made, {}, CanvasFonts()));
    const auto item = [&](const FusedNode& fused) {
      return scene->items[std::size_t(scene->itemOfKey(test::handle(fused)))];
    };
    QVERIFY(item(kernelNamed(*m_made, "first_0")).isUncertain());
    QVERIFY(!item(kernelNamed(*m_made, "k4")).isUncertain());
    const int folded = scene->itemOf(qs(m_snapshot->graph().node(m_folded).name));
    QCOMPARE(scene->items[std::size_t(folded)].fate, QStringLiteral("folded"));
    QVERIFY(scene->items[std::size_t(folded)].kind == ItemKind::Node);
    const CanvasColors colors(scene, *findColorMode("certainty"), {}, Theme::dark());
    QVERIFY(colors.anyDerived && colors.anyGuessed);
    QCOMPARE(colors.of(std::size_t(scene->itemOfKey(test::handle(kernelNamed(*m_made, "second_0"))))).marks,
             std::vector<Mark>{Mark::Guessed});
    QVERIFY(colors.anyWithoutKernel);
    QCOMPARE(colors.of(std::size_t(folded)).badge, QStringLiteral("folded"));
    QStringList words;
    for (const LegendLine& line : colors.legend()) words << line.swatch.text;
    for (const char* word : {"named", "derived", "guessed"})
      QVERIFY2(words.contains(word), qPrintable(words.join(' ')));
  }

  /// By the shape of the frame, which no colour mode, theme or eye takes away.
  void whatIsGuessedLooksOtherwiseThanWhatIsDerivedInEveryMode() {
    CanvasScene placed = buildCanvas(*m_made, {}, CanvasFonts());
    const auto geometry = layOut(layoutGraphOf(placed));
    QVERIFY(geometry.ok() && applyGeometry(placed, geometry.value()).ok());
    const auto scene = std::make_shared<const CanvasScene>(std::move(placed));
    for (const ColorMode* mode : colorModes())
      for (const Theme& theme : {Theme::dark(), Theme::light()}) {
        const CanvasColors colors(scene, *mode, {}, theme);
        const auto strokes = [&](const char* kernel) {
          return strokesOfFrame(*scene, colors, scene->itemOfKey(test::handle(kernelNamed(*m_made, kernel))));
        };
        const std::string said = std::string(mode->name) + (theme.kind == ThemeKind::Dark ? ", dark" : ", light");
        const int certain = strokes("k4"), derived = strokes("first_0"), guessed = strokes("second_0");
        QVERIFY2(certain <= 10, said.c_str());
        QVERIFY2(derived >= 50, qPrintable(qs(said) + QString(": %1, %2, %3").arg(certain).arg(derived).arg(guessed)));
        QVERIFY2(guessed > 1.3 * derived, qPrintable(qs(said) + QString(": %1, %2").arg(derived).arg(guessed)));
      }
    LegendWidget legend(nullptr);
    const ColorMode& precision = *findColorMode("precision");
    legend.show(precision, CanvasColors(scene, precision, {}, Theme::dark()), QString(), {});
    for (const char* words : {"dashed: derived", "dotted: guessed"})
      QVERIFY2(legend.accessibleDescription().contains(words), qPrintable(legend.accessibleDescription()));
  }

  void aNodeWithoutKernelIsSelected() {
    const auto canvas = test::shownCanvas(m_made);
    QVERIFY(canvas);
    const QString folded = qs(m_snapshot->graph().node(m_folded).name);
    QVERIFY(!canvas->itemRect(folded).isEmpty());
    canvas->select({folded});
    QCOMPARE(canvas->selection(), QStringList{folded});
    QVERIFY2(canvas->accessibleDescription().contains("no kernel of its own: folded"),
             qPrintable(canvas->accessibleDescription()));
    Selection selection;
    selectNamed(selection, *m_snapshot, {folded});
    QCOMPARE(selection.nodes(), std::vector<NodeId>{m_folded});
  }

  void aKernelWithoutNodesIsListedAndSelected() {
    OutlineModel outline;
    QAbstractItemModelTester outlineTester(&outline, QAbstractItemModelTester::FailureReportingMode::Fatal);
    outline.setSnapshot(m_snapshot);
    const FusedNode& kernel = kernelNamed(*m_made, "reorder_0");
    const QModelIndex row = rowSaying(outline, QStringLiteral("reorder_0"));
    QVERIFY(row.isValid());
    QCOMPARE(outline.indexOfFused(kernel.id.index), row);
    QCOMPARE(outline.indexOf(m_folded).data().toString(), qs(m_snapshot->graph().node(m_folded).name));
    LayersModel layers;
    QAbstractItemModelTester layersTester(&layers, QAbstractItemModelTester::FailureReportingMode::Fatal);
    layers.setSnapshot(m_snapshot);
    const int listed = layers.rowOfKernel(handleOf(kernel));
    QVERIFY(listed >= 0);
    QCOMPARE(layers.nameAt(listed), QStringLiteral("reorder_0"));
    QVERIFY(!layers.nodeAt(listed).valid());
    QVERIFY(!layers.pinRefusalAt(listed).isEmpty());
    QVERIFY(layers.csv().contains("reorder_0"));
    Selection selection;
    selectNamed(selection, *m_snapshot, {row.data(kNameRole).toString()});
    QVERIFY(selection.nodes().empty());
    QCOMPARE(selectedKernel(selection, *m_snapshot), &kernel);
  }

  void layersListAllKernelsOfANode() {
    LayersModel layers;
    layers.setSnapshot(m_snapshot);
    const auto cell = [&](NodeId node, int column) {
      return layers.index(layers.rowOf(qs(m_snapshot->graph().node(node).name)), column).data().toString();
    };
    QCOMPARE(cell(m_shared, LayersModel::kFused), QStringLiteral("first_0, second_0"));
    QCOMPARE(cell(m_folded, LayersModel::kFused), QStringLiteral("folded"));
    QCOMPARE(cell(m_snapshot->graph().order()[4], LayersModel::kStored), undisclosed());
    QCOMPARE(cell(m_snapshot->graph().order()[0], LayersModel::kTime), QStringLiteral("“1.50 ms”"));
  }

  void inspectorSaysWhatWasMade() {
    const Theme& theme = Theme::dark();
    const auto has = [](const QString& html, const char* text) {
      if (!html.contains(QString::fromUtf8(text))) qWarning("no '%s' in %s", text, qPrintable(html));
    };
    const QString shared = nodeText(*m_snapshot, m_shared, {}, nullptr, theme);
    for (const char* text : {"Made by othercompiler 1.2", "Kernels calculate it.", "first_0", "second_0",
                             "derived: ", "guessed: ", "not disclosed"})
      has(shared, text);
    has(nodeText(*m_snapshot, m_folded, {}, nullptr, theme), "Folded: it was calculated when");
    const FusedNode& kernel = kernelNamed(*m_made, "reorder_0");
    const QString html = fusedText(*m_snapshot, kernel, {timeWithoutRun(*m_made, kernel), {}}, nullptr, theme);
    for (const char* text : {"reorder_0", "othercompiler 1.2", "python3", "region_7", "once, when", "0.250 ms",
                             "as the compiler reported it", "not disclosed"})
      has(html, text);
    has(fusedText(*m_snapshot, kernelNamed(*m_made, "first_0"), {}, nullptr, theme), "derived: ");
    has(modelText(*m_snapshot, {}, theme), kWords);
  }

  void theInspectorSaysWhoBuildsForATarget() {
    Compilers compilers;
    QCOMPARE(targetText(*m_planned->plan, compilers), QStringLiteral("cpu"));
    const auto text = [&](const char* target, const char* compiler = kOwnCompiler) {
      PlanOptions options;
      options.target = target;
      options.compiler = compiler;
      const auto planned = test::planSample(kSample, options);
      const QString before = targetText(*planned->plan, compilers);
      if (const std::string builder = builderFor(*planned->plan); !builder.empty()) {
        if (compilers.facts(builder) == nullptr && !before.contains(QStringLiteral("is asked"))) return before;
        compilers.ask(builder);
        if (!QTest::qWaitFor([&] { return compilers.facts(builder) != nullptr; }, test::kPatienceMs)) return before;
      }
      return targetText(*planned->plan, compilers);
    };
    const QString tensorrt = text("tensorrt-10");
    QVERIFY2(tensorrt.contains("no compiler for it"), qPrintable(tensorrt));
    for (const char* name : {"onnxruntime", "openvino", "tensorrt-rtx"}) {
      for (const char* compiler : {kOwnCompiler, name}) {
        const QString said = text(name, compiler);
        QVERIFY2(!said.contains("planning only") && said.startsWith(name), qPrintable(said));
        const QString why = compilers.whyNot(name, Ability::Compile);
        QVERIFY2(why.isEmpty() ? said.contains("it can be built by") : said.contains(why), qPrintable(said));
      }
    }
    // What was built says by whom and where.
    auto snapshot = test::planSample(kSample, [] {
      PlanOptions options;
      options.target = "openvino";
      options.compiler = "openvino";
      return options;
    }());
    const QString built = targetText(*madeOf(snapshot->plan), compilers);
    QCOMPARE(built, QStringLiteral("openvino: built by othercompiler 1.2, in python3"));
  }

  void aPredictionIsNotRepeatedBesideTheFact() {
    PlanOptions options;
    options.target = options.compiler = "openvino";
    const auto planned = test::planSample(kSample, options);
    ReadBack told = toldOf(*planned->plan);
    const NodeId last = told.kernels.back().nodes.front().first;
    told.kernels.pop_back();  // so that nothing is told about this node
    auto made = readBackPlan(planned->plan, std::move(told));
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().text().c_str());
    const auto shown = makeSnapshot(planned->plan, planned.get(), made.value());
    const auto textOf = [&](const PlanSnapshot& snapshot, NodeId node) {
      return nodeText(snapshot, node, {}, nullptr, Theme::dark());
    };
    const auto isPrediction = [](const QString& text) {
      return text.contains("is expected to run it") || text.contains("our own rules expect");
    };
    const auto isPlannedWithLast = [&](NodeId node) { return planned->fusedOf(node) == planned->fusedOf(last); };
    int predictions = 0;
    for (const NodeId node : planned->graph().order()) {
      if (!isPrediction(textOf(*planned, node))) continue;
      ++predictions;
      QCOMPARE(isPrediction(textOf(*shown, node)), isPlannedWithLast(node));
    }
    QVERIFY(predictions > 2);
    QVERIFY(isPrediction(textOf(*shown, last)));
    for (const FusedNode& kernel : made.value()->fusedNodes)
      if (std::ranges::none_of(kernel.nodes, isPlannedWithLast))
        QVERIFY(!isPrediction(fusedText(*shown, kernel, {}, nullptr, Theme::dark())));
  }

  void decisionsAreThoseOfTheCover() {
    DecisionsModel decisions;
    QAbstractItemModelTester tester(&decisions, QAbstractItemModelTester::FailureReportingMode::Fatal);
    decisions.setFilter(DecisionFilter::All);
    decisions.setSnapshot(m_snapshot);
    QCOMPARE(decisions.rowCount(), static_cast<int>(m_made->decisions.size()));
  }

  void anEditShowsThePlanAgain() {
    JobRunner jobs;
    PlanDocument document(jobs);
    document.open(test::samplePath(kSample));
    QTRY_VERIFY(document.snapshot());
    const auto plan = document.snapshot()->plan;
    document.showMade(madeOf(plan));
    QTRY_VERIFY(document.snapshot()->made() != nullptr);
    QCOMPARE(document.snapshot()->plan, plan);
    document.showMade(nullptr);
    QVERIFY(document.snapshot()->made() == nullptr);
    document.showMade(madeOf(plan));
    QTRY_VERIFY(document.snapshot()->made() != nullptr);
    const NodeId node = document.snapshot()->graph().order()[0];
    document.pin(document.namesOf({node}), DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!document.planning());
    QVERIFY(document.snapshot()->made() == nullptr);
    QVERIFY(document.snapshot()->plan != plan);
    document.undoStack().undo();
    QTRY_VERIFY(!document.planning());
    QVERIFY(document.snapshot()->made() == nullptr);
    QVERIFY(document.directives().empty());
    document.showMade(m_made);  // of another model
    QVERIFY(document.snapshot()->made() == nullptr);
  }

  void theShownRunSaysWhatIsOnScreen() {
    JobRunner jobs;
    PlanDocument document(jobs);
    Runs runs(document);
    ShownMade shown(document, runs, jobs);
    QSignalSpy failures(&shown, &ShownMade::failed);
    document.open(test::samplePath(kSample));
    QTRY_VERIFY(document.snapshot());
    QVERIFY(shown.words().isEmpty());
    Run run{.name = "theirs", .state = RunState::Ready, .model = document.modelFile().identity()};
    run.options = document.options();
    run.made = toJson(*madeOf(document.snapshot()->plan));
    const std::string id = runs.add(run);
    QTRY_VERIFY(document.snapshot()->made() != nullptr);
    QCOMPARE(shown.words(), QStringLiteral("%1 (run %2)").arg(kWords, qs(id)));
    Run ours = run;
    ours.made.reset();
    runs.add(ours);
    QTRY_VERIFY(document.snapshot()->made() == nullptr);
    QVERIFY(shown.words().isEmpty());
    QCOMPARE(failures.size(), 0);
    run.made = Json{{"kernels", 7}};
    runs.add(run);
    QTRY_COMPARE(failures.size(), 1);
    QVERIFY(document.snapshot()->made() == nullptr);
  }

  void kernelsOfAPartAreInTheProfile() {
    Run run{.id = "1", .name = "theirs"};
    RunTime time;
    time.layers = {RunLayer{.name = "segment_0", .medianMs = 2.0}};
    time.layers.front().kernels = {RunLayer{.name = "first_0", .medianMs = 1.5}, RunLayer{.name = "told_nothing"}};
    run.time = time;
    const TableContent content = profileContent(run, false);
    QCOMPARE(content.rows.size(), std::size_t(3));
    QCOMPARE(content.rows[1].cells.front().text, QStringLiteral("segment_0/first_0"));
    QCOMPARE(content.rows[2].cells.front().text, QStringLiteral("segment_0/told_nothing"));
  }

  void theWindowSaysWhoseKernelsItShows() {
    auto window = test::shownWindow();
    QVERIFY(test::openSample(*window, kSample));
    const QString title = window->windowTitle();
    PlanDocument& document = window->document();
    document.showMade(madeOf(document.snapshot()->plan));
    QTRY_VERIFY(document.snapshot()->made() != nullptr);
    QVERIFY(window->canvas().waitForLayout(test::kPatienceMs));
    QVERIFY(window->windowTitle().contains(kWords));
    const auto* legend = window->canvas().findChild<LegendWidget*>();
    QVERIFY2(legend->accessibleDescription().contains(kWords), qPrintable(legend->accessibleDescription()));
    for (const QString& dock : window->dockNames()) window->showDock(dock);
    for (const NodeId node : {m_shared, m_folded}) {
      window->selection().set({node});
      QTRY_COMPARE(window->canvas().selection(), QStringList{qs(m_snapshot->graph().node(node).name)});
    }
    selectNamed(window->selection(), *document.snapshot(), {test::handle(kernelNamed(*m_made, "reorder_0"))});
    QVERIFY(window->canvas().selection().isEmpty());
    document.pin(document.namesOf({m_shared}), DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!document.planning());
    QVERIFY(window->canvas().waitForLayout(test::kPatienceMs));
    QCOMPARE(window->windowTitle().remove('*'), QString(title).remove('*'));
    QVERIFY(!legend->accessibleDescription().contains(kWords));
    document.undoStack().undo();
    QTRY_VERIFY(!document.planning());
  }

  void theWindowSaysWhichSegmentsWereOne() {
    auto window = test::shownWindow();
    QVERIFY(test::openSample(*window, kSample));
    PlanDocument& document = window->document();
    const auto plan = document.snapshot()->plan;
    const auto tips = [&] {
      QStringList all;
      for (const QLabel* label : window->statusBar()->findChildren<QLabel*>()) all << label->toolTip();
      return all.join(' ');
    };
    const QString words = QStringLiteral("12 of the 14 segments only once");
    document.showMade(madeOf(plan));
    QTRY_VERIFY(document.snapshot()->made() != nullptr);
    QTRY_VERIFY2(tips().contains(QStringLiteral("of othercompiler")), qPrintable(tips()));
    QVERIFY2(!tips().contains(QStringLiteral("were one")), "no segments were equal");
    ReadBack told = toldOf(*plan);
    told.decisions.push_back(decide("partition.equal_segments", {}, "othercompiler",
                                    {{"equal", 12}, {"of", 14}, {"compiler", "othercompiler"}}));
    auto made = readBackPlan(plan, told);
    QVERIFY(made.ok());
    document.showMade(made.value());
    QTRY_VERIFY2(tips().contains(words), qPrintable(tips()));
    DecisionsModel decisions;
    decisions.setFilter(DecisionFilter::All);
    decisions.setSnapshot(document.snapshot());
    bool isListed = false;
    for (int row = 0; row < decisions.rowCount(); ++row)
      for (int column = 0; column < decisions.columnCount(); ++column)
        isListed = isListed || decisions.index(row, column).data().toString().contains(words);
    QVERIFY(isListed);
    QVERIFY(window->canvas().waitForLayout(test::kPatienceMs));
  }

 private:
  std::shared_ptr<const PlanSnapshot> m_planned, m_snapshot;
  std::shared_ptr<const ReadBackPlan> m_made;
  NodeId m_shared, m_folded;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::MadeTest, 16)
#include "made_test.moc"
