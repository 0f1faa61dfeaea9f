#include <QAccessible>
#include <QDialog>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QTableView>
#include <QtTest>
#include <numeric>

#include "planning/fused_node_facts.h"
#include "session/layer_types.h"
#include "tests/gui/gui_support.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/ribbon/ribbon.h"
#include "ui/ribbon/ribbon_words.h"
#include "ui/window/main_window.h"

using namespace fusescope;

/// The ribbon in the window: what a user sees of it and does with it.
class RibbonTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void aClickSelectsAndMovesTheCanvas() {
    QVERIFY(open("squeezenet1_1"));
    canvas().setZoom(3);
    const std::uint32_t kernel = static_cast<std::uint32_t>(ribbon().picture().shown().size()) - 3;
    const FusedNode& fused = ribbon().picture().shown().fused(kernel);
    QVERIFY(!canvas().rect().contains(canvas().itemRect(test::handle(fused)).center()));
    click(spotOf(kernel));
    QCOMPARE(m_window->selection().nodes(), fused.nodes);
    QTRY_VERIFY(canvas().rect().contains(canvas().itemRect(test::handle(fused)).center()));
    QCOMPARE(ribbon().look().selected.back(), std::vector<std::uint32_t>{spotOf(kernel).bar});
  }

  void whatIsSelectedElsewhereIsMarkedAndSoIsWhatTheCanvasSees() {
    QVERIFY(open("squeezenet1_1"));
    const FusedNode& fused = ribbon().picture().shown().fused(5);
    selectNamed(m_window->selection(), *m_window->document().snapshot(), {test::handle(fused)}, this);
    QCOMPARE(ribbon().look().selected.back(), std::vector<std::uint32_t>{spotOf(5).bar});
    canvas().fit();
    ribbon().grab();
    QCOMPARE(seenShare(), 1.0);
    canvas().setZoom(3);
    ribbon().grab();
    QVERIFY2(seenShare() > 0 && seenShare() < 0.9, qPrintable(QString::number(seenShare())));
  }

  void aBrushZoomsAndADoubleClickGoesToABlock() {
    QVERIFY(open("squeezenet1_1"));
    const double total = ribbon().picture().layout.total;
    const QRect lane = ribbon().rectOf(spotOf(widest()));
    drag({300, lane.center().y()}, {400, lane.center().y()});
    QVERIFY(ribbon().isZoomed());
    QVERIFY(ribbon().range().width() < 0.2 * total);
    QTest::keyClick(&ribbon(), Qt::Key_Home);
    QVERIFY(!ribbon().isZoomed());
    const auto block = firstBlock();
    QVERIFY(block);
    QTest::mouseDClick(&ribbon(), Qt::LeftButton, {}, ribbon().rectOf(*block).center());
    const RibbonBar& bar = ribbon().picture().layout.above[block->row].bars()[block->bar];
    QVERIFY(qAbs(ribbon().range().from - bar.begin) < 1e-6 * total &&
            qAbs(ribbon().range().to - bar.end) < 1e-6 * total);
    m_window->actions().find("ribbon_zoom_out")->trigger();
    QVERIFY(!ribbon().isZoomed());
  }

  void twoRunsOfASplitShowOneBracketAndOneDelta() {
    QVERIFY(open("squeezenet1_1"));
    m_window->runs().add(timedRun());
    PlanOptions split = m_window->document().options();
    split.directives.push_back({.kind = DirectiveKind::Split, .pattern = "node_Conv_7"});
    m_window->document().edit("split", split);
    QTRY_VERIFY(!m_window->document().planning());
    m_window->runs().add(timedRun());
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().lanes.size() == 2);
    const RibbonPicture& picture = ribbon().picture();
    QCOMPARE(picture.lanes[0].size() + 1, picture.lanes[1].size());
    const auto& differences = picture.differences.front();
    const auto changed = [](const GroupDifference& of) { return of.fusion; };
    QCOMPARE(std::ranges::count_if(differences, changed), 1);
    QCOMPARE(
        std::ranges::count_if(differences, [](const GroupDifference& of) { return of.deltaMs && *of.deltaMs != 0; }),
        1);
    const auto at = std::ranges::find_if(differences, changed);
    QVERIFY(qAbs(*at->deltaMs - 1.0) < 1e-9);  // one kernel more, of a millisecond
    const QString told = differenceTooltip(picture, 0, static_cast<std::uint32_t>(at - differences.begin()));
    QVERIFY2(told.contains("1 kernel in run 1") && told.contains("2 kernels in run 2") && told.contains("slower"),
             qPrintable(told));
    QVERIFY(ribbon().deltaBelow(0).text.startsWith('+') && ribbon().deltaBelow(0).text.endsWith("not in turns"));
    QVERIFY(!picture.lanes[1].ofOtherPlan);
  }

  void aRunOfAnotherPlanIsGreyAndSaysSo() {
    QVERIFY(open("squeezenet1_1"));
    m_window->runs().add(timedRun());
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().shown().isMeasured());
    QVERIFY(ribbon().laneText(0).join(' ').contains("measured, run 1"));
    const QColor before = colorAt(widest());
    m_window->document().pin({"node_Conv_7"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning() && ribbon().idle() && ribbon().picture().shown().ofOtherPlan);
    const QStringList said = ribbon().laneText(0);
    QVERIFY2(said.join(' ').contains("run 1, of another plan") && said[0].startsWith('['), qPrintable(said.join(' ')));
    QVERIFY(colorAt(widest()) != before);
  }

  void aPlanThatWasNotTimedSaysWhatItsWidthsAre() {
    QVERIFY(open("fp16_overflow"));
    const QStringList said = ribbon().laneText(0);
    const RibbonPicture& picture = ribbon().picture();
    QVERIFY2(
        picture.basis == WidthBasis::Time ? said[1].contains("predicted") : said.join(' ').contains("width by work"),
        qPrintable(said.join(' ')));
    m_window->actions().find("ribbon_even")->trigger();
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().basis == WidthBasis::Even);
    QVERIFY(ribbon().laneText(0).join(' ').contains("even widths"));
    QCOMPARE(ribbon().picture().layout.total, double(ribbon().picture().shown().size()));
  }

  void aBuildTellsHowFarItIs() {
    QVERIFY(open("fp16_overflow"));
    QStringList words;
    connect(&m_window->controller(), &RunController::activityChanged, this, [&] {
      if (const QString& now = ribbon().look().progress.words; !now.isEmpty()) words << now;
    });
    m_window->controller().build();
    QTRY_VERIFY(!m_window->controller().busy());
    QVERIFY2(!words.isEmpty(), qPrintable(m_window->controller().problem()));
    QVERIFY(ribbon().look().progress.words.isEmpty());
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().shown().isMeasured());
    QVERIFY(ribbon().picture().msOf(0, 0, static_cast<std::uint32_t>(ribbon().picture().shown().size())) > 0);
  }

  void aSearchAndACalibrationShowInTheRibbon() {
    const QTemporaryDir kept;
    m_window = test::shownWindow({.sessions = kept.path()});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning() && ribbon().idle());
    QStringList words;
    bool wasMarked = false;
    connect(&m_window->worker(), &WorkerClient::progressReported, this, [&] {
      if (const RibbonProgress& now = ribbon().look().progress; !now.words.isEmpty()) words << now.words;
      wasMarked = wasMarked || !ribbon().look().progress.tried.empty();
    });
    for (const char* action : {"tune", "calibrate"}) {
      words.clear();
      m_window->actions().find(action)->trigger();
      QDialog* dialog = nullptr;
      for (auto* each : m_window->findChildren<QDialog*>())
        if (each->isVisible()) dialog = each;
      QVERIFY(dialog != nullptr);
      for (auto* button : dialog->findChildren<QPushButton*>())
        if (button->isDefault()) QTest::mouseClick(button, Qt::LeftButton);
      QTRY_VERIFY_WITH_TIMEOUT(!words.isEmpty() && !m_window->worker().busy(), 180'000);
      QTRY_VERIFY2(ribbon().look().progress.words.isEmpty(), qPrintable(ribbon().look().progress.words));
      dialog->close();
      if (QString(action) == "tune") {
        QVERIFY2(words.filter("trying").size() > 0, qPrintable(words.join("; ")));
        QVERIFY(wasMarked);
      } else {
        QVERIFY2(words.filter("calibrate").size() > 0, qPrintable(words.join("; ")));
      }
    }
    m_window.reset();
  }

  void furtherRunsAreLanesWhereTheUserWantsThem() {
    QVERIFY(open("squeezenet1_1"));
    const std::string first = m_window->runs().add(timedRun());
    for (const char* node : {"node_Conv_7", "node_Conv_10"}) {
      PlanOptions split = m_window->document().options();
      split.directives.push_back({.kind = DirectiveKind::Split, .pattern = node});
      assignIds(split.directives);
      m_window->document().edit("split", split);
      QTRY_VERIFY(!m_window->document().planning());
      m_window->runs().add(timedRun());
    }
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().lanes.size() == 2);
    const int height = ribbon().height();
    // By the table of runs: its key takes the selected run in and out.
    m_window->showDock("Runs");
    QTableView& table = m_window->dock<RunsDock>().table();
    const auto rowOf = [&](const std::string& id) {
      for (int row = 0; row < table.model()->rowCount(); ++row)
        if (table.model()->index(row, 1).data(kNameRole).toString() == qs(id)) return table.model()->index(row, 1);
      return QModelIndex();
    };
    table.setCurrentIndex(rowOf(first));
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_L);
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().lanes.size() == 3);
    QVERIFY(ribbon().height() > height);
    const RibbonPicture& picture = ribbon().picture();
    QCOMPARE(picture.lanes[0].run, first);
    QCOMPARE(picture.lanes[2].run, m_window->runs().shown()->id);
    QCOMPARE(rowOf(first).siblingAtColumn(0).data().toString(), QStringLiteral("≡"));
    QCOMPARE(picture.differences.size(), std::size_t(2));
    for (std::size_t lane = 0; lane < 3; ++lane) QVERIFY(ribbon().laneText(lane).value(0).contains("ms"));
    // Each lane is hovered, clicked and walked to like the others.
    const RibbonSpot spot{false, 0, 4};
    const QPoint at = ribbon().rectOf(spot).center();
    QMouseEvent move(QEvent::MouseMove, at, Qt::NoButton, Qt::NoButton, {});
    QCoreApplication::sendEvent(&ribbon(), &move);
    QVERIFY(ribbon().look().hovered == spot);
    QVERIFY2(ribbon().tooltipAt(at).contains("measured in run " + qs(first)), qPrintable(ribbon().tooltipAt(at)));
    click(spot);
    QCOMPARE(m_window->selection().nodes(), kernelOf(spot).nodes);
    ribbon().setFocus();
    for (const std::size_t lane : {1U, 2U}) {
      QTest::keyClick(&ribbon(), Qt::Key_Down);
      QVERIFY(!ribbon().look().current->above);
      QCOMPARE(ribbon().look().current->row, lane);
    }
    // By the menu of the ribbon: the two that are compared stay, the other one goes.
    QMenu menu;
    ribbon().fillMenu(menu);
    const auto lanes = menu.findChild<QMenu*>()->actions();
    QCOMPARE(lanes.size(), 3);
    QVERIFY(lanes[0]->isChecked() && lanes[0]->isEnabled());
    QVERIFY(lanes[1]->isChecked() && !lanes[1]->isEnabled() && lanes[1]->text().endsWith("(A)"));
    QVERIFY(lanes[2]->isChecked() && !lanes[2]->isEnabled() && lanes[2]->text().endsWith("(B)"));
    lanes[0]->trigger();
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().lanes.size() == 2);
    QCOMPARE(ribbon().height(), height);
    // One that is deleted is no lane.
    m_window->runs().setLane(first, true);
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().lanes.size() == 3);
    m_window->runs().remove(first);
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().lanes.size() == 2);
    QVERIFY(m_window->runs().lanes().empty());
  }

  void keysWalkByBarAndByRow() {
    QVERIFY(open("squeezenet1_1"));
    ribbon().setFocus();
    for (int i = 0; i < 3; ++i) QTest::keyClick(&ribbon(), Qt::Key_Right);
    const auto at = ribbon().look().current;
    QVERIFY(at && !at->above);
    QCOMPARE(at->bar, 2U);
    QVERIFY(ribbon().accessibleDescription().contains(qs(kernelOf(*at).name.substr(0, 6))));
    QTest::keyClick(&ribbon(), Qt::Key_Return);
    QCOMPARE(m_window->selection().nodes(), kernelOf(*at).nodes);
    QTest::keyClick(&ribbon(), Qt::Key_Up);
    QVERIFY(ribbon().look().current->above);
    QTest::keyClick(&ribbon(), Qt::Key_Return);
    QVERIFY(ribbon().isZoomed());
    QTest::keyClick(&ribbon(), Qt::Key_Escape);
    QVERIFY(!ribbon().isZoomed());
  }

  void screenReadersAreToldEachBar() {
    QVERIFY(open("squeezenet1_1"));
    m_window->runs().add(timedRun());
    QTRY_VERIFY(ribbon().idle() && ribbon().picture().shown().isMeasured());
    QAccessibleInterface* told = QAccessible::queryAccessibleInterface(&ribbon());
    QVERIFY(told != nullptr);
    QVERIFY(told->childCount() >= static_cast<int>(ribbon().picture().shown().size()));
    const QString name = told->child(1)->text(QAccessible::Name);
    QVERIFY2(name.contains("1.00 ms, measured in run 1") && name.contains("% of all kernels"), qPrintable(name));
    QCOMPARE(told->indexOfChild(told->child(1)), 1);
    QVERIFY(!told->child(1)->state().selected);
    click({false, 0, 1});
    QVERIFY(told->child(1)->state().selected);
  }

  void itIsThereOnceAModelIsOpenAndCanBeHidden() {
    m_window = test::shownWindow();
    QVERIFY(ribbon().isHidden());
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    QVERIFY(ribbon().isVisible());
    QVERIFY(ribbon().height() >= 64 && ribbon().height() <= 120);
    m_window->actions().find("ribbon")->trigger();
    QVERIFY(ribbon().isHidden());
    QVERIFY(m_window->actions().find("ribbon")->text().contains("Show"));
    m_window->actions().find("ribbon")->trigger();
    QVERIFY(ribbon().isVisible());
  }

 private:
  Ribbon& ribbon() { return m_window->ribbon(); }
  GraphView& canvas() { return m_window->canvas(); }
  bool open(const QString& sample) {
    m_window = test::shownWindow();
    return test::openSample(*m_window, sample) &&
           QTest::qWaitFor([&] { return ribbon().idle() && !ribbon().picture().empty(); }, test::kPatienceMs);
  }
  RibbonSpot spotOf(std::uint32_t kernel) {
    return {false, ribbon().picture().lanes.size() - 1, ribbon().picture().layout.barOfKernel.back()[kernel]};
  }
  const FusedNode& kernelOf(const RibbonSpot& spot) {
    const RibbonBar& bar = ribbon().picture().layout.lanes[spot.row].bars()[spot.bar];
    return ribbon().picture().lanes[spot.row].fused(static_cast<std::uint32_t>(bar.what));
  }
  std::uint32_t widest() {
    const auto& bars = ribbon().picture().layout.lanes.back().bars();
    return static_cast<std::uint32_t>(std::ranges::max(bars, {}, &RibbonBar::width).what);
  }
  std::optional<RibbonSpot> firstBlock() {
    for (int y = 0; y < ribbon().height(); ++y)
      if (const auto spot = ribbon().spotAt(QPointF(200, y)); spot && spot->above) return spot;
    return std::nullopt;
  }
  /// Of the parts of the axis that the canvas sees.
  double seenShare() {
    double seen = 0;
    for (const RibbonRange& part : ribbon().look().inView) seen += part.width();
    return seen / ribbon().picture().layout.total;
  }
  void click(const RibbonSpot& spot) {
    QTest::mouseClick(&ribbon(), Qt::LeftButton, {}, ribbon().rectOf(spot).center());
  }
  void drag(const QPoint& from, const QPoint& to) {
    QTest::mousePress(&ribbon(), Qt::LeftButton, {}, from);
    for (const QPoint& at : {(from + to) / 2, to}) {
      QMouseEvent move(QEvent::MouseMove, at, Qt::NoButton, Qt::LeftButton, {});
      QCoreApplication::sendEvent(&ribbon(), &move);
    }
    QTest::mouseRelease(&ribbon(), Qt::LeftButton, {}, to);
  }
  QColor colorAt(std::uint32_t kernel) {
    const QRect rect = ribbon().rectOf(spotOf(kernel));
    return ribbon().grab().toImage().pixelColor(rect.right() - 3, rect.top() + 3);
  }
  /// A run of the plan on screen, of which each kernel took a millisecond.
  Run timedRun() {
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    Run run{.name = "timed", .state = RunState::Ready, .model = m_window->document().modelFile().identity()};
    run.options = m_window->document().options();
    run.extents = m_window->document().inputs();
    RunTime time;
    for (const FusedNode& fused : snapshot.plan->fusedNodes)
      time.layers.push_back({.name = fused.name,
                             .identity = fused.identity.hex(),
                             .types = layerTypes(*snapshot.plan, fused),
                             .medianMs = 1.0});
    time.medianMs = static_cast<double>(time.layers.size());
    run.time = time;
    return run;
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(RibbonTest, 12)

#include "ribbon_test.moc"
