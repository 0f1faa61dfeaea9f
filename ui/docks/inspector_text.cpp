#include "ui/docks/inspector_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "passes/body_input_specs.h"
#include "planning/fused_node_facts.h"
#include "planning/pin_answers.h"
#include "session/session.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/directive_edits.h"
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

/// How an inner edge of a kernel lives: stored, or in registers and in which type.
QString edgeText(const FusedNode& fused, const InnerEdge& edge, const Theme& theme) {
  if (edge.real) return QStringLiteral("in memory as ") + typeBadge(edge.type, theme);
  if (edge.type == DataType::Undefined) return QStringLiteral("inside the kernel, in a type that is not disclosed");
  const QString held = QStringLiteral("in registers as ") + badge(edge.type, theme);
  return heldWider(fused, edge.value) == nullptr
             ? held
             : held + QStringLiteral(", wider than %1; never stored").arg(qs(fused.compute));
}

const InnerEdge* innerEdge(const PlanSnapshot& snapshot, NodeId node, ValueId value) {
  const FusedNode* fused = snapshot.fusedOf(node);
  if (fused == nullptr) return nullptr;
  const auto edge = std::ranges::find(fused->innerEdges, value, &InnerEdge::value);
  return edge == fused->innerEdges.end() || edge->real ? nullptr : &*edge;
}

/// The type at which the node's kernel is handed a value that is stored at another.
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
      isOfBody(*snapshot.cover->model) ? QStringLiteral(" of the body") : QStringLiteral(" of the network");
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

QString lostText(const WorkedOut* workedOut, const Theme& theme) {
  if (workedOut == nullptr) return {};
  QString text;
  for (const LostWeight& weight : workedOut->lostWeights)
    text += QStringLiteral("<div style='color:%1'>Its %2.</div>").arg(theme.warning.name(), html(inWords(weight)));
  return text;
}

QString helpText(const WorkedOut* workedOut, const Theme& theme) {
  QString text = heading(QStringLiteral("What would help"), theme);
  const auto dim = [&](const QString& words) {
    return QStringLiteral("<div style='color:%1'>%2</div>").arg(theme.dimText.name(), words);
  };
  if (workedOut == nullptr) return text + dim(QStringLiteral("working it out …"));
  const std::vector<WhatIf>& help = workedOut->help;
  if (workedOut->wrong)
    text += QStringLiteral("<div>%1</div>").arg(fixHtml(&workedOut->fix, theme));
  else if (!workedOut->wrongBefore.empty())
    text += QStringLiteral("<div>What it is given is wrong: see %1, which goes wrong first.</div>")
                .arg(nodeLink(workedOut->wrongBefore));
  else if (help.empty())
    text += dim(QStringLiteral("All that was asked for it is granted."));
  for (std::size_t i = 0; i < help.size(); ++i) {
    const WhatIf& whatIf = help[i];
    text += QStringLiteral("<div style='margin-bottom:3px'>• <b>%1</b> → %2%3</div>")
                .arg(inWindowWords(whatIf).toHtmlEscaped(), html(whatIf.effect),
                     canBeDone(whatIf) ? QStringLiteral(" &nbsp;<a href='help:%1'>do it</a>").arg(i) : QString());
  }
  return text;
}

/// By its main node: the names of all may be dozens.
QString fusedLink(const Cover& cover, const FusedNode& fused) {
  return QStringLiteral("<a href='node:%1'>%2 +%3</a>")
      .arg(qs(handleOf(fused)), html(cover.graph().node(fused.root).name))
      .arg(fused.nodes.size() - 1);
}

QString predictionText(const Cover& cover, const FusedNode& fused, const Theme& theme) {
  if (fused.nodes.size() < 2 || !isPrediction(cover, fused)) return {};
  return QStringLiteral(" <span style='color:%1'>predicted: %2 fuses by rules of its own</span>")
      .arg(theme.warning.name(), html(cover.target.name));
}

/// The types of a kernel that mixes them; empty where it calculates in one.
QString mixedText(const Cover& cover, const FusedNode& fused, const Theme& theme) {
  const std::vector<DataType> types = calculatedTypes(cover, fused);
  if (types.size() < 2) return {};
  QStringList badges;
  for (const DataType type : types) badges << badge(type, theme);
  return QStringLiteral("calculates in ") + badges.join(QStringLiteral(" and "));
}

