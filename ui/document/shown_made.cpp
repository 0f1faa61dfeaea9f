#include "ui/document/shown_made.h"

#include <utility>

#include "session/runs/run_plans.h"
#include "ui/document/background_builds.h"
#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

namespace {

const QString kReadMadeTag = QStringLiteral("read what was made");

using Made = std::shared_ptr<const ReadBackPlan>;

}  // namespace

ShownMade::ShownMade(PlanDocument& document, Runs& runs, JobRunner& jobs, const BackgroundBuilds* builds,
                     QObject* parent)
    : QObject(parent), m_document(document), m_runs(runs), m_jobs(jobs), m_builds(builds) {
  if (builds != nullptr) connect(builds, &BackgroundBuilds::changed, this, &ShownMade::follow);
  connect(&document, &PlanDocument::planChanged, this, &ShownMade::follow);
  connect(&runs, &Runs::shownChanged, this, &ShownMade::follow);
  connect(&runs, &Runs::runChanged, this, &ShownMade::follow);
}

QString ShownMade::words() const {
  const auto snapshot = m_document.snapshot();
  if (!snapshot) return {};
  const QString words = coverWords(*snapshot->cover);
  if (snapshot->made() == nullptr || !m_wanted.made) return words;
  return m_wanted.run.empty() ? QStringLiteral("%1 (built in the background)").arg(words)
                              : QStringLiteral("%1 (run %2)").arg(words, qs(m_wanted.run));
}

void ShownMade::follow() {
  const auto snapshot = m_document.snapshot();
  if (!snapshot || m_document.planning()) return;  // the new plan will be followed instead
  const Run* run = m_runs.shown();
  Wanted wanted;
  if (run != nullptr && run->made && m_runs.ofThisPlan(*run))
    wanted = {.made = run->made, .plan = snapshot->plan, .run = run->id};
  else if (const auto built = m_builds == nullptr ? SharedOptional<Json>() : m_builds->made())
    wanted = {.made = built, .plan = snapshot->plan, .run = {}};
  if (wanted.same(m_wanted)) return;
  m_wanted = wanted;
  m_jobs.cancel(kReadMadeTag);
  if (!wanted.made) return m_document.showMade(nullptr);
  const auto work = [wanted, model = m_document.model()](const StopToken&) {
    return readMade(*std::as_const(wanted.made), wanted.plan, model);
  };
  m_jobs.run(kReadMadeTag, this, work, [this, id = wanted.run](const Result<Made>& made) {
    m_document.showMade(made.ok() ? made.value() : nullptr);
    if (made.ok()) return;
    const QString whose = id.empty() ? QStringLiteral("a background build") : QStringLiteral("run %1").arg(qs(id));
    emit failed(QStringLiteral("What %1 says about the kernels that were made cannot be displayed: %2")
                    .arg(whose, problemText(made.error())));
  });
}

}  // namespace fusescope
