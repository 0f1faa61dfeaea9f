#include "ui/ribbon/ribbon_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

const QString kPictureTag = QStringLiteral("ribbon"), kColorsTag = QStringLiteral("colours of the ribbon");

using LaneColors = std::vector<std::vector<QRgb>>;

LaneColors colorsOf(const RibbonPicture& picture, const ColorMode& mode, const Theme& theme) {
  LaneColors colors;
  for (const RibbonLane& lane : picture.lanes) colors.push_back(laneColors(lane, mode, theme));
  return colors;
}

}  // namespace

RibbonSource::RibbonSource(const DockContext& context, QObject* parent) : QObject(parent), m_context(context) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(0);
  connect(&m_soon, &QTimer::timeout, this, &RibbonSource::follow);
  const auto later = [this] { m_soon.start(); };
  connect(&context.document, &PlanDocument::modelChanged, this, [this] {
    m_context.jobs.cancel(kPictureTag);
    m_context.jobs.cancel(kColorsTag);
    m_making = m_painting = false;
    m_plans.clear();
    m_requests.clear();
    m_picture = std::make_shared<RibbonPicture>();
    m_colors.clear();
    m_problem.clear();
    m_soon.start();
    emit pictureChanged();
  });
  connect(&context.document, &PlanDocument::planChanged, this, later);
  connect(&context.runs, &Runs::shownChanged, this, later);
  connect(&context.runs, &Runs::runChanged, this, later);
  connect(&context.runs, &Runs::settingsChanged, this, later);
}

void RibbonSource::setWidth(RibbonWidth width) {
  m_width = width;
  m_soon.start();
}

void RibbonSource::setOnScreen(bool onScreen) {
  m_onScreen = onScreen;
  if (onScreen) m_soon.start();
}

bool RibbonSource::idle() const {
  return !m_soon.isActive() && !m_making && !m_painting;
}

LaneRequest RibbonSource::requestOf(const Run& run) const {
  const PlanDocument& document = m_context.document;
  LaneRequest request{.run = run.id, .title = Runs::title(run), .ofOtherPlan = !m_context.runs.ofThisPlan(run)};
  request.planned = PlannedRun(run);
  request.plans = m_context.runs.plans();
  request.network = m_context.runs.network();
  request.time = run.time;
  request.errorBound = m_context.runs.layerErrors().bound;
  if (!request.ofOtherPlan) {
    request.snapshot = document.snapshot();
  } else if (const auto known = m_plans.find(run.id);
             known != m_plans.end() && known->second.of.sameAs(*request.planned)) {
    request.snapshot = known->second.plan;
  }
  if (&run == m_context.runs.shown() && !request.ofOtherPlan) {
    request.judged = m_context.runs.layerErrors();
  } else {
    request.errors = m_context.runs.errorsOf(run).errors;
  }
  return request;
}

LaneRequest RibbonSource::requestOnScreen() const {
  const Run* run = m_context.runs.shown();
  LaneRequest request;
  if (run != nullptr) {
    request.run = run->id;
    request.title = Runs::title(*run);
    request.ofOtherPlan = !m_context.runs.ofThisPlan(*run);
    request.ownPlan = !request.ofOtherPlan;
    request.time = run->time;
    request.judged = m_context.runs.layerErrors();
  }
  if (const Runs::BackgroundTime* background = m_context.runs.backgroundTime()) {
    request.run.clear();
    request.title = background->made;
    request.ofOtherPlan = false;
    request.ownPlan = true;
    request.time = background->of.time;
  }
  request.snapshot = m_context.document.snapshot();
  return request;
}

bool RibbonSource::isOfModel(const Run& run) const {
  return run.kind == RunKind::Engine || run.model == m_context.document.modelFile().identity();
}

