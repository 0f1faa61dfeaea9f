// The part of the Inspector about a node. What is wrong, refused or slow, and the reasons, come before the node's
// contents.
#include <algorithm>

#include "base/text.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"
#include "planning/fused_node_facts.h"
#include "planning/types/pin_answers.h"
#include "session/artifact.h"
#include "session/documents/decisions_about.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/inspector_parts.h"
#include "ui/docks/inspector_text.h"
#include "ui/docks/source_html.h"
#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr std::size_t kMostNumbers = 12;

template <class T>
QString listText(const std::vector<T>& numbers) {
  QStringList parts;
  for (std::size_t i = 0; i < numbers.size() && i < kMostNumbers; ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      parts << html(numbers[i]);
    } else {
      parts << QString::number(numbers[i]);
    }
  }
  if (numbers.size() > kMostNumbers) parts << QStringLiteral("… %1 in all").arg(numbers.size());
  return QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
}

struct AttributeText {
  QString operator()(std::int64_t number) const { return QString::number(number); }
  QString operator()(float number) const { return QString::number(static_cast<double>(number)); }
  QString operator()(const std::string& text) const { return html(text.substr(0, 200)); }
  QString operator()(const Tensor& tensor) const {
    return QStringLiteral("tensor %1%2").arg(qs(tensor.type()), qs(toText(tensor.dims())));
  }
  QString operator()(const Subgraph& body) const {
    return QStringLiteral("graph of %1").arg(plural(static_cast<std::int64_t>(body.graph->nodeCount()), "node"));
  }
  template <class T>
  QString operator()(const std::vector<T>& list) const {
    return listText(list);
  }
};

const InnerEdge* innerEdge(const PlanSnapshot& snapshot, NodeId node, ValueId value) {
  const FusedNode* fused = snapshot.fusedOf(node);
  if (fused == nullptr) return nullptr;
  const auto edge = std::ranges::find(fused->innerEdges, value, &InnerEdge::value);
  return edge == fused->innerEdges.end() || edge->real ? nullptr : &*edge;
}

/// Returns the type in which the node's kernel reads a value, if it differs from the stored type; otherwise Undefined.
DataType readAs(const PlanSnapshot& snapshot, NodeId node, ValueId value) {
  const FusedNode* fused = snapshot.fusedOf(node);
  if (fused == nullptr) return DataType::Undefined;
  const auto input = std::ranges::find(fused->inputs, value);
  if (input == fused->inputs.end()) return DataType::Undefined;
  const DataType read = fused->reads[static_cast<std::size_t>(input - fused->inputs.begin())];
  return read == snapshot.cover->storedType(value) ? DataType::Undefined : read;
}

QString valueText(const PlanSnapshot& snapshot, NodeId node, ValueId id, bool input, const Theme& theme) {
  const Value& value = snapshot.graph().value(id);
  const DataType stored = snapshot.cover->storedType(id);
  QString text = QStringLiteral("<code>%1</code>").arg(html(value.type.text()));
  if (const InnerEdge* edge = innerEdge(snapshot, node, id))
    text += QStringLiteral(" · ") + edgeText(*snapshot.fusedOf(node), *edge, theme);
  else if (stored != value.type.dtype && stored != DataType::Undefined)
    text += QStringLiteral(" stored as ") + badge(stored, theme);
  else if (stored == DataType::Undefined && snapshot.made() != nullptr)
    text += QStringLiteral(" · stored in a type that is not disclosed");
  if (const DataType read = input ? readAs(snapshot, node, id) : DataType::Undefined; read != DataType::Undefined)
    text += QStringLiteral(" · read as ") + badge(read, theme);
  if (value.constant)
    text += QStringLiteral(" · %1").arg(value.constant->hasData() ? QStringLiteral("weight")
                                                                  : QStringLiteral("weight without data"));
  if (input && value.producer.valid())
    text += QStringLiteral(" · from ") + nodeLink(snapshot.graph().node(value.producer).name);
  const QString whose =
      snapshot.cover->model->isBody ? QStringLiteral(" of the body") : QStringLiteral(" of the network");
  if (input && snapshot.graph().isInput(id)) text += QStringLiteral(" · input") + whose;
  if (!input && snapshot.graph().isOutput(id)) text += QStringLiteral(" · output") + whose;
  if (!input && !value.consumers.empty()) {
    QStringList readers;
    for (std::size_t i = 0; i < value.consumers.size() && i < 4; ++i)
      readers << nodeLink(snapshot.graph().node(value.consumers[i]).name);
    if (value.consumers.size() > 4) readers << QStringLiteral("%1 more").arg(value.consumers.size() - 4);
    text += QStringLiteral(" · to ") + readers.join(QStringLiteral(", "));
  }
  return text;
}

