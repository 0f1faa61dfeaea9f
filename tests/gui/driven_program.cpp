#include "tests/gui/driven_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

#include "ui/document/qt_text.h"

namespace fusescope::test {

Lifeline::Lifeline() {
  int ends[2];
  if (::pipe(ends) != 0) qFatal("no pipe");
  m_ours = ends[0];
  m_theirs = ends[1];
  ::fcntl(m_ours, F_SETFD, FD_CLOEXEC);
}

Lifeline::~Lifeline() {
  letGo();
  ::close(m_ours);
}

bool Lifeline::allEnd(int ms) {
  letGo();
  pollfd end{.fd = m_ours, .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, ms) == 1 && (end.revents & POLLHUP) != 0;
}

void Lifeline::letGo() {
  if (m_theirs >= 0) ::close(m_theirs);
  m_theirs = -1;
}

void DrivenProgram::begin(const QString& program) {
  catchWarnings();
  m_path = program;
  m_folder = std::make_unique<QTemporaryDir>();
  m_lifeline = std::make_unique<Lifeline>();
  QVERIFY(QDir(m_folder->path()).mkpath("temporary"));
  QVERIFY(QFile::copy(samplePath("fp16_overflow"), model()));
}

void DrivenProgram::finish() {
  end();
  // What works for a killed window ends by itself, and writes nothing into the folder that goes now.
  QVERIFY(m_lifeline->allEnd(kPatienceMs));
  m_folder.reset();
  QCOMPARE(takeWarnings(), QStringList());
}

bool DrivenProgram::done(const Session& session) {
  return std::ranges::all_of(session.runs, [](const Run& run) { return run.state == RunState::Ready; });
}

QStringList DrivenProgram::keptFiles() const {
  QStringList files;
  for (const QFileInfo& file : QDir(filePath("cache/sessions")).entryInfoList({"*.fsession"}, QDir::Files))
    files << file.filePath();
  return files;
}

QStringList DrivenProgram::leftovers() const {
  return QDir(filePath("cache/sessions")).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden);
}

QStringList DrivenProgram::halfDone() const {
  static const QRegularExpression kHalfWritten(R"(\.\d+-\d+$)");
  QStringList found = QDir(filePath("temporary")).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden);
  QDirIterator all(m_folder->path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
  while (all.hasNext())
    if (const QString path = all.next(); kHalfWritten.match(path).hasMatch()) found << path;
  return found;
}

QProcessEnvironment DrivenProgram::environment() const {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("FUSESCOPE_CACHE", filePath("cache"));
  environment.insert("XDG_CONFIG_HOME", filePath("config"));
  environment.insert("TMPDIR", filePath("temporary"));
  environment.insert("XDG_RUNTIME_DIR", m_folder->path());  // Qt makes one in the former where there is none
  environment.insert("QT_PLUGIN_PATH", FUSESCOPE_PLUGIN_DIR);
  environment.insert("QT_QPA_GENERIC_PLUGINS", "fusescope_driver");
  return environment;
}

void DrivenProgram::start(const QStringList& arguments) {
  end();
  m_said.clear();
  m_program = std::make_unique<QProcess>();
  m_program->setProcessEnvironment(environment());
  m_program->start(m_path, arguments);
  QVERIFY(m_program->waitForStarted(kPatienceMs));
}

void DrivenProgram::end() {
  if (!m_program) return;
  if (m_program->state() != QProcess::NotRunning) kill();
  m_program.reset();
}

void DrivenProgram::kill() {
  QCOMPARE(::kill(static_cast<pid_t>(m_program->processId()), SIGKILL), 0);
  QVERIFY(m_program->waitForFinished(kPatienceMs));
}

void DrivenProgram::act(const QStringList& lines) {
  for (const QString& line : lines) m_program->write(line.toUtf8() + '\n');
  m_program->waitForBytesWritten(kPatienceMs);
}

void DrivenProgram::run(const QStringList& lines) {
  for (const QString& line : lines) {
    act({line});
    waitForWord("did " + line);
  }
}

void DrivenProgram::waitForWord(const QString& words) {
  const auto said = [&] {
    m_said += m_program->readAllStandardOutput();
    const int at = m_said.indexOf(words.toUtf8());
    if (at >= 0) m_said.remove(0, at + words.size());
    return at >= 0;
  };
  QVERIFY2(QTest::qWaitFor(said, kWorkMs), qPrintable(words + ": " + m_program->readAllStandardError()));
}

void DrivenProgram::quit() {
  act({"act quit"});
  QVERIFY(m_program->waitForFinished(kWorkMs));
}

void DrivenProgram::pin() {
  start({model()});
  run({"see Build", "down Precision", "act pin_pattern", "type node_relu_1", "click Pin"});
}

Session DrivenProgram::keptWhen(const std::function<bool(const Session&)>& is) {
  Session found;
  const bool came = QTest::qWaitFor(
      [&] {
        for (const QString& file : keptFiles()) {
          const auto session = readSession(file.toStdString());
          if (!session.ok() || !is(session.value())) continue;
          found = session.value();
          return true;
        }
        return false;
      },
      kWorkMs);
  if (!came) QTest::qFail("it was not kept", __FILE__, __LINE__);
  return found;
}

Session DrivenProgram::killWhen(const std::function<bool(const Session&)>& is) {
  keptWhen(is);
  kill();
  return keptWhen([](const Session&) { return true; });  // more may have been kept meanwhile
}

Session DrivenProgram::recovered() {
  const QString file = filePath("saved.fsession");
  start({});
  run({"click Recover", "see Build", "act save_session_as", "file " + file});
  if (!QTest::qWaitFor([&] { return QFile::exists(file) && keptFiles().isEmpty(); }, kWorkMs))
    QTest::qFail("it was not saved", __FILE__, __LINE__);
  const auto session = readSession(file.toStdString());
  return session.ok() ? session.value() : Session();
}

void DrivenProgram::checkSame(const Session& before, const Session& after) {
  QCOMPARE(qs(after.model.path), qs(before.model.path));
  QCOMPARE(qs(after.model.content), qs(before.model.content));
  QVERIFY(after.options == before.options);
  QVERIFY(after.extents == before.extents);
  QVERIFY(after.settings == before.settings);
  QCOMPARE(after.runs.size(), before.runs.size());
  for (std::size_t i = 0; i < before.runs.size(); ++i)  // as text: NaN is not equal to itself
    QCOMPARE(QByteArray::fromStdString(toJson(after.runs[i]).dump()),
             QByteArray::fromStdString(toJson(before.runs[i]).dump()));
  QCOMPARE(after.nextRun, before.nextRun);
  QCOMPARE(qs(after.shown), qs(before.shown));
}

}  // namespace fusescope::test
