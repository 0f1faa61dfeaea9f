#include <signal.h>

#include <QThread>
#include <QtTest>
#include <filesystem>

#include "tests/gui/gui_support.h"
#include "tests/support/metered/allocations.h"
#include "tests/support/paths.h"
#include "ui/jobs/worker_client.h"

using namespace fusescope;

namespace {

/// What answers every request with the number of its process.
const char* const kAnswering =
    "\nwhile read -r line; do\n"
    "  id=${line#*\\\"id\\\":}; id=${id%%,*}\n"
    "  case \"$line\" in *'\"op\":\"cancel\"'*) continue;; esac\n"
    "  echo \"{\\\"id\\\":$id,\\\"event\\\":\\\"done\\\",\\\"result\\\":{\\\"pid\\\":$$}}\"\n"
    "done\n";

QByteArray progressLine(int id, const char* phase, int detail) {
  const WorkerEvent event{.id = id, .phase = phase, .detail = std::to_string(detail)};
  return QByteArray::fromStdString(workerLine(toJson(event)));
}

/// As the answer to `time --per-layer` of a network of so many layers.
Json timeOf(int layers) {
  Json list = Json::array();
  for (int i = 0; i < layers; ++i) {
    const std::string name = "/model/layers." + std::to_string(i) + "/self_attn/q_proj/MatMul";
    list.push_back({{"name", name},
                    {"identity", "0123456789abcdef0123456789abcdef"},
                    {"origins", {name, name + "_1"}},
                    {"types", {{"compute", "f32"}, {"inputs", {"f32", "f32"}}, {"outputs", {"f32"}}}},
                    {"tactic", "onednn:brgemm_avx512"},
                    {"median_ms", 0.125 + i}});
  }
  return {{"median_ms", 12.5}, {"layers", std::move(list)}};
}

}  // namespace

