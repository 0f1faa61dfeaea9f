// A .pt2 as a person meets it: it opens, its modules are drawn, and the inspector says where a node was written.
#include <QDesktopServices>
#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "tests/gui/gui_support.h"
#include "tests/support/paths.h"
#include "tests/support/pt2_files.h"
#include "ui/docks/inspector_dock.h"
#include "ui/window/file_kinds.h"
#include "ui/window/import_action.h"
#include "ui/window/main_window.h"
#include "ui/window/message_keys.h"

namespace fusescope {
namespace {

constexpr int kOpenMs = 60'000;

}  // namespace

class ExportedProgramTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
    m_window->resize(1200, 900);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void theInspectorSaysWhereANodeWasWritten() {
    const QString path = m_folder.filePath(QStringLiteral("net.pt2"));
    QVERIFY(
        writeFileAtomically(path.toStdString(), test::pt2Bytes(test::Pt2Kind::RawWeights, test::smallProgram())).ok());
    QCOMPARE(int(fileKindOf(path)), int(FileKind::Network));
    open(path);
    m_window->showDock("Inspector");
    InspectorDock& inspector = m_window->dock<InspectorDock>();
    QTRY_VERIFY2(inspector.text().contains("torch-exported-program · PyTorch 2.11.0"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("it can be looked at and planned"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("those of its example inputs"), qPrintable(inspector.text()));
    m_window->selection().set({*m_window->document().snapshot()->graph().findNode("linear")});
    QTRY_VERIFY2(inspector.text().contains("torch.ops.aten.linear.default"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("Written in"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("line 7, in forward"), qPrintable(inspector.text()));
  }

  void aClickOpensTheFileOfItsAuthor() {
    const QString author = m_folder.filePath(QStringLiteral("net.py"));
    QVERIFY(writeFileAtomically(author.toStdString(), std::string_view("class Net: pass\n")).ok());
    test::Pt2Content content = test::smallProgram();
    const std::size_t at = content.program.find("net.py");
    QVERIFY(at != std::string::npos);
    content.program.replace(at, 6, author.toStdString());
    const QString path = m_folder.filePath(QStringLiteral("written.pt2"));
    QVERIFY(writeFileAtomically(path.toStdString(), test::pt2Bytes(test::Pt2Kind::RawWeights, content)).ok());
    open(path);
    m_window->showDock("Inspector");
    m_window->selection().set({*m_window->document().snapshot()->graph().findNode("linear")});
    auto* text = m_window->dock<InspectorDock>().findChild<QTextBrowser*>();
    QTRY_VERIFY2(text->toHtml().contains(QStringLiteral("href=\"source:")), qPrintable(text->toHtml()));
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "fileOpened");
    emit text->anchorClicked(QUrl(QStringLiteral("source:") + QString::fromUtf8(QUrl::toPercentEncoding(author))));
    emit text->anchorClicked(QUrl(QStringLiteral("source:/bin/sh")));
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
    QCOMPARE(m_opened, QList<QUrl>{QUrl::fromLocalFile(author)});
  }

  void itIsMadeRunnableInPlace() {
    const QString path = programOfRecording();
    open(path);
    MessageBar& messages = m_window->messages();
    QVERIFY2(messages.textOf(kProgramKey).contains("PyTorch's own operators"),
             qPrintable(messages.textOf(kProgramKey)));
    QVERIFY2(!m_window->controller().buildRefusal().isEmpty(), "our engine has no kernels for PyTorch's operators");
    m_window->showDock("Inspector");
    auto* steps = m_window->dock<InspectorDock>().findChild<QTextBrowser*>();
    QTRY_VERIFY2(steps->toHtml().contains(QStringLiteral("href=\"do:runnable\"")), qPrintable(steps->toHtml()));
    QVERIFY(!steps->toHtml().contains(QStringLiteral("do:build")));
    emit steps->anchorClicked(QUrl(QStringLiteral("do:runnable")));
    QVERIFY(messages.textOf(kProgramKey).contains("torch makes a network"));
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().model()->network.empty(), kOpenMs);
    QCOMPARE(m_window->document().path(), path);
    QVERIFY(messages.textOf(kProgramKey).isEmpty());
    QTRY_COMPARE(m_window->runs().settings().inputs.paths, std::vector<std::string>{path.toStdString()});
    QVERIFY(m_window->controller().buildRefusal().isEmpty());
    m_window->showDock("Inspector");
    InspectorDock& inspector = m_window->dock<InspectorDock>();
    m_window->selection().set({*m_window->document().snapshot()->graph().findNode("node_linear")});
    QTRY_VERIFY2(inspector.text().contains("linear of the exported program"), qPrintable(inspector.text()));
    QVERIFY2(inspector.text().contains("record.py"), qPrintable(inspector.text()));
    QVERIFY(m_window->document().snapshot()->modules->find("encoder.0") >= 0);
    open(path);
    QVERIFY2(messages.textOf(kProgramKey).isEmpty(), "no torch is needed any more");
  }

  void makingItRunnableIsCancelledAndItsRefusalIsSaid() {
    const QString path = programOfRecording();
    changeRecording([](Json& told) { told["waits"] = "/there/is/none"; });
    QVERIFY(
        writeFileAtomically(path.toStdString(), test::pt2Bytes(test::Pt2Kind::RawWeights, test::smallProgram())).ok());
    open(path);
    MessageBar& messages = m_window->messages();
    messages.button(kProgramKey, QStringLiteral("Make it runnable"))->click();
    QVERIFY(!makeRunnableRefusal(*m_window).isEmpty());
    messages.button(kProgramKey, QStringLiteral("Cancel"))->click();
    QVERIFY(messages.textOf(kProgramKey).contains("PyTorch's own operators"));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().idle(), kOpenMs);
    changeRecording([](Json& told) {
      told.erase("waits");
      told["refuses"] = "the words of torch";
    });
    messages.button(kProgramKey, QStringLiteral("Make it runnable"))->click();
    QTRY_VERIFY2_WITH_TIMEOUT(messages.textOf(kProgramKey).contains("the words of torch"),
                              qPrintable(messages.textOf(kProgramKey)), kOpenMs);
    QVERIFY(messages.button(kProgramKey, QStringLiteral("Try again")) != nullptr);
    QVERIFY(m_window->document().model()->network.empty());
  }

  void itsModulesAreDrawn() {
    if (!test::sharedFolder()) QSKIP("There is no shared test material.");
    open(zoo("bert_tiny"));
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
    QVERIFY(!m_window->canvas().itemRect(QStringLiteral("module:m.encoder")).isEmpty());
    const auto& tree = *m_window->document().snapshot()->modules;
    QVERIFY(tree.find("m.encoder.layer.1.attention.self") >= 0);
  }

  /// A graph that is an argument of a node is its body.
  void aGraphWithinAGraphIsOpened() {
    if (!test::sharedFolder()) QSKIP("There is no shared test material.");
    open(zoo("llama_tiny"));
    const PlanSnapshot& snapshot = *m_window->document().snapshot();
    QCOMPARE(snapshot.cover->model->bodies.size(), std::size_t(1));
    const NodeId holder = snapshot.cover->model->bodies[0].holder;
    QCOMPARE(snapshot.graph().node(holder).op, std::string("higher_order.wrap_with_set_grad_enabled"));
    m_window->canvas().expand(QString::fromStdString(snapshot.graph().node(holder).name));
    QVERIFY(m_window->canvas().waitForLayout(kOpenMs));
  }

  void aPackageOfItsCodeIsDroppedOnIt() {
    const QString folder = QStringLiteral(FUSESCOPE_SOURCE_DIR "/tests/torch/programs/");
    open(folder + QStringLiteral("net.pt2"));
    QVERIFY(test::dropOn(*m_window, {folder + QStringLiteral("package.pt2")}));
    QTRY_COMPARE(m_window->runs().all().size(), std::size_t{1});
    const Run& run = m_window->runs().all().front();
    QVERIFY(run.made);
    QCOMPARE(std::as_const(run.made)->at("placement").at("placed").get<int>(), 9);
    QCOMPARE(m_window->document().path(), folder + QStringLiteral("net.pt2"));
  }

 public slots:
  void fileOpened(const QUrl& url) { m_opened << url; }

 private:
  /// A program beside a torch that gives what was recorded of it (tests/torch/programs), found by the window.
  QString programOfRecording() {
    const std::filesystem::path recording = m_folder.filePath(QStringLiteral("recording")).toStdString();
    std::filesystem::remove_all(recording);
    std::filesystem::copy(FUSESCOPE_SOURCE_DIR "/tests/torch/programs", recording,
                          std::filesystem::copy_options::recursive);
    qputenv("FUSESCOPE_PYTHON",
            QByteArray::fromStdString("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + (recording / "stand_in").string() +
                                      " FUSESCOPE_TEST_RECORDING=" + recording.string() + " python3"));
    return QString::fromStdString((recording / "net.pt2").string());
  }
  template <class Change>
  void changeRecording(Change change) const {
    const std::string path = m_folder.filePath(QStringLiteral("recording/told.json")).toStdString();
    Json told = Json::parse(readTextFile(path).value());
    change(told);
    QVERIFY(writeFileAtomically(path, std::string_view(told.dump())).ok());
  }
  static QString zoo(const char* network) {
    return QString::fromStdString((*test::sharedFolder() / "zoo" / network / "model.pt2").string());
  }
  void open(const QString& path) {
    m_window->openFile(path);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() && m_window->document().path() == path, kOpenMs);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->document().opening() && m_window->jobs().idle(), kOpenMs);
  }

  QTemporaryDir m_folder;
  QList<QUrl> m_opened;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::ExportedProgramTest, 7)
#include "exported_program_test.moc"
