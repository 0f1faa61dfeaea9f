// The dialog of environments and the compilers in them, by hand and by keyboard.
#include <QClipboard>
#include <QFile>
#include <QMenu>
#include <QMessageBox>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "probe/found_environment.h"
#include "session/operations/compilers_operation.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/window_context.h"
#include "ui/dialogs/add_environment_dialog.h"
#include "ui/dialogs/compilers_dialog.h"
#include "ui/document/environment_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

using namespace std::chrono_literals;

/// Environments that the test makes up. One whose command contains "slow" answers only once it is stopped.
class MadeUp final : public EnvironmentSource {
 public:
  std::vector<Environment> find() const override {
    const std::scoped_lock lock(m_mutex);
    std::vector<Environment> all{{.name = "python3", .command = "python3"}, {.name = "old", .command = "python2"}};
    all.insert(all.end(), m_added.begin(), m_added.end());
    return all;
  }
  Result<std::vector<Environment>> added() const override {
    const std::scoped_lock lock(m_mutex);
    return m_added;
  }
  bool isConfirmed(const Environment& environment) const override {
    const std::scoped_lock lock(m_mutex);
    return environment.command.starts_with("python") || std::ranges::count(m_confirmed, environment.command) > 0;
  }
  Status confirm(const Environment& environment) const override {
    const std::scoped_lock lock(m_mutex);
    m_confirmed.push_back(environment.command);
    return Done{};
  }
  Result<FoundEnvironment> look(const Environment& environment, bool, const StopToken& stop) const override {
    if (!isConfirmed(environment)) return Diagnostic{.message = "was started without being confirmed"};
    ++m_looks;
    FoundEnvironment found{.environment = environment};
    while (environment.command.find("slow") != std::string::npos) {
      if (stop.stop_requested()) {
        ++m_stopped;
        return Diagnostic::cancellation();
      }
      std::this_thread::sleep_for(5ms);
    }
    if (environment.command == "python2") {
      found.problem = "it is Python 2.7; Python 3.9 or newer is needed.\nInstall one and add it.";
      return found;
    }
    found.python = "3.11.7";
    found.machine = "desk (Linux 6.1 x86_64)";
    found.hello = {{"cpus", 8}, {"memory", std::int64_t{16} << 30}};
    found.compilers = {{.compiler = "onnxruntime", .version = isInstalled ? "1.20.1" : ""},
                       {.compiler = "openvino", .version = "2025.3"},
                       {.compiler = "trtexec"}};  // a program, which says its version when it is opened
    if (!isInstalled)
      found.compilers[0].problem =
          "This Python has no onnxruntime. Install it there: python3 -m pip install onnxruntime";
    return found;
  }
  Status add(const Environment& environment) const override {
    const std::scoped_lock lock(m_mutex);
    std::erase_if(m_added, [&](const Environment& one) { return one.name == environment.name; });
    m_added.push_back(environment);
    return Done{};
  }
  Status remove(const std::string& name) const override {
    const std::scoped_lock lock(m_mutex);
    std::erase_if(m_added, [&](const Environment& one) { return one.name == name; });
    return Done{};
  }

  std::atomic<bool> isInstalled = false;
  std::vector<std::string> confirmed() const {
    const std::scoped_lock lock(m_mutex);
    return m_confirmed;
  }
  mutable std::atomic<int> m_looks = 0, m_stopped = 0;

 private:
  mutable std::mutex m_mutex;
  mutable std::vector<std::string> m_confirmed;
  mutable std::vector<Environment> m_added;
};

}  // namespace

class CompilersDialogTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_source = std::make_unique<MadeUp>();
    m_window = test::shownWindow();
    m_window->setEnvironments(std::make_unique<Environments>(*m_source));
    m_window->actions().find(QStringLiteral("compilers"))->trigger();
    m_dialog = m_window->findChild<CompilersDialog*>();
    QVERIFY(m_dialog != nullptr);
    QTRY_VERIFY(m_dialog->list().topLevelItemCount() == 2);
    QTRY_VERIFY(row("python3").contains("Python 3.11.7 on desk"));
    QTRY_VERIFY2(row("old").contains("✗ it is Python 2.7"), qPrintable(row("old")));  // they answer in any order
  }
  void cleanup() {
    m_window.reset();
    m_source.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void whatWasFoundIsSaid() {
    const QTreeWidgetItem* python = itemOf("python3");
    QCOMPARE(python->childCount(), 3);
    QCOMPARE(python->child(0)->text(2), QStringLiteral("not installed"));
    QCOMPARE(python->child(1)->text(1), QStringLiteral("2025.3"));
    QVERIFY(python->child(1)->text(2).contains("found"));
    choose(python->child(0));
    QVERIFY2(m_dialog->detail().contains("python3 -m pip install onnxruntime"), qPrintable(m_dialog->detail()));
    // How its answers come here all the same.
    for (const char* words : {"probe pack MODEL --compiler onnxruntime", "python3 job.pyz", "probe open result.zip"})
      QVERIFY2(m_dialog->detail().contains(words), words);
    choose(itemOf("python3"));
    for (const char* words : {"Command: python3", "found automatically", "8 processors", "16"})
      QVERIFY2(m_dialog->detail().contains(words), words);
    choose(itemOf("old"));
    QVERIFY(m_dialog->detail().contains("Install one and add it."));
    QVERIFY(!m_dialog->button("remove").isEnabled());
    QVERIFY(m_dialog->button("remove").toolTip().contains("found automatically"));
  }

  void whatNobodyHasRunIsMarked() {
    const QTreeWidgetItem* python = itemOf("python3");
    QCOMPARE(python->child(1)->text(2), QStringLiteral("✓ found"));
    QCOMPARE(python->child(2)->text(2), QStringLiteral("✓ found, untried"));
    choose(python->child(2));
    QVERIFY2(m_dialog->detail().contains("Untried. Nobody has run trtexec"), qPrintable(m_dialog->detail()));
    choose(python->child(1));
    QVERIFY(!m_dialog->detail().contains("Untried"));
  }

  void itLooksAgainByKey() {
    QVERIFY(row("onnxruntime").contains("not installed"));
    m_source->isInstalled = true;
    choose(itemOf("python3")->child(0));
    QTest::keyClick(m_dialog, Qt::Key_F5);
    QTRY_VERIFY(row("onnxruntime").contains("1.20.1"));
    QCOMPARE(m_dialog->list().currentItem()->text(0), QStringLiteral("onnxruntime"));  // what was current is again
  }

  void theMemoryHasTheRangeAndTheDefaultOfTheOperation() {
    const Option& option = usualOption<CompilersAddSettings>("memory");
    AddEnvironmentDialog& adding = add();
    QDoubleSpinBox& field = adding.memory();
    QCOMPARE(field.text(), QString::fromStdString(option.usual));
    QVERIFY(!adding.environment().memoryBytes);
    field.setValue(0);  // as of the option: no limit
    QCOMPARE(static_cast<double>(adding.environment().memoryBytes.value()), option.range.least);
    field.setValue(field.maximum());
    QVERIFY(whyNotAccepted(option, std::to_string(adding.environment().memoryBytes.value())).empty());
    field.setValue(-0.5);
    QCOMPARE(field.text(), QString::fromStdString(option.usual));
    adding.reject();
  }

  void oneIsAddedAfterItWasTried() {
    AddEnvironmentDialog& adding = add();
    QVERIFY(!adding.startButton().isEnabled() && !adding.addButton().isEnabled());
    QTest::keyClicks(&adding.name(), "box");
    QTest::keyClicks(&adding.command(), "ssh box python3");
    QVERIFY(adding.memory().text().contains("three quarters"));
    adding.memory().setValue(1.5);
    adding.keepsFiles().click();
    QVERIFY(m_source->confirmed().empty());
    QVERIFY(!adding.addButton().isEnabled());
    QVERIFY(saysSomewhere(adding, "with your rights: ssh box python3"));
    QTest::mouseClick(&adding.startButton(), Qt::LeftButton);
    QTRY_VERIFY2(adding.said().contains("openvino 2025.3"), qPrintable(adding.said()));
    QCOMPARE(m_source->confirmed(), std::vector<std::string>{"ssh box python3"});
    QVERIFY(adding.said().contains("pip install onnxruntime"));
    QTest::mouseClick(&adding.addButton(), Qt::LeftButton);
    QTRY_VERIFY(itemOf("box") != nullptr);
    QTRY_COMPARE(m_dialog->list().currentItem(), itemOf("box"));  // it is gone to
    QTRY_VERIFY(row("box").contains("Python 3.11.7"));
    choose(itemOf("box"));
    QTRY_VERIFY(!m_source->added().value().empty());  // the list shows it before it is written
    QCOMPARE(m_source->added().value().back().memoryBytes, std::optional(std::int64_t{3} << 29));
    QVERIFY(m_source->added().value().back().keepsFiles);
    for (const char* words : {"1.50 GiB of memory", "networks are kept"})
      QVERIFY2(m_dialog->detail().contains(words), qPrintable(m_dialog->detail()));
    m_dialog->button("copyCommand").click();
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("fusescope compilers --env 'ssh box python3'"));
    m_dialog->list().setFocus();
    QTest::keyClick(m_dialog, Qt::Key_Delete);
    QTRY_VERIFY(itemOf("box") == nullptr);
  }

  void aTrialCanBeStopped() {
    AddEnvironmentDialog& adding = add();
    QTest::keyClicks(&adding.name(), "far");
    QTest::keyClicks(&adding.command(), "slow python3");
    adding.startButton().click();
    QVERIFY(adding.said().contains("Waiting"));
    QVERIFY(!adding.addButton().isEnabled() && !adding.startButton().isEnabled());
    QTRY_VERIFY(m_source->m_looks >= 3);
    adding.stopButton().click();
    QCOMPARE(adding.said(), QStringLiteral("Stopped."));
    QTRY_COMPARE(m_source->m_stopped.load(), 1);
    adding.startButton().click();
    QTRY_VERIFY(m_source->m_looks >= 4);
    adding.reject();  // closing it stops it too
    QTRY_COMPARE(m_source->m_stopped.load(), 2);
    QVERIFY(itemOf("far") == nullptr);
  }

  void aNameThatIsTakenIsRefused() {
    AddEnvironmentDialog& adding = add();
    QTest::keyClicks(&adding.name(), "old");
    QTest::keyClicks(&adding.command(), "python3.12");
    adding.startButton().click();
    QTRY_VERIFY(adding.said().contains("openvino"));
    QVERIFY(!adding.addButton().isEnabled());
    QVERIFY2(adding.addButton().toolTip().contains("choose another one"), qPrintable(adding.addButton().toolTip()));
    adding.reject();
  }

  void whatWasNotConfirmedIsNotStarted() {
    const char* const command = "docker exec -i trt python3";
    QTRY_COMPARE(m_source->m_looks.load(), 2);  // the two that were found by themselves
    m_window->environments().setOfSession({{.name = "theirs", .command = command}});
    QTRY_VERIFY(itemOf("theirs") != nullptr);
    QCOMPARE(m_source->m_looks.load(), 2);
    QVERIFY2(row("theirs").contains("not confirmed"), qPrintable(row("theirs")));
    choose(itemOf("theirs"));
    QVERIFY(!m_dialog->button("again").isEnabled());
    m_dialog->button("confirm").click();
    auto* box = m_dialog->findChild<QMessageBox*>();
    QVERIFY(box != nullptr);
    QCOMPARE(box->text(), QString::fromLatin1(command));
    QVERIFY(m_source->confirmed().empty());
    for (QAbstractButton* button : box->buttons())
      if (box->buttonRole(button) == QMessageBox::AcceptRole) button->click();
    QTRY_VERIFY(row("theirs").contains("Python 3.11.7"));
    QCOMPARE(m_source->confirmed(), std::vector<std::string>{command});
  }

  void buildWithListsThem() {
    m_dialog->close();
    QMenu* menu = nullptr;
    for (QAction* entry : m_window->actions().menu("&Build")->actions())
      if (entry->menu() != nullptr && entry->text() == QLatin1String("Build &with")) menu = entry->menu();
    QVERIFY(menu != nullptr);
    emit menu->aboutToShow();
    QStringList titles;
    for (const QAction* entry : menu->actions()) {
      titles << entry->text();
      if (entry->text() == QLatin1String("onnxruntime · python3")) {
        QVERIFY(!entry->isEnabled());
        QVERIFY(entry->toolTip().contains("pip install onnxruntime"));
      }
    }
    // One that has not answered yet says so.
    for (const char* title : {"onnxruntime · python3", "openvino 2025.3 · python3 · being asked …", "Compilers…"})
      QVERIFY2(titles.contains(title), qPrintable(titles.join(", ")));
    QVERIFY2(
        std::ranges::any_of(titles, [](const QString& title) { return title.startsWith("old: ✗ it is Python 2"); }),
        qPrintable(titles.join(", ")));
  }

  void theMenuKeepsWhatIsHighlighted() {
    m_dialog->close();  // which deletes it
    QTRY_VERIFY(!isOpen());
    QMenu* menu = nullptr;
    for (QAction* entry : m_window->actions().menu("&Build")->actions())
      if (entry->menu() != nullptr && entry->text() == QLatin1String("Build &with")) menu = entry->menu();
    QVERIFY(menu != nullptr);
    menu->popup({10, 10});
    const auto of = [&](const char* start) {
      const auto entries = menu->actions();
      const auto found = std::ranges::find_if(
          entries, [&](const QAction* entry) { return entry->text().startsWith(QString::fromUtf8(start)); });
      return QPointer<QAction>(found == entries.end() ? nullptr : *found);
    };
    const QPointer<QAction> before = of("Compilers…");
    QVERIFY(before != nullptr);
    menu->setActiveAction(before);
    menu->insertAction(menu->actions().front(), new QAction(QStringLiteral("a row that goes"), menu));
    emit m_window->environments().changed();
    QTRY_VERIFY(before.isNull());
    QVERIFY(menu->activeAction() != nullptr && menu->activeAction() == of("Compilers…"));
    // What is pressed is not taken away under the mouse.
    const QPointer<QAction> pressed = of("Compilers…");
    const QPoint place = menu->actionGeometry(pressed).center();
    QTest::mousePress(menu, Qt::LeftButton, {}, place);
    emit m_window->environments().changed();
    QApplication::processEvents();
    QVERIFY(!pressed.isNull());
    QTest::mouseRelease(menu, Qt::LeftButton, {}, place);
    QTRY_VERIFY2(isOpen(), "it was chosen");
  }

  void commandsOfThisMachineAreStarted() {
    Environments environments;  // of this machine, not made up
    std::optional<Result<FoundEnvironment>> outcome;
    const auto tried = [&](const QString& command) {
      outcome.reset();
      environments.tryNew({.name = "tried", .command = command.toStdString()}, this,
                          [&](const Result<FoundEnvironment>& found) { outcome = found; });
    };
    const auto script = [&](const char* name, const char* text) {
      QFile file(m_folder.filePath(QString::fromLatin1(name)));
      if (!file.open(QFile::WriteOnly)) qFatal("%s cannot be written", name);
      file.write(text);
      file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
      return file.fileName();
    };
    tried(script("python-here", "#!/bin/sh\nexec python3 \"$@\"\n"));
    QTRY_VERIFY(outcome);
    QVERIFY2(outcome->ok() && outcome->value().problem.empty(), outcome->ok() ? outcome->value().problem.c_str() : "");
    QVERIFY(outcome->value().python.starts_with("3."));
    QVERIFY(foundHtml(outcome->value()).contains("Python 3."));
    tried(script("no-python", "#!/bin/sh\necho 'no python here' >&2\nexit 3\n"));
    QTRY_VERIFY(outcome);
    QVERIFY2(outcome->ok() && outcome->value().problem.find("no python here") != std::string::npos,
             outcome->ok() ? outcome->value().problem.c_str() : outcome->error().text().c_str());
    tried(m_folder.filePath(QStringLiteral("not-there")));
    QTRY_VERIFY(outcome);
    QVERIFY(outcome->ok() && !outcome->value().problem.empty());
    tried(script("hanging", "#!/bin/sh\nexec sleep 600\n"));
    QTest::qWait(50);
    QVERIFY(!outcome);
    environments.cancelNew();  // its end does not wait for the script: else the test would take as long
  }

  void itIsLegibleInBothThemesAndAtAnySize() {
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
      m_window->setTheme(kind);
      for (const int points : {10, 20}) {
        QFont font = m_dialog->font();
        font.setPointSize(points);
        m_dialog->setFont(font);
        emit m_window->environments().changed();
        QApplication::processEvents();
        const QTreeWidgetItem* item = itemOf("python3");
        for (int column = 0; column < 3; ++column) {
          if (item->text(column).isEmpty()) continue;
          const QColor ink = item->foreground(column).style() == Qt::NoBrush
                                 ? m_dialog->list().palette().color(QPalette::Text)
                                 : item->foreground(column).color();
          QVERIFY(contrastRatio(ink, Theme::of(kind).base) >= 4.5);
        }
      }
    }
  }

 private:
  bool isOpen() const {
    const auto dialogs = m_window->findChildren<CompilersDialog*>();
    return std::ranges::any_of(dialogs, [](const CompilersDialog* each) { return each->isVisible(); });
  }
  QTreeWidgetItem* itemOf(const char* name) const {
    const auto found = m_dialog->list().findItems(QString::fromLatin1(name), Qt::MatchExactly | Qt::MatchRecursive);
    return found.isEmpty() ? nullptr : found.front();
  }
  /// The row of that name: all of its columns.
  QString row(const char* name) const {
    const QTreeWidgetItem* item = itemOf(name);
    return item == nullptr ? QString() : item->text(0) + ' ' + item->text(1) + ' ' + item->text(2);
  }
  void choose(QTreeWidgetItem* item) { m_dialog->list().setCurrentItem(item); }
  AddEnvironmentDialog& add() {
    m_dialog->button("add").click();
    return *m_dialog->findChild<AddEnvironmentDialog*>();
  }
  static bool saysSomewhere(const QWidget& widget, const char* words) {
    return std::ranges::any_of(widget.findChildren<QLabel*>(),
                               [&](const QLabel* label) { return label->text().contains(words); });
  }

  QTemporaryDir m_folder;
  std::unique_ptr<MadeUp> m_source;
  std::unique_ptr<MainWindow> m_window;
  CompilersDialog* m_dialog = nullptr;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::CompilersDialogTest, 12)
#include "compilers_dialog_test.moc"
