// A compiler that is added by its folder and one line of the list, in the window: chosen, built with, shown, and dying.
#include <signal.h>

#include <QDirIterator>
#include <QtTest>

#include "tests/compilers/processes.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr const char* kFault = "FUSESCOPE_TEST_ABACUS";

}  // namespace

class WindowCompilerTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    // What window, worker and abacus write for themselves lies there.
    qputenv("TMPDIR", m_temporary.path().toUtf8());
    qunsetenv(kFault);
    test::writeModel(model(), test::kEveryFate);
  }
  void cleanupTestCase() { qunsetenv("TMPDIR"); }
  void init() { test::catchWarnings(); }
  void cleanup() {
    m_window.reset();
    qunsetenv(kFault);
    QTRY_VERIFY(test::abacusProcesses(m_temporary.path().toStdString()).empty());
    QTRY_VERIFY(!isTemporary(QStringLiteral("abacus*")));
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void itsPlanIsShownAsItMadeIt() {
    openWindow();
    chooseAbacus();
    QCOMPARE(document().options().target, std::string("cpu"));
    QVERIFY(document().snapshot()->made() == nullptr);  // until it compiled there is our prediction alone
    QCOMPARE(fateWords("soft"), QStringLiteral("fallback"));
    build();
    const Run run = *m_window->runs().shown();
    QVERIFY2(run.state == RunState::Ready, run.problem.c_str());
    QVERIFY(run.made);
    QVERIFY(run.time && run.time->medianMs);
    QVERIFY2(qs(run.name).startsWith("abacus"), run.name.c_str());
    QTRY_VERIFY(document().snapshot()->made() != nullptr);
    const PlanSnapshot& shown = *document().snapshot();
    QCOMPARE(shown.made()->compiler.name, std::string("abacus"));
    QCOMPARE(shown.kernelsOf(node("relu")).size(), std::size_t(2));
    QVERIFY(shown.made()->fateOf(node("flat")) == Fate::View);
    QVERIFY(shown.made()->fateOf(node("hard")) == Fate::Fallback);
    QVERIFY(shown.fusedOf(node("flip")) == nullptr);
    QVERIFY(m_window->canvas().waitForLayout(test::kPatienceMs));
    QTRY_VERIFY(m_window->canvas().cover() == shown.cover);
    QVERIFY(m_window->canvas().boxCount() > 0);
    // It hands out nothing inside a network, so that errors of layers cannot be told.
    QVERIFY2(m_window->controller().errorsRefusal().contains("hands out what a network gives"),
             qPrintable(m_window->controller().errorsRefusal()));
  }

  void aPinShowsThePlanAgain() {
    openWindow();
    chooseAbacus();
    build();
    QTRY_VERIFY(document().snapshot()->made() != nullptr);
    document().pin({"product"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!document().planning());
    QTRY_VERIFY(document().snapshot()->made() == nullptr);
    QVERIFY(!m_window->runs().ofThisPlan(*m_window->runs().shown()));
    document().undoStack().undo();
    QTRY_VERIFY(!document().planning());
    QTRY_VERIFY(document().snapshot()->made() != nullptr);
    document().undoStack().undo();  // our own compiler again
    QTRY_VERIFY(!document().planning());
    QCOMPARE(document().options().compiler, std::string(kOwnCompiler));
    QTRY_VERIFY(document().snapshot()->made() == nullptr);
    QVERIFY(document().snapshot()->plan->segments.size() == 1);
  }

  void aProcessThatDiesWhileItIsTimedFailsTheRunAlone() {
    openWindow(600);
    chooseAbacus();
    m_window->controller().build();
    QTRY_VERIFY(isTemporary(QStringLiteral("time.npz")));
    killTheOneThatIsTimed();
    QTRY_VERIFY(!m_window->controller().busy());
    const Run died = m_window->runs().all().front();
    QCOMPARE(died.state, RunState::Failed);
    QVERIFY2(died.problem.find("was ended by signal 9") != std::string::npos, died.problem.c_str());
    setSeconds(0.1);
    build();
    QVERIFY2(m_window->runs().shown()->state == RunState::Ready, m_window->runs().shown()->problem.c_str());
  }

  void whatItsProcessDiesOfFallsBack() {
    qputenv(kFault, "dies_in_compile");
    openWindow();
    chooseAbacus();
    build();
    QVERIFY2(m_window->runs().shown()->state == RunState::Ready, m_window->runs().shown()->problem.c_str());
    QTRY_VERIFY(document().snapshot()->made() != nullptr);
    const ReadBackPlan& made = *document().snapshot()->made();
    for (const NodeId id : made.graph().order()) QVERIFY(made.fateOf(id) == Fate::Fallback);
    QVERIFY2(made.support.front().message.find("was ended by signal 9") != std::string::npos,
             made.support.front().message.c_str());
  }

  void aBuildThatHangsIsCancelled() {
    qputenv(kFault, "hangs_in_compile");
    openWindow();
    chooseAbacus();
    m_window->controller().build();
    QTRY_VERIFY(!test::abacusProcesses(m_temporary.path().toStdString()).empty());
    m_window->controller().cancel();
    QTRY_VERIFY(!m_window->controller().busy());
    QCOMPARE(m_window->runs().all().front().state, RunState::Cancelled);
    QTRY_VERIFY(test::abacusProcesses(m_temporary.path().toStdString()).empty());
  }

  void oneThatCannotBeAskedLeavesThePlanThatWas() {
    openWindow();
    const auto before = document().snapshot();
    qputenv(kFault, "dies_in_support");
    document().setCompiler(*findCompiler("abacus"));
    QTRY_VERIFY(!document().planning());
    QVERIFY2(document().planProblem().contains("was ended by signal 9"), qPrintable(document().planProblem()));
    QVERIFY(document().snapshot() == before);
    QVERIFY(!m_window->controller().buildRefusal().isEmpty());
    qunsetenv(kFault);
    document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!document().planning());
    QCOMPARE(document().planProblem(), QString());
    QCOMPARE(fateWords("soft"), QStringLiteral("fallback"));
  }

 private:
  QString model() const { return m_folder.filePath(QStringLiteral("every_fate.onnx")); }
  PlanDocument& document() { return m_window->document(); }
  NodeId node(const char* name) { return document().snapshot()->graph().findNode(name).value(); }
  void setSeconds(double seconds) {
    RunSettings settings = m_window->runs().settings();
    settings.seconds = seconds;
    m_window->runs().setSettings(settings);
  }
  void openWindow(double seconds = 0.1) {
    const QString kept = m_folder.filePath(QString::fromLatin1(QTest::currentTestFunction()));
    m_window = test::shownWindow({.sessions = kept, .seconds = seconds});
    m_window->session().open(model(), {});
    QTRY_VERIFY(document().snapshot());
  }
  void chooseAbacus() {
    const Compiler* abacus = findCompiler("abacus");
    QVERIFY(abacus != nullptr);
    document().setCompiler(*abacus);
    QTRY_VERIFY(!document().planning());
    QCOMPARE(document().planProblem(), QString());
    QTRY_VERIFY2(m_window->controller().buildRefusal().isEmpty(), qPrintable(m_window->controller().buildRefusal()));
  }
  void build() {
    m_window->controller().build();
    QTRY_VERIFY(!m_window->controller().busy());
  }
  /// "accelerated" or "fallback": what runs the node by the plan.
  QString fateWords(const char* name) {
    const PlanSnapshot& snapshot = *document().snapshot();
    const FusedNode* fused = snapshot.plan->fusedNodeOf(node(name));
    return fused != nullptr && snapshot.plan->inFallback(*fused) ? QStringLiteral("fallback")
                                                                 : QStringLiteral("accelerated");
  }
  /// Whether a file or folder of that name, a glob, is among what was written for a while.
  bool isTemporary(const QString& name) const {
    return QDirIterator(m_temporary.path(), {name}, QDir::AllEntries | QDir::NoDotAndDotDot,
                        QDirIterator::Subdirectories)
        .hasNext();
  }

  /// Of the processes of a network's segments, the one that was started with the folder in which its inputs lie.
  void killTheOneThatIsTimed() {
    QDirIterator inputs(m_temporary.path(), {QStringLiteral("time.npz")}, QDir::Files, QDirIterator::Subdirectories);
    QVERIFY(inputs.hasNext());
    const QByteArray folder = QFileInfo(inputs.next()).path().toUtf8();
    for (const pid_t id : test::abacusProcesses(m_temporary.path().toStdString())) {
      QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(id));
      if (commandLine.open(QFile::ReadOnly) && commandLine.readAll().contains(folder)) ::kill(id, SIGKILL);
    }
  }

  QTemporaryDir m_folder, m_temporary;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(WindowCompilerTest, 6)
#include "window_compiler_test.moc"
