#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <QSignalSpy>
#include <QtTest>
#include <filesystem>

#include "engine/engine.h"
#include "ir/graph.h"
#include "onnxlib/onnx_text.h"
#include "planning/plan_json.h"
#include "session/open_artifact.h"
#include "tests/gui/gui_support.h"
#include "tests/support/paths.h"
#include "ui/document/plan_document.h"
#include "ui/jobs/job_runner.h"
#include "ui/jobs/worker_client.h"

using namespace fusescope;
namespace fs = std::filesystem;

namespace {

constexpr int kMostAttempts = 50;
constexpr int kWorkMs = 120'000;

std::string onnxBytes(const std::string& graph) {
  auto bytes = onnxlib::onnxTextToBytes("<ir_version: 8, opset_import: [\"\" : 18]>\n" + graph);
  if (!bytes.ok()) qFatal("%s", bytes.error().text().c_str());
  return std::move(bytes).value();
}

/// One number each, over and over.
std::string floats(float value, std::size_t count) {
  const std::vector<float> values(count, value);
  return {reinterpret_cast<const char*>(values.data()), count * sizeof(float)};
}

/// y = x + w, with w in a file beside the model.
fs::path externalModel(const test::TemporaryFolder& folder, std::size_t count, float w) {
  const std::string n = std::to_string(count);
  folder.write("w.bin", floats(w, count));
  return folder.write("model.onnx", onnxBytes("g (float[" + n + "] x) => (float[" + n + "] y) <float[" + n +
                                              "] w = [\"location\": \"w.bin\"]> { [add] y = Add (x, w) }"));
}

/// Nodes of many kernels: no two of them fuse.
std::string longChain(int nodes) {
  std::string graph = "g (float[8, 8] x) => (float[8, 8] y) {\n";
  std::string last = "x";
  for (int i = 0; i < nodes; ++i) {
    const std::string name = i + 1 == nodes ? "y" : "v" + std::to_string(i);
    graph += "[n" + std::to_string(i) + "] " + name + " = MatMul (" + last + ", " + last + ")\n";
    last = name;
  }
  return graph + "}";
}

/// Times of files advance in steps of some milliseconds.
void waitForTheClockOfFiles() {
  QTest::qWait(25);
}

void copyTimes(const fs::path& from, const fs::path& to) {
  struct stat info {};
  QCOMPARE(::stat(from.c_str(), &info), 0);
  const timespec times[2] = {info.st_atim, info.st_mtim};
  QCOMPARE(::utimensat(AT_FDCWD, to.c_str(), times, 0), 0);
}

}  // namespace

