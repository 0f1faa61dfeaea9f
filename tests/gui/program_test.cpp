#include <QDir>
#include <QFile>
#include <QImage>
#include <QtTest>
#include <chrono>
#include <thread>

#include "tests/gui/driven_program.h"

using namespace fusescope;
using namespace std::chrono_literals;

/// fusescope-gui itself, as a process: what it prints into pictures, what it knows of what commands measured, and what
/// it remembers.
class ProgramTest : public test::DrivenProgram {
  Q_OBJECT

 private slots:
  void init() { begin(); }
  void cleanup() { finish(); }

  void aPictureHasTheSizeThatIsAskedFor_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QSize>("size");
    QTest::newRow("small") << QStringList{"--size", "1024x768"} << QSize(1024, 768);
    QTest::newRow("large") << QStringList{"--size", "1920x1080"} << QSize(1920, 1080);
    QTest::newRow("scale 2") << QStringList{"--size", "1024x768", "--scale", "2"} << QSize(2048, 1536);
  }
  void aPictureHasTheSizeThatIsAskedFor() {
    QFETCH(QStringList, options);
    QFETCH(QSize, size);
    const QString picture = filePath("window.png");
    start(QStringList{model(), "--screenshot", picture} + options);
    QVERIFY(program().waitForFinished(kWorkMs));
    QVERIFY2(program().exitCode() == 0, program().readAllStandardError());
    QCOMPARE(QImage(picture).size(), size);
  }

  void knowsTheTimesThatTheCommandMeasured() {
    QProcess build;
    build.setProcessEnvironment(environment());
    build.start(FUSESCOPE_BIN_DIR "/fusescope", {"build", model(), "-o", filePath("engine.fse")});
    QVERIFY(build.waitForFinished(kWorkMs) && build.exitCode() == 0);
    start({model()});
    run({"see Build", "tab Layers", "see FLOPs", "see ≈"});
  }

  // As from the menu they are a network, and what the engine made of it.
  void layersOfAnEngineAreOpenedAsSuch() {
    QFile layers(filePath("layers.json"));
    QVERIFY(layers.open(QIODevice::WriteOnly));
    layers.write(R"({"Layers": [{"Name": "Relu_0", "LayerType": "PointWise",
      "Inputs": [{"Name": "x", "Dimensions": [1, 4], "Format/Datatype": "Row major linear FP32"}],
      "Outputs": [{"Name": "y", "Dimensions": [1, 4], "Format/Datatype": "Row major linear FP32"}]}],
      "Bindings": ["x", "y"]})");
    layers.close();
    start({layers.fileName()});
    const Session kept = keptWhen([](const Session& session) { return !session.runs.empty(); });
    QCOMPARE(kept.options.target, std::string("tensorrt-8"));
    QVERIFY(kept.runs.front().made);
  }

  void itsTabsTakeClicksWhereItsLayoutIsRemembered() {
    // Docks as a larger window left them. What is wrong with them shows when they have moved to their places.
    QDir().mkpath(filePath("config/fusescope"));
    QVERIFY(QFile::copy(FUSESCOPE_SOURCE_DIR "/tests/gui/remembered_docks.conf",
                        filePath("config/fusescope/fusescope.conf")));
    for (int i = 0; i < 3; ++i) {
      start({model()});
      run({"see Build"});
      std::this_thread::sleep_for(1s);
      run({"tab Runs", "tab Layers", "see FLOPs"});
      kill();
      QDir(filePath("cache/sessions")).removeRecursively();
    }
  }
};

FUSESCOPE_GUI_TEST(ProgramTest, 5)
#include "program_test.moc"