/// Returns whether nothing can run the node, in a plan or in an engine: neither our kernels nor another compiler.
bool runsNowhere(const PlanSnapshot& snapshot, const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  return snapshot.made() == nullptr && snapshot.plan->options.compiler == kOwnCompiler &&
         !snapshot.plan->target.planningOnly && (schema == nullptr || !schema->kernel);
}

/// Returns why nothing can run the node, which is shown first; empty if something can.
QString nowhereText(const PlanSnapshot& snapshot, const Node& node, const Theme& theme) {
  if (!runsNowhere(snapshot, node)) return {};
  const auto [why, help] = whyNoKernel(node);
  return QStringLiteral("<div style='color:%1'><b>✗ Nothing here can run it:</b> %2.%3</div>")
      .arg(theme.error.name(), html(why), help.empty() ? QString() : QLatin1Char(' ') + html(help));
}

QString helpText(const SelectionAnswers* answers, bool runsNowhere, const Theme& theme) {
  QString text = heading(QStringLiteral("What would help"), theme);
  const auto dim = [&](const QString& words) {
    return QStringLiteral("<div style='color:%1'>%2</div>").arg(theme.dimText.name(), words);
  };
  if (answers == nullptr) return text + dim(QStringLiteral("working it out …"));
  const std::vector<WhatIf>& help = answers->help;
  if (answers->wrong)
    text += QStringLiteral("<div>%1</div>").arg(fixHtml(&answers->fix, theme));
  else if (!answers->wrongBefore.empty())
    text += QStringLiteral("<div>Its input is wrong: see %1, which goes wrong first.</div>")
                .arg(nodeLink(answers->wrongBefore));
  else if (help.empty())
    text += dim(runsNowhere ? QStringLiteral("It runs in no type and for no target: the network must be changed.")
                            : QStringLiteral("Everything that was requested for it is granted."));
  for (std::size_t i = 0; i < help.size(); ++i) {
    const WhatIf& whatIf = help[i];
    text += QStringLiteral("<div style='margin-bottom:3px'>• <b>%1</b> → %2%3</div>")
                .arg(inWindowWords(whatIf).toHtmlEscaped(), html(whatIf.effect),
                     canBeDone(whatIf) ? QStringLiteral(" &nbsp;<a href='help:%1'>do it</a>").arg(i) : QString());
  }
  return text;
}

/// Returns a link with the name of the main node, because the names of all nodes may be very long.
QString fusedLink(const Cover& cover, const FusedNode& fused) {
  return QStringLiteral("<a href='node:%1'>%2 +%3</a>")
      .arg(qs(handleOf(fused)), html(cover.graph().node(fused.root).name))
      .arg(fused.nodes.size() - 1);
}

QString precisionText(const PlanSnapshot& snapshot, NodeId node, const Theme& theme) {
  const PrecisionGrant* grant = snapshot.grantOf(node);
  const bool calculates = snapshot.requestedPlan().calculates[node.index] != DataType::Undefined;
  if (calculates && snapshot.made() != nullptr && grant && grant->granted == DataType::Undefined) return undisclosed();
  if (!grant || grant->granted == DataType::Undefined) return QStringLiteral("no float computation");
  QString text = badge(grant->granted, theme);
  if (grant->asked != DataType::Undefined && grant->asked != grant->granted)
    text += QStringLiteral(" · asked for ") + badge(grant->asked, theme);
  text += QStringLiteral(" <span style='color:%1'>by %2</span>").arg(theme.dimText.name(), html(grant->by.text()));
  const QString unknown = snapshot.made() == nullptr ? timeUnknownReason(*snapshot.plan, grant->granted) : QString();
  if (!unknown.isEmpty())
    text +=
        QStringLiteral("<br><span style='color:%1'>time %2</span>").arg(theme.warning.name(), unknown.toHtmlEscaped());
  return text;
}

/// Returns why the node is planned in this way. Refusals come first.
QString nodeWhyText(const PlanSnapshot& snapshot, const Node& node, const Theme& theme) {
  std::vector<std::uint32_t> about = snapshot.decisionsAbout(Subject::node(node.name));
  const auto answers =
      pinAnswersAbout(snapshot.requestedPlan(), Subject::node(node.name));  // these are shown elsewhere
  std::erase_if(about, [&](std::uint32_t index) {
    return std::ranges::find(answers, index, &DirectiveAnswer::decision) != answers.end();
  });
  const auto& all = snapshot.cover->decisions;
  if (const ReadBackPlan* made = snapshot.made())
    std::erase_if(about, [&](std::uint32_t index) { return isPredictionAnswered(*made, all[index]); });
  if (runsNowhere(snapshot, node))  // that something is allowed is of no use for a node that cannot run
    std::erase_if(about, [&](std::uint32_t index) { return all[index].allowed; });
  std::stable_sort(about.begin(), about.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return !all[a].allowed && all[b].allowed; });
  return heading(QStringLiteral("Why"), theme) + (about.empty()
                                                      ? QStringLiteral("<div>No decision names this node.</div>")
                                                      : decisionsText(snapshot, about, theme));
}

