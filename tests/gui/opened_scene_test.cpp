// What is opened in a large network changes only what it touches: the scene must say the same as one that is made anew,
// and whatever was placed must have room.
#include <QtTest>
#include <algorithm>

#include "layout/level_cache.h"
#include "planning/fused_node_facts.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/gui/gui_support.h"
#include "ui/canvas/graph_view.h"
#include "ui/canvas/scene_maker.h"

namespace fusescope {

namespace {

using ScenePointer = std::shared_ptr<const CanvasScene>;

/// Of a maker for which every network is large.
class Scenes {
 public:
  explicit Scenes(std::shared_ptr<const Plan> plan, double proportion = 0)
      : m_plan(std::move(plan)), m_maker(m_fonts, 1), m_proportion(proportion) {}

  ScenePointer kept(const OpenState& open) {
    auto scene = m_maker.make(m_plan, open, {.cache = &m_cache, .proportion = m_proportion});
    if (!scene.ok()) qFatal("%s", scene.error().text().c_str());
    return scene.value();
  }
  CanvasScene anew(const OpenState& open) const { return buildCanvas(*m_plan, open, *m_fonts); }

 private:
  std::shared_ptr<const CanvasFonts> m_fonts = std::make_shared<CanvasFonts>();
  std::shared_ptr<const Plan> m_plan;
  SceneMaker m_maker;
  LevelCache m_cache;
  const double m_proportion;  ///< 0: nothing is wrapped
};

OpenState with(const QStringList& handles) {
  OpenState open;
  for (const QString& handle : handles) open.set(fusedContainers(), handle, true);
  return open;
}

QStringList openable(const CanvasScene& scene) {
  QStringList handles;
  for (const QString& handle : scene.openable())
    if (scene.container(handle)->kind == &fusedContainers()) handles << handle;
  handles.sort();
  return handles;
}

/// All that a scene says, in an order that does not depend on how it was made.
QStringList told(const CanvasScene& scene) {
  const auto key = [&](int item) { return item < 0 ? QString() : scene.items[std::size_t(item)].key; };
  QStringList lines;
  for (const CanvasItem& item : scene.items)
    lines << QStringList{"item",
                         item.key,
                         item.name,
                         item.title,
                         item.detail,
                         item.meta,
                         item.stubs.join(','),
                         key(item.parent),
                         QString::number(item.segment),
                         QString::number(item.open),
                         QString::number(item.edgesIn),
                         QString::number(item.edgesOut),
                         QString::number(item.size.width()),
                         QString::number(item.size.height())}
                 .join('|');
  for (const CanvasEdge& edge : scene.edges) {
    QStringList values = edge.tooltip.split('\n');
    values.sort();
    lines << QStringList{"edge", key(edge.from), key(edge.to), values.join(','), edge.cast}.join('|');
  }
  for (int entry = 0; entry < int(scene.parts->entryCount()); ++entry)
    lines << "entry|" + scene.nameOfEntry(entry) + '|' + key(scene.itemOfEntry(entry));
  QStringList names = scene.byName.keys() + scene.byKey.keys() + scene.openable();
  for (const CanvasItem& item : scene.items) names << item.key << item.name;
  const Graph& graph = scene.parts->cover().graph();
  for (const NodeId node : graph.order())
    for (const ValueId value : graph.node(node).outputs)
      if (value.valid()) names << QString::fromStdString(graph.value(value).name);
  for (const QString& name : names)
    lines << "name|" + name + '|' + key(scene.itemOf(name)) + '|' + scene.containerOf(name);
  lines << QString::number(scene.boxes);
  lines.sort();
  lines.removeDuplicates();
  return lines;
}

QString difference(const QStringList& a, const QStringList& b) {
  const QSet<QString> first(a.begin(), a.end()), second(b.begin(), b.end());
  return QStringList((first - second).values()).join('\n') + "\n----\n" +
         QStringList((second - first).values()).join('\n');
}

bool touches(const QRectF& a, const QRectF& b) {
  return a.left() < b.right() - 1 && b.left() < a.right() - 1 && a.top() < b.bottom() - 1 && b.top() < a.bottom() - 1;
}

/// What is wrong with where things are; empty: nothing.
QString problem(const CanvasScene& scene) {
  const auto rect = [&](int item) { return scene.rects[std::size_t(item)]; };
  const auto key = [&](int item) { return scene.items[std::size_t(item)].key; };
  for (int a = 0; a < int(scene.items.size()); ++a) {
    const int parent = scene.items[std::size_t(a)].parent;
    if (parent >= 0 && !rect(parent).contains(rect(a))) return key(a) + " is not inside " + key(parent);
    for (int b = 0; b < a; ++b)
      if (scene.items[std::size_t(b)].parent == parent && touches(rect(a), rect(b)))
        return key(a) + " is upon " + key(b);
  }
  for (int e = 0; e < int(scene.edges.size()); ++e) {
    const CanvasEdge& edge = scene.edges[std::size_t(e)];
    const CanvasCurves::Points points = scene.curves.of(e);
    const QString name = key(edge.from) + " to " + key(edge.to);
    if (points.size() < 4 || points.size() % 3 != 1) return name + " is no chain";
    const QRectF from = rect(edge.from), to = rect(edge.to);
    if (std::abs(points.front().y() - from.bottom()) > 1 || points.front().x() < from.left() - 1 ||
        points.front().x() > from.right() + 1)
      return name + " does not begin at its box";
    if (std::abs(points.back().y() - to.top()) > 1 || points.back().x() < to.left() - 1 ||
        points.back().x() > to.right() + 1)
      return name + " does not end at its box";
    for (std::size_t p = 0; p + 3 < points.size(); p += 3)
      for (const double t : {0.0, 0.25, 0.5, 0.75}) {
        const double u = 1 - t;
        const QPointF at = points[p] * (u * u * u) + points[p + 1] * (3 * u * u * t) + points[p + 2] * (3 * u * t * t) +
                           points[p + 3] * (t * t * t);
        for (int i = 0; i < int(scene.items.size()); ++i) {
          if (scene.isInside(edge.from, i) || scene.isInside(edge.to, i)) continue;
          if (rect(i).adjusted(1, 1, -1, -1).contains(at)) return name + " runs through " + key(i);
        }
      }
  }
  return {};
}

std::shared_ptr<const Plan> planOfFile(const QString& path) {
  const auto model = openModel(path.toStdString());
  if (!model.ok()) qFatal("%s", model.error().text().c_str());
  return makePlan(model.value(), {}).value();
}

}  // namespace

class OpenedSceneTest : public QObject {
  Q_OBJECT

