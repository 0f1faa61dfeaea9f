#include <QFile>
#include <QFileInfo>
#include <QtTest>
#include <algorithm>
#include <chrono>
#include <thread>

#include "onnxlib/onnxlib.h"
#include "session/runs/verdict.h"
#include "tests/gui/driven_program.h"
#include "ui/document/qt_text.h"

using namespace fusescope;
using namespace std::chrono_literals;

/// What is lost when the window is killed, whatever it is about, which is nothing; and what is left of it when the next
/// one has ended, which is nothing either.
class KilledTest : public test::DrivenProgram {
  Q_OBJECT

 private slots:
  void init() { begin(); }
  void cleanup() { finish(); }

  void isKilledWhenNothingWasDoneYet() {
    start({model()});
    run({"see Build"});
    kill();
    start({model()});
    run({"see Build"});
    QVERIFY(keptFiles().isEmpty());  // there was nothing to keep, and nothing is offered
    quit();
    QVERIFY(leftovers().isEmpty());
    QCOMPARE(halfDone(), QStringList());
  }

  void isKilledAfterAPin() {
    pin();
    const Session before = killWhen([](const Session& kept) { return kept.options.directives.size() == 1; });
    QCOMPARE(before.options.precisions, std::vector{DataType::F16});
    const Session after = recovered();
    checkSame(before, after);
    // Saved and closed, it is not offered again, and nothing is left of it but the user's file.
    quit();
    QVERIFY(keptFiles().isEmpty());
    start({filePath("saved.fsession")});
    run({"see Build"});
    QVERIFY(keptFiles().isEmpty());
  }

  void isKilledWhileItBuilds() {
    pin();
    run({"act build"});
    const Session before = killWhen([](const Session& kept) {
      return !kept.runs.empty() && kept.runs[0].state == RunState::Interrupted;  // as which one under way is read
    });
    const Session after = recovered();
    checkSame(before, after);
    QCOMPARE(after.runs.size(), std::size_t(1));
    QVERIFY(after.runs[0].state == RunState::Interrupted || after.runs[0].state == RunState::Ready);
    // The number of a run is not used again, and it can be built.
    run({"act build"});
    const Session built =
        keptWhen([](const Session& kept) { return kept.runs.size() == 2 && kept.runs[1].state == RunState::Ready; });
    QCOMPARE(built.runs[1].id, std::string("2"));
  }

  void isKilledAfterRunsWereDone() {
    pin();
    run({"act build_both"});
    const Session before = killWhen([](const Session& kept) { return kept.runs.size() == 3 && done(kept); });
    QCOMPARE(before.runs[2].kind, RunKind::Comparison);
    QCOMPARE(before.runs[1].evaluations.size(), std::size_t(1));
    QVERIFY(verdictOf(before.runs[1], before.settings).kind != Verdict::Kind::Unknown);
    const Session after = recovered();
    checkSame(before, after);
    for (std::size_t i = 0; i < 2; ++i) QVERIFY(QFile::exists(qs(after.runs[i].enginePath)));
  }

  void isKilledWhileItSaves() {
    pin();
    run({"act build"});
    const Session before = keptWhen([](const Session& kept) { return kept.runs.size() == 1 && done(kept); });
    const QString kept = keptFiles().first();
    QString last = kept;  // where all of it is
    int whole = 0, absent = 0;
    for (int i = 0; i < 8; ++i) {
      const QString file = filePath(QStringLiteral("saved_%1.fsession").arg(i));
      act({"act save_session_as", "file " + file});
      waitForWord("did file");
      std::this_thread::sleep_for(i * i * 500us);
      kill();
      // The new file is whole or not there; what was there before is as it was.
      const auto saved = readSession(file.toStdString());
      QVERIFY2(saved.ok() || !QFile::exists(file), saved.ok() ? "" : saved.error().text().c_str());
      (saved.ok() ? whole : absent) += 1;
      if (saved.ok()) last = file;
      const auto all = readSession(last.toStdString());
      QVERIFY2(all.ok(), all.ok() ? "" : all.error().text().c_str());
      checkSame(before, all.value());
      start(last == kept ? QStringList() : QStringList{last});
      run(last == kept ? QStringList{"click Recover", "see Build"} : QStringList{"see Build"});
      QVERIFY(QFile::exists(qs(before.runs[0].enginePath)));  // what is collected at the start is not this
    }
    qInfo("%d times the file was whole, %d times not there yet", whole, absent);
  }

