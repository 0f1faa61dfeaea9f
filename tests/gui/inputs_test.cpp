#include <QDialogButtonBox>
#include <QFileDialog>
#include <QMenuBar>
#include <QTableView>
#include <QTimer>
#include <QtTest>

#include "interchange/npz.h"
#include "session/inputs/network_inputs.h"
#include "session/inputs/sample_source.h"
#include "session/open_model.h"
#include "tests/gui/gui_support.h"
#include "ui/dialogs/inputs_dialog.h"
#include "ui/docks/runs_dock.h"
#include "ui/document/qt_text.h"
#include "ui/window/inputs_action.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kBuildMs = 180'000, kModalMs = 20;

}  // namespace

/// What runs are made on is chosen in a dialog, read at once, remembered, and said wherever a number stands.
class InputsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::shownWindow();
    QVERIFY(test::openSample(*m_window, "digits"));
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void withoutFilesTheyAreRandomAndThatIsSaid() {
    InputsDialog& dialog = open();
    QTRY_VERIFY(dialog.okButton().isEnabled());
    QVERIFY2(dialog.said().contains("1 random sample of 1 input"), qPrintable(dialog.said()));
    QCOMPARE(dialog.found().rowCount(), 1);
    QCOMPARE(cell(dialog, 0, 1), QStringLiteral("image"));
    QVERIFY(!dialog.removeButton().isEnabled() && !dialog.cut().isEnabled());
    QCOMPARE(dialog.focusWidget(), &dialog.addFilesButton());  // what is empty
    click(dialog.okButton());
    QVERIFY(inputs().empty());
    m_window->document().setPrecisions({DataType::BF16});
    QTRY_VERIFY(!m_window->document().planning());
    runAndEvaluate();
    QCOMPARE(inputsCell(), QStringLiteral("⚠ random"));
    QVERIFY(m_window->dock<RunsDock>().details().contains("The inputs were random"));
  }

  void theyAreSavedIntoANetworkAndComeFromIt() {
    const QString refused = saveInputsRefusal(*m_window);
    QVERIFY2(refused.isEmpty() || refused.contains("only assumed"), qPrintable(refused));
    const QString open = m_folder->filePath("digits_8.onnx"), carrying = m_folder->filePath("digits_examples.onnx");
    m_window->document().open(test::samplePath("digits"), {}, {{.name = "image", .fixed = Dims{8, 1, 8, 8}}});
    QTRY_VERIFY(!m_window->document().inputs().empty());
    QCOMPARE(saveInputsRefusal(*m_window), QString());
    QVERIFY(m_window->actions().find("save_inputs")->isEnabled());
    saveInputs(*m_window, open);
    const auto said = [this] { return m_window->messages().textOf(QStringLiteral("save inputs")); };
    QTRY_VERIFY2(said().contains("no command asks for them again"), qPrintable(said()));
    const auto model = openModel(open.toStdString());
    QVERIFY(model.ok());
    QCOMPARE(model.value()->inputSpecs[0].source, std::string("metadata"));
    QCOMPARE(model.value()->inputSpecs[0].opt, (Dims{8, 1, 8, 8}));
    saveInputs(*m_window, test::samplePath("digits"));  // which it is read from
    QTRY_VERIFY2(said().contains("written over"), qPrintable(said()));
    const std::map<std::string, Tensor> examples{{"image", Tensor::zeros(DataType::F32, {8, 1, 8, 8})}};
    QVERIFY(writeInputs(networkInputs(model.value()), examples, carrying.toStdString()).ok());
    m_window->openFile(carrying);
    QTRY_COMPARE(inputs().paths, std::vector<std::string>{carrying.toStdString()});
  }

  void aSampleHasItsInputsHoweverItIsOpened() {
    QVERIFY(inputs().empty());                              // as the tests ask for
    m_window->openFile(test::samplePath("fp16_overflow"));  // as by Recent, and by File > Open
    QTRY_COMPARE(inputs(), besideSample("fp16_overflow"));
    m_window->session().open(test::samplePath("digits"));  // as by the command line
    QTRY_COMPARE(inputs(), besideSample("digits"));
    // Who wants others has them, also when the file is read again.
    m_window->setInputs({});
    QSignalSpy opened(&m_window->document(), &PlanDocument::modelChanged);
    m_window->document().reload();
    QTRY_COMPARE(opened.count(), 1);
    QVERIFY(inputs().empty());
  }

  void whatLiesBesideAModelIsOfferedAndNotTaken() {
    const QString model = m_folder->filePath("model.onnx"), file = m_folder->filePath("io.npz");
    QVERIFY(QFile::copy(test::samplePath("fp16_overflow"), model));
    QVERIFY(QFile::copy(qs(besideSample("fp16_overflow").paths.front()), file));
    m_window->openFile(model);
    QTRY_COMPARE(m_window->document().path(), model);
    QVERIFY(inputs().empty());
    QPushButton* offered = m_window->messages().button("inputs", "Use it as inputs");
    QVERIFY2(offered != nullptr, qPrintable(m_window->messages().textOf("inputs")));
    click(*offered);
    QCOMPARE(inputs(), (SampleSource{.paths = {file.toStdString()}}));
    QVERIFY(m_window->messages().textOf("inputs").isEmpty());
    // What was offered for one model is not offered for the next.
    m_window->openFile(test::samplePath("digits"));
    QTRY_COMPARE(inputs(), besideSample("digits"));
    m_window->openFile(model);
    QTRY_VERIFY(m_window->messages().button("inputs", "Use it as inputs") != nullptr);
    m_window->openFile(test::samplePath("digits"));
    QTRY_COMPARE(inputs(), besideSample("digits"));
    QVERIFY(m_window->messages().textOf("inputs").isEmpty());
  }

  void severalFilesAreSamplesAndAreRememberedWithTheSession() {
    const QString first = write("first", 1), second = write("second", 1);
    InputsDialog& dialog = open();
    chooseFiles(dialog, {first, second});
    QTRY_VERIFY2(dialog.said().startsWith("✓ 2 samples of 1 input"), qPrintable(dialog.said()));
    QCOMPARE(dialog.found().rowCount(), 2);
    QCOMPARE(cell(dialog, 0, 0), QStringLiteral("first"));
    QCOMPARE(cell(dialog, 1, 0), QStringLiteral("second"));
    QCOMPARE(cell(dialog, 1, 2), QStringLiteral("f32"));
    QCOMPARE(cell(dialog, 1, 3), QStringLiteral("[1, 1, 8, 8]"));
    // The second is taken out again, and put back.
    const QModelIndex row = dialog.paths().model()->index(1, 0);
    QTest::mouseClick(dialog.paths().viewport(), Qt::LeftButton, {}, dialog.paths().visualRect(row).center());
    click(dialog.removeButton());
    QTRY_VERIFY2(dialog.said().startsWith("✓ 1 sample of 1 input"), qPrintable(dialog.said()));
    chooseFiles(dialog, {second});
    QTRY_VERIFY(dialog.said().startsWith("✓ 2 samples"));
    click(dialog.okButton());
    QCOMPARE(inputs(), (SampleSource{.paths = {first.toStdString(), second.toStdString()}}));
    QVERIFY2(m_window->dock<RunsDock>().inputsButton().text().contains("first.npz and 1 other"),
             qPrintable(m_window->dock<RunsDock>().inputsButton().text()));
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    m_window = test::shownWindow();
    m_window->session().open(file);
    QTRY_VERIFY(!inputs().empty());
    QCOMPARE(inputs(), (SampleSource{.paths = {first.toStdString(), second.toStdString()}}));
  }

  void aBatchIsCutIntoSamplesThatEachHaveAVerdict() {
    const QString batch = write("batch", 3);
    InputsDialog& dialog = open();
    chooseFiles(dialog, {batch});
    QTRY_VERIFY2(dialog.said().startsWith("✓ 1 sample of"), qPrintable(dialog.said()));  // the batch is open
    QCOMPARE(cell(dialog, 0, 3), QStringLiteral("[3, 1, 8, 8]"));
    QTest::mouseClick(&dialog.cut(), Qt::LeftButton, {}, QPoint(8, dialog.cut().height() / 2));
    QTRY_VERIFY2(dialog.said().startsWith("✓ 3 samples of 1 input"), qPrintable(dialog.said()));
    QCOMPARE(cell(dialog, 2, 0), QStringLiteral("batch_2"));
    QCOMPARE(cell(dialog, 2, 3), QStringLiteral("[1, 1, 8, 8]"));
    click(dialog.okButton());
    QCOMPARE(inputs(), (SampleSource{.paths = {batch.toStdString()}, .batchAxis = 0}));
    m_window->document().setPrecisions({DataType::BF16});
    QTRY_VERIFY(!m_window->document().planning());
    runAndEvaluate();
    const Evaluation& evaluation = *m_window->runs().evaluation(*m_window->runs().shown());
    QCOMPARE(evaluation.samples.size(), std::size_t(3));
    QCOMPARE(evaluation.samples[1].name, std::string("batch_1"));
    QCOMPARE(m_window->runs().verdict(*m_window->runs().shown()).samples, std::int64_t(3));
    QCOMPARE(inputsCell(), QStringLiteral("batch.npz, cut along axis 0"));
    QVERIFY(!m_window->dock<RunsDock>().details().contains("random"));
  }

  void whatCannotBeReadIsSaidWithItsPlaceAndNotTaken() {
    const QString good = write("good", 1), bad = m_folder->filePath("bad.npz");
    QVERIFY(writeNpz(bad.toStdString(), {{"image", Tensor::zeros(DataType::F32, {1, 3, 8, 8})}}).ok());
    InputsDialog& dialog = open();
    chooseFiles(dialog, {good, bad});
    QTRY_VERIFY2(dialog.said().startsWith("✗") && dialog.said().contains("bad.npz") && dialog.said().contains("image"),
                 qPrintable(dialog.said()));
    QVERIFY(!dialog.okButton().isEnabled());
    QCOMPARE(dialog.found().rowCount(), 0);
    QCOMPARE(dialog.paths().item(1)->foreground().color(), Theme::dark().error);
    QVERIFY(dialog.paths().item(0)->foreground().style() == Qt::NoBrush);
    QTest::keyClick(&dialog, Qt::Key_Return);
    QVERIFY(dialog.isVisible() && inputs().empty());
    click(dialog.randomButton());
    QTRY_VERIFY(dialog.okButton().isEnabled());
    QCOMPARE(dialog.paths().count(), 0);
  }

  void itOpensAtWhatIsWrong() {
    const QString good = write("good", 1), gone = write("gone", 1), batch = write("batch", 3);
    m_window->setInputs({.paths = {good.toStdString(), gone.toStdString()}});
    QVERIFY(QFile::remove(gone));
    InputsDialog* dialog = &open();
    QTRY_VERIFY2(dialog->said().startsWith("✗"), qPrintable(dialog->said()));
    QCOMPARE(dialog->focusWidget(), &dialog->paths());
    QCOMPARE(dialog->paths().currentRow(), 1);
    QTest::keyClick(dialog->focusWidget(), Qt::Key_Delete);
    QTRY_VERIFY2(dialog->said().startsWith("✓ 1 sample"), qPrintable(dialog->said()));
    click(dialog->okButton());
    QCOMPARE(inputs(), (SampleSource{.paths = {good.toStdString()}}));
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    // Extents of 8 cannot be cut into those of 3.
    QVERIFY(writeNpz(batch.toStdString(), {{"image", Tensor::zeros(DataType::F32, {1, 1, 12, 8})}}).ok());
    m_window->setInputs({.paths = {batch.toStdString()}, .batchAxis = 2});
    dialog = &open();
    QTRY_VERIFY2(dialog->said().startsWith("✗"), qPrintable(dialog->said()));
    QCOMPARE(dialog->focusWidget(), &dialog->axis());
  }

  /// What extents come again gets an engine of its own, as the run then says; with fixed extents there is none to get.
  void whichEngineServesWhichExtentsIsFoundOut() {
    QAction& specialise = *m_window->actions().find("specialise");
    QVERIFY(!specialise.isEnabled());
    const QString one = write("one", 1), five = write("five", 5);
    m_window->setInputs({.paths = {one.toStdString(), five.toStdString()}});
    m_window->actions().find("build")->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(specialise.isEnabled(), qPrintable(m_window->controller().specialiseRefusal()));
    specialise.trigger();
    QVERIFY(m_window->controller().busy());
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    const Run& run = *m_window->runs().shown();
    QVERIFY(run.serving);
    QCOMPARE(run.state, RunState::Ready);
    QCOMPARE(run.serving->inputs, inputs());
    QCOMPARE(run.serving->samples.size(), std::size_t(2));
    QVERIFY(run.serving->samples[0].extents.at("image") == (Dims{1, 1, 8, 8}));
    QVERIFY(run.serving->samples[1].extents.at("image") == (Dims{5, 1, 8, 8}));
    QVERIFY(!run.serving->decisions.empty());
    const QString details = m_window->dock<RunsDock>().details();
    QVERIFY2(details.contains("Which engine serves which extents") && details.contains("[5, 1, 8, 8]"),
             qPrintable(details));
  }

 private:
  const SampleSource& inputs() { return m_window->runs().settings().inputs; }
  static SampleSource besideSample(const QString& name) {
    return {.paths = {test::samplePath(name).replace("model.onnx", "io.npz").toStdString()}};
  }
  QString write(const QString& name, std::int64_t batch) {
    const QString path = m_folder->filePath(name + ".npz");
    if (!writeNpz(path.toStdString(), {{"image", Tensor::zeros(DataType::F32, {batch, 1, 8, 8})}}).ok())
      qFatal("%s is not written", qPrintable(path));
    return path;
  }
  /// By the button of the Runs dock.
  InputsDialog& open() {
    m_window->showDock("Runs");
    click(m_window->dock<RunsDock>().inputsButton());
    auto* dialog = m_window->findChild<InputsDialog*>();
    if (dialog == nullptr) qFatal("the dialog does not open");
    return *dialog;
  }
  void chooseFiles(InputsDialog& dialog, const QStringList& paths) {
    QStringList quoted;
    for (const QString& path : paths) quoted << '"' + path + '"';
    inFileDialog([quoted](QFileDialog& chooser) {
      chooser.findChild<QLineEdit*>()->setText(quoted.join(' '));
      QTest::mouseClick(chooser.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open), Qt::LeftButton);
    });
    click(dialog.addFilesButton());
  }
  void inFileDialog(const std::function<void(QFileDialog&)>& act) {
    QTimer::singleShot(kModalMs, this, [this, act] {
      auto* modal = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      modal == nullptr ? inFileDialog(act) : act(*modal);
    });
  }
  static void click(QWidget& widget) {
    QVERIFY(widget.isEnabled());
    QTest::mouseClick(&widget, Qt::LeftButton);
  }
  static QString cell(const InputsDialog& dialog, int row, int column) {
    return dialog.found().index(row, column).data().toString();
  }
  /// Of the newest run.
  QString inputsCell() { return m_window->dock<RunsDock>().model().index(0, 4).data().toString(); }
  void runAndEvaluate() {
    for (const char* action : {"build", "evaluate"}) {
      m_window->actions().find(action)->trigger();
      QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kBuildMs);
      QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    }
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(InputsTest, 9)
#include "inputs_test.moc"
