// The shape of a picture and what stays in view: deep networks fill the canvas, all of it can be seen at any size, and
// what somebody looks at keeps its place and its neighbours.
#include <QtTest>
#include <cmath>
#include <filesystem>

#include "layout/drawing_quality.h"
#include "planning/fused_node_facts.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/gui/gui_support.h"
#include "tests/support/paths.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/graph_view.h"
#include "ui/canvas/scene_maker.h"

namespace fusescope {

namespace {

constexpr double kMargin = 32;           // round a picture that is fitted
constexpr double kLegible = 9.0 / 13.0;  // titles are of 13 px and should be of 9

/// Widths and heights of a canvas in a window of 1440 by 900, and of 1024 by 700.
const QSizeF kCanvases[] = {{1000, 640}, {700, 480}};

/// As the canvas makes it: in steps.
double proportionOf(const QSizeF& size) {
  return std::exp2(std::round(2 * std::log2(size.width() / size.height())) / 2);
}

std::shared_ptr<const CanvasScene> sceneOf(const std::shared_ptr<const Cover>& cover, const OpenState& open,
                                           double proportion) {
  SceneMaker maker(std::make_shared<CanvasFonts>());
  auto scene = maker.make(cover, open, {.proportion = proportion});
  if (!scene.ok()) qFatal("%s", scene.error().text().c_str());
  return scene.value();
}

double fitted(const QRectF& bounds, const QSizeF& canvas) {
  Camera camera;
  camera.show(bounds, canvas, kMargin, 1.0);
  return camera.zoom;
}

std::size_t crossingsOf(const CanvasScene& scene) {
  std::vector<PlacedEdge> edges;
  for (int e = 0; e < int(scene.edges.size()); ++e) {
    edges.emplace_back();
    for (const QPointF& p : scene.curves.of(e)) edges.back().points.push_back({p.x(), p.y()});
  }
  return qualityOf(edges).crossings;
}

/// The first edge that runs through a box, or box that lies on another; empty: none.
QString obstructed(const CanvasScene& scene) {
  const auto isEnd = [&](int item, int end) { return scene.isInside(end, item); };
  for (int e = 0; e < int(scene.edges.size()); ++e) {
    const CanvasCurves::Points points = scene.curves.of(e);
    for (std::size_t p = 0; p + 3 < points.size(); p += 3)
      for (const double t : {0.0, 0.2, 0.4, 0.6, 0.8}) {
        const double u = 1 - t;
        const QPointF at = points[p] * (u * u * u) + points[p + 1] * (3 * u * u * t) + points[p + 2] * (3 * u * t * t) +
                           points[p + 3] * (t * t * t);
        for (const int item : scene.itemIndex.meeting(QRectF(at, QSizeF(0, 0)))) {
          const bool inside = scene.rects[std::size_t(item)].adjusted(1, 1, -1, -1).contains(at);
          if (inside && scene.items[std::size_t(item)].isBox() && !isEnd(item, scene.edges[std::size_t(e)].from) &&
              !isEnd(item, scene.edges[std::size_t(e)].to))
            return QStringLiteral("edge %1 runs through %2").arg(e).arg(scene.items[std::size_t(item)].key);
        }
      }
  }
  for (int a = 0; a < int(scene.items.size()); ++a)
    for (const int b : scene.itemIndex.meeting(scene.rects[std::size_t(a)].adjusted(1, 1, -1, -1)))
      if (a != b && scene.items[std::size_t(a)].parent == scene.items[std::size_t(b)].parent &&
          scene.rects[std::size_t(a)].adjusted(1, 1, -1, -1).intersects(scene.rects[std::size_t(b)]))
        return scene.items[std::size_t(a)].key + " lies on " + scene.items[std::size_t(b)].key;
  return {};
}

/// The first kernel whose name has `part` in it.
const FusedNode& kernelNamed(const Plan& plan, const std::string& part) {
  for (const FusedNode& fused : plan.fusedNodes)
    if (fused.kind.find(part) != std::string::npos && fused.nodes.size() > 1) return fused;
  qFatal("no such kernel");
}

/// Where each closed box of `names` is drawn, and the box that nodes of an open one are in is not asked.
std::map<QString, QRect> placesOf(const GraphView& view, const QStringList& names) {
  std::map<QString, QRect> places;
  for (const QString& name : names) places[name] = view.itemRect(name);
  return places;
}

/// Two that stood beside each other and stand beside each other now, but on other sides; empty: none.
QString mirrored(const std::map<QString, QRect>& before, const std::map<QString, QRect>& after) {
  const auto beside = [](const QRect& a, const QRect& b) { return a.top() < b.bottom() && b.top() < a.bottom(); };
  for (const auto& [a, ofA] : before)
    for (const auto& [b, ofB] : before) {
      if (a >= b || !beside(ofA, ofB) || !beside(after.at(a), after.at(b))) continue;
      if ((ofA.center().x() < ofB.center().x()) != (after.at(a).center().x() < after.at(b).center().x()))
        return a + " and " + b;
    }
  return {};
}

QPointF headOf(const QRect& rect) {
  return {rect.x() + rect.width() / 2.0, double(rect.y())};
}

}  // namespace

class CanvasShapeTest : public QObject {
  Q_OBJECT

