#include "ui/document/file_diff.h"

#include "diff/diff_plans.h"
#include "planning/applicable_options.h"
#include "session/diff_input.h"
#include "session/engine_prices.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/session_file.h"
#include "ui/document/option_words.h"
#include "ui/document/plan_document.h"
#include "ui/document/qt_text.h"
#include "ui/document/runs.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

namespace {

const QString kDiffTag = QStringLiteral("compare with a file");

/// Returns the plan on screen with the results of its runs.
Artifact screenArtifact(const PlanDocument& document, const Runs& runs) {
  auto session = std::make_shared<Session>();
  session->model = document.modelFile();
  session->options = document.options();
  session->extents = document.inputs();
  runs.store(*session);
  Artifact artifact;
  artifact.path = document.path().toStdString() + " (on screen)";
  const PlanSnapshot& snapshot = *document.snapshot();
  artifact.plan = snapshot.plan;
  if (const ReadBackPlan* made = snapshot.made()) {
    artifact.made = {snapshot.cover, made};
    artifact.plan = made->requested;
  }
  artifact.session = std::move(session);
  return artifact;
}

/// Returns the options of the plan on screen that apply to the network; those that do not are described.
Result<PlanOptions> applicable(const std::string& path, const PlanOptions& options, const StopToken& stop,
                               std::string& dropped) {
  const auto model = TRY(openModel(path, {}, stop));
  auto found = TRY(applicableOptions(*model, options, stop));
  for (const auto& [directive, why] : found.dropped)
    dropped += (dropped.empty() ? "" : "; ") + inWords(directive) + ": " + why;
  return std::move(found.options);
}

Result<Artifact> openFileToCompare(const std::string& path, const PlanOptions& options, const StopToken& stop,
                                   std::string& dropped) {
  if (isSessionFile(path)) {
    std::vector<std::string> warnings;
    return openSession(path, {}, {}, warnings);
  }
  if (TRY(artifactKind(path)) != ArtifactKind::Model) return openArtifact(path, {}, {}, {}, stop);
  return openArtifact(path, {}, TRY(applicable(path, options, stop, dropped)), "native", stop);
}

Result<std::shared_ptr<const ComparedPlans>> comparedPlans(const std::string& path, const PlanOptions& options,
                                                           const Artifact& screen,
                                                           std::shared_ptr<const PlanSnapshot> snapshot,
                                                           const StopToken& stop) {
  auto compared = std::make_shared<ComparedPlans>();
  compared->file = TRY(openFileToCompare(path, options, stop, compared->droppedDirectives));
  compared->screen = std::move(snapshot);
  const auto prices = pricesOf(*compared->file.plan, compared->file.backend);
  compared->diff = TRY(diffPlans(diffInput(compared->file), diffInput(screen), prices.get(), stop));
  compared->delta = deltaOf(compared->diff);
  return std::shared_ptr<const ComparedPlans>(std::move(compared));
}

}  // namespace

FileDiff::FileDiff(PlanDocument& document, Runs& runs, JobRunner& jobs, QObject* parent)
    : QObject(parent), m_document(document), m_runs(runs), m_jobs(jobs) {
  connect(&document, &PlanDocument::planChanged, this, &FileDiff::renew);
  connect(&document, &PlanDocument::modelChanged, this, &FileDiff::close);
}

void FileDiff::compare(const QString& path, UsedOptions usedOptions) {
  m_path = path;
  m_usedOptions = usedOptions;
  renew();
}

void FileDiff::close() {
  if (m_path.isEmpty()) return;
  m_jobs.cancel(kDiffTag);
  m_path.clear();
  m_problem.clear();
  m_busy = false;
  m_compared.reset();
  emit changed();
}

void FileDiff::renew() {
  if (m_path.isEmpty() || !m_document.snapshot()) return;
  m_busy = true;
  m_problem.clear();
  m_compared.reset();  // the old comparison belongs to the previous plan and must not be shown for this one
  PlanOptions options = m_document.options();
  if (m_usedOptions == UsedOptions::None) options = PlanOptions{.target = options.target};
  const auto work = [path = m_path.toStdString(), options, screen = screenArtifact(m_document, m_runs),
                     snapshot = m_document.snapshot()](const StopToken& stop) {
    return comparedPlans(path, options, screen, snapshot, stop);
  };
  m_jobs.run(kDiffTag, this, work, [this](const Result<std::shared_ptr<const ComparedPlans>>& compared) {
    m_busy = false;
    if (compared.ok()) {
      m_compared = compared.value();
    } else {
      m_problem = problemText(compared.error());
    }
    emit changed();
  });
  emit changed();
}

}  // namespace fusescope
