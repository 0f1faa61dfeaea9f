#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "session/artifact.h"
#include "session/compare.h"
#include "session/documents/compare_report.h"
#include "session/documents/engine_reports.h"
#include "session/documents/error_report.h"
#include "session/runs/run_comparison.h"
#include "tests/gui/gui_support.h"
#include "tests/support/metered/allocations.h"
#include "tests/support/paths.h"
#include "ui/compare/two_views.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/profile_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kNodes = 20'000, kFewNodes = 400;
/// A handler that takes over a plan tells a table of each row once: some names and numbers. More is a second pass.
constexpr long kMostForEachNode = 12;
constexpr int kOpenMs = 120'000, kWorkMs = 60'000, kKeptMs = 60'000;

/// Answers each request with what lies in the folder under the name of its operation, after as much progress as a
/// build tells.
const char* const kAnswering =
    "while read -r line; do\n"
    "  id=${line#*\\\"id\\\":}; id=${id%%,*}\n"
    "  op=${line#*\\\"op\\\":\\\"}; op=${op%%\\\"*}\n"
    "  [ \"$op\" = cancel ] && continue\n"
    "  for phase in open plan prepare kernels memory write; do\n"
    "    for detail in 1 2 3 4 5 6 7 8 9; do\n"
    "      echo "
    "\"{\\\"id\\\":$id,\\\"event\\\":\\\"progress\\\",\\\"phase\\\":\\\"$phase\\\",\\\"detail\\\":\\\"$detail\\\"}\"\n"
    "    done\n"
    "    sleep 0.02\n"
    "  done\n"
    "  printf '{\"id\":%s,\"event\":\"done\",\"result\":' \"$id\"; cat \"$op.json\"; printf '}\\n'\n"
    "done\n";

TensorComparison error(const std::string& value) {
  return {.name = value, .ok = true, .maxAbs = 1e-4, .maxRel = 1e-4, .maxOverRms = 1e-4, .ofBound = 0.01};
}

/// Every kernel timed, as a worker says it.
Json timesOf(const Plan& plan) {
  TimeReport report{.medianMs = 12.5, .samples = 100, .threads = 2, .made = std::make_shared<const Plan>(plan)};
  for (const FusedNode& fused : plan.fusedNodes)
    report.layers.push_back({.name = fused.name,
                             .fused = fused.id,
                             .tactic = "native:rows_avx512",
                             .medianMs = 0.0001 * static_cast<double>(fused.id.index % 97)});
  return toJson(report);
}

Json errorsOf(const Plan& plan) {
  ErrorReport report;
  for (const FusedNode& fused : plan.fusedNodes)
    report.values.push_back(error(plan.graph().value(fused.outputs.front().value).name));
  report.outputs.push_back(error("y"));
  return toJson(report);
}

Json comparisonOf(const Plan& plan) {
  CompareReport report{.a = "a.fse", .b = "b.fse", .groups = compareGroups(plan, plan)};
  for (CompareGroup& group : report.groups) {
    group.aMs = 0.001;
    group.bMs = 0.0012;
    group.deltaMs = 0.0002;
    group.deltaRangeMs = Range{0.0001, 0.0003};
  }
  for (const FusedNode& fused : plan.fusedNodes)
    report.values.push_back(error(plan.graph().value(fused.outputs.front().value).name));
  report.outputs.push_back(error("y"));
  report.aMs = 12;
  report.bMs = 13;
  report.turns = 5;
  report.ratioRange = Range{1.05, 1.1};
  return toJson(report);
}

}  // namespace