/// The real worker: what it says while it works, and what becomes of it and its answers when it is killed, cancelled,
/// or its files change.
class WorkerTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { m_client = std::make_unique<WorkerClient>(); }
  void cleanupTestCase() { m_client.reset(); }
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<test::TemporaryFolder>();
  }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void phasesAreToldAndTimed() {
    const auto model = m_folder->write("model.onnx", onnxBytes(longChain(1500)));
    QVERIFY(answer(request(unmeasured(), samplePath("bert_tiny"))).ok());  // the worker is up
    const WorkerRequest build = request(unmeasured((*m_folder / "engine.fse").string()), model);
    QStringList phases;
    const auto reply = answer(build, [&](const QString& phase, const QString&) {
      if (phases.isEmpty() || phases.last() != phase) phases << phase;
    });
    QVERIFY2(reply.ok(), reply.ok() ? "" : reply.error().text().c_str());
    QCOMPARE(phases, QStringList({"import", "prepare", "plan", "kernels", "write"}));
    QVERIFY2(reply.value()["regions"].get<int>() >= 1500, "there is less to say than the test is about");
    QStringList names;
    for (const Json& phase : reply.value()["phases"]) {
      names << QString::fromStdString(phase["name"]);
      QVERIFY2(phase["ms"].get<double>() > 0, qPrintable(names.last()));
    }
    QCOMPARE(names, phases);
  }

  void cancelsARealBuildAndTheWorkerIsFree() {
    const auto model = m_folder->write("model.onnx", onnxBytes(longChain(1500)));
    std::optional<bool> cancelled;
    bool building = false;
    const auto id = m_client->send(
        request(BuildSettings(), model), this,
        [&](const Result<Json>& reply) { cancelled = !reply.ok() && reply.error().cancelled; },
        [&](const QString& phase, const QString&) { building = building || phase == "kernels"; });
    QTRY_VERIFY_WITH_TIMEOUT(building, kWorkMs);
    m_client->cancel(id);
    QTRY_VERIFY_WITH_TIMEOUT(cancelled.has_value(), kWorkMs);
    QVERIFY(*cancelled);
    QVERIFY(!m_client->busy());
    QVERIFY(answer(request(unmeasured(), samplePath("bert_tiny"))).ok());
  }

  void anEditIsBuiltOfWhatDidNotChange() {
    WorkerRequest build = request(unmeasured(), samplePath("fp16_overflow"));
    const auto first = answer(build);
    QVERIFY2(first.ok(), first.ok() ? "" : first.error().text().c_str());
    const auto count = [](const Result<Json>& reply, const char* key) { return reply.value()[key].get<int>(); };
    QCOMPARE(count(first, "taken_over"), 0);
    build.source.options.directives = {
        {.id = "1", .kind = DirectiveKind::Pin, .pattern = "op:LayerNormalization", .type = DataType::BF16}};
    QStringList phases;
    const auto edited = answer(build, [&](const QString& phase, const QString&) { phases << phase; });
    QVERIFY2(edited.ok(), edited.ok() ? "" : edited.error().text().c_str());
    QVERIFY2(!phases.contains("import"), qPrintable(phases.join(' ')));  // the network is not read again
    QVERIFY2(count(edited, "taken_over") > 0, edited.value().dump(1).c_str());
    QVERIFY(count(edited, "compiled") < count(first, "compiled"));
    build.source.options.directives.clear();
    build.threads = 1;
    const auto otherThreads = answer(build);
    QVERIFY(otherThreads.ok());
    QCOMPARE(count(otherThreads, "taken_over"), 0);  // code and times are for a number of threads
  }

  void isKilledAndStartedAgainAtEveryPhase_data() {
    QTest::addColumn<int>("work");
    QTest::addColumn<QString>("phase");
    const auto rows = [](const WorkSettings& work, const QStringList& phases) {
      for (const QString& phase : phases)
        QTest::addRow("%s at %s", std::string(operationName(work)).c_str(), qPrintable(phase))
            << static_cast<int>(work.index()) << phase;
    };
    rows(BuildSettings(), {"import", "prepare", "plan", "kernels"});
    rows(RunCommandSettings(), {"import", "kernels"});
    rows(TimeSettings(), {"kernels", "warm_up", "measure"});
    rows(CompareSettings(), {"kernels", "time"});
    rows(EvaluateSettings(), {"plan", "kernels", "run"});
  }
  void isKilledAndStartedAgainAtEveryPhase() {
    QFETCH(int, work);
    QFETCH(QString, phase);
    const std::vector<WorkSettings> all{unmeasured((*m_folder / "engine.fse").string()), RunCommandSettings(),
                                        TimeSettings{.seconds = 1, .warmup = 0.3}, CompareSettings{.seconds = 1},
                                        EvaluateSettings()};
    const auto settings = std::ranges::find(all, static_cast<std::size_t>(work), &WorkSettings::index);
    WorkerRequest request = this->request(*settings, samplePath("squeezenet1_1"));
    request.other = this->request(unmeasured(), samplePath("squeezenet1_1"), "reference").source;
    request.source.options.precisions = {DataType::F16};
    // The worker may have answered by the time that the phase is heard of here: then another one is asked.
    std::int64_t killed = 0;
    Result<Json> reply = Json();
    for (int attempt = 0; attempt < kMostAttempts && reply.ok(); ++attempt) {
      m_client = std::make_unique<WorkerClient>();
      killed = 0;
      fs::remove(*m_folder / "engine.fse");
      reply = answer(request, [&](const QString& begun, const QString&) {
        if (begun != phase || killed != 0) return;
        killed = m_client->processId();
        QCOMPARE(::kill(static_cast<pid_t>(killed), SIGKILL), 0);
      });
    }
    QVERIFY2(killed != 0, "the phase did not come");
    QVERIFY(!reply.ok());
    QVERIFY2(reply.error().message.find("killed or crashed") != std::string::npos, reply.error().text().c_str());
    // Whole or not at all: it may have been written, and the answer lost.
    if (fs::exists(*m_folder / "engine.fse")) QVERIFY(openEngineFile(*m_folder / "engine.fse").ok());
    QVERIFY(answer(this->request(unmeasured(), samplePath("bert_tiny"))).ok());
    QVERIFY(m_client->processId() != killed);
  }

  void answersForTheWeightsThatAreOnDisk() {
    const auto model = externalModel(*m_folder, 4096, 1);
    const fs::path weights = *m_folder / "w.bin";
    const double first = meanOf(model);
    QCOMPARE(meanOf(model), first);
    waitForTheClockOfFiles();
    m_folder->write("w.bin", floats(2, 4096));
    QVERIFY2(closeTo(meanOf(model), first + 1), "written again, same size, another time");
    const auto other = m_folder->write("other", floats(3, 4096));
    copyTimes(weights, other);
    fs::rename(other, weights);
    QVERIFY2(closeTo(meanOf(model), first + 2), "another file, same size and time");
    waitForTheClockOfFiles();
    const auto times = m_folder->write("times", "");
    copyTimes(weights, times);
    m_folder->write("w.bin", floats(4, 4096));
    copyTimes(times, weights);
    QVERIFY2(closeTo(meanOf(model), first + 3), "written again, same size, its time put back");
  }

  void answersForTheModelBehindAPlanAsItIsOnDisk() {
    const auto model = externalModel(*m_folder, 4096, 1);
    const auto plan = openArtifact(model, {}, {});
    QVERIFY(plan.ok());
    const auto file = m_folder->write("plan.json", toJson(*plan.value().plan).dump());
    QCOMPARE(plan.value().files.size(), std::size_t{2});
    QCOMPARE(openArtifact(file, {}, {}).value().files.size(), std::size_t{3});
    const double first = meanOf(file);
    waitForTheClockOfFiles();
    m_folder->write("w.bin", floats(2, 4096));
    QVERIFY(closeTo(meanOf(file), first + 1));
    waitForTheClockOfFiles();
    // The model itself: a copy of it is another file.
    m_folder->write("w.bin", floats(5, 4096));
    fs::copy_file(model, *m_folder / "copy.onnx");
    fs::rename(*m_folder / "copy.onnx", model);
    QVERIFY(closeTo(meanOf(file), first + 4));
  }

  void aFileThatChangesWhileItIsOpenIsAnError_data() {
    QTest::addColumn<bool>("shorter");
    QTest::newRow("shorter") << true;
    QTest::newRow("written again") << false;
  }
  void aFileThatChangesWhileItIsOpenIsAnError() {
    QFETCH(bool, shorter);
    constexpr std::size_t kCount = 1 << 20;
    const auto model = externalModel(*m_folder, kCount, 1);
    const fs::path weights = *m_folder / "w.bin";
    QVERIFY(answer(request(unmeasured(), samplePath("bert_tiny"))).ok());  // the worker is up
    const auto process = m_client->processId();
    bool changed = false;
    const WorkerRequest work = request(TimeSettings{.seconds = 0.5, .warmup = 0}, model);
    const auto reply = answer(work, [&](const QString& phase, const QString&) {
      if (phase != "measure" || std::exchange(changed, true)) return;
      if (shorter) {
        fs::resize_file(weights, 4096);
      } else {
        m_folder->write("w.bin", floats(2, kCount));
      }
    });
    QVERIFY(changed);
    QVERIFY2(!reply.ok(), "times of weights that nobody has were answered");
    const std::string says = shorter ? "became shorter while it was read" : "while it was";
    QVERIFY2(reply.error().message.find(says) != std::string::npos, reply.error().text().c_str());
    QVERIFY2(reply.error().where.file.ends_with("w.bin"), reply.error().text().c_str());
    QVERIFY(!reply.error().help.empty());
    QCOMPARE(m_client->processId(), process);
    m_folder->write("w.bin", floats(3, kCount));
    QVERIFY(answer(request(RunCommandSettings(), model)).ok());
    QCOMPARE(m_client->processId(), process);
  }

  void aModelThatIsCutUnderTheWindowIsAnErrorInIt() {
    const auto model = externalModel(*m_folder, 1 << 20, 1);
    JobRunner jobs;
    PlanDocument document(jobs);
    document.open(QString::fromStdString(model.string()));
    QTRY_VERIFY(document.snapshot());
    fs::resize_file(*m_folder / "w.bin", 100);
    const Graph& graph = *document.model()->graph;
    QCOMPARE(graph.constantData(*graph.findValue("w"))->asDouble(1 << 19), 0.0);  // no signal ends this process
    QString problem;
    connect(&document, &PlanDocument::planFailed, this, [&](const QString& text) { problem = text; });
    document.setPrecisions({DataType::F16});
    QTRY_VERIFY(!problem.isEmpty());
    QVERIFY2(problem.contains("became shorter while it was read"), qPrintable(problem));
    const auto built = answer(request(unmeasured(), model));
    QVERIFY(!built.ok());
    QVERIFY2(built.error().text().find("w.bin") != std::string::npos, built.error().text().c_str());
    // In this process too: an engine of the model that is open.
    const auto engine = buildEngine(document.snapshot()->plan, {.measureTactics = false});
    QVERIFY(!engine.ok());
    QVERIFY(engine.error().message.find("became shorter") != std::string::npos);
  }

 private:
  static fs::path samplePath(const char* name) { return test::samplePath(name).toStdString(); }

  /// A build that takes each kernel's first tactic.
  static WorkSettings unmeasured(const std::string& output = {}) {
    return BuildSettings{.output = output, .measuresTactics = false};
  }

  static WorkerRequest request(WorkSettings work, const fs::path& path, const char* backend = "native") {
    WorkerRequest request;
    request.settings = std::move(work);
    request.source.path = path.string();
    request.source.backend = backend;
    request.threads = 1;
    return request;
  }

  /// Sends it and waits for the answer.
  Result<Json> answer(const WorkerRequest& request, WorkerClient::OnProgress progress = {}) {
    std::optional<Result<Json>> answered;
    m_client->send(
        request, this, [&](const Result<Json>& reply) { answered = reply; }, std::move(progress));
    if (!QTest::qWaitFor([&] { return answered.has_value(); }, kWorkMs)) return Diagnostic{.message = "no answer"};
    return *answered;
  }

  /// The mean of the model's output, run by the worker; NaN if it did not run.
  double meanOf(const fs::path& path) {
    const auto reply = answer(request(RunCommandSettings(), path));
    if (!reply.ok()) {
      QTest::qFail(reply.error().text().c_str(), __FILE__, __LINE__);
      return std::numeric_limits<double>::quiet_NaN();
    }
    return reply.value()["outputs"][0]["mean"].get<double>();
  }

  static bool closeTo(double a, double b) { return std::abs(a - b) < 1e-3; }

  std::unique_ptr<WorkerClient> m_client;
  std::unique_ptr<test::TemporaryFolder> m_folder;
};

FUSESCOPE_GUI_TEST(WorkerTest, 10)
#include "worker_test.moc"
