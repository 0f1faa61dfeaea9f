#include <QTimer>
#include <QtTest>
#include <atomic>
#include <thread>

#include "tests/gui/gui_support.h"
#include "ui/jobs/job_runner.h"
#include "ui/jobs/wait_until.h"
#include "ui/jobs/worker_client.h"

using namespace fusescope;

class JobsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void deliversInTheGuiThread() {
    JobRunner runner;
    QObject receiver;
    std::thread::id worked, delivered;
    int result = 0;
    runner.run(
        QStringLiteral("t"), &receiver,
        [&](const StopToken&) {
          worked = std::this_thread::get_id();
          return 42;
        },
        [&](const int& value) {
          delivered = std::this_thread::get_id();
          result = value;
        });
    QCOMPARE(result, 0);
    QTRY_COMPARE(result, 42);
    QVERIFY(worked != std::this_thread::get_id());
    QVERIFY(delivered == std::this_thread::get_id());
    QVERIFY(runner.idle());
  }

  void whatAJobHoldsAndWhatNobodyKeepsIsFreedElsewhere() {
    struct Freed {
      explicit Freed(std::atomic<std::thread::id>& place) : in(place) {}
      std::atomic<std::thread::id>& in;
      ~Freed() { in = std::this_thread::get_id(); }
    };
    JobRunner runner;
    QObject receiver;
    std::atomic<std::thread::id> held, made;
    bool delivered = false;
    runner.run(
        QStringLiteral("t"), &receiver,
        [&made, mine = std::make_shared<Freed>(held)](const StopToken&) { return std::make_shared<Freed>(made); },
        [&](const std::shared_ptr<Freed>&) {
          QVERIFY(held.load() != std::thread::id());  // before it is delivered
          delivered = true;
        });
    QTRY_VERIFY(delivered);
    QTRY_VERIFY(made.load() != std::thread::id());
    for (const std::thread::id in : {held.load(), made.load()}) QVERIFY(in != std::this_thread::get_id());
  }

  void whoeverWaitsSleeps() {
    constexpr int kWaitMs = 1000,
                  kMostAsked = 200;  // it wakes every 20 ms; a loop that never sleeps asks 100,000 times
    int asked = 0;
    QVERIFY(!waitUntil([&] { return ++asked < 0; }, kWaitMs));
    QVERIFY2(asked <= kMostAsked, qPrintable(QString::number(asked)));
    QTimer timer;
    timer.setSingleShot(true);
    timer.start(50);
    QVERIFY(waitUntil([&] { return !timer.isActive(); }, 10'000));
  }

  void newerRequestReplacesOlderOnes() {
    JobRunner runner;
    QObject receiver;
    std::atomic<bool> stopped = false;
    std::atomic<int> started = 0;
    QList<int> delivered;
    runner.run(
        QStringLiteral("t"), &receiver,
        [&](const StopToken& stop) {
          ++started;
          while (!stop.stop_requested()) std::this_thread::yield();
          stopped = true;
          return 1;
        },
        [&](const int& value) { delivered << value; });
    for (int i = 2; i <= 4; ++i) {
      runner.run(
          QStringLiteral("t"), &receiver,
          [&, i](const StopToken&) {
            ++started;
            return i;
          },
          [&](const int& value) { delivered << value; });
    }
    QTRY_VERIFY(runner.idle());
    QVERIFY(stopped);
    QCOMPARE(delivered, QList<int>{4});
    QCOMPARE(started.load(), 2);
  }

  void tagsDoNotDisturbEachOther() {
    JobRunner runner;
    QObject receiver;
    int sum = 0;
    runner.run(
        QStringLiteral("a"), &receiver, [](const StopToken&) { return 1; }, [&](const int& value) { sum += value; });
    runner.run(
        QStringLiteral("b"), &receiver, [](const StopToken&) { return 10; }, [&](const int& value) { sum += value; });
    QTRY_COMPARE(sum, 11);
  }

  void nothingReachesTheDead() {
    JobRunner runner;
    auto receiver = std::make_unique<QObject>();
    bool delivered = false;
    runner.run(
        QStringLiteral("t"), receiver.get(), [](const StopToken&) { return 1; }, [&](const int&) { delivered = true; });
    receiver.reset();
    QTRY_VERIFY(runner.idle());
    QVERIFY(!delivered);
  }

  void cancelledWorkIsNotDelivered() {
    JobRunner runner;
    QObject receiver;
    bool delivered = false;
    runner.run(
        QStringLiteral("t"), &receiver,
        [](const StopToken& stop) {
          while (!stop.stop_requested()) std::this_thread::yield();
          return 1;
        },
        [&](const int&) { delivered = true; });
    QVERIFY(runner.busy(QStringLiteral("t")));
    runner.cancel(QStringLiteral("t"));
    QTRY_VERIFY(runner.idle());
    QVERIFY(!delivered);
  }

  void aWorkerThatIsNotThereIsAnError() {
    WorkerClient client(QStringLiteral("/nonexistent/fusescope-worker"));
    QObject receiver;
    QString message;
    client.send({}, &receiver,
                [&](const Result<Json>& reply) { message = QString::fromStdString(reply.error().text()); });
    QTRY_VERIFY(!message.isEmpty());
    QVERIFY2(message.contains(QStringLiteral("could not be started")), qPrintable(message));
    QVERIFY(!client.busy());
  }

  void aWorkerThatDiesFailsWhatIsInFlight() {
    WorkerClient client(QStringLiteral("/bin/false"));
    QObject receiver;
    QStringList messages;
    for (int i = 0; i < 2; ++i) {
      client.send({}, &receiver,
                  [&](const Result<Json>& reply) { messages << QString::fromStdString(reply.error().text()); });
    }
    QTRY_COMPARE(messages.size(), 2);
    QVERIFY2(messages[0].contains(QStringLiteral("ended (status 1)")), qPrintable(messages[0]));
  }
};

FUSESCOPE_GUI_TEST(JobsTest, 9)
#include "jobs_test.moc"