QString nodeFactsText(const PlanSnapshot& snapshot, NodeId id, const Theme& theme) {
  const Cover& cover = *snapshot.cover;
  const auto& facts = snapshot.facts(id);
  const FusedNode* fused = snapshot.fusedOf(id);
  Rows rows(theme);
  if (fused != nullptr && snapshot.made() == nullptr) {
    if (fused->nodes.size() > 1)
      rows.add(QStringLiteral("fused into"), fusedLink(cover, *fused) + QStringLiteral(" (%1)").arg(html(fused->kind)) +
                                                 predictionText(cover, *fused, theme));
    if (const QString types = mixedText(cover, *fused, theme); !types.isEmpty())
      rows.add(QStringLiteral("its kernel"), types);
  }
  if (const Segment* segment = snapshot.segmentOf(id)) addSegment(rows, *snapshot.cover, *segment);
  rows.add(QStringLiteral("work"), QStringLiteral("%1 FLOPs, %2").arg(countText(facts.flops), bytesText(facts.bytes)));
  addRange(rows, snapshot.rangeOf(id));
  return heading(QStringLiteral("Facts"), theme) + rows.text() + madeNodeText(snapshot, id, theme);
}

/// Returns the nodes of the exported program from which torch made the node's origins.
QString programNodesText(const Model& model, const Node& node, const Theme& theme) {
  QStringList names;
  for (const OriginId origin : node.origins)
    if (const std::string& name = model.origins[origin.index].programNode; !name.empty() && !names.contains(qs(name)))
      names << qs(name);
  if (names.isEmpty()) return {};
  return heading(QStringLiteral("Made of"), theme) +
         QStringLiteral("<div>%1 of the exported program</div>").arg(names.join(QStringLiteral(", ")).toHtmlEscaped());
}

/// Returns the node's inputs, outputs and attributes, and the nodes of the file that it represents.
QString nodeContentText(const PlanSnapshot& snapshot, NodeId id, const Theme& theme) {
  const Cover& cover = *snapshot.cover;
  const Node& node = cover.graph().node(id);
  QString text;
  Rows inputs(theme), outputs(theme), attributes(theme);
  for (const ValueId value : node.inputs) {
    if (value.valid()) inputs.add(html(cover.graph().value(value).name), valueText(snapshot, id, value, true, theme));
  }
  for (const ValueId value : node.outputs) {
    if (value.valid()) outputs.add(html(cover.graph().value(value).name), valueText(snapshot, id, value, false, theme));
  }
  for (const auto& [key, value] : node.attributes) attributes.add(html(key), std::visit(AttributeText(), value));
  if (!node.inputs.empty()) text += heading(QStringLiteral("Inputs"), theme) + inputs.text();
  text += heading(QStringLiteral("Outputs"), theme) + outputs.text();
  if (!attributes.text().isEmpty()) text += heading(QStringLiteral("Attributes"), theme) + attributes.text();
  text += programNodesText(*cover.model, node, theme) + sourceHtml(cover.model->sourceOf(node), theme);
  if (node.origins.size() > 1 ||
      (!node.origins.empty() && cover.model->origins[node.origins[0].index].name != node.name)) {
    QStringList origins;
    for (const OriginId origin : node.origins) origins << html(cover.model->origins[origin.index].name);
    text += heading(QStringLiteral("Nodes of the file"), theme) +
            QStringLiteral("<div>%1</div>").arg(origins.join(QStringLiteral(", ")));
  }
  return text;
}

}  // namespace

QString nodeText(const PlanSnapshot& snapshot, NodeId id, const ShownKernelTime& time, const SelectionAnswers* answers,
                 const Theme& theme) {
  const Node& node = snapshot.graph().node(id);
  const FusedNode* fused = snapshot.fusedOf(id);
  Rows first(theme);
  if (fused != nullptr) {
    first.add(QStringLiteral("computes in"), precisionText(snapshot, id, theme));
    const bool alone = fused->nodes.size() == 1;
    const QString label = alone ? QStringLiteral("time") : QStringLiteral("kernel time");
    if (alone || time.measured()) addTimeAndShare(first, *fused, time, label, answers, theme);
  }
  return title(html(node.name), node.domain.empty() ? html(node.op) : html(node.domain + "." + node.op), theme) +
         nowhereText(snapshot, node, theme) + lostText(answers, theme) + first.text() +
         pinsText(snapshot, {id}, theme) + nodeWhyText(snapshot, node, theme) +
         helpText(answers, runsNowhere(snapshot, node), theme) + nodeFactsText(snapshot, id, theme) +
         nodeContentText(snapshot, id, theme);
}

}  // namespace fusescope
