#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QtTest>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "layout/drawing_quality.h"
#include "planning/fused_node_facts.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/gui/sample_canvas.h"
#include "tests/support/paths.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/color_mode.h"
#include "ui/canvas/dot_helper.h"

namespace fusescope {

namespace {

/// Three that feed three.
LevelGraph crossed() {
  LevelGraph level;
  for (int i = 0; i < 6; ++i) level.entities.push_back({.width = 100, .height = 40});
  for (int i = 0; i < 9; ++i) level.edges.push_back({.from = i / 3, .to = 3 + i % 3});
  return level;
}
/// One that takes Graphviz longer than any test.
LevelGraph tangled() {
  constexpr int kEntities = 6000;
  LevelGraph level;
  for (int i = 0; i < kEntities; ++i) level.entities.push_back({.width = 100, .height = 40});
  for (int i = 0; i < 4 * kEntities; ++i) {
    const int from = i % kEntities, to = (i * 7919 + i / 3) % kEntities;
    if (from != to) level.edges.push_back({.from = std::min(from, to), .to = std::max(from, to)});
  }
  return level;
}
QString secondOf(const Plan& plan, const QString& first) {
  for (const FusedNode& fused : plan.fusedNodes)
    if (fused.nodes.size() == 2 && fused.name != first.toStdString()) return test::handle(fused);
  return {};
}

std::string lastConv(const Plan& plan) {
  std::string last;
  for (const NodeId id : plan.graph().order())
    if (plan.graph().node(id).is("Conv")) last = plan.graph().node(id).name;
  return last;
}

/// A canvas with a long chain of which every kernel is open.
std::unique_ptr<GraphView> openedChain() {
  QTemporaryDir folder;
  const auto model = openModel(test::writeResidualChain(folder.path(), 2400).toStdString());
  if (!model.ok()) qFatal("the chain cannot be opened");
  const auto plan = makePlan(model.value(), {});
  if (!plan.ok()) qFatal("the chain cannot be planned");
  auto view = test::shownCanvas(plan.value());
  if (!view) qFatal("no picture");
  view->expandAll();
  if (!view->waitForLayout(test::kPatienceMs)) qFatal("no layout");
  return view;
}

/// How many of the plan's kernels stand, at least in part, in the view.
int inView(const GraphView& view) {
  int count = 0;
  for (const FusedNode& fused : view.cover()->fusedNodes)
    count += view.itemRect(test::handle(fused)).intersects(view.rect());
  return count;
}

}  // namespace

/// What is laid out and when, by whom, and how things are found by where they are.
class CanvasLayoutTest : public test::SampleCanvas {
  Q_OBJECT

 private slots:
  void fitShowsAllOfAPictureHoweverLargeItIs() {
    const QSizeF size(1000, 700);
    const QRectF large(-5e5, 0, 1e6, 4e7);
    Camera camera;
    camera.show(large, size, 32, 1.0);
    QVERIFY(camera.visible(size).contains(large));
    const double fitted = camera.zoom;
    camera.zoomAt({500, 350}, 0.5);  // by hand nothing becomes smaller than that
    QCOMPARE(camera.zoom, fitted);
    camera.zoomAt({500, 350}, 2);
    QCOMPARE(camera.zoom, 2 * fitted);
    camera.show({0, 0, 100, 100}, size, 32, 1.0);
    QCOMPARE(camera.zoom, 1.0);
    camera.zoomAt({500, 350}, 1e-9);
    QCOMPARE(camera.zoom, Camera::kLeastZoom);
    const auto view = openedChain();
    QTest::keyClick(view.get(), Qt::Key_Space);
    QCOMPARE(inView(*view), int(view->cover()->fusedNodes.size()));
  }

  void whenAllIsClosedThereIsSomethingToSee() {
    const auto view = openedChain();
    QTest::keyClick(view.get(), Qt::Key_Space);
    view->collapseAll();
    QVERIFY(view->waitForLayout(test::kPatienceMs));
    QCOMPARE(inView(*view), int(view->cover()->fusedNodes.size()));  // all was in view, and is
    const double closed = view->zoom();
    view->fit();
    QCOMPARE(view->zoom(), closed);
    // Close to the end of what is open nothing of what is closed need stand.
    view->expandAll();
    QVERIFY(view->waitForLayout(test::kPatienceMs));
    view->select({test::handle(view->cover()->fusedNodes.back())});
    view->select({});
    view->collapseAll();
    QVERIFY(view->waitForLayout(test::kPatienceMs));
    QVERIFY(inView(*view) > 0);
  }