  void isKilledWhileItOpens() {
    const QString large = test::writeResidualChain(filePath({}), kLargeNodes);
    for (int i = 0; i < kTimes; ++i) {
      start({large});
      std::this_thread::sleep_for(i * kSpread);
      kill();
    }
    start({model()});
    run({"see Build"});
    QVERIFY(keptFiles().isEmpty());  // there was nothing to keep, and nothing is offered
    quit();
    QCOMPARE(leftovers(), QStringList());
    QCOMPARE(halfDone(), QStringList());
  }

  void isKilledWhileItPlans() {
    for (int i = 0; i < kTimes; ++i) {
      start({model()});
      run({"see Build", "down Precision"});
      std::this_thread::sleep_for(i * i * kSpread);
      kill();
      const QStringList files = keptFiles();
      for (const QString& file : files) {
        const auto kept = readSession(file.toStdString());
        QVERIFY2(kept.ok(), kept.ok() ? "" : kept.error().text().c_str());
        QCOMPARE(kept.value().options.precisions, std::vector{DataType::F16});
      }
      start({});
      if (!files.isEmpty()) run({"click Discard"});
      QTRY_VERIFY(keptFiles().isEmpty());
    }
    quit();
    QCOMPARE(halfDone(), QStringList());
  }

  void isKilledInThePhase_data() {
    QTest::addColumn<QStringList>("doing");
    QTest::newRow("build, evaluate and compare") << QStringList{"act build_both"};
    QTest::newRow("errors") << QStringList{"act errors"};
    QTest::newRow("tune") << QStringList{"act tune", "click Start"};
    QTest::newRow("calibrate") << QStringList{"act calibrate", "click Calibrate"};
    QTest::newRow("export") << QStringList{"act export",  "home Format", "down Format",
                                           "down Format", "down Format", "click Save as…"};
  }
  /// Killed at several moments of it, each time it is offered again with all that was asked for, and every file is
  /// whole.
  void isKilledInThePhase() {
    QFETCH(QStringList, doing);
    const QString typed = filePath("typed.onnx");
    const bool writes = doing.contains("act export");
    if (writes) doing << "file " + typed;
    pin();
    const PlanOptions asked = keptWhen([](const Session& kept) { return kept.options.directives.size() == 1; }).options;
    for (int i = 0; i < kTimes; ++i) {
      run(doing);
      std::this_thread::sleep_for(i * i * kSpread);
      kill();
      for (const QString& file : keptFiles()) {
        const auto kept = readSession(file.toStdString());
        QVERIFY2(kept.ok(), kept.ok() ? "" : kept.error().text().c_str());
        QVERIFY(kept.value().options == asked);
      }
      if (QFile::exists(typed)) {
        const auto read = onnxlib::readModel(typed.toStdString());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().text().c_str());
      }
      start({});
      run({"click Recover", "see Build"});
    }
    // To the end, this time: what the killed ones left goes with it.
    run(doing);
    if (writes) QVERIFY(QTest::qWaitFor([&] { return QFile::exists(typed); }, kWorkMs));
    const Session after = recoveredOnceMore();
    QVERIFY(after.options == asked);
    quit();
    QCOMPARE(keptFiles(), QStringList());
    QCOMPARE(halfDone(), QStringList());
  }

 private:
  static constexpr int kLargeNodes = 20'000, kTimes = 4;
  static constexpr std::chrono::milliseconds kSpread{60};

  Session recoveredOnceMore() {
    kill();
    return recovered();
  }
};

FUSESCOPE_GUI_TEST(KilledTest, 9)
#include "killed_test.moc"
