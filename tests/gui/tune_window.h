#pragma once

#include <QtTest>
#include <memory>

#include "tests/gui/gui_support.h"
#include "ui/dialogs/tune_dialog.h"
#include "ui/window/main_window.h"

namespace fusescope::test {

constexpr int kSearchMs = 180'000;  ///< within this time a search ends

/// A window in a session folder of its own, and the dialog in it that searches for pins.
class TuneWindow {
 protected:
  void openWindow() {
    catchWarnings();
    m_folder = std::make_unique<SessionFolder>();
    m_window = m_folder->makeWindow();
  }
  void closeWindow() {
    m_window.reset();
    QCOMPARE(takeWarnings(), QStringList());
  }
  /// Opens a sample whose numbers are too large for f16, with its inputs.
  void openOverflow() {
    QVERIFY(openSample(*m_window, "fp16_overflow"));
    m_window->setInputs({.paths = {FUSESCOPE_SOURCE_DIR "/resources/samples/fp16_overflow/io.npz"}});
  }
  TuneDialog& open() {
    m_window->actions().find("tune")->trigger();
    for (auto* dialog : m_window->findChildren<TuneDialog*>())
      if (dialog->isVisible()) return *dialog;
    qFatal("the dialog does not open");
  }
  /// Starts the search, and waits for its end.
  void search(TuneDialog& dialog) {
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QVERIFY(dialog.working());
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kSearchMs);
  }

  std::unique_ptr<test::SessionFolder> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope::test
