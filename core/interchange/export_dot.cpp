
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "interchange/export_row.h"
#include "planning/fused_node_facts.h"

#include "interchange/exports.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// A DOT string: what a name holds means nothing in it. A backslash begins an escape in labels.
std::string dotString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + "\"";
}

std::string lines(std::string_view first, std::string_view second) {
  return second.empty() ? std::string(first) : fmt::format("{}\n{}", first, second);
}

class Writer {
 public:
  std::string write(const Plan& plan) {
    m_text = fmt::format(
        "digraph {} {{\n"
        "  graph [compound=true, fontname=\"Helvetica\", fontsize=11, style=rounded];\n"
        "  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=10];\n"
        "  edge [fontname=\"Helvetica\", fontsize=9];\n",
        dotString(plan.graph().name()));
    level(plan, "", 1);
    return m_text + "}\n";
  }

 private:
  void line(int depth, const std::string& text) { m_text += std::string(2 * depth, ' ') + text + "\n"; }

  /// The network or a body; `prefix` is before all its ids.
  void level(const Plan& plan, const std::string& prefix, int depth) {
    for (const ValueId input : plan.graph().inputs()) border(plan, input, prefix + "i", depth);
    std::set<std::uint32_t> drawn;
    for (const Segment& segment : plan.segments) {
      line(depth, fmt::format("subgraph cluster_{}s{} {{", prefix, segment.id.index));
      line(depth + 1,
           fmt::format("label={};{}",
                       dotString(fmt::format("{} · {} · {}", segment.name, segment.backend, name(segment.kind))),
                       segment.kind == SegmentKind::Fallback ? " style=\"rounded,dashed\";" : ""));
      for (const FusedNode& fused : plan.fusedNodes)
        if (fused.segment == segment.id) cluster(plan, fused, prefix, depth + 1, drawn);
      line(depth, "}");
    }
    for (const NodeId id : plan.graph().order())  // a plan that was read back need not hold every node
      if (drawn.insert(id.index).second) node(plan, id, prefix, depth);
    for (const ValueId output : plan.graph().outputs()) border(plan, output, prefix + "o", depth);
    edges(plan, prefix, depth);
  }

  void border(const Plan& plan, ValueId value, const std::string& id, int depth) {
    const Value& of = plan.graph().value(value);
    line(depth,
         fmt::format("{}{} [label={}, shape=ellipse];", id, value.index, dotString(lines(of.name, of.type.text()))));
  }

  void cluster(const Plan& plan, const FusedNode& fused, const std::string& prefix, int depth,
               std::set<std::uint32_t>& drawn) {
    line(depth, fmt::format("subgraph cluster_{}f{} {{", prefix, fused.id.index));
    std::string types;
    for (const DataType type : calculatedTypes(plan, fused)) types += fmt::format(" · {}", name(type));
    line(depth + 1, fmt::format("label={};", dotString(fused.kind + types)));
    for (const NodeId id : fused.nodes) {
      if (!plan.graph().has(id) || !drawn.insert(id.index).second) continue;
      node(plan, id, prefix, depth + 1);
      bodies(plan, id, prefix, depth + 1);
    }
    line(depth, "}");
  }

  void node(const Plan& plan, NodeId id, const std::string& prefix, int depth) {
    const Node& of = plan.graph().node(id);
    line(depth, fmt::format("{}n{} [label={}];", prefix, id.index, dotString(lines(of.op, of.name))));
  }

  void bodies(const Plan& plan, NodeId holder, const std::string& prefix, int depth) {
    for (const CoverBody& body : plan.bodies) {
      if (body.holder != holder) continue;
      const std::string inner = fmt::format("{}n{}_{}_", prefix, holder.index, body.attribute);
      line(depth, fmt::format("subgraph cluster_{} {{", inner));
      line(depth + 1, fmt::format("label={};", dotString(body.attribute)));
      level(plannedBody(body), inner, depth + 1);
      line(depth, "}");
      if (plannedBody(body).graph().outputs().empty()) continue;
      line(depth, fmt::format("{}o{} -> {}n{} [style=dotted, ltail=cluster_{}];", inner,
                              plannedBody(body).graph().outputs().front().index, prefix, holder.index, inner));
    }
  }

  /// Where a value comes from; empty of a constant.
  static std::string source(const Graph& graph, ValueId value, const std::string& prefix) {
    const NodeId producer = graph.value(value).producer;
    if (producer.valid()) return fmt::format("{}n{}", prefix, producer.index);
    return std::ranges::find(graph.inputs(), value) == graph.inputs().end() ? std::string()
                                                                            : fmt::format("{}i{}", prefix, value.index);
  }

  static bool isInner(ValueId value, const FusedNode* reader) {
    return reader != nullptr && std::ranges::any_of(reader->innerEdges, [&](const InnerEdge& edge) {
             return edge.value == value && !edge.real;
           });
  }

  /// Of an edge that is read by `reader`; null: by the network's caller.
  static std::string attributes(const Plan& plan, ValueId value, const FusedNode* reader) {
    TensorType type = plan.graph().value(value).type;
    if (const DataType stored = plan.storedType(value); stored != DataType::Undefined) type.dtype = stored;
    std::string label = type.text();
    for (const PlannedCast& cast : plan.casts) {
      const bool here = reader == nullptr ? cast.consumers.empty()
                                          : std::ranges::find(cast.consumers, reader->id) != cast.consumers.end();
      if (cast.value == value && here) label += fmt::format("\ncast {} to {}", name(cast.from), name(cast.to));
    }
    return fmt::format("[label={}{}]", dotString(label), isInner(value, reader) ? ", style=dashed" : "");
  }

  void edges(const Plan& plan, const std::string& prefix, int depth) {
    const Graph& graph = plan.graph();
    for (const NodeId id : graph.order()) {
      std::set<std::uint32_t> seen;
      for (const ValueId value : operands(graph.node(id))) {
        if (!value.valid() || graph.isConstant(value) || !seen.insert(value.index).second) continue;
        const std::string from = source(graph, value, prefix);
        if (from.empty()) continue;
        line(depth,
             fmt::format("{} -> {}n{} {};", from, prefix, id.index, attributes(plan, value, plan.fusedNodeOf(id))));
      }
    }
    for (const ValueId output : graph.outputs()) {
      const std::string from = source(graph, output, prefix);
      if (!from.empty())
        line(depth, fmt::format("{} -> {}o{} {};", from, prefix, output.index, attributes(plan, output, nullptr)));
    }
  }

  std::string m_text;
};

/// Writes the plan as a graph for Graphviz: a cluster for each segment, fused node and body, and an edge for each value
/// and reader, labelled with the stored type. Values that exist only in registers are dashed; casts are written on
/// their edges.
Result<Exported> writeDot(const Plan& plan, const ExportOptions&) {
  return Exported{Writer().write(plan), {}};
}

}  // namespace

extern const ExportRow kDotRow{.readers = "Graphviz", .contents = "a picture", .exactness = "–"};

extern const Exporter kDotExporter{.name = "dot",
                                   .title = "Graph for Graphviz",
                                   .extension = "dot",
                                   .summary = "the plan as a graph for Graphviz, a cluster per segment and fused node",
                                   .write = writeDot};

}  // namespace fusescope