/// The additional runs are above the two that are compared, which remain adjacent.
std::vector<LaneRequest> RibbonSource::requests() {
  m_missing.clear();
  std::vector<LaneRequest> main = mainRequests(), all;
  const Runs& runs = m_context.runs;
  for (const std::string& id : runs.lanes()) {
    const Run* run = runs.find(id);
    if (run == nullptr || Runs::endedWithoutNumbers(*run) ||
        std::ranges::find(main, id, &LaneRequest::run) != main.end())
      continue;
    if (!isOfModel(*run)) {
      m_missing = QStringLiteral("%1 was made of a model that has changed since.").arg(Runs::title(*run));
      continue;
    }
    all.push_back(requestOf(*run));
    all.back().ofOtherPlan = false;  // the lane shows the run's own plan
  }
  std::ranges::move(main, std::back_inserter(all));
  return all;
}

std::vector<LaneRequest> RibbonSource::mainRequests() {
  const Runs& runs = m_context.runs;
  const Run *shown = runs.shown(), *other = runs.comparedWith();
  if (shown == nullptr || other == nullptr || Runs::endedWithoutNumbers(*shown) || Runs::endedWithoutNumbers(*other))
    return {requestOnScreen()};
  for (const Run* run : {other, shown}) {
    if (isOfModel(*run)) continue;
    m_missing = QStringLiteral("%1 was made of a model that has changed since.").arg(Runs::title(*run));
    return {requestOnScreen()};
  }
  // The lane of the displayed run is grey if its plan is not the one on screen. The lane of the other run shows that
  // run's own plan and is not grey.
  std::vector<LaneRequest> both{requestOf(*other), requestOf(*shown)};
  both.front().ofOtherPlan = false;
  return both;
}

void RibbonSource::follow() {
  const auto snapshot = m_context.document.snapshot();
  if (!m_onScreen || snapshot == nullptr) return;
  std::vector<LaneRequest> wanted = requests();
  const bool same = m_requestedWidth == m_width && wanted.size() == m_requests.size() &&
                    std::equal(wanted.begin(), wanted.end(), m_requests.begin(), sameLane);
  if (!same) make(std::move(wanted));
}

void RibbonSource::make(std::vector<LaneRequest> requests) {
  m_requests = requests;
  m_requestedWidth = m_width;
  m_making = true;
  struct Made {
    MadePicture picture;
    LaneColors colors;
  };
  const auto work = [requests, width = m_width, fonts = m_fonts, mode = m_mode,
                     theme = m_theme](const StopToken& stop) {
    Made made{makePicture(requests, width, fonts, stop), {}};
    made.colors = colorsOf(*made.picture.picture, *mode, theme);
    return made;
  };
  const auto take = [this, mode = m_mode, kind = m_theme.kind](const Made& made) {
    m_making = false;
    m_picture = made.picture.picture;
    m_colors = made.colors;
    m_problem = m_missing.isEmpty() ? made.picture.problem : m_missing;
    for (LaneRequest& request : m_requests) {
      const auto plan = made.picture.plans.find(request.run);
      if (plan == made.picture.plans.end()) continue;
      m_plans.insert_or_assign(request.run, KnownPlan{*request.planned, plan->second});
      request.snapshot = plan->second;
    }
    emit pictureChanged();
    if (mode != m_mode || kind != m_theme.kind) paintAnew();
  };
  m_context.jobs.run(kPictureTag, this, work, take);
}

void RibbonSource::setColors(const ColorMode& mode, const Theme& theme) {
  m_mode = &mode;
  m_theme = theme;
  if (!m_making) paintAnew();
}

void RibbonSource::paintAnew() {
  if (m_picture->empty()) return;
  m_painting = true;
  const auto work = [picture = m_picture, mode = m_mode, theme = m_theme](const StopToken&) {
    return colorsOf(*picture, *mode, theme);
  };
  m_context.jobs.run(kColorsTag, this, work, [this, of = m_picture](const LaneColors& colors) {
    m_painting = false;
    if (of != m_picture) return;
    m_colors = colors;
    emit colorsChanged();
  });
}

}  // namespace fusescope
