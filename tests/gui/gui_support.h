#pragma once

#include <QApplication>
#include <QLineEdit>
#include <QSize>
#include <QStringList>
#include <QTemporaryDir>
#include <QtTest>
#include <functional>
#include <memory>

#include "ui/document/plan_snapshot.h"

namespace fusescope {
class GraphView;
class MainWindow;
}  // namespace fusescope

namespace fusescope::test {

/// An application that counts how often each handler of the GUI thread asks for memory
/// (tests/support/metered/allocations.h). Times are window_benchmark's to measure: what a handler makes is the same on
/// every machine.
class MeteredApplication : public QApplication {
 public:
  MeteredApplication(int& argc, char** argv) : QApplication(argc, argv) {}
  bool notify(QObject* receiver, QEvent* event) override;
  /// Runs `handler`, counted like an event's: for what a test triggers without an event.
  void measure(const QString& who, const std::function<void()>& handler);
  /// Of the handler that asked most often since the last reset, and who that was.
  long most() const { return m_most; }
  QString worst() const { return QStringLiteral("%1: asked for memory %2 times").arg(m_worst).arg(m_most); }
  void reset() { m_most = 0; }

 private:
  int m_depth = 0;
  long m_most = 0;
  QString m_worst;
};

/// So long a test waits for what it looks at. What comes, comes far sooner, but how busy the machine is nobody knows.
constexpr int kPatienceMs = 60'000;

/// Lets events be handled, in steps as Qt's own macros take, until `holds` or `ms` have passed. Whether it held.
template <class Condition>
bool comes(const Condition& holds, int ms) {
  constexpr int kStepMs = 50;
  if (holds()) return true;
  QTest::qWait(0);
  for (int waited = 0; !holds(); waited += kStepMs) {
    if (waited >= ms) return false;
    QTest::qWait(kStepMs);
  }
  return true;
}

QString samplePath(const QString& name);
struct WindowForm {
  QSize size{};          ///< empty: its own
  QString sessions{};    ///< folder in which it keeps sessions; empty: it keeps none
  double seconds = 0.1;  ///< for which it times
};
/// A window without memory that is shown.
std::unique_ptr<MainWindow> shownWindow(const WindowForm& form = {});
/// Active too; null if it does not become so.
std::unique_ptr<MainWindow> activeWindow(const QSize& size = {});

/// A folder with a network in it (fp16_overflow), for sessions that windows keep there.
class SessionFolder {
 public:
  SessionFolder();
  QString filePath(const QString& name) const { return m_folder.filePath(name); }
  QString model() const { return filePath(QStringLiteral("model.onnx")); }
  QString kept() const { return filePath(QStringLiteral("kept")); }
  std::unique_ptr<MainWindow> makeWindow() const;

 private:
  QTemporaryDir m_folder;
};

/// A canvas of 1000 by 700 that shows the cover; null if its picture does not come.
std::unique_ptr<GraphView> shownCanvas(std::shared_ptr<const Cover> cover);
/// The model, planned in this thread.
std::shared_ptr<const PlanSnapshot> planSample(const QString& name, const PlanOptions& options = {},
                                               const PlanSnapshot* before = nullptr);

/// By which selections know it.
QString handle(const FusedNode& fused);
/// The name of the first fused node of two nodes.
QString firstOfTwoNodes(const Plan& plan);

/// A network of a Loop with an If in it, behind a product.
extern const char* const kNestedBodies;

/// Writes a network given as ONNX text to a file; fails the program if that cannot be.
void writeModel(const QString& path, const char* text);

/// A chain of residual blocks of four nodes in a file of the folder; its path.
QString writeResidualChain(const QString& folder, int nodes);

/// Qt's warnings since the last call; a test of ours that leaves one fails.
QStringList takeWarnings();
void catchWarnings();

/// Runs the test object of type T with settings and caches of its own. The program fails if it ran other than
/// `expected` test functions: a misdeclared slot must not pass silently.
int runTest(QObject& test, int expected, int argc, char** argv);

/// The chooser of files that opens next is answered with this, whether the file is there or not.
void answerFileDialog(const QString& path);
/// Drops files on the middle of the window; false if it does not take them.
bool dropOn(MainWindow& window, const QStringList& files);

/// Opens a sample, without the inputs that it comes with, and waits for its plan and picture; false if they do not
/// come.
bool openSample(MainWindow& window, const QString& name);
/// digits, planned in int8 with the ranges that its samples have: its graph holds quantisers that the file has not.
bool openInCodes(MainWindow& window);
/// The page of a dock; visible where it is in front and its side is not folded.
QWidget* dockOf(MainWindow& window, const QString& name);
QLineEdit* searchBoxOf(MainWindow& window);

}  // namespace fusescope::test

// Qt's five seconds are a guess about the machine. Qt's macros also evaluate a condition a second time after it held,
// and fail where it held for a moment only (a process that ended): what held once counts here.
#undef QTRY_VERIFY2_WITH_TIMEOUT
#define QTRY_VERIFY2_WITH_TIMEOUT(condition, text, ms) \
  QVERIFY2(fusescope::test::comes([&] { return static_cast<bool>(condition); }, ms), text)
#undef QTRY_VERIFY_WITH_TIMEOUT
#define QTRY_VERIFY_WITH_TIMEOUT(condition, ms) QTRY_VERIFY2_WITH_TIMEOUT(condition, #condition, ms)
#undef QTRY_VERIFY
#define QTRY_VERIFY(condition) QTRY_VERIFY_WITH_TIMEOUT(condition, fusescope::test::kPatienceMs)
#undef QTRY_VERIFY2
#define QTRY_VERIFY2(condition, text) QTRY_VERIFY2_WITH_TIMEOUT(condition, text, fusescope::test::kPatienceMs)
#undef QTRY_COMPARE
#define QTRY_COMPARE(actual, expected) QTRY_COMPARE_WITH_TIMEOUT(actual, expected, fusescope::test::kPatienceMs)

/// For a test program: its class, and how many test functions it has.
#define FUSESCOPE_GUI_TEST(Class, expected)                      \
  int main(int argc, char** argv) {                              \
    qputenv("QT_QPA_PLATFORM", "offscreen");                     \
    fusescope::test::MeteredApplication application(argc, argv); \
    Class test;                                                  \
    return fusescope::test::runTest(test, expected, argc, argv); \
  }
