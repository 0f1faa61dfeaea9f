#include <QAction>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTextEdit>
#include <QToolBar>
#include <QToolButton>
#include <QtTest>

#include "base/files.h"
#include "interchange/npz.h"
#include "planning/directives_file.h"
#include "planning/fused_node_facts.h"
#include "session/options_json.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/goto_dialog.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/menu_title.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000, kOpenMs = 60'000;

}  // namespace

/// What people expect of any window: keys and drops do what they say, and nothing is said in the
/// words of the command line.
class MannersTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::activeWindow();
    QVERIFY(m_window != nullptr);
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void aDocksKeyBringsItToTheFrontFirst() {
    openSample("fp16_overflow");
    QWidget* runs = test::dockOf(*m_window, "Runs");
    m_window->showDock("Layers");
    QTRY_VERIFY(!inFront(runs));
    QTest::keyClick(m_window.get(), Qt::Key_5, Qt::ControlModifier);
    QTRY_VERIFY(inFront(runs));
    QVERIFY(runs->isAncestorOf(QApplication::focusWidget()));
    QTest::keyClick(m_window.get(), Qt::Key_5, Qt::ControlModifier);
    QTRY_VERIFY(!runs->isVisible());
    QTest::keyClick(m_window.get(), Qt::Key_5, Qt::ControlModifier);
    QTRY_VERIFY(inFront(runs));
    // One that is in sight, while the keyboard is elsewhere, is gone to.
    m_window->canvas().setFocus();
    QTest::keyClick(m_window.get(), Qt::Key_5, Qt::ControlModifier);
    QVERIFY(runs->isVisible() && runs->isAncestorOf(QApplication::focusWidget()));
    QVERIFY(dockAction("Runs")->isChecked());
    m_window->canvas().setFocus();
    m_window->goToAnything();
    auto* dialog = m_window->findChild<GotoDialog*>();
    dialog->setText("Runs");
    QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    QVERIFY(runs->isVisible());
    dockAction("Runs")->trigger();  // as in the menu, where what has a tick loses it
    QTRY_VERIFY(!runs->isVisible());
  }

  void escapeCancelsOpeningPlanningAndBuilding() {
    m_window->openFile(test::samplePath("squeezenet1_1"));
    QVERIFY(m_window->document().opening());
    QTest::keyClick(m_window.get(), Qt::Key_Escape);
    QVERIFY(!m_window->document().opening());
    QTRY_VERIFY(m_window->jobs().idle());
    QVERIFY(!m_window->document().model());

    openSample("squeezenet1_1");
    const auto snapshot = m_window->document().snapshot();
    m_window->document().setPrecisions({DataType::F16});
    QVERIFY(m_window->document().planning());
    QTest::keyClick(m_window.get(), Qt::Key_Escape);
    QVERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().options() == snapshot->plan->options);
    QVERIFY(m_window->document().undoStack().canRedo());
    QTRY_VERIFY(m_window->jobs().idle());
    QCOMPARE(m_window->document().snapshot(), snapshot);

    m_window->controller().build();
    QVERIFY(m_window->controller().busy());
    m_window->canvas().setFocus();
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    const auto* activity = m_window->findChild<QLabel*>("activity");
    QVERIFY2(m_window->controller().busy() && activity->text().startsWith("Press Esc again to cancel: "),
             qPrintable(activity->text()));
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QCOMPARE(m_window->runs().all().back().state, RunState::Cancelled);
    QVERIFY(m_window->runs().shown() == nullptr);
  }

  void escapeClearsTheSearch() {
    openSample("squeezenet1_1");
    QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(QApplication::focusWidget(), searchBox());
    QTest::keyClicks(searchBox(), "conv");
    QVERIFY(m_window->canvas().matchCount() > 0);
    QTest::keyClick(searchBox(), Qt::Key_Escape);
    QCOMPARE(searchBox()->text(), QString());
    QCOMPARE(m_window->canvas().matchCount(), 0);
    QCOMPARE(QApplication::focusWidget(), &m_window->canvas());
    searchBox()->setText("conv");
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QCOMPARE(searchBox()->text(), QString());
  }

  void theMenuKeyOpensAMenuThatSaysWhatItIsAbout() {
    openSample("squeezenet1_1");
    const FusedNode& fused = aKernel();
    m_window->showDock("Layers");
    m_window->resize(790, 780);                   // the screen of the tests is 800 wide, and menus stay on it
    QTRY_COMPARE(m_window->room().width(), 790);  // then nothing moves any more
    m_window->selection().set(fused.nodes);
    m_window->canvas().centreSelection();
    m_window->canvas().setFocus();
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    Camera camera = m_window->canvas().camera();  // the menu has room below the box, and need not move up
    camera.origin.ry() += (m_window->canvas().itemRect(qs(handleOf(fused))).top() - 12) / camera.zoom;
    m_window->canvas().setCamera(camera);
    const QRect box = m_window->canvas().itemRect(qs(handleOf(fused)));
    QTest::keyClick(m_window.get(), Qt::Key_F10, Qt::ShiftModifier);
    QMenu* menu = openMenu();
    QVERIFY(menu != nullptr);
    QVERIFY2(menuTitle(*menu).contains("Conv + Relu"), qPrintable(menuTitle(*menu)));
    QVERIFY(box.contains(m_window->canvas().mapFromGlobal(menu->pos())));
    menu->close();
    auto* table = m_window->dock<LayersDock>().findChild<QTableView*>();
    table->setFocus();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 0)).center());
    QTest::keyClick(m_window.get(), Qt::Key_Menu);
    menu = openMenu();
    QVERIFY(menu != nullptr);
    QVERIFY2(menuTitle(*menu).startsWith(m_window->dock<LayersDock>().model().nameAt(0)),
             qPrintable(menuTitle(*menu) + menu->actions().first()->text()));
    menu->close();
  }

  void whatIsDroppedIsTaken() {
    const QString model = sampleCopy("fp16_overflow");
    const auto snapshot = test::planSample("fp16_overflow");
    const auto& input = snapshot->plan->inputSpecs.front();
    const QString npz = m_folder->filePath("i.npz"), directives = m_folder->filePath("d.json");
    QVERIFY(writeNpz(npz.toStdString(), {{input.name, Tensor::zeros(input.dtype, input.opt)}}).ok());
    PlanOptions options{.precisions = {DataType::F16}};
    QVERIFY(writeFileAtomically(directives.toStdString(), toJson(directivesFileOf(options)).dump()).ok());
    drop({npz, model});  // what is for the model waits for it
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot(), kOpenMs);
    QTRY_COMPARE(inputs(), QStringList{npz});
    const QString npy = m_folder->filePath("x.npy");
    QVERIFY(QFile(npy).open(QIODevice::WriteOnly));
    drop({npy});
    QCOMPARE(inputs(), QStringList{npy});
    drop({npz, npy});  // together they are samples of one run
    QCOMPARE(inputs(), QStringList({npz, npy}));
    drop({directives});
    QTRY_VERIFY(!m_window->document().planning());
    QTRY_VERIFY(m_window->document().options().precisions == options.precisions);
    const QString session = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(session).ok());
    m_window->document().setPrecisions({});
    QTRY_VERIFY(!m_window->document().planning());
    drop({session});
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().options().precisions == options.precisions, kOpenMs);
  }

  void enginesThatAreDroppedAreRunsToCompare() {
    openSample("fp16_overflow");
    m_window->controller().build();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    const QString first = m_folder->filePath("first.fse"), second = m_folder->filePath("second.fse");
    for (const QString& copy : {first, second}) QVERIFY(QFile::copy(qs(m_window->runs().shown()->enginePath), copy));
    drop({first});
    QTRY_COMPARE(m_window->runs().all().size(), std::size_t(2));
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QCOMPARE(m_window->document().kind(), ArtifactKind::Model);
    m_window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
    m_window->runs().setSettings({.seconds = 0.1});
    m_window->show();
    drop({first, second});  // without a model: both side by side
    QTRY_COMPARE_WITH_TIMEOUT(m_window->runs().all().size(), std::size_t(2), kOpenMs);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QCOMPARE(m_window->document().kind(), ArtifactKind::Engine);
    QCOMPARE(m_window->runs().comparedWith()->name, std::string("first.fse"));
    QCOMPARE(m_window->runs().shown()->name, std::string("second.fse"));
    m_window->showDock("Compare");
    QTest::mouseClick(&m_window->dock<CompareDock>().compareButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->runs().comparison() != nullptr, qPrintable(m_window->controller().problem()));
  }

  void aFusionIsForbiddenAndThatIsTakenBackInOneStep() {
    openSample("squeezenet1_1");
    const FusedNode fused = aKernel();
    const NodeId last = fused.nodes.back();
    m_window->selection().set({last});
    QMenu menu;
    fillNodeMenu(menu, context(), {last});
    QAction* forbid = entry(menu, "Forbid this fusion");
    QVERIFY(forbid != nullptr && forbid->isEnabled());
    QVERIFY2(forbid->toolTip().contains("conv_epilogue"), qPrintable(forbid->toolTip()));
    const auto before = m_window->document().snapshot();
    forbid->trigger();
    QTRY_VERIFY(!m_window->document().planning());
    const Directive added = m_window->document().directives().front();
    QCOMPARE(added.kind, DirectiveKind::NoFuse);
    QCOMPARE(added.rule, std::string("conv_epilogue"));
    QCOMPARE(added.pattern, before->graph().node(last).name);
    QCOMPARE(m_window->document().snapshot()->fusedOf(last)->nodes.size(), std::size_t(1));
    fillNodeMenu(menu, context(), {last});
    QVERIFY(!entry(menu, "Forbid this fusion")->isEnabled());
    QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().directives().empty());
    QCOMPARE(m_window->document().snapshot()->fusedOf(last)->nodes.size(), fused.nodes.size());
  }

  void theExportDialogSaysWhyInWords() {
    openSample("squeezenet1_1");
    ExportDialog dialog(context(), m_window->worker());
    dialog.show();
    for (const char* format : {"trtexec", "polygraphy"}) {
      dialog.setFormat(format);
      QTRY_VERIFY(!dialog.saveButton().isEnabled());
      QTRY_VERIFY2(dialog.refusal().contains("nothing to export"), qPrintable(dialog.refusal()));
      QVERIFY2(standsOn(dialog, "nothing to export"), "the reason is on the screen");
      QVERIFY2(!dialog.refusal().contains("--"), qPrintable(dialog.refusal()));
      QVERIFY(dialog.preview().isEmpty());
    }
    dialog.setFormat("directives");
    QTRY_VERIFY(dialog.saveButton().isEnabled());
    QVERIFY(!standsOn(dialog, "nothing to export"));
    QTRY_VERIFY(dialog.preview().contains("fusescope.directives"));
    for (const QLabel* label : dialog.findChildren<QLabel*>())
      QVERIFY2(!label->text().contains("--"), qPrintable(label->text()));
  }

  void goToAnythingPutsWhatIsNamedFirst() {
    openSample("squeezenet1_1");
    QAction refused("&Compare the two runs"), runs("&Runs"), nodes("Node list"), menu("Menu of the node");
    refused.setEnabled(false);
    GotoDialog dialog(context(), {&refused, &runs, &nodes, &menu});
    auto* results = dialog.findChild<QListWidget*>();
    dialog.setText("runs");
    QVERIFY2(results->item(0)->text().startsWith(QString::fromUtf8("› Runs")), qPrintable(results->item(0)->text()));
    QCOMPARE(results->currentRow(), 0);
    // More nodes have it in their names than are listed, and each action that has it is there.
    dialog.setText("node");
    QVERIFY2(results->item(0)->text().startsWith(QString::fromUtf8("› Node list")),
             qPrintable(results->item(0)->text()));
    QVERIFY(results->count() > 40);
    QVERIFY2(results->item(results->count() - 1)->text().startsWith(QString::fromUtf8("› Menu of the node")),
             qPrintable(results->item(results->count() - 1)->text()));
    // Return does something where something can be done.
    dialog.setText("the");
    QVERIFY(results->currentItem() != nullptr && (results->currentItem()->flags() & Qt::ItemIsEnabled) != 0);
  }

  void filesAreSavedBesideTheModel() {
    const QString model = sampleCopy("fp16_overflow");
    m_window->openFile(model);
    QTRY_VERIFY(m_window->document().snapshot() != nullptr && m_window->document().path() == model);
    const QString folder = QFileInfo(model).absolutePath();
    for (const char* action : {"save_directives", "save_svg", "save_png", "save_layers", "save_session_as"}) {
      QString offered;
      lookAtFileDialog(offered);
      m_window->actions().find(action)->trigger();
      QCOMPARE(offered, folder);
    }
    ExportDialog dialog(context(), m_window->worker());
    dialog.show();
    for (const char* format : {"directives", "onnx"}) {
      dialog.setFormat(format);
      QTRY_VERIFY(dialog.saveButton().isEnabled());
      QString offered;
      lookAtFileDialog(offered);
      QTest::mouseClick(&dialog.saveButton(), Qt::LeftButton);
      QCOMPARE(offered, folder);
    }
  }

  void theStartPageHasNoDeadButtons() {
    const QString gone = sampleCopy("fp16_overflow");
    QSettings().setValue("recent", QStringList{gone, test::samplePath("bert_tiny")});
    m_window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
    m_window->show();
    QPushButton* recent = nullptr;
    QTRY_VERIFY((recent = buttonNamed(gone.section('/', -3))) != nullptr);
    QVERIFY(QFile::remove(gone));
    QTest::mouseClick(recent, Qt::LeftButton);
    QTRY_VERIFY(m_window->lastProblem().contains("fp16_overflow"));
    for (QMessageBox* box : m_window->findChildren<QMessageBox*>()) box->close();
    QTRY_VERIFY(buttonNamed(gone.section('/', -3)) == nullptr);
    QTRY_VERIFY(buttonNamed(test::samplePath("bert_tiny").section('/', -3)) != nullptr);
    int enabled = 0;
    for (QToolButton* button : m_window->findChild<QToolBar*>("toolbar")->findChildren<QToolButton*>()) {
      if (button->isVisible() && button->defaultAction() != nullptr) enabled += button->isEnabled();
    }
    QVERIFY2(enabled <= 3, qPrintable(QString::number(enabled)));  // open, theme, help
  }

 private:
  /// The folder that the chooser of files which opens next begins with; it is closed then.
  static void lookAtFileDialog(QString& folder) {
    QTimer::singleShot(20, [&folder] {
      auto* chooser = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (chooser == nullptr) return lookAtFileDialog(folder);
      folder = chooser->directory().absolutePath();
      chooser->reject();
    });
  }
  QStringList inputs() {
    QStringList paths;
    for (const std::string& path : m_window->runs().settings().inputs.paths) paths << qs(path);
    return paths;
  }
  const Plan& plan() { return *m_window->document().snapshot()->plan; }
  DockContext context() { return test::contextOf(*m_window); }
  void openSample(const QString& name) { QVERIFY(test::openSample(*m_window, name)); }
  QString sampleCopy(const QString& name) {
    const QString copy = m_folder->filePath(name + ".onnx");
    return QFile::copy(test::samplePath(name), copy) ? copy : QString();
  }
  /// A convolution and its activation.
  const FusedNode& aKernel() {
    return *std::ranges::find_if(
        plan().fusedNodes, [](const FusedNode& fused) { return fused.nodes.size() == 2 && fused.kind == "conv"; });
  }
  /// Whether one who looks at `widget` reads `words` there.
  static bool standsOn(const QWidget& widget, const QString& words) {
    const auto shown = [&](const QWidget& part, const QString& text) {
      return !part.visibleRegion().isEmpty() && text.contains(words);
    };
    for (const auto* part : widget.findChildren<QTextEdit*>())
      if (shown(*part, part->toPlainText())) return true;
    for (const auto* part : widget.findChildren<QPlainTextEdit*>())
      if (shown(*part, part->toPlainText())) return true;
    for (const auto* part : widget.findChildren<QLabel*>())
      if (shown(*part, part->text())) return true;
    return false;
  }
  QAction* dockAction(const QString& name) {
    for (QAction* action : m_window->actions().all())
      if (action->text() == name && action->isCheckable()) return action;
    qFatal("there is no such action");
  }
  QLineEdit* searchBox() { return test::searchBoxOf(*m_window); }
  static bool inFront(const QWidget* widget) { return !widget->visibleRegion().isEmpty(); }
  static QMenu* openMenu() { return qobject_cast<QMenu*>(QApplication::activePopupWidget()); }
  static QAction* entry(const QMenu& menu, const QString& text) {
    for (QAction* action : menu.actions())
      if (action->text() == text) return action;
    return nullptr;
  }
  QPushButton* buttonNamed(const QString& text) {
    for (QPushButton* button : m_window->findChildren<QPushButton*>())
      if (button->isVisible() && button->text() == text) return button;
    return nullptr;
  }
  void drop(const QStringList& files) { QVERIFY(test::dropOn(*m_window, files)); }
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(MannersTest, 11)
#include "manners_test.moc"
