#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QSettings>
#include <QTextBlock>
#include <QtTest>

#include "interchange/npz.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/gui/gui_support.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/run_settings_dialog.h"
#include "ui/dialogs/tune_dialog.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

constexpr int kExportMs = 180'000;

}  // namespace

/// A network with the plan's types is made, checked and written by the worker, and what is to be known of it is said.
class ExportTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    QSettings().clear();  // each test begins as nobody had exported yet
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void aCheckedNetworkSaysWhatStaysWideAndItsEdgesCanBeGoneTo() {
    giveInputs();
    lowerButTheCulprits();
    ExportDialog& dialog = open();
    QVERIFY(dialog.check().isEnabled() && dialog.check().isChecked());
    const QString file = m_folder->filePath("typed.onnx");
    write(dialog, file);
    QVERIFY2(said(dialog).contains("✓ Written: ") && said(dialog).contains("typed.onnx"), qPrintable(said(dialog)));
    QVERIFY(QFileInfo(file).size() > 0);
    const QString report = dialog.report().toPlainText();
    QVERIFY2(report.contains("Checked on 1 sample: against float32"), qPrintable(report));
    QVERIFY2(report.contains("these stay wide") && report.contains(" more Cast"), qPrintable(report));
    QVERIFY2(!report.contains("--"), qPrintable(report));
    const QString link = firstLink(dialog);
    QVERIFY2(!link.isEmpty(), qPrintable(report));
    m_window->selection().clear();
    emit dialog.report().anchorClicked(QUrl(link));
    QCOMPARE(m_window->selection().nodes().size(), std::size_t(1));
    QVERIFY(dialog.isVisible());
    const auto typed = openModel(file.toStdString());
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().text().c_str());
  }

  void outputsThatAreFiniteInFloat32AloneAreNotWritten() {
    giveInputs();
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    ExportDialog& dialog = open();
    const QString file = m_folder->filePath("nan.onnx");
    write(dialog, file);
    QVERIFY2(said(dialog).contains("✗ Nothing was written"), qPrintable(said(dialog)));
    QVERIFY(!QFileInfo::exists(file));
    const QString report = dialog.report().toPlainText();
    QVERIFY2(report.contains("is infinite or NaN where float32 is finite") && report.contains("node_linear_1"),
             qPrintable(report));
    QVERIFY2(report.contains("with Tune…") && !report.contains("--"), qPrintable(report));
    QVERIFY(!firstLink(dialog).isEmpty());
  }

  void aRefusalLeadsToWhatHelps() {
    giveInputs();
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
    ExportDialog& dialog = open();
    write(dialog, m_folder->filePath("nan.onnx"));
    QVERIFY2(links(dialog).contains("do:tune"), qPrintable(links(dialog).join(' ')));
    emit dialog.report().anchorClicked(QUrl("do:tune"));
    QTRY_VERIFY(m_window->findChild<TuneDialog*>() != nullptr && m_window->findChild<TuneDialog*>()->isVisible());
    m_window->findChild<TuneDialog*>()->reject();
    // What is too far from float32 may be allowed as well.
    openWhatNoCastMends();
    RunSettings settings = m_window->runs().settings();
    settings.tolerance = {.rms = 1e-9};
    m_window->runs().setSettings(settings);
    write(dialog, m_folder->filePath("far.onnx"));
    QVERIFY2(links(dialog).contains("do:run_settings"), qPrintable(dialog.report().toPlainText()));
    emit dialog.report().anchorClicked(QUrl("do:run_settings"));
    QTRY_VERIFY(m_window->findChild<RunSettingsDialog*>() != nullptr);
  }

  void aFormatThatCannotBeWrittenNamesTheOneThatCan() {
    m_window->document().setTarget("tensorrt-11");
    QTRY_VERIFY(!m_window->document().planning());
    ExportDialog& dialog = open();
    dialog.setFormat("trtexec");
    QTRY_VERIFY(!dialog.refusal().isEmpty());
    QVERIFY2(dialog.refusal().contains("The format trtexec cannot be written for tensorrt-11") &&
                 dialog.refusal().contains("Network with the plan's types"),
             qPrintable(dialog.refusal()));
    QVERIFY2(links(dialog).contains("do:format:onnx"), qPrintable(links(dialog).join(' ')));
    emit dialog.report().anchorClicked(QUrl("do:format:onnx"));
    QCOMPARE(dialog.format().currentData().toString(), QStringLiteral("onnx"));
  }

  void theVersionIsThatOfTheTarget() {
    ExportDialog& dialog = open();
    for (const auto& [target, version] : {std::pair("tensorrt-8", "8.6"), std::pair("tensorrt-10", "10.15")}) {
      m_window->document().setTarget(target);
      QTRY_VERIFY(!m_window->document().planning());
      QCOMPARE(dialog.fields().line("trt-version").text(), QString(version));
    }
    dialog.fields().line("trt-version").clear();
    QTest::keyClicks(&dialog.fields().line("trt-version"), "10.7");
    m_window->document().setTarget("tensorrt-8");
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(dialog.fields().line("trt-version").text(), QStringLiteral("10.7"));
  }

  void itBeginsAsTheLastExport() {
    ExportDialog* dialog = &open();
    dialog->fields().choice("weights").setCurrentIndex(1);
    dialog->fields().choice("io").setCurrentIndex(1);
    dialog->check().setChecked(false);
    QVERIFY(QDir().mkpath(m_folder->filePath("there")));
    write(*dialog, m_folder->filePath("there/typed.onnx"));
    close(*dialog);
    dialog = &opened();
    QCOMPARE(dialog->format().currentData().toString(), QStringLiteral("onnx"));
    QCOMPARE(dialog->fields().choice("weights").currentIndex(), 1);
    QCOMPARE(dialog->fields().choice("io").currentIndex(), 1);
    QVERIFY(!dialog->check().isChecked());
    QCOMPARE(QFileInfo(proposedBy(*dialog)).absolutePath(), QFileInfo(m_folder->filePath("there")).absoluteFilePath());
    close(*dialog);
    // Another format has options of its own, a version one of each target; those of the first stay.
    lowerBut({"node_layer_norm"});  // so that there is a pin to be written, and of one layer for sure
    m_window->document().setTarget("tensorrt-10");
    QTRY_VERIFY(!m_window->document().planning());
    dialog = &opened();
    dialog->setFormat("trtexec");
    dialog->fields().line("trt-version").clear();
    QTest::keyClicks(&dialog->fields().line("trt-version"), "10.7");
    QTRY_VERIFY(dialog->saveButton().isEnabled());
    test::answerFileDialog(m_folder->filePath("precision.txt"));
    QTest::mouseClick(&dialog->saveButton(), Qt::LeftButton);
    QTRY_VERIFY(QFileInfo::exists(m_folder->filePath("precision.txt")));
    dialog = &opened();
    QCOMPARE(dialog->format().currentData().toString(), QStringLiteral("trtexec"));
    QCOMPARE(dialog->fields().line("trt-version").text(), QStringLiteral("10.7"));
    QCOMPARE(dialog->fields().choice("weights").currentIndex(), 1);
    m_window->document().setTarget("tensorrt-8");
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(dialog->fields().line("trt-version").text(), QStringLiteral("8.6"));
    close(*dialog);
    // A folder that is gone is not offered.
    QVERIFY(QDir(m_folder->filePath("there")).removeRecursively());
    QSettings().setValue("export/folder", m_folder->filePath("there"));
    dialog = &opened();
    QTRY_VERIFY(dialog->saveButton().isEnabled());
    QCOMPARE(QFileInfo(proposedBy(*dialog)).absolutePath(), QFileInfo(m_window->document().path()).absolutePath());
  }

  void aRecipeOfTrtexecBecomesWishesAndWhatIsNotTakenOverIsSaid() {
    const QString recipe = m_folder->filePath("build.sh");
    QFile file(recipe);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "trtexec --onnx=m.onnx --fp16 --precisionConstraints=obey "
        "--layerPrecisions=node_linear_1:fp32,gone:fp32 --fp8\n");
    file.close();
    QVERIFY(m_window->openFile(recipe));
    QTRY_VERIFY(!m_window->document().planning());
    QTRY_COMPARE(m_window->document().options().precisions, std::vector{DataType::F16});
    QCOMPARE(m_window->document().directives().size(), std::size_t(1));
    QCOMPARE(inWords(m_window->document().directives()[0]), std::string("pin node_linear_1 to f32 (obey)"));
    const QString said = m_window->messages().textOf("recipe");
    QVERIFY2(
        said.contains("except for 2 entries") && said.contains("gone:fp32: no node") && said.contains("--fp8: codes"),
        qPrintable(said));
    m_window->document().undoStack().undo();
    QTRY_VERIFY(m_window->document().directives().empty());
  }

  void withoutInputsItSaysThatNothingWasChecked() {
    lowerButTheCulprits();
    ExportDialog& dialog = open();
    QVERIFY(!dialog.check().isEnabled());
    dialog.fields().choice("weights").setCurrentIndex(1);
    dialog.fields().choice("io").setCurrentIndex(1);
    const QString file = m_folder->filePath("kept.onnx");
    write(dialog, file);
    QVERIFY2(said(dialog).contains("✓ Written: "), qPrintable(said(dialog)));
    const QString report = dialog.report().toPlainText();
    QVERIFY2(report.contains("not checked") && !report.contains("--"), qPrintable(report));
    const auto typed = openModel(file.toStdString());
    QVERIFY(typed.ok());
    const Graph& graph = *typed.value()->graph;
    QCOMPARE(graph.value(graph.inputs().front()).type.dtype, DataType::F16);  // as the plan reads it
  }

  void whatDoesNotHoldIsNotWrittenAndTheEdgeIsNamed() {
    openWhatNoCastMends();
    RunSettings settings = m_window->runs().settings();
    settings.tolerance = {.rms = 1e-9};
    m_window->runs().setSettings(settings);
    ExportDialog& dialog = open();
    const QString file = m_folder->filePath("refused.onnx");
    write(dialog, file);
    QVERIFY2(said(dialog).contains("✗ Nothing was written"), qPrintable(said(dialog)));
    QVERIFY(!QFileInfo::exists(file));
    const QString link = firstLink(dialog);
    QVERIFY2(!link.isEmpty(), qPrintable(dialog.report().toPlainText()));
    QVERIFY2(!dialog.report().toPlainText().contains("--"), qPrintable(dialog.report().toPlainText()));
    m_window->selection().clear();
    emit dialog.report().anchorClicked(QUrl(link));
    QVERIFY(!m_window->selection().nodes().empty());
    // Another plan: what was said is of the one before.
    m_window->document().undoStack().undo();
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(dialog.report().toPlainText().isEmpty() && dialog.saveButton().isEnabled());
  }

 private:
  void giveInputs() {
    m_window->setInputs({.paths = {FUSESCOPE_SOURCE_DIR "/resources/samples/fp16_overflow/io.npz"}});
  }
  void lowerButTheCulprits() { lowerBut({"node_relu_1", "node_layer_norm"}); }
  void lowerBut(std::initializer_list<const char*> wide) {
    PlanOptions options = m_window->document().options();
    options.precisions = {DataType::F16};
    for (const char* node : wide)
      options.directives.push_back({.kind = DirectiveKind::Pin, .pattern = node, .type = DataType::F32});
    assignIds(options.directives);
    m_window->document().edit("Lower", std::move(options));
    QTRY_VERIFY(!m_window->document().planning());
  }
  /// Lowered, with inputs. Calls of functions stay as they are in the file, where the plan lowers what they stand for.
  void openWhatNoCastMends() {
    const QString model = m_folder->filePath("call.onnx"), inputs = m_folder->filePath("call.npz");
    test::writeModel(model, R"(<ir_version: 10, opset_import: ["" : 18, "custom" : 1]>
net (float[64] x) => (float[64] y) { [call] h = custom.third (x) [last] y = Exp (h) }
<domain: "custom", opset_import: ["" : 18]>
third (a) => (b) { k = Constant <value = float {3.3}> () b = Div (a, k) })");
    Tensor x = Tensor::zeros(DataType::F32, {64});
    for (int i = 0; i < 64; ++i) x.mutableData<float>()[static_cast<std::size_t>(i)] = 0.7F + 0.013F * float(i);
    QVERIFY(writeNpz(inputs.toStdString(), {{"x", x}}).ok());
    m_window->openFile(model);
    QTRY_COMPARE(m_window->document().path(), model);
    m_window->setInputs({.paths = {inputs.toStdString()}});
    m_window->document().setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_window->document().planning());
  }
  ExportDialog& open() {
    ExportDialog& dialog = opened();
    dialog.setFormat("onnx");
    return dialog;
  }
  /// As it opens.
  ExportDialog& opened() {
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);  // one that was closed
    m_window->actions().find("export")->trigger();
    auto* dialog = m_window->findChild<ExportDialog*>();
    if (dialog == nullptr) qFatal("the dialog does not open");
    return *dialog;
  }
  static void close(ExportDialog& dialog) { QTest::keyClick(&dialog, Qt::Key_Escape); }
  /// The file that the chooser of files begins with.
  static QString proposedBy(ExportDialog& dialog) {
    QString proposed;
    QTimer look;
    look.callOnTimeout([&] {
      auto* chooser = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (chooser == nullptr) return;
      proposed = chooser->directory().filePath(chooser->findChild<QLineEdit*>()->text());
      look.stop();
      chooser->reject();
    });
    look.start(20);
    QTest::mouseClick(&dialog.saveButton(), Qt::LeftButton);
    return proposed;
  }
  void write(ExportDialog& dialog, const QString& path) {
    test::answerFileDialog(path);
    QTest::mouseClick(&dialog.saveButton(), Qt::LeftButton);
    QVERIFY(dialog.working() && dialog.cancelButton().isEnabled() && !dialog.saveButton().isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kExportMs);
  }
  static QString said(ExportDialog& dialog) {
    QStringList texts;
    for (const QLabel* label : dialog.findChildren<QLabel*>()) texts << label->text();
    return texts.join('\n');
  }
  static QStringList links(ExportDialog& dialog) {
    QStringList all;
    const QTextDocument& document = *dialog.report().document();
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
      for (auto part = block.begin(); !part.atEnd(); ++part)
        if (part.fragment().charFormat().isAnchor()) all << part.fragment().charFormat().anchorHref();
    return all;
  }
  static QString firstLink(ExportDialog& dialog) { return links(dialog).value(0); }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(ExportTest, 9)
#include "export_test.moc"
