// The window, or the worker that builds for it in the background, is killed while another compiler compiles.
#include <signal.h>

#include <QDirIterator>
#include <QFile>
#include <QtTest>

#include "tests/compilers/processes.h"
#include "tests/gui/driven_program.h"

using namespace fusescope;

namespace {

const char* const kFault = "FUSESCOPE_TEST_ABACUS";

/// The workers that were started from `program`.
std::vector<pid_t> workersOf(qint64 program) {
  std::vector<pid_t> workers;
  QDirIterator processes(QStringLiteral("/proc"), QDir::Dirs | QDir::NoDotAndDotDot);
  while (processes.hasNext()) {
    const QString path = processes.next();
    QFile facts(path + QStringLiteral("/stat"));
    if (!facts.open(QFile::ReadOnly)) continue;
    const QByteArray text = facts.readAll();  // "ID (NAME) STATE PARENT …"
    const bool isWorker = text.contains("(fusescope-worke");
    if (isWorker && text.mid(text.lastIndexOf(')') + 4).split(' ').value(0).toLongLong() == program)
      workers.push_back(static_cast<pid_t>(processes.fileName().toInt()));
  }
  return workers;
}

}  // namespace

class WindowKilledTest : public test::DrivenProgram {
  Q_OBJECT

 private slots:
  void init() {
    begin(QStringLiteral(ABACUS_FOLDER "/fusescope-gui"));
    test::writeModel(model(), test::kEveryFate);
  }
  void cleanup() {
    qunsetenv(kFault);
    finish();
  }

  void theWindowIsKilledWhileItIsBuiltInTheBackground() {
    qputenv(kFault, "hangs_in_compile");
    start({model(), "--compiler", "abacus"});
    run({"see Build"});
    QTRY_VERIFY(isCompiling());
    kill();
    QTRY_VERIFY(processes().empty());
    checkThatTheNextOneBuildsAndLeavesNothing();
  }

  void itsWorkersAreKilledMeanwhile() {
    qputenv(kFault, "hangs_in_compile");
    start({model(), "--compiler", "abacus"});
    run({"see Build"});
    QTRY_VERIFY(isCompiling());
    const std::vector<pid_t> workers = workersOf(program().processId());
    QVERIFY(!workers.empty());
    for (const pid_t worker : workers) ::kill(worker, SIGKILL);
    QTRY_VERIFY(processes().empty());
    QVERIFY(!halfDone().isEmpty());  // nobody was left to remove it
    run({"act close_all", "see Build"});
    QVERIFY(program().state() == QProcess::Running);
    kill();
    checkThatTheNextOneBuildsAndLeavesNothing();
  }

 private:
  std::set<pid_t> processes() const { return test::abacusProcesses(filePath("temporary").toStdString()); }
  bool isCompiling() const {
    QDirIterator handed(filePath("temporary"), {"network.fse"}, QDir::Files, QDirIterator::Subdirectories);
    return handed.hasNext() && !processes().empty();
  }
  void checkThatTheNextOneBuildsAndLeavesNothing() {
    qunsetenv(kFault);
    start({model(), "--compiler", "abacus"});
    run({"see Build", "act build"});
    const Session built = keptWhen([](const Session& kept) { return !kept.runs.empty() && done(kept); });
    QVERIFY(built.runs.front().made);
    const QString file = filePath("saved.fsession");
    run({"act save_session_as", "file " + file});
    QTRY_VERIFY(QFile::exists(file) && keptFiles().isEmpty());
    quit();
    QTRY_VERIFY(processes().empty());
    QTRY_COMPARE(halfDone(), QStringList());  // the workers end by themselves, a little later
  }
};

FUSESCOPE_GUI_TEST(WindowKilledTest, 2)
#include "window_killed_test.moc"
