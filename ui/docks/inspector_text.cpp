#include "ui/docks/inspector_text.h"

#include <map>
#include <set>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "session/artifact.h"
#include "session/documents/decisions_about.h"
#include "session/inspect.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/inspector_parts.h"
#include "ui/document/directive_edits.h"
#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"

namespace fusescope {

void addSegment(Rows& rows, const Cover& cover, const Segment& segment) {
  rows.add(QStringLiteral("runs in"),
           QStringLiteral("%1, %2 on %3")
               .arg(nodeLink(segment.name), qs(name(segment.kind)), runsOn(cover, segment).toHtmlEscaped()));
}

static QString fusedFactsText(const PlanSnapshot& snapshot, const FusedNode& fused, const Theme& theme) {
  const Cover& cover = *snapshot.cover;
  Rows rows(theme);
  if (const QString types = mixedText(cover, fused, theme); !types.isEmpty())
    rows.add(QStringLiteral("mixes types"), types);
  if (const QString predicted = predictionText(cover, fused, theme); !predicted.isEmpty())
    rows.add(QStringLiteral("fusion"), predicted);
  if (const Segment* segment = snapshot.segmentOf(fused)) addSegment(rows, cover, *segment);
  rows.add(QStringLiteral("work"),
           QStringLiteral("%1 FLOPs, %2 moved").arg(countText(fused.flops), bytesText(fused.bytes)));
  addRange(rows, fused.range ? &*fused.range : nullptr);
  return heading(QStringLiteral("Facts"), theme) + rows.text();
}

/// Returns the nodes of the kernel and the values between them.
static QString fusedContentText(const PlanSnapshot& snapshot, const FusedNode& fused, const Theme& theme) {
  const Cover& cover = *snapshot.cover;
  const Graph& graph = cover.graph();
  QString text = heading(QStringLiteral("Nodes"), theme);
  for (const NodeId node : fused.nodes) {
    const DataType type = cover.inFallback(fused) ? DataType::Undefined : cover.calculates[node.index];
    text += QStringLiteral("<div>%1 <span style='color:%2'>%3</span> %4</div>")
                .arg(nodeLink(graph.node(node).name), theme.dimText.name(), html(graph.node(node).op),
                     type == fused.compute ? QString() : badge(type, theme));
  }
  if (fused.innerEdges.empty()) return text;
  Rows edges(theme);
  for (const InnerEdge& edge : fused.innerEdges)
    edges.add(html(graph.value(edge.value).name), edgeText(fused, edge, theme));
  return text + heading(QStringLiteral("Inner values"), theme) + edges.text();
}

/// What is wrong, refused or slow, and the reasons, come before the contents.
QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const ShownKernelTime& time,
                  const SelectionAnswers* answers, const Theme& theme) {
  if (snapshot.made() != nullptr && !snapshot.made()->kernels[fused.id.index].isOurs)
    return madeKernelText(snapshot, fused, time, theme);
  const QString text = title(html(snapshot.graph().node(PlanSnapshot::mainNodeOf(fused)).name),
                             QStringLiteral("fused node of %1 · %2")
                                 .arg(plural(static_cast<std::int64_t>(fused.nodes.size()), "node"), html(fused.kind)),
                             theme);
  Rows first(theme);
  first.add(QStringLiteral("computes in"),
            badge(fused.compute, theme) + QStringLiteral(" accumulates in ") + badge(fused.accumulate, theme));
  addTimeAndShare(first, fused, time, QStringLiteral("time"), answers, theme);
  const QString unknown = timeUnknownReason(snapshot.requestedPlan(), fused.compute);
  if (!time.time.known() && !fused.predictedMs && !unknown.isEmpty())
    first.add(QStringLiteral("time"), unknown.toHtmlEscaped());
  return text + lostText(answers, theme) + first.text() + pinsText(snapshot, fused.nodes, theme) +
         whyFusedText(snapshot, fused, theme) + fusedFactsText(snapshot, fused, theme) +
         fusedContentText(snapshot, fused, theme);
}

QString whyFusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const Theme& theme) {
  std::vector<std::uint32_t> about = snapshot.decisionsAbout(Subject::fusedNode(fused.name, fused.identity.hex()));
  std::set<std::uint32_t> known(about.begin(), about.end());
  for (const NodeId node : fused.nodes) {
    for (const std::uint32_t index : snapshot.decisionsAbout(Subject::node(snapshot.graph().node(node).name))) {
      const bool fuses = snapshot.cover->decisions[index].kind == DecisionKind::Fuse;
      if (fuses && known.insert(index).second) about.push_back(index);
    }
  }
  if (const ReadBackPlan* made = snapshot.made()) {
    const auto& all = snapshot.cover->decisions;
    std::erase_if(about, [&](std::uint32_t index) { return isPredictionAnswered(*made, all[index]); });
    if (about.empty()) return {};
  }
  return heading(QStringLiteral("Why"), theme) + decisionsText(snapshot, about, theme);
}

