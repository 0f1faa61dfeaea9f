// Files that are opened one after another: what came with one is not taken for the next.
#include <QLabel>
#include <QtTest>

#include "base/files.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"
#include "ui/window/file_kinds.h"
#include "ui/window/main_window.h"
#include "ui/window/message_keys.h"

namespace fusescope {
namespace {

const char* const kOther = R"(<ir_version: 8, opset_import: ["" : 17]>
other (float[1, 4] x) => (float[1, 4] y) { y = Relu(x) })";

}  // namespace

class OpenedFilesTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<test::SessionFolder>();
    m_other = m_folder->filePath(QStringLiteral("other.onnx"));
    test::writeModel(m_other, kOther);
    m_window = m_folder->makeWindow();
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void whatWasDroppedWithOneIsNotTakenByAnother() {
    const QString inputs = test::samplePath(QStringLiteral("fp16_overflow")).replace("model.onnx", "io.npz");
    m_window->dropFiles({m_folder->model(), inputs});
    QVERIFY(m_window->document().opening());
    open(m_other);
    QVERIFY(m_window->runs().settings().inputs.empty());
    open(m_folder->model());
    QVERIFY(m_window->runs().settings().inputs.empty());
    // Dropped together they are taken.
    open(m_other);
    m_window->dropFiles({inputs, m_folder->model()});
    QTRY_COMPARE(m_window->runs().settings().inputs.paths, std::vector<std::string>{inputs.toStdString()});
    QCOMPARE(m_window->document().path(), m_folder->model());
  }

  void aSessionThatIsReadLateIsNotOpened() {
    open(m_folder->model());
    const QString session = m_folder->filePath(QStringLiteral("s.fsession"));
    QVERIFY(m_window->session().save(session).ok());
    open(m_other);
    m_window->openFile(session);
    open(m_other);  // chosen later than the session
    QTRY_VERIFY(m_window->jobs().idle());
    QCOMPARE(m_window->document().path(), m_other);
    QVERIFY(m_window->session().path().isEmpty());
  }

  void messagesOfOneNetworkGoWithIt() {
    open(m_folder->model());
    for (const QString& key : {kRecipeKey, kDroppedKey, kJobKey, kFilesKey})
      m_window->messages().show(key, QStringLiteral("This is of the first network."), {});
    m_window->document().pin({"node_linear_1"}, DataType::F16, Strictness::Prefer);
    QTRY_VERIFY(!m_window->document().planning());
    QVERIFY(!m_window->messages().textOf(kRecipeKey).isEmpty());
    m_window->document().undoStack().clear();
    m_window->document().open(m_other);
    QTRY_COMPARE(m_window->document().path(), m_other);
    for (const QString& key : {kRecipeKey, kDroppedKey, kJobKey, kFilesKey})
      QCOMPARE(m_window->messages().textOf(key), QString());
  }

  void directivesAreReadBesideTheWindow() {
    open(m_folder->model());
    const QString path = write("pins.json", R"({"format": "fusescope.directives", "version": 1, "directives": [
      {"kind": "pin", "pattern": "node_linear_1", "type": "f16", "strictness": "prefer"}]})");
    m_window->openFile(path);
    QTRY_VERIFY2(m_window->document().directives().size() == 1, qPrintable(m_window->lastProblem()));
    QTRY_VERIFY(!m_window->document().planning());
  }

  void whatAFileIsIsSeenByItsBeginning() {
    const auto kind = [&](const char* name, const QByteArray& text) { return fileKindOf(write(name, text)); };
    QCOMPARE(int(kind("a.onnx", "{")), int(FileKind::Network));
    QCOMPARE(int(kind("a.npz", "{")), int(FileKind::Inputs));
    QCOMPARE(int(kind("plan.json", R"({"format": "fusescope.plan", "version": 1)")), int(FileKind::Network));
    QCOMPARE(int(kind("d.json", R"( {"format": "fusescope.directives", "directives": [)")), int(FileKind::Directives));
    QCOMPARE(int(kind("layers.json", R"({"Layers": [{"Name": "a", "LayerType": "PointWise")")),
             int(FileKind::EngineLayers));
    QCOMPARE(int(kind("profile.json", R"([{"count": 10}, {"name": "a", "timeMs": 5, "averageMs")")),
             int(FileKind::EngineFile));
    QCOMPARE(int(kind("times.json", R"([{"startComputeMs": 1, "computeMs": 2, "latencyMs": 3)")),
             int(FileKind::EngineFile));
    QCOMPARE(int(kind("other.json", R"({"a": 1})")), int(FileKind::Network));
    QCOMPARE(int(kind("build.sh", "trtexec --onnx=a.onnx")), int(FileKind::Recipe));
    QVERIFY(!kindByName(m_folder->filePath(QStringLiteral("layers.json"))));
  }

  void namesInToolTipsAreNoTags() {
    QLabel label;
    offer(label, QStringLiteral("Run <b>fast</b> has no engine."), QStringLiteral("What <i>this</i> is"));
    QVERIFY2(label.toolTip().contains("&lt;b&gt;fast"), qPrintable(label.toolTip()));
    offer(label, QString());
    QVERIFY2(label.toolTip().contains(">What &lt;i&gt;this"), qPrintable(label.toolTip()));
    offer(label, QString());
    QVERIFY2(label.toolTip().contains(">What &lt;i&gt;this"), qPrintable(label.toolTip()));
  }

 private:
  /// And waits until all that comes of it is there.
  void open(const QString& path) {
    m_window->openFile(path);
    QTRY_COMPARE(m_window->document().path(), path);
    QTRY_VERIFY(!m_window->document().opening() && m_window->jobs().idle());
  }
  QString write(const char* name, const QByteArray& text) {
    const QString path = m_folder->filePath(QString::fromLatin1(name));
    if (!writeFileAtomically(path.toStdString(), text.toStdString()).ok()) qFatal("%s cannot be written", name);
    return path;
  }

  std::unique_ptr<test::SessionFolder> m_folder;
  QString m_other;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::OpenedFilesTest, 6)
#include "opened_files_test.moc"