 private slots:
  void saysTheSameAsOneThatIsMadeAnew_data() { samples(); }
  void saysTheSameAsOneThatIsMadeAnew() {
    QFETCH(QString, sample);
    Scenes scenes(test::planSample(sample)->plan);
    const QStringList handles = openable(*scenes.kept({}));
    QVERIFY(!handles.isEmpty());
    std::vector<OpenState> states{with(handles)};
    for (const QString& handle : handles) states.push_back(with({handle}));
    for (const OpenState& open : states) {
      const QStringList kept = told(*scenes.kept(open)), anew = told(scenes.anew(open));
      QVERIFY2(kept == anew, qPrintable(difference(kept, anew)));
    }
  }

  void hasRoomForWhatIsOpen_data() { samples(); }
  void hasRoomForWhatIsOpen() {
    QFETCH(QString, sample);
    for (const double proportion : {0.0, 0.7, 1.4}) {
      Scenes scenes(test::planSample(sample)->plan, proportion);
      const ScenePointer closed = scenes.kept({});
      QCOMPARE(problem(*closed), QString());
      const QStringList handles = openable(*closed);
      for (const QString& handle : handles) {
        const ScenePointer open = scenes.kept(with({handle}));
        QVERIFY2(problem(*open).isEmpty(), qPrintable(handle + ": " + problem(*open)));
      }
      const ScenePointer all = scenes.kept(with(handles));
      QVERIFY2(problem(*all).isEmpty(), qPrintable(problem(*all)));
    }
  }

  void whatIsOpenedInAColumnMovesTheColumnsBesideIt() {
    const QTemporaryDir folder;
    Scenes scenes(planOfFile(test::writeResidualChain(folder.path(), 400)), 1.4);
    const ScenePointer closed = scenes.kept({});
    QVERIFY(!closed->columns.empty());
    const auto& [container, columns] = *closed->columns.begin();
    const QString handle = openable(*closed)[20];
    const int item = closed->itemOf(handle);
    const ScenePointer open = scenes.kept(with({handle}));
    const auto columnOf = [&columns = columns](const QRectF& rect) {
      std::size_t column = 0;
      while (column < columns.size() && rect.left() >= columns[column].left) ++column;
      return column;
    };
    const QRectF before = closed->rects[std::size_t(item)], after = open->rects[std::size_t(item)];
    QCOMPARE(after.top(), before.top());
    const double grown = after.height() - before.height();
    QVERIFY(grown > 60);
    std::optional<double> aside;
    for (std::size_t i = 0; i < closed->items.size(); ++i) {
      if (int(i) == item || closed->items[i].parent != container) continue;
      const QPointF moved = open->rects[i].topLeft() - closed->rects[i].topLeft();
      const std::size_t column = columnOf(closed->rects[i]), ofItem = columnOf(before);
      const bool below = column == ofItem && closed->rects[i].top() >= before.bottom();
      QCOMPARE(moved.y(), below ? grown : 0.0);
      if (column <= ofItem) QCOMPARE(moved.x(), 0.0);
      if (column > ofItem) QCOMPARE(moved.x(), *(aside = aside.value_or(moved.x())));
    }
    QCOMPARE(problem(*open), QString());
  }

