#include <QComboBox>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTextBrowser>
#include <QToolBar>
#include <QTreeView>
#include <QtTest>
#include <filesystem>

#include "onnxlib/onnx_text.h"
#include "session/operations/shared_settings.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/reach.h"
#include "tests/support/paths.h"
#include "tests/support/pt2_files.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/document/qt_text.h"
#include "ui/models/roles.h"
#include "ui/widgets/option_fields.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

/// A float32 initializer "w" of two elements without data, in protobuf's wire format: appended to a model it is merged
/// into its graph.
const std::string kWeightlessW("\x3a\x09\x2a\x07\x08\x02\x10\x01\x42\x01w", 11);

}  // namespace

/// What cannot be done now says why, what is offered can be done, and what was done is said where one looks.
class RefusalsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::shownWindow({.size = QSize(1440, 900)});
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void whatIsGreySaysWhy_data() {
    QTest::addColumn<QString>("state");
    for (const char* state : {"nothing is open", "no weights", "tensorrt-10", "cpu"}) QTest::newRow(state) << state;
  }
  void whatIsGreySaysWhy() {
    QFETCH(QString, state);
    enter(state);
    QStringList silent;
    for (const QString& dock : state == "nothing is open" ? QStringList() : m_window->dockNames()) {
      m_window->showDock(dock);
      QTest::qWait(50);
      silent << greyWithoutAWord(*test::dockOf(*m_window, dock));
    }
    silent << greyWithoutAWord(*m_window->findChild<QToolBar*>()) << greyWithoutAWord(*m_window->menuBar());
    for (const QAction* action : m_window->actions().all())
      if (!action->isEnabled() && !action->toolTip().endsWith('.')) silent << action->text();
    QVERIFY2(silent.isEmpty(), qPrintable(silent.join('\n')));
  }

  void whatIsGreyInADialogSaysWhy_data() {
    QTest::addColumn<QString>("action");
    for (const char* action : {"export", "pin_pattern", "truncation", "bisect", "calibrate", "tune", "compare_file",
                               "inputs", "run_settings"})
      QTest::newRow(action) << action;
  }
  void whatIsGreyInADialogSaysWhy() {
    QFETCH(QString, action);
    enter(action == "truncation" ? "tensorrt-10" : "cpu");
    QDialog& dialog = open(action);
    // As it opens, when nothing is given, and with something in each field that cannot be.
    QVERIFY2(greyWithoutAWord(dialog).isEmpty(), qPrintable(greyWithoutAWord(dialog).join('\n')));
    for (const char* text : {"", "nothing of this kind.npz"}) {
      for (auto* field : dialog.findChildren<QLineEdit*>())
        if (field->isVisible() && !field->isReadOnly() && qobject_cast<QAbstractSpinBox*>(field->parent()) == nullptr)
          field->setText(text);
      QVERIFY2(greyWithoutAWord(dialog).isEmpty(), qPrintable(greyWithoutAWord(dialog).join('\n')));
      QTRY_VERIFY(m_window->jobs().idle());
      QVERIFY2(greyWithoutAWord(dialog).isEmpty(), qPrintable(greyWithoutAWord(dialog).join('\n')));
    }
  }

  /// The range and the help of a field are those of the option of the command.
  void fieldsAcceptWhatTheCommandsAccept() {
    enter("cpu");
    const auto isAs = [](const QWidget& field, const Option& option) {
      QSpinBox described;
      describe(described, option);
      QCOMPARE(field.toolTip(), described.toolTip());
      if (const auto* number = qobject_cast<const QSpinBox*>(&field)) {
        QCOMPARE(number->minimum(), described.minimum());
        QCOMPARE(number->maximum(), described.maximum());
      }
    };
    m_window->showDock("Tensor");
    QWidget* sample = fieldNamed(*test::dockOf(*m_window, "Tensor"), "Number of the sample");
    QVERIFY(sample != nullptr);
    isAs(*sample, usualOption<TensorSettings>("sample"));
    m_window->setInputs(
        {.paths = {test::samplePath("fp16_overflow").replace("model.onnx", "io.npz").toStdString()}, .batchAxis = 0});
    const std::tuple<const char*, const char*, const Option*> fields[] = {
        {"inputs", "Axis", &usualOption<InputSettings>("batch-axis")},
        {"bisect", "Largest error", &usualOption<ErrorsSettings>("tol-rms")},
        {"calibrate", "A range for each", &usualOption<CalibrateSettings>("per-channel")},
        {"calibrate", "Correct biases", &usualOption<CalibrateSettings>("correct-biases")},
        {"export", "Check", &usualOption<ExportSettings>("check")}};
    for (const auto& [action, name, option] : fields) {
      QDialog& dialog = open(action);
      if (auto* exporting = qobject_cast<ExportDialog*>(&dialog)) exporting->setFormat("onnx");
      QWidget* field = fieldNamed(dialog, name);
      QVERIFY2(field != nullptr, name);
      isAs(*field, *option);
      dialog.close();
      QTRY_VERIFY(!dialog.isVisible());
    }
  }

  void whatIsGreyWhileADialogWorksSaysWhy() {
    enter("cpu");
    const auto script = m_folder.write("worker", "#!/bin/sh\nwhile read -r line; do :; done\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    m_window->worker().setProgram(QString::fromStdString(script.string()));
    for (const char* action : {"export", "bisect", "calibrate", "tune"}) {
      QDialog& dialog = open(action);
      QMap<QString, QString> tips;
      for (const QWidget* field : test::fieldsOf(dialog)) tips[wordsOf(*field)] = field->toolTip();
      const QString start = action == QString("export")      ? "Save as…"
                            : action == QString("calibrate") ? "Calibrate"
                                                             : "Start";
      if (action == QString("export")) {
        static_cast<ExportDialog&>(dialog).setFormat("onnx");
        test::answerFileDialog(QString::fromStdString((m_folder.path() / "typed.onnx").string()));
      }
      QTest::mouseClick(button(dialog, start), Qt::LeftButton);
      QTRY_VERIFY(m_window->worker().busy());
      QVERIFY(!button(dialog, start)->isEnabled());
      QVERIFY2(greyWithoutAWord(dialog).isEmpty(), qPrintable(greyWithoutAWord(dialog).join('\n')));
      const bool asksAgain = action == QString("bisect");
      if (action != QString("tune") && !asksAgain) {  // each field says again what it said before
        QTest::mouseClick(button(dialog, "Cancel"), Qt::LeftButton);
        QTRY_VERIFY(button(dialog, start)->isEnabled());
        for (const QWidget* field : test::fieldsOf(dialog))
          if (field->isEnabled() && tips.contains(wordsOf(*field)) && !tips[wordsOf(*field)].endsWith('.'))
            QCOMPARE(field->toolTip(), tips[wordsOf(*field)]);
      }
      dialog.reject();
      if (asksAgain) dialog.reject();
      QTRY_VERIFY(!m_window->worker().busy());
    }
  }

  void theInspectorOffersWhatCanBeDone_data() {
    QTest::addColumn<QString>("state");
    for (const char* state : {"no weights", "tensorrt-10", "cpu"}) QTest::newRow(state) << state;
  }
  void theInspectorOffersWhatCanBeDone() {
    QFETCH(QString, state);
    enter(state);
    const QString refusal = m_window->controller().buildRefusal();
    QCOMPARE(refusal.isEmpty(), state == "cpu");
    const auto text = [this] { return m_window->dock<InspectorDock>().text(); };
    QCOMPARE(html().contains("do:build"), refusal.isEmpty());
    QVERIFY2(text().contains(refusal), qPrintable(text()));
    QCOMPARE(html().contains("do:cpu"), state == "tensorrt-10");
    if (state != "tensorrt-10") return;
    follow("do:cpu");
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().options().target, std::string("cpu"));
    QTRY_VERIFY(html().contains("do:build"));
  }

  void aPinOnAFusedNodeIsSaidThere() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    const auto before = m_window->document().snapshot();
    const FusedNode* fused = nullptr;
    for (const FusedNode& one : before->plan->fusedNodes)
      if (one.nodes.size() == 2 && one.kind == "conv") fused = &one;
    QVERIFY(fused != nullptr);
    m_window->selection().set(fused->nodes);
    const auto text = [this] { return m_window->dock<InspectorDock>().text(); };
    QVERIFY(!text().contains("Directives") && !text().contains("Answers to pins"));
    m_window->document().pin(m_window->document().namesOf(fused->nodes), DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(m_window->document().snapshot() != before);
    QVERIFY2(text().contains("Directives") && text().contains("Answers to pins"), qPrintable(text()));
    for (const std::string& name : m_window->document().namesOf(fused->nodes))
      QVERIFY2(text().contains(qs("pin " + name)), qPrintable(text()));
    follow("do:clear");
    QTRY_VERIFY(m_window->document().directives().empty());
  }

  void aSegmentIsSelectedAsOne() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    const auto snapshot = m_window->document().snapshot();
    for (const Segment& segment : snapshot->plan->segments) {
      if (segment.nodes.size() < 2 || snapshot->fusedOf(segment.nodes.front())->nodes == segment.nodes) continue;
      m_window->selection().set(segment.nodes);
      QCOMPARE(m_window->canvas().selection(), QStringList(qs(segment.name)));
      QCOMPARE(m_window->dock<OutlineDock>().view().currentIndex().data(kNameRole).toString(), qs(segment.name));
      return;
    }
    QFAIL("no segment has several fused nodes");
  }

  void whatIsForAModelNeedsOne() {
    QVERIFY(test::dropOn(*m_window, {test::samplePath("digits").replace("model.onnx", "io.npz")}));
    QTRY_VERIFY(m_window->lastProblem().contains("io.npz is about a model"));
    for (QMessageBox* box : m_window->findChildren<QMessageBox*>()) box->close();
  }

  void whatTorchWouldRunNamesTheCommand() {
    const QTemporaryDir folder;
    const QString script = folder.filePath("net.py"), torchScript = folder.filePath("old.pt");
    QFile file(script);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("def make():\n    pass\n");
    file.close();
    QVERIFY(test::dropOn(*m_window, {script}));
    QTRY_VERIFY(m_window->lastProblem().contains("fusescope import " + script + ":FUNCTION"));
    m_window->openFile(script);
    QTRY_VERIFY(m_window->lastProblem().contains("is a Python script, not a network"));
    QFile archive(torchScript);
    QVERIFY(archive.open(QIODevice::WriteOnly));
    archive.write(QByteArray::fromStdString(test::zipBytes({{.name = "old/code/net.py", .content = "class Net:"}})));
    archive.close();
    QVERIFY(test::dropOn(*m_window, {torchScript}));
    QTRY_VERIFY2(m_window->lastProblem().contains("fusescope import " + torchScript + " --input=NAME=1,3,224,224:f32"),
                 qPrintable(m_window->lastProblem()));
    for (QMessageBox* box : m_window->findChildren<QMessageBox*>()) box->close();
  }

  void int8IsOfferedAndSaysWhatItNeeds() {
    QVERIFY(test::openSample(*m_window, "digits"));
    QComboBox* precision = nullptr;
    for (QComboBox* box : m_window->findChildren<QComboBox*>())
      if (box->findText("int8, f32") >= 0) precision = box;
    QVERIFY(precision != nullptr);
    const int row = precision->findText("int8, f32");
    QVERIFY(!(precision->model()->flags(precision->model()->index(row, 0)) & Qt::ItemIsEnabled));
    QVERIFY(precision->itemData(row, Qt::ToolTipRole).toString().contains("Calibrate"));
  }

  void theOverviewIsShownWhereThereIsMore() {
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    QWidget* overview = nullptr;
    for (QWidget* widget : m_window->canvas().findChildren<QWidget*>())
      if (widget->accessibleName() == "Overview of the graph") overview = widget;
    QVERIFY(overview != nullptr);
    m_window->canvas().fit();
    QVERIFY(!overview->isVisible());
    m_window->canvas().setZoom(4);
    QVERIFY(overview->isVisible());
  }

  void theFindFieldStaysInTheWindow() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    for (const int width : {1440, 1024, 640}) {
      m_window->resize(width, 700);
      QLineEdit* field = test::searchBoxOf(*m_window);
      field->setText("node_");
      QTRY_VERIFY2(field->mapTo(m_window.get(), QPoint(field->width(), 0)).x() <= m_window->width(),
                   qPrintable(QString::number(width)));
      QVERIFY(field->width() >= 80);
    }
  }

  void theFooterCountsWhatKernelsMove() {
    QVERIFY(test::openSample(*m_window, "squeezenet1_1"));
    std::int64_t moved = 0;
    for (const FusedNode& fused : m_window->document().snapshot()->plan->fusedNodes) moved += fused.bytes.value_or(0);
    const QString total = m_window->dock<LayersDock>().model().totalsText();
    QVERIFY2(total.contains(bytesText(moved) + " moved by kernels"), qPrintable(total));
  }

 private:
  static QString wordsOf(const QWidget& field) {
    const auto* button = qobject_cast<const QAbstractButton*>(&field);
    return QStringLiteral("%1 “%2”").arg(field.metaObject()->className(),
                                         button != nullptr ? button->text() : field.accessibleName());
  }
  /// Those that are grey by themselves, and whose tool tip is no sentence.
  static QStringList greyWithoutAWord(const QWidget& page) {
    QStringList silent;
    for (const QWidget* field : test::fieldsOf(page))
      if (!field->isEnabledTo(field->parentWidget()) && !field->toolTip().endsWith('.'))
        silent << wordsOf(*field) + ": " + field->toolTip();
    return silent;
  }
  /// The field whose accessible name or text begins with the words; null: there is none.
  static QWidget* fieldNamed(QWidget& page, const QString& words) {
    for (auto* field : page.findChildren<QWidget*>())
      if (wordsOf(*field).contains("“" + words)) return field;
    return nullptr;
  }
  QDialog& open(const QString& action) {
    m_window->actions().find(action)->trigger();
    for (auto* dialog : m_window->findChildren<QDialog*>())
      if (dialog->isVisible()) return *dialog;
    qFatal("no dialog opens");
  }
  static QPushButton* button(QDialog& dialog, const QString& text) {
    for (auto* button : dialog.findChildren<QPushButton*>())
      if (button->text() == text) return button;
    qFatal("there is no such button");
  }
  void enter(const QString& state) {
    if (state == "nothing is open") return;
    if (state == "no weights") {
      const auto bytes = onnxlib::onnxTextToBytes(
          "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[2] x) => (float[2] y) { y = Add (x, w) }");
      QVERIFY(bytes.ok());
      const auto file = m_folder.write("model.onnx", bytes.value() + kWeightlessW);
      m_window->openFile(QString::fromStdString(file.string()));
      QTRY_VERIFY(m_window->document().snapshot() != nullptr);
      QVERIFY(m_window->document().model()->weightless);
      return;
    }
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    m_window->document().setTarget(state.toStdString());
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(m_window->document().planProblem().isEmpty());
  }
  QTextBrowser* inspector() { return m_window->dock<InspectorDock>().findChild<QTextBrowser*>(); }
  QString html() {
    m_window->dock<InspectorDock>().catchUp();
    return inspector()->toHtml();
  }
  void follow(const char* link) {
    QVERIFY(html().contains(link));
    emit inspector()->anchorClicked(QUrl(link));
  }

  test::TemporaryFolder m_folder;
  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(RefusalsTest, 16)
#include "refusals_test.moc"
