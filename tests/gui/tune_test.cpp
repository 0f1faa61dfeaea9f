#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>

#include "tests/gui/gui_support.h"
#include "ui/dialogs/tune_dialog.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kSearchMs = 180'000;

}  // namespace

/// The search for pins in the window: what it finds grows in the plot, it can be stopped, and nothing changes until it
/// is taken.
class TuneTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow();
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void findsThePinsAndTheyAreOneStep() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    RunSettings settings = m_window->runs().settings();
    settings.inputs.paths = {FUSESCOPE_SOURCE_DIR "/resources/samples/fp16_overflow/io.npz"};
    m_window->runs().setSettings(settings);
    const PlanOptions before = m_window->document().options();
    TuneDialog& dialog = open();
    QVERIFY(!dialog.stopButton().isEnabled() && !dialog.takeButton().isEnabled());
    QCOMPARE(dialog.precision().currentText(), QStringLiteral("f16"));
    dialog.allowed().setText("much");
    QVERIFY(!dialog.startButton().isEnabled() && dialog.said().contains("much"));
    dialog.allowed().setText("0.01");
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QVERIFY(dialog.working() && dialog.stopButton().isEnabled() && !dialog.startButton().isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kSearchMs);
    QVERIFY2(dialog.said().startsWith("✓ Found: error"), qPrintable(dialog.said()));
    QVERIFY(dialog.said().contains("1 sample,") && !dialog.said().contains("random"));
    QVERIFY(dialog.pins().rowCount() >= 1);
    QVERIFY2(!dialog.plot().points().empty(), "the front is drawn");
    QVERIFY(m_window->document().options() == before);  // nothing changes by itself
    QCOMPARE(m_window->document().undoStack().count(), 0);
    const auto pins = static_cast<std::size_t>(dialog.pins().rowCount());
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().undoStack().count(), 1);
    QCOMPARE(m_window->document().options().precisions, std::vector{DataType::F16});
    QCOMPARE(m_window->document().directives().size(), pins);
    for (const Directive& pin : m_window->document().directives()) QVERIFY(!pin.note.empty());
    // They do what was asked.
    m_window->controller().evaluateErrors();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kSearchMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    for (const TensorErrors& tensor : m_window->runs().shown()->errors.front()->tensors)
      if (tensor.isOutput) QVERIFY(tensor.errors.carried->maxOverRms <= 0.01);
    m_window->document().undoStack().undo();
    QVERIFY(m_window->document().options() == before);
  }

  void isStoppedWithTheBestSoFar() {
    QTemporaryDir folder;
    m_window->openFile(test::writeResidualChain(folder.path(), 400));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, kSearchMs);
    TuneDialog& dialog = open();
    dialog.precision().setCurrentIndex(1);
    dialog.budget().setValue(0);
    dialog.allowed().setText("1e-7");
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.plot().points().empty(), kSearchMs);  // it grows while it works
    QVERIFY(dialog.working());
    QTest::mouseClick(&dialog.stopButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kSearchMs);
    QVERIFY2(dialog.said().contains("ended by: stopped"), qPrintable(dialog.said()));
    QVERIFY2(dialog.said().contains("random"), qPrintable(dialog.said()));
    QVERIFY(dialog.startButton().isEnabled());
    QCOMPARE(m_window->document().undoStack().count(), 0);
  }

 private:
  TuneDialog& open() {
    m_window->actions().find("tune")->trigger();
    auto* dialog = m_window->findChild<TuneDialog*>();
    if (dialog == nullptr) qFatal("the dialog does not open");
    return *dialog;
  }
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(TuneTest, 2)
#include "tune_test.moc"
