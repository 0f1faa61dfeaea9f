#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <chrono>
#include <thread>

#include "session/session_file.h"
#include "session/verdict.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"

using namespace fusescope;
using namespace std::chrono_literals;

namespace {

constexpr int kBuildMs = 180'000;
const QString kNode = QStringLiteral("node_relu_1");

/// A pipe that nobody writes to: every process that is started while it is open holds an end of it, and so does what
/// that one starts.
class Lifeline {
 public:
  Lifeline() {
    int ends[2];
    if (::pipe(ends) != 0) qFatal("no pipe");
    m_ours = ends[0];
    m_theirs = ends[1];
    ::fcntl(m_ours, F_SETFD, FD_CLOEXEC);
  }
  ~Lifeline() {
    letGo();
    ::close(m_ours);
  }
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// Whether all of them have ended in time; no more may be started.
  bool allEnd(int ms) {
    letGo();
    pollfd end{.fd = m_ours, .events = POLLIN, .revents = 0};
    return ::poll(&end, 1, ms) == 1 && (end.revents & POLLHUP) != 0;
  }

 private:
  void letGo() {
    if (m_theirs >= 0) ::close(m_theirs);
    m_theirs = -1;
  }

  int m_ours = -1, m_theirs = -1;
};

}  // namespace

/// fusescope-gui itself, as a process: what it prints into pictures, and what is lost when it is killed, which is
/// nothing. It is driven by a plugin of Qt's (driver/), with mouse and keys.
class ProgramTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<QTemporaryDir>();
    m_lifeline = std::make_unique<Lifeline>();
    m_model = m_folder->filePath("model.onnx");
    QVERIFY(QFile::copy(test::samplePath("fp16_overflow"), m_model));
  }
  void cleanup() {
    end();
    // What works for a killed window ends by itself, and writes nothing into the folder that goes now.
    QVERIFY(m_lifeline->allEnd(test::kPatienceMs));
    m_folder.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void aPictureHasTheSizeThatIsAskedFor_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QSize>("size");
    QTest::newRow("small") << QStringList{"--size", "1024x768"} << QSize(1024, 768);
    QTest::newRow("large") << QStringList{"--size", "1920x1080"} << QSize(1920, 1080);
    QTest::newRow("scale 2") << QStringList{"--size", "1024x768", "--scale", "2"} << QSize(2048, 1536);
  }
  void aPictureHasTheSizeThatIsAskedFor() {
    QFETCH(QStringList, options);
    QFETCH(QSize, size);
    const QString picture = m_folder->filePath("window.png");
    start(QStringList{m_model, "--screenshot", picture} + options);
    QVERIFY(m_program->waitForFinished(kBuildMs));
    QVERIFY2(m_program->exitCode() == 0, m_program->readAllStandardError());
    QCOMPARE(QImage(picture).size(), size);
  }

  void knowsTheTimesThatTheCommandMeasured() {
    QProcess build;
    build.setProcessEnvironment(environment());
    build.start(FUSESCOPE_BIN_DIR "/fusescope", {"build", m_model, "-o", m_folder->filePath("engine.fse")});
    QVERIFY(build.waitForFinished(kBuildMs) && build.exitCode() == 0);
    start({m_model});
    run({"see Build", "tab Layers", "see FLOPs", "see ≈"});
  }

  void itsTabsTakeClicksWhereItsLayoutIsRemembered() {
    // Docks as a larger window left them. What is wrong with them shows when they have moved to their places.
    QDir(m_folder->path()).mkpath("config/fusescope");
    QVERIFY(QFile::copy(FUSESCOPE_SOURCE_DIR "/tests/gui/remembered_docks.conf",
                        m_folder->filePath("config/fusescope/fusescope.conf")));
    for (int i = 0; i < 3; ++i) {
      start({m_model});
      run({"see Build"});
      std::this_thread::sleep_for(1s);
      run({"tab Runs", "tab Layers", "see FLOPs"});
      kill();
      QDir(m_folder->filePath("cache/sessions")).removeRecursively();
    }
  }

  void isKilledWhenNothingWasDoneYet() {
    start({m_model});
    run({"see Build"});
    kill();
    start({m_model});
    run({"see Build"});
    QVERIFY(keptFiles().isEmpty());  // there was nothing to keep, and nothing is offered
    act({"act quit"});
    QVERIFY(m_program->waitForFinished(kBuildMs));
    QVERIFY(leftovers().isEmpty());
  }

  void isKilledAfterAPin() {
    pin();
    const Session before = killWhen([](const Session& kept) { return kept.options.directives.size() == 1; });
    QCOMPARE(before.options.precisions, std::vector{DataType::F16});
    const Session after = recovered();
    checkSame(before, after);
    // Saved and closed, it is not offered again, and nothing is left of it but the user's file.
    act({"act quit"});
    QVERIFY(m_program->waitForFinished(kBuildMs));
    QVERIFY(keptFiles().isEmpty());
    start({m_folder->filePath("saved.fsession")});
    run({"see Build"});
    QVERIFY(keptFiles().isEmpty());
  }

  void isKilledWhileItBuilds() {
    pin();
    run({"act build"});
    const Session before = killWhen([](const Session& kept) {
      return !kept.runs.empty() && kept.runs[0].state == RunState::Interrupted;  // as which one under way is read
    });
    const Session after = recovered();
    checkSame(before, after);
    QCOMPARE(after.runs.size(), std::size_t(1));
    QVERIFY(after.runs[0].state == RunState::Interrupted || after.runs[0].state == RunState::Ready);
    // The number of a run is not used again, and it can be built.
    run({"act build"});
    const Session built =
        keptWhen([](const Session& kept) { return kept.runs.size() == 2 && kept.runs[1].state == RunState::Ready; });
    QCOMPARE(built.runs[1].id, std::string("2"));
  }

  void isKilledAfterRunsWereDone() {
    pin();
    run({"act build_both"});
    const Session before = killWhen([](const Session& kept) { return kept.runs.size() == 3 && done(kept); });
    QCOMPARE(before.runs[2].kind, RunKind::Comparison);
    QCOMPARE(before.runs[1].evaluations.size(), std::size_t(1));
    QVERIFY(verdictOf(before.runs[1], before.settings).kind != Verdict::Kind::Unknown);
    const Session after = recovered();
    checkSame(before, after);
    for (std::size_t i = 0; i < 2; ++i) QVERIFY(QFile::exists(qs(after.runs[i].enginePath)));
  }

  void isKilledWhileItSaves() {
    pin();
    run({"act build"});
    const Session before = keptWhen([](const Session& kept) { return kept.runs.size() == 1 && done(kept); });
    const QString kept = keptFiles().first();
    QString last = kept;  // where all of it is
    int whole = 0, absent = 0;
    for (int i = 0; i < 8; ++i) {
      const QString file = m_folder->filePath(QStringLiteral("saved_%1.fsession").arg(i));
      act({"act save_session_as", "file " + file});
      waitForWord("did file");
      std::this_thread::sleep_for(i * i * 500us);
      kill();
      // The new file is whole or not there; what was there before is as it was.
      const auto saved = readSession(file.toStdString());
      QVERIFY2(saved.ok() || !QFile::exists(file), saved.ok() ? "" : saved.error().text().c_str());
      (saved.ok() ? whole : absent) += 1;
      if (saved.ok()) last = file;
      const auto all = readSession(last.toStdString());
      QVERIFY2(all.ok(), all.ok() ? "" : all.error().text().c_str());
      checkSame(before, all.value());
      start(last == kept ? QStringList() : QStringList{last});
      run(last == kept ? QStringList{"click Recover", "see Build"} : QStringList{"see Build"});
      QVERIFY(QFile::exists(qs(before.runs[0].enginePath)));  // what is collected at the start is not this
    }
    qInfo("%d times the file was whole, %d times not there yet", whole, absent);
  }

 private:
  static bool done(const Session& session) {
    return std::ranges::all_of(session.runs, [](const Run& run) { return run.state == RunState::Ready; });
  }
  QString sessions() const { return m_folder->filePath("cache/sessions"); }
  QStringList keptFiles() const {
    QStringList files;
    for (const QFileInfo& file : QDir(sessions()).entryInfoList({"*.fsession"}, QDir::Files)) files << file.filePath();
    return files;
  }
  /// All that is in the folder of sessions.
  QStringList leftovers() const {
    return QDir(sessions()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden);
  }

  QProcessEnvironment environment() const {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("FUSESCOPE_CACHE", m_folder->filePath("cache"));
    environment.insert("XDG_CONFIG_HOME", m_folder->filePath("config"));
    environment.insert("TMPDIR", m_folder->path());  // what a killed window leaves there goes too
    environment.insert("QT_PLUGIN_PATH", FUSESCOPE_PLUGIN_DIR);
    environment.insert("QT_QPA_GENERIC_PLUGINS", "fusescope_driver");
    return environment;
  }
  void start(const QStringList& arguments) {
    end();
    m_said.clear();
    m_program = std::make_unique<QProcess>();
    m_program->setProcessEnvironment(environment());
    m_program->start(FUSESCOPE_BIN_DIR "/fusescope-gui", arguments);
    QVERIFY(m_program->waitForStarted(test::kPatienceMs));
  }
  void end() {
    if (!m_program) return;
    if (m_program->state() != QProcess::NotRunning) kill();
    m_program.reset();
  }
  void kill() {
    QCOMPARE(::kill(static_cast<pid_t>(m_program->processId()), SIGKILL), 0);
    QVERIFY(m_program->waitForFinished(test::kPatienceMs));
  }
  /// Tells the driver what to do, and does not wait for it.
  void act(const QStringList& lines) {
    for (const QString& line : lines) m_program->write(line.toUtf8() + '\n');
    m_program->waitForBytesWritten(test::kPatienceMs);
  }
  /// Waits until the program has begun all of it.
  void run(const QStringList& lines) {
    for (const QString& line : lines) {
      act({line});
      waitForWord("did " + line);
    }
  }
  void waitForWord(const QString& words) {
    const auto said = [&] {
      m_said += m_program->readAllStandardOutput();
      const int at = m_said.indexOf(words.toUtf8());
      if (at >= 0) m_said.remove(0, at + words.size());
      return at >= 0;
    };
    QVERIFY2(QTest::qWaitFor(said, kBuildMs), qPrintable(words + ": " + m_program->readAllStandardError()));
  }
  /// Opens the model, chooses float16 and pins a node.
  void pin() {
    start({m_model});
    run({"see Build", "down Precision", "act pin_pattern", "type " + kNode, "click Pin"});
  }
  /// What the program has kept of itself, once it is so.
  Session keptWhen(const std::function<bool(const Session&)>& is) {
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
        kBuildMs);
    if (!came) QTest::qFail("it was not kept", __FILE__, __LINE__);
    return found;
  }
  Session killWhen(const std::function<bool(const Session&)>& is) {
    keptWhen(is);
    kill();
    return keptWhen([](const Session&) { return true; });  // more may have been kept meanwhile
  }
  /// Starts the program again, recovers what it offers, and saves it: what it has then.
  Session recovered() {
    const QString file = m_folder->filePath("saved.fsession");
    start({});
    run({"click Recover", "see Build", "act save_session_as", "file " + file});
    if (!QTest::qWaitFor([&] { return QFile::exists(file) && keptFiles().isEmpty(); }, kBuildMs))
      QTest::qFail("it was not saved", __FILE__, __LINE__);
    const auto session = readSession(file.toStdString());
    return session.ok() ? session.value() : Session();
  }
  /// The same work: where it is shown and what files it is in aside.
  static void checkSame(const Session& before, const Session& after) {
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

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<Lifeline> m_lifeline;
  QString m_model;
  std::unique_ptr<QProcess> m_program;
  QByteArray m_said;
};

FUSESCOPE_GUI_TEST(ProgramTest, 9)
#include "program_test.moc"