 private slots:
  void everyNetworkFillsTheCanvas_data() {
    QTest::addColumn<QString>("path");
    const auto shared = test::sharedFolder();
    if (!shared) QSKIP("no shared test material; set FUSESCOPE_SHARED to its folder");
    for (const auto& entry : std::filesystem::directory_iterator(*shared / "zoo")) {
      const std::string name = entry.path().filename().string();
      if (const auto path = test::zooModel(name)) QTest::newRow(name.c_str()) << QString::fromStdString(path->string());
    }
  }
  void everyNetworkFillsTheCanvas() {
    QFETCH(QString, path);
    const auto model = openModel(path.toStdString());
    if (!model.ok()) qFatal("%s", model.error().text().c_str());
    const std::shared_ptr<const Plan> plan = makePlan(model.value(), {}).value();
    const OpenState rest = openAtFirst(*plan);
    const OpenState all = allOpen(buildCanvas(*plan, rest, CanvasFonts()));
    for (const OpenState& open : {rest, all}) {
      const auto straight = sceneOf(plan, open, 0);
      for (const QSizeF& canvas : kCanvases) {
        const auto scene = sceneOf(plan, open, proportionOf(canvas));
        const double zoom = fitted(scene->bounds, canvas), before = fitted(straight->bounds, canvas);
        const QSizeF seen = scene->bounds.size() * zoom;
        const QString said = QStringLiteral("%1 by %2 px of %3 by %4, titles of %5 px, %6 before")
                                 .arg(seen.width(), 0, 'f', 0)
                                 .arg(seen.height(), 0, 'f', 0)
                                 .arg(canvas.width())
                                 .arg(canvas.height())
                                 .arg(13 * zoom, 0, 'f', 1)
                                 .arg(13 * before, 0, 'f', 1);
        QVERIFY2(seen.width() >= canvas.width() / 4, qPrintable(said));
        QVERIFY2(seen.height() >= canvas.height() / 4, qPrintable(said));
        QVERIFY2(zoom >= before, qPrintable(said));
        QVERIFY2(obstructed(*scene).isEmpty(), qPrintable(obstructed(*scene)));
        QVERIFY2(
            crossingsOf(*scene) <= crossingsOf(*straight),
            qPrintable(QStringLiteral("%1 crossings, %2 before").arg(crossingsOf(*scene)).arg(crossingsOf(*straight))));
      }
    }
  }

