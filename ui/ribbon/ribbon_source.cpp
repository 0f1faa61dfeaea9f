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
    m_wishes.clear();
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

LaneWish RibbonSource::wishOf(const Run& run) const {
  const PlanDocument& document = m_context.document;
  LaneWish wish{.run = run.id, .title = Runs::title(run), .ofOtherPlan = !m_context.runs.ofThisPlan(run)};
  wish.planned = PlannedRun(run);
  wish.plans = m_context.runs.plans();
  wish.network = m_context.runs.network();
  wish.time = run.time;
  wish.errorBound = m_context.runs.layerErrors().bound;
  if (!wish.ofOtherPlan) {
    wish.snapshot = document.snapshot();
  } else if (const auto known = m_plans.find(run.id);
             known != m_plans.end() && known->second.of.sameAs(*wish.planned)) {
    wish.snapshot = known->second.plan;
  }
  if (&run == m_context.runs.shown() && !wish.ofOtherPlan) {
    wish.judged = m_context.runs.layerErrors();
  } else {
    wish.errors = m_context.runs.errorsOf(run).errors;
  }
  return wish;
}

LaneWish RibbonSource::wishOnScreen() const {
  const Run* run = m_context.runs.shown();
  LaneWish wish;
  if (run != nullptr) {
    wish.run = run->id;
    wish.title = Runs::title(*run);
    wish.ofOtherPlan = !m_context.runs.ofThisPlan(*run);
    wish.ownPlan = !wish.ofOtherPlan;
    wish.time = run->time;
    wish.judged = m_context.runs.layerErrors();
  }
  wish.snapshot = m_context.document.snapshot();
  return wish;
}

bool RibbonSource::isOfModel(const Run& run) const {
  return run.kind == RunKind::Engine || run.model == m_context.document.modelFile().identity();
}

/// Further runs above the two that are compared, which stay beside each other.
std::vector<LaneWish> RibbonSource::wishes() {
  m_missing.clear();
  std::vector<LaneWish> main = mainWishes(), all;
  const Runs& runs = m_context.runs;
  for (const std::string& id : runs.lanes()) {
    const Run* run = runs.find(id);
    if (run == nullptr || Runs::cameToNothing(*run) || std::ranges::find(main, id, &LaneWish::run) != main.end())
      continue;
    if (!isOfModel(*run)) {
      m_missing = QStringLiteral("%1 was made of a model that has changed since.").arg(Runs::title(*run));
      continue;
    }
    all.push_back(wishOf(*run));
    all.back().ofOtherPlan = false;  // a lane of its own plan
  }
  std::ranges::move(main, std::back_inserter(all));
  return all;
}

std::vector<LaneWish> RibbonSource::mainWishes() {
  const Runs& runs = m_context.runs;
  const Run *shown = runs.shown(), *other = runs.comparedWith();
  if (shown == nullptr || other == nullptr || Runs::cameToNothing(*shown) || Runs::cameToNothing(*other))
    return {wishOnScreen()};
  for (const Run* run : {other, shown}) {
    if (isOfModel(*run)) continue;
    m_missing = QStringLiteral("%1 was made of a model that has changed since.").arg(Runs::title(*run));
    return {wishOnScreen()};
  }
  // Whose own plan is shown is greyed where it is the shown run's, and not that on screen. The other is another's
  // anyway.
  std::vector<LaneWish> both{wishOf(*other), wishOf(*shown)};
  both.front().ofOtherPlan = false;
  return both;
}

void RibbonSource::follow() {
  const auto snapshot = m_context.document.snapshot();
  if (!m_onScreen || snapshot == nullptr) return;
  std::vector<LaneWish> wanted = wishes();
  const bool same = m_wishedWidth == m_width && wanted.size() == m_wishes.size() &&
                    std::equal(wanted.begin(), wanted.end(), m_wishes.begin(), sameLane);
  if (!same) make(std::move(wanted));
}

void RibbonSource::make(std::vector<LaneWish> wishes) {
  m_wishes = wishes;
  m_wishedWidth = m_width;
  m_making = true;
  struct Made {
    MadePicture picture;
    LaneColors colors;
  };
  const auto work = [wishes, width = m_width, fonts = m_fonts, mode = m_mode, theme = m_theme](const StopToken& stop) {
    Made made{makePicture(wishes, width, fonts, stop), {}};
    made.colors = colorsOf(*made.picture.picture, *mode, theme);
    return made;
  };
  const auto take = [this, mode = m_mode, kind = m_theme.kind](const Made& made) {
    m_making = false;
    m_picture = made.picture.picture;
    m_colors = made.colors;
    m_problem = m_missing.isEmpty() ? made.picture.problem : m_missing;
    for (LaneWish& wish : m_wishes) {
      const auto plan = made.picture.plans.find(wish.run);
      if (plan == made.picture.plans.end()) continue;
      m_plans.insert_or_assign(wish.run, KnownPlan{*wish.planned, plan->second});
      wish.snapshot = plan->second;
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
