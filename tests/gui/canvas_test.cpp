#include <QAccessible>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>
#include <chrono>
#include <ctime>
#include <thread>

#include "frontends/importers.h"
#include "layout/drawing_quality.h"
#include "passes/pipelines.h"
#include "planning/fused_node_facts.h"
#include "planning/plan.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/color_mode.h"
#include "ui/canvas/dot_helper.h"
#include "ui/canvas/graph_view.h"

namespace fusescope {

std::shared_ptr<const Plan> planOf(const QString& sample) {
  const std::string path =
      std::string(FUSESCOPE_SOURCE_DIR) + "/resources/samples/" + sample.toStdString() + "/model.onnx";
  Result<Model> imported = importModel(path);
  if (!imported.ok()) qFatal("%s", imported.error().text().c_str());
  Result<Model> model = prepareModel(std::move(imported).value());
  if (!model.ok()) qFatal("%s", model.error().text().c_str());
  auto plan = makePlan(std::make_shared<const Model>(std::move(model).value()), {});
  if (!plan.ok()) qFatal("%s", plan.error().text().c_str());
  return plan.value();
}

double threadMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

/// The canvas as a person uses it, on squeezenet1_1.
class CanvasTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { m_plan = planOf("squeezenet1_1"); }

  void init() {
    m_view = std::make_unique<GraphView>();
    m_view->resize(1000, 700);
    m_view->show();
    m_view->setPlan(m_plan);
    QVERIFY(m_view->waitForLayout(20000));
    m_fused.clear();
    for (const FusedNode& fused : m_plan->fusedNodes) {
      if (fused.nodes.size() == 2) m_fused = QString::fromStdString(fused.name);
      if (!m_fused.isEmpty()) break;
    }
    QVERIFY(!m_fused.isEmpty());
  }

  void showsEveryFusedNodeOnce() {
    const int pills = int(m_plan->graph().inputs().size() + m_plan->graph().outputs().size());
    QCOMPARE(m_view->boxCount(), int(m_plan->fusedNodes.size()) + pills);
    for (const FusedNode& fused : m_plan->fusedNodes) {
      QVERIFY2(!m_view->itemRect(QString::fromStdString(fused.name)).isEmpty(), fused.name.c_str());
    }
  }

  void doubleClickOpensAndClosesInPlace() {
    const int closed = m_view->boxCount();
    m_view->select({m_fused});
    const QPoint at = m_view->itemRect(m_fused).center();
    QCOMPARE(m_view->nameAt(at), m_fused);
    QSignalSpy finished(m_view.get(), &GraphView::layoutFinished);
    QTest::mouseDClick(m_view.get(), Qt::LeftButton, {}, at);
    QVERIFY(m_view->waitForLayout(20000));
    QCOMPARE(finished.count(), 1);
    QVERIFY(m_view->isOpen(m_fused));
    QCOMPARE(m_view->boxCount(), closed + 1);
    const QRect container = m_view->itemRect(m_fused);
    for (const NodeId node : m_plan->findFusedNode(m_fused.toStdString())->nodes) {
      const QString name = QString::fromStdString(m_plan->graph().node(node).name);
      QVERIFY2(container.contains(m_view->itemRect(name)), qPrintable(name));
    }
    m_view->collapse(m_fused);
    QVERIFY(m_view->waitForLayout(20000));
    QCOMPARE(m_view->boxCount(), closed);
  }

  void altDoubleClickOpensAndClosesAllInside() {
    const int closed = m_view->boxCount();
    const auto onTheSegment = [&](Qt::KeyboardModifiers with) {
      m_view->fit();
      const QRect segment = m_view->itemRect("segment_0");
      QTest::mouseDClick(m_view.get(), Qt::LeftButton, with, QPoint(segment.left() + 4, segment.bottom() - 4));
      if (!m_view->waitForLayout(20000)) qFatal("no layout");
    };
    onTheSegment(Qt::AltModifier);
    const int pills = int(m_plan->graph().inputs().size() + m_plan->graph().outputs().size());
    QCOMPARE(m_view->boxCount(), int(m_plan->graph().nodeCount()) + pills);
    onTheSegment(Qt::AltModifier);
    QCOMPARE(m_view->boxCount(), closed);
    onTheSegment({});
    QVERIFY(!m_view->isOpen("segment_0"));
    QVERIFY(!m_view->isOpen(m_fused));
    QVERIFY(m_view->boxCount() < closed);
    onTheSegment({});
    QVERIFY(m_view->isOpen("segment_0"));
    QCOMPARE(m_view->boxCount(), closed);
  }

