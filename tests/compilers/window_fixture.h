#pragma once

#include <QDirIterator>
#include <QtTest>
#include <memory>

#include "tests/compilers/processes.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope::test {

/// What FUSESCOPE_TEST_ABACUS plants in the processes of abacus.
inline constexpr const char* kAbacusFault = "FUSESCOPE_TEST_ABACUS";

/// A window with kEveryFate open, and abacus to compile it. When a test ends, no process of abacus may be left, no file
/// that it wrote for a while, and no warning of Qt's.
class AbacusWindow : public QObject {
 public:
  void begin() {
    // What window, worker and abacus write for themselves lies there.
    qputenv("TMPDIR", m_temporary.path().toUtf8());
    qunsetenv(kAbacusFault);
    writeModel(model(), kEveryFate);
  }
  static void end() { qunsetenv("TMPDIR"); }
  void endTest() {
    m_window.reset();
    qunsetenv(kAbacusFault);
    QTRY_VERIFY(abacusProcesses(temporary()).empty());
    QTRY_VERIFY(!isTemporary(QStringLiteral("fusescope.abacus*")));
    QCOMPARE(takeWarnings(), QStringList());
  }

  QString model() const { return m_folder.filePath(QStringLiteral("every_fate.onnx")); }
  QString file(const QString& name) const { return m_folder.filePath(name); }
  std::string temporary() const { return m_temporary.path().toStdString(); }
  MainWindow& window() { return *m_window; }
  PlanDocument& document() { return m_window->document(); }
  NodeId node(const char* name) { return document().snapshot()->graph().findNode(name).value(); }

  /// `buildsWhileEditing`: as a window does by itself; else nothing is built that the test does not build.
  void openWindow(bool buildsWhileEditing, double seconds = 0.1, QString path = {}) {
    const QString kept = m_folder.filePath(QString::fromLatin1(QTest::currentTestFunction()));
    m_window = shownWindow({.sessions = kept, .seconds = seconds});
    m_window->session().open(path.isEmpty() ? model() : path, {});
    QTRY_VERIFY(document().snapshot());
    if (!buildsWhileEditing) m_window->builds().choose(false);
  }
  void chooseAbacus() {
    const Compiler* abacus = findCompiler("abacus");
    QVERIFY(abacus != nullptr);
    document().setCompiler(*abacus);
    QTRY_VERIFY(!document().planning());
    QCOMPARE(document().planProblem(), QString());
    QTRY_VERIFY2(m_window->controller().compileRefusal().isEmpty(),
                 qPrintable(m_window->controller().compileRefusal()));
  }
  void build() {
    m_window->controller().build();
    QTRY_VERIFY(!m_window->controller().busy());
  }
  /// Whether a file or folder of that name, a glob, is among what was written for a while.
  bool isTemporary(const QString& name) const {
    return QDirIterator(m_temporary.path(), {name}, QDir::AllEntries | QDir::NoDotAndDotDot,
                        QDirIterator::Subdirectories)
        .hasNext();
  }

 protected:
  QTemporaryDir m_folder, m_temporary;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope::test
