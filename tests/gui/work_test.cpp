#include <QAction>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QMenu>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

#include "planning/directives_file.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/reach.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000, kOpenMs = 60'000, kModalMs = 20;
/// What must be calculated in float32 so that nothing overflows.
const QStringList kCulprits = {"node_linear_1", "node_relu_1", "node_layer_norm"};

}  // namespace

/// What people come for, from the start page to the result: a network that fails made to pass, two fusions compared,
/// and the result exported. With the mouse on screens of each size in both themes, where all that is clicked must be
/// in reach, and once without it.
class WorkTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::activeWindow(QSize(790, 780));  // the screen of the tests is 800 wide, and menus stay on it
    QVERIFY(m_window != nullptr);
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void tunesAnOverflowToAPassByMouse_data() { test::addScreens(); }
  void tunesAnOverflowToAPassByMouse() {
    enterScreen();
    click(card("fp16_overflow"));
    waitForPlan();
    QTRY_VERIFY(test::inReach(*boxOf("Precision")));
    QTest::keyClick(boxOf("Precision"), Qt::Key_Down);
    QTRY_VERIFY(!m_window->document().planning());
    m_window->showDock("Runs");
    click(&m_window->dock<RunsDock>().bothButton());
    waitForWork();
    QCOMPARE(verdict(), Verdict::Kind::Fail);
    m_window->showDock("Layers");
    auto* table = m_window->dock<LayersDock>().findChild<QTableView*>();
    QTRY_VERIFY(!table->visibleRegion().isEmpty());
    for (const QString& name : kCulprits) {
      const QModelIndex row = table->model()->index(m_window->dock<LayersDock>().model().rowOf(name), 0);
      table->scrollTo(row);
      QVERIFY(table->viewport()->visibleRegion().contains(table->visualRect(row).center()));
      QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::ControlModifier, table->visualRect(row).center());
    }
    QCOMPARE(m_window->selection().nodes().size(), std::size_t(3));
    contextMenu(table->viewport(), table->visualRect(table->currentIndex()).center());
    chooseInMenu({"Pin to (prefer)", "f32"});
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().size(), std::size_t(3));
    m_window->showDock("Runs");
    click(&m_window->dock<RunsDock>().bothButton());
    waitForWork();
    QCOMPARE(verdict(), Verdict::Kind::Pass);
  }

  void comparesTwoFusionsByMouseAndExports_data() { test::addScreens(); }
  void comparesTwoFusionsByMouseAndExports() {
    enterScreen();
    click(card("squeezenet1_1"));
    waitForPlan();
    m_window->showDock("Runs");
    click(&m_window->dock<RunsDock>().buildButton());
    waitForWork();
    GraphView& canvas = m_window->canvas();
    QVERIFY(canvas.waitForLayout(kOpenMs));
    canvas.select({"node_Conv_8"});
    QVERIFY(canvas.waitForLayout(kOpenMs));  // the blocks around it open
    canvas.centreSelection();
    const QPoint place = canvas.itemRect("node_Conv_8").center();
    QVERIFY(canvas.visibleRegion().contains(place));
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, place);
    contextMenu(&canvas, place);
    chooseInMenu({"Forbid this fusion"});
    QTRY_VERIFY(!m_window->document().planning());
    m_window->showDock("Runs");
    click(&m_window->dock<RunsDock>().buildButton());
    waitForWork();
    m_window->showDock("Compare");
    click(&m_window->dock<CompareDock>().compareButton());
    waitForWork();
    checkCompared();
    const QString file = m_folder->filePath("by_mouse.json");
    actionNamed("Export")->trigger();
    inModal<QFileDialog>([this, file](QFileDialog& chooser) {
      QVERIFY(chooser.width() <= m_window->width() && chooser.height() <= m_window->height());
      chooser.findChild<QLineEdit*>()->setText(file);
      QTest::mouseClick(chooser.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save), Qt::LeftButton);
    });
    click(&writableExport().saveButton());
    checkExported(file);
  }

  void allThreeByKeyboardAlone() {
    openByKeys(test::samplePath("fp16_overflow"));
    tabTo("Precision");
    key(Qt::Key_Down);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().options().precisions, std::vector{DataType::F16});
    key(Qt::Key_F9);
    waitForWork();
    QCOMPARE(verdict(), Verdict::Kind::Fail);
    for (const QString& name : kCulprits) {
      goToByKeys(name);
      menuByKeys({"Pin to (prefer)", "f32"});
      QTRY_VERIFY(!m_window->document().planning());
    }
    key(Qt::Key_F9);
    waitForWork();
    QCOMPARE(verdict(), Verdict::Kind::Pass);

    openByKeys(test::samplePath("squeezenet1_1"));
    key(Qt::Key_F7);
    waitForWork();
    goToByKeys("node_Conv_8");
    menuByKeys({"Forbid this fusion"});
    QTRY_VERIFY(!m_window->document().planning());
    key(Qt::Key_F7);
    waitForWork();
    key(Qt::Key_F10);
    waitForWork();
    checkCompared();

    const QString file = m_folder->filePath("by_keys.json");
    key(Qt::Key_E, Qt::ControlModifier);
    typeInto<QFileDialog>(file);
    QTest::keyClick(&writableExport(), Qt::Key_Return);
    checkExported(file);
  }

 private:
  // ---- what both ways share
  void waitForPlan() {
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot(), kOpenMs);
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
  }
  void waitForWork() {
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
  }
  Verdict::Kind verdict() { return m_window->runs().verdict(*m_window->runs().shown()).kind; }
  void checkCompared() {
    QVERIFY(m_window->runs().comparison() != nullptr);
    const TableContent& groups = m_window->dock<CompareDock>().groups().content();
    QVERIFY(!groups.rows.empty());
    QVERIFY(groups.rows[0].cells[0].text.startsWith(QString::fromUtf8("≠")));
  }
  void checkExported(const QString& file) {
    const auto read = readDirectivesFile(file.toStdString());
    QVERIFY2(read.ok(), read.ok() ? "" : read.error().text().c_str());
    QCOMPARE(read.value().directives.size(), std::size_t(1));
    QCOMPARE(read.value().directives.front().kind, DirectiveKind::NoFuse);
  }
  /// Acts on the next modal window of the kind.
  template <class T>
  void inModal(std::function<void(T&)> act) {
    QTimer::singleShot(kModalMs, this, [this, act] {
      auto* modal = qobject_cast<T*>(QApplication::activeModalWidget());
      if (modal == nullptr) return inModal<T>(act);
      act(*modal);
    });
  }
  /// The export dialog, once its text is there.
  ExportDialog& writableExport() {
    auto* dialog = m_window->findChild<ExportDialog*>();
    if (dialog == nullptr) qFatal("the dialog does not open");
    if (!QTest::qWaitFor([dialog] { return dialog->saveButton().isEnabled(); }, test::kPatienceMs))
      qFatal("there is nothing to save");
    return *dialog;
  }
  QAction* actionNamed(const QString& text) {
    for (QAction* action : m_window->findChildren<QAction*>())
      if (action->text().remove('&').startsWith(text)) return action;
    return nullptr;
  }

  // ---- by mouse
  void enterScreen() {
    QFETCH(QSize, size);
    QFETCH(ThemeKind, theme);
    m_window->setTheme(theme);
    m_window->resize(size);
  }
  static void click(QWidget* widget) {
    QVERIFY(widget != nullptr && widget->isEnabled());
    QTRY_VERIFY2(test::inReach(*widget), widget->metaObject()->className());
    QTest::mouseClick(widget, Qt::LeftButton);
  }
  QPushButton* card(const QString& name) {
    for (QPushButton* button : m_window->findChildren<QPushButton*>())
      if (button->accessibleName() == name) return button;
    return nullptr;
  }
  static void contextMenu(QWidget* widget, const QPoint& place) {
    QContextMenuEvent event(QContextMenuEvent::Mouse, place, widget->mapToGlobal(place));
    QApplication::sendEvent(widget, &event);
  }
  void chooseInMenu(const QStringList& path) {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    for (const QString& text : path) {
      QVERIFY(menu != nullptr);
      QVERIFY(menu->width() <= m_window->width() && menu->height() <= m_window->height());
      QAction* chosen = nullptr;
      for (QAction* action : menu->actions())
        if (action->text() == text) chosen = action;
      QVERIFY2(chosen != nullptr && chosen->isEnabled(), qPrintable(text));
      QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(chosen).center());
      menu = chosen->menu();
      if (menu != nullptr) QTRY_VERIFY(menu->isVisible());
    }
  }

  // ---- by keyboard
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    // As a window manager does when a dialog or a menu closes; this platform has none.
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus != nullptr ? focus : m_window.get(), key, modifiers);
  }
  /// Types a path into the next file dialog and presses Return.
  template <class Dialog>
  void typeInto(const QString& path) {
    inModal<Dialog>([path](Dialog& dialog) {
      auto* field = dialog.template findChild<QLineEdit*>();
      QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
      QTest::keyClicks(field, path);
      QTest::keyClick(field, Qt::Key_Return);
    });
  }
  void openByKeys(const QString& path) {
    const auto before = m_window->document().model();
    typeInto<QFileDialog>(path);
    key(Qt::Key_O, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().model() != before, kOpenMs);
    waitForPlan();
  }
  QComboBox* boxOf(const QString& name) {
    for (QComboBox* box : m_window->findChildren<QComboBox*>())
      if (box->accessibleName() == name) return box;
    return nullptr;
  }
  void tabTo(const QString& name) {
    QStringList passed;
    for (int i = 0; i < 60; ++i) {
      if (QApplication::focusWidget() == boxOf(name)) return;
      key(Qt::Key_Tab);
      passed << QApplication::focusWidget()->metaObject()->className();
    }
    QFAIL(qPrintable(QString("Tab does not reach %1 by %2").arg(name, passed.join(' '))));
  }
  void goToByKeys(const QString& name) {
    key(Qt::Key_P, Qt::ControlModifier);
    QTRY_VERIFY(QApplication::activePopupWidget() != nullptr);
    auto* field = QApplication::activePopupWidget()->findChild<QLineEdit*>();
    QTest::keyClicks(field, name);
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY(QApplication::activePopupWidget() == nullptr);
    QCOMPARE(m_window->document().namesOf({m_window->selection().current()}).front(), name.toStdString());
  }
  void menuByKeys(const QStringList& path) {
    m_window->canvas().setFocus();
    key(Qt::Key_F10, Qt::ShiftModifier);
    for (const QString& text : path) {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      QVERIFY(menu != nullptr);
      for (int i = 0; i < 30 && (menu->activeAction() == nullptr || menu->activeAction()->text() != text); ++i)
        QTest::keyClick(menu, Qt::Key_Down);
      QVERIFY2(menu->activeAction() != nullptr && menu->activeAction()->text() == text, qPrintable(text));
      QTest::keyClick(menu, text == path.last() ? Qt::Key_Return : Qt::Key_Right);
    }
    QTRY_VERIFY(QApplication::activePopupWidget() == nullptr);
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(WorkTest, 5)
#include "work_test.moc"
