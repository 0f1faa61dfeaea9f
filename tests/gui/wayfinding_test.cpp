#include <QToolButton>

#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/document/qt_text.h"
#include "ui/document/selection_history.h"
#include "ui/window/breadcrumb.h"

namespace fusescope::test {

/// Where the selection is, and back to where it was.
class WayfindingTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<MainWindow> m_window;
  NodeId node(const char* name) const { return *m_window->document().snapshot()->graph().findNode(name); }
  Breadcrumb& crumbs() const { return *m_window->findChild<Breadcrumb*>(); }

 private slots:
  void init() {
    catchWarnings();
    m_window = activeWindow();
    QVERIFY(m_window != nullptr);
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(takeWarnings(), QStringList());
  }

  void backAndForwardWalkThroughWhatWasSelected() {
    QVERIFY(openSample(*m_window, "fp16_overflow"));
    const NodeId first = node("node_linear"), second = node("node_layer_norm"), third = node("node_linear_2");
    Selection& selection = m_window->selection();
    QVERIFY(!m_window->actions().find("back")->isEnabled());
    for (const NodeId each : {first, second, third}) selection.set({each});
    QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(selection.current(), second);
    QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(selection.current(), first);
    QVERIFY(!m_window->actions().find("back")->isEnabled());
    QTest::keyClick(m_window.get(), Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(selection.current(), second);
    selection.clear();  // nothing is no place to come back to
    selection.set({first});
    QVERIFY(!m_window->actions().find("forward")->isEnabled());
    QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(selection.current(), second);
  }

  void anotherModelBeginsAnew() {
    QVERIFY(openSample(*m_window, "fp16_overflow"));
    m_window->selection().set({node("node_linear")});
    m_window->selection().set({node("node_linear_2")});
    QVERIFY(m_window->history().canGoBack());
    QVERIFY(openSample(*m_window, "squeezenet1_1"));
    QVERIFY(!m_window->history().canGoBack());
    QVERIFY(crumbs().steps().isEmpty());
  }

  // A plan in int8 has a graph of its own, with quantisers that the file does not have.
  void whatIsSelectedIsOfTheGraphThatIsShown() {
    QVERIFY(openInCodes(*m_window));
    const auto codes = m_window->document().snapshot();
    const auto& order = codes->graph().order();
    const auto isQuantiser = [&](NodeId node) { return codes->graph().node(node).is("QuantizeLinear"); };
    const NodeId quantiser = *std::ranges::find_if(order, isQuantiser);
    const NodeId stays =
        *std::ranges::find_if(order, [&](NodeId node) { return codes->graph().node(node).is("Relu"); });
    Selection& selection = m_window->selection();
    selection.set({stays});
    selection.set({quantiser});
    selection.set({quantiser, stays});
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().snapshot() != codes);
    QCOMPARE(selection.nodes(), std::vector{node(codes->graph().node(stays).name.c_str())});
    QVERIFY2(!m_window->history().canGoBack(), "what was selected before is no more, or is selected still");
    QCOMPARE(crumbs().steps().last(), qs(codes->graph().node(stays).name));
    // Nothing of what was selected is left.
    m_window->document().undoStack().redo();
    QTRY_VERIFY(!m_window->document().planning());
    const auto again = m_window->document().snapshot();
    selection.set({*again->graph().findNode(codes->graph().node(quantiser).name)});
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(selection.nodes().empty() && crumbs().steps().isEmpty());
    QVERIFY(!m_window->actions().find("extract")->isEnabled());
  }

  void theWayInIsSegmentBlocksKernelAndNode() {
    QVERIFY(openSample(*m_window, "squeezenet1_1"));
    const auto snapshot = m_window->document().snapshot();
    const FusedNode* fused = snapshot->fusedOf(node("node_Conv_8"));
    QCOMPARE(fused->nodes.size(), std::size_t(2));
    m_window->selection().set({fused->nodes.front()});
    const QStringList steps = crumbs().steps();
    QVERIFY2(steps.size() >= 3, qPrintable(steps.join(" > ")));
    QCOMPARE(steps.last(), QString("node_Conv_8"));
    QCOMPARE(steps[steps.size() - 2], qs(fused->kind));
    const QList<QToolButton*> buttons = crumbs().findChildren<QToolButton*>();
    QTest::mouseClick(buttons[buttons.size() - 2], Qt::LeftButton);
    QCOMPARE(m_window->selection().nodes(), fused->nodes);
    QCOMPARE(crumbs().steps().last(), qs(fused->kind));
  }
};

}  // namespace fusescope::test

FUSESCOPE_GUI_TEST(fusescope::test::WayfindingTest, 4)
#include "wayfinding_test.moc"
