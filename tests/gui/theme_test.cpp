#include <QDialog>
#include <QImage>
#include <QMap>
#include <QMenuBar>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QTableView>
#include <QtTest>

#include "tests/gui/gui_support.h"
#include "ui/canvas/graph_view.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

/// Counts the events of each widget that is there now in which Qt takes a style or a palette over.
class Restyled : public QObject {
 public:
  Restyled() {
    for (QWidget* widget : QApplication::allWidgets()) m_widgets.insert(widget);
    qApp->installEventFilter(this);
  }
  bool eventFilter(QObject* receiver, QEvent* event) override {
    const QEvent::Type type = event->type();
    if (m_widgets.contains(receiver) &&
        (type == QEvent::StyleChange || type == QEvent::Polish || type == QEvent::PaletteChange))
      ++m_counts[type][receiver];
    return false;
  }
  /// Of the widget that got most of them.
  int most(QEvent::Type type) const {
    int most = 0;
    for (const int count : m_counts.value(type)) most = std::max(most, count);
    return most;
  }

 private:
  QSet<QObject*> m_widgets;
  QMap<QEvent::Type, QHash<QObject*, int>> m_counts;
};

}  // namespace

/// A change of the theme: what it costs each widget, and that nothing of the other theme is left.
class ThemeTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void eachWidgetIsStyledOnce() {
    const auto window = openWindow(ThemeKind::Dark);
    lookAtAll(*window);
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
      const Restyled restyled;
      window->setTheme(kind);
      QTest::qWait(100);
      QCOMPARE(restyled.most(QEvent::StyleChange), 0);  // a style sheet that is set anew sends these, many to each
      QCOMPARE(restyled.most(QEvent::Polish), 0);
      // Its colours out, those of the palette in, its own in again, and as much of its window's.
      QVERIFY2(restyled.most(QEvent::PaletteChange) <= kMostPalettes,
               qPrintable(QString::number(restyled.most(QEvent::PaletteChange))));
    }
  }

  void aPageThatWasHiddenHasNothingOfTheOtherTheme() {
    const QImage began = lookAtHiddenPage(ThemeKind::Dark, ThemeKind::Dark);
    QVERIFY(began != lookAtHiddenPage(ThemeKind::Light, ThemeKind::Light));
    QCOMPARE(lookAtHiddenPage(ThemeKind::Light, ThemeKind::Dark), began);
  }

  void aWindowThatWasSwitchedLooksAsOneThatBeganSo_data() {
    QTest::addColumn<int>("theme");
    QTest::newRow("dark") << static_cast<int>(ThemeKind::Dark);
    QTest::newRow("light") << static_cast<int>(ThemeKind::Light);
  }
  void aWindowThatWasSwitchedLooksAsOneThatBeganSo() {
    QFETCH(int, theme);
    const auto kind = static_cast<ThemeKind>(theme);
    auto window = openWindow(kind);
    lookAtAll(*window);
    const QMap<QString, QImage> began = lookAtAll(*window);
    window = openWindow(kind == ThemeKind::Dark ? ThemeKind::Light : ThemeKind::Dark);
    const QMap<QString, QImage> other = lookAtAll(*window);
    window->setTheme(kind);
    QVERIFY(window->canvas().waitForLayout(test::kPatienceMs));
    const QMap<QString, QImage> switched = lookAtAll(*window);
    QCOMPARE(switched.keys(), began.keys());
    QVERIFY(began.size() > 10);
    for (const QString& what : began.keys()) {
      QVERIFY2(began[what] != other[what], qPrintable(what));
      if (began[what] == switched[what]) continue;
      const QString folder = qEnvironmentVariable("FUSESCOPE_TEST_PICTURES");  // for whoever looks why
      if (!folder.isEmpty()) began[what].save(folder + "/began.png");
      if (!folder.isEmpty()) switched[what].save(folder + "/switched.png");
      QFAIL(qPrintable(what + " looks different"));
    }
  }

 private:
  static constexpr int kMostPalettes = 4;

  static std::unique_ptr<MainWindow> openWindow(ThemeKind kind) {
    auto window = std::make_unique<MainWindow>(kind, false);
    window->resize(1280, 800);
    window->show();
    if (!test::openSample(*window, "fp16_overflow")) qFatal("the sample does not open");
    return window;
  }

  /// A page with scroll bars that was styled in one theme and was hidden while that was switched to `now`.
  static QImage lookAtHiddenPage(ThemeKind before, ThemeKind now) {
    applyTheme(*qApp, Theme::of(before));
    QStandardItemModel rows(200, 30);
    QTabWidget window;
    auto* pages = new QStackedWidget;
    for (int page = 0; page < 2; ++page) {
      auto* table = new QTableView;
      table->setModel(&rows);
      pages->addWidget(table);
    }
    window.addTab(pages, "pages");
    window.resize(400, 300);
    window.show();
    QTest::qWait(50);
    applyTheme(*qApp, Theme::of(now));
    pages->setCurrentIndex(1);
    QTest::qWait(50);
    return window.grab().toImage();
  }

  /// The window with each dock in front, each menu, and dialogs.
  static QMap<QString, QImage> lookAtAll(MainWindow& window) {
    QMap<QString, QImage> seen;
    for (const QString& dock : window.dockNames()) {
      window.showDock(dock);
      QTest::qWait(100);
      seen["dock " + dock] = window.grab().toImage();
    }
    for (const QAction* entry : window.menuBar()->actions()) {
      entry->menu()->popup(QPoint(0, 0));
      QTest::qWait(20);
      seen["menu " + entry->text()] = entry->menu()->grab().toImage();
      entry->menu()->close();
    }
    for (const char* action : {"run_settings", "export", "tune", "bisect", "calibrate", "inputs", "keys"}) {
      window.actions().find(action)->trigger();
      QTest::qWait(100);
      for (auto* dialog : window.findChildren<QDialog*>()) {
        if (!dialog->isVisible()) continue;
        seen[QString("dialog ") + action] = dialog->grab().toImage();
        dialog->reject();
      }
      QTest::qWait(20);
    }
    return seen;
  }
};

FUSESCOPE_GUI_TEST(ThemeTest, 4)
#include "theme_test.moc"
