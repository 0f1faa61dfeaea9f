#include "engine/program/extent_check.h"
#include "ir/graph.h"
#include "session/exported_program_report.h"
#include "session/import_engine.h"
#include "ui/document/qt_text.h"
#include "ui/document/run_controller.h"
#include "ui/document/target_words.h"

// Why something cannot be built, run or measured now.
namespace fusescope {

QString RunController::whyNot(const PlanOptions& options, Ability ability) const {
  return m_compilers.whyNot(options.compiler, ability);
}

QString RunController::sourceRefusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (m_document.kind() == ArtifactKind::Engine)
    return QStringLiteral("This is an engine: it is timed and compared as it is. Open its model to build another.");
  if (m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not built.");
  return {};
}

QString RunController::compileRefusal() const {
  if (const QString refusal = sourceRefusal(); !refusal.isEmpty()) return refusal;
  if (plansOnly()) {
    const Plan& plan = *m_document.snapshot()->plan;
    const bool isBuiltByOther = otherBuilder(plan, m_compilers) != nullptr;
    return onlyPlannedText(plan, m_compilers) +
           (isBuiltByOther ? QStringLiteral(" Choose that compiler under “Build with”.") : QString());
  }
  if (m_document.options().compiler == kOwnCompiler && isExportedProgram(*m_document.model()))
    return QStringLiteral(
        "Our engine does not run PyTorch's own operators: torch must first make a network of the program.");
  if (const QString why = whyNot(m_document.options(), Ability::Compile); !why.isEmpty()) return why;
  if (!m_document.planProblem().isEmpty()) return QStringLiteral("There is no plan: %1").arg(m_document.planProblem());
  return {};
}

QString RunController::buildRefusal() const {
  if (const QString refusal = compileRefusal(); !refusal.isEmpty()) return refusal;
  return busy() ? QStringLiteral("The worker is busy; cancel it to build something else.") : QString();
}

bool RunController::plansOnly() const {
  const auto snapshot = m_document.snapshot();
  return snapshot && !m_document.model()->weightless && m_document.options().compiler == kOwnCompiler &&
         snapshot->plan->target.planningOnly;
}

QString RunController::compareRefusal(const Run* a, const Run* b) const {
  if (a == nullptr || b == nullptr) return QStringLiteral("There must be two runs to compare.");
  if (a == b) return QStringLiteral("%1 is the shown run itself: choose another one.").arg(Runs::title(*a));
  for (const Run* run : {a, b}) {
    if (!run->build) return QStringLiteral("%1 has no engine.").arg(Runs::title(*run));
    if (isReadFromFiles(*run))
      return QStringLiteral("%1 was read from files of an engine, which cannot be run here.").arg(Runs::title(*run));
    for (const Ability ability : {Ability::Run, Ability::Time, Ability::Keep})
      if (const QString why = whyNot(run->options, ability); !why.isEmpty()) return why;
    if (!engineIsKept(*run) && !canBeMadeAgain(*run))
      return QStringLiteral("The engine of %1 does not exist any more, and the model that it was made of has changed.")
          .arg(Runs::title(*run));
  }
  if (busy()) return QStringLiteral("The worker is busy.");
  return {};
}

QString RunController::evaluateRefusal() const {
  const Run* run = m_runs.shown();
  if (run == nullptr) return QStringLiteral("There is no run to evaluate.");
  if (Runs::endedWithoutNumbers(*run))
    return QStringLiteral("%1 was not built (%2): build the plan first.")
        .arg(Runs::title(*run), qs(std::string(name(run->state))));
  if (isReadFromFiles(*run))
    return QStringLiteral(
               "%1 was read from files of an engine, which cannot be run here: there is nothing to evaluate.")
        .arg(Runs::title(*run));
  if (run->kind == RunKind::Plan && m_document.snapshot() && m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not run.");
  if (const QString why = whyNot(run->options, Ability::Run); !why.isEmpty()) return why;
  if (!canBeMadeAgain(*run) && !(run->kind == RunKind::Engine && engineIsKept(*run)))
    return QStringLiteral("%1 was made of a model that has changed since.").arg(Runs::title(*run));
  if (busy()) return QStringLiteral("The worker is busy.");
  return {};
}

QString RunController::errorsRefusal() const {
  if (const QString common = tuneRefusal(); !common.isEmpty()) return common;
  if (m_document.options().compiler != kOwnCompiler && m_runs.settings().errorsAgainst == ErrorsAgainst::F64)
    return QStringLiteral(
        "Results of another compiler can only be compared with float32: choose that in the settings.");
  return {};
}

QString RunController::specialiseRefusal() const {
  const Run* run = m_runs.shown();
  if (run == nullptr) return QStringLiteral("There is no run yet: build the plan first.");
  if (run->options.compiler != kOwnCompiler)
    return QStringLiteral("%1 was made by another compiler: only our own builds specialised engines.")
        .arg(Runs::title(*run));
  if (const QString common = evaluateRefusal(); !common.isEmpty()) return common;
  if (m_document.snapshot() && m_runs.ofThisPlan(*run) && !hasOpenInput(m_document.snapshot()->plan->graph()))
    return QStringLiteral("All extents of the inputs are fixed: the engine is already specialised for them.");
  return {};
}

QString RunController::valueRefusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not run.");
  if (!m_document.planProblem().isEmpty()) return QStringLiteral("There is no plan: %1").arg(m_document.planProblem());
  if (m_document.planning()) return QStringLiteral("The plan is being made.");
  for (const Ability ability : {Ability::Run, Ability::InnerValues})
    if (const QString why = whyNot(m_document.options(), ability); !why.isEmpty()) return why;
  return busy() ? QStringLiteral("The worker is busy.") : QString();
}

QString RunController::tuneRefusal() const {
  const QString common = calibrateRefusal();
  return common.isEmpty() ? whyNot(m_document.options(), Ability::Run) : common;
}

/// Searching for culprits switches things off and builds the rest, so that the compiler must be able to compile.
QString RunController::bisectRefusal() const {
  const QString common = tuneRefusal();
  return common.isEmpty() ? compileRefusal() : common;
}

QString RunController::calibrateRefusal() const {
  if (!m_document.snapshot()) return QStringLiteral("Open a model first.");
  if (m_document.kind() == ArtifactKind::Engine)
    return QStringLiteral("This is an engine: errors of its layers are measured for its model. Open that.");
  if (m_document.model()->weightless)
    return QStringLiteral("This file has no weights: it can be displayed and planned, but not run.");
  if (!m_document.planProblem().isEmpty()) return QStringLiteral("There is no plan: %1").arg(m_document.planProblem());
  if (m_document.planning()) return QStringLiteral("The plan is being made.");
  if (busy()) return QStringLiteral("The worker is busy.");
  return {};
}

}  // namespace fusescope