QString severalText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme) {
  QString text =
      title(plural(static_cast<std::int64_t>(nodes.size()), "node") + QStringLiteral(" selected"),
            QStringLiteral("A pin from the menu or the Layers table is set on all of them in one step."), theme);
  const std::int32_t block = snapshot.moduleOf(nodes);
  if (block >= 0) {
    const Module& module = snapshot.modules->modules[static_cast<std::size_t>(block)];
    text = title(html(module.title),
                 QStringLiteral("%1 · %2. A pin from the menu is set on all of them in one step.")
                     .arg(html(module.path), plural(static_cast<std::int64_t>(nodes.size()), "node")),
                 theme);
  }
  std::map<std::string, int> operators;
  for (const NodeId node : nodes) ++operators[snapshot.graph().node(node).op];
  Rows rows(theme);
  for (const auto& [op, count] : operators) rows.add(html(op), QString::number(count));
  return text + rows.text() + (nodes.size() <= kMostListed ? pinsText(snapshot, nodes, theme) : QString());
}

/// Describes the source of an input's extents; the source of its values is described elsewhere.
static QString extentsSource(const std::string& source) {
  if (source == "file") return QStringLiteral("extents as in the file");
  if (source == "example")
    return QStringLiteral("the range is from the file, and the extents in between are those of its example inputs");
  if (source == "assumed") return QStringLiteral("open in the file; the plan assumes these extents");
  return QStringLiteral("extents from %1").arg(html(source));
}

QString modelText(const PlanSnapshot& snapshot, const QString& target, const Theme& theme) {
  const Plan& plan = *snapshot.plan;
  const Cover& cover = *snapshot.cover;
  const Model& model = *cover.model;
  QString text =
      title(qs(model.path).section(QLatin1Char('/'), -2).toHtmlEscaped(),
            QStringLiteral("%1 · %2").arg(
                html(model.format), model.producer.empty() ? QStringLiteral("producer unknown") : html(model.producer)),
            theme);
  Rows rows(theme);
  rows.add(QStringLiteral("nodes"), QStringLiteral("%1 in the file, %2 after import, %3 fused nodes")
                                        .arg(model.fileNodes)
                                        .arg(cover.graph().nodeCount())
                                        .arg(cover.fusedNodes.size()));
  rows.add(QStringLiteral("segments"), QString::number(cover.segments.size()));
  if (const QString words = coverWords(cover); !words.isEmpty())
    rows.add(QStringLiteral("shown"), words.toHtmlEscaped());
  rows.add(QStringLiteral("parameters"),
           QStringLiteral("%1 (%2)").arg(countText(model.parameters), bytesText(model.weightBytes)));
  QStringList opsets;
  for (const auto& [domain, version] : model.opset) opsets << QStringLiteral("%1 %2").arg(html(domain)).arg(version);
  rows.add(QStringLiteral("opset"), opsets.join(QStringLiteral(", ")));
  rows.add(QStringLiteral("target"), target.toHtmlEscaped());
  text += rows.text() + agreementText(snapshot, theme) + heading(QStringLiteral("Inputs"), theme);
  Rows inputs(theme);
  for (const InputSpec& spec : plan.inputSpecs) {
    const QString extents = spec.fixed()
                                ? html(toText(spec.opt))
                                : QStringLiteral("%1 … %2 … %3")
                                      .arg(html(toText(spec.min)), html(toText(spec.opt)), html(toText(spec.max)));
    inputs.add(html(spec.name),
               QStringLiteral("<code>%1%2</code> · %3").arg(qs(spec.dtype), extents, extentsSource(spec.source)));
  }
  text += inputs.text() + heading(QStringLiteral("Outputs"), theme);
  Rows outputs(theme);
  for (const ValueId value : plan.graph().outputs())
    outputs.add(html(plan.graph().value(value).name),
                QStringLiteral("<code>%1</code>").arg(html(plan.graph().value(value).type.text())));
  text += outputs.text();
  if (!plan.options.directives.empty()) {
    text += heading(QStringLiteral("Directives: the default, plus these exceptions"), theme);
    for (const Directive& directive : plan.options.directives) {
      text += QStringLiteral("<div>%1 &nbsp;<a href='remove:%2'>remove</a></div>")
                  .arg(html(inWords(directive)), html(directive.id));
    }
  }
  const auto obstacles = cannotRun(model);
  if (!obstacles.empty()) {
    text += heading(QStringLiteral("Cannot be run here"), theme);
    for (std::size_t i = 0; i < obstacles.size() && i < kMostListed; ++i) {
      text += QStringLiteral("<div>%1 %2</div>")
                  .arg(obstacles[i].node.empty() ? QString() : nodeLink(obstacles[i].node) + QLatin1Char(':'),
                       html(obstacles[i].message));
    }
  }
  return text +
         QStringLiteral("<p style='color:%1'>Select a node to see its tensors, and why it is planned as it is.</p>")
             .arg(theme.dimText.name());
}

}  // namespace fusescope
