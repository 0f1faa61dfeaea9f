#include <QContextMenuEvent>
#include <QMenu>
#include <QTableView>
#include <QTimer>
#include <QtTest>

#include "session/runs/run_comparison.h"
#include "tests/gui/gui_support.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/models/table_model.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000, kModalMs = 20;
const QString kCompare = QStringLiteral("Compare the shown run with this one");

}  // namespace

/// The list of runs: what comes on screen is looked at there, and its menu does what it says.
class RunsDockTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->showDock("Runs");
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void whatComesOnScreenIsSelected() {
    const QString first = add(), second = add();
    QCOMPARE(selected(), second);
    select(first);
    QVERIFY2(dock().details().contains("On screen are the numbers of run " + second), qPrintable(dock().details()));
    const QString third = add();
    QCOMPARE(selected(), third);
    QVERIFY2(dock().details().contains("run " + third), qPrintable(dock().details()));
    // What is looked at stays, whatever else changes.
    select(first);
    runs().rename(second.toStdString(), "another name");
    QCOMPARE(selected(), first);
    // A comparison brings the runs on screen that it is of, and is looked at itself.
    Run compared{.name = "compared", .kind = RunKind::Comparison, .state = RunState::Ready};
    compared.comparison = RunComparison{.a = first.toStdString(), .b = second.toStdString()};
    const QString comparison = qs(runs().add(compared));
    select(comparison);
    runs().show(comparison.toStdString());
    QCOMPARE(qs(runs().shown()->id), second);
    QCOMPARE(selected(), comparison);
  }

  void itSpeaksOfTheRunThatIsOnScreen() {
    const QString other = add();
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    const QString brackets = "The plan on screen is another one: there, these numbers are in brackets.";
    QVERIFY2(dock().details().contains(brackets), qPrintable(dock().details()));
    const QString own = add();
    QVERIFY2(!dock().details().contains("On screen") && !dock().details().contains("brackets"),
             qPrintable(dock().details()));
    select(other);
    QVERIFY2(dock().details().contains("On screen are the numbers of run " + own), qPrintable(dock().details()));
    QVERIFY2(!dock().details().contains("brackets"), qPrintable(dock().details()));
    runs().show(other.toStdString());
    QVERIFY(dock().details().contains(brackets));
    select(own);
    QVERIFY2(dock().details().contains("run " + other + ", baseline, in brackets"), qPrintable(dock().details()));
  }

  void itSaysHowManyRegionsWereEqual() {
    Run run{.name = "equal", .state = RunState::Ready};
    run.model = m_window->document().modelFile().identity();
    run.options = m_window->document().options();
    run.build = RunBuild{.phases = {}, .regions = 40, .distinct = 15, .bytes = 1};
    select(qs(runs().add(run)));
    QVERIFY2(dock().details().contains("25 of 40 regions were equal to others"), qPrintable(dock().details()));
  }

  void itsMenuCompares() {
    for (int i = 0; i < 2; ++i) {
      m_window->controller().build();
      QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    }
    const QString first = qs(runs().all().front().id), shown = qs(runs().shown()->id);
    QVERIFY(first != shown);
    // The shown run is not compared with itself, and that is said.
    chooseInMenuOf(shown);
    QVERIFY(!m_window->controller().busy() && runs().comparison() == nullptr);
    QVERIFY2(m_refusal.contains("the shown run itself"), qPrintable(m_refusal));
    chooseInMenuOf(first);
    QVERIFY(m_window->controller().busy());
    QTRY_VERIFY(!test::dockOf(*m_window, "Compare")->visibleRegion().isEmpty());
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(runs().comparison() != nullptr, qPrintable(m_window->controller().problem()));
    QCOMPARE(qs(runs().comparison()->comparison->a), first);
    QCOMPARE(qs(runs().comparison()->comparison->b), shown);
  }

 private:
  Runs& runs() { return m_window->runs(); }
  RunsDock& dock() { return m_window->dock<RunsDock>(); }
  /// A run of the plan on screen; its id.
  QString add() {
    Run run{.name = titleOf(m_window->document().options()), .state = RunState::Ready};
    run.model = m_window->document().modelFile().identity();
    run.options = m_window->document().options();
    return qs(runs().add(run));
  }
  QModelIndex rowOf(const QString& id) {
    const QAbstractItemModel& model = *dock().table().model();
    for (int row = 0; row < model.rowCount(); ++row)
      if (model.index(row, 1).data(kNameRole).toString() == id) return model.index(row, 1);
    return {};
  }
  QString selected() { return dock().table().currentIndex().data(kNameRole).toString(); }
  void select(const QString& id) {
    QTableView& table = dock().table();
    const QModelIndex row = rowOf(id);
    QVERIFY(row.isValid());
    table.scrollTo(row);
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(row).center());
    QCOMPARE(selected(), id);
  }
  /// Chooses kCompare where it can be chosen; else notes why not.
  void chooseInMenuOf(const QString& id) {
    QTableView& table = dock().table();
    table.scrollTo(rowOf(id));
    const QPoint place = table.visualRect(rowOf(id)).center();
    chooseSoon();
    QContextMenuEvent event(QContextMenuEvent::Mouse, place, table.viewport()->mapToGlobal(place));
    QApplication::sendEvent(table.viewport(), &event);  // until the menu closes
  }
  void chooseSoon() {
    QTimer::singleShot(kModalMs, this, [this] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (menu == nullptr) return chooseSoon();
      for (QAction* action : menu->actions()) {
        if (action->text() != kCompare) continue;
        m_refusal = action->isEnabled() ? QString() : action->toolTip();
        menu->setActiveAction(action);
      }
      QTest::keyClick(menu, m_refusal.isEmpty() ? Qt::Key_Return : Qt::Key_Escape);
    });
  }

  QString m_refusal;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(RunsDockTest, 4)
#include "runs_dock_test.moc"