/// A row of what something comes to at the least and at the most extents; none where extents are fixed.
void addRange(Rows& rows, const CostRange* range) {
  if (range == nullptr) return;
  const auto& [least, most] = *range;
  QString text = QStringLiteral("%1 FLOPs, %2")
                     .arg(rangeText(countText(least.flops), countText(most.flops)),
                          rangeText(bytesText(least.bytes), bytesText(most.bytes)));
  if (least.ms || most.ms) text += QStringLiteral(", ") + rangeText(msText(least.ms), msText(most.ms));
  rows.add(QStringLiteral("least … most"), text);
}

QString precisionText(const PlanSnapshot& snapshot, NodeId node, const Theme& theme) {
  const PrecisionGrant* grant = snapshot.grantOf(node);
  const bool calculates = snapshot.asked().calculates[node.index] != DataType::Undefined;
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

}  // namespace

void addSegment(Rows& rows, const Segment& segment) {
  rows.add(QStringLiteral("runs in"),
           QStringLiteral("%1, %2 on %3").arg(nodeLink(segment.name), qs(name(segment.kind)), html(segment.backend)));
}

QString nodeText(const PlanSnapshot& snapshot, NodeId id, const KernelTime& time, const WorkedOut* workedOut,
                 const Theme& theme) {
  const Cover& cover = *snapshot.cover;
  const Node& node = cover.graph().node(id);
  const auto& facts = snapshot.facts(id);
  QString text = title(html(node.name), node.domain.empty() ? html(node.op) : html(node.domain + "." + node.op), theme);
  Rows summary(theme);
  const FusedNode* fused = snapshot.fusedOf(id);
  if (fused != nullptr) summary.add(QStringLiteral("computes in"), precisionText(snapshot, id, theme));
  if (fused != nullptr && snapshot.made() == nullptr) {
    if (fused->nodes.size() > 1)
      summary.add(QStringLiteral("fused into"), fusedLink(cover, *fused) +
                                                    QStringLiteral(" (%1)").arg(html(fused->kind)) +
                                                    predictionText(cover, *fused, theme));
    if (const QString types = mixedText(cover, *fused, theme); !types.isEmpty())
      summary.add(QStringLiteral("its kernel"), types);
  }
  if (const Segment* segment = snapshot.segmentOf(id)) addSegment(summary, *segment);
  summary.add(QStringLiteral("work"),
              QStringLiteral("%1 FLOPs, %2").arg(countText(facts.flops), bytesText(facts.bytes)));
  if (fused != nullptr) {
    const bool alone = fused->nodes.size() == 1;
    const QString label = alone ? QStringLiteral("time") : QStringLiteral("its kernel takes");
    if (alone || time.measured()) addTime(summary, *fused, time, label, theme);
  }
  addRange(summary, snapshot.rangeOf(id));
  text +=
      summary.text() + madeNodeText(snapshot, id, theme) + lostText(workedOut, theme) + pinsText(snapshot, {id}, theme);

  std::vector<std::uint32_t> about = snapshot.decisionsAbout(Subject::node(node.name));
  const auto answers = pinAnswersAbout(snapshot.asked(), Subject::node(node.name));  // said already
  std::erase_if(about, [&](std::uint32_t index) {
    return std::ranges::find(answers, index, &WishAnswer::decision) != answers.end();
  });
  const auto& all = cover.decisions;
  std::stable_sort(about.begin(), about.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return !all[a].allowed && all[b].allowed; });
  text += heading(QStringLiteral("Why"), theme);
  text +=
      about.empty() ? QStringLiteral("<div>No decision names this node.</div>") : decisionsText(snapshot, about, theme);
  text += helpText(workedOut, theme);

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
  if (!node.attributes.empty()) text += heading(QStringLiteral("Attributes"), theme) + attributes.text();
  if (node.origins.size() > 1 ||
      (!node.origins.empty() && cover.model->origins[node.origins[0].index].name != node.name)) {
    QStringList origins;
    for (const OriginId origin : node.origins) origins << html(cover.model->origins[origin.index].name);
    text += heading(QStringLiteral("Nodes of the file"), theme) +
            QStringLiteral("<div>%1</div>").arg(origins.join(QStringLiteral(", ")));
  }
  return text;
}

QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const KernelTime& time,
                  const WorkedOut* workedOut, const Theme& theme) {
  const Cover& cover = *snapshot.cover;
  if (snapshot.made() != nullptr && !snapshot.made()->kernels[fused.id.index].isOurs)
    return madeKernelText(snapshot, fused, time, theme);
  const Graph& graph = cover.graph();
  QString text = title(html(graph.node(PlanSnapshot::mainNodeOf(fused)).name),
                       QStringLiteral("fused node of %1 · %2")
                           .arg(plural(static_cast<std::int64_t>(fused.nodes.size()), "node"), html(fused.kind)),
                       theme);
  Rows summary(theme);
  summary.add(QStringLiteral("computes in"),
              badge(fused.compute, theme) + QStringLiteral(" accumulates in ") + badge(fused.accumulate, theme));
  if (const QString types = mixedText(cover, fused, theme); !types.isEmpty())
    summary.add(QStringLiteral("mixes types"), types);
  if (const QString predicted = predictionText(cover, fused, theme); !predicted.isEmpty())
    summary.add(QStringLiteral("fusion"), predicted);
  if (const Segment* segment = snapshot.segmentOf(fused)) addSegment(summary, *segment);
  summary.add(QStringLiteral("work"),
              QStringLiteral("%1 FLOPs, %2 moved").arg(countText(fused.flops), bytesText(fused.bytes)));
  addRange(summary, fused.range ? &*fused.range : nullptr);
  const QString unknown = timeUnknownReason(snapshot.asked(), fused.compute);
  addTime(summary, fused, time, QStringLiteral("time"), theme);
  if (!time.time.known() && !fused.predictedMs && !unknown.isEmpty())
    summary.add(QStringLiteral("time"), unknown.toHtmlEscaped());
  text += summary.text() + lostText(workedOut, theme) + pinsText(snapshot, fused.nodes, theme) +
          heading(QStringLiteral("Nodes"), theme);
  for (const NodeId node : fused.nodes) {
    const DataType type = cover.inFallback(fused) ? DataType::Undefined : cover.calculates[node.index];
    text += QStringLiteral("<div>%1 <span style='color:%2'>%3</span> %4</div>")
                .arg(nodeLink(graph.node(node).name), theme.dimText.name(), html(graph.node(node).op),
                     type == fused.compute ? QString() : badge(type, theme));
  }
  if (!fused.innerEdges.empty()) {
    Rows edges(theme);
    for (const InnerEdge& edge : fused.innerEdges) {
      edges.add(html(graph.value(edge.value).name), edgeText(fused, edge, theme));
    }
    text += heading(QStringLiteral("Inner values"), theme) + edges.text();
  }
  return text + whyFusedText(snapshot, fused, theme);
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
  if (about.empty() && snapshot.made() != nullptr) return {};
  return heading(QStringLiteral("Why"), theme) + decisionsText(snapshot, about, theme);
}

QString severalText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme) {
  QString text =
      title(plural(static_cast<std::int64_t>(nodes.size()), "node") + QStringLiteral(" selected"),
            QStringLiteral("A pin from the menu or the Layers table goes to all of them in one step."), theme);
  const std::int32_t block = snapshot.moduleOf(nodes);
  if (block >= 0) {
    const Module& module = snapshot.modules->modules[static_cast<std::size_t>(block)];
    text = title(html(module.title),
                 QStringLiteral("%1 · %2. A pin from the menu goes to all of them in one step.")
                     .arg(html(module.path), plural(static_cast<std::int64_t>(nodes.size()), "node")),
                 theme);
  }
  std::map<std::string, int> operators;
  for (const NodeId node : nodes) ++operators[snapshot.graph().node(node).op];
  Rows rows(theme);
  for (const auto& [op, count] : operators) rows.add(html(op), QString::number(count));
  return text + rows.text() + (nodes.size() <= kMostListed ? pinsText(snapshot, nodes, theme) : QString());
}

/// Where the extents of an input are known from; its values are another matter.
static QString extentsSource(const std::string& source) {
  if (source == "file") return QStringLiteral("extents as in the file");
  if (source == "assumed") return QStringLiteral("open in the file; the plan assumes these extents");
  return QStringLiteral("extents from %1").arg(html(source));
}

QString modelText(const PlanSnapshot& snapshot, const Theme& theme) {
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
  rows.add(QStringLiteral("target"),
           html(plan.target.name) + (plan.target.planningOnly ? QStringLiteral(" (planning only)") : QString()));
  text += rows.text() + heading(QStringLiteral("Inputs"), theme);
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
