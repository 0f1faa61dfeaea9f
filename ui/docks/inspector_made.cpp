// The part of the Inspector about what another compiler made.
#include <algorithm>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/inspector_parts.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Returns a link to the kernel with the name that its compiler gave it.
QString kernelLink(const FusedNode& fused) {
  return QStringLiteral("<a href='node:%1'>%2</a>").arg(qs(handleOf(fused)), html(fused.name));
}

/// Adds the kernel's region and its place in the order of execution.
void addPlace(Rows& rows, const PlanSnapshot& snapshot, const FusedNode& fused) {
  const ReadBackPlan::Kernel& kernel = snapshot.made()->kernels[fused.id.index];
  if (!kernel.region.empty()) rows.add(QStringLiteral("region"), html(kernel.region));
  if (!kernel.optimiser.empty()) rows.add(QStringLiteral("optimiser"), html(kernel.optimiser));
  if (kernel.once) rows.add(QStringLiteral("runs"), QStringLiteral("once, when the network is prepared"));
}

/// Returns the values that a kernel reads or writes, each with its type and format.
QString valuesText(const PlanSnapshot& snapshot, const std::vector<KernelValue>& values, const QString& title,
                   const Theme& theme) {
  if (values.empty()) return {};
  Rows rows(theme);
  std::size_t listed = 0;
  for (const KernelValue& value : values) {
    if (++listed > kMostListed) break;
    const QString name = value.value.valid() ? nodeLink(snapshot.graph().value(value.value).name)
                                             : QStringLiteral("none of the network's");
    const QString format = value.format.empty() ? QString() : QStringLiteral(" · ") + html(value.format);
    rows.add(name, typeBadge(value.type, theme) + format);
  }
  if (values.size() > kMostListed)
    rows.add(QStringLiteral("…"), QStringLiteral("and %1 more").arg(values.size() - kMostListed));
  return heading(title, theme) + rows.text();
}

/// Returns the types that were requested for the node, and what the compiler did with them.
QString pinsOf(const ReadBackPlan& made, NodeId node, const Theme& theme) {
  QString text;
  for (const ReadBackPin& pin : made.pins) {
    if (pin.node != node) continue;
    const DataType granted = pin.granted.value_or(DataType::Undefined);
    text += QStringLiteral("<div>asked for %1, has %2: <b>%3</b> %4</div>")
                .arg(badge(pin.asked, theme), typeBadge(granted, theme), pinResultText(pin.result),
                     dim(qs(pin.why), theme));
  }
  return text.isEmpty() ? text : heading(QStringLiteral("What the compiler made of pins"), theme) + text;
}

/// Returns whether the compiler accepts the node, in its own words.
QString supportText(const ReadBackPlan& made, const std::string& node) {
  const auto said = std::ranges::find(made.support, node, &NodeSupport::node);
  if (said == made.support.end() || !said->isAccepted) return undisclosed();
  if (*said->isAccepted) return QStringLiteral("accepted by the compiler");
  const QString when = said->foundBy == SupportSource::Parser ? QStringLiteral("refused, when it was asked")
                                                              : QStringLiteral("refused, when it compiled");
  return said->message.empty() ? when : QStringLiteral("%1: %2").arg(when, html(said->message));
}

}  // namespace

QString madeNodeText(const PlanSnapshot& snapshot, NodeId node, const Theme& theme) {
  const ReadBackPlan* made = snapshot.made();
  if (made == nullptr) return {};
  Rows rows(theme);
  rows.add(QStringLiteral("became"), fateText(made->fateOf(node)));
  const std::vector<const FusedNode*> kernels = snapshot.kernelsOf(node);
  for (const FusedNode* fused : kernels) {
    const auto certainty = certaintyOf(*made, fused, node);
    const QString label = kernels.size() == 1 ? QStringLiteral("kernel") : QStringLiteral("one of its kernels");
    const QString nodes = plural(static_cast<std::int64_t>(fused->nodes.size()), QStringLiteral("node"));
    rows.add(label, QStringLiteral("%1 (%2, %3) %4")
                        .arg(kernelLink(*fused), html(fused->kind), nodes,
                             certainty ? dim(certaintyText(*certainty), theme) : QString()));
    if (fused->nodes.size() == 1) addPlace(rows, snapshot, *fused);
  }
  rows.add(QStringLiteral("support"), supportText(*made, snapshot.graph().node(node).name));
  QString text = heading(QStringLiteral("Made by %1").arg(compilerTitle(made->compiler).toHtmlEscaped()), theme) +
                 rows.text() + pinsOf(*made, node, theme);
  if (kernels.size() != 1 || kernels.front()->nodes.size() != 1) return text;
  const ReadBackPlan::Kernel& kernel = made->kernels[kernels.front()->id.index];
  return text + valuesText(snapshot, kernel.inputs, QStringLiteral("Its kernel reads"), theme) +
         valuesText(snapshot, kernel.outputs, QStringLiteral("Its kernel writes"), theme);
}

QString madeKernelText(const PlanSnapshot& snapshot, const FusedNode& fused, const ShownKernelTime& time,
                       const Theme& theme) {
  const ReadBackPlan& made = *snapshot.made();
  const ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
  const QString what = fused.nodes.empty()
                           ? QStringLiteral(
                                 "kernel without nodes of the network: it moves or prepares "
                                 "something")
                           : QStringLiteral("kernel of %1")
                                 .arg(plural(static_cast<std::int64_t>(fused.nodes.size()), QStringLiteral("node")));
  const QString kind = fused.kind.empty() ? QString() : QStringLiteral(" · ") + html(fused.kind);
  QString text = title(html(fused.name), what + kind, theme);
  Rows summary(theme);
  summary.add(QStringLiteral("made by"), compilerTitle(made.compiler).toHtmlEscaped());
  if (!made.compiler.environment.empty()) summary.add(QStringLiteral("in"), html(made.compiler.environment));
  summary.add(QStringLiteral("computes in"), typeBadge(fused.compute, theme));
  addPlace(summary, snapshot, fused);
  if (const Segment* segment = snapshot.segmentOf(fused)) addSegment(summary, *snapshot.cover, *segment);
  addTime(summary, fused, time, QStringLiteral("time"), theme);
  text += summary.text() + pinsText(snapshot, fused.nodes, theme);
  if (!fused.nodes.empty()) text += heading(QStringLiteral("Nodes"), theme);
  for (const NodeId node : fused.nodes) {
    const auto certainty = certaintyOf(made, &fused, node);
    text += QStringLiteral("<div>%1 %2 %3</div>")
                .arg(nodeLink(snapshot.graph().node(node).name), dim(qs(snapshot.graph().node(node).op), theme),
                     certainty ? dim(QStringLiteral("· ") + certaintyText(*certainty), theme) : QString());
  }
  return text + valuesText(snapshot, kernel.inputs, QStringLiteral("Reads"), theme) +
         valuesText(snapshot, kernel.outputs, QStringLiteral("Writes"), theme) + whyFusedText(snapshot, fused, theme);
}

}  // namespace fusescope
