#include <QAbstractButton>
#include <QAbstractItemView>
#include <QComboBox>
#include <QDialog>
#include <QPushButton>
#include <QSpinBox>
#include <QStyleOptionSpinBox>
#include <QTabBar>
#include <QTreeView>
#include <QtTest>

#include "backends/backend.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/reach.h"
#include "ui/dialogs/run_settings_dialog.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kLeastTarget = 24;

}  // namespace

/// The window on screens of every size: it fits, nothing that is needed is out of sight, and what is to be clicked is
/// large enough.
class ScreenTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::activeWindow();
    QVERIFY(m_window != nullptr);
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void fitsASmallScreen() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    for (const QSize& size : {QSize(1024, 768), QSize(1024, 700), QSize(1440, 900), QSize(2560, 1440)}) {
      m_window->resize(size);
      for (const QString& dock : m_window->dockNames()) {
        m_window->showDock(dock);
        QTRY_VERIFY(inFront(test::dockOf(*m_window, dock)));
        QCOMPARE(m_window->size(), size);
      }
      QTRY_VERIFY(test::inSight(*test::searchBoxOf(*m_window)));
      QTRY_VERIFY(m_window->canvas().width() >= 400);
      QTRY_VERIFY(m_window->dock<OutlineDock>().findChild<QTreeView*>()->columnWidth(0) >=
                  130);  // of it, names have most
      QTRY_VERIFY(m_window->dock<InspectorDock>().width() >= 200);
      m_window->showDock("Runs");
      for (QPushButton* button : m_window->dock<RunsDock>().findChildren<QPushButton*>())
        QTRY_VERIFY2(test::inSight(*button), qPrintable(button->text()));
    }
    m_window->fitInto(QSize(960, 540));  // of a screen of 1920x1080 at scale 2
    QTRY_VERIFY(m_window->frameGeometry().width() <= 960 && m_window->height() <= 540 - 40);  // with room for a frame
  }

  void everyDialogFitsWithAllThatIsInIt_data() { test::addScreens(); }
  void everyDialogFitsWithAllThatIsInIt() {
    QFETCH(QSize, size);
    QFETCH(ThemeKind, theme);
    m_window->setTheme(theme);
    m_window->resize(size);
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setTarget("tensorrt-10");  // it has types to truncate
    QTRY_VERIFY(!m_window->document().planning());
    QStringList wrong;
    int fields = 0;
    for (const char* action : {"export", "pin_pattern", "truncation", "bisect", "calibrate", "tune", "compare_file",
                               "inputs", "run_settings", "compilers", "keys", "go_to"}) {
      QWidget* dialog = openedBy(action);
      QVERIFY2(dialog != nullptr, action);
      QTRY_VERIFY(m_window->jobs().idle());
      QTest::qWait(50);  // what a layout puts off
      if (dialog->width() > size.width() || dialog->height() > size.height())
        wrong << QString("%1 is %2x%3").arg(action).arg(dialog->width()).arg(dialog->height());
      for (QWidget* field : test::fieldsOf(*dialog)) {
        if (field->inherits("QLineEditIconButton") || field->parent()->inherits("QAbstractSpinBox")) continue;
        scrollTo(*field);
        ++fields;
        if (!test::inReach(*field))
          wrong << QString("%1: %2 %3 is out of reach")
                       .arg(action, field->metaObject()->className(), field->accessibleName());
      }
      dialog->close();
      QTRY_VERIFY(!dialog->isVisible());
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    QVERIFY(fields > 60);
  }

  void docksGrowBackWithTheWindow() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    for (const char* dock : {"Outline", "Layers"}) m_window->showDock(dock);
    const QWidget &outline = *test::dockOf(*m_window, "Outline"), &layers = *test::dockOf(*m_window, "Layers");
    const auto resized = [&](const QSize& size) {  // until the docks stay as they are
      m_window->resize(size);
      QSize before, now(outline.width(), layers.height());
      do {
        before = now;
        QTest::qWait(300);
        now = QSize(outline.width(), layers.height());
      } while (now != before);
      return now;
    };
    const QSize large = resized({1600, 1000}), small = resized({960, 600});
    QVERIFY(small.width() < large.width());
    QVERIFY(small.height() < large.height());
    QCOMPARE(resized({1600, 1000}), large);
    for (const char* dock : {"Outline", "Inspector", "Layers"}) QVERIFY(test::dockOf(*m_window, dock)->isVisible());
  }

  void aSpinBoxShowsItsArrows() {
    RunSettingsDialog dialog(m_window->context());
    dialog.show();
    auto* box = dialog.findChild<QSpinBox*>();
    const int before = box->value();
    const QImage picture = box->grab().toImage();
    for (const auto arrow : {QStyle::SC_SpinBoxUp, QStyle::SC_SpinBoxDown}) {
      const QRect target = arrowOf(*box, arrow);
      QVERIFY2(target.width() >= kLeastTarget && target.height() >= kLeastTarget,
               qPrintable(QString("%1x%2").arg(target.width()).arg(target.height())));
      QSet<QRgb> colors;
      for (int x = target.left() + 4; x < target.right() - 4; ++x)
        for (int y = target.top() + 4; y < target.bottom() - 4; ++y) colors.insert(picture.pixel(x, y));
      QVERIFY(colors.size() > 1);
      QTest::mouseClick(box, Qt::LeftButton, {}, target.center());
      QCOMPARE(box->value(), arrow == QStyle::SC_SpinBoxUp ? before + 1 : before);
    }
  }

  void runsAreMadeByAnyBackendThereIs() {
    RunSettingsDialog dialog(m_window->context());
    dialog.show();
    auto* box = dialog.findChild<QComboBox*>("backend");
    QStringList offered, all;
    for (int i = 0; i < box->count(); ++i) offered << box->itemData(i).toString();
    for (const Backend* backend : allBackends()) all << qs(backend->name());
    QCOMPARE(offered, all);
    QCOMPARE(box->currentData().toString(), qs(m_window->runs().settings().backend));
    // Each is chosen by a click into the list, and is what the next run is made with.
    for (const QString& name : all) {
      QTest::mouseClick(box, Qt::LeftButton);
      QTRY_VERIFY(box->view()->isVisible());
      QTest::qWait(2 * QApplication::doubleClickInterval());  // a list that just opened takes no click
      const QModelIndex row = box->model()->index(box->findData(name), 0);
      QTest::mouseClick(box->view()->viewport(), Qt::LeftButton, {}, box->view()->visualRect(row).center());
      QTRY_VERIFY(!box->view()->isVisible());
      QCOMPARE(box->currentData().toString(), name);
      dialog.accept();
      QTRY_COMPARE(qs(m_window->runs().settings().backend), name);
      dialog.show();
    }
    m_window->runs().setSettings({});
  }

  void whatIsClickedIsLargeEnough() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    m_window->resize(1440, 900);
    QStringList small;
    const auto check = [&small](const QWidget* widget, const QSize& size) {
      if (size.width() >= kLeastTarget && size.height() >= kLeastTarget) return;
      small << QString("%1 %2: %3x%4")
                   .arg(widget->metaObject()->className(), widget->objectName())
                   .arg(size.width())
                   .arg(size.height());
    };
    int checked = 0;
    for (const QString& dock : m_window->dockNames()) {
      m_window->showDock(dock);
      QTRY_VERIFY(inFront(test::dockOf(*m_window, dock)));
      for (QAbstractButton* button : m_window->findChildren<QAbstractButton*>()) {
        if (!button->isVisible() || button->inherits("QLineEditIconButton") || button->parent()->inherits("QTabBar"))
          continue;
        check(button, button->size());
        ++checked;
      }
      for (QComboBox* box : m_window->findChildren<QComboBox*>())
        if (box->isVisible()) check(box, box->size());
      for (QTabBar* bar : m_window->findChildren<QTabBar*>())
        for (int tab = 0; bar->isVisible() && tab < bar->count(); ++tab) check(bar, bar->tabRect(tab).size());
      for (QAbstractItemView* view : m_window->findChildren<QAbstractItemView*>()) {
        if (!view->isVisible() || view->inherits("QHeaderView") || view->model()->rowCount() == 0) continue;
        check(view, view->visualRect(view->model()->index(0, 0)).size());
      }
    }
    small.removeDuplicates();
    QVERIFY2(small.isEmpty(), qPrintable(small.join('\n')));
    QVERIFY(checked > 50);
  }

 private:
  /// The dialog or popup that the action opens.
  QWidget* openedBy(const char* action) {
    m_window->actions().find(action)->trigger();
    for (auto* dialog : m_window->findChildren<QDialog*>())
      if (dialog->isVisible()) return dialog;
    return QApplication::activePopupWidget();
  }
  static void scrollTo(QWidget& field) {
    for (QWidget* around = field.parentWidget(); around != nullptr; around = around->parentWidget())
      if (auto* area = qobject_cast<QScrollArea*>(around)) area->ensureWidgetVisible(&field);
  }
  static bool inFront(const QWidget* widget) { return !widget->visibleRegion().isEmpty(); }
  static QRect arrowOf(const QSpinBox& box, QStyle::SubControl arrow) {
    QStyleOptionSpinBox option;
    option.initFrom(&box);
    option.subControls = QStyle::SC_All;
    option.buttonSymbols = box.buttonSymbols();
    option.frame = box.hasFrame();
    return box.style()->subControlRect(QStyle::CC_SpinBox, &option, arrow, &box);
  }
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(ScreenTest, 7)
#include "screen_test.moc"
