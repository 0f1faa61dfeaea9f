#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QtTest>
#include <algorithm>
#include <atomic>
#include <thread>

#include "session/session_file.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/document/session_folder.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kLeft = 10;

}  // namespace

/// Sessions that windows left behind, because they were killed: they are offered, and can be discarded.
class LeftSessionsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void manyThatWereLeftAreOneBarThatNamesThem() {
    Session left;
    left.model.path = (m_folder.filePath("network_a") + "/model.onnx").toStdString();
    QVERIFY(QDir().mkpath(keptFolder()));
    for (const char* id : {"first", "second", "third"}) {
      left.id = id;
      QVERIFY(writeSession(QStringLiteral("%1/%2.fsession").arg(keptFolder(), id).toStdString(), left).ok());
    }
    m_window = m_folder.makeWindow();
    const auto bars = m_window->messages().findChildren<QLabel*>("text");
    QCOMPARE(bars.size(), 1);
    QVERIFY2(bars.front()->text().contains("network_a/model.onnx"), qPrintable(bars.front()->text()));
    // Narrow, its text is wrapped, and all of it is seen.
    m_window->resize(640, 600);
    QTRY_VERIFY(bars.front()->height() >= bars.front()->heightForWidth(bars.front()->width()));
    QPushButton* more = nullptr;
    for (QPushButton* button : m_window->messages().findChildren<QPushButton*>())
      if (button->text() == "2 more…") more = button;
    QVERIFY(more != nullptr);
    QTest::mouseClick(more, Qt::LeftButton);
    auto* menu = m_window->findChild<QMenu*>("left");
    QVERIFY(menu != nullptr);
    QCOMPARE(menu->actions().size(), 5);  // each of them, a line, and to discard all
    QTest::keyClick(menu, Qt::Key_Escape);
    for (int left = 3; left > 0; --left) {  // nothing was chosen: it asks again
      QCOMPARE(m_window->session().left().size(), std::size_t(left));
      const QString newest = m_window->session().left().front().file;
      QTRY_VERIFY(m_window->messages().button(newest, "Discard") != nullptr);
      QTest::mouseClick(m_window->messages().button(newest, "Discard"), Qt::LeftButton);
    }
    QVERIFY(m_window->session().left().empty());
  }

  void aSessionThatIsLeftIsOfferedWhateverIsBeingCollected() {
    // Who collects has the lock of each session for a moment: no window has it therefore.
    const SessionFolder folder(keptFolder());
    for (int i = 0; i < kLeft; ++i) {
      const QString id = QString::number(i);
      QDir().mkpath(folder.engineFolder(id));
      if (!writeSession(folder.keptFile(id).toStdString(), Session()).ok()) qFatal("%s is not written", qPrintable(id));
    }
    std::atomic<bool> enough = false;
    std::jthread collector([&] {
      while (!enough) folder.collect({.id = "another"});
    });
    std::size_t least = kLeft;
    bool owned = true;
    for (int round = 0; round < 40; ++round) {
      least = std::min(least, folder.left({}).size());
      owned &= folder.lock(QString::number(round % kLeft)) != nullptr;
    }
    enough = true;
    collector.join();
    QCOMPARE(least, std::size_t(kLeft));
    QVERIFY(owned);
  }

 private:
  QString keptFolder() const { return m_folder.kept(); }

  test::SessionFolder m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(LeftSessionsTest, 2)
#include "left_sessions_test.moc"
