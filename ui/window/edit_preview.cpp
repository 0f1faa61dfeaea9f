#include "ui/window/edit_preview.h"

#include "base/quantities.h"
#include "planning/types/explanations.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kRestMs = 80;
constexpr int kFootWidth = 340, kFootLines = 4;
constexpr int kMostNamed = 2;

/// Returns a text such as "Conv_1 + Relu, Conv_2 + Relu and 3 more".
QString someOf(const std::vector<std::string>& names) {
  QStringList first;
  for (const std::string& name : names)
    if (first.size() < kMostNamed) first << qs(name);
  const auto more = static_cast<std::int64_t>(names.size()) - first.size();
  return first.join(QStringLiteral(", ")) + (more > 0 ? QStringLiteral(" and %1 more").arg(more) : QString());
}

QString timeChange(const Plan& now, const Plan& tried) {
  if (!now.predictedMs || !tried.predictedMs) return QStringLiteral("Time unknown: some kernels were never measured.");
  return QStringLiteral("%1 of %2, predicted")
      .arg(signedMsText(*tried.predictedMs - *now.predictedMs), msText(now.predictedMs));
}

bool isRefusal(DirectiveOutcome outcome) {
  return outcome == DirectiveOutcome::Refused || outcome == DirectiveOutcome::NotHonoured ||
         outcome == DirectiveOutcome::Overridden || outcome == DirectiveOutcome::Nothing;
}

/// Returns the refusals that the plan on screen does not contain.
QStringList newRefusals(const PlanSnapshot& tried) {
  QStringList refusals;
  for (const DirectiveAnswer& answer : tried.plan->answers) {
    const auto& fresh = tried.delta.newAnswers;
    if (isRefusal(answer.outcome) && std::ranges::find(fresh, answer.decision) != fresh.end())
      refusals << inWindowWords(tried.plan->decisions[answer.decision]);
  }
  return refusals;
}

/// Returns the text if all newly requested types are satisfied for free; no times are needed to know this.
std::optional<QString> freePins(const PlanSnapshot& tried) {
  bool any = false;
  for (const DirectiveAnswer& answer : tried.plan->answers) {
    const auto& fresh = tried.delta.newAnswers;
    if (std::ranges::find(fresh, answer.decision) == fresh.end()) continue;
    if (answer.outcome == DirectiveOutcome::Price || isRefusal(answer.outcome)) return std::nullopt;
    any = any || answer.outcome == DirectiveOutcome::Free;
  }
  return any ? std::optional(QStringLiteral("Free: no kernel is split, and no conversion is added.")) : std::nullopt;
}

}  // namespace

QString previewText(const PlanSnapshot& now, const PlanSnapshot& tried) {
  const PlanDelta& delta = tried.delta;
  QStringList lines = newRefusals(tried).mid(0, 1);
  if (delta.retyped.empty() && delta.fusedNodes == 0 && delta.fusionsLost.empty() && delta.fusionsGained.empty() &&
      delta.castsAdded.empty() && delta.castsRemoved.empty() && delta.segments == 0) {
    if (lines.isEmpty()) lines << QStringLiteral("Nothing in the plan changes.");
    return lines.join(QLatin1Char('\n'));
  }
  const std::optional<QString> free = freePins(tried);
  if (free) lines << *free;
  if (!free || (now.plan->predictedMs && tried.plan->predictedMs)) lines << timeChange(*now.plan, *tried.plan);
  QStringList counts;
  if (delta.fusedNodes != 0) counts << qs(inCountDifference(delta.fusedNodes, "kernel"));
  const auto casts =
      static_cast<std::int64_t>(delta.castsAdded.size()) - static_cast<std::int64_t>(delta.castsRemoved.size());
  if (casts != 0) counts << qs(inCountDifference(casts, "conversion"));
  if (delta.castBytes != 0) counts << QStringLiteral("conversions move ") + qs(inBytesDifference(delta.castBytes));
  if (!delta.retyped.empty())
    counts << plural(static_cast<std::int64_t>(delta.retyped.size()), QStringLiteral("node")) +
                  QStringLiteral(" in another type");
  if (!counts.isEmpty()) lines << counts.join(QStringLiteral(" · "));
  if (!delta.fusionsLost.empty()) lines << QStringLiteral("Split: ") + someOf(delta.fusionsLost);
  if (!delta.fusionsGained.empty()) lines << QStringLiteral("Formed: ") + someOf(delta.fusionsGained);
  return lines.join(QLatin1Char('\n'));
}

EditPreview::EditPreview(QMenu& menu, const DockContext& context)
    : QObject(&menu), m_menu(menu), m_context(context), m_label(new QLabel), m_foot(new QWidgetAction(&menu)) {
  m_label->setWordWrap(true);
  m_label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_label->setTextFormat(Qt::PlainText);
  m_label->setFixedWidth(kFootWidth);
  m_label->setContentsMargins(22, 6, 10, 6);
  // The text is drawn legibly, although the entry is disabled so that the keyboard skips it.
  m_label->setStyleSheet(
      QStringLiteral("color: %1;").arg(menu.palette().color(QPalette::Active, QPalette::Text).name()));
  m_label->setFixedHeight(m_label->fontMetrics().lineSpacing() * kFootLines + 12);
  m_foot->setDefaultWidget(m_label);
  m_foot->setEnabled(false);
  m_wait.setSingleShot(true);
  m_wait.setInterval(kRestMs);
  connect(&m_wait, &QTimer::timeout, this, [this] { ask(m_asked); });
  connect(&menu, &QMenu::hovered, this, [this](QAction* action) {
    m_asked = action;
    m_wait.start();
  });
  connect(&menu, &QMenu::aboutToHide, this, [this] {
    m_wait.stop();
    m_context.document.cancelTry();
  });
}

void EditPreview::add(QAction* action, Directives changed) {
  m_changed.insert_or_assign(action, std::move(changed));
}

void EditPreview::finish() {
  m_menu.addSeparator();
  m_menu.addAction(m_foot);
  say(QStringLiteral("The effect of the highlighted entry appears here."));
}

void EditPreview::say(const QString& text) {
  m_label->setText(text);
  m_label->setAccessibleName(text);
}

void EditPreview::ask(QAction* action) {
  const auto found = m_changed.find(action);
  if (found == m_changed.end()) return;
  if (!action->isEnabled()) {
    m_context.document.cancelTry();
    return say(action->data().toString());
  }
  say(action->text() + QStringLiteral(": …"));
  m_context.document.tryDirectives(found->second, this,
                                   [this, entry = action->text()](const auto& tried) { answer(entry, tried); });
}

void EditPreview::answer(const QString& entry, const Result<std::shared_ptr<const PlanSnapshot>>& tried) {
  if (!tried.ok()) return say(entry + QStringLiteral(": ") + problemInWords(tried.error()));
  const auto now = m_context.document.snapshot();
  if (now) say(entry + QStringLiteral(": ") + previewText(*now, *tried.value()));
}

}  // namespace fusescope