  void fitShowsAllAfterWhateverWasDone() {
    const auto plan = test::planSample("bert_tiny")->plan;
    const auto view = test::shownCanvas(plan);
    QVERIFY(view);
    QStringList handles;
    for (const FusedNode& fused : plan->fusedNodes) handles << test::handle(fused);
    const auto allInView = [&] {
      for (const QString& handle : handles)
        if (!view->rect().contains(view->itemRect(handle))) return false;
      return true;
    };
    int step = 0;
    for (const QSize& size : {QSize(1000, 700), QSize(420, 900), QSize(1600, 300), QSize(300, 200), QSize(1000, 700)}) {
      view->resize(size);
      view->toggle(handles[step * 3 % handles.size()]);
      if (step % 2 == 1) view->expandAll();
      if (step == 3) view->collapseAll();
      QVERIFY(view->waitForLayout(test::kPatienceMs));
      QTest::keyClick(view.get(), Qt::Key_Space);
      QVERIFY(view->waitForLayout(test::kPatienceMs));
      QVERIFY2(allInView(), qPrintable(QStringLiteral("step %1").arg(step)));
      ++step;
    }
  }

  void startsWithAllOfItOrWithItsBeginning() {
    const auto small = test::shownCanvas(test::planSample("fp16_overflow")->plan);
    QVERIFY(small);
    QVERIFY(small->zoom() >= kLegible);
    for (const FusedNode& fused : small->cover()->fusedNodes)
      QVERIFY(small->rect().contains(small->itemRect(test::handle(fused))));
    const auto large = test::shownCanvas(test::planSample("squeezenet1_1")->plan);
    QVERIFY(large);
    QVERIFY(large->zoom() >= kLegible);
    const Graph& graph = large->cover()->graph();
    QVERIFY(large->rect().contains(large->itemRect(QString::fromStdString(graph.value(graph.inputs()[0]).name))));
    QVERIFY(large->rect().contains(large->itemRect(test::handle(large->cover()->fusedNodes.front()))));
  }

  void whatWasSeenWholeIsSeenWholeInACanvasOfAnotherSize() {
    const auto plan = test::planSample("squeezenet1_1")->plan;
    const auto view = test::shownCanvas(plan);
    QVERIFY(view);
    view->fit();
    const auto allInView = [&] {
      for (const FusedNode& fused : plan->fusedNodes)
        if (!view->rect().contains(view->itemRect(test::handle(fused)))) return false;
      return true;
    };
    QVERIFY(allInView());
    for (const QSize& size : {QSize(1000, 680), QSize(640, 480), QSize(400, 700), QSize(1200, 700)}) {
      view->resize(size);
      QVERIFY(view->waitForLayout(test::kPatienceMs));
      QVERIFY2(allInView(), qPrintable(QStringLiteral("%1 by %2").arg(size.width()).arg(size.height())));
    }
    // A little wider or narrower it is the same picture.
    const std::size_t before = view->levelsLaidOut();
    for (const int width : {1180, 1230, 1150}) view->resize(width, 700);
    QVERIFY(view->waitForLayout(test::kPatienceMs));
    QCOMPARE(view->levelsLaidOut(), before);
    // What is looked at closely stays where it is.
    view->select({test::handle(plan->fusedNodes[10])});
    const QPointF middle = view->camera().visible(view->size()).center();
    view->resize(700, 500);
    QVERIFY(view->waitForLayout(test::kPatienceMs));
    QVERIFY((view->camera().visible(view->size()).center() - middle).manhattanLength() < 2);
  }

  // As where the window changes, and what is beside the canvas follows in the same turn of the event loop.
  void aSizeThatIsPassedIsNotLaidOutFor() {
    const auto view = test::shownCanvas(test::planSample("squeezenet1_1")->plan);
    QVERIFY(view);
    QSignalSpy layouts(view.get(), &GraphView::layoutStarted);
    view->resize(500, 900);
    view->resize(500, 820);
    view->resize(520, 800);
    QVERIFY(view->waitForLayout(test::kPatienceMs));
    QCOMPARE(layouts.count(), 1);
    QCOMPARE(view->scene()->proportion, std::exp2(-0.5));  // as the last size has it, in its step
  }

