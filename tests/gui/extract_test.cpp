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
    QTRY_VERIFY2(window->messages().textOf(kMessage).contains(QStringLiteral("to the bit")),
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

  void isOfferedAsLongAsSomethingIsSelected() {
    const test::SessionFolder folder;
    auto window = opened(folder);
    const QAction* extract = window->actions().find("extract");
    const NodeId first = window->document().snapshot()->graph().order()[0];
    QVERIFY(!extract->isEnabled());
    window->selection().set({first});
    QVERIFY(extract->isEnabled());
    window->selection().clear();
    QVERIFY(!extract->isEnabled());
    window->selection().set({first});
    QVERIFY(extract->isEnabled());
  }

  void filesBesideItAreAskedAbout() {
    const test::SessionFolder folder;
    auto window = opened(folder);
    window->selection().set({window->document().snapshot()->graph().order()[0]});
    const QString path = m_folder.filePath(QStringLiteral("asked.onnx"));
    const QString values = m_folder.filePath(QStringLiteral("asked.npz"));
    for (const QString& file : {values, m_folder.filePath(QStringLiteral("asked_2.npz"))}) {
      QFile there(file);
      QVERIFY(there.open(QIODevice::WriteOnly) && there.write("mine") == 4);
    }
    extractSelected(*window, path);
    QVERIFY2(said(*window).contains(QStringLiteral("Extracting 1 node into asked.onnx")), qPrintable(said(*window)));
    // A second one would take the place of the first.
    QVERIFY(!window->actions().find("extract")->isEnabled());
    QVERIFY2(extractRefusal(*window).contains(QStringLiteral("being extracted")), qPrintable(extractRefusal(*window)));
    QTRY_VERIFY2(said(*window).contains(QStringLiteral("asked.npz is there already")), qPrintable(said(*window)));
    QVERIFY(!QFile::exists(path));
    window->messages().button(kMessage, QStringLiteral("Write over"))->click();
    QTRY_VERIFY2(said(*window).startsWith(QStringLiteral("1 node is in ")), qPrintable(said(*window)));
    QVERIFY2(said(*window).contains(QStringLiteral("Written: asked.onnx, asked.npz")), qPrintable(said(*window)));
    QVERIFY2(said(*window).contains(QStringLiteral("earlier part of that name: asked_2.npz")),
             qPrintable(said(*window)));
    QVERIFY(QFile::exists(path) && QFile(values).size() > 4);
  }

  void anotherNetworkEndsIt() {
    const test::SessionFolder folder;
    auto window = opened(folder);
    window->selection().set({window->document().snapshot()->graph().order()[0]});
    const QString path = m_folder.filePath(QStringLiteral("ended.onnx"));
    extractSelected(*window, path);
    emit window->document().graphChanged(nullptr);  // as another network does, at once
    QVERIFY(said(*window).isEmpty());
    QTRY_VERIFY(window->jobs().idle());
    QVERIFY(!QFile::exists(path));
  }

  // A kernel in int8 has quantisers that the file has not.
  void kernelsInCodesAreCutOutOfTheFile() {
    auto window = test::shownWindow();
    QVERIFY(test::openInCodes(*window));
    const auto snapshot = window->document().snapshot();
    const auto isQuantiser = [&](NodeId node) { return snapshot->graph().node(node).is("QuantizeLinear"); };
    const auto kernel = std::ranges::find_if(snapshot->cover->fusedNodes, [&](const FusedNode& fused) {
      return fused.nodes.size() > 1 && std::ranges::any_of(fused.nodes, isQuantiser) &&
             std::ranges::any_of(fused.nodes,
                                 [&](NodeId node) { return !snapshot->graph().node(node).origins.empty(); });
    });
    QVERIFY(kernel != snapshot->cover->fusedNodes.end());
    window->selection().set(kernel->nodes);
    QCOMPARE(extractRefusal(*window), QString());
    const QString path = m_folder.filePath(QStringLiteral("codes.onnx"));
    extractSelected(*window, path);
    QTRY_VERIFY2(said(*window).contains(path), qPrintable(said(*window)));
    QVERIFY(QFile::exists(path));
    // What has no node of the file at all is no part.
    window->selection().set({*std::ranges::find_if(snapshot->graph().order(), isQuantiser)});
    QVERIFY2(extractRefusal(*window).contains(QStringLiteral("Only the plan")), qPrintable(extractRefusal(*window)));
  }

 private:
  static std::unique_ptr<MainWindow> opened(const test::SessionFolder& folder) {
    auto window = folder.makeWindow();
    window->openFile(folder.model());
    if (!QTest::qWaitFor([&] { return window->document().snapshot() != nullptr; }, test::kPatienceMs))
      qFatal("the network does not open");
    return window;
  }
  static QString said(MainWindow& window) { return window.messages().textOf(kMessage); }

  QTemporaryDir m_folder;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::ExtractTest, 6)
#include "extract_test.moc"
