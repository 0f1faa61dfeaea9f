#include "tests/gui/gui_support.h"

#include <QDragEnterEvent>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QMessageBox>
#include <QMetaMethod>
#include <QMimeData>
#include <QPointer>
#include <QTemporaryDir>
#include <QTimer>
#include <QUrl>
#include <QtTest>
#include <cstdio>

#include "onnxlib/onnx_text.h"
#include "planning/fused_node_facts.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/inputs/load_samples.h"
#include "session/open_model.h"
#include "tests/support/metered/allocations.h"
#include "ui/window/main_window.h"

namespace fusescope::test {

namespace {

constexpr int kChooserMs = 20;
constexpr int kGuardMs = 1'000;
constexpr int kLongMs = 2 * kPatienceMs;  ///< for one test function

/// A question that nobody answers would stop a test for ever: exec() does not return. It is answered with Cancel, and
/// said. So is which test function runs for long.
class Guard : public QTimer {
 public:
  Guard() {
    callOnTimeout([this] { look(); });
    start(kGuardMs);
  }

 private:
  void look() {
    QWidget* modal = QApplication::activeModalWidget();
    if (modal != m_modal) m_since.start();
    m_modal = modal;
    if (auto* dialog = qobject_cast<QDialog*>(modal); dialog != nullptr && m_since.elapsed() > kPatienceMs) {
      const auto* box = qobject_cast<QMessageBox*>(dialog);
      qWarning("nobody answers '%s': %s", qPrintable(dialog->windowTitle()), box ? qPrintable(box->text()) : "");
      dialog->reject();
    }
    const QString running = QStringLiteral("%1(%2)").arg(QTest::currentTestFunction(), QTest::currentDataTag());
    if (running != m_running) m_runs.start();
    m_running = running;
    if (m_runs.elapsed() < kLongMs) return;
    qInfo("%s has been running for %lld s", qPrintable(running), m_runs.elapsed() / 1000);
    m_runs.start();
  }

  QPointer<QWidget> m_modal;
  QString m_running;
  QElapsedTimer m_since, m_runs;
};

}  // namespace

const char* const kNestedBodies = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4, 8] x, bool flag) => (float[4, 8] y)
  <float[8, 8] w = {1,0,0,0,0,0,0,0, 0,1,0,0,0,0,0,0, 0,0,1,0,0,0,0,0, 0,0,0,1,0,0,0,0,
                    0,0,0,0,1,0,0,0, 0,0,0,0,0,1,0,0, 0,0,0,0,0,0,1,0, 0,0,0,0,0,0,0,1}, int64 times = {3}> {
  [product] p = MatMul (x, w)
  [loop] y = Loop (times, , p) <body = each (int64 i, bool go, float[4, 8] u) => (bool on, float[4, 8] v) {
    [pass] on = Identity (go)
    [choose] c = If (flag) <
      then_branch = yes () => (float[4, 8] a) { [mm] m = MatMul (u, w) [relu] a = Relu (m) },
      else_branch = no () => (float[4, 8] b) { [rows] b = Softmax <axis = 1> (u) }
    >
    [more] v = Softmax <axis = 1> (c)
  }>
})";

namespace {

QStringList& warnings() {
  static QStringList list;
  return list;
}

/// Said by the offscreen platform itself about things it does not have.
bool ofThePlatform(const QString& message) {
  return message.contains(QLatin1String("propagateSizeHints")) ||
         message.contains(QLatin1String("does not support raise")) || message.contains(QLatin1String("setGrabPopup")) ||
         message.contains(QLatin1String("does not support grabbing the keyboard"));
}

void collect(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtDebugMsg || ofThePlatform(message)) return;
  if (type != QtInfoMsg) warnings() << message;  // a test tells by qInfo() what it measured
  std::fprintf(stderr, "Qt: %s\n", qPrintable(message));
}

}  // namespace

bool MeteredApplication::notify(QObject* receiver, QEvent* event) {
  bool accepted = false;
  const QString who = QStringLiteral("%1, event %2").arg(receiver->metaObject()->className()).arg(event->type());
  measure(who, [&] { accepted = QApplication::notify(receiver, event); });
  return accepted;
}

void MeteredApplication::measure(const QString& who, const std::function<void()>& handler) {
  if (m_depth > 0) return handler();
  ++m_depth;
  const long before = allocations();
  handler();
  const long asked = allocations() - before;
  --m_depth;
  if (asked <= m_most) return;
  m_most = asked;
  m_worst = who;
}

QString samplePath(const QString& name) {
  return QStringLiteral(FUSESCOPE_SOURCE_DIR "/resources/samples/%1/model.onnx").arg(name);
}

std::unique_ptr<MainWindow> shownWindow(const WindowForm& form) {
  auto window = std::make_unique<MainWindow>(ThemeKind::Dark, false);
  if (!form.sessions.isEmpty()) window->keepSessionsIn(form.sessions);
  window->runs().setSettings({.seconds = form.seconds});
  if (!form.size.isEmpty()) window->resize(form.size);
  window->show();
  return window;
}

std::unique_ptr<MainWindow> activeWindow(const QSize& size) {
  auto window = shownWindow({.size = size});
  window->activateWindow();
  return QTest::qWaitForWindowActive(window.get(), kPatienceMs) ? std::move(window) : nullptr;
}

SessionFolder::SessionFolder() {
  if (!QFile::copy(samplePath(QStringLiteral("fp16_overflow")), model()))
    qFatal("%s is not written", qPrintable(model()));
}

std::unique_ptr<MainWindow> SessionFolder::makeWindow() const {
  return shownWindow({.sessions = kept()});
}

