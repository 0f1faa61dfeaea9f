#include <QTemporaryDir>
#include <QtTest>

#include "ir/graph.h"
#include "tests/gui/gui_support.h"
#include "ui/document/directive_edits.h"
#include "ui/document/plan_document.h"
#include "ui/jobs/job_runner.h"

using namespace fusescope;

class DocumentTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_jobs = std::make_unique<JobRunner>();
    m_document = std::make_unique<PlanDocument>(*m_jobs);
    m_document->open(test::samplePath("fp16_overflow"));
    QVERIFY(!m_document->snapshot());  // nothing waited
    QTRY_VERIFY_WITH_TIMEOUT(m_document->snapshot(), 30000);
  }
  void cleanup() {
    m_document.reset();
    m_jobs.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void pinIsOneUndoStepAndReplans() {
    const auto before = m_document->snapshot();
    const NodeId node = *before->graph().findNode("node_linear_1");
    m_document->pin(m_document->namesOf({node}), DataType::F16, Strictness::Prefer);
    QVERIFY(m_document->planning());
    QCOMPARE(m_document->undoStack().undoText(), QStringLiteral("Pin node_linear_1 to f16"));
    QTRY_VERIFY(!m_document->planning());
    QCOMPARE(m_document->snapshot()->grantOf(node)->granted, DataType::F16);
    // What the plan is before types is taken from the plan before: only what the pin reaches is found again.
    QCOMPARE(m_document->snapshot()->plan->structure.get(), before->plan->structure.get());
    m_document->undoStack().undo();
    QTRY_VERIFY(!m_document->planning());
    QVERIFY(m_document->directives().empty());
    QCOMPARE(m_document->snapshot()->grantOf(node)->granted, DataType::F32);
    QCOMPARE(m_document->snapshot()->plan->hash.hex(), before->plan->hash.hex());
    m_document->undoStack().redo();
    QCOMPARE(m_document->directives().size(), std::size_t(1));
  }

  void inputsAndConstantsAreTruncatedApart() {
    const TruncateModes apart{TruncateMode::None, TruncateMode::Long};
    const Directives two = withTruncation(m_document->directives(), apart);
    QCOMPARE(two.size(), std::size_t(2));
    QVERIFY(truncationOf(two) == apart);
    const Directives one = withTruncation(two, TruncateModes::both(TruncateMode::All));
    QCOMPARE(one.size(), std::size_t(1));
    QVERIFY(truncationOf(one) == TruncateModes::both(TruncateMode::All));
    QVERIFY(truncationOf({}) == TruncateModes());
  }

  void severalPinsAreOneStep() {
    const auto& order = m_document->snapshot()->graph().order();
    m_document->pin(m_document->namesOf({order[0], order[1], order[2]}), DataType::BF16, Strictness::Obey);
    QCOMPARE(m_document->undoStack().count(), 1);
    QCOMPARE(m_document->directives().size(), std::size_t(3));
    m_document->pin(m_document->namesOf({order[1]}), DataType::F32, Strictness::Prefer);
    QCOMPARE(m_document->directives().size(), std::size_t(3));  // in place of the old one
    m_document->clearDirectives(m_document->namesOf({order[1]}));
    QCOMPARE(m_document->directives().size(), std::size_t(2));
    m_document->clearDirectives(m_document->namesOf({order[1]}));
    QCOMPARE(m_document->undoStack().count(), 3);  // what changes nothing leaves no step
  }

  void aPatternThatMatchesNothingKeepsThePlan() {
    QSignalSpy failures(m_document.get(), &PlanDocument::planFailed);
    const auto before = m_document->snapshot();
    Directive directive{.kind = DirectiveKind::Pin, .pattern = "no_such_node", .type = DataType::F16};
    m_document->editDirectives(QStringLiteral("Pin"), withDirective({}, directive));
    QTRY_COMPARE(failures.count(), 1);
    QVERIFY(m_document->planProblem().contains("no_such_node"));
    QCOMPARE(m_document->snapshot(), before);
    m_document->undoStack().undo();
    QTRY_VERIFY(!m_document->planning());
    QVERIFY(m_document->planProblem().isEmpty());
  }

  void aBadFileKeepsTheSession() {
    QTemporaryDir folder;
    QFile file(folder.filePath("bad.onnx"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("this is not a model");
    file.close();
    m_document->setPrecisions({DataType::F16});
    QTRY_VERIFY(!m_document->planning());
    const auto before = m_document->snapshot();
    for (const QString& path : {folder.filePath("bad.onnx"), folder.filePath("missing.onnx")}) {
      QSignalSpy failures(m_document.get(), &PlanDocument::openFailed);
      m_document->open(path);
      QTRY_COMPARE(failures.count(), 1);
      QVERIFY2(failures[0][1].toString().contains(path), qPrintable(failures[0][1].toString()));
      QCOMPARE(m_document->snapshot(), before);
      QCOMPARE(m_document->path(), test::samplePath("fp16_overflow"));
      QCOMPARE(m_document->undoStack().count(), 1);
    }
  }

  void pinsThatMakeNoSenseAreRefused() {
    const Plan& plan = *m_document->snapshot()->plan;
    const NodeId node = *plan.graph().findNode("node_linear_1");
    QCOMPARE(pinRefusal(plan, node, DataType::F16), QString());
    QVERIFY(pinRefusal(plan, node, DataType::I64).contains("does not compute in int64"));
    QVERIFY(!plan.target.hardwareTypes.contains(DataType::F8E4M3));
    QVERIFY(timeUnknownReason(plan, DataType::F8E4M3).startsWith("unknown: no kernel"));
    for (const DataType type : {DataType::F32, DataType::I8, DataType::Bool})
      QCOMPARE(timeUnknownReason(plan, type), QString());
  }

  void recentFilesAreRemembered() { QCOMPARE(PlanDocument::recentFiles().first(), test::samplePath("fp16_overflow")); }

 private:
  std::unique_ptr<JobRunner> m_jobs;
  std::unique_ptr<PlanDocument> m_document;
};

FUSESCOPE_GUI_TEST(DocumentTest, 7)
#include "document_test.moc"
