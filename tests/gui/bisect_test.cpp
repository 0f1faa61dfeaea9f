#include <QTableView>
#include <QtTest>

#include "tests/gui/gui_support.h"
#include "ui/dialogs/bisect_dialog.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/worker_client.h"
#include "ui/ribbon/ribbon.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kSearchMs = 180'000;

}  // namespace

/// The search for what makes an output wrong in the window: its culprits are shown, and left out in one step.
class BisectTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<test::SessionFolder>();
    m_window = m_folder->makeWindow();
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->setInputs({.paths = {FUSESCOPE_SOURCE_DIR "/resources/samples/fp16_overflow/io.npz"}});
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void namesTheCulpritsAndLeavesThemOut() {
    lower();
    const PlanOptions before = m_window->document().options();
    BisectDialog& dialog = open();
    QVERIFY(!dialog.stopButton().isEnabled() && !dialog.leaveOutButton().isEnabled());
    const auto* ribbon = m_window->findChild<Ribbon*>();
    QStringList shown;
    connect(&m_window->worker(), &WorkerClient::progressReported, this,
            [&] { shown << ribbon->look().progress.words; });
    search(dialog);
    m_window->worker().disconnect(this);
    QVERIFY2(shown.filter("bisect, build 2").size() > 0, qPrintable(shown.join("; ")));
    QTRY_COMPARE(ribbon->look().progress.words, QString());
    QVERIFY2(dialog.said().startsWith("✓ found: without types of nodes"), qPrintable(dialog.said()));
    QVERIFY2(dialog.said().contains("instead of not finite"), qPrintable(dialog.said()));
    QVERIFY2(dialog.said().contains("switch them off with: --pin"), qPrintable(dialog.said()));
    const int culprits = dialog.culprits().rowCount();
    QVERIFY(culprits >= 1);
    QVERIFY2(dialog.tried().rowCount() >= 1, "what was switched off is listed");
    QVERIFY(m_window->document().options() == before);  // nothing changes by itself
    // A culprit that is a node is selected by a click on it.
    const QModelIndex first = dialog.culprits().index(0, 0);
    const std::string culprit = first.data(Qt::DisplayRole).toString().toStdString();
    QTest::mouseClick(dialog.culpritsView().viewport(), Qt::LeftButton, {},
                      dialog.culpritsView().visualRect(first).center());
    const auto node = m_window->document().snapshot()->graph().findNode(culprit);
    QVERIFY2(node.has_value(), culprit.c_str());
    QTRY_VERIFY(m_window->selection().contains(*node));
    QTest::mouseClick(&dialog.leaveOutButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().size(), std::size_t(culprits));
    // They do what was said: the outputs are right.
    BisectDialog& again = open();
    search(again);
    QVERIFY2(again.said().startsWith("✓ nothing is wrong"), qPrintable(again.said()));
    QCOMPARE(again.culprits().rowCount(), 0);
    QVERIFY(!again.leaveOutButton().isEnabled());
    again.reject();
    m_window->document().undoStack().undo();
    QVERIFY(m_window->document().options() == before);
  }

  void whatCannotBeRightIsSaid() {
    BisectDialog& dialog = open();
    dialog.allowed().setText("much");
    QVERIFY2(!dialog.startButton().isEnabled() && dialog.said().contains("much"), qPrintable(dialog.said()));
    dialog.allowed().setText("");
    QVERIFY2(!dialog.startButton().isEnabled() && dialog.said().contains("largest error"), qPrintable(dialog.said()));
    dialog.allowed().setText("0.01");
    QVERIFY(dialog.startButton().isEnabled());
  }

  void isCancelledAndEndsByItsBuilds() {
    lower();
    BisectDialog& dialog = open();
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QVERIFY(dialog.working() && dialog.stopButton().isEnabled() && !dialog.startButton().isEnabled());
    QTest::mouseClick(&dialog.stopButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kSearchMs);
    // As early as this it knows the error at most.
    QVERIFY2(dialog.said() == "Cancelled." || dialog.said().startsWith("✗ the search was ended before"),
             qPrintable(dialog.said()));
    dialog.builds().setValue(1);
    search(dialog);
    QVERIFY2(dialog.said().startsWith("✗ the search was ended before it found a culprit"), qPrintable(dialog.said()));
    QVERIFY2(dialog.said().contains("1 build,"), qPrintable(dialog.said()));
  }

  void oneEscapeTooManyDoesNotLoseIt() {
    lower();
    BisectDialog& dialog = open();
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QVERIFY(dialog.working());
    QTest::keyClick(&dialog, Qt::Key_Escape);
    QVERIFY(dialog.isVisible() && dialog.working());
    QVERIFY2(dialog.said().contains("Close again to end the search"), qPrintable(dialog.said()));
    QTest::keyClick(&dialog, Qt::Key_Escape);
    QVERIFY(!dialog.isVisible());
    // What it has under way ends while the worker is there, also where the window is closed at once.
    const QPointer<BisectDialog> closed(&dialog);
    bool isThere = false;
    connect(&m_window->worker(), &QObject::destroyed, this, [&] { isThere = !closed.isNull(); });
    m_window.reset();
    QVERIFY(!isThere);
  }

  void whatIsNotBuiltHereIsNotSearched() {
    m_window->document().setTarget("tensorrt-10");
    QTRY_VERIFY(!m_window->document().planning());
    const QAction* bisect = m_window->actions().find("bisect");
    QVERIFY(!bisect->isEnabled());
    QCOMPARE(bisect->toolTip(), m_window->actions().find("build")->toolTip());
  }

 private:
  void lower() {
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
  }
  BisectDialog& open() {
    m_window->actions().find("bisect")->trigger();
    for (auto* dialog : m_window->findChildren<BisectDialog*>())
      if (dialog->isVisible()) return *dialog;
    qFatal("the dialog does not open");
  }
  static void search(BisectDialog& dialog) {
    dialog.allowed().setText("0.01");
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kSearchMs);
  }

  std::unique_ptr<test::SessionFolder> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(BisectTest, 5)
#include "bisect_test.moc"
