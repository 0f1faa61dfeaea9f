// The part of the Inspector that compares what several compilers made, of a node and of the whole network.
#include <algorithm>

#include "base/quantities.h"
#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/inspector_parts.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/made_words.h"
#include "ui/document/prediction_check.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Returns the formats that a kernel reads and writes, such as "nchw → NCHWc16"; empty if they are not reported.
QString formatsText(const ReadBackPlan::Kernel& kernel) {
  const auto formatsOf = [](const std::vector<KernelValue>& values) {
    QStringList formats;
    for (const KernelValue& value : values)
      if (!value.format.empty()) formats << qs(value.format);
    formats.removeDuplicates();
    return formats.join(QStringLiteral(", "));
  };
  const QString in = formatsOf(kernel.inputs), out = formatsOf(kernel.outputs);
  if (in.isEmpty() || out.isEmpty() || in == out) return in.isEmpty() ? out : in;
  return QStringLiteral("%1 → %2").arg(in, out);
}

/// Returns a line such as "fused_conv_0 · conv with 2 nodes · f32 · nchw · 0.25 ms", followed by how it is known that
/// the kernel contains the node.
QString kernelLine(const KnownPlan& known, const FusedNode& fused, NodeId node, const Theme& theme) {
  const ReadBackPlan::Kernel& kernel = known.made->kernels[fused.id.index];
  QStringList parts{QStringLiteral("<b>%1</b>").arg(html(fused.name)), typeBadge(fused.compute, theme)};
  if (fused.nodes.size() > 1)
    parts.insert(1, QStringLiteral("with %1 more")
                        .arg(plural(static_cast<std::int64_t>(fused.nodes.size()) - 1, QStringLiteral("node"))));
  if (const QString formats = formatsText(kernel); !formats.isEmpty()) parts << formats.toHtmlEscaped();
  const auto measured = known.time ? measuredMs(*std::as_const(known.time), fused) : std::nullopt;
  if (measured)
    parts << timeText({TimeKind::Measured, *measured});
  else if (kernel.ms)
    parts << timeText({TimeKind::Reported, *kernel.ms});
  const auto certainty = certaintyOf(*known.made, &fused, node);
  return parts.join(QStringLiteral(" · ")) +
         (certainty ? QStringLiteral("<br>") + dim(certaintyText(*certainty), theme) : QString());
}

QString pinLine(const ReadBackPin& pin, const Theme& theme) {
  const QString why = pin.why.empty() ? QString() : QStringLiteral(" ") + dim(qs(pin.why), theme);
  return QStringLiteral("pin %1: <b>%2</b>, has %3%4")
      .arg(badge(pin.asked, theme), pinResultText(pin.result),
           typeBadge(pin.granted.value_or(DataType::Undefined), theme), why);
}

/// Returns what one compiler made of the node with this name.
QString madeOfNode(const KnownPlan& known, const std::string& name, const Theme& theme) {
  const auto node = known.made->graph().findNode(name);
  if (!node) return dim(QStringLiteral("its network has no such node"), theme);
  QStringList lines;
  for (const FusedNodeId id : known.made->kernelsOf(*node))
    lines << kernelLine(known, known.made->fusedNodes[id.index], *node, theme);
  if (lines.isEmpty()) lines << fateText(known.made->fateOf(*node));
  for (const ReadBackPin& pin : known.made->pins)
    if (pin.node == *node) lines << pinLine(pin, theme);
  return lines.join(QStringLiteral("<br>"));
}

/// Returns what our own plan does with the node.
QString plannedOfNode(const Plan& plan, NodeId node, const Theme& theme) {
  const FusedNode* fused = plan.fusedNodeOf(node);
  if (fused == nullptr) return undisclosed();
  QStringList parts{QStringLiteral("<b>%1</b>").arg(html(fused->kind)), typeBadge(plan.calculates[node.index], theme)};
  if (fused->nodes.size() > 1)
    parts.insert(1, QStringLiteral("with %1 more")
                        .arg(plural(static_cast<std::int64_t>(fused->nodes.size()) - 1, QStringLiteral("node"))));
  if (plan.calculates[node.index] == DataType::Undefined) parts.removeLast();
  if (plan.inFallback(*fused)) parts << QStringLiteral("falls back to our own engine");
  return parts.join(QStringLiteral(" · "));
}

}  // namespace

QString knownPlansText(const PlanSnapshot& snapshot, NodeId node, const std::vector<KnownPlan>& known,
                       const Theme& theme) {
  if (known.empty()) return {};
  const auto row = [&](const QString& who, const QString& note, const QString& what) {
    return QStringLiteral("<div style='margin-bottom:6px'>%1 %2<br>%3</div>")
        .arg(QStringLiteral("<u>%1</u>").arg(who.toHtmlEscaped()), dim(note, theme), what);
  };
  QString text = heading(QStringLiteral("What each compiler made of it"), theme);
  const bool predicts = snapshot.plan->options.compiler != kOwnCompiler;
  text += row(QStringLiteral("our plan"), predicts ? QStringLiteral("predicts") : QString(),
              plannedOfNode(*snapshot.plan, node, theme));
  const std::string& name = snapshot.graph().node(node).name;
  for (const KnownPlan& one : known)
    text += row(one.title(), one.ofThisPlan ? QString() : QStringLiteral("of a plan with other options or directives"),
                madeOfNode(one, name, theme));
  return text;
}

QString agreementText(const PlanSnapshot& snapshot, const Theme& theme) {
  const ReadBackPlan* made = snapshot.made();
  if (made == nullptr) return {};
  const PredictionCheck check = checkPrediction(*snapshot.plan, *made);
  const Agreement& agreement = check.agreement;
  const auto number = [](std::int64_t count) { return qs(inThousands(count)); };
  Rows rows(theme);
  rows.add(QStringLiteral("edges"), QStringLiteral("%1 counted: both ends have a kernel of %2")
                                        .arg(number(agreement.edges), compilerTitle(made->compiler).toHtmlEscaped()));
  rows.add(QStringLiteral("share a kernel"),
           QStringLiteral("%1 by our prediction, %2 in fact, %3 by both")
               .arg(number(agreement.predicted), number(agreement.made), number(agreement.both)));
  const auto share = [&](const QString& key, const std::optional<double>& value, const QString& words) {
    rows.add(key, QStringLiteral("<b>%1</b> %2").arg(shareText(value), dim(words, theme)));
  };
  share(QStringLiteral("precision"), agreement.precision(),
        QStringLiteral("of the edges that we predicted inside one kernel, the share that is"));
  share(QStringLiteral("recall"), agreement.recall(),
        QStringLiteral("of the edges that are inside one kernel, the share that we predicted"));
  share(QStringLiteral("F1"), agreement.f1(), QStringLiteral("both in one number: 1 is a perfect prediction"));
  if (const std::string types = storedTypesText(agreement); !types.empty())
    rows.add(QStringLiteral("types in memory"), qs(types).toHtmlEscaped());
  return heading(QStringLiteral("Prediction and fact"), theme) +
         QStringLiteral("<div style='margin-bottom:4px'>%1</div>")
             .arg(countsText(check, made->compiler).toHtmlEscaped()) +
         rows.text();
}

}  // namespace fusescope