  void whatDidNotChangeIsNotLaidOutAgain() {
    const auto laidOutBy = [&](const std::function<void()>& what) {
      const std::size_t before = m_view->levelsLaidOut();
      what();
      if (!m_view->waitForLayout(20000)) qFatal("no layout");
      return int(m_view->levelsLaidOut() - before);
    };
    const QString second = secondOf(*m_plan, m_fused);
    // What it holds, the column that it is in, the segment, the top.
    QCOMPARE(laidOutBy([&] { m_view->expand(m_fused); }), 4);
    QVERIFY(laidOutBy([&] { m_view->expand(second); }) <= 4);
    QCOMPARE(laidOutBy([&] { m_view->collapse(second); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->collapse(m_fused); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->expand(m_fused); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->setTheme(Theme::light()); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->search("maxpool"); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->select({second}); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->setColorMode(*findColorMode("kind")); }), 0);
    QCOMPARE(laidOutBy([&] { m_view->setCover(makePlan(m_plan->model, {}).value()); }), 0);
    PlanOptions
        options;  // a pin elsewhere: what is open stays; with other texts its column, the segment and the top move
    options.directives.push_back({.kind = DirectiveKind::Pin, .pattern = lastConv(*m_plan), .type = DataType::F16});
    QVERIFY(laidOutBy([&] { m_view->setCover(makePlan(m_plan->model, options).value()); }) <= 3);
  }

  void wiresDoNotCrossAtTheBordersOfOpenBoxes() {
    const auto plan = test::planSample("bert_tiny")->plan;
    const CanvasFonts fonts;
    const CanvasScene closed = buildCanvas(*plan, {}, fonts);
    const LayoutGraph graph = layoutGraphOf(buildCanvas(*plan, allOpen(closed), fonts));
    QVERIFY(graph.containers.size() > 5);
    const LayoutGeometry geometry = layOut(graph).value();
    QCOMPARE(crossingsAtBorders(graph, geometry), std::size_t(0));
    QCOMPARE(qualityOf(geometry.edges).crossings, std::size_t(0));
    for (const QString& handle : closed.openable()) {  // each by itself, too
      OpenState open;
      open.set(*closed.container(handle)->kind, handle, true);
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
    const test::TemporaryFolder folder;
    const std::string starts = (folder / "starts").string();
    const auto counted =
        folder.write("counted", "#!/bin/sh\necho started >> " + starts + "\nexec " + program.toStdString() + "\n");
    std::filesystem::permissions(counted, std::filesystem::perms::owner_all);
    const bool missing = !QFileInfo::exists(program);
    DotHelper helper({}, 200, missing ? program : QString::fromStdString(counted.string()));
    QVERIFY(!helper.layOut(crossed()));
    QVERIFY2(helper.problem().contains(problem), qPrintable(helper.problem()));
    const QString said = helper.problem();
    QVERIFY(!helper.layOut(crossed()));
    QCOMPARE(helper.problem(), said);
    const auto started = readTextFile(starts);
    QCOMPARE(started.ok() ? started.value() : std::string(), std::string(missing ? "" : "started\n"));
  }

  void aHelperThatNobodyWaitsForIsGone() {
    std::stop_source stop;
    DotHelper helper(stop.get_token(), 60'000, QStandardPaths::findExecutable("sort"));
    std::thread later([&stop] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop.request_stop();
    });
    QVERIFY(!helper.layOut(crossed()));
    later.join();
    QVERIFY(helper.problem().isEmpty());  // else its time was over before anybody stopped it
  }

  void aHelperEndsWithWhoeverStartedIt() {
    QProcess helper, reader;
    helper.setStandardOutputProcess(&reader);
    helper.start(QStringLiteral(FUSESCOPE_BIN_DIR "/fusescope-layoutd"), QStringList());
    reader.start(QStandardPaths::findExecutable("cat"), QStringList());
    QVERIFY(helper.waitForStarted(test::kPatienceMs) && reader.waitForStarted(test::kPatienceMs));
    helper.write(QByteArray::fromStdString(toJson(tangled()).dump()) + '\n');
    while (helper.bytesToWrite() > 0) QVERIFY(helper.waitForBytesWritten(test::kPatienceMs));
    QVERIFY(!reader.waitForReadyRead(200));  // it is at work
    reader.kill();
    QVERIFY(reader.waitForFinished(test::kPatienceMs));
    QVERIFY(helper.waitForFinished(test::kPatienceMs));
    QCOMPARE(helper.exitCode(), 1);
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
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::CanvasLayoutTest, 10)
#include "canvas_layout_test.moc"
