// A compiler that is added by its folder and one line of the list, in the window: chosen, built with, shown, and dying.
#include <signal.h>

#include "planning/fused_node_facts.h"
#include "tests/compilers/window_fixture.h"

using namespace fusescope;
using test::kAbacusFault;

class WindowCompilerTest : public test::AbacusWindow {
  Q_OBJECT

 private slots:
  void initTestCase() { begin(); }
  void cleanupTestCase() { end(); }
  void init() { test::catchWarnings(); }
  void cleanup() { endTest(); }

  void itsPlanIsShownAsItMadeIt() {
    openWindow(false);
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
  }

  /// It hands out nothing inside a network: errors are told of outputs and between segments, and the window says so.
  void itsErrorsAreThoseOfTheCommand() {
    openWindow(false);
    chooseAbacus();
    QCOMPARE(m_window->controller().errorsRefusal(), QString());
    m_window->evaluateErrors();
    QTRY_VERIFY(!m_window->controller().busy());
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    const Run run = *m_window->runs().shown();
    QCOMPARE(run.errors.size(), std::size_t(1));
    const RunErrors& errors = *run.errors.front();
    QVERIFY2(errors.inside.find("abacus hands out what a network gives") != std::string::npos ||
                 errors.inside.find("lie between segments") != std::string::npos,
             errors.inside.c_str());
    // What it made is known by now: its kernels are on screen, and have the errors.
    QVERIFY(run.made);
    QTRY_VERIFY(document().snapshot()->made() != nullptr);
    QCOMPARE(errors.nodes.size(), document().snapshot()->cover->fusedNodes.size());
    const ShownErrors shown = m_window->runs().layerErrors();
    int told = 0;
    for (const FusedNode& kernel : document().snapshot()->cover->fusedNodes)
      told += shown.find(handleOf(kernel)).errors.carried.has_value();
    QVERIFY2(told > 0, "no kernel on screen has an error");
    // Nobody knows what another compiler would give in double precision.
    RunSettings settings = m_window->runs().settings();
    settings.errorsAgainst = ErrorsAgainst::F64;
    m_window->runs().setSettings(settings);
    QVERIFY2(m_window->controller().errorsRefusal().contains("only be compared with float32"),
             qPrintable(m_window->controller().errorsRefusal()));
  }

  void aPinShowsThePlanAgain() {
    openWindow(false);
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
    openWindow(false, 600);
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
    qputenv(kAbacusFault, "dies_in_compile");
    openWindow(false);
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
    qputenv(kAbacusFault, "hangs_in_compile");
    openWindow(false);
    chooseAbacus();
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!test::abacusProcesses(temporary()).empty(), test::kPatienceMs);
    m_window->controller().cancel();
    QTRY_VERIFY(!m_window->controller().busy());
    QCOMPARE(m_window->runs().all().front().state, RunState::Cancelled);
    QTRY_VERIFY_WITH_TIMEOUT(test::abacusProcesses(temporary()).empty(), test::kPatienceMs);
  }

  void oneThatCannotBeAskedLeavesThePlanThatWas() {
    openWindow(false);
    const auto before = document().snapshot();
    qputenv(kAbacusFault, "dies_in_support");
    document().setCompiler(*findCompiler("abacus"));
    QTRY_VERIFY(!document().planning());
    QVERIFY2(document().planProblem().contains("was ended by signal 9"), qPrintable(document().planProblem()));
    QVERIFY(document().snapshot() == before);
    QVERIFY(!m_window->controller().buildRefusal().isEmpty());
    qunsetenv(kAbacusFault);
    document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!document().planning());
    QCOMPARE(document().planProblem(), QString());
    QCOMPARE(fateWords("soft"), QStringLiteral("fallback"));
  }

 private:
  void setSeconds(double seconds) {
    RunSettings settings = m_window->runs().settings();
    settings.seconds = seconds;
    m_window->runs().setSettings(settings);
  }
  /// "accelerated" or "fallback": what runs the node by the plan.
  QString fateWords(const char* name) {
    const PlanSnapshot& snapshot = *document().snapshot();
    const FusedNode* fused = snapshot.plan->fusedNodeOf(node(name));
    return fused != nullptr && snapshot.plan->inFallback(*fused) ? QStringLiteral("fallback")
                                                                 : QStringLiteral("accelerated");
  }
  /// Of the processes of a network's segments, the one that was started with the folder in which its inputs lie.
  void killTheOneThatIsTimed() {
    QDirIterator inputs(m_temporary.path(), {QStringLiteral("time.npz")}, QDir::Files, QDirIterator::Subdirectories);
    QVERIFY(inputs.hasNext());
    const QByteArray folder = QFileInfo(inputs.next()).path().toUtf8();
    for (const pid_t id : test::abacusProcesses(temporary())) {
      QFile commandLine(QStringLiteral("/proc/%1/cmdline").arg(id));
      if (commandLine.open(QFile::ReadOnly) && commandLine.readAll().contains(folder)) ::kill(id, SIGKILL);
    }
  }
};

FUSESCOPE_GUI_TEST(WindowCompilerTest, 7)
#include "window_compiler_test.moc"
