#include <QMessageBox>
#include <QTimer>
#include <QtTest>

#include "base/files.h"
#include "tests/gui/tune_window.h"
#include "ui/dialogs/run_settings_dialog.h"
#include "ui/document/qt_text.h"

using namespace fusescope;

/// What a search for pins in the window may be asked for: a metric, an error, a speed.
class TuneGoalsTest : public QObject, private test::TuneWindow {
  Q_OBJECT

 private slots:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void aMetricOfTheUsersOwnJudges() {
    openOverflow();
    const QString metric = m_folder->filePath("metric.sh");
    QVERIFY(writeFileAtomically(metric.toStdString(), "test -s \"$1\" && test -s \"$2\" && echo 0.5\n").ok());
    TuneDialog& dialog = open();
    dialog.metric().setText(QStringLiteral("sh %1").arg(metric));
    dialog.allowed().setText("0.75");
    search(dialog);
    QVERIFY2(dialog.said().startsWith("✓ Found: error 0.5, 0 pins") && dialog.said().contains("No pin is needed"),
             qPrintable(dialog.said()));
    dialog.metric().setText("false");
    search(dialog);
    QVERIFY2(dialog.said().startsWith("✗"), qPrintable(dialog.said()));
    QVERIFY(!dialog.takeButton().isEnabled() && dialog.startButton().isEnabled());
  }

  void goalsThatCannotBeReachedAreSaid() {
    openOverflow();
    TuneDialog& dialog = open();
    dialog.allowed().clear();
    QVERIFY2(!dialog.startButton().isEnabled() && dialog.said().contains("how large"), qPrintable(dialog.said()));
    dialog.speedup().setText("fast");
    QVERIFY2(!dialog.startButton().isEnabled() && dialog.said().contains("fast"), qPrintable(dialog.said()));
    dialog.speedup().setText("0");
    QVERIFY(!dialog.startButton().isEnabled());
    dialog.speedup().setText("1.5");
    QVERIFY(dialog.startButton().isEnabled());
    search(dialog);  // nothing was measured here
    QVERIFY2(dialog.said().startsWith("✗") && dialog.said().contains("is not known"), qPrintable(dialog.said()));
    QVERIFY2(!dialog.said().contains("--"), qPrintable(dialog.said()));
    QVERIFY(dialog.precision().findText("bf16, f32") >= 0);
    const int int8 = dialog.precision().findText("int8");
    QVERIFY(!(dialog.precision().model()->index(int8, 0).flags() & Qt::ItemIsEnabled));
    QVERIFY(dialog.precision().itemData(int8, Qt::ToolTipRole).toString().contains("Calibrate"));
    dialog.reject();
    Ranges ranges;
    ranges.edges.emplace("x", EdgeRange{{-1, 1}, {}});
    m_window->document().setCalibrated(std::make_shared<const Ranges>(ranges));
    for (const char* choice : {"int8", "int8, f16", "int8, f32"})
      QVERIFY2(open().precision().findText(choice) >= 0, choice);
  }

  void theErrorAllowedIsTheSessionsUnlessAnotherWasGiven() {
    openOverflow();
    const auto allow = [this](double rms) {
      m_window->actions().find("run_settings")->trigger();
      auto* settings = m_window->findChild<RunSettingsDialog*>();
      QVERIFY(settings != nullptr);
      settings->tolerance().setText(numberText(rms));
      QTest::keyClick(settings, Qt::Key_Return);
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    };
    const auto offered = [this] {
      TuneDialog& dialog = open();
      const QString text = dialog.allowed().text();
      dialog.reject();
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
      return text;
    };
    QCOMPARE(offered(), numberText(m_window->runs().settings().tolerance.rms));
    allow(0.02);
    QCOMPARE(offered(), QStringLiteral("0.02"));
    // After a search that was held to it, too.
    TuneDialog* dialog = &open();
    dialog->evaluations().setValue(1);
    search(*dialog);
    dialog->reject();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    allow(0.03);
    QCOMPARE(offered(), QStringLiteral("0.03"));
    dialog = &open();
    dialog->allowed().setText("0.5");
    search(*dialog);
    dialog->reject();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    allow(0.04);
    QCOMPARE(offered(), QStringLiteral("0.5"));
  }

  void withoutABoundOfRmsItAsksForOne() {
    openOverflow();
    RunSettings settings = m_window->runs().settings();
    settings.tolerance = {.absolute = 1e-3};
    m_window->runs().setSettings(settings);
    TuneDialog& dialog = open();
    QVERIFY(dialog.allowed().text().isEmpty() && !dialog.startButton().isEnabled());
    QCOMPARE(dialog.focusWidget(), &dialog.allowed());
  }

  /// It is a command for a shell.
  void aMetricOfASessionIsNotRunBeforeItIsConfirmed() {
    openOverflow();
    RunSettings settings = m_window->runs().settings();
    settings.tune.metric = "echo 0.25";
    settings.tune.goal = {.maxError = 0.5, .evaluations = 1};
    m_window->runs().setSettings(settings);
    TuneDialog& dialog = open();
    QString shown;
    const auto answer = [&](QMessageBox::StandardButton button) {
      QTimer::singleShot(200, this, [&shown, button] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (box == nullptr) return;
        shown = box->informativeText();
        box->button(button)->click();
      });
    };
    answer(QMessageBox::Cancel);
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QCOMPARE(shown, QStringLiteral("echo 0.25"));
    QVERIFY(!dialog.working());
    answer(QMessageBox::Yes);
    search(dialog);
    QVERIFY(m_window->runs().settings().tune.metric == "echo 0.25");
    search(dialog);  // it is not asked about again
  }
};

FUSESCOPE_GUI_TEST(TuneGoalsTest, 5)
#include "tune_goals_test.moc"