  void whatIsOpenIsKnownByKind() {
    for (const ContainerKind* known : containerKinds()) {
      const ContainerKind& kind = *known;
      OpenState state;
      QCOMPARE(state.isOpen(kind, "x"), kind.openAtFirst);
      state.set(kind, "x", !kind.openAtFirst);
      QCOMPARE(state.isOpen(kind, "x"), !kind.openAtFirst);
      QCOMPARE(state.turned(kind), QSet<QString>{"x"});
      QCOMPARE(state.isOpen(kind, "y"), kind.openAtFirst);
      for (const ContainerKind* other : containerKinds())
        if (other != known) QCOMPARE(state.isOpen(*other, "x"), other->openAtFirst);
      state.set(kind, "x", kind.openAtFirst);
      QVERIFY(state == OpenState());
    }
  }

  void whatIsOpenedKeepsItsPlaceOnTheScreen() {
    m_view->select({m_fused});
    const QRect before = m_view->itemRect(m_fused);
    m_view->expand(m_fused);
    QVERIFY(m_view->waitForLayout(20000));
    const QRect after = m_view->itemRect(m_fused);
    QVERIFY(qAbs(after.top() - before.top()) <= 2);
    QVERIFY(qAbs(after.center().x() - before.center().x()) <= 2);
  }

  void clickSelectsAndShiftAdds() {
    QSignalSpy changed(m_view.get(), &GraphView::selectionChanged);
    const QString first = handle(m_plan->fusedNodes[0]), second = handle(m_plan->fusedNodes[1]);
    QTest::mouseClick(m_view.get(), Qt::LeftButton, {}, m_view->itemRect(first).center());
    QCOMPARE(m_view->selection(), QStringList{first});
    QTest::mouseClick(m_view.get(), Qt::LeftButton, Qt::ShiftModifier, m_view->itemRect(second).center());
    QCOMPARE(m_view->selection(), (QStringList{first, second}));
    QCOMPARE(changed.count(), 2);
    QTest::keyClick(m_view.get(), Qt::Key_Escape);
    QVERIFY(m_view->selection().isEmpty());
    QCOMPARE(changed.count(), 3);
  }

  void selectingANodeMarksTheBoxThatHoldsIt() {
    const NodeId inside = m_plan->findFusedNode(m_fused.toStdString())->nodes.back();
    const QString name = QString::fromStdString(m_plan->graph().node(inside).name);
    m_view->select({name});
    QCOMPARE(m_view->selection(), QStringList{name});
    QCOMPARE(m_view->itemRect(name), m_view->itemRect(m_fused));
  }