/// The client against workers that are written for the test: what a real one does only by bad luck.
class WorkerClientTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_folder = std::make_unique<test::TemporaryFolder>();
    m_answers.clear();
  }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void whatHasArrivedIsOneCallForEachPhase() {
    EventReader reader;
    QStringList arrived;
    int calls = 0;
    connect(&reader, &EventReader::arrived, this, [&](const std::vector<EventReader::Event>& events) {
      ++calls;
      for (const EventReader::Event& event : events)
        arrived << (event.answer ? QStringLiteral("answer %1").arg(event.id)
                                 : QStringLiteral("%1 %2 %3").arg(event.id).arg(event.phase, event.detail));
    });
    std::atomic<bool> made = false;
    reader.expect(1, [&](Result<Json> json) -> std::shared_ptr<void> {
      made = true;
      return std::make_shared<Result<Json>>(std::move(json));
    });
    QByteArray bytes;
    for (int i = 0; i < 5000; ++i) bytes += progressLine(1, "open", i);
    for (int i = 0; i < 5000; ++i) bytes += progressLine(1, "kernels", i);
    bytes += QByteArray::fromStdString(workerLine(toJson(WorkerEvent{.id = 1, .kind = WorkerEventKind::Done})));
    bytes += progressLine(2, "open", 0) + progressLine(3, "open", 0);
    // Lines come in pieces.
    for (int begin = 0; begin < bytes.size(); begin += 1000) reader.read(bytes.mid(begin, 1000));
    while (!made) QThread::msleep(1);  // the GUI thread is busy elsewhere
    QThread::msleep(50);
    QVERIFY(arrived.isEmpty());
    QTRY_COMPARE(arrived.size(), 5);
    QCOMPARE(arrived, QStringList({"1 open 4999", "1 kernels 4999", "answer 1", "2 open 0", "3 open 0"}));
    QCOMPARE(calls, 1);
  }

  void aLargeAnswerDoesNotStallTheWindow() {
    const Json answer = timeOf(5000);
    const std::string line = workerLine(toJson(WorkerEvent{.id = 1, .kind = WorkerEventKind::Done, .result = answer}));
    const auto file = m_folder->write("answer", line);
    WorkerClient client(script("read -r line\ncat " + file.string() + "\nexec sleep 100\n"));
    const long before = test::allocations();
    QVERIFY(parseWorkerEvent(line).ok());
    const long parsing = test::allocations() - before;
    application().reset();
    std::size_t layers = 0;
    Qt::HANDLE decodedIn = nullptr;
    client.sendDecoded(
        {}, this,
        [&decodedIn](const Json& json) {
          decodedIn = QThread::currentThreadId();
          return Result<std::vector<Json>>(json["layers"].get<std::vector<Json>>());
        },
        [&](const Result<std::vector<Json>>& decoded) { layers = decoded.value().size(); });
    QTRY_COMPARE(layers, std::size_t{5000});
    QTest::qWait(100);  // whatever is freed late counts too
    QVERIFY(decodedIn != nullptr && decodedIn != QThread::currentThreadId());
    // Nothing is made for each layer in this thread: neither parsed nor decoded nor freed.
    QVERIFY2(application().most() < 1000, qPrintable(application().worst()));
    if (test::kCountsAllocations) QVERIFY2(parsing > 5000, "the answer is too small for this test to tell anything");
  }

  void aWorkerThatDoesNotStopIsReplaced() {
    WorkerClient client(firstTime("read -r line; exec sleep 3600"));  // longer than the test may take
    const auto deaf = send(client, 'a');
    send(client, 'b');
    send(client, 'c');
    QTRY_VERIFY(client.processId() > 0);
    QTest::qWait(100);
    const auto before = static_cast<pid_t>(client.processId());
    client.cancel(deaf);
    QTRY_VERIFY(!m_answers.isEmpty());
    QTRY_COMPARE(::kill(before, 0), -1);
    QTRY_COMPARE(m_answers.size(), 3);
    const QString other = QStringLiteral("%1").arg(client.processId());
    QCOMPARE(m_answers, QStringList({"a cancelled", "b " + other, "c " + other}));
    QVERIFY(!client.busy());
    QTest::qWait(100);
    QCOMPARE(m_answers.size(), 3);  // each once
  }

  void aWaitingRequestIsCancelledWithoutLosingTheOneBeforeIt() {
    // Does not read on while it works, and answers everything afterwards.
    const std::string awake = (*m_folder / "awake").string();
    WorkerClient client(script("while [ ! -e " + awake + " ]; do sleep 0.02; done" + kAnswering));
    send(client, 'a');
    const auto waiting = send(client, 'b');
    send(client, 'c');
    client.cancel(waiting);
    QTRY_COMPARE(m_answers.size(), 1);  // while the worker reads nothing
    m_folder->write("awake", "");
    const QString process = QStringLiteral("%1").arg(client.processId());
    QTRY_COMPARE(m_answers, QStringList({"b cancelled", "a " + process, "c " + process}));
    QTRY_VERIFY(!client.busy());
  }

  void onlyTheRequestThatItWorkedOnDiesWithTheWorker() {
    WorkerClient client(firstTime("read -r line; read -r line; echo broken >&2; exit 3"));
    int deaths = 0;
    connect(&client, &WorkerClient::workerDied, this, [&] { ++deaths; });
    send(client, 'a');
    send(client, 'b');
    const auto cancelled = send(client, 'c');
    client.cancel(cancelled);
    send(client, 'd');
    QTRY_COMPARE(m_answers.size(), 4);
    QVERIFY2(m_answers[0].contains("ended (status 3); it last said: broken"), qPrintable(m_answers[0]));
    QCOMPARE(m_answers[1], QStringLiteral("c cancelled"));
    QCOMPARE(m_answers[2].left(2), QStringLiteral("b "));
    QCOMPARE(m_answers[3].left(2), QStringLiteral("d "));
    QCOMPARE(deaths, 1);
  }

  void whatItSaidBeforeItDiedCounts() {
    WorkerClient client(script("read -r line\necho '{\"id\":1,\"event\":\"done\",\"result\":{\"pid\":7}}'\nexit 1\n"));
    send(client, 'a');
    QTRY_COMPARE(m_answers, QStringList{"a 7"});
  }

 private:
  test::MeteredApplication& application() { return *static_cast<test::MeteredApplication*>(qApp); }

  QString script(const std::string& body) {
    const auto path = m_folder->write("worker", "#!/bin/sh\n" + body);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return QString::fromStdString(path.string());
  }
  /// A worker that does this when it is started for the first time, and answers when it is started again.
  QString firstTime(const std::string& body) {
    const std::string mark = (*m_folder / "started").string();
    return script("if [ ! -e " + mark + " ]; then touch " + mark + "; " + body + "; fi\n" + kAnswering);
  }
  /// The answer comes to m_answers: the letter, and the process that answered or the error.
  std::int64_t send(WorkerClient& client, char letter) {
    return client.send({}, this, [this, letter](const Result<Json>& reply) {
      const QString said =
          reply.ok() ? QString::number(reply.value().value("pid", 0)) : QString::fromStdString(reply.error().text());
      m_answers << QStringLiteral("%1 %2").arg(QLatin1Char(letter)).arg(said);
    });
  }

  std::unique_ptr<test::TemporaryFolder> m_folder;
  QStringList m_answers;
};

FUSESCOPE_GUI_TEST(WorkerClientTest, 6)
#include "worker_client_test.moc"
