#include "ui/document/known_plans.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "session/runs/run_plans.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

namespace {

const QString kReadPlansTag = QStringLiteral("read what runs made");

std::optional<double> measuredIn(const std::vector<RunLayer>& layers, const std::string& identity,
                                 const std::string& name) {
  for (const RunLayer& layer : layers) {
    const bool isIt = layer.identity.empty() ? layer.name == name : layer.identity == identity;
    if (isIt && layer.medianMs) return layer.medianMs;
    if (const auto inside = measuredIn(layer.kernels, identity, name)) return inside;
  }
  return std::nullopt;
}

}  // namespace

QString KnownPlan::title() const {
  const QString whose = run.empty() ? QStringLiteral("built in the background") : QStringLiteral("run %1").arg(qs(run));
  return QStringLiteral("%1 · %2").arg(compilerTitle(made->compiler), whose);
}

std::optional<double> measuredMs(const RunTime& time, const FusedNode& fused) {
  return measuredIn(time.layers, fused.identity.hex(), fused.name);
}

KnownPlans::KnownPlans(PlanDocument& document, Runs& runs, const BackgroundBuilds& builds, JobRunner& jobs,
                       QObject* parent)
    : QObject(parent), m_document(document), m_runs(runs), m_builds(builds), m_jobs(jobs) {
  connect(&document, &PlanDocument::modelChanged, this, [this] {
    m_jobs.cancel(kReadPlansTag);
    m_read.clear();
  });
}

std::vector<KnownPlans::Source> KnownPlans::sources() const {
  std::vector<Source> found;
  if (!m_document.snapshot()) return found;
  if (const SharedOptional<Json> built = m_builds.made()) found.push_back({built, nullptr});
  const std::string model = m_document.modelFile().identity();
  std::vector<Source> others;
  const auto isKnown = [&](const Run& run) {
    const auto isSame = [&](const Source& source) {
      return source.run != nullptr && source.run->options == run.options;
    };
    return std::ranges::any_of(found, isSame) || std::ranges::any_of(others, isSame);
  };
  for (auto run = m_runs.all().rbegin(); run != m_runs.all().rend(); ++run)
    if (run->made && run->model == model && !isKnown(*run))
      (m_runs.ofThisPlan(*run) ? found : others).push_back({run->made, &*run});
  found.insert(found.end(), others.begin(), others.end());
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

const KnownPlans::Read* KnownPlans::find(const SharedOptional<Json>& made) const {
  const auto found = std::ranges::find_if(m_read, [&](const Read& read) { return read.of.isSameObject(made); });
  return found == m_read.end() ? nullptr : &*found;
}

void KnownPlans::ask() {
  struct Missing {
    SharedOptional<Json> made;
    std::optional<PlannedRun> run;  ///< none for a background build
  };
  std::vector<Missing> missing;
  for (const Source& source : sources())
    if (find(source.made) == nullptr)
      missing.push_back({source.made, source.run == nullptr ? std::nullopt : std::optional(PlannedRun(*source.run))});
  if (missing.empty() || m_jobs.busy(kReadPlansTag)) return;
  const auto work = [missing, plans = m_runs.plans(), network = m_runs.network()](const StopToken& stop) {
    std::vector<Read> read;
    for (const Missing& one : missing) {
      if (stop.stop_requested()) break;
      if (one.run) {
        const auto artifact = plans->find(*one.run, network, stop);
        read.push_back({one.made, artifact.ok() ? artifact.value()->made : nullptr});
      } else {
        auto made = readMade(*one.made, network.plan, network.model);
        read.push_back({one.made, made.ok() ? std::move(made).value() : nullptr});
      }
    }
    return read;
  };
  m_jobs.run(kReadPlansTag, this, work, [this](const std::vector<Read>& read) {
    // Plans to which nothing refers any more are removed.
    const std::vector<Source> wanted = sources();
    std::erase_if(m_read, [&](const Read& known) {
      return std::ranges::none_of(wanted, [&](const Source& source) { return source.made.isSameObject(known.of); });
    });
    m_read.insert(m_read.end(), read.begin(), read.end());
    emit changed();
    ask();
  });
}

std::vector<KnownPlan> KnownPlans::all() const {
  std::vector<KnownPlan> known;
  for (const Source& source : sources()) {
    const Read* read = find(source.made);
    if (read == nullptr || read->made == nullptr) continue;
    const Run* run = source.run;
    known.push_back({.made = read->made,
                     .run = run == nullptr ? std::string() : run->id,
                     .time = run == nullptr ? SharedOptional<RunTime>() : run->time,
                     .ofThisPlan = run == nullptr || m_runs.ofThisPlan(*run)});
  }
  return known;
}

}  // namespace fusescope
