#include "ui/docks/error_html.h"

#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kMostPinned = 4;  ///< the largest number of nodes whose names are in a link

QString factsOf(const ShownError& shown, Which which, double bound, const QString& unknown, const Theme& theme) {
  const auto& error = shown.errors.*which;
  if (!error) return QStringLiteral("<span style='color:%1'>%2</span>").arg(theme.dimText.name(), unknown);
  const QString facts = errorFactsText(*error).toHtmlEscaped();
  return isWrong(levelOf(shown, which, bound))
             ? QStringLiteral("<span style='color:%1'>✗ %2</span>").arg(theme.error.name(), facts)
             : facts;
}

}  // namespace

QString fixHtml(const OfferedFix* fix, const Theme& theme) {
  const auto dim = [&](const QString& text) {
    return QStringLiteral("<span style='color:%1'>%2</span>").arg(theme.dimText.name(), text);
  };
  if (fix == nullptr) return dim(QStringLiteral("Checking whether a pin helps …"));
  if (fix->pins.empty()) {
    return dim(QStringLiteral("No pin near it helps.")) + QStringLiteral(" <a href='do:tune'>Tune…</a> ") +
           dim(QStringLiteral("looks at the whole network."));
  }
  QStringList names;
  for (const Directive& pin : fix->pins) names << html(pin.pattern);
  const QString what = names.size() <= kMostPinned
                           ? names.join(QStringLiteral(", "))
                           : QStringLiteral("%1 and %2 more").arg(names.front()).arg(names.size() - 1);
  return QStringLiteral("<a href='do:fix'>Pin %1 to %2</a>").arg(what, qs(fix->pins.front().type)) +
         dim(QStringLiteral(": ") + html(fix->effect));
}

QString errorsHtml(const Runs& runs, const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes,
                   const QString& remedy, const Theme& theme) {
  const ShownErrors errors = runs.layerErrors();
  const FusedNode* fused = nodes.empty() ? nullptr : snapshot.fusedOf(nodes.front());
  const bool together =
      fused != nullptr && std::ranges::all_of(nodes, [&](NodeId node) { return snapshot.fusedOf(node) == fused; });
  if (!together || errors.made.isEmpty()) return {};
  const ShownError error = errors.find(handleOf(*fused));
  if (error.kind == ErrorKind::Unknown) return {};
  const bool other = error.kind == ErrorKind::OfOtherPlan;
  const bool culprit = isWrong(levelOf(error, &LocalAndCarried::local, errors.bound));
  const bool wrong = culprit || isWrong(levelOf(error, &LocalAndCarried::carried, errors.bound));
  Rows rows(theme);
  rows.add(QStringLiteral("local"),
           factsOf(error, &LocalAndCarried::local, errors.bound, QStringLiteral("not measured"), theme));
  rows.add(QStringLiteral("carried"),
           factsOf(error, &LocalAndCarried::carried, errors.bound,
                   other ? QStringLiteral("unknown for this plan: it depends on everything before it")
                         : QStringLiteral("not measured"),
                   theme));
  QString text = heading(QStringLiteral("Error of its kernel against %1").arg(errors.against), theme) + rows.text();
  text += QStringLiteral("<div style='color:%1'><b>%2</b></div>")
              .arg((wrong ? theme.error : theme.text).name(), roleText(error, errors.bound).toHtmlEscaped());
  if (!other && culprit && !remedy.isEmpty()) text += QStringLiteral("<div>%1</div>").arg(remedy);
  text += QStringLiteral("<p style='color:%1; margin:0 0 10px 0'>%2%3; allowed is %4 %5.</p>")
              .arg((errors.random ? theme.warning : theme.dimText).name(), errors.made.toHtmlEscaped(),
                   other ? QStringLiteral(", a run of another plan") : QString(), errorText(errors.bound),
                   error.errors.ofCodes() ? QStringLiteral("in relative L2, because it is stored as codes")
                                          : QStringLiteral("of rms"));
  return text;
}

}  // namespace fusescope