std::unique_ptr<GraphView> shownCanvas(std::shared_ptr<const Cover> cover) {
  auto canvas = std::make_unique<GraphView>();
  canvas->resize(1000, 700);
  canvas->show();
  canvas->setCover(std::move(cover));
  return canvas->waitForLayout(kPatienceMs) ? std::move(canvas) : nullptr;
}

bool openInCodes(MainWindow& window) {
  if (!openSample(window, QStringLiteral("digits"))) return false;
  PlanDocument& document = window.document();
  const QString inputs = samplePath(QStringLiteral("digits")).replace("model.onnx", "io.npz");
  const auto samples = loadSamples(*document.snapshot()->plan, {.paths = {inputs.toStdString()}, .batchAxis = 0});
  if (!samples.ok()) return false;
  auto ranges = calibrate(*document.snapshot()->plan, samples.value(), {});
  if (!ranges.ok()) return false;
  document.setCalibrated(std::make_shared<const Ranges>(std::move(ranges).value()));
  document.setPrecisions({DataType::I8});
  return QTest::qWaitFor([&] { return !document.planning(); }, kPatienceMs) && document.planProblem().isEmpty();
}

bool dropOn(MainWindow& window, const QStringList& files) {
  QMimeData data;
  QList<QUrl> urls;
  for (const QString& file : files) urls << QUrl::fromLocalFile(file);
  data.setUrls(urls);
  const QPoint at = window.rect().center();
  QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &enter);
  QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &event);
  return enter.isAccepted() && event.isAccepted();
}

void answerFileDialog(const QString& path) {
  QTimer::singleShot(kChooserMs, [path] {
    auto* chooser = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (chooser == nullptr) return answerFileDialog(path);
    chooser->findChild<QLineEdit*>()->setText(path);
    static_cast<QDialog*>(chooser)->done(QDialog::Accepted);
  });
}

bool openSample(MainWindow& window, const QString& name) {
  const QString path = samplePath(name);
  window.openFile(path);
  const PlanDocument& document = window.document();
  if (!QTest::qWaitFor([&] { return !document.opening() && document.path() == path; }, kPatienceMs)) return false;
  window.setInputs({});
  return window.canvas().waitForLayout(kPatienceMs);
}

QWidget* dockOf(MainWindow& window, const QString& name) {
  return window.dockNamed(name);
}

QLineEdit* searchBoxOf(MainWindow& window) {
  for (QLineEdit* field : window.findChildren<QLineEdit*>())
    if (field->placeholderText().startsWith(QLatin1String("Find nodes"))) return field;
  return nullptr;
}

std::shared_ptr<const PlanSnapshot> planSample(const QString& name, const PlanOptions& options,
                                               const PlanSnapshot* before) {
  static std::map<QString, std::shared_ptr<const Model>> models;
  if (!models.contains(name)) {
    auto model = openModel(samplePath(name).toStdString());
    if (!model.ok()) qFatal("%s", model.error().text().c_str());
    models[name] = model.value();
  }
  auto plan = makePlan(models[name], options);
  if (!plan.ok()) qFatal("%s", plan.error().text().c_str());
  return makeSnapshot(plan.value(), before);
}

QString handle(const FusedNode& fused) {
  return QString::fromStdString(handleOf(fused));
}

QString firstOfTwoNodes(const Plan& plan) {
  for (const FusedNode& fused : plan.fusedNodes)
    if (fused.nodes.size() == 2) return QString::fromStdString(fused.name);
  qFatal("no fused node has two nodes");
}

void writeModel(const QString& path, const char* text) {
  const auto bytes = onnxlib::onnxTextToBytes(text);
  if (!bytes.ok()) qFatal("%s", bytes.error().text().c_str());
  QFile file(path);
  const auto size = qint64(bytes.value().size());
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes.value().data(), size) != size)
    qFatal("%s cannot be written", qPrintable(path));
}

QString writeResidualChain(const QString& folder, int nodes) {
  std::string text = "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1,64] x) => (float[1,64] y) {\n";
  std::string last = "x";
  for (int block = 0; block < nodes / 4; ++block) {
    const std::string b = std::to_string(block), out = block + 1 == nodes / 4 ? "y" : "p" + b;
    text += "s" + b + " = Softmax(" + last + ")\nr" + b + " = Relu(s" + b + ")\ne" + b + " = Exp(r" + b + ")\n" + out +
            " = Add(e" + b + ", " + last + ")\n";
    last = out;
  }
  const QString path = QStringLiteral("%1/chain_%2.onnx").arg(folder).arg(nodes);
  writeModel(path, (text + "}").c_str());
  return path;
}

QStringList takeWarnings() {
  return std::exchange(warnings(), {});
}

void catchWarnings() {
  qInstallMessageHandler(collect);
}

int runTest(QObject& test, int expected, int argc, char** argv) {
  QTemporaryDir folder;
  qputenv("XDG_CONFIG_HOME", folder.path().toUtf8());
  qputenv("FUSESCOPE_CACHE", folder.path().toUtf8());
  QCoreApplication::setApplicationName(QStringLiteral("fusescope-test"));
  QCoreApplication::setOrganizationName(QStringLiteral("fusescope"));
  int found = 0;
  const QMetaObject* meta = test.metaObject();
  for (int i = meta->methodOffset(); i < meta->methodCount(); ++i) {
    const QMetaMethod method = meta->method(i);
    const QByteArray name = method.name();
    const bool fixture = name == "initTestCase" || name == "cleanupTestCase" || name == "init" || name == "cleanup";
    if (method.methodType() == QMetaMethod::Slot && method.access() == QMetaMethod::Private && !fixture) ++found;
  }
  if (found != expected) {
    std::fprintf(stderr, "%d test functions would run, %d are expected\n", found, expected);
    return 1;
  }
  const Guard guard;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace fusescope::test