  void keysWalkOpenAndClose() {
    const QString first = handle(m_plan->fusedNodes[0]);
    m_view->select({first});
    m_view->setFocus();
    QTest::keyClick(m_view.get(), Qt::Key_Down);
    QCOMPARE(m_view->selection(), QStringList{handle(m_plan->fusedNodes[1])});
    QTest::keyClick(m_view.get(), Qt::Key_Up);
    QCOMPARE(m_view->selection(), QStringList{first});
    m_view->select({m_fused});
    QTest::keyClick(m_view.get(), Qt::Key_Right);
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->isOpen(m_fused));
    QTest::keyClick(m_view.get(), Qt::Key_Left);
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(!m_view->isOpen(m_fused));
  }

  void searchCountsAndSteps() {
    int pools = 0;
    for (const NodeId id : m_plan->graph().order()) pools += m_plan->graph().node(id).is("MaxPool");
    QCOMPARE(m_view->search("maxpool"), pools);
    QTest::keyClick(m_view.get(), Qt::Key_BracketRight);
    QCOMPARE(m_view->selection().size(), 1);
    const QString first = m_view->selection().first();
    QVERIFY(m_view->rect().contains(m_view->itemRect(first).center()));
    QTest::keyClick(m_view.get(), Qt::Key_BracketRight);
    QVERIFY(m_view->selection().first() != first);
    QTest::keyClick(m_view.get(), Qt::Key_BracketLeft);
    QCOMPARE(m_view->selection().first(), first);
    QCOMPARE(m_view->search("there is no such thing"), 0);
  }

  void zoomKeepsWhatIsUnderTheCursor() {
    const QPoint at(333, 222);
    const QString name = QString::fromStdString(m_plan->fusedNodes[0].name);
    const QPointF before = QPointF(m_view->itemRect(name).center() - at) / m_view->zoom();
    QWheelEvent wheel(at, m_view->mapToGlobal(at), {}, {0, 240}, Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase,
                      false);
    const double zoom = m_view->zoom();
    QCoreApplication::sendEvent(m_view.get(), &wheel);
    QVERIFY(m_view->zoom() > zoom * 1.1);
    const QPointF after = QPointF(m_view->itemRect(name).center() - at) / m_view->zoom();
    QVERIFY((after - before).manhattanLength() < 4);
    QTest::keyClick(m_view.get(), Qt::Key_Space);
    for (const FusedNode& fused : m_plan->fusedNodes) {
      QVERIFY(m_view->rect().contains(m_view->itemRect(QString::fromStdString(fused.name))));
    }
  }

  void aScreenReaderHearsTheSelection() {
    QVERIFY(!m_view->accessibleName().isEmpty());
    m_view->select({m_fused});
    QVERIFY2(m_view->accessibleDescription().contains("float32"), qPrintable(m_view->accessibleDescription()));
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(m_view.get());
    QVERIFY(interface != nullptr);
    QCOMPARE(interface->text(QAccessible::Description), m_view->accessibleDescription());
  }

  void coloursFollowTheMode() {
    m_view->fit();
    const QImage precision = m_view->grab().toImage();
    m_view->setColorMode(*findColorMode("kind"));
    const QImage kind = m_view->grab().toImage();
    QVERIFY(precision != kind);
    m_view->setTimes({{handleOf(m_plan->fusedNodes[0]), ShownTime{TimeKind::Measured, 2.0}},
                      {handleOf(m_plan->fusedNodes[1]), ShownTime{TimeKind::Measured, 0.1}}});
    m_view->setColorMode(*findColorMode("time"));
    QVERIFY(m_view->grab().toImage() != kind);
  }

  void fittedTimesLookOtherThanMeasuredOnes() {
    auto priced = std::make_shared<Plan>(*m_plan);
    for (FusedNode& fused : priced->fusedNodes) {
      fused.predictedMs = 0.5;
      fused.predictedHow = fused.name == m_fused.toStdString() ? PriceSource::Fitted : PriceSource::Measured;
    }
    m_view->setPlan(priced);
    QVERIFY(m_view->waitForLayout(20000));
    const auto told = [&](const std::string& name) {
      m_view->select({QString::fromStdString(name)});
      return m_view->accessibleDescription();
    };
    QVERIFY2(told(m_fused.toStdString()).contains("~ 500 µs, fitted to other kernels"),
             qPrintable(m_view->accessibleDescription()));
    const std::string& measured = priced->fusedNodes.front().name == m_fused.toStdString()
                                      ? priced->fusedNodes.back().name
                                      : priced->fusedNodes.front().name;
    QVERIFY2(told(measured).contains("≈ 500 µs, predicted: such a kernel was measured before"),
             qPrintable(m_view->accessibleDescription()));
    QVERIFY(!m_view->accessibleDescription().contains('~'));
    m_view->setTimes({{handleOf(*m_plan->findFusedNode(m_fused.toStdString())), ShownTime{TimeKind::Measured, 0.5}}});
    QVERIFY(!told(m_fused.toStdString()).contains('~'));
  }

  void aPinElsewhereKeepsWhatIsOpenAndSelected() {
    const FusedNode& kept = *m_plan->findFusedNode(m_fused.toStdString());
    m_view->expand(m_fused);
    QVERIFY(m_view->waitForLayout(20000));
    m_view->select({handle(kept)});
    const QRect before = m_view->itemRect(handle(kept));
    const FusedNode& other =
        m_plan->fusedNodes.back().id == kept.id ? m_plan->fusedNodes.front() : m_plan->fusedNodes.back();
    PlanOptions options;
    options.directives.push_back(
        {.kind = DirectiveKind::Pin, .pattern = m_plan->graph().node(other.root).name, .type = DataType::F16});
    const auto pinned = makePlan(m_plan->model, options);
    QVERIFY(pinned.ok());
    m_view->setPlan(pinned.value());
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->isOpen(handle(kept)));
    QCOMPARE(m_view->selection(), QStringList{handle(kept)});
    QCOMPARE(m_view->itemRect(handle(kept)).size(), before.size());
  }

  void kernelsOfOneNameDoNotMix() {
    const auto plan = planWithOneNameTwice();
    QCOMPARE(plan->fusedNodes.size(), std::size_t(2));
    QCOMPARE(plan->fusedNodes[0].name, plan->fusedNodes[1].name);
    const bool firstIsFused = plan->fusedNodes[0].nodes.size() == 2;
    const FusedNode &fused = plan->fusedNodes[firstIsFused ? 0 : 1], &alone = plan->fusedNodes[firstIsFused ? 1 : 0];
    m_view->setPlan(plan);
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->itemRect(handle(fused)) != m_view->itemRect(handle(alone)));
    m_view->expand(handle(alone));
    QVERIFY(!m_view->isOpen(handle(fused)));
    m_view->expand(handle(fused));
    QVERIFY(m_view->waitForLayout(20000));
    QVERIFY(m_view->isOpen(handle(fused)));
    QVERIFY(!m_view->isOpen(handle(alone)));
    m_view->setTimes({{handleOf(alone), ShownTime{TimeKind::Measured, 2.0}}});
    m_view->select({handle(alone)});
    QVERIFY2(m_view->accessibleDescription().contains("2.00 ms"), qPrintable(m_view->accessibleDescription()));
    m_view->select({handle(fused)});
    QVERIFY2(!m_view->accessibleDescription().contains("ms"), qPrintable(m_view->accessibleDescription()));
  }

  void predictedFusionsAreMarked() {
    const auto predicted = makePlan(m_plan->model, {.target = "tensorrt-10"});
    QVERIFY(predicted.ok());
    m_view->setPlan(predicted.value());
    QVERIFY(m_view->waitForLayout(20000));
    const auto told = [&](bool several) {
      for (const FusedNode& fused : predicted.value()->fusedNodes) {
        if ((fused.nodes.size() > 1) != several) continue;
        m_view->select({handle(fused)});
        return m_view->accessibleDescription();
      }
      return QString();
    };
    QVERIFY2(told(true).contains("predicted"), qPrintable(told(true)));
    QVERIFY2(!told(false).contains("predicted"), qPrintable(told(false)));
  }

  void exportsPictures() {
    QTemporaryDir folder;
    QVERIFY(m_view->exportSvg(folder.filePath("graph.svg")).ok());
    QFile svg(folder.filePath("graph.svg"));
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray drawing = svg.readAll();
    QVERIFY(drawing.contains("<svg"));
    QVERIFY(drawing.contains("segment_0"));
    QVERIFY(m_view->exportPng(folder.filePath("graph.png"), 2).ok());
    const QImage large(folder.filePath("graph.png"));
    QVERIFY(m_view->exportPng(folder.filePath("graph.png"), 1).ok());
    QVERIFY(qAbs(large.height() - 2 * QImage(folder.filePath("graph.png")).height()) <= 2);
    const Status refused = m_view->exportPng(folder.filePath("no/such/folder.png"), 1);
    QVERIFY(!refused.ok());
    QVERIFY(QString::fromStdString(refused.error().text()).contains("folder.png"));
  }

  void everythingCanBeOpened() {
    m_view->expandAll();
    QVERIFY(m_view->waitForLayout(20000));
    const int pills = int(m_plan->graph().inputs().size() + m_plan->graph().outputs().size());
    QCOMPARE(m_view->boxCount(), int(m_plan->graph().nodeCount()) + pills);
  }

  void handlersAreShort() {
    const double before = threadMilliseconds();
    m_view->expandAll();
    QVERIFY2(threadMilliseconds() - before < 100, "asking for a layout must not do it");
    QVERIFY(m_view->waitForLayout(20000));
  }

  void whatDidNotChangeIsNotLaidOutAgain() {
    const auto laidOutBy = [&](const std::function<void()>& what) {
      const std::size_t before = m_view->levelsLaidOut();
      what();
      if (!m_view->waitForLayout(20000)) qFatal("no layout");
      return int(m_view->levelsLaidOut() - before);
    };
    const QString second = secondOf(m_fused);
    QCOMPARE(laidOutBy([&] { m_view->expand(m_fused); }), 3);  // what it holds, the segment, the top
    QVERIFY(laidOutBy([&] { m_view->expand(second); }) <= 3);
    QCOMPARE(laidOutBy([&] { m_view->collapse(second); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->collapse(m_fused); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->expand(m_fused); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->setTheme(Theme::light()); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->search("maxpool"); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->select({second}); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->setColorMode(*findColorMode("kind")); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->setPlan(makePlan(m_plan->model, {}).value()); }), 0);
    PlanOptions options;  // a pin elsewhere: what is open stays, and with other texts the segment and the top move
    options.directives.push_back({.kind = DirectiveKind::Pin, .pattern = lastConv(), .type = DataType::F16});
    QVERIFY(laidOutBy([&] { m_view->setPlan(makePlan(m_plan->model, options).value()); }) <= 2);
  }

  void wiresDoNotCrossAtTheBordersOfOpenBoxes() {
    const auto plan = planOf("bert_tiny");
    const CanvasFonts fonts;
    const CanvasScene closed = buildCanvas(*plan, {}, fonts);
    const LayoutGraph graph = layoutGraphOf(buildCanvas(*plan, allOpen(closed), fonts));
    QVERIFY(graph.containers.size() > 5);
    const LayoutGeometry geometry = layOut(graph).value();
    QCOMPARE(crossingsAtBorders(graph, geometry), std::size_t(0));
    QCOMPARE(qualityOf(geometry.edges).crossings, std::size_t(0));
    for (const QString& handle : closed.openable.keys()) {  // each by itself, too
      OpenState open;
      open.set(*closed.openable[handle].kind, handle, true);
      const LayoutGraph one = layoutGraphOf(buildCanvas(*plan, open, fonts));
      QCOMPARE(crossingsAtBorders(one, layOut(one).value()), std::size_t(0));
    }
  }

  void dotAnswersFromAProcessOfItsOwn() {
    const LevelGraph level = crossed();
    DotHelper helper({}, 20'000, QStringLiteral(FUSESCOPE_BIN_DIR "/fusescope-layoutd"));
    for (int turn = 0; turn < 2; ++turn) {
      const auto layout = helper.layOut(level);
      QVERIFY2(layout, qPrintable(helper.problem()));
      QCOMPARE(layout->entities.size(), level.entities.size());
      QCOMPARE(layout->edges.size(), level.edges.size());
    }
    QVERIFY(helper.problem().isEmpty());
  }

  void aHelperThatFailsIsSaidAndNotAskedAgain_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("problem");
    QTest::newRow("missing") << "/nonexistent/helper"
                             << "could not be started";
    QTest::newRow("ends") << QStandardPaths::findExecutable("true") << "ended before it was done";
    QTest::newRow("silent") << QStandardPaths::findExecutable("sort") << "took longer than 0.2 s";
    QTest::newRow("talks nonsense") << QStandardPaths::findExecutable("cat") << "answer cannot be used";
  }
  void aHelperThatFailsIsSaidAndNotAskedAgain() {
    QFETCH(QString, program);
    QFETCH(QString, problem);
    DotHelper helper({}, 200, program);
    QVERIFY(!helper.layOut(crossed()));
    QVERIFY2(helper.problem().contains(problem), qPrintable(helper.problem()));
    QElapsedTimer clock;
    clock.start();
    QVERIFY(!helper.layOut(crossed()));
    QVERIFY(clock.elapsed() < 100);
  }

  void aHelperThatNobodyWaitsForIsGone() {
    std::stop_source stop;
    DotHelper helper(stop.get_token(), 60'000, QStandardPaths::findExecutable("sort"));
    std::thread later([&stop] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop.request_stop();
    });
    QElapsedTimer clock;
    clock.start();
    QVERIFY(!helper.layOut(crossed()));
    later.join();
    QVERIFY(clock.elapsed() < 10'000);
    QVERIFY(helper.problem().isEmpty());
  }

  void noPlanIsAnEmptyCanvas() {
    m_view->setPlan(nullptr);
    QCOMPARE(m_view->boxCount(), 0);
    QVERIFY(m_view->nameAt({500, 300}).isEmpty());
    QVERIFY(!m_view->exportSvg("x.svg").ok());
  }

  void theIndexFindsWhatASearchThroughAllFinds() {
    std::vector<QRectF> rects;
    for (int i = 0; i < 700; ++i)  // many small, some that span all, some of no width
      rects.emplace_back((i * 37) % 900, (i * 61) % 4000, i % 10 == 0 ? 2000 : i % 7, i % 50 == 0 ? 5000 : 30);
    const SpatialIndex index(rects);
    for (int i = 0; i < 60; ++i) {
      const QRectF area((i * 53) % 1000, (i * 97) % 4200, i % 3 == 0 ? 0 : 120, i % 4 == 0 ? 0 : 200);
      std::vector<int> expected;
      for (int r = 0; r < int(rects.size()); ++r) {
        const QRectF& rect = rects[std::size_t(r)];
        if (rect.left() <= area.right() && area.left() <= rect.right() && rect.top() <= area.bottom() &&
            area.top() <= rect.bottom())
          expected.push_back(r);
      }
      QCOMPARE(index.meeting(area), expected);
    }
    QVERIFY(SpatialIndex().meeting(QRectF(0, 0, 9, 9)).empty());
  }

  void twoViewsShareACamera() {
    GraphView other;
    other.resize(m_view->size());
    other.setPlan(m_view->plan());
    QVERIFY(other.waitForLayout(20'000));
    connect(m_view.get(), &GraphView::cameraChanged, &other, &GraphView::setCamera);
    connect(&other, &GraphView::cameraChanged, m_view.get(), &GraphView::setCamera);
    m_view->zoomIn();
    QVERIFY(other.camera() == m_view->camera());
    Camera camera = other.camera();
    camera.origin += QPointF(11, -7);
    other.setCamera(camera);
    QVERIFY(m_view->camera() == camera);
    other.disconnect();
    m_view->disconnect(&other);
  }

 private:
  static QString handle(const FusedNode& fused) { return QString::fromStdString(handleOf(fused)); }

  /// Three that feed three.
  static LevelGraph crossed() {
    LevelGraph level;
    for (int i = 0; i < 6; ++i) level.entities.push_back({.width = 100, .height = 40});
    for (int i = 0; i < 9; ++i) level.edges.push_back({.from = i / 3, .to = 3 + i % 3});
    return level;
  }
  QString secondOf(const QString& first) const {
    for (const FusedNode& fused : m_plan->fusedNodes)
      if (fused.nodes.size() == 2 && fused.name != first.toStdString()) return handle(fused);
    return {};
  }
  std::string lastConv() const {
    std::string last;
    for (const NodeId id : m_plan->graph().order())
      if (m_plan->graph().node(id).is("Conv")) last = m_plan->graph().node(id).name;
    return last;
  }

  /// A kernel of the nodes a and b, and a node that is called "a + b".
  static std::shared_ptr<const Plan> planWithOneNameTwice() {
    GraphEditor editor;
    Model model;
    const TensorType type{DataType::F32, Shape::of(Dims{4, 8})};
    const ValueId x = editor.addInput("x", type);
    const ValueId w = editor.addConstant("w", Tensor::zeros(DataType::F32, {8, 8}));
    const auto add = [&](const char* op, const char* name, std::vector<ValueId> inputs) {
      const ValueId result = editor.addValue(std::string(name) + "_out", type);
      model.origins.push_back({name, op, ""});
      Node node;
      node.op = op;
      node.name = name;
      node.inputs = std::move(inputs);
      node.outputs = {result};
      node.origins = {OriginId(model.origins.size() - 1)};
      editor.addNode(std::move(node));
      return result;
    };
    editor.addOutput(add("Relu", "b", {add("MatMul", "a", {x, w})}));
    editor.addOutput(add("Softmax", "a + b", {x}));
    auto graph = editor.publish();
    if (!graph.ok()) qFatal("%s", graph.error().text().c_str());
    model.graph = graph.value();
    auto plan = makePlan(std::make_shared<const Model>(model), {});
    if (!plan.ok()) qFatal("%s", plan.error().text().c_str());
    return plan.value();
  }

  std::shared_ptr<const Plan> m_plan;
  std::unique_ptr<GraphView> m_view;
  QString m_fused;
};

}  // namespace fusescope

QTEST_MAIN(fusescope::CanvasTest)
#include "canvas_test.moc"
