#include <QAction>
#include <QFile>
#include <QMenu>
#include <QTemporaryDir>
#include <QtTest>

#include "onnxlib/onnx_text.h"
#include "planning/fused_node_facts.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

using namespace fusescope;

namespace {

constexpr int kOpenMs = 60'000;

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
    const auto bytes = onnxlib::onnxTextToBytes(kBranches);
    QVERIFY2(bytes.ok(), bytes.ok() ? "" : bytes.error().text().c_str());
    QFile file(m_folder.filePath("branches.onnx"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes.value().data(), qint64(bytes.value().size()));
    file.close();
    m_window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
    m_window->resize(1200, 900);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    m_window->document().open(file.fileName());
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
    QVERIFY2(m_window->inspector().text().contains("Relu"), qPrintable(m_window->inspector().text()));
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
    QCOMPARE(canvas.boxCount(), 4);  // with x, flag and y
    QCOMPARE(canvas.search("softmax"), 0);
    canvas.expand("choose");
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QCOMPARE(canvas.search("softmax"), 1);
  }

 private:
  DockContext context() {
    return {m_window->document(), m_window->selection(), m_window->jobs(), m_window->runs(), m_window->controller(),
            []() -> const Theme& { return Theme::dark(); }};
  }
  QTemporaryDir m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(BodiesTest, 5)
#include "bodies_test.moc"
