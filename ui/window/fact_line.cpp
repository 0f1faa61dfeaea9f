#include "ui/window/fact_line.h"

#include <QResizeEvent>

#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/shown_time.h"
#include "ui/widgets/elided_label.h"

namespace fusescope {

namespace {

constexpr int kPadding = 20;         ///< the padding on both sides of a button that looks like a link
constexpr int kLeastLineWidth = 60;  ///< more than the width of an ellipsis

}  // namespace

FactLine::FactLine(const PlanDocument& document, const RunController& controller, BackgroundBuilds& builds,
                   QWidget* parent)
    : QPushButton(parent), m_document(document), m_controller(controller), m_builds(builds) {
  setObjectName(QStringLiteral("factLine"));
  setProperty("link", true);
  setFlat(true);
  setAutoDefault(false);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
  connect(this, &QPushButton::clicked, this, &FactLine::act);
  connect(&document, &PlanDocument::planChanged, this, &FactLine::refresh);
  connect(&document, &PlanDocument::optionsChanged, this, &FactLine::refresh);
  connect(&builds, &BackgroundBuilds::changed, this, &FactLine::refresh);
  hide();
}

QString FactLine::offText() const {
  const auto last = m_builds.lastBuildMs();
  const QString why =
      !m_builds.chosen() && last ? QStringLiteral(", since its last build took %1").arg(msText(*last)) : QString();
  return QStringLiteral("Plans are not built while you edit%1. Click to have them built.").arg(why);
}

void FactLine::count() {
  const auto snapshot = m_document.snapshot();
  if (std::exchange(m_counted, snapshot) == snapshot) return;
  m_predicted = predictedKernels(*snapshot->plan);
  m_check =
      snapshot->made() == nullptr ? std::nullopt : std::optional(checkPrediction(*snapshot->plan, *snapshot->made()));
  std::vector<ShownTime> times;
  for (const FusedNode& fused : snapshot->plan->fusedNodes) times.push_back(timeWithoutRun(*snapshot->plan, fused));
  m_predictedTime = timeText(sumOf(times));
}

QString FactLine::ownTip(const BackgroundBuilds::OwnBuild& built) const {
  QString tip = QStringLiteral(
                    "The plan on screen was built in the background in %1 s: of %2 regions, %3 were compiled and %4 "
                    "measured, equal ones counted once, and %5 were taken over from earlier builds. ")
                    .arg(built.seconds, 0, 'f', 2)
                    .arg(built.regions)
                    .arg(built.compiled)
                    .arg(built.measured)
                    .arg(built.takenOver);
  if (built.time->medianMs)
    tip += QStringLiteral("The time is the median of %1 at %2%3. ")
               .arg(plural(built.time->samples, QStringLiteral("inference")), built.when,
                    built.time->quiet ? QString() : QStringLiteral(", while other work disturbed the machine"));
  return tip + QStringLiteral("A click shows the times of the layers.");
}

void FactLine::refreshOwn() {
  const QString predicted = QStringLiteral("predicted %1").arg(m_predictedTime);
  const QString untilThen =
      QStringLiteral("The times on screen are predicted until this plan has been built and timed.");
  switch (m_builds.state()) {
    case BackgroundBuilds::State::Waiting:
      return say({QStringLiteral("%1 · builds next …").arg(predicted)}, untilThen, false);
    case BackgroundBuilds::State::Building:
      return say({QStringLiteral("%1 · building …").arg(predicted)}, untilThen, false);
    case BackgroundBuilds::State::Timing:
      return say({QStringLiteral("%1 · timing …").arg(predicted)}, untilThen, false);
    case BackgroundBuilds::State::Failed:
      return say({QStringLiteral("%1 · ✗ not built: %2").arg(predicted, m_builds.problem())}, m_builds.problem(), true);
    case BackgroundBuilds::State::Made: {
      const BackgroundBuilds::OwnBuild* built = m_builds.ownBuild();
      if (built == nullptr) return hide();
      const auto& time = built->time->medianMs;
      if (!time)
        return say({QStringLiteral("%1 · no time: %2").arg(predicted, qs(built->time->unavailableReason))},
                   ownTip(*built), true);
      const QString measured = QStringLiteral("%1 · measured %2").arg(predicted, msText(*time));
      return say({QStringLiteral("%1 at %2").arg(measured, built->when), measured}, ownTip(*built), true);
    }
    case BackgroundBuilds::State::None:
    case BackgroundBuilds::State::Off:
      return hide();
  }
}

void FactLine::refresh() {
  const auto snapshot = m_document.snapshot();
  const BackgroundBuilds::State state = m_builds.state();
  if (!snapshot || state == BackgroundBuilds::State::None) return hide();
  if (m_builds.isOwn() && state == BackgroundBuilds::State::Off) return hide();
  count();
  if (m_builds.isOwn()) return refreshOwn();
  const QString compiler = qs(m_document.options().compiler), predicted = predictedWords(m_predicted);
  const auto beside = [&](const QString& words) {
    return m_predicted == 0 ? words : QStringLiteral("%1 · %2").arg(predicted, words);
  };
  switch (state) {
    case BackgroundBuilds::State::Off:
      say({beside(QStringLiteral("%1 is not asked").arg(compiler))}, offText(), true);
      break;
    case BackgroundBuilds::State::Waiting: {
      const QString refusal = m_controller.compileRefusal();
      say({beside(refusal.isEmpty() ? QStringLiteral("%1 builds next …").arg(compiler) : refusal)}, refusal, false);
      break;
    }
    case BackgroundBuilds::State::Timing:
    case BackgroundBuilds::State::Building:
      say({beside(QStringLiteral("%1 is building …").arg(compiler))},
          QStringLiteral("What is on screen is our prediction until %1 has built the plan.").arg(compiler), false);
      break;
    case BackgroundBuilds::State::Failed:
      say({beside(QStringLiteral("✗ %1: %2").arg(compiler, m_builds.problem()))}, m_builds.problem(), true);
      break;
    case BackgroundBuilds::State::Made:
      say(predictedAndMade(*m_check, snapshot->made()->compiler),
          countsText(*m_check, snapshot->made()->compiler) + QStringLiteral(" Click to see the two side by side."),
          true);
      break;
    case BackgroundBuilds::State::None:
      break;
  }
}

void FactLine::say(const QStringList& texts, const QString& tip, bool canBeClicked) {
  m_texts = texts;
  // The tool tip is made rich text, because plain text is not wrapped.
  setToolTip(tip.isEmpty() ? QString() : QStringLiteral("<p>%1</p>").arg(tip.toHtmlEscaped()));
  setAccessibleName(texts.front());
  setAccessibleDescription(tip);
  setEnabled(canBeClicked);
  setFocusPolicy(canBeClicked ? Qt::StrongFocus : Qt::NoFocus);
  elide();
  updateGeometry();
  show();
}

void FactLine::act() {
  switch (m_builds.state()) {
    case BackgroundBuilds::State::Made:
      if (m_builds.isOwn()) return emit timesWanted();
      return emit differencesWanted();
    case BackgroundBuilds::State::Failed:
      return emit problemWanted(m_builds.problem());
    case BackgroundBuilds::State::Off:
      return m_builds.choose(true);
    default:
      return;
  }
}

/// Returns the height of a label, for which the status bar keeps room even while this one is hidden.
int FactLine::lineHeight() const {
  return fontMetrics().height() + 2;
}

QSize FactLine::sizeHint() const {
  return {fontMetrics().horizontalAdvance(words()) + kPadding, lineHeight()};
}

QSize FactLine::minimumSizeHint() const {
  return {kLeastLineWidth, lineHeight()};
}

void FactLine::resizeEvent(QResizeEvent* event) {
  QPushButton::resizeEvent(event);
  elide();
}

void FactLine::elide() {
  setText(fitting(m_texts, fontMetrics(), std::max(width(), kLeastLineWidth) - kPadding));
}

}  // namespace fusescope
