// A job for a machine that cannot be reached, written and opened in the window.
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "compilers/probed/recorded_job.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/window/file_kinds.h"
#include "ui/window/job_file_actions.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

const QString kMessage = QStringLiteral("job");

}  // namespace

class JobFilesTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void aResultBecomesARun() {
    const QByteArray python = qgetenv("FUSESCOPE_COMPILERS_PYTHON");
    if (python.isEmpty()) QSKIP("no Python with ONNX Runtime: FUSESCOPE_COMPILERS_PYTHON is not set");
    const test::SessionFolder folder;
    auto window = folder.makeWindow();
    window->openFile(folder.model());
    QTRY_VERIFY(window->document().snapshot());
    const QString job = m_folder.filePath(QStringLiteral("job.pyz"));
    writeJob(*window, "onnxruntime", job);
    QTRY_VERIFY2(QFile::exists(job), qPrintable(window->messages().textOf(kMessage)));
    QTRY_VERIFY(window->messages().textOf(kMessage).contains(QStringLiteral("python3 job.pyz")));
    QCOMPARE(QProcess::execute(QString::fromLocal8Bit(python), {job}), 0);
    window->dropFiles({m_folder.filePath(QStringLiteral("result.zip"))});
    QTRY_VERIFY_WITH_TIMEOUT(window->runs().shown() != nullptr && window->runs().shown()->state == RunState::Ready,
                             test::kPatienceMs);
    const Run& run = *window->runs().shown();
    QVERIFY2(run.time && run.time->medianMs, run.problem.c_str());
    QVERIFY2(qs(run.time->remark).contains(QStringLiteral("in the job that ended")), run.time->remark.c_str());
    QVERIFY(run.made);
    QVERIFY2(qs(run.options.compiler).startsWith(QStringLiteral("onnxruntime@")), run.options.compiler.c_str());
    QTRY_VERIFY(window->document().snapshot()->made() != nullptr);
    QCOMPARE(window->document().snapshot()->made()->compiler.name, std::string("onnxruntime"));
  }

  void whatIsNoResultIsSaid() {
    const QString file = m_folder.filePath(QStringLiteral("other.zip"));
    QFile other(file);
    QVERIFY(other.open(QIODevice::WriteOnly));
    other.write("this is no archive");
    other.close();
    auto window = test::shownWindow();
    window->dropFiles({file});
    QTRY_VERIFY(window->messages().textOf(kMessage).contains(QStringLiteral("The result was not opened")));
    QVERIFY(window->runs().all().empty());
    QVERIFY(isResultFile(file));
    QVERIFY(!isResultFile(QStringLiteral("model.onnx")));
  }

 private:
  QTemporaryDir m_folder;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::JobFilesTest, 2)
#include "job_files_test.moc"
