// A .pt2 as a person meets it: it opens, its modules are drawn, and the inspector says where a node was written.
#include <QTemporaryDir>
#include <QtTest>

#include "base/files.h"
#include "tests/gui/gui_support.h"
#include "tests/support/paths.h"
#include "tests/support/pt2_files.h"
#include "ui/docks/inspector_dock.h"
#include "ui/window/file_kinds.h"
#include "ui/window/main_window.h"

namespace fusescope {
namespace {

constexpr int kOpenMs = 60'000;

}  // namespace

class ExportedProgramTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
    m_window->resize(1200, 900);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void theInspectorSaysWhereANodeWasWritten() {
    const QString path = m_folder.filePath(QStringLiteral("net.pt2"));
    QVERIFY(
        writeFileAtomically(path.toStdString(), test::pt2Bytes(test::Pt2Kind::RawWeights, test::smallProgram())).ok());
    QCOMPARE(int(fileKindOf(path)), int(FileKind::Network));
    open(path);
    m_window->showDock("Inspector");
    InspectorDock& inspector = m_window->dock<InspectorDock>();
    QTRY_VERIFY2(inspector.text().contains("torch-exported-program · PyTorch 2.11.0"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("it can be looked at and planned"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("those of its example inputs"), qPrintable(inspector.text()));
    m_window->selection().set({*m_window->document().snapshot()->graph().findNode("linear")});
    QTRY_VERIFY2(inspector.text().contains("torch.ops.aten.linear.default"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("Written in"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("line 7, in forward"), qPrintable(inspector.text()));
    QVERIFY2(!inspector.text().contains("@source"), qPrintable(inspector.text()));
  }

  void itsModulesAreDrawn() {
    if (!test::sharedFolder()) QSKIP("There is no shared test material.");
    open(zoo("bert_tiny"));
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    QVERIFY(!m_window->canvas().itemRect(QStringLiteral("module:m.encoder")).isEmpty());
    const auto& tree = *m_window->document().snapshot()->modules;
    QVERIFY(tree.find("m.encoder.layer.1.attention.self") >= 0);
  }

  /// A graph that is an argument of a node is its body.
  void aGraphWithinAGraphIsOpened() {
    if (!test::sharedFolder()) QSKIP("There is no shared test material.");
    open(zoo("llama_tiny"));
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    QCOMPARE(snapshot.cover->model->bodies.size(), std::size_t(1));
    const NodeId holder = snapshot.cover->model->bodies[0].holder;
    QCOMPARE(snapshot.graph().node(holder).op, std::string("higher_order.wrap_with_set_grad_enabled"));
    m_window->canvas().expand(QString::fromStdString(snapshot.graph().node(holder).name));
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
  }

 private:
  static QString zoo(const char* network) {
    return QString::fromStdString((*test::sharedFolder() / "zoo" / network / "model.pt2").string());
  }
  void open(const QString& path) {
    m_window->openFile(path);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() && m_window->document().path() == path, kOpenMs);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().opening() && m_window->jobs().idle(), kOpenMs);
  }

  QTemporaryDir m_folder;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::ExportedProgramTest, 3)
#include "exported_program_test.moc"
