#include <QTableView>
#include <QtTest>

#include "tests/gui/gui_support.h"
#include "ui/docks/memory_dock.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000;

}  // namespace

/// Memory over time of the shown run: from a build to what is selected.
class MemoryTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->showDock("Memory");
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void aBuiltRunShowsWhatItsMemoryHolds() {
    QVERIFY2(dock().hint().startsWith("Build the plan"), qPrintable(dock().hint()));
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(m_window->runs().shown() != nullptr && m_window->runs().shown()->time, kBuildMs);
    QTRY_VERIFY2(dock().hint().isEmpty(), qPrintable(dock().hint()));
    MemoryPlot& plot = dock().plot();
    QVERIFY(!plot.usedBytes().empty());
    QVERIFY2(dock().facts().contains("peak"), qPrintable(dock().facts()));
    QCOMPARE(plot.current(), int(plot.peak()));
    QVERIFY2(plot.accessibleDescription().startsWith("The peak is"), qPrintable(plot.accessibleDescription()));
    // A step that is clicked selects what it runs.
    const RunTime& time = *std::as_const(*m_window->runs().shown()).time;
    const auto& steps = std::as_const(time.memory)->steps;
    const auto kernel = std::ranges::find_if(steps, [](const auto& step) { return !step.identity.empty(); });
    QVERIFY(kernel != steps.end());
    const int at = int(kernel - steps.begin());
    QTest::mouseClick(&plot, Qt::LeftButton, {}, QPoint(int(plot.placeOf(at)), plot.height() / 2));
    QCOMPARE(plot.current(), at);
    QVERIFY(!m_window->selection().nodes().empty());
    QTRY_VERIFY(plot.marked().contains(at));
    QCOMPARE(dock().pieces().rowCount(), int(std::as_const(time.memory)->at(std::size_t(at)).size()));
    // By keys as well, and back to the peak.
    plot.setFocus();
    QTest::keyClick(&plot, Qt::Key_End);
    QCOMPARE(plot.current(), int(steps.size()) - 1);
    QTest::keyClick(&plot, Qt::Key_P);
    QCOMPARE(plot.current(), int(plot.peak()));
    // It stays in the session.
    QVERIFY(runTimeFromJson(toJson(*m_window->runs().shown())["time"]).value().memory == time.memory);
  }

  void aRunWithoutItSaysSo() {
    Run run;
    run.name = "older";
    run.state = RunState::Ready;
    run.time = RunTime{.medianMs = 1};
    m_window->runs().add(run);
    QTRY_VERIFY2(dock().hint().contains("are not known"), qPrintable(dock().hint()));
    run.options.compiler = "another";
    m_window->runs().add(run);
    QTRY_VERIFY2(dock().hint().contains("does not report"), qPrintable(dock().hint()));
  }

  void manyStepsShareAPixel() {
    MemoryPlot plot([]() -> const Theme& { return Theme::light(); });
    plot.resize(300, 150);
    MemoryTimeline memory{.arenaBytes = 4000};
    for (int i = 0; i < 5000; ++i) {
      memory.steps.push_back({"s", ""});
      memory.pieces.push_back({"v", i == 2500 ? 4000 : 10, std::size_t(i), std::size_t(i), false});
    }
    plot.setMemory(memory);
    QCOMPARE(plot.peak(), std::size_t{2500});
    plot.setCurrent(0);  // its line is not to cover the bar
    const QImage drawn = plot.grab().toImage();
    const int x = int(plot.placeOf(2500));
    bool seen = false;
    for (int near = x - 2; near <= x + 2; ++near) seen = seen || drawn.pixelColor(near, 60) == Theme::light().warning;
    QVERIFY2(seen, "one high step among thousands is drawn");
  }

 private:
  MemoryDock& dock() { return m_window->dock<MemoryDock>(); }
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(MemoryTest, 3)
#include "memory_test.moc"
