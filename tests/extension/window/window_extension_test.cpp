// A dock, a colour mode, a kind of containers and an action, added by one file or entry and one line each (see
// CMakeLists.txt): every part of the window that knows the others knows them.
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QTest>
#include <QTextBrowser>
#include <fstream>

#include "tests/gui/gui_support.h"
#include "ui/canvas/color_mode.h"
#include "ui/canvas/container_kinds.h"
#include "ui/canvas/graph_view.h"
#include "ui/dialogs/goto_dialog.h"
#include "ui/dialogs/keys_dialog.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

std::string textOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

QString labelText(const QWidget& widget) {
  return widget.findChild<QLabel*>()->text();
}

}  // namespace

class WindowExtensionTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
    m_window->resize(1200, 800);
    m_window->show();
  }
  void cleanupTestCase() { m_window.reset(); }

  void takesOneLineOfEachList() {
    for (const char* list : {"ui/docks/docks.inc", "ui/canvas/color_modes.inc", "ui/canvas/container_kinds.inc",
                             "ui/window/actions.inc"}) {
      const std::string before = textOf(std::string(FUSESCOPE_SOURCE_DIR "/") + list);
      const std::string after = textOf(std::string(FUSESCOPE_LISTS "/") + list);
      QVERIFY2(!before.empty() && after.rfind(before, 0) == 0, list);
      const std::string added = after.substr(before.size());
      QCOMPARE(std::count(added.begin(), added.end(), '\n'), 1);
    }
  }

  void anActionIsInMenuPaletteKeysAndSaysWhyNot() {
    QAction* action = m_window->actions().find("added");
    QVERIFY(action != nullptr);
    QVERIFY(!action->isEnabled());
    QCOMPARE(action->toolTip(), QStringLiteral("Open a model first."));
    QVERIFY(m_window->actions().menu("&Help")->actions().contains(action));

    GotoDialog palette(m_window->context(), m_window->actions().all());
    palette.setText("count the nodes");
    QCOMPARE(palette.resultCount(), 1);
    const QListWidgetItem* offered = palette.findChild<QListWidget*>()->item(0);
    QVERIFY(offered->text().contains("Open a model first."));
    QVERIFY((offered->flags() & Qt::ItemIsEnabled) == 0);

    KeysDialog keys(m_window->actions().all(), GraphView::keyHelp());
    const QString help = keys.findChild<QTextBrowser*>()->toPlainText();
    QVERIFY(help.contains("Count the nodes") && help.contains("Ctrl+Shift+N"));
  }

  void aHiddenDockDoesNothingUntilItIsShownOrRead() {
    QWidget* added = m_window->findChild<QWidget*>("added");
    QVERIFY(added != nullptr && m_window->dockNames().contains("Added"));
    QCOMPARE(added->property("renewed").toInt(), 0);
    m_window->openFile(test::samplePath("bert_tiny"));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, 20'000);
    QVERIFY(m_window->canvas().waitForLayout(20'000));
    QVERIFY(added->visibleRegion().isEmpty());
    QCOMPARE(added->property("renewed").toInt(), 0);
    QVERIFY(m_window->showDock("added"));
    QTRY_COMPARE(added->property("renewed").toInt(), 1);
    QVERIFY2(labelText(*added).endsWith(" nodes"), qPrintable(labelText(*added)));
    m_window->showDock("Layers");
    QTRY_VERIFY(added->visibleRegion().isEmpty());
    m_window->setTheme(ThemeKind::Light);
    QCoreApplication::processEvents();
    QCOMPARE(added->property("renewed").toInt(), 1);
    m_window->showDock("Added");
    QTRY_COMPARE(added->property("renewed").toInt(), 2);
  }

  void theActionActsFromThePalette() {
    GotoDialog palette(m_window->context(), m_window->actions().all());
    palette.setText("count the nodes");
    QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Return);
    QCOMPARE(m_window->property("counted").toUInt(), uint(m_window->document().snapshot()->graph().nodeCount()));
  }

  void aColourModeIsInTheToolBarAndTheLegend() {
    QComboBox* chooser = nullptr;
    for (QComboBox* box : m_window->findChildren<QComboBox*>())
      if (box->findText("size") >= 0 && box->findText("precision") >= 0) chooser = box;
    QVERIFY(chooser != nullptr);
    chooser->setCurrentIndex(chooser->findText("size"));
    QCOMPARE(std::string(m_window->canvas().colorMode().name), std::string("size"));
    bool legend = false;
    for (const QWidget* widget : m_window->canvas().findChildren<QWidget*>())
      legend = legend || (widget->accessibleName() == "Legend: colour by nodes" &&
                          widget->accessibleDescription().contains("several nodes"));
    QVERIFY(legend);
  }

  void aKindOfContainersIsDrawnOpenedAndKept() {
    GraphView& canvas = m_window->canvas();
    const auto& fusedNodes = m_window->document().snapshot()->plan->fusedNodes;
    const auto fused = std::find_if(fusedNodes.begin(), fusedNodes.end(),
                                    [](const FusedNode& node) { return node.nodes.size() == 3; });
    QVERIFY(fused != fusedNodes.end());
    const QString name = QString::fromStdString(fused->name), rest = "rest of " + name;
    const auto rectOf = [&](std::size_t node) {
      return canvas.itemRect(QString::fromStdString(canvas.cover()->graph().node(fused->nodes[node]).name));
    };
    QCOMPARE(canvas.itemRect(rest), canvas.itemRect(name));  // what is not drawn has no box of its own
    canvas.expand(name);
    QVERIFY(canvas.waitForLayout(20'000));
    QVERIFY(canvas.itemRect(rest).contains(rectOf(1)) && canvas.itemRect(rest).contains(rectOf(2)));
    QVERIFY(!canvas.itemRect(rest).intersects(rectOf(0)));
    QVERIFY(canvas.isOpen(rest));
    canvas.collapse(rest);
    QVERIFY(canvas.waitForLayout(20'000));
    QCOMPARE(rectOf(1), canvas.itemRect(rest));
    QCOMPARE(rectOf(2), canvas.itemRect(rest));
    const auto kind = std::find_if(containerKinds().begin(), containerKinds().end(),
                                   [](const ContainerKind* known) { return known->turnedKey == "closed_rests"; });
    QVERIFY(kind != containerKinds().end());
    QCOMPARE(canvas.view().open.turned(**kind), QSet<QString>{rest});  // what a session keeps
  }

 private:
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::WindowExtensionTest, 6)
#include "window_extension_test.moc"
