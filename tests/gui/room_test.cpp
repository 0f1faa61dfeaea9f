#include <QDockWidget>
#include <QJsonDocument>
#include <QLabel>
#include <QMenuBar>
#include <QSettings>
#include <QSplitter>
#include <QStatusBar>
#include <QTextBrowser>
#include <QToolBar>
#include <QToolButton>
#include <QtTest>

#include "planning/fused_node_facts.h"
#include "tests/gui/gui_support.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

Q_DECLARE_METATYPE(ThemeKind)

namespace {

constexpr Qt::DockWidgetArea kLeft = Qt::LeftDockWidgetArea, kRight = Qt::RightDockWidgetArea,
                             kBelow = Qt::BottomDockWidgetArea;

}  // namespace

/// The graph has the room that nobody asked for; docks open on demand, fold away, and remember how they were.
class RoomTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    QSettings().clear();
    m_window = test::activeWindow({1440, 900});
    QVERIFY(m_window != nullptr);
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void theGraphHasMostOfTheWindow_data() {
    QTest::addColumn<ThemeKind>("theme");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<bool>("large");
    QTest::addColumn<double>("least");
    for (const ThemeKind theme : {ThemeKind::Dark, ThemeKind::Light}) {
      for (const bool large : {false, true}) {
        const QString of =
            QString("%1, %2 network").arg(theme == ThemeKind::Dark ? "dark" : "light", large ? "large" : "small");
        QTest::newRow(qPrintable("1440x900, " + of)) << theme << QSize(1440, 900) << large << 0.6;
        QTest::newRow(qPrintable("1024x700, " + of)) << theme << QSize(1024, 700) << large << 0.5;
        QTest::newRow(qPrintable("3840x2160, " + of)) << theme << QSize(3840, 2160) << large << 0.6;
      }
    }
  }
  void theGraphHasMostOfTheWindow() {
    QFETCH(ThemeKind, theme);
    QFETCH(QSize, size);
    QFETCH(bool, large);
    QFETCH(double, least);
    m_window->setTheme(theme);
    m_window->resize(size);
    QTemporaryDir folder;
    if (large) {
      m_window->openFile(test::writeResidualChain(folder.path(), 2000));
      QTRY_VERIFY(m_window->document().snapshot() != nullptr);
      QVERIFY(m_window->canvas().waitForLayout(test::kPatienceMs));
    } else {
      QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    }
    QTest::qWait(50);
    QCOMPARE(m_window->size(), size);
    const QWidget& graph = m_window->room().graph();
    QVERIFY(graph.isVisible() && graph.isAncestorOf(&m_window->canvas()));
    const double share = double(graph.width()) * graph.height() / (double(size.width()) * size.height());
    qInfo("%s: %.1f %%", QTest::currentDataTag(), 100 * share);
    QVERIFY2(share >= least, qPrintable(QString::number(share)));
    // Nothing of it lies under something else.
    QCOMPARE(m_window->canvas().visibleRegion().boundingRect(), m_window->canvas().rect());
  }

  void aTabOpensItsDockAndClosesIt() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    DockTabs& tabs = m_window->room().area(kBelow).tabs();
    QCOMPARE(tabs.height(), 28);
    QVERIFY(m_window->room().area(kBelow).height() == 28 && tabs.isVisible());
    const QWidget &runs = *test::dockOf(*m_window, "Runs"), &layers = *test::dockOf(*m_window, "Layers");
    QVERIFY(!runs.isVisible() && !layers.isVisible());
    clickTab(kBelow, "Runs");
    QVERIFY(runs.isVisible() && !layers.isVisible());
    QVERIFY(runs.mapTo(m_window.get(), QPoint(0, runs.height())).y() <= tabs.mapTo(m_window.get(), QPoint()).y());
    QCOMPARE(tabs.height(), 28);
    clickTab(kBelow, "Layers");
    QVERIFY(!runs.isVisible() && layers.isVisible());
    clickTab(kBelow, "Layers");
    QVERIFY(!layers.isVisible());
    QCOMPARE(m_window->room().area(kBelow).height(), 28);
    // By key, from within the bar, and by Escape from within the dock.
    QTest::keyClick(m_window.get(), Qt::Key_3, Qt::ControlModifier);
    QVERIFY(layers.isVisible() && layers.isAncestorOf(QApplication::focusWidget()));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QVERIFY(!layers.isVisible());
    QCOMPARE(QApplication::focusWidget(), &m_window->canvas());
    tabs.setFocus();
    QTest::keyClick(&tabs, Qt::Key_Right);
    QTest::keyClick(&tabs, Qt::Key_Return);
    QVERIFY(test::dockOf(*m_window, "Validation")->isVisible());
    QTest::keyClick(&tabs, Qt::Key_Space);
    QVERIFY(!test::dockOf(*m_window, "Validation")->isVisible());
  }

  void aDockHasOneTitle() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    QVERIFY(m_window->findChildren<QDockWidget*>().isEmpty());
    for (const QString& dock : m_window->dockNames()) {
      m_window->showDock(dock);
      int titles = 0;
      for (const QTabBar* bar : m_window->findChildren<QTabBar*>())
        for (int tab = 0; bar->isVisible() && tab < bar->count(); ++tab) titles += bar->tabText(tab) == dock ? 1 : 0;
      for (const QLabel* label : m_window->findChildren<QLabel*>())
        titles += label->isVisible() && label->text() == dock ? 1 : 0;
      QVERIFY2(titles == 1, qPrintable(dock));
    }
  }

  void aDockIsAsHighAsItWasMade() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->showDock("Layers");
    const QWidget& below = m_window->room().area(kBelow);
    const int before = below.height();
    drag(Qt::Vertical, -90);
    const int dragged = below.height();
    QVERIFY2(dragged >= before + 60, qPrintable(QString("%1, %2").arg(before).arg(dragged)));
    clickTab(kBelow, "Layers");
    QCOMPARE(below.height(), 28);
    m_window->resize(1500, 950);
    clickTab(kBelow, "Runs");
    QCOMPARE(below.height(), dragged);
    m_window->actions().find("reset_docks")->trigger();
    QCOMPARE(below.height(), 28);
    QVERIFY(!test::dockOf(*m_window, "Runs")->isVisible());
  }

  void sidesFoldToTheEdge_data() {
    QTest::addColumn<int>("side");
    QTest::addColumn<QString>("dock");
    QTest::addColumn<int>("modifiers");
    QTest::newRow("left") << int(kLeft) << "Outline" << int(Qt::ControlModifier);
    QTest::newRow("right") << int(kRight) << "Inspector" << int(Qt::ControlModifier | Qt::AltModifier);
  }
  void sidesFoldToTheEdge() {
    QFETCH(int, side);
    QFETCH(QString, dock);
    QFETCH(int, modifiers);
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    DockArea& area = m_window->room().area(Qt::DockWidgetArea(side));
    const QWidget& page = *test::dockOf(*m_window, dock);
    const int graph = m_window->canvas().width(), wide = area.width();
    QVERIFY(page.isVisible() && area.tabs().height() == 28);
    const auto press = [&] { QTest::keyClick(m_window.get(), Qt::Key_B, Qt::KeyboardModifiers(modifiers)); };
    press();
    QVERIFY(!page.isVisible());
    QCOMPARE(area.width(), 28);
    QVERIFY(area.tabs().isVisible() && area.tabs().tabRect(0).height() > area.tabs().tabRect(0).width());
    QCOMPARE(m_window->canvas().width(), graph + wide - 28);
    press();
    QVERIFY(page.isVisible());
    QCOMPARE(area.width(), wide);
    // The title does the same by a click, and so does the button beside it.
    clickTab(Qt::DockWidgetArea(side), dock);
    QVERIFY(!page.isVisible());
    clickTab(Qt::DockWidgetArea(side), dock);
    QVERIFY(page.isVisible());
    auto* button = area.findChild<QToolButton*>(QString(), Qt::FindDirectChildrenOnly);
    QVERIFY(button->width() >= 24 && button->height() >= 24 && !button->toolTip().isEmpty());
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(!page.isVisible());
    // Who asks for the dock gets it.
    m_window->showDock(dock);
    QVERIFY(page.isVisible());
  }

  void whereItIsNarrowSidesFoldByThemselves() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    const DockArea &left = m_window->room().area(kLeft), &right = m_window->room().area(kRight);
    QVERIFY(!left.folded() && !right.folded());
    m_window->resize(1024, 700);
    QTRY_VERIFY(left.folded() && !right.folded());
    m_window->resize(640, 600);
    QTRY_VERIFY(left.folded() && right.folded());
    QCOMPARE(m_window->size(), QSize(640, 600));
    m_window->resize(1440, 900);
    QTRY_VERIFY(!left.folded() && !right.folded());
    // What somebody unfolded or folded himself stays.
    m_window->resize(1024, 700);
    QTRY_VERIFY(left.folded());
    clickTab(kLeft, "Outline");
    m_window->resize(900, 700);
    QVERIFY(!left.folded());
    clickTab(kRight, "Inspector");
    m_window->resize(1600, 900);
    QVERIFY(right.folded());
  }

  void whatWasChosenIsRemembered() {
    m_window = rememberingWindow();
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    clickTab(kLeft, "Outline");
    m_window->showDock("Runs");
    drag(Qt::Vertical, -60);
    const int high = m_window->room().area(kBelow).height();
    QVERIFY(m_window->close());
    m_window = rememberingWindow();
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    QVERIFY(!test::dockOf(*m_window, "Outline")->isVisible() && test::dockOf(*m_window, "Inspector")->isVisible());
    QVERIFY(test::dockOf(*m_window, "Runs")->isVisible());
    QCOMPARE(m_window->room().area(kBelow).height(), high);
    clickTab(kBelow, "Runs");
    QVERIFY(m_window->close());
    m_window = rememberingWindow();
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    QCOMPARE(m_window->room().area(kBelow).height(), 28);
    QVERIFY(m_window->close());
    // What no window wrote is as if there were nothing.
    for (const QByteArray& rubbish :
         {QByteArray("\0\0\0\xff\0", 5), QByteArray("{\"left\":3,\"below\":{\"size\":-7}}"),
          QByteArray("{\"below\":{\"wish\":\"open\",\"size\":99999,\"front\":\"Gone\"}}")}) {
      QSettings().setValue("docks", rubbish);
      m_window = rememberingWindow();
      QVERIFY(test::openSample(*m_window, "fp16_overflow"));
      QVERIFY(m_window->canvas().height() >= 160 && m_window->canvas().width() >= 400);
      m_window.reset();
    }
  }

  void findStaysInItsWindow_data() {
    QTest::addColumn<int>("width");
    for (const int width : {1440, 1024, 800, 640}) QTest::newRow(qPrintable(QString::number(width))) << width;
  }
  void findStaysInItsWindow() {
    QFETCH(int, width);
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    m_window->resize(width, 700);
    QTRY_COMPARE(m_window->size(), QSize(width, 700));
    QLineEdit* box = test::searchBoxOf(*m_window);
    auto* count = box->parentWidget()->findChild<QLabel*>();
    const auto inside = [&](const QWidget& part) {
      const QRect place(part.mapTo(m_window.get(), QPoint()), part.size());
      return part.isVisible() && m_window->rect().contains(place) && part.width() >= part.minimumSizeHint().width() &&
             part.visibleRegion().boundingRect() == part.rect();
    };
    QTRY_VERIFY(inside(*box));
    for (const char* text : {"conv", "no such node", "c"}) {
      box->setText(text);
      QTRY_VERIFY2(inside(*box) && inside(*count), text);
      m_window->actions().find("next_match")->trigger();
      QTRY_VERIFY2(inside(*box) && inside(*count), qPrintable(count->text()));
      // It lies over no menu.
      for (QAction* menu : m_window->menuBar()->actions()) {
        const QRect place = m_window->menuBar()->actionGeometry(menu);
        QVERIFY2(place.right() < box->parentWidget()->geometry().left(), qPrintable(menu->text()));
      }
    }
    box->clear();
    QTRY_VERIFY(inside(*box));
  }

  void theToolBarIsWhole() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    auto* bar = m_window->findChild<QToolBar*>("toolbar");
    for (const int width : {1440, 1024}) {
      m_window->resize(width, 700);
      QTest::qWait(50);
      const auto* more = bar->findChild<QToolButton*>("qt_toolbar_ext_button");
      QVERIFY2(more == nullptr || !more->isVisible(), qPrintable(QString::number(width)));
      for (QAction* action : bar->actions()) {
        const QWidget* widget = bar->widgetForAction(action);
        if (!action->isVisible() || widget->sizePolicy().horizontalPolicy() == QSizePolicy::Expanding) continue;
        QVERIFY2(bar->rect().contains(widget->geometry()) && widget->width() >= widget->minimumSizeHint().width(),
                 qPrintable(action->text()));
      }
    }
  }

  void aBuildIsSeenWhereItsDockIsClosed() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    const DockTabs& tabs = m_window->room().area(kBelow).tabs();
    const int tab = tabOf(kBelow, "Runs");
    auto* said = m_window->statusBar()->findChild<QLabel*>("activity");
    const int before = tabs.tabRect(tab).width();
    m_window->controller().build();
    QVERIFY(m_window->controller().busy());
    QTRY_VERIFY(tabs.mark(tab).text.contains(QString::fromUtf8("…")));
    QVERIFY(tabs.mark(tab).kind == DockMark::Kind::Busy);
    QVERIFY(tabs.tabRect(tab).width() > before && tabs.accessibleTabName(tab).contains(tabs.mark(tab).text));
    QVERIFY2(said->isVisible() && said->text().contains("run 1"), qPrintable(said->text()));
    QTRY_VERIFY2(!m_window->controller().busy(), qPrintable(m_window->controller().activity()));
    QTRY_VERIFY(tabs.mark(tab).kind == DockMark::Kind::Done);
    QVERIFY2(said->text().startsWith("run 1"), qPrintable(said->text()));
    // Whoever looks has seen it.
    clickTab(kBelow, "Runs");
    QCOMPARE(tabs.mark(tab).text, QString());
    clickTab(kBelow, "Runs");
    m_window->controller().build();
    m_window->controller().cancel();
    QTRY_VERIFY2(!m_window->controller().busy(), qPrintable(m_window->controller().activity()));
    QTRY_VERIFY2(tabs.mark(tab).text.contains("cancelled"), qPrintable(tabs.mark(tab).text));
    // What was made and gives wrong results is not done.
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    m_window->controller().buildBoth();
    QTRY_VERIFY2(!m_window->controller().busy(), qPrintable(m_window->controller().activity()));
    QTRY_VERIFY2(tabs.mark(tab).kind == DockMark::Kind::Failed, qPrintable(tabs.mark(tab).text));
    QVERIFY2(said->text().contains(QString::fromUtf8("✗ fails")), qPrintable(said->text()));
  }

  void whatWasAllInViewStaysSo() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    GraphView& canvas = m_window->canvas();
    canvas.fit();
    QVERIFY(allInView());
    m_window->showDock("Runs");
    drag(Qt::Vertical, -250);
    QVERIFY(canvas.height() < 400);
    QTRY_VERIFY(allInView());
    m_window->resize(800, 500);
    QTRY_VERIFY(allInView());
    m_window->resize(1440, 900);
    m_window->actions().find("reset_docks")->trigger();
    QTRY_VERIFY(allInView());
    QVERIFY(canvas.zoom() > 0.9);
    // Who looks at a part keeps looking at it.
    canvas.setZoom(3);
    const QPointF centre = canvas.view().centre;
    m_window->showDock("Runs");
    QVERIFY((canvas.view().centre - centre).manhattanLength() < 1);
    QCOMPARE(canvas.zoom(), 3.0);
  }

  void theInspectorSaysWhatMattersFirst() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    auto& inspector = m_window->dock<InspectorDock>();
    QVERIFY(inspector.text().startsWith("No run is shown."));
    QVERIFY(inspector.text().indexOf("Build this plan and time it") < inspector.text().indexOf("parameters"));
    // The next step is a link that one can press.
    emit inspector.findChild<QTextBrowser*>()->anchorClicked(QUrl("do:build"));
    QVERIFY(m_window->controller().busy());
    QTRY_VERIFY2(!m_window->controller().busy(), qPrintable(m_window->controller().activity()));
    QVERIFY2(inspector.text().contains("Evaluate it: how far is it from float32?"), qPrintable(inspector.text()));
    const auto inOrder = [&](const QStringList& parts) {
      int last = -1;
      for (const QString& part : parts) {
        const int at = inspector.text().indexOf(part);
        if (at <= last) return false;
        last = at;
      }
      return true;
    };
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    m_window->selection().set(snapshot.nodesNamed("node_layer_norm"));
    QTRY_VERIFY(!inspector.text().contains("working it out"));
    QVERIFY2(inOrder({"computes in", "time", "share", "Why", "What would help", "Facts", "Inputs", "Outputs"}),
             qPrintable(inspector.text()));
    m_window->selection().set(snapshot.fusedOf(snapshot.nodesNamed("node_linear").front())->nodes);
    QTRY_VERIFY(inspector.text().contains("share"));
    QVERIFY2(inOrder({"computes in", "time", "share", "Why", "Facts", "Nodes", "Inner values"}),
             qPrintable(inspector.text()));
    // The shares of all kernels are one run's time.
    double all = 0;
    const QRegularExpression percent("([0-9.]+) % of the run's time in kernels");
    for (const FusedNode& fused : snapshot.plan->fusedNodes) {
      m_window->selection().set(fused.nodes);
      QTRY_VERIFY2(percent.match(inspector.text()).hasMatch(), qPrintable(inspector.text()));
      all += percent.match(inspector.text()).captured(1).toDouble();
    }
    QVERIFY2(std::abs(all - 100) <= 2, qPrintable(QString::number(all)));
  }

 private:
  static std::unique_ptr<MainWindow> rememberingWindow() {
    auto window = std::make_unique<MainWindow>(ThemeKind::Dark, true);
    window->resize(1440, 900);
    window->show();
    return window;
  }
  int tabOf(Qt::DockWidgetArea side, const QString& name) {
    const DockTabs& tabs = m_window->room().area(side).tabs();
    for (int tab = 0; tab < tabs.count(); ++tab)
      if (tabs.tabText(tab) == name) return tab;
    qFatal("there is no such tab");
  }
  void clickTab(Qt::DockWidgetArea side, const QString& name) {
    DockTabs& tabs = m_window->room().area(side).tabs();
    QTest::mouseClick(&tabs, Qt::LeftButton, {}, tabs.tabRect(tabOf(side, name)).center());
  }
  /// Drags the line between the graph and what is below or right of it.
  void drag(Qt::Orientation across, int by) {
    for (auto* splitter : m_window->room().findChildren<QSplitter*>()) {
      if (splitter->orientation() != across || splitter->parentWidget() == nullptr || splitter->count() < 2) continue;
      if (!splitter->isAncestorOf(&m_window->canvas())) continue;
      QSplitterHandle* handle = splitter->handle(splitter->count() - 1);
      const QPoint from = handle->rect().center(), to = from + (across == Qt::Vertical ? QPoint(0, by) : QPoint(by, 0));
      QTest::mousePress(handle, Qt::LeftButton, {}, from);
      QMouseEvent move(QEvent::MouseMove, to, handle->mapToGlobal(to), Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
      QApplication::sendEvent(handle, &move);
      QTest::mouseRelease(handle, Qt::LeftButton, {}, handle->mapFromGlobal(handle->mapToGlobal(from)));
      return;
    }
  }
  bool allInView() {
    GraphView& canvas = m_window->canvas();
    for (const FusedNode& fused : m_window->document().snapshot()->plan->fusedNodes) {
      const QRect box = canvas.itemRect(qs(handleOf(fused)));
      if (box.isEmpty() || !canvas.rect().contains(box)) return false;
    }
    return true;
  }
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(RoomTest, 15)
#include "room_test.moc"
