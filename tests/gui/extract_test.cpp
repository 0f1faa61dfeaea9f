// The selected nodes are cut out from the menu, and what was written is opened.
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/window/extract_action.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

namespace fusescope {

namespace {

const QString kMessage = QStringLiteral("extract");

}  // namespace

class ExtractTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void theSelectionBecomesANetwork() {
    const test::SessionFolder folder;
    auto window = folder.makeWindow();
    window->openFile(folder.model());
    QTRY_VERIFY(window->document().snapshot());
    QVERIFY(extractRefusal(*window).contains(QStringLiteral("Select a node")));
    const Graph& graph = window->document().snapshot()->graph();
    const NodeId first = graph.order()[0], second = graph.order()[1];
    window->selection().set({first, second});
    QCOMPARE(extractRefusal(*window), QString());
    const QString path = m_folder.filePath(QStringLiteral("part.onnx"));
    extractSelected(*window, path);
    QTRY_VERIFY_WITH_TIMEOUT(!window->messages().textOf(kMessage).isEmpty(), test::kPatienceMs);
    QVERIFY2(window->messages().textOf(kMessage).contains(QStringLiteral("to the bit")),
             qPrintable(window->messages().textOf(kMessage)));
    QVERIFY(QFile::exists(path));
    QVERIFY(QFile::exists(m_folder.filePath(QStringLiteral("part.npz"))));
    window->openFile(path);
    QTRY_VERIFY(window->document().path() == path);
    QTRY_VERIFY(window->document().snapshot());
    QVERIFY(window->document().snapshot()->graph().nodeCount() >= 2);
  }

  void theMenuOffersIt() {
    const test::SessionFolder folder;
    auto window = folder.makeWindow();
    window->openFile(folder.model());
    QTRY_VERIFY(window->document().snapshot());
    const NodeId first = window->document().snapshot()->graph().order()[0];
    window->selection().set({first});
    QMenu menu(window.get());
    fillNodeMenu(menu, window->context(), {first});
    const auto actions = menu.actions();
    const auto found = std::find_if(actions.begin(), actions.end(),
                                    [](QAction* action) { return action->text() == QStringLiteral("Extract…"); });
    QVERIFY(found != actions.end());
    QVERIFY((*found)->isEnabled());
  }

 private:
  QTemporaryDir m_folder;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::ExtractTest, 2)
#include "extract_test.moc"
