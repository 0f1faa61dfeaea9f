#pragma once

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <functional>
#include <memory>

#include "session/session_file.h"
#include "tests/gui/gui_support.h"

namespace fusescope::test {

/// A pipe that nobody writes to: every process that is started while it is open holds an end of it, and so does what
/// that one starts.
class Lifeline {
 public:
  Lifeline();
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// Whether all of them have ended in time; no more may be started.
  bool allEnd(int ms);

 private:
  void letGo();

  int m_ours = -1, m_theirs = -1;
};

/// For tests of fusescope-gui itself, as a process, driven by a plugin of Qt's (driver/) with mouse and keys. Each test
/// has a folder of its own with a network in it (fp16_overflow), where the program keeps all that it keeps.
class DrivenProgram : public QObject {
 protected:
  /// `program`: the program's path. Called by init() and cleanup() of the test.
  void begin(const QString& program = QStringLiteral(FUSESCOPE_BIN_DIR "/fusescope-gui"));
  void finish();

  static bool done(const Session& session);  ///< every run of it
  QString filePath(const QString& name) const { return m_folder->filePath(name); }
  QString model() const { return filePath(QStringLiteral("model.onnx")); }
  QStringList keptFiles() const;
  QStringList leftovers() const;  ///< all that is in the folder of sessions
  /// Folders and half-written files that processes which were killed have left, anywhere in the test's folder.
  QStringList halfDone() const;

  QProcessEnvironment environment() const;
  QProcess& program() { return *m_program; }
  void start(const QStringList& arguments);
  void end();
  void kill();
  /// Tells the driver what to do, and does not wait for it.
  void act(const QStringList& lines);
  /// Waits until the program has begun all of it.
  void run(const QStringList& lines);
  void waitForWord(const QString& words);
  void quit();  ///< and waits until it has ended
  /// Opens the model, chooses float16 and pins a node.
  void pin();
  /// What the program has kept of itself, once it is so.
  Session keptWhen(const std::function<bool(const Session&)>& is);
  Session killWhen(const std::function<bool(const Session&)>& is);
  /// Starts the program again, recovers what it offers, and saves it: what it has then.
  Session recovered();
  /// The same work: where it is shown and what files it is in aside.
  static void checkSame(const Session& before, const Session& after);

  static constexpr int kWorkMs = 180'000;

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<Lifeline> m_lifeline;
  QString m_path;
  std::unique_ptr<QProcess> m_program;
  QByteArray m_said;
};

}  // namespace fusescope::test