  void whatIsOpenedKeepsItsPlaceAndItsNeighbours_data() {
    QTest::addColumn<QString>("sample");
    for (const char* sample : {"bert_tiny", "squeezenet1_1"}) QTest::newRow(sample) << sample;
  }
  void whatIsOpenedKeepsItsPlaceAndItsNeighbours() {
    QFETCH(QString, sample);
    const auto plan = test::planSample(sample)->plan;
    const auto view = test::shownCanvas(plan);
    QVERIFY(view);
    QStringList handles;
    for (const FusedNode& fused : plan->fusedNodes) handles << test::handle(fused);
    for (const ValueId input : plan->graph().inputs())
      handles << QString::fromStdString(plan->graph().value(input).name);
    for (const FusedNode& fused : plan->fusedNodes) {
      if (fused.nodes.size() < 2) continue;
      const QString handle = test::handle(fused);
      const auto before = placesOf(*view, handles);
      view->toggle(handle);
      QVERIFY(view->waitForLayout(test::kPatienceMs));
      const auto opened = placesOf(*view, handles);
      QVERIFY2(mirrored(before, opened).isEmpty(), qPrintable(handle + ": " + mirrored(before, opened)));
      const QPointF moved = headOf(opened.at(handle)) - headOf(before.at(handle));
      QVERIFY2(std::abs(moved.x()) <= 1 && std::abs(moved.y()) <= 1, qPrintable(handle));
      view->toggle(handle);
      QVERIFY(view->waitForLayout(test::kPatienceMs));
      const auto closed = placesOf(*view, handles);
      QVERIFY2(mirrored(before, closed).isEmpty(), qPrintable(handle + ": " + mirrored(before, closed)));
      for (const QString& name : handles)
        QVERIFY2((closed.at(name).center() - before.at(name).center()).manhattanLength() <= 2,
                 qPrintable(handle + " closed again moved " + name));
    }
  }

  void openingOneAfterTheOtherMirrorsNothing() {
    const auto plan = test::planSample("bert_tiny")->plan;
    const auto view = test::shownCanvas(plan);
    QVERIFY(view);
    const QString attention = test::handle(kernelNamed(*plan, "attention"));
    QStringList handles;
    for (const FusedNode& fused : plan->fusedNodes) handles << test::handle(fused);
    auto before = placesOf(*view, handles);
    QStringList toOpen{attention};
    for (const FusedNode& fused : plan->fusedNodes)
      if (fused.nodes.size() > 1 && test::handle(fused) != attention) toOpen << test::handle(fused);
    for (const QString& handle : toOpen) {
      view->toggle(handle);
      QVERIFY(view->waitForLayout(test::kPatienceMs));
      const auto now = placesOf(*view, handles);
      QVERIFY2(mirrored(before, now).isEmpty(), qPrintable(handle + ": " + mirrored(before, now)));
      before = now;
    }
  }

  void theCameraGoesToWhatIsSelectedSoThatItCanBeRead() {
    const auto plan = test::planSample("squeezenet1_1")->plan;
    const auto view = test::shownCanvas(plan);
    QVERIFY(view);
    view->fit();
    QVERIFY(view->zoom() < kLegible);
    const QString last = test::handle(plan->fusedNodes.back());
    view->select({last});
    QVERIFY(view->zoom() >= kLegible);
    QVERIFY(view->rect().contains(view->itemRect(last)));
    // What is in view and legible moves nothing.
    const Camera camera = view->camera();
    view->select({last});
    QCOMPARE(view->camera(), camera);
    // A container that is open: its header. Several: all of them.
    view->select({QString::fromStdString(plan->segments.front().name)});
    const QRect segment = view->itemRect(QString::fromStdString(plan->segments.front().name));
    QVERIFY(view->rect().contains(segment.topLeft()));
    view->fit();
    view->select({test::handle(plan->fusedNodes.front()), last});
    QVERIFY(view->rect().contains(view->itemRect(last)));
    QVERIFY(view->rect().contains(view->itemRect(test::handle(plan->fusedNodes.front()))));
    // Not asked for, it stays.
    view->fit();
    const Camera all = view->camera();
    view->select({last}, false);
    QCOMPARE(view->camera(), all);
  }
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::CanvasShapeTest, 10)
#include "canvas_shape_test.moc"
