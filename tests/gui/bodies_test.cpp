#include <QAction>
#include <QMenu>
#include <QRegularExpression>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>

#include "planning/fused_node_facts.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/dialogs/goto_dialog.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/inspector_text.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/docks/profile_dock.h"
#include "ui/docks/validation_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

using namespace fusescope;

namespace {

constexpr int kOpenMs = 60'000, kBuildMs = 180'000;

/// A network that is hardly more than an If; the branches read x of the network.
constexpr const char* kBranches = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4, 8] x, bool flag) => (float[4, 8] y) {
  [choose] y = If (flag) <
    then_branch = yes () => (float[4, 8] a) { [relu] r = Relu (x) [exp] a = Exp (r) },
    else_branch = no () => (float[4, 8] b) { [rows] b = Softmax <axis = 1> (x) }
  >
})";

}  // namespace

/// A body of control flow as a person meets it: opened in place, told about, and pinned by its path.
class BodiesTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void initTestCase() {
    const QString path = m_folder.filePath("branches.onnx");
    test::writeModel(path, kBranches);
    m_window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
    m_window->resize(1200, 900);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    m_window->document().open(path);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot(), kOpenMs);
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
  }
  void cleanupTestCase() { m_window.reset(); }

  void aNetworkThatIsAllControlFlowShowsWhatIsInIt() {
    const GraphView& canvas = m_window->canvas();
    QVERIFY(canvas.isOpen("choose"));
    const QRect whole = canvas.itemRect("choose");
    const QRect yes = canvas.itemRect("choose/then_branch"), no = canvas.itemRect("choose/else_branch");
    QVERIFY(whole.contains(yes) && whole.contains(no) && !yes.intersects(no));
    QVERIFY(yes.contains(canvas.itemRect("choose/relu")));
    QCOMPARE(canvas.itemRect("choose/relu"), canvas.itemRect("choose/exp"));  // one kernel
    QVERIFY(no.contains(canvas.itemRect("choose/rows")));
  }

  void aKernelInABodyOpensToo() {
    GraphView& canvas = m_window->canvas();
    canvas.expand("choose/relu");
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY(canvas.itemRect("choose/relu") != canvas.itemRect("choose/exp"));
    QVERIFY(canvas.itemRect("choose/then_branch").contains(canvas.itemRect("choose/exp")));
  }

  void aClickTellsAboutWhatIsInTheBody() {
    GraphView& canvas = m_window->canvas();
    m_window->showDock("Inspector");
    canvas.fit();
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, canvas.itemRect("choose/relu").center());
    QTRY_COMPARE(m_window->selection().inside(), std::string("choose/relu"));
    QCOMPARE(m_window->document().namesOf(m_window->selection().nodes()), std::vector<std::string>{"choose"});
    QVERIFY2(m_window->dock<InspectorDock>().text().contains("Relu"),
             qPrintable(m_window->dock<InspectorDock>().text()));
  }

  void itIsPinnedByItsPath() {
    QMenu menu;
    fillNodeMenu(menu, context(), m_window->selection().nodes());
    QAction* pin = nullptr;
    for (QAction* entry : menu.findChildren<QAction*>())
      if (entry->text() == "f16" && !pin) pin = entry;
    QVERIFY(pin && pin->isEnabled());
    pin->trigger();
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().size(), std::size_t(1));
    QCOMPARE(m_window->document().directives().front().pattern, std::string("choose/relu"));
    const auto inside = m_window->document().snapshot()->inside("choose/relu");
    QVERIFY(inside.has_value());
    QCOMPARE(inside->body->grantOf(inside->nodes.front())->granted, DataType::F16);
    QCOMPARE(m_window->selection().inside(), std::string("choose/relu"));  // still what is selected
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().directives().empty());
  }

  void aClosedOneIsABoxAgain() {
    GraphView& canvas = m_window->canvas();
    canvas.collapse("choose");
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QCOMPARE(canvas.boxCount(), 4);         // with x, flag and y
    QCOMPARE(canvas.search("softmax"), 1);  // in the box of its holder, which stands for it
    QCOMPARE(canvas.itemRect("choose/rows"), canvas.itemRect("choose"));
    canvas.expand("choose");
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QCOMPARE(canvas.search("softmax"), 1);
    QVERIFY(canvas.itemRect("choose/rows") != canvas.itemRect("choose"));
  }

  void aRowOfTheOutlineSelectsWhatIsInTheBody() {
    m_window->showDock("Outline");
    OutlineDock& outline = m_window->dock<OutlineDock>();
    m_window->selection().clear();
    const QModelIndex row = outline.model().indexOfInside("choose/rows");
    QVERIFY(row.isValid());
    outline.view().scrollTo(row);
    QTest::mouseClick(outline.view().viewport(), Qt::LeftButton, {}, outline.view().visualRect(row).center());
    QCOMPARE(m_window->selection().inside(), std::string("choose/rows"));
    QCOMPARE(m_window->canvas().selection(), QStringList("choose/rows"));
    // And the other way round: the row is the one of what is selected elsewhere.
    m_window->selection().set(m_window->selection().nodes(), nullptr, "choose/exp");
    QCOMPARE(outline.view().currentIndex().data(kNameRole).toString(), QStringLiteral("choose/exp"));
  }

  void theSearchOfTheOutlineFindsNamesInBodies() {
    QLineEdit& search = m_window->dock<OutlineDock>().searchBox();
    QTest::keyClicks(&search, "ROW");
    QTest::keyClick(&search, Qt::Key_Return);
    QCOMPARE(m_window->selection().inside(), std::string("choose/rows"));
    search.clear();
    QTest::keyClicks(&search, "choose/");
    QStringList found;
    for (int i = 0; i < 4; ++i) {
      QTest::keyClick(&search, Qt::Key_Return);
      found << QString::fromStdString(m_window->selection().inside());
    }
    QCOMPARE(found, QStringList({"choose/rows", "choose/relu", "choose/exp", "choose/rows"}));
    search.clear();
  }

  void theLayersTablePinsInBodies() {
    m_window->showDock("Layers");
    LayersDock& layers = m_window->dock<LayersDock>();
    const int row = layers.model().rowOf("choose/relu");
    QVERIFY(row >= 0);
    layers.view().scrollTo(layers.model().index(row, 0));
    QTest::mouseClick(layers.view().viewport(), Qt::LeftButton, {},
                      layers.view().visualRect(layers.model().index(row, 0)).center());
    QCOMPARE(m_window->selection().inside(), std::string("choose/relu"));
    layers.applyPin(row, {DataType::F16, Strictness::Obey});
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().front().pattern, std::string("choose/relu"));
    QCOMPARE(layers.model().index(layers.model().rowOf("choose/relu"), LayersModel::kPin).data().toString(),
             QStringLiteral("f16 (obey)"));
    QVERIFY2(m_window->dock<ValidationDock>().summary().contains("choose/relu"),
             qPrintable(m_window->dock<ValidationDock>().summary()));
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    layers.filterBox().setText("inside:choose");
    QCOMPARE(layers.model().rowCount(), 3);
    QVERIFY2(layers.totals().contains("not counted: in bodies 3 nodes"), qPrintable(layers.totals()));
    layers.filterBox().clear();
  }

  void aDecisionAboutABodyIsALinkIntoIt() {
    m_window->showDock("Validation");
    DecisionsModel& decisions = m_window->dock<ValidationDock>().model();
    decisions.setFilter(DecisionFilter::Verdicts);
    int row = -1;
    for (int i = 0; i < decisions.rowCount(); ++i)
      if (decisions.index(i, DecisionsModel::kSubject).data().toString() == "choose/rows") row = i;
    QVERIFY(row >= 0);
    m_window->selection().clear();
    QTableView* view = nullptr;
    for (QTableView* other : m_window->dock<ValidationDock>().findChildren<QTableView*>())
      if (other->model() == &decisions) view = other;
    QVERIFY(view);
    view->scrollTo(decisions.index(row, 0));
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(decisions.index(row, 1)).center());
    QCOMPARE(m_window->selection().inside(), std::string("choose/rows"));
  }

  void goToAnythingGoesIntoBodies() {
    m_window->selection().clear();
    auto* dialog = new GotoDialog(context(), {}, m_window.get());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
    dialog->setText("exp");
    QCOMPARE(dialog->resultCount(), 1);
    QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    QCOMPARE(m_window->selection().inside(), std::string("choose/exp"));
  }

  void theInspectorTriesWhatWouldHelpInABody() {
    m_window->showDock("Inspector");
    PlanOptions options = m_window->document().options();
    options.directives = {splitDirective("choose/relu")};
    m_window->document().edit("split", options);
    QTRY_VERIFY(!m_window->document().planning());
    m_window->selection().set({*m_window->document().model()->graph->findNode("choose")}, nullptr, "choose/exp");
    QTRY_VERIFY2(m_window->dock<InspectorDock>().text().contains("without “split after choose/relu”"),
                 qPrintable(m_window->dock<InspectorDock>().text()));
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
  }

  void layersOfBodiesStandUnderTheirHolders() {
    const QString path = m_folder.filePath("nested.onnx");
    test::writeModel(path, test::kNestedBodies);
    m_window->document().open(path);
    QTRY_VERIFY(m_window->document().snapshot() && m_window->document().snapshot()->graph().findNode("loop"));
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->runs().shown() && m_window->runs().shown()->time, qPrintable(m_window->controller().problem()));
    m_window->showDock("Profile");
    ProfileDock& profile = m_window->dock<ProfileDock>();
    QTRY_VERIFY(profile.model().rowCount() > 0);
    const auto* table = profile.findChild<QTableView*>();
    QStringList names;
    for (int row = 0; row < table->model()->rowCount(); ++row) names << table->model()->index(row, 0).data().toString();
    // The Loop, behind it the layers of its body; there the If, and behind that those of its branches.
    const int loop = names.indexOf("loop"), choose = names.indexOf("loop/choose"), more = names.indexOf("loop/more");
    QVERIFY2(loop >= 0 && choose > loop && more > loop, qPrintable(names.join(", ")));
    QVERIFY2(choose + 1 < names.size() && names[choose + 1].startsWith("loop/choose/"), qPrintable(names.join(", ")));
    const auto inLoop = names.filter(QRegularExpression("^loop/")).size();
    for (int row = loop + 1; row <= loop + inLoop; ++row)
      QVERIFY2(names[row].startsWith("loop/"), qPrintable(names.join(", ")));
  }

  void aSegmentSaysWhyItsNodesFallBack() {
    PlanOptions options = m_window->document().options();
    options.directives = {fallbackDirective("loop")};
    m_window->document().edit("fallback", options);
    QTRY_VERIFY(!m_window->document().planning());
    const auto snapshot = m_window->document().snapshot();
    const auto& segments = snapshot->cover->segments;
    const auto fallback = std::ranges::find(segments, SegmentKind::Fallback, &Segment::kind);
    QVERIFY(fallback != segments.end());
    const QString text =
        segmentText(*snapshot, *fallback, snapshot->segmentFacts[fallback->id.index].time, Theme::dark());
    QVERIFY2(text.contains("Why these nodes") && text.contains("falls back because a directive asks for it"),
             qPrintable(text));
    m_window->canvas().waitForLayout(kOpenMs);
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
  }

 private:
  DockContext context() { return test::contextOf(*m_window); }
  QTemporaryDir m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(BodiesTest, 13)
#include "bodies_test.moc"
