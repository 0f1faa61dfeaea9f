#include "ui/docks/error_html.h"

#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

QString factsOf(const ShownError& shown, Which which, double bound, const QString& unknown, const Theme& theme) {
  const auto& error = shown.errors.*which;
  if (!error) return QStringLiteral("<span style='color:%1'>%2</span>").arg(theme.dimText.name(), unknown);
  const QString facts = errorFactsText(*error).toHtmlEscaped();
  return isWrong(levelOf(shown, which, bound))
             ? QStringLiteral("<span style='color:%1'>✗ %2</span>").arg(theme.error.name(), facts)
             : facts;
}

bool isLowered(const PlanSnapshot& snapshot, NodeId node) {
  const PrecisionGrant* grant = snapshot.grantOf(node);
  return grant != nullptr && isFloat(grant->granted) && grant->granted != DataType::F32;
}

/// What can be done about a culprit that is selected; nothing where all of it calculates in f32 already.
QString remedy(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes) {
  if (std::ranges::none_of(nodes, [&](NodeId node) { return isLowered(snapshot, node); })) return {};
  const QString what = nodes.size() == 1
                           ? qs(snapshot.graph().node(nodes.front()).name)
                           : QStringLiteral("all ") + plural(static_cast<std::int64_t>(nodes.size()), "node");
  return QStringLiteral("<div><a href='do:pin'>Pin %1 to f32</a></div>").arg(what.toHtmlEscaped());
}

}  // namespace

QString errorsHtml(const Runs& runs, const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes,
                   const Theme& theme) {
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
                   other ? QStringLiteral("not known of this plan: it depends on all that comes before")
                         : QStringLiteral("not measured"),
                   theme));
  QString text = heading(QStringLiteral("Error of its kernel against %1").arg(errors.against), theme) + rows.text();
  text += QStringLiteral("<div style='color:%1'><b>%2</b></div>")
              .arg((wrong ? theme.error : theme.text).name(), roleText(error, errors.bound).toHtmlEscaped());
  if (!other && culprit) text += remedy(snapshot, nodes);
  text += QStringLiteral("<p style='color:%1; margin:0 0 10px 0'>%2%3; allowed is %4 %5.</p>")
              .arg((errors.random ? theme.warning : theme.dimText).name(), errors.made.toHtmlEscaped(),
                   other ? QStringLiteral(", a run of another plan") : QString(), errorText(errors.bound),
                   error.errors.ofCodes() ? QStringLiteral("in relative L2, for it stands as codes")
                                          : QStringLiteral("of rms"));
  return text;
}

}  // namespace fusescope