/// What the window does with a network of 20,000 nodes, and with llama_scale: no handler of the GUI thread makes
/// something for each of them. How long the handlers take is window_benchmark's to tell.
class StallsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }
  void initTestCase() {
    m_window = test::shownWindow({.size = {1920, 1080}, .sessions = m_folder.filePath("sessions")});
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
  }
  void cleanupTestCase() { m_window.reset(); }

  void changesTheThemeOfASmallNetwork() {
    open(test::writeResidualChain(m_folder.path(), kFewNodes));
    m_forThemes = changeThemes();
    QVERIFY(m_forThemes > 0 || !test::kCountsAllocations);
    application().reset();
  }

  void opens() {
    open(test::writeResidualChain(m_folder.path(), kNodes));
    QCOMPARE(m_window->dock<LayersDock>().model().totalCount(), kNodes);
    held();
  }

  void opensAndClosesAKernelInPlace() {
    GraphView& canvas = m_window->canvas();
    QString name;
    for (const FusedNode& fused : plan().fusedNodes)
      if (fused.nodes.size() > 1) name = qs(fused.name);
    application().measure("expand", [&] { canvas.expand(name); });
    QVERIFY(canvas.waitForLayout(kOpenMs));
    QVERIFY(canvas.isOpen(name));
    application().measure("collapse", [&] { canvas.collapse(name); });
    QVERIFY(canvas.waitForLayout(kOpenMs));
    held();
  }

  void searches() {
    int matches = 0;
    application().measure("search", [&] { matches = m_window->canvas().search("relu"); });
    QCOMPARE(matches, kNodes / 4);
    application().measure("end of search", [&] { m_window->canvas().search(QString()); });
    held();
  }

  void changesTheTheme() { themesCostWhatIsOnScreen(); }

  void builds_data() {
    QTest::addColumn<QString>("dock");
    for (const char* dock : {"Layers", "Runs", "Profile", "Compare", "Validation"}) QTest::newRow(dock) << dock;
  }
  /// Both builds, both timings, the evaluation and the comparison, with each page on screen.
  void builds() {
    QFETCH(QString, dock);
    if (m_window->runs().all().empty()) {  // a pin that changes no kernel, so that there are two plans to compare
      const auto before = m_window->document().snapshot();
      m_window->document().pin({plan().graph().node(plan().fusedNodes.front().root).name}, DataType::F32,
                               Strictness::Obey);
      QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != before, kOpenMs);
      QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().idle(), kOpenMs);
      answerFor(plan());
    }
    m_window->showDock(dock);
    QTest::qWait(200);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().idle(), kKeptMs);
    held();  // what the page shows when it comes
    application().measure("build both", [&] { m_window->controller().buildBoth(); });
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kWorkMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    QTest::qWait(1500);  // until the session has been kept, and what was answered is freed
    QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().idle(), kKeptMs);
    held();
    const Runs& runs = m_window->runs();
    const ShownTimes times = runs.layerTimes();
    QCOMPARE(static_cast<std::size_t>(std::distance(times.begin(), times.end())), plan().fusedNodes.size());
    QVERIFY(runs.verdict(*runs.shown()).kind == Verdict::Kind::Pass);
    QVERIFY(runs.comparison() != nullptr);
    QCOMPARE(m_window->dock<ProfileDock>().model().rowCount(), static_cast<int>(plan().fusedNodes.size()));
    QCOMPARE(m_window->dock<CompareDock>().groups().rowCount(), static_cast<int>(plan().fusedNodes.size()));
  }

  void keepsEverythingOfTheRuns() {
    const QStringList files = QDir(m_folder.filePath("sessions")).entryList({"*.fsession"});
    QCOMPARE(files.size(), 1);
    const auto kept = readSession(m_folder.filePath("sessions/" + files.front()).toStdString());
    QVERIFY2(kept.ok(), kept.ok() ? "" : kept.error().text().c_str());
    QVERIFY(kept.value().runs == m_window->runs().all());
  }

  void opensAnotherInItsPlace() {
    for (QWidget* widget : QApplication::topLevelWidgets())
      if (auto* box = qobject_cast<QMessageBox*>(widget)) box->close();
    QVERIFY(m_window->session().save(m_folder.filePath("saved.fsession")).ok());
    open(test::samplePath("fp16_overflow"));
    QTest::qWait(500);
    held();
  }

  void looksAtTwoPlansOfLlamaScale() {
    const auto model = test::zooModel("llama_scale");
    if (!model) QSKIP("no shared test material; set FUSESCOPE_SHARED to its folder");
    open(QString::fromStdString(model->string()));
    held();
    application().measure("precision", [&] { m_window->document().setPrecisions({DataType::F16}); });
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().planning() && m_window->jobs().idle(), kOpenMs);
    held();
    TwoViews& views = m_window->twoViews();
    application().measure("two views", [&] { m_window->actions().find("two_views")->trigger(); });
    QTRY_VERIFY_WITH_TIMEOUT(!views.comparison().busy() && views.comparison().scenes(), kOpenMs);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().idle(), kOpenMs);
    QTest::qWait(500);
    held();
    QVERIFY(views.comparison().pair()->groups.size() > 1);
    application().measure("next difference", [&] { m_window->actions().find("next_difference")->trigger(); });
    QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().idle(), kOpenMs);
    QTest::qWait(500);
    held();
    application().measure("one view", [&] { m_window->actions().find("two_views")->trigger(); });
    held();
  }

  void opensLlamaScale() {
    const auto model = test::zooModel("llama_scale");
    if (!model) QSKIP("no shared test material; set FUSESCOPE_SHARED to its folder");
    open(QString::fromStdString(model->string()));
    held();
    themesCostWhatIsOnScreen(m_forThemes / 4);  // its blocks have longer texts than a chain of residuals
    application().measure("expand", [&] { m_window->canvas().expandAll(); });
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    held();
  }

 private:
  static test::MeteredApplication& application() { return *static_cast<test::MeteredApplication*>(qApp); }
  const Plan& plan() { return *m_window->document().snapshot()->plan; }

  void open(const QString& path) {
    application().reset();
    const auto before = m_window->document().model();
    application().measure("open", [&] { m_window->openFile(path); });
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().model() != before, kOpenMs);
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().idle(), kOpenMs);
  }

  /// No handler since the last reset did more than take over what belongs to each node once.
  void held() {
    qInfo("%s: %s", QTest::currentTestFunction(), qPrintable(application().worst()));
    const long most = kMostForEachNode * static_cast<long>(std::max<std::size_t>(plan().graph().nodeCount(), 1000));
    QVERIFY2(application().most() <= most, qPrintable(application().worst()));
    application().reset();
  }

  /// Sets both themes, with each of two docks in front; gives how often the handler asked for memory that did so most
  /// often.
  long changeThemes() {
    m_window->canvas().setZoom(1);
    long most = 0;
    for (const char* dock : {"Layers", "Validation"}) {
      m_window->showDock(dock);
      QTest::qWait(200);  // what it shows is made when it comes
      application().reset();
      for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
        application().measure("theme", [&] { m_window->setTheme(kind); });
        m_window->canvas().waitForLayout(kOpenMs);
        QTest::qWait(200);  // what a handler puts off is counted, too
      }
      most = std::max(most, application().most());
    }
    return most;
  }

  /// A large network's themes take what a small one's do, and `more` where what is in sight is of another network:
  /// nothing is made anew for a node that is not in sight.
  void themesCostWhatIsOnScreen(long more = 0) {
    const long most = changeThemes();
    const auto nodes = static_cast<long>(plan().graph().nodeCount());
    qInfo("themes of %ld nodes: %s; of %d nodes: %ld; %zu items coloured", nodes, qPrintable(application().worst()),
          kFewNodes, m_forThemes, m_window->canvas().itemsColored());
    QVERIFY2(most <= m_forThemes + more + nodes / 10, qPrintable(application().worst()));
    QVERIFY(m_window->canvas().itemsColored() > 0);
    QVERIFY(m_window->canvas().itemsColored() < static_cast<std::size_t>(nodes / 10));
    application().reset();
  }

  /// From now on a script works for the window: a worker takes minutes to build so many kernels.
  void answerFor(const Plan& plan) {
    const auto write = [&](const char* name, const Json& answer) {
      std::ofstream(m_folder.filePath(name).toStdString()) << answer.dump();
    };
    write("build.json",
          {{"phases", Json::array({{{"name", "kernels"}, {"ms", 1.5}}})}, {"regions", 10}, {"distinct", 2}});
    write("time.json", timesOf(plan));
    write("evaluate.json", errorsOf(plan));
    write("compare.json", comparisonOf(plan));
    const QString script = m_folder.filePath("worker");
    std::ofstream(script.toStdString()) << "#!/bin/sh\ncd " << m_folder.path().toStdString() << "\n" << kAnswering;
    QVERIFY(QFile::setPermissions(script, QFile::ReadOwner | QFile::ExeOwner));
    m_window->worker().setProgram(script);
  }

  QTemporaryDir m_folder;
  std::unique_ptr<MainWindow> m_window;
  long m_forThemes = 0;  ///< of a small network
};

FUSESCOPE_GUI_TEST(StallsTest, 11)
#include "stalls_test.moc"
