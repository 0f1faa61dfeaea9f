#include <QMenu>
#include <QtTest>
#include <algorithm>
#include <map>
#include <set>

#include "planning/read_back/read_back_plan.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/canvas_colors.h"
#include "ui/dialogs/goto_dialog.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

using namespace fusescope;

namespace {

constexpr int kOpenMs = 60'000;
const QSize kLarge(1440, 900), kSmall(1024, 700);
const QString kRun = QStringLiteral("module:m.encoder.layer.0…1");
const QString kCopy = QStringLiteral("module:m.encoder.layer.1");

CanvasScene atRest(const PlanSnapshot& snapshot, const QSizeF& view) {
  const CanvasFonts fonts;
  const OpenState open = initialStates(CoverParts(snapshot.cover, fonts, snapshot.modules), view).back();
  return buildCanvas(*snapshot.cover, open, fonts, snapshot.modules);
}

}  // namespace

/// Blocks of a network: what is open at rest, runs of equal ones, and what becomes of what is hidden in them.
class BlocksTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = kLarge});
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void asMuchIsOpenAtRestAsIsLegible_data() {
    QTest::addColumn<QString>("network");
    for (const char* network : {"bert_tiny", "moe_dense", "squeezenet1_1", "tiny_resnet_dynbatch", "fp16_overflow"})
      QTest::newRow(network) << network;
  }
  void asMuchIsOpenAtRestAsIsLegible() {
    QFETCH(QString, network);
    const auto snapshot = test::planSample(network);
    std::size_t boxes = 0;
    for (const QSize& view : {kSmall, kLarge}) {
      const CanvasScene scene = atRest(*snapshot, view);
      double area = 0;
      for (const CanvasItem& item : scene.items)
        if (item.isBox()) area += item.size.width() * item.size.height();
      const double legible = 9.0 / metrics::kTitlePixels;
      QVERIFY2(area <= 1.5 * view.width() * view.height() / (legible * legible), qPrintable(network));
      const CanvasFonts fonts;
      const CoverParts parts(snapshot->cover, fonts, snapshot->modules);
      QVERIFY(initialStates(parts, view) == initialStates(parts, view));
      QVERIFY2(std::size_t(scene.boxes) >= boxes, "a larger view shows at least as much");
      boxes = std::size_t(scene.boxes);
    }
    if (snapshot->cover->fusedNodes.size() <= 20)
      QVERIFY2(boxes >= snapshot->cover->fusedNodes.size(), "a small network shows all its fused nodes");
  }

  void allOfAnOpenedNetworkIsInViewAndLegible_data() { asMuchIsOpenAtRestAsIsLegible_data(); }
  void allOfAnOpenedNetworkIsInViewAndLegible() {
    QFETCH(QString, network);
    QVERIFY(test::openSample(*m_window, network));
    const GraphView& canvas = m_window->canvas();
    QVERIFY2(canvas.zoom() >= Camera::kLegible, qPrintable(QString::number(canvas.zoom())));
    const auto snapshot = m_window->document().snapshot();
    for (const ValueId output : snapshot->graph().outputs()) {
      const QString name = qs(snapshot->graph().value(output).name);
      QVERIFY2(canvas.rect().contains(canvas.itemRect(name)), qPrintable(name));
    }
  }

  void everyNodeIsInTheBlocksThatTheTreeSays() {
    for (const char* network : {"bert_tiny", "moe_dense"}) {
      const auto snapshot = test::planSample(network);
      const CanvasFonts fonts;
      const CanvasScene closed = buildCanvas(*snapshot->cover, {}, fonts, snapshot->modules);
      const CanvasScene open = buildCanvas(*snapshot->cover, allOpen(closed), fonts, snapshot->modules);
      QVERIFY(closed.boxes < open.boxes);
      for (const CoverBlock& block : snapshot->blocks->all()) {
        const int item = open.itemOf(qs(snapshot->blocks->handleOf(*snapshot->cover, block)));
        QVERIFY(item >= 0 && open.items[std::size_t(item)].open);
        for (const NodeId node : block.nodes)
          QVERIFY(open.isInside(open.itemOf(qs(snapshot->graph().node(node).name)), item));
        if (block.parent < 0) continue;
        const CoverBlock& around = snapshot->blocks->all()[std::size_t(block.parent)];
        QVERIFY(open.isInside(item, open.itemOf(qs(snapshot->blocks->handleOf(*snapshot->cover, around)))));
      }
    }
  }

  void aClosedBlockIsAsCertainAsTheLeastCertainKernelInIt() {
    const auto planned = test::planSample(QStringLiteral("bert_tiny"));
    const Plan& plan = *planned->plan;
    // In the first layer one kernel is guessed, in the second one is derived; everything else is named.
    std::map<int, Certainty> uncertain;
    for (const CoverBlock& block : planned->blocks->all()) {
      const std::string& path = planned->blocks->moduleOf(block).path;
      if (path == "m.encoder.layer.0") uncertain[block.kernels.front()] = Certainty::Guessed;
      if (path == "m.encoder.layer.1") uncertain[block.kernels.front()] = Certainty::Derived;
    }
    QCOMPARE(uncertain.size(), std::size_t(2));
    ReadBack told{.compiler = {.name = "othercompiler", .version = "1.2", .environment = "python3"}};
    for (const FusedNode& fused : plan.fusedNodes) {
      ReadBackKernel& kernel = told.kernels.emplace_back(ReadBackKernel{.name = fused.name, .kind = fused.kind});
      const auto found = uncertain.find(static_cast<int>(fused.id.index));
      for (const NodeId node : fused.nodes)
        kernel.nodes.emplace_back(node, found == uncertain.end() ? Certainty::Named : found->second);
    }
    const auto made = readBackPlan(planned->plan, told);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().text().c_str());
    const CanvasScene closed = buildCanvas(*made.value(), {}, CanvasFonts(), planned->modules);
    const auto certaintyIn = [](const CanvasScene& scene, const char* handle) {
      const int found = scene.itemOf(QString::fromUtf8(handle));
      return found < 0 ? std::optional<Certainty>() : scene.items[std::size_t(found)].certainty;
    };
    QCOMPARE(certaintyIn(closed, "module:m.encoder.layer.0…1"), std::optional(Certainty::Guessed));
    OpenState open;
    for (const CanvasItem& item : closed.items)
      if (item.block != nullptr && item.block->copies > 0) open.set(*item.container, item.handle(), true);
    const auto scene =
        std::make_shared<const CanvasScene>(buildCanvas(*made.value(), open, CanvasFonts(), planned->modules));
    QCOMPARE(certaintyIn(*scene, "module:m.encoder.layer.0"), std::optional(Certainty::Guessed));
    QCOMPARE(certaintyIn(*scene, "module:m.encoder.layer.1"), std::optional(Certainty::Derived));
    for (const CanvasItem& item : scene->items)
      if (item.isOpenBlock()) QVERIFY(!item.isUncertain() && !item.isGuessed());
    const CanvasColors colors(scene, *findColorMode("certainty"), {}, Theme::dark());
    QStringList words;
    for (const LegendLine& line : colors.legend())
      if (line.boxes > 0) words << line.swatch.text;
    QVERIFY2(words.contains("derived") && words.contains("guessed"), qPrintable(words.join(' ')));
    QVERIFY2(!words.contains("known from our own plan"), qPrintable(words.join(' ')));
  }

  void aRunOpensToItsCopiesAndAModuleToItsKernels() {
    closeAll();
    GraphView& canvas = m_window->canvas();
    QVERIFY(!canvas.itemRect(kRun).isEmpty());
    QCOMPARE(canvas.itemRect(kCopy), canvas.itemRect(kRun));  // it stands for the copies in it
    canvas.select({kRun});
    QVERIFY2(canvas.accessibleDescription().contains("×2"), qPrintable(canvas.accessibleDescription()));
    doubleClick(kRun);
    const QRect copy = canvas.itemRect(kCopy);
    QVERIFY(copy != canvas.itemRect(kRun) && canvas.itemRect(kRun).contains(copy));
    doubleClick(kCopy);
    QVERIFY(canvas.itemRect(kCopy).contains(canvas.itemRect("module:m.encoder.layer.1.attention")));
    QVERIFY(!canvas.itemRect("module:m.encoder.layer.0.attention").isEmpty());  // equal copies: it is in a closed one
    QCOMPARE(canvas.itemRect("module:m.encoder.layer.0.attention"), canvas.itemRect("module:m.encoder.layer.0"));
  }

  void whatIsSelectedInTheOutlineIsSeen() {
    closeAll();
    GraphView& canvas = m_window->canvas();
    OutlineDock& outline = m_window->dock<OutlineDock>();
    const std::string name = nodeIn("m.encoder.layer.1.attention.self");
    const NodeId node = *m_window->document().snapshot()->graph().findNode(name);
    const QModelIndex row = outline.model().indexOf(node);
    QStringList words;  // segment, block …, fused node, node
    for (QModelIndex at = row; at.isValid(); at = at.parent()) words.prepend(at.data().toString());
    QVERIFY2(words.contains("layer.0…1  ×2") && words.contains("layer.1"), qPrintable(words.join(" / ")));
    QCOMPARE(canvas.itemRect(qs(name)), canvas.itemRect(kRun));
    outline.view().setCurrentIndex(row);
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY(canvas.isOpen(kCopy));
    QVERIFY(canvas.itemRect(kCopy).contains(canvas.itemRect(qs(name))));
    QVERIFY(canvas.rect().contains(canvas.itemRect(qs(name)).center()));
    QVERIFY2(!canvas.isOpen("module:m.encoder.layer.0"), "no more is opened than is needed");
  }

  void aBlockIsSelectedWithAllItsNodes() {
    openModel("bert_tiny");
    OutlineDock& outline = m_window->dock<OutlineDock>();
    outline.view().setCurrentIndex(outline.model().indexOfBlock(kCopy.toStdString()));
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    const Module& module = snapshot.modules->modules[std::size_t(snapshot.modules->find("m.encoder.layer.1"))];
    QVERIFY(m_window->selection().nodes() == module.nodes);
    QCOMPARE(m_window->canvas().selection(), QStringList(kCopy));
    QVERIFY2(m_window->dock<InspectorDock>().text().contains("m.encoder.layer.1"),
             qPrintable(m_window->dock<InspectorDock>().text()));
    outline.searchBox().setText("layer.0.attention.self");
    QTest::keyClick(&outline.searchBox(), Qt::Key_Return);
    QCOMPARE(m_window->canvas().selection(), QStringList("module:m.encoder.layer.0.attention.self"));
  }

  void whatIsOpenStaysAndAllIsClosedToTheStateAtRest() {
    openModel("bert_tiny");
    GraphView& canvas = m_window->canvas();
    const OpenState rest = canvas.view().open;
    canvas.expandAll();
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY(canvas.isOpen(kCopy));
    QVERIFY(!(canvas.view().open == rest));
    m_window->document().pin({nodeIn("m.embeddings")}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY2(canvas.isOpen(kCopy), "another plan leaves open what is open");
    canvas.collapseAll();
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY(canvas.view().open == rest);
  }

  void aSessionKeepsWhatIsOpen() {
    const QTemporaryDir folder;
    const QString file = folder.filePath("s.fsession");
    closeAll();
    m_window->canvas().expand(kRun);
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    const OpenState open = m_window->canvas().view().open;
    QVERIFY(m_window->session().save(file).ok());
    m_window = test::shownWindow({.size = kLarge});
    m_window->session().open(file);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, kOpenMs);
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    QVERIFY(m_window->canvas().view().open == open);
    QVERIFY(m_window->canvas().isOpen(kRun));
    QVERIFY(!m_window->canvas().isOpen(kCopy));
  }

  void aPinInOneCopyIsMarked() {
    openModel("bert_tiny");
    GraphView& canvas = m_window->canvas();
    canvas.select({kRun});
    QVERIFY(!canvas.accessibleDescription().contains("≠"));
    const std::string name = nodeIn("m.encoder.layer.1.output.dense");
    m_window->document().pin({name}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(canvas.waitForLayout(kOpenMs));
    canvas.select({kRun});
    QVERIFY2(canvas.accessibleDescription().contains("≠ 1 of 2 differ"), qPrintable(canvas.accessibleDescription()));
    canvas.select({kCopy});
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY2(canvas.accessibleDescription().startsWith("≠ layer.1"), qPrintable(canvas.accessibleDescription()));
    QVERIFY2(canvas.accessibleDescription().contains(qs(name) + ": pinned to f16"),
             qPrintable(canvas.accessibleDescription()));
    canvas.select({"module:m.encoder.layer.0"});
    QVERIFY(!canvas.accessibleDescription().contains("≠"));
  }

  void aModuleIsPinnedByItsPattern() {
    openModel("bert_tiny");
    const auto snapshot = m_window->document().snapshot();
    m_window->selection().set(snapshot->nodesNamed("module:m.encoder.layer.1.output"));
    QMenu menu;
    fillNodeMenu(menu, test::contextOf(*m_window), m_window->selection().nodes());
    QMenu* pins = nullptr;
    for (QMenu* inner : menu.findChildren<QMenu*>())
      if (inner->title() == "Pin module m.encoder.layer.1.output to") pins = inner;
    QVERIFY(pins != nullptr);
    QTRY_VERIFY(pins->isEnabled());
    for (QAction* type : pins->actions())
      if (type->text() == "f16") type->trigger();
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().size(), std::size_t(1));
    QCOMPARE(m_window->document().directives().front().pattern, std::string("module:m.encoder.layer.1.output"));
    for (const NodeId node : snapshot->nodesNamed("module:m.encoder.layer.1.output"))
      QCOMPARE(m_window->document().snapshot()->grantOf(node)->asked, DataType::F16);
  }

  void aClosedBlockTakesWhatItsKernelsTake() {
    const ShownTime sum = sumOf({{TimeKind::Measured, 0.5}, {TimeKind::Fitted, 1}, {}});
    QCOMPARE(sum.kind, TimeKind::Fitted);
    QCOMPARE(timeText(sum), QStringLiteral("~ 1.50 ms or more"));
    QCOMPARE(sumOf({{}, {}}).kind, TimeKind::Unknown);
    QCOMPARE(timeText(sumOf({{TimeKind::Measured, 0.5}, {TimeKind::Measured, 1}})), QStringLiteral("1.50 ms"));
  }

 private:
  void openModel(const QString& network) {
    QVERIFY(test::openSample(*m_window, network));
    QVERIFY(m_window->document().snapshot() != nullptr);
  }
  /// bert_tiny with all its blocks closed.
  void closeAll() {
    openModel("bert_tiny");
    GraphView& canvas = m_window->canvas();
    for (const CoverBlock& block : m_window->document().snapshot()->blocks->all())
      canvas.collapse(
          qs(m_window->document().snapshot()->blocks->handleOf(*m_window->document().snapshot()->cover, block)));
    QVERIFY(canvas.waitForLayout(kOpenMs));
  }
  void doubleClick(const QString& name) {
    GraphView& canvas = m_window->canvas();
    canvas.select({name});
    canvas.centreSelection();
    const QRect box = canvas.itemRect(name);
    QTest::mouseDClick(&canvas, Qt::LeftButton, {}, QPoint(box.center().x(), box.top() + 10));
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY2(canvas.isOpen(name), qPrintable(name));
  }
  /// The first node of a module.
  std::string nodeIn(const std::string& path) const {
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    const Module& module = snapshot.modules->modules[std::size_t(snapshot.modules->find(path))];
    return snapshot.graph().node(module.nodes.front()).name;
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(BlocksTest, 14)
#include "blocks_test.moc"
