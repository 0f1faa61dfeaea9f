#include "ui/window/edit_preview.h"

#include <QTemporaryDir>

#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/document/qt_text.h"
#include "ui/window/node_menu.h"

namespace fusescope::test {

/// What the menu of a node says of an entry before it is chosen.
class EditPreviewTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<MainWindow> m_window;

  static QMenu* submenu(const QMenu& menu, const QString& title) {
    for (QAction* action : menu.actions())
      if (action->text() == title) return action->menu();
    return nullptr;
  }
  /// Highlights entries by keyboard until `text` is the one.
  static void highlight(QMenu& menu, const QString& text) {
    for (int i = 0; i < menu.actions().size(); ++i) {
      if (menu.activeAction() != nullptr && menu.activeAction()->text() == text) return;
      QTest::keyClick(&menu, Qt::Key_Down);
    }
  }
  NodeId firstConv() const {
    const auto snapshot = m_window->document().snapshot();
    for (const FusedNode& fused : snapshot->cover->fusedNodes)
      if (fused.nodes.size() == 2) return fused.nodes.front();
    return {};
  }

 private slots:
  /// The result of a Celu can be stored in a type in which the target does not run a Celu.
  void anOutputTypeIsOfferedWhereThePinIsNot() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("celu.onnx");
    writeModel(path, R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[3, 4] x) => (float[3, 4] y) {
  [celu] y = Celu (x)
})");
    m_window->document().open(path);
    QTRY_VERIFY(m_window->document().snapshot() && m_window->document().snapshot()->graph().findNode("celu"));
    m_window->document().setTarget("tensorrt-rtx");
    QTRY_COMPARE(m_window->document().snapshot()->plan->target.name, std::string("tensorrt-rtx"));
    const NodeId node = *m_window->document().snapshot()->graph().findNode("celu");
    QMenu menu;
    fillNodeMenu(menu, contextOf(*m_window), {node});
    const auto entry = [&](const char* title) -> QAction* {
      for (QAction* action : submenu(menu, title)->actions())
        if (action->text() == "f16") return action;
      return nullptr;
    };
    QVERIFY(!entry("Pin to (prefer)")->isEnabled());
    QVERIFY2(entry("Output type")->isEnabled(), qPrintable(entry("Output type")->toolTip()));
    entry("Output type")->trigger();
    QTRY_COMPARE(m_window->document().directives().size(), std::size_t{1});
    QCOMPARE(m_window->document().directives().front().kind, DirectiveKind::PinOutput);
  }

  void init() {
    m_window = shownWindow();
    QVERIFY(openSample(*m_window, "squeezenet1_1"));
  }
  void cleanup() { m_window.reset(); }

  void aPinIsToldBeforeItIsChosen() {
    const auto before = m_window->document().snapshot();
    m_window->selection().set({firstConv()});
    QMenu menu;
    fillNodeMenu(menu, contextOf(*m_window), m_window->selection().nodes());
    QMenu* types = submenu(menu, "Pin to (prefer)");
    QVERIFY(types != nullptr);
    auto* preview = types->findChild<EditPreview*>();
    QVERIFY(preview != nullptr);
    types->popup({10, 10});
    highlight(*types, "f16");
    QTRY_VERIFY2(preview->text().startsWith("f16: ") && preview->text().contains("conversion"),
                 qPrintable(preview->text()));
    QVERIFY2(preview->text().contains("in another type"), qPrintable(preview->text()));
    highlight(*types, "f32");
    QTRY_COMPARE(preview->text(), QString("f32: Nothing in the plan changes."));
    types->close();
    QVERIFY(m_window->document().directives().empty());
    QCOMPARE(m_window->document().snapshot(), before);
    QCOMPARE(m_window->document().undoStack().count(), 0);
  }

  void aFusionThatWouldComeApartIsNamed() {
    m_window->selection().set({firstConv()});
    const auto snapshot = m_window->document().snapshot();
    const FusedNode* fused = snapshot->fusedOf(firstConv());
    const NodeId last = fused->nodes.back();
    QMenu menu;
    fillNodeMenu(menu, contextOf(*m_window), {last});
    auto* preview = menu.findChild<EditPreview*>(QString(), Qt::FindDirectChildrenOnly);
    QVERIFY(preview != nullptr);
    menu.popup({10, 10});
    highlight(menu, "Forbid this fusion");
    QTRY_VERIFY2(preview->text().contains("Split: " + qs(fused->name)), qPrintable(preview->text()));
    QVERIFY2(preview->text().contains("1 kernel more"), qPrintable(preview->text()));
    menu.close();
  }

  void whatCannotBeChosenSaysWhy() {
    m_window->selection().set({firstConv()});
    QMenu menu;
    fillNodeMenu(menu, contextOf(*m_window), m_window->selection().nodes());
    QMenu* types = submenu(menu, "Pin to (prefer)");
    auto* preview = types->findChild<EditPreview*>();
    QAction* int8 = types->actions()[3];
    QVERIFY(!int8->isEnabled());
    emit types->hovered(int8);
    QTRY_COMPARE(preview->text(), int8->data().toString());
    QVERIFY(!preview->text().isEmpty());
    // The preview is plain text; what it says is no HTML.
    int8->setToolTip(tipText("of a <lambda>"));
    int8->setData("of a <lambda>");
    emit types->hovered(int8);
    QTRY_COMPARE(preview->text(), QString("of a <lambda>"));
  }
};

}  // namespace fusescope::test

FUSESCOPE_GUI_TEST(fusescope::test::EditPreviewTest, 4)
#include "edit_preview_test.moc"