  void doesNotDependOnTheWayThere() {
    Scenes scenes(test::planSample("squeezenet1_1")->plan);
    const QStringList handles = openable(*scenes.kept({}));
    const ScenePointer closed = scenes.kept({}), direct = scenes.kept(with({handles[2]}));
    scenes.kept(with({handles[0], handles[2], handles[4]}));
    QCOMPARE(scenes.kept(with({handles[2]}))->rects, direct->rects);
    QCOMPARE(scenes.kept({}).get(), closed.get());
  }

  void onlyWhatIsBelowMoves() {
    const QTemporaryDir folder;
    Scenes scenes(planOfFile(test::writeResidualChain(folder.path(), 400)));
    const ScenePointer closed = scenes.kept({});
    const QString handle = openable(*closed)[20];
    const int item = closed->itemOf(handle);
    const ScenePointer open = scenes.kept(with({handle}));
    const QRectF before = closed->rects[std::size_t(item)], after = open->rects[std::size_t(item)];
    QCOMPARE(after.top(), before.top());
    const double grown = after.height() - before.height();
    QVERIFY(grown > 60);
    int moved = 0;
    for (std::size_t i = 0; i < closed->items.size(); ++i) {
      if (int(i) == item || closed->items[i].open) continue;
      const bool below = closed->rects[i].top() >= before.bottom();
      moved += below ? 1 : 0;
      QCOMPARE(open->rects[i], closed->rects[i].translated(0, below ? grown : 0));
    }
    QVERIFY(moved > 50);
    QCOMPARE(problem(*open), QString());
  }

  void theCanvasLaysOutWhatIsInsideAlone() {
    const QTemporaryDir folder;
    const auto plan = planOfFile(test::writeResidualChain(folder.path(), 4 * int(SceneMaker::kLarge)));
    QVERIFY(plan->fusedNodes.size() >= SceneMaker::kLarge);
    GraphView view;
    view.resize(800, 600);
    view.setCover(plan);
    QVERIFY(view.waitForLayout(test::kPatienceMs));
    const auto fused = std::find_if(plan->fusedNodes.begin() + 1000, plan->fusedNodes.end(),
                                    [](const FusedNode& node) { return node.nodes.size() > 1; });
    const QString handle = QString::fromStdString(handleOf(*fused));
    const QString inner = QString::fromStdString(plan->graph().node(fused->nodes.back()).name);
    view.select({handle});
    const std::size_t before = view.levelsLaidOut();
    const int boxes = view.boxCount();
    const QRect closed = view.itemRect(handle);
    view.toggle(handle);
    QVERIFY(view.waitForLayout(test::kPatienceMs));
    QCOMPARE(view.levelsLaidOut(), before + 1);
    QCOMPARE(view.boxCount(), boxes + int(fused->nodes.size()) - 1);
    QCOMPARE(view.itemRect(handle).topLeft().y(), closed.y());
    QVERIFY(view.itemRect(handle).contains(view.itemRect(inner)));
    QCOMPARE(view.search(inner), 1);
    view.toggle(handle);
    QVERIFY(view.waitForLayout(test::kPatienceMs));
    QCOMPARE(view.levelsLaidOut(), before + 1);
    QCOMPARE(view.boxCount(), boxes);
    QCOMPARE(view.itemRect(inner), view.itemRect(handle));
  }

  void aValueThatGetsManyReadersIsDrawnAsStubsAgain() {
    // `a` is read by eight fused nodes, of which one reads it in two nodes: by one more when that is open.
    const QTemporaryDir folder;
    std::string text =
        "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1,64] x) => (float[1,64] y) {\na = Softmax(x)\n";
    for (int i = 0; i < 7; ++i) text += "s" + std::to_string(i) + " = Softmax(a)\n";
    text += "r = Relu(a)\nlast = Add(r, a)\nsum = Sum(last";
    for (int i = 0; i < 7; ++i) text += ", s" + std::to_string(i);
    const QString path = folder.filePath("readers.onnx");
    test::writeModel(path, (text + ")\ny = Softmax(sum)\n}").c_str());
    Scenes scenes(planOfFile(path));
    const QStringList handles = openable(*scenes.kept({}));
    const auto stubs = [](const CanvasScene& scene) {
      int count = 0;
      for (const CanvasItem& item : scene.items) count += int(item.stubs.size());
      return count;
    };
    bool changed = false;
    for (const QString& handle : handles) {
      const ScenePointer open = scenes.kept(with({handle}));
      changed = changed || stubs(*open) != stubs(*scenes.kept({}));
      QCOMPARE(told(*open), told(scenes.anew(with({handle}))));
      QVERIFY2(problem(*open).isEmpty(), qPrintable(problem(*open)));
    }
    QVERIFY(changed);
  }

 private:
  static void samples() {
    QTest::addColumn<QString>("sample");
    for (const char* sample : {"squeezenet1_1", "bert_tiny", "moe_dense", "fp16_overflow", "tiny_resnet_dynbatch"})
      QTest::newRow(sample) << sample;
  }
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::OpenedSceneTest, 9)
#include "opened_scene_test.moc"
