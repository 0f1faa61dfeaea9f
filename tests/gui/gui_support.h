#pragma once

#include <QApplication>
#include <QSize>
#include <QStringList>
#include <functional>
#include <memory>

#include "ui/document/plan_snapshot.h"

namespace fusescope {
class MainWindow;
}

namespace fusescope::test {

/// An application that measures the CPU time of its own thread over every event it delivers.
class MeteredApplication : public QApplication {
 public:
  MeteredApplication(int& argc, char** argv) : QApplication(argc, argv) {}
  bool notify(QObject* receiver, QEvent* event) override;
  /// Runs `handler`, measured like an event's: for what a test triggers without an event.
  void measure(const QString& who, const std::function<void()>& handler);
  double worstMs() const { return m_worstMs; }
  /// Of the next worst: what the kernel does for a thread (pages that come back while memory is short) counts as its
  /// own time, and may hit one handler.
  double secondWorstMs() const { return m_secondMs; }
  QString worst() const { return m_worst; }
  void reset() { m_worstMs = m_secondMs = 0; }
  long events() const { return m_events; }

 private:
  int m_depth = 0;
  long m_events = 0;
  double m_worstMs = 0, m_secondMs = 0;
  QString m_worst;
};

double threadCpuMs();
QString samplePath(const QString& name);
/// A window without memory that is shown and active, of `size` if one is given; it times for a tenth of a second.
std::unique_ptr<MainWindow> activeWindow(const QSize& size = {});
/// The model, planned in this thread.
std::shared_ptr<const PlanSnapshot> planSample(const QString& name, const PlanOptions& options = {},
                                               const Plan* before = nullptr);

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

}  // namespace fusescope::test

/// For a test program: its class, and how many test functions it has.
#define FUSESCOPE_GUI_TEST(Class, expected)                      \
  int main(int argc, char** argv) {                              \
    qputenv("QT_QPA_PLATFORM", "offscreen");                     \
    fusescope::test::MeteredApplication application(argc, argv); \
    Class test;                                                  \
    return fusescope::test::runTest(test, expected, argc, argv); \
  }
